// What is read of docs/schema/profile.schema.json, profile-listing and profile-diff.

export interface Settings {
  mode: 'tick' | 'cpu-clock' | 'cycles';
  stacks: 'none' | 'fp' | 'eh_frame';
  hz: number | null;
  cpus: number;
}

export interface StackEnds {
  leaf: number;
  complete: number;
  limit: number;
  broken: number;
}

export interface Totals {
  samples: number;
  user: number;
  kernel: number;
  idle: number;
  others: number;
  lost: number;
  throttled: number;
  untold: number;
  self_ns: number;
  self_share: number | null;
  cpu_ns: number | null;
  stack_ends: StackEnds;
}

export type By = 'system' | 'app' | 'instance' | 'thread' | 'object' | 'function' | 'line' | 'instruction' | 'container';

/** A row of any view; what a view does not have is not there. */
export interface Row {
  name: string;
  samples: number;
  cpu_ns: number | null;
  share?: number | null;
  share_low?: number | null;
  share_high?: number | null;
  cpu_share?: number | null;
  total_samples?: number;
  total_share?: number | null;
  user?: number;
  kernel?: number;
  app?: string | null;
  object?: string | null;
  function?: string | null;
  inlined?: boolean | null;
  address?: string | null;
  file?: string | null;
  line?: number | null;
  pid?: number;
  tid?: number;
  comm?: string;
  first_sample?: string | null;
  container?: string | null;
  cgroup?: string | null;
}

export interface View {
  by: By;
  samples: number;
  all: number;
  row_count: number;
  rows: Row[];
}

export interface Profile {
  subject: string;
  settings: Settings;
  elapsed_ns: number;
  slices: number;
  totals: Totals;
  views: View[];
}

export interface Instruction {
  address: string;
  size: number;
  text: string;
  samples: number;
  share: number | null;
  file: string | null;
  line: number | null;
  source: string | null;
}

export interface Listing {
  function: { name: string; object: string; address: string; size: number; file: string | null; line: number | null };
  samples: number;
  self: number;
  elsewhere: number;
  instructions: Instruction[];
}

export interface Side {
  run: { id: number | null; name: string | null } | null;
  mode: Settings['mode'];
  hz: number | null;
  cpus: number;
  samples: number;
  elapsed_ns: number;
  cpu_per_s: number | null;
}

export interface DiffRow {
  name: string;
  object: string | null;
  kernel: boolean;
  before: number;
  after: number;
  before_share: number | null;
  after_share: number | null;
  before_cpu_per_s: number | null;
  after_cpu_per_s: number | null;
  change: number | null;
  change_low: number | null;
  change_high: number | null;
  p: number | null;
  sure: boolean;
}

export interface Diff {
  by: By;
  before: Side;
  after: Side;
  rows: DiffRow[];
}
