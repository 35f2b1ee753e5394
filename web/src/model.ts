// The document that a page shows: what `tare report` embeds and `tare serve` answers with. It is made by src/report/page*.c; its schema for
// others is docs/schema/page.schema.json. Times are ns unless a name says otherwise; null: not known, which is never 0. Columns are
// parallel arrays, since a run may have 100,000 executions.

export interface Doc {
  type: 'page';
  format: 1;
  tare: string; // its version
  made_at: string; // ISO 8601
  title: string;
  served: boolean; // by `tare serve`: there is a lab to go back to
  colours: { causes: Record<string, Colour>; classes: Record<string, Colour> }; // of the ledger's causes and the classes of noise
  machines: Machine[];
  sections: Section[];
  comparisons: Comparison[];
}

export interface Colour {
  light: string; // "#rrggbb"
  dark: string;
  meaning?: string; // of a cause
}

// A chart as tare made it, for figures and the terminal, too: axes, and blocks of columns by name.
export interface Given {
  x: GivenAxis;
  y: GivenAxis;
  bandwidth: number | null; // of densities
  blocks: Record<string, (number | null)[]>[];
}
export interface GivenAxis {
  name: string | null;
  log: boolean;
  low: number | null;
  high: number | null;
}

export interface Machine {
  name: string;
  fingerprint: string;
  facts: Record<string, string>; // that hold for all sections of it
  findings: Finding[]; // of doctor, worst first, all of them
}

export interface Finding {
  id: string;
  severity: 'unknown' | 'ok' | 'note' | 'warn' | 'bad';
  condition: string;
  effect: string;
  remedy: string;
  command: boolean; // the remedy is one for a shell
  source: string;
}

export type Status = 'going' | 'complete' | 'interrupted' | 'failed';

export interface Head {
  anchor: string; // "run-12", "study-3": unique within the document
  number: number | null; // in the lab
  title: string; // its name; any text
  subtitle: string; // one line: the command, what was sampled, ...; any text
  status: Status;
  started_at: string | null;
  ended_at: string | null;
  tags: string | null;
  version: string | null; // of the tare that measured
  conditions: Record<string, unknown> | null;
  machine: number | null; // index of machines
  notes: string[]; // what was not seen, what was left out of the page and why: sentences
  charts: Record<string, Given>; // time: density_et, density_pt_net, ...; noise: noise; query: split
}

export type Section = TimeSection | StudySection | NoiseSection | ProfileSection | QuerySection;

// ---- tare time ----

export type Measure = 'et' | 'pt_net' | 'pt_exec' | 'pt_tick' | 'user' | 'system';

export interface Summary {
  n: number;
  mean_ns: number;
  median_ns: number;
  min_ns: number;
  max_ns: number;
  stddev_ns: number | null;
  relative_error: number | null;
  mad_ns: number | null;
  ci_low_ns: number | null;
  ci_high_ns: number | null;
}

export const RULES = ['kept', 'warmup', 'failed', 'I', 'II'] as const; // what a number in Columns.rule means

export interface Columns {
  number: number[]; // from 1 within the run; warm-ups count on their own
  at_us: number[]; // when it began, since the run's begin
  et: number[]; // like the others: less the shell, as the protocol sees it
  net: (number | null)[] | null; // a column that nobody has is null
  exec: (number | null)[] | null;
  tick: (number | null)[] | null;
  rss: (number | null)[] | null; // peak, bytes
  rule: number[]; // index of RULES
}

// Causes are the names of the ledger's catalogue, in its order.
export interface LedgerColumns {
  index: number[] | null; // the executions (positions in the columns) that have one here; null: all
  causes: string[]; // only those that occur
  wall: number[][]; // by cause, then execution: adds up to the execution's ET (the shell's share is left in)
  mean: number[] | null; // by cause, over the kept ones; null: none of them has a ledger
}

export interface Level {
  low_ns: number;
  high_ns: number;
  cut_ns: number;
  neither: number;
  first: number;
  second: number;
  both: number;
  both_expected: number;
  shape: 'symmetric' | 'L' | 'corner';
}

export interface TimeSection extends Head {
  kind: 'time';
  command: string;
  parameters: { name: string; value: string }[];
  backend: 'plain' | 'netlink' | 'bpf';
  headline: Measure;
  shell_ns: number; // taken off each ET; 0: no shell
  planned: number | null; // executions asked for, without warm-ups; null: as many as it takes
  kept: Partial<Record<Measure, Summary | null>>;
  unfiltered: Partial<Record<Measure, Summary | null>>;
  rule2: { low_ns: number; high_ns: number } | null; // what rule (II) keeps, of the headline; null: it was not applied
  warnings: { id: string; text: string; remedy: string }[];
  columns: Columns;
  reasons: Record<string, Reason>; // of dropped ones, by position
  ledger: LedgerColumns | null;
  dual: { levels: Level[]; outside: number[] } | null; // pairs of successive measured executions; outside: positions beyond the cluster
  names: string[]; // that details refer to
  details: Record<string, Detail>; // by position; of many executions only the remarkable ones have one
}

export interface Reason {
  text: string;
  daemon: string | null;
  value_ns: number | null;
  low_ns: number | null;
  high_ns: number | null;
}

// Rows are tuples. name: index of TimeSection.names.
export interface Detail {
  processes: [name: number, role: 0 | 1 | 2, pid: number, pt_ns: number | null][]; // role: subject, daemon, tare; by time, at most 10 of each
  entries: [cause: number, name: number, pid: number, ns: number, count: number][]; // cause: index of LedgerColumns.causes
  others: [name: number, pid: number, ns: number, bursts: number, longest_ns: number, delayed_ns: number, io_delayed_ns: number][];
  interrupts: [cause: number, name: number, count: number, ns: number, subject_ns: number][];
  trace: Trace | null;
}

// Who had each CPU. kind: 0 subject, 1 another process, 2 tare, 3 kernel thread, 4 hard interrupt, 5 soft interrupt, 6 NMI. Idle is left out;
// interrupts lie above what they interrupt. at: since the execution's begin.
export interface Trace {
  et_ns: number;
  cpus: number[];
  slices: [cpu: number, at_ns: number, ns: number, kind: number, name: number][]; // cpu: index of cpus; by begin
  waits: [thread: number, at_ns: number, ns: number, cause: number][]; // of the subject's threads, while off the CPU; cause: index of TimeSection.names
  threads: [name: number, tid: number][];
  cut: number; // slices that were left out, the shortest first
}

// ---- tare calibrate ----

export interface StudySamples {
  number: number[];
  at_us: number[] | null;
  et: number[];
  l: number[]; // positions outside of the cluster
  dropped: number[]; // positions
}

export interface StudySection extends Head {
  kind: 'study';
  study: Study; // docs/schema/study.schema.json
  samples: { short: StudySamples | null; long: StudySamples | null }; // null: the run is gone, or was cut from a watch
  phases: { short: (number | null)[]; long: (number | null)[] }; // of study.daemons: where its period in that run is expected first, as a number of a sample
}

export interface Study {
  source: 'active' | 'watch' | 'runs';
  made_at: string | null;
  runs: { short: StudyRun | null; long: StudyRun | null };
  daemons: StudyDaemon[];
  cutoffs: { daemon: string; from_ns: number; below_ns: number | null; cutoff_ns: number; edited: boolean }[];
}
export interface StudyRun {
  run: number | null;
  length_ns: number;
  samples: number;
  cluster: number;
  cluster_low_ns: number | null;
  cluster_high_ns: number | null;
  levels: Level[];
  l_samples: number[]; // numbers
  dropped: number[];
  mean_ns: number | null;
  mean_kept_ns: number | null;
  sigma_ns: number | null;
  sigma_kept_ns: number | null;
  steadied: boolean;
}
export interface StudyPeriod {
  samples: number | null;
  ns: number | null;
  error_ns: number | null;
  uncertain: boolean;
}
export interface StudySeen {
  cluster_executions: number;
  cluster_max_ns: number | null;
  long_executions: number;
  long_least_ns: number | null;
  long_most_ns: number | null;
  samples: number[]; // numbers
  period: StudyPeriod | null;
  cutoff_ns: number | null;
}
export interface StudyDaemon {
  name: string;
  long_running: boolean;
  period: StudyPeriod | null;
  cutoffs: { from_ns: number; below_ns: number | null; cutoff_ns: number }[];
  runs: { short: StudySeen | null; long: StudySeen | null };
}

// ---- tare noise: docs/schema/noise.schema.json, and densities ----

export interface NoiseSection extends Head {
  kind: 'noise';
  noise: any; // docs/schema/noise.schema.json; sections/noise.ts has its own type of what it reads; null: nothing is stored yet
  baseline: { number: number; name: string; diff: any } | null; // docs/schema/noise-diff.schema.json: this against the machine's baseline
}

// ---- tare profile ----

// A tree of calls: node 0 is the root (everything), its children the apps, then outermost function to innermost. Parents come before children.
export interface Tree {
  names: string[]; // of functions, apps; any text
  where: string[]; // objects
  name: number[]; // of each node, index of names
  object: number[]; // index of where; -1: none (root, apps)
  parent: number[]; // -1 of the root
  self: number[]; // samples that end here
  kind: number[]; // 0 root, 1 app, 2 user, 3 kernel, 4 inlined, 5 unknown (an address)
}

export interface ProfileSection extends Head {
  kind: 'profile';
  profile: any; // docs/schema/profile.schema.json, with the views system, app, instance, thread, object, function
  tree: Tree; // without stacks: of depth 2
  slices: { at_ms: number[]; ms: number[]; user: number[]; kernel: number[]; idle: number[] }; // over time, samples
  listings: any[]; // docs/schema/profile-listing.schema.json: of the functions with the most samples
}

// Two trees compared, in columns by node of the one that is shown. A place is a path of names: several nodes may have the same.
export interface Places {
  here: number[]; // samples of the place
  other: number[]; // of the other profile
  sure: number[]; // 1: p < 0.05, adjusted for the number of places
}

// ---- tare query: docs/schema/query.schema.json ----

export interface QuerySection extends Head {
  kind: 'query';
  query: any; // docs/schema/query.schema.json; sections/query.ts has its own type of what it reads; null: nothing is stored yet
  matrix: { measures: string[]; r: (number | null)[][] } | null; // every pair of the model's measures
  ledgers: { query: number; cardinality: number | null; elapsed_ns: number; causes: string[]; mean: number[] }[]; // wall view, means over executions kept; elapsed: in the query itself, which the ledger begins before and ends after
}

// ---- comparisons; sections by their index ----

export type Comparison =
  | { kind: 'time'; sections: number[]; reference: number; measure: Measure; rows: TimeComparison[] }
  | { kind: 'noise'; base: number; run: number; diff: any } // docs/schema/noise-diff.schema.json
  | { kind: 'profile'; before: number; after: number; diff: any; places: { before: Places; after: Places } } // docs/schema/profile-diff.schema.json
  | { kind: 'query'; base: number; other: number; diff: any }; // docs/schema/query-compare.schema.json

export interface TimeComparison {
  section: number;
  ratio: number | null;
  ratio_low: number | null;
  ratio_high: number | null;
  p: number | null;
  test: string;
  significant: boolean;
  sentence: string;
}
