// Made by scripts/generate from the catalogue: what the documents of tare hold. Times are ns unless a name says
// otherwise; null: not known, which is never 0.

export interface Time {
  results: Result[];
  tare: Tare;
}

export interface Result {
  command: string; // The name given to the command, or the command.
  mean: number | null; // As in hyperfine: elapsed time in s over every measured execution, dropped ones included. The mean that tare shows is of the kept ones: tare.protocol.measures.et.mean_ns. stddev, median, min and max likewise.
  stddev: number | null; // null for fewer than two executions.
  median: number | null;
  user: number | null; // Mean process time (of the run's grade, over every measured execution) times the run's user_share; null where either is not known.
  system: number | null; // The rest of that mean.
  min: number | null;
  max: number | null;
  times: number[];
  memory_usage_byte: (number | null)[]; // Highest resident memory of the subject's largest process.
  exit_codes: (number | null)[]; // 128 + signal for a subject killed by one, as a shell has it; null when tare ended it at its time limit.
  process_times: (number | null)[]; // tare's: process time in seconds at the run's grade, beside times.
  parameters?: Record<string, string>; // As in hyperfine, absent without parameters.
  tare: Run;
}

export interface Run {
  version: string | null;
  run: number | null; // Its id in the lab.
  study: number | null; // The invocation: the runs of one command line share it.
  status: 'going' | 'complete' | 'interrupted' | 'failed';
  command_line: string | null;
  directory: string | null;
  tags: string | null;
  conditions: Record<string, unknown> | null; // Every option that shaped the run.
  backend: 'plain' | 'netlink' | 'bpf';
  not_seen: string | null; // What this back end could not see.
  grade: 'net' | 'exec' | 'tick' | null; // Of the process time the result uses.
  machine: Machine | null;
  started_at: string | null;
  ended_at: string | null;
  planned: number | null;
  shell: Shell | null; // Taken off every time in `results` and `protocol`; not off those in `executions`.
  protocol: Protocol;
  ledger: MeanLedger | null; // Means over the kept executions that have a ledger; null: none has.
  counters?: MeanCounter[]; // Over the kept executions; not there without counters.
  executions: Execution[];
}

export interface Machine {
  fingerprint: string;
  facts: Record<string, string>;
}

export interface Shell {
  command: string;
  et_ns: number | null;
  pt_ns: { net: number | null; exec: number | null; tick: number | null; };
}

export interface Protocol {
  name: 'emp';
  headline: 'et' | 'pt_net' | 'pt_exec' | 'pt_tick' | 'user' | 'system' | 'pt_steady'; // The measure the result is about: a time asked for by --measure, et if the command sleeps or does I/O, or else the lead.
  user_share: number | null; // User time's share of user and system time, pooled over the executions that neither are warm-ups nor failed: the ticks it is sampled by are too few in one. `user` and `system` are the process time of the grade shown (`grade`) divided by it. null: not one tick was seen.
  measures: { et: Measure; pt_net: Measure; pt_exec: Measure; pt_tick: Measure; user: Measure; system: Measure; pt_steady: Measure; };
  lead: 'et' | 'pt_net' | 'pt_exec' | 'pt_tick' | 'user' | 'system' | 'pt_steady'; // What rule II judges by: the time that --measure asked for, pt_steady where that is shown to be better, or else the best process time.
  steady: Steady | null; // How PT(steady) was estimated; null: the CPUs' speed was not watched.
  cutoffs: Cutoffs | null; // What rule I went by; null: this machine has no cutoffs, or they were not to be applied.
  drops: Drop[];
  warnings: Warning[];
}

export interface Measure {
  kept: Summary | null;
  unfiltered: Summary | null;
}

export interface Summary {
  n: number;
  mean_ns: number;
  stddev_ns: number | null; // null: of one value.
  relative_error: number | null;
  median_ns: number;
  mad_ns: number | null;
  min_ns: number;
  max_ns: number;
  ci_low_ns: number | null; // 95 % interval of the mean. null: of one value, or too few for the dependence between them.
  ci_high_ns: number | null;
  effective_n: number | null; // As many independent executions would tell as much about the mean.
  needed_n: number; // About as many executions are needed for an interval; 0: these are enough.
}

export interface Steady {
  executions: number; // Executions that it is from.
  helps: boolean; // Whether the speed explains anything of sigma.
  better: boolean; // Whether PT(steady) is the figure to trust.
  varied: number; // sigma of the speed, as a share.
  explained: number; // The share of PT(net)'s sigma that is gone, by leaving each execution out in turn.
  coefficients: { chain: number; ports: number; turns: number; loads: number; };
  reference: { chain_ns: number | null; ports_ns: number | null; turns_ns: number | null; loads_ns: number | null; };
}

export interface Cutoffs {
  study: number | null; // The daemon study they come from; null: set by hand or imported.
  made_at: string | null;
  count: number; // Cutoffs of the machine, for programs of every length.
  hold: number; // Of those, for a program of this length.
  program_ns: number; // Its length: the median elapsed time of what counts.
  daemons_seen: boolean; // false: this back end saw no daemon, so that nothing could be dropped.
}

export interface Drop {
  rule: 'kept' | 'warmup' | 'failed' | 'I' | 'II';
  reason: string | null;
  daemon: string | null; // Rule I: whose execution was above its cutoff.
  value_ns: number | null; // What was judged. Rule I: the daemon's process time; rule II: PT, or ET where there is no PT.
  low_ns: number | null;
  high_ns: number | null; // Rule I: the cutoff; rule II: mean + 2 sigma.
  number: number;
}

export interface Warning {
  id: string;
  text: string;
  remedy: string;
}

export interface MeanLedger {
  executions: number;
  wall_ns: MeanCauses;
  account_ns: MeanCauses;
  account_count: MeanCauses;
  run_user_ns: number | null; // The part of account_ns.run in user mode, sampled by ticks; null: not one was seen.
  entries: MeanEntry[];
  others: MeanOther[];
  cost: { ns: number | null; subject_ns: number | null; self_ns: number | null; };
  lost: number; // In all of them.
  unlisted: number;
  not_seen: string | null;
}

export interface MeanCauses {
  run: number; // on a CPU, in its own user or kernel code
  irq: number; // its CPU served a hard interrupt
  softirq: number; // its CPU served a soft interrupt
  nmi: number; // its CPU served a non-maskable interrupt
  steal: number; // the hypervisor had taken its CPU away
  queued: number; // runnable, another task had its CPU
  waking: number; // runnable, its idle CPU was still waking up
  throttled: number; // runnable, the CPU quota of its control group was used up
  io: number; // blocked on I/O, the device served the subject
  io_other: number; // blocked on I/O, the device served others
  io_idle: number; // blocked on I/O, the device had nothing to do
  fault: number; // waiting for a page from storage
  futex: number; // asleep on a lock or condition of user space
  pipe: number; // asleep on a pipe
  socket: number; // asleep on a socket
  timer: number; // asleep until a time
  poll: number; // asleep until a file or event is ready
  child: number; // asleep until a child ends
  lock: number; // blocked in the kernel on a lock or journal
  sleep: number; // asleep on something else
  stopped: number; // stopped by a signal, tracer or freezer
  unseen: number; // alive, but not accounted for
}

export interface MeanEntry {
  cause: 'run' | 'irq' | 'softirq' | 'nmi' | 'steal' | 'queued' | 'waking' | 'throttled' | 'io' | 'io_other' | 'io_idle' | 'fault' | 'futex' | 'pipe' | 'socket' | 'timer' | 'poll' | 'child' | 'lock' | 'sleep' | 'stopped' | 'unseen'; // See THE LEDGER in tare(1).
  name: string;
  pid: number | null; // null: none, or several.
  mean_ns: number;
  worst_ns: number;
  worst: number | null; // The execution it was largest in.
  count: number;
}

export interface MeanOther {
  name: string;
  pid: number | null; // null: none, or several.
  mean_ns: number;
  worst_ns: number;
  worst: number | null; // The execution it was largest in.
  self: boolean;
  kernel: boolean;
  bursts: number;
  longest_ns: number;
  delayed_ns: number;
  io_delayed_ns: number;
}

export interface MeanCounter {
  name: string; // As perf calls the event.
  kind: 'count' | 'per_cycle' | 'ghz' | 'clock' | 'effective_clock' | 'slots' | 'per_1000_instructions'; // count, or what is derived: instructions per_cycle, ghz (cycles by process time), clock (cycles by ref-cycles), effective_clock (aperf by mperf), slots (a share of them) or per_1000_instructions.
  scaled: boolean; // The CPU had too few counters for all of them at once.
  user_only: boolean; // The kernel's part was not allowed to be counted.
  user: number | null; // Mean of the part in user mode; null: not counted apart.
  kernel: number | null; // Mean of the part in the kernel, likewise.
  n: number; // Kept executions that have it.
  mean: number;
  stddev: number | null; // null: of one value.
  median: number;
  min: number;
  max: number;
  ci_low: number | null; // 95 % interval of the mean.
  ci_high: number | null;
  unknown: number; // Kept executions that lack it.
  outliers: number; // Kept ones beyond 1.5 times the distance between the quartiles.
}

export interface Execution {
  number: number; // from 1 within the run; warm-ups count on their own
  warmup: boolean; // thrown away by EMP's first rule
  outcome: 'exited' | 'signalled' | 'timed out'; // exited, signalled or timed out
  status: number; // exit code or signal
  started_at: string | null; // UTC
  et_ns: number | null; // elapsed time: the first process from its exec to its end
  wait_ns: number | null; // the same up to when tare, waiting, was told
  tree_ns: number | null; // up to the end of the last process of the tree
  pt_ns: { net: number | null; exec: number | null; tick: number | null; };
  user_ns: number | null; // this execution's exec in the proportion of its ticks, noise below about 100 ms; absent where no tick fell on it
  system_ns: number | null; // the rest of its exec, likewise
  totals: { exec: number | null; user: number | null; system: number | null; run_delay: number | null; blkio_delay: number | null; min_flt: number | null; maj_flt: number | null; nvcsw: number | null; nivcsw: number | null; rchar: number | null; wchar: number | null; syscr: number | null; syscw: number | null; read_bytes: number | null; write_bytes: number | null; cancelled_write_bytes: number | null; rss_peak: number | null; processes: number | null; threads: number | null; };
  switches_per_s: number | null; // the subject's context switches per second of its elapsed time
  overall: Overall; // What the counters of the whole system grew by.
  processes: Process[] | null; // What ran during it: up to 10 of each role, by time on a CPU.
  counters?: Counter[]; // Hardware and software counters of the subject's tree; not there without any.
  left_behind: number; // processes alive when the first one ended
  ended: number; // of those, ended by tare
  lost: number; // events the collector lost
  ephemeral: number | null; // tasks made but never seen; absent where it cannot be known
  self_ns: number | null; // CPU time of tare within the timed window
  speed: { chain_ns: number | null; ports_ns: number | null; turns_ns: number | null; loads_ns: number | null; probes: number | null; left_out: number | null; self_ns: number | null; };
  ledger: Ledger | null; // null: none was kept.
  verdict: Verdict | null;
}

export interface Overall {
  user: number | null; // user mode
  nice: number | null; // user mode, low priority
  system: number | null; // kernel mode
  idle: number | null; // nothing to do
  iowait: number | null; // idle with I/O pending
  irq: number | null; // interrupts
  softirq: number | null; // soft interrupts
  steal: number | null; // taken by the hypervisor
  guest: number | null; // running a guest
  guest_nice: number | null; // running a niced guest
  page_in: number | null; // KiB read from disk
  page_out: number | null; // KiB written to disk
  swap_in: number | null; // pages swapped in
  swap_out: number | null; // pages swapped out
  interrupts: number | null; // interrupts
  switches: number | null; // context switches
  forks: number | null; // processes and threads made
}

export interface Process {
  name: string; // stable across instances: kworker/0, not kworker/0:1-events
  role: 'subject' | 'daemon' | 'self'; // subject, daemon or self (tare)
  pid: number; // process id
  ppid: number; // of its parent
  kernel: boolean; // a kernel thread
  started: boolean; // began within the execution
  ended: boolean; // ended within the execution
  threads: number; // threads seen
  rss_peak: number | null; // bytes
  totals: { exec: number | null; user: number | null; system: number | null; run_delay: number | null; blkio_delay: number | null; min_flt: number | null; maj_flt: number | null; nvcsw: number | null; nivcsw: number | null; rchar: number | null; wchar: number | null; syscr: number | null; syscw: number | null; read_bytes: number | null; write_bytes: number | null; cancelled_write_bytes: number | null; };
}

export interface Counter {
  name: string; // as perf calls it: cycles, branch-misses, instructions:u
  value: number | null; // what was counted of the subject's tree, scaled up if it was not counted all the time; absent if it never was
  user: number | null; // the part of it in user mode; absent if not counted apart
  kernel: number | null; // the part of it in kernel mode; absent if not counted apart, or not allowed
  enabled_ns: number; // CPU time of the tree
  running_ns: number; // the part of that time in which it was counted: less if the CPU has fewer counters than were asked for
}

export interface Ledger {
  wall_ns: Causes; // The elapsed time: `run` when anything of the subject ran, else what all of it waited for.
  account: Account; // Summed over the subject's threads.
  entries: Entry[]; // The account by name; for each cause they add up to it.
  threads: Thread[] | null; // null: not loaded.
  unlisted: number; // Threads that are in the account only.
  others: RanBeside[]; // Other processes that ran, those that delayed the subject most first; at most 20.
  interrupts: Interrupt[]; // Of the whole machine; subject_: on a CPU that the subject had.
  cost: LedgerCost;
  lost: number; // Facts that found no room: names or I/O, not time.
  not_seen: string | null; // What this kernel does not tell.
}

export interface Causes {
  run: number; // on a CPU, in its own user or kernel code
  irq: number; // its CPU served a hard interrupt
  softirq: number; // its CPU served a soft interrupt
  nmi: number; // its CPU served a non-maskable interrupt
  steal: number; // the hypervisor had taken its CPU away
  queued: number; // runnable, another task had its CPU
  waking: number; // runnable, its idle CPU was still waking up
  throttled: number; // runnable, the CPU quota of its control group was used up
  io: number; // blocked on I/O, the device served the subject
  io_other: number; // blocked on I/O, the device served others
  io_idle: number; // blocked on I/O, the device had nothing to do
  fault: number; // waiting for a page from storage
  futex: number; // asleep on a lock or condition of user space
  pipe: number; // asleep on a pipe
  socket: number; // asleep on a socket
  timer: number; // asleep until a time
  poll: number; // asleep until a file or event is ready
  child: number; // asleep until a child ends
  lock: number; // blocked in the kernel on a lock or journal
  sleep: number; // asleep on something else
  stopped: number; // stopped by a signal, tracer or freezer
  unseen: number; // alive, but not accounted for
}

export interface Account {
  ns: Causes;
  count: Causes; // How often it came to be so.
  tick_user_ns: number; // Ticks that fell on it: `run` is user and kernel in their proportion, sampled.
  tick_system_ns: number;
  migrations: number; // Moves to another CPU.
}

export interface Entry {
  cause: 'run' | 'irq' | 'softirq' | 'nmi' | 'steal' | 'queued' | 'waking' | 'throttled' | 'io' | 'io_other' | 'io_idle' | 'fault' | 'futex' | 'pipe' | 'socket' | 'timer' | 'poll' | 'child' | 'lock' | 'sleep' | 'stopped' | 'unseen'; // See THE LEDGER in tare(1).
  name: string;
  pid: number | null; // null: none, or several.
  ns: number;
  count: number;
}

export interface Thread {
  tid: number;
  pid: number;
  name: string;
  begin_ns: number; // After the subject's exec.
  end_ns: number;
  alive: boolean; // At the end of the execution.
  account: Account;
}

export interface RanBeside {
  name: string;
  pid: number | null; // null: none, or several.
  self: boolean; // tare itself.
  kernel: boolean;
  ns: number; // On a CPU.
  bursts: number;
  longest_ns: number;
  delayed_ns: number; // Had a CPU that a thread of the subject was queued for.
  io_delayed_ns: number; // Had the device that a thread of the subject was blocked on.
}

export interface Interrupt {
  cause: 'run' | 'irq' | 'softirq' | 'nmi' | 'steal' | 'queued' | 'waking' | 'throttled' | 'io' | 'io_other' | 'io_idle' | 'fault' | 'futex' | 'pipe' | 'socket' | 'timer' | 'poll' | 'child' | 'lock' | 'sleep' | 'stopped' | 'unseen';
  name: string;
  count: number;
  ns: number;
  subject_count: number;
  subject_ns: number;
}

export interface LedgerCost {
  events: { switches: number; wakeups: number; interrupts: number; blocks: number; };
  event_ns: { switches: number | null; wakeups: number | null; interrupts: number | null; blocks: number | null; };
  subject_events: number;
  ns: number | null;
  subject_ns: number | null;
}

export interface Verdict {
  rule: 'kept' | 'warmup' | 'failed' | 'I' | 'II';
  reason: string | null;
  daemon: string | null; // Rule I: whose execution was above its cutoff.
  value_ns: number | null; // What was judged. Rule I: the daemon's process time; rule II: PT, or ET where there is no PT.
  low_ns: number | null;
  high_ns: number | null; // Rule I: the cutoff; rule II: mean + 2 sigma.
}

export interface Tare {
  format: 1; // Raised when a field changes its meaning.
  comparisons: Comparison[];
  failed_runs: Result[]; // Runs without any measured execution: failed or interrupted before the first. They are not in results, so that every mean there is a number.
}

export interface Comparison {
  reference: number; // Index in results.
  result: number; // Index in results.
  measure: 'et' | 'pt_net' | 'pt_exec' | 'pt_tick' | 'user' | 'system' | 'pt_steady' | 'instructions' | 'cycles'; // What they are compared by, of the kept executions.
  why: 'asked' | 'no_process_time' | 'waits' | 'off_cpu' | 'parallel' | 'queued' | 'ran'; // Why by this measure. asked: by --measure. no_process_time: not all have one. Elapsed time: waits: one sleeps or does I/O; off_cpu: one was off the CPU and nobody saw why; parallel: one used more CPUs at once than another. Process time: queued: others had the CPU of one; ran: they hardly did anything but run.
  ratio: number | null; // Mean of result by mean of reference.
  ratio_low: number | null; // 95 % interval. null: one side has one execution, or too few (needed_n).
  ratio_high: number | null;
  p: number | null; // Below 0.05 exactly if the interval does not contain 1.
  test: string;
  significant: boolean;
  needed_n: number; // One side has too few executions for the dependence between them, and needs about as many; 0: no.
}

export interface Emp {
  format: 1; // Raised when a field changes its meaning.
  type: 'emp';
  run: number | null; // Its id in the lab.
  command: string;
  versions: EmpVersion[]; // v0 to v6, each with what those before it have; v6+steady is tare's own step, where the CPUs' speed was watched.
  sizes: EmpSize[] | null; // v5 applied to the first n samples, the whole first; null: not asked for (--sizes).
}

export interface EmpVersion {
  version: 'v0' | 'v1' | 'v2' | 'v3' | 'v4' | 'v5' | 'v6' | 'v6+steady';
  adds: string; // What it adds to the one before.
  held: boolean | null; // Its conditions, and those of the versions before it, were met in this run; null: it cannot be said.
  why: string | null; // What was not met or cannot be said, or how its own condition was met.
  measure: 'et' | 'pt_net' | 'pt_exec' | 'pt_tick' | 'user' | 'system' | 'pt_steady'; // What value is of.
  n: number; // Samples kept.
  dropped_cutoff: number; // Samples dropped by rule I.
  dropped_outside: number; // Samples dropped by rule II.
  value: Summary | null;
  et: Summary | null;
}

export interface EmpSize {
  n: number; // Samples looked at: the first n that are neither warm-ups nor failed.
  recommended: boolean; // The smallest n of at least 10 from which on sigma and the share of outliers are near those of the whole, or not shown to differ.
  sigma_low_ns: number | null; // If sigma is within these, it differs from that of the whole by no more than chance, at 99 %.
  sigma_high_ns: number | null;
  dropped_cutoff: number;
  dropped_outside: number;
  value: Summary | null;
  et: Summary | null;
}

export interface Explain {
  format: 1; // Raised when a field changes its meaning.
  run: number | null; // Its id in the lab.
  command: string;
  compared: number; // Executions with a ledger that are neither warm-ups nor failed.
  median: { number: number; et_ns: number; };
  limit_ns: number; // An elapsed time above it is slow: the median and the larger of 3 sigma (by the MAD) and 2 %.
  shell_et_ns: number | null; // 0 without a shell.
  explained: Explained[]; // Slowest first. Empty when the median execution itself was asked for.
}

export interface Explained {
  number: number;
  warmup: boolean;
  why: 'asked' | 'slow' | 'slowest'; // slowest: none is slow.
  et_ns: number;
  difference_ns: number; // Of the elapsed times.
  text: string;
  contributions: Contribution[]; // By elapsed time, the largest in the direction of the difference first. With remainder_ns they add up to difference_ns.
  remainder_ns: number; // Of the elapsed times, but in neither ledger.
  threads: DifferenceCause[] | null; // The same summed over the threads; null for a subject of one.
  lacks: string | null; // What the ledgers could not see.
}

export interface Contribution {
  cause: 'run' | 'irq' | 'softirq' | 'nmi' | 'steal' | 'queued' | 'waking' | 'throttled' | 'io' | 'io_other' | 'io_idle' | 'fault' | 'futex' | 'pipe' | 'socket' | 'timer' | 'poll' | 'child' | 'lock' | 'sleep' | 'stopped' | 'unseen';
  ns: number; // This execution less the median one.
  share: number | null; // Of the whole difference; null when that is 0.
  had_ns: number;
  median_ns: number;
  parallel_ns: number; // Within ns, beyond had_ns - median_ns: the subject ran for longer because it ran less in parallel while this cause held a thread up; of run, what the others got. 0 for one thread.
  names: DifferenceName[];
  text: string; // The same as a sentence.
}

export interface DifferenceName {
  name: string; // "": what no name accounts for. Of run: who had more of the CPUs while the subject's threads were queued behind one another.
  pid: number | null; // null: none, or several.
  ns: number; // Its part of the cause's difference; they add up to it.
  count: number; // How often, over every thread.
  median_count: number;
}

export interface DifferenceCause {
  cause: 'run' | 'irq' | 'softirq' | 'nmi' | 'steal' | 'queued' | 'waking' | 'throttled' | 'io' | 'io_other' | 'io_idle' | 'fault' | 'futex' | 'pipe' | 'socket' | 'timer' | 'poll' | 'child' | 'lock' | 'sleep' | 'stopped' | 'unseen';
  ns: number; // This execution less the median one.
  share: number | null; // Of the whole difference; null when that is 0.
  had_ns: number;
  median_ns: number;
  parallel_ns: number; // Within ns, beyond had_ns - median_ns: the subject ran for longer because it ran less in parallel while this cause held a thread up; of run, what the others got. 0 for one thread.
  names: DifferenceName[];
}

export interface Noise {
  type: 'noise';
  format: 1; // Raised when a field changes its meaning.
  run: StoredRun | null;
  machine: Machine | null;
  settings: NoiseSettings;
  elapsed_ns: number; // From the first round to the last, pauses included.
  together: NoiseCpu;
  cpus: NoiseCpu[];
  parts: NoisePart[]; // The run in parts of so many rounds: pauses make them of unequal length.
  worst: NoiseWorst[]; // The longest detours, longest first.
}

export interface StoredRun {
  id: number | null; // In the lab; null: not stored.
  name: string | null;
  command_line: string | null;
  status: 'going' | 'complete' | 'interrupted' | 'failed';
  started_at: string | null;
  ended_at: string | null;
  conditions: Record<string, unknown> | null; // Every option that shaped the run.
  tags: string | null;
  not_seen: string | null; // What could not be seen, a sentence.
  version: string | null; // Of tare.
}

export interface NoiseSettings {
  cpus: number[];
  realtime: boolean; // The loop ran under SCHED_FIFO.
  priority: number | null;
  kernel: boolean; // The kernel's side was seen: sources have names.
  steal_told: boolean;
  part_rounds: number; // Rounds in a part.
}

export interface NoiseCpu {
  cpu: number | null; // null: all of them together. Then times are sums; thresholds, steps and turns the largest.
  rounds: number;
  window_ns: number; // Looked at, in all rounds.
  unwatched_ns: number; // Of it, the loop's own notes and probes.
  duty_cycle: number | null; // (window_ns - unwatched_ns) of the time that passed, pauses between rounds included.
  turns: number; // Of the loop.
  threshold_ns: number; // A gap above it is a detour.
  step_ns: number; // Of the clock.
  turn_ns: number; // Of the loop, median.
  turn_p999_ns: number;
  detours: { count: number; ns: number; min_ns: number | null; max_ns: number | null; per_s: number | null; lost_share: number | null; class_ns: NoiseClassNs; overlap_ns: number | null; };
  coverage: NoiseCoverage[];
  host: { rounds: number; fitted: number; period_ns: number | null; width_ns: number | null; chance: number | null; in_phase: number; looked_at: number; };
  untold: NoiseUntold[]; // Vectors that /proc/interrupts counts and no tracepoint tells.
  events: number | null; // Told by the kernel.
  lost: number | null; // That found no room.
  outside: number | null; // Occurrences in no detour.
  outside_ns: number | null;
  smi: { count: number | null; explained: number | null; };
  speed: NoiseSpeed | null; // null: it was not watched, or these are all CPUs together.
  sources: NoiseSource[]; // Empty where nobody could be named: settings.kernel is false.
  combinations: NoiseCombination[]; // Likewise.
  buckets: NoiseBucket[]; // Empty ones left out.
}

export interface NoiseClassNs {
  irq: number | null;
  softirq: number | null;
  nmi: number | null;
  thread: number | null;
  work: number | null;
  fault: number | null;
  throttled: number | null;
  delivery: number | null;
  steal: number | null;
  'host-periodic': number | null;
  unexplained: number | null;
  smi: number | null;
}

export interface NoiseCoverage {
  from_ns: number; // Of detours this long or longer.
  count: number;
  ns: number; // Their time but that in class throttled: it is the price of the real-time class, and in none of these.
  named: number | null; // Of their time, in any class but unexplained.
  strict: number | null; // Inside what the kernel told of.
  overlap: number | null; // In detours in which it told of anything.
}

export interface NoiseUntold {
  name: string;
  count: number;
}

export interface NoiseSpeed {
  point_ns: number; // The length of a point.
  probes: number; // That count.
  left_out: number; // That were interrupted.
  least: number | null; // The speed at its worst, as a share of its best, of the work that varied most, loads excepted. null: fewer than two points.
  work: { chain: SpeedFigures; ports: SpeedFigures; turns: SpeedFigures; loads: SpeedFigures; };
  points: NoiseSpeedPoint[]; // In order of time. Stretches without a probe have none.
}

export interface SpeedFigures {
  best_ns: number | null; // the 5 % quantile of means over time
  median_ns: number | null;
  worst_ns: number | null; // the 95 % quantile
  varied: number | null; // worst / best - 1
}

export interface NoiseSpeedPoint {
  begin_ns: number; // Since the begin of the run.
  length_ns: number;
  probes: number; // In these means.
  left_out: number; // Probes that were interrupted.
  chain_ns: number | null; // What a probe's dependent multiplications took at the mean speed: the clock. null: all probes were left out.
  ports_ns: number | null; // Likewise its additions that fill all ports of the core.
  turns_ns: number | null; // Likewise its turns of a tight loop.
  loads_ns: number | null; // Likewise its dependent loads from 4 MiB.
}

export interface NoiseSource {
  class: 'irq' | 'softirq' | 'nmi' | 'thread' | 'work' | 'fault' | 'throttled' | 'delivery' | 'steal' | 'host-periodic' | 'unexplained' | 'smi'; // irq to throttled: inside what the kernel told of (strict). delivery, steal, host-periodic: named, but inferred.
  name: string;
  count: number;
  ns: number; // Their sum.
  min_ns: number | null;
  max_ns: number | null;
  mean_ns: number | null;
  sigma_ns: number | null; // Of the population; null for fewer than two.
  share: number | null; // Of all time lost on this CPU.
  period_ns: number | null; // From one occurrence to the next; null: none that holds.
  period_share: number | null; // Of its intervals, those within 5 % of it or of a multiple up to 4.
  lengths: NoiseLength[]; // Buckets 1 to 2 % wide, empty ones left out.
}

export interface NoiseLength {
  low_ns: number;
  high_ns: number; // Not in it.
  count: number;
  ns: number;
}

export interface NoiseCombination {
  name: string; // Sources that followed each other in a detour, joined by '_'.
  count: number;
  ns: number; // Their sum.
  min_ns: number | null;
  max_ns: number | null;
  mean_ns: number | null;
  sigma_ns: number | null; // Of the population; null for fewer than two.
  share: number | null; // Of all time lost on this CPU.
  lengths: NoiseLength[]; // Buckets 1 to 2 % wide, empty ones left out.
  told: NoiseTold | null; // Strict time in these detours, where there was any; null: the kernel's side was not seen.
}

export interface NoiseTold {
  count: number;
  ns: number; // Their sum.
  min_ns: number | null;
  max_ns: number | null;
  mean_ns: number | null;
  sigma_ns: number | null; // Of the population; null for fewer than two.
  lengths: NoiseLength[]; // Buckets 1 to 2 % wide, empty ones left out.
}

export interface NoiseBucket {
  low_ns: number;
  high_ns: number; // Not in it.
  count: number; // Detours of this length: the user-level histogram.
  ns: number;
  class_ns: NoiseClassNs; // They add up to ns. null: this run could not know.
  overlap_ns: number | null; // Whole detours in which the kernel told of anything.
  master_count: number | null; // Detours with so much strict time: the master histogram.
  master_ns: number | null;
}

export interface NoisePart {
  begin_ns: number; // Since the begin of the run.
  window_ns: number; // Summed over the CPUs.
  count: number; // Detours of all CPUs.
  ns: number;
  shares: NoiseShare[];
}

export interface NoiseShare {
  cpu: number; // Index in cpus.
  source: number; // Index in its sources.
  count: number;
  ns: number;
}

export interface NoiseWorst {
  cpu: number;
  begin_ns: number; // Since the begin of the run; in the lab, of the clock.
  ns: number;
  name: string; // Its combination.
  class_ns: NoiseClassNs; // They add up to ns. null: this run could not know.
}

export interface NoiseDiff {
  format: 2; // Raised when a field changes its meaning. 2: new and gone are sure.
  text: string; // The verdict as a sentence.
  notes: string[]; // What makes a difference that no source made: other CPUs, thresholds, no names.
  base: NoiseDiffSide; // The baseline.
  run: NoiseDiffSide; // What is compared with it.
  total: NoiseDiffTotal;
  counts: NoiseDiffCounts; // Sources by change.
  sources: NoiseDiffSource[]; // All CPUs together. New first, then grown, shrunk, gone, same, unsure; each by the larger share. Empty where one of the two has no names.
  peaks: NoiseDiffPeak[]; // Lengths that became more or less frequent, by the time lost; none where no change of a source or of all is sure.
  density: NoiseDiffDensity; // By Parzen's method over log10 of the lengths, with a Gaussian kernel.
}

export interface NoiseDiffSide {
  run: number | null; // Its number in the lab; null: not stored.
  name: string;
  cpus: number[];
  window_ns: number; // Looked at, summed over the CPUs.
  parts: number; // Of the run, over which intervals and tests are taken; fewer than 4 give none.
  threshold_ns: number; // Shortest detour told; the largest of the CPUs.
  kernel: boolean; // Sources have names.
  steal_told: boolean; // The hypervisor's steal is known.
  realtime: boolean; // The loop was of the real-time class.
}

export interface NoiseDiffTotal {
  base_share: number; // Time lost per time, all sources.
  run_share: number;
  ratio: number | null; // Of the time lost: run / base. null: one of them lacks it, has too few parts, or lost none.
  ratio_low: number | null; // 95 % interval over the parts.
  ratio_high: number | null;
  p: number | null; // Of a permutation test over the parts; not adjusted.
}

export interface NoiseDiffCounts {
  same: number;
  new: number;
  gone: number;
  grown: number;
  shrunk: number;
  unsure: number;
}

export interface NoiseDiffSource {
  class: 'irq' | 'softirq' | 'nmi' | 'thread' | 'work' | 'fault' | 'throttled' | 'delivery' | 'steal' | 'host-periodic' | 'unexplained' | 'smi';
  name: string;
  change: 'same' | 'new' | 'gone' | 'grown' | 'shrunk' | 'unsure'; // Unsure: p is 0.05 or more, or null. Otherwise, new and gone: one of the two lacks it; grown and shrunk: by 1.1 times at least, with an interval that excludes 1; same: less than that.
  base_rate: number; // Occurrences per s of a CPU.
  run_rate: number;
  base_share: number; // Time lost to it per time.
  run_share: number;
  base_mean_ns: number | null; // Of an occurrence; null: there is none.
  run_mean_ns: number | null;
  base_max_ns: number | null;
  run_max_ns: number | null;
  ratio: number | null; // Of the time lost: run / base. null: one of them lacks it, has too few parts, or lost none.
  ratio_low: number | null; // 95 % interval over the parts.
  ratio_high: number | null;
  p: number | null; // In one of the two only: that all appearances fell into one by chance; else of a permutation test over the parts. Adjusted over all sources by Benjamini and Hochberg. null: too few parts, for how one depends on the one before.
}

export interface NoiseDiffPeak {
  low_ns: number;
  high_ns: number; // Not included.
  base_rate: number; // Detours of these lengths per s of a CPU.
  run_rate: number;
  name: string; // The combination of sources that changed most there; "": none is known.
}

export interface NoiseDiffDensity {
  bandwidth: number; // Decades, the same for both.
  distance: number; // Half of the integral of |run - base|, both normalised.
  ns: number[]; // Lengths.
  base: number[]; // Detours per s and decade of length.
  run: number[];
}

export interface Profile {
  type: 'profile';
  format: 1; // Raised when a field changes its meaning.
  run: StoredRun | null;
  machine: Machine | null;
  subject: string; // What was sampled, in words.
  settings: ProfileSettings;
  begun_at: string | null; // Of the first slice.
  elapsed_ns: number; // Gaps between slices are not in it.
  slices: number; // How many windows of time.
  totals: ProfileTotals; // Over all slices, whatever the filter.
  views: ProfileView[];
}

export interface ProfileSettings {
  mode: 'tick' | 'cpu-clock' | 'cycles' | 'event'; // What made a CPU look: the kernel's own tick, a timer, the cycle counter at a rate, or so many of an event.
  stacks: 'none' | 'fp' | 'eh_frame'; // How user stacks were followed.
  hz: number | null; // Samples per second of a busy CPU; null by an event.
  cpus: number; // Sampled.
  event: string | null; // mode event: which one, as perf calls it. A sample is its overflow, not time.
  period: number | null; // mode event: each sample stands for so many events.
}

export interface ProfileTotals {
  samples: number; // user + kernel.
  user: number;
  kernel: number;
  idle: number; // Measured by the kernel's own account of idle time, in samples.
  others: number; // Taken, but not of what was asked for.
  lost: number; // Taken, but no room.
  throttled: number; // Times the kernel held sampling back.
  untold: number; // Mappings, forks and ends that the kernel had no room to tell.
  peak_used: number; // Entries of the fullest buffer.
  peak_room: number;
  self_ns: number; // CPU time of tare.
  self_share: number | null; // Of CPUs * elapsed time.
  cpu_ns: number | null; // CPU time that the samples stand for; null by an event.
  stack_ends: StackEnds; // Samples with a part in user space, by how their stacks ended.
}

export interface StackEnds {
  leaf: number;
  complete: number;
  limit: number;
  broken: number;
  no_room: number;
  elided: number;
}

export interface ProfileView {
  by: 'system' | 'app' | 'instance' | 'thread' | 'object' | 'function' | 'line' | 'instruction' | 'container';
  samples: number; // That passed the filter: shares are of these.
  all: number; // Of the profile.
  elapsed_ns: number;
  without_function: number; // Of samples: no function is known for the innermost location.
  stack_ends: StackEnds; // Samples with a part in user space, by how their stacks ended.
  row_count: number; // Before those that are small, or not among the most, were left out.
  rows: (ProfileSystem | ProfileApp | ProfileInstance | ProfileThread | ProfileObject | ProfileFunction | ProfileLine | ProfileInstruction | ProfileContainer)[]; // By samples; with totals asked for by total_samples. system: always all five.
}

export interface ProfileSystem {
  name: string; // not sampled: what is missing at CPUs * elapsed time, where that is more than 3 %.
  samples: number;
  cpu_ns: number | null; // CPU time that the samples stand for: samples / hz; null by an event.
  cpu_share: number | null; // Of CPUs * elapsed time.
}

export interface ProfileApp {
  name: string; // What it is called in one line.
  samples: number; // With it as the innermost.
  share: number | null; // Of the view's samples.
  share_low: number | null; // 95 % interval (Wilson).
  share_high: number | null;
  cpu_ns: number | null; // CPU time that the samples stand for: samples / hz; null by an event.
  user: number; // Of samples.
  kernel: number;
  app: string | null; // null: several, or not known.
  object: string | null; // Its executable; null: a kernel thread.
  build_id: string | null;
}

export interface ProfileInstance {
  name: string; // What it is called in one line.
  samples: number; // With it as the innermost.
  share: number | null; // Of the view's samples.
  share_low: number | null; // 95 % interval (Wilson).
  share_high: number | null;
  cpu_ns: number | null; // CPU time that the samples stand for: samples / hz; null by an event.
  user: number; // Of samples.
  kernel: number;
  app: string | null; // null: several, or not known.
  instance: number; // Number of this app, from 0 in order of appearance: name is app#instance.
  pid: number;
  comm: string;
  start_boottime_ns: number | null; // Start of the process on CLOCK_BOOTTIME.
  first_sample: string | null;
  container: string | null;
  cgroup: string | null;
}

export interface ProfileThread {
  name: string; // What it is called in one line.
  samples: number; // With it as the innermost.
  share: number | null; // Of the view's samples.
  share_low: number | null; // 95 % interval (Wilson).
  share_high: number | null;
  cpu_ns: number | null; // CPU time that the samples stand for: samples / hz; null by an event.
  user: number; // Of samples.
  kernel: number;
  app: string | null; // null: several, or not known.
  instance: number;
  pid: number;
  tid: number;
  comm: string;
}

export interface ProfileObject {
  name: string; // What it is called in one line.
  samples: number; // With it as the innermost.
  share: number | null; // Of the view's samples.
  share_low: number | null; // 95 % interval (Wilson).
  share_high: number | null;
  cpu_ns: number | null; // CPU time that the samples stand for: samples / hz; null by an event.
  total_samples: number; // With it anywhere in the stack, once each.
  total_share: number | null;
  user: number; // Of samples.
  kernel: number;
  app: string | null; // null: several, or not known.
  object: string | null; // Path of what the code was mapped from; [kernel], [vdso], [jit], ...
  object_kind: 'file' | 'kernel' | 'module' | 'vdso' | 'jit' | 'memory' | 'unknown' | null;
  build_id: string | null; // In hex.
}

export interface ProfileFunction {
  name: string; // What it is called in one line.
  samples: number; // With it as the innermost.
  share: number | null; // Of the view's samples.
  share_low: number | null; // 95 % interval (Wilson).
  share_high: number | null;
  cpu_ns: number | null; // CPU time that the samples stand for: samples / hz; null by an event.
  total_samples: number; // With it anywhere in the stack, once each.
  total_share: number | null;
  user: number; // Of samples.
  kernel: number;
  app: string | null; // null: several, or not known.
  function: string | null; // null: not known; then name is object+offset in the file.
  inlined: boolean | null; // It has no code of its own there; null: no function is known.
  address: string | null;
  object: string | null; // Path of what the code was mapped from; [kernel], [vdso], [jit], ...
  object_kind: 'file' | 'kernel' | 'module' | 'vdso' | 'jit' | 'memory' | 'unknown' | null;
  build_id: string | null; // In hex.
  file: string | null; // Where it is declared.
  line: number | null;
}

export interface ProfileLine {
  name: string; // What it is called in one line.
  samples: number; // With it as the innermost.
  share: number | null; // Of the view's samples.
  share_low: number | null; // 95 % interval (Wilson).
  share_high: number | null;
  cpu_ns: number | null; // CPU time that the samples stand for: samples / hz; null by an event.
  total_samples: number; // With it anywhere in the stack, once each.
  total_share: number | null;
  user: number; // Of samples.
  kernel: number;
  app: string | null; // null: several, or not known.
  function: string | null;
  inlined: boolean | null; // It has no code of its own there; null: no function is known.
  object: string | null; // Path of what the code was mapped from; [kernel], [vdso], [jit], ...
  object_kind: 'file' | 'kernel' | 'module' | 'vdso' | 'jit' | 'memory' | 'unknown' | null;
  build_id: string | null; // In hex.
  file: string | null;
  line: number | null; // null: not known.
}

export interface ProfileInstruction {
  name: string; // What it is called in one line.
  samples: number; // With it as the innermost.
  share: number | null; // Of the view's samples.
  share_low: number | null; // 95 % interval (Wilson).
  share_high: number | null;
  cpu_ns: number | null; // CPU time that the samples stand for: samples / hz; null by an event.
  user: number; // Of samples.
  kernel: number;
  app: string | null; // null: several, or not known.
  function: string | null;
  offset: string | null; // From the function's first address.
  address: string | null; // What nm and objdump show. The instruction that would have come next: the cost is mostly of the one before.
  object: string | null; // Path of what the code was mapped from; [kernel], [vdso], [jit], ...
  object_kind: 'file' | 'kernel' | 'module' | 'vdso' | 'jit' | 'memory' | 'unknown' | null;
  build_id: string | null; // In hex.
}

export interface ProfileContainer {
  name: string; // What it is called in one line.
  samples: number; // With it as the innermost.
  share: number | null; // Of the view's samples.
  share_low: number | null; // 95 % interval (Wilson).
  share_high: number | null;
  cpu_ns: number | null; // CPU time that the samples stand for: samples / hz; null by an event.
  user: number; // Of samples.
  kernel: number;
  app: string | null; // null: several, or not known.
  container: string | null; // Its id, or the cgroup's path; null: not known.
}

export interface ProfileDiff {
  type: 'profile-diff';
  format: 1; // Raised when a field changes its meaning.
  by: 'system' | 'app' | 'instance' | 'thread' | 'object' | 'function' | 'line' | 'instruction' | 'container';
  before: ProfileSide;
  after: ProfileSide;
  rows: ProfileChange[]; // By the size of the change.
}

export interface ProfileSide {
  run: StoredRun | null;
  mode: 'tick' | 'cpu-clock' | 'cycles' | 'event'; // What made a CPU look: the kernel's own tick, a timer, the cycle counter at a rate, or so many of an event.
  hz: number | null;
  event: string | null; // mode event: which one.
  period: number | null; // mode event: each sample stands for so many.
  cpus: number;
  samples: number;
  elapsed_ns: number;
  cpu_per_s: number | null; // CPU seconds for each second that passed.
}

export interface ProfileChange {
  name: string;
  object: string | null; // Last part of its path; null in views by owner.
  kernel: boolean; // All of it.
  before: number; // Samples.
  after: number;
  before_share: number | null; // Of all samples.
  after_share: number | null;
  before_cpu_per_s: number | null; // CPU seconds for each second that passed.
  after_cpu_per_s: number | null;
  change: number | null; // Of the share: after - before.
  change_low: number | null; // 95 % interval (Newcombe).
  change_high: number | null;
  p: number | null; // That two equal shares differ so much by how the samples fell: Fisher's exact or the z-test, adjusted over all rows by Benjamini and Hochberg. null: too few samples to tell anything.
  sure: boolean; // p < 0.05.
}

export interface ProfileListing {
  type: 'profile-listing';
  format: 1; // Raised when a field changes its meaning.
  run: StoredRun | null;
  settings: ProfileSettings;
  function: ProfileListingFunction;
  samples: number; // Shares are of these.
  self: number; // All samples of the function.
  elsewhere: number; // Of self: at addresses where no instruction of the list begins.
  instructions: ProfileListingInstruction[];
}

export interface ProfileListingFunction {
  name: string;
  object: string;
  object_kind: 'file' | 'kernel' | 'module' | 'vdso' | 'jit' | 'memory' | 'unknown';
  build_id: string | null;
  address: string;
  size: number;
  file: string | null;
  line: number | null;
}

export interface ProfileListingInstruction {
  address: string;
  size: number;
  text: string; // As objdump has it.
  samples: number;
  share: number | null;
  file: string | null;
  line: number | null;
  source: string | null; // The text of the line; null: it could not be read.
}

export interface Query {
  type: 'query';
  format: 1; // Raised when a field changes its meaning.
  run: StoredRun | null;
  machine: Machine | null;
  cpus: number | null; // Online.
  experiment: { name: string | null; text: string | null; scenario: string | null; queries: number; executions: number | null; cold: boolean; imported: boolean; time_limit_ns: number | null; seed: string | null; };
  server: { dbms: string; version: string | null; settings: Record<string, unknown> | null; io_by_process: boolean; };
  options: QueryOptions;
  texts: QueryText[];
  plans: QueryPlan[];
  events: QueryEvent[];
  at_made: number;
  at_kept: number;
  executions_made: number;
  executions_kept: number;
  time: 'measured' | 'calculated' | 'cpu_blocked' | 'cpu_device'; // The best that every Q@C has: of the headline.
  relative_error: number | null; // Of the headline: mean of sigma / mean over the Q@Cs kept.
  checks: { experiment: QueryWideCheck[]; execution: QueryCheck[]; at: QueryAtCheck[]; missing: string[]; };
  post: QueryPost | null; // Step 5, on calculated times; null: refused.
  reading: QueryReading | null; // How many Q@Cs; null: bytes are not known.
  surroundings: QuerySurroundings; // Shares are over the executions kept.
  model: QueryRelation[]; // The causal model's correlations.
  deviations: string[]; // From the protocol as printed.
  items: QueryItem[]; // Section 9 of the paper.
  paragraphs: string[]; // The same, ready to paste; none where no_paragraphs says why.
  no_paragraphs: string | null; // Why the run is not fit for a paper: "the run is not complete", "nothing was kept".
  at: QueryAt[]; // By query, then cardinality.
}

export interface QueryOptions {
  form: 'adapted' | 'paper';
  tick_ns: number | null;
  floor_ns: number; // What is shorter cannot be measured.
}

export interface QueryText {
  query: number; // its number
  name: string | null;
  sql: string | null;
}

export interface QueryPlan {
  hash: string;
  plan: Record<string, unknown> | null; // A tree of nodes: node, relation, alias, index, join, conditions, details, children.
}

export interface QueryEvent {
  kind: 'restarted' | 'backed off' | 'paused' | 'resumed' | 'same plan' | 'made table' | 'gave up';
  at: string | null;
  query: number | null;
  cardinality: number | null;
  plan: string | null;
  before: string | null;
  text: string | null;
}

export interface QueryWideCheck {
  name: 'missing queries' | 'unique plan' | 'underlying measure' | 'derived measure' | 'steal time' | 'guest time' | 'other query process' | 'other utility process';
  fired: number;
  of: number;
}

export interface QueryCheck {
  name: 'ephemeral process' | 'DBMS time' | 'zero query time' | 'query time' | 'query user tick' | 'overall computation time' | 'computation time' | 'BlockIO delay time' | 'IOWait time' | 'context switch' | 'ambiguous query process' | 'no query process' | 'timed-out' | 'lost events' | 'missing worker';
  fired: number;
  of: number;
}

export interface QueryAtCheck {
  name: 'excessive variation in query computation time' | 'possible query result cache' | 'strict monotonicity' | 'relaxed monotonicity';
  fired: number;
  of: number;
}

export interface QueryPost {
  checks: QueryAtCheck[];
  kept_difference: number | null; // Of measured and calculated time, relative to measured: the Q@Cs kept.
  dropped_difference: number | null;
  relative_error: number | null; // Of calculated times.
  constant: string[]; // Measures of the model that never vary.
}

export interface QueryReading {
  known: number;
  whole: number; // Read what their tables have, within 3 %.
  less: number;
  more: number;
  warm: number; // Read less than 1 % of that.
}

export interface QuerySurroundings {
  run_delay_share: number | null; // That each of the query's threads waited for a CPU, of the time between the snapshots.
  steal_share: number | null; // Of the CPUs' time.
  lost: number; // Executions, of all, in which events were lost.
}

export interface QueryRelation {
  id: string;
  left: string;
  right: string;
  predicted: 'low' | 'med' | 'high';
  papers_r: number;
  r: number | null;
  p: number | null;
  observed: 'low' | 'med' | 'high' | null;
  off: number | null; // Levels from what was predicted, which is always positive; 2: or more.
}

export interface QueryItem {
  name: string;
  text: string;
}

export interface QueryAt {
  query: number;
  name: string;
  cardinality: number | null; // Of the table that varies; null: none does.
  table_bytes: number | null;
  plan: string | null; // Lettered within the query, from the highest cardinality down.
  plan_hash: string | null;
  several_plans: boolean;
  kept: number; // Executions.
  made: number;
  dropped_by: 'excessive variation' | 'possible result cache' | 'another query process' | 'too short to measure' | 'fewer than 6 executions left' | null; // Step 3; null: it is kept.
  fired: ('excessive variation in query computation time' | 'possible query result cache' | 'strict monotonicity' | 'relaxed monotonicity')[]; // Step 1.
  fired_afterwards: ('excessive variation in query computation time' | 'possible query result cache' | 'strict monotonicity' | 'relaxed monotonicity')[]; // Step 5.
  times: { measured: QueryFigure | null; calculated: QueryFigure | null; cpu_blocked: QueryFigure | null; cpu_device: QueryFigure | null; };
  unfiltered: { measured: QueryFigure | null; calculated: QueryFigure | null; cpu_blocked: QueryFigure | null; cpu_device: QueryFigure | null; };
  cpu: QueryFigure | null;
  own_device: QueryFigure | null;
  blocked: QueryFigure | null;
  read_share: number | null; // Mean of bytes read by executions that ended, dropped or not, of those of its tables.
  executions: QueryExecution[];
}

export interface QueryFigure {
  median_ns: number;
  mean_ns: number;
  sigma_ns: number;
}

export interface QueryExecution {
  number: number; // from 1 within its Q@C
  timed_out: boolean; // it was cancelled at the time limit
  started_at: string | null; // UTC
  measured_ns: number; // from asking to the last row
  plan: string | null; // hash of its plan
  own_device_ns: number | null; // time that devices served it
  others_device_ns: number | null; // time that devices served everybody else meanwhile
  rows: number; // fetched
  read_bytes: number | null; // read from devices for it
  run_delay_ns: number | null; // its tasks waited so long for a CPU
  workers: number | null; // helper processes that worked for it
  workers_planned: number | null; // helper processes that its plan has
  transaction: 'read only' | 'rolled back' | 'committed' | null; // how its transaction ended. Only what was committed is left, and only that time has the commit in it
  relation_bytes: number | null; // of the tables in its plan before it, where it may write
  cpu_ns: number | null; // User + system of the query's processes; null: one of them was not seen.
  times_ns: { measured: number | null; calculated: number | null; cpu_blocked: number | null; cpu_device: number | null; };
  dropped_by: ('ephemeral process' | 'DBMS time' | 'zero query time' | 'query time' | 'query user tick' | 'overall computation time' | 'computation time' | 'BlockIO delay time' | 'IOWait time' | 'context switch' | 'ambiguous query process' | 'no query process' | 'timed-out' | 'lost events' | 'missing worker')[]; // Sanity checks that it did not pass; empty: it is kept.
}

export interface QueryCompare {
  type: 'query-compare';
  format: 1; // Raised when a field changes its meaning.
  base: QuerySide;
  other: QuerySide;
  time: 'measured' | 'calculated' | 'cpu_blocked' | 'cpu_device'; // What is compared: as asked for, or the best that both have.
  compared: number; // Q@Cs kept in both.
  plan_changes: number;
  slower: number;
  faster: number;
  contrary: number; // Of slower and faster, those decided by elapsed time, as `time` says the opposite.
  ratio: number | null; // Other / base: geometric mean over the Q@Cs compared.
  ratio_low: number | null;
  ratio_high: number | null;
  elapsed_ratio: number | null; // The same of elapsed time.
  elapsed_low: number | null;
  elapsed_high: number | null;
  settings: QuerySetting[]; // Of the servers, those that differ.
  pairs: QueryPair[];
}

export interface QuerySide {
  run: number | null;
  name: string | null;
  dbms: string;
  version: string | null;
  cold: boolean;
  kept: number; // Q@Cs.
}

export interface QuerySetting {
  name: string;
  base: string | null; // null: it has none.
  other: string | null;
}

export interface QueryPair {
  query: number; // The base's number, or where it has none, the other's.
  name: string;
  cardinality: number | null;
  change: 'same' | 'slower' | 'faster' | 'only_base' | 'only_other'; // slower and faster: the other, significantly, by the time of `by`. only_: it is there, or was kept, in one of them alone.
  by: 'measured' | 'calculated' | 'cpu_blocked' | 'cpu_device'; // Which time decided: that of the comparison, unless none was asked for and elapsed time changed the other way.
  same_plan: boolean; // Or that is not known, or they are of two DBMSs.
  base_plan: string | null;
  other_plan: string | null;
  plan_change: string | null; // In words.
  base_ns: number | null; // Median.
  other_ns: number | null;
  ratio: number | null; // Other / base.
  ratio_low: number | null;
  ratio_high: number | null;
  p: number | null; // Mann-Whitney, corrected by Holm.
  elapsed: QueryRatio; // The same of elapsed time.
}

export interface QueryRatio {
  base_ns: number | null; // Median.
  other_ns: number | null;
  ratio: number | null; // Other / base.
  ratio_low: number | null;
  ratio_high: number | null;
  p: number | null; // Mann-Whitney, corrected by Holm.
}

export interface Duet {
  type: 'duet';
  format: 1; // Raised when a field changes its meaning.
  run: StoredRun | null;
  machine: Machine | null;
  way: 'scheduler' | 'freezer' | 'whole'; // how the sides shared the CPUs: scheduler (at once on one CPU), freezer (at once on several, one frozen while the other ran) or whole (whole executions in turns)
  why: string | null; // why this way
  lacks: string | null; // what could not be done here, and its effect
  cpus: string | null; // the CPUs that they shared
  period_ns: number; // the time between the wake-ups that make the scheduler alternate; 0: none
  slice_ns: number; // the slice asked of the scheduler; 0: its own
  turn_ns: number; // a turn by the freezer; 0: none
  max_time_ns: number; // to go on for at most
  precision: number | null; // to stop once the interval is within ± this share
  precise: boolean; // not to stop before that even if the sign is sure
  slower: number | null; // the share that --fail-if-slower allows
  seed: string; // of order and padding: 64 bits, as digits
  revisions: string | null; // the git revisions that were built and compared
  sentence: string; // how it was done, in words
  elapsed_ns: number | null; // how long all of it took
  measure: 'pt_net' | 'pt_exec' | 'turn' | 'et' | 'instructions' | 'cycles'; // what is compared
  done: boolean; // every verdict is sure
  sides: DuetSide[]; // The first is the reference.
  verdicts: DuetVerdict[]; // One for each side but the reference.
  looks: DuetLook[]; // When it judged the pairs and could have stopped.
  parts: DuetPart[]; // Every execution, in the order in which they ended.
}

export interface DuetSide {
  name: string | null; // the user's name for it, or the command
  command: string | null; // as given
}

export interface DuetVerdict {
  side: number; // compared with side 0
  name: string;
  sentence: string; // the answer in words
  gate_sentence: string | null; // that to --fail-if-slower
  end: 'open' | 'faster' | 'slower' | 'same'; // faster or slower than the reference, the same within ± precision, or open
  gate: 'none' | 'slower' | 'not slower' | 'not known yet'; // the end of --fail-if-slower; none: not given
  ratio: number | null; // other / reference; null: fewer than 3 pairs
  ratio_low: number | null;
  ratio_high: number | null;
  sigma: number | null; // of the log ratio of one pair
  pairs: number; // counted
  judged: number; // of those, by the last look, which the ratio is of
  trimmed: number; // of those, left out of the mean as outermost
  failed: number; // pairs left out because an execution failed
  unusable: number; // pairs left out because a time is not known or not longer than the shell's
  mean_ns: { reference: number | null; other: number | null; };
  spread: { reference: number | null; other: number | null; };
  cost: { reference: number | null; reference_low: number | null; reference_high: number | null; other: number | null; other_low: number | null; other_high: number | null; };
  list: DuetPair[]; // The pairs counted.
  steps: DuetStep[]; // The last is the verdict's.
}

export interface DuetPair {
  pair: number; // its number
  began_at: string | null;
  reference_ns: number; // by the measure, per whole execution
  other_ns: number;
  log_ratio: number; // natural logarithm of other / reference
  overlap: number | null; // the smaller of the two sides'
  trimmed: boolean; // among the outermost, which the mean leaves out
}

export interface DuetStep {
  pairs: number; // counted by then
  ratio: number | null;
  ratio_low: number | null;
  ratio_high: number | null;
  level: number | null; // nominal error rate of this look's interval
}

export interface DuetLook {
  pairs: number; // pairs so far
  spent: number | null; // the share of the error rate that was used up by then
}

export interface DuetPart {
  pair: number; // from 1; 0: it ran alone, to see what sharing costs
  side: number; // 0 is the reference
  repeat: number; // 0: the one that the pair began with
  place: number; // the order in which the sides of the pair were started
  warmup: boolean; // of the first pair of its sides, which is not counted
  outcome: 'exited' | 'signalled' | 'timed out'; // exited, signalled or timed out
  status: number; // exit code or signal
  started_at: string | null; // UTC
  et_ns: number | null; // from exec to the end of its first process, the turns of the other side included
  turn_ns: number | null; // of ET, while it was not frozen
  pt_ns: { net: number | null; exec: number | null; tick: number | null; };
  overlap: number | null; // the share of it, by CPU time, that ran while the other side did
  switches: number | null; // how often it was taken off a CPU
  padding: number; // bytes of environment that moved its stack
  instructions: number | null; // executed in user mode
  cycles: number | null; // of the CPU, in user mode
}

export interface Study {
  type: 'study';
  format: 1; // Raised when a field changes its meaning.
  id: number | null; // In the lab; null: not stored.
  source: 'active' | 'watch' | 'runs'; // Executions of inc, windows of a watch, or stored runs.
  made_at: string | null;
  machine_id: number | null; // In the lab.
  machine: Machine | null;
  runs: { short: StudyRun | null; long: StudyRun | null; };
  daemons: StudyDaemon[]; // Long-running ones first, then by name.
  cutoffs: Cutoff[]; // All of them, by daemon and from_ns.
}

export interface StudyRun {
  run: number | null; // Its number in the lab; null: none, or not stored.
  length_ns: number; // What was aimed at, or the median ET.
  samples: number;
  cluster: number; // Samples in the central cluster.
  cluster_low_ns: number | null; // ET of those; null: there are none.
  cluster_high_ns: number | null;
  steadied: boolean; // Samples were compared by an ET without the variation of the program's own process time: cluster_low_ns, cluster_high_ns and levels are of that.
  levels: StudyLevel[]; // The zooms, outermost first; the last is the cluster. Empty: too few samples.
  l_samples: number[]; // Samples outside of the cluster, by number.
  dropped: number[]; // Samples with an execution of a daemon above the cutoff that holds for length_ns.
  mean_ns: number | null; // Of ET.
  mean_kept_ns: number | null; // Without the dropped ones.
  sigma_ns: number | null; // Of ET; null: fewer than two.
  sigma_kept_ns: number | null; // Without the dropped ones.
  sigma_ratio: number | null; // sigma_kept_ns / sigma_ns; null: there is no spread.
  steady_sigma_ns: number | null; // Of that ET; null: not steadied.
  steady_sigma_kept_ns: number | null; // Without the dropped ones.
}

export interface StudyLevel {
  low_ns: number; // The window of ET.
  high_ns: number;
  cut_ns: number; // Longer ones are slow.
  neither: number; // Pairs of an odd and an even sample, both within the window, by which of them is slow.
  first: number;
  second: number;
  both: number;
  both_expected: number; // If slow samples were independent of each other.
  shape: 'symmetric' | 'L' | 'corner'; // symmetric: nothing stands out, the central cluster. L: infrequent daemons. corner: a frequent one, or two bands.
}

export interface StudyDaemon {
  name: string;
  long_running: boolean; // In one of the runs.
  period: StudyPeriod | null; // null: it has none.
  cutoffs: CutoffRange[]; // By range of program length, the shortest first.
  undecided: boolean; // A run gives it a cutoff, which would be below what it usually takes in a run and is therefore not used.
  runs: { short: StudySeen | null; long: StudySeen | null; };
}

export interface StudyPeriod {
  ns: number; // From one occurrence to the next.
  error_ns: number; // +-, a standard error.
  samples: number; // The same, in samples.
  uncertain: boolean; // Rests on two occurrences.
}

export interface CutoffRange {
  from_ns: number; // Holds for programs whose ET is from this on.
  below_ns: number | null; // And below this; null: without end.
  cutoff_ns: number; // Executions above it spoil a sample.
  edited: boolean; // By hand.
}

export interface StudySeen {
  cluster_executions: number; // In samples of the cluster.
  cluster_max_ns: number | null; // Their largest process time; null: it does not occur there.
  cluster_sigma_ns: number | null;
  long_executions: number; // Long-running ones, in L-samples.
  long_least_ns: number | null; // The smallest process time of those; null: there are none.
  long_most_ns: number | null;
  samples: number[]; // That hold long-running ones, by number.
  period: StudyPeriod | null; // null: it has none.
  cutoff_ns: number | null; // Of this run alone; null: it gives none.
}

export interface Cutoff {
  id: number | null; // In the lab; null: not stored.
  daemon: string;
  from_ns: number; // Holds for programs whose ET is from this on.
  below_ns: number | null; // And below this; null: without end.
  cutoff_ns: number; // Executions above it spoil a sample.
  edited: boolean; // By hand.
}

export interface CutoffsInForce {
  format: 1; // Raised when a field changes its meaning.
  kind: 'cutoffs';
  machine: CutoffsMachine;
  study: number | null; // Its id in the lab; null: all by hand or imported.
  made_at: string | null; // When the study was made; without one, the oldest of the cutoffs: set by hand, or as the file said that it was imported from; UTC.
  valid: boolean; // There are some, none of the facts below has changed, and they are not older than 90 days.
  changed: ChangedFact[]; // Facts of the machine that are not what they were at the study.
  cutoffs: CutoffInForce[];
}

export interface CutoffsMachine {
  identity: string; // Of the machine; stays when its kernel is updated or a setting changed. What is imported must have it.
  fingerprint: string; // Of the machine as it was at the study.
  host: string | null;
  cpu: string | null; // Model of the CPU.
  kernel: string | null; // Release of the kernel at the study.
}

export interface ChangedFact {
  fact: string;
  then: string;
  now: string;
}

export interface CutoffInForce {
  id?: number; // In the lab it comes from.
  daemon: string;
  from_ns: number; // Holds for programs that take so long or longer,
  below_ns: number | null; // and less than this; null: without end.
  cutoff_ns: number; // An execution in which the daemon used more CPU time is dropped.
  edited?: boolean; // By hand, or imported.
}

export interface WatchStatus {
  format: 1; // Raised when a field changes its meaning.
  running: boolean; // false: of the rest only record is there.
  pid?: number;
  watch?: number; // Its id in the lab.
  since?: string | null; // UTC.
  until?: string | null; // When it will end by itself; null: not.
  bursts?: number; // Stored.
  held?: number; // Bursts that wait for a lab that cannot take them.
  dropped?: number; // Bursts given up because it could not for too long.
  lost?: number; // Bursts that the kernel had no room for.
  keep_bytes?: number; // 0: all is kept.
  lab?: string;
  error?: string | null; // Why the last attempt to store failed; null: it did not.
  record: WatchRow[]; // The watches in the lab.
}

export interface WatchRow {
  watch: number;
  begun_at: string | null;
  ended_at: string | null;
  covered_ns: number;
  bursts: number;
  lost: number;
  bytes: number;
  going: boolean;
}

export interface DoctorSpeed {
  tare: string; // version of tare
  watched_ns: number;
  grade: 'unknown' | 'steady' | 'shared' | 'throttled'; // the worst of the CPUs
  advice: string;
  not_seen: string | null; // what is lost for want of privileges; null: nothing
  cpus: SpeedCpu[];
}

export interface SpeedCpu {
  cpu: number;
  grade: 'unknown' | 'steady' | 'shared' | 'throttled';
  windows: number; // stretches of 100 ms with a probe
  probes: number; // that count
  left_out: number; // that were interrupted
  work: { chain: SpeedFigures; ports: SpeedFigures; turns: SpeedFigures; loads: SpeedFigures; };
}

export interface Doctor {
  tare: string; // version of tare
  fingerprint: string; // over the facts that make two runs comparable: all but those beginning with 'now.'
  verdict?: 'ok' | 'note' | 'warn' | 'bad'; // the worst severity found
  counts?: DoctorCounts; // checks by severity; all of them, whether listed in findings or not
  findings?: Finding[]; // worst first; 'ok' and 'unknown' only with --all
  facts?: Record<string, string>; // dotted keys; a fact that could not be read is not there
}

export interface DoctorCounts {
  unknown: number;
  ok: number;
  note: number;
  warn: number;
  bad: number;
}

export interface Finding {
  id: string; // of the check; stable
  severity: 'unknown' | 'ok' | 'note' | 'warn' | 'bad';
  condition: string; // what was found
  effect: string; // what it does to a measurement; empty when ok or unknown
  remedy: string; // what fixes it; empty when ok or unknown
  command: boolean; // the remedy is a shell command, not a sentence
  source: string; // who asks for it: EMP v3, TTP step 0 (b), pyperf, tuned, temci, tare
}

export interface Quiet {
  tare: string; // version of tare
  changes?: Change[]; // in the order in which they are made, or put back; those that need no change come first
  knobs?: Knob[];
  status?: Status;
}

export interface Change {
  knob: string;
  what: string; // a file, 'service NAME', 'process NAME PID START', 'swap DEVICE'
  before: string | null; // before the machine was made quiet
  after: string | null; // while it is quiet: as read back, or as wanted
  state: 'would change' | 'changed' | 'as wanted' | 'absent' | 'refused' | 'restored' | 'left';
  why: string | null;
}

export interface Knob {
  name: string;
  default: boolean; // changed unless excepted
  isolates: boolean; // only with --isolate
  source: string;
  effect: string;
}

export interface Status {
  quiet: boolean; // something is to be put back
  abandoned: boolean; // whoever changed it is gone
  stale: boolean; // of before the machine was last started
  owner: number; // pid; 0: it stays until --restore
  since_ns: number; // CLOCK_REALTIME; 0 when not quiet
  changes: number;
}

export interface Doc {
  type: 'page';
  format: 1; // Raised when a field changes its meaning.
  tare: string; // The version that made it.
  made_at: string;
  title: string;
  served: boolean; // By 'tare serve': there is a lab to go back to.
  colours: Colours; // One colour for each cause and class, wherever it is drawn.
  machines: PageMachine[];
  sections: (TimeSection | StudySection | NoiseSection | ProfileSection | QuerySection | DuetSection)[];
  comparisons: (TimeComparison | NoiseComparison | ProfileComparison | QueryComparison | DuetComparison)[];
}

export interface Colours {
  causes: Record<string, Colour>; // Of the ledger.
  classes: Record<string, Colour>; // Of noise.
}

export interface Colour {
  light: string;
  dark: string;
  meaning?: string;
}

export interface PageMachine {
  fingerprint: string;
  facts: Record<string, string>;
  name: string;
  findings: Finding[]; // Of doctor, worst first, all of them.
}

export interface TimeSection {
  kind: 'time';
  anchor: string; // Unique within the document.
  title: string; // Its name; any text.
  subtitle: string; // One line: the command, what was sampled; any text.
  status: 'going' | 'complete' | 'interrupted' | 'failed';
  machine: number | null; // Index of machines; null: not known.
  notes: string[]; // What was not seen, what was left out of the page and why: sentences.
  charts: Record<string, Chart>; // Time: density_et and those of the headline and the lead: value_ns, ascending, coarser outside of what was kept; all_per_ns, kept_per_ns. Noise: length_ns, and detours per s of a CPU and decade: seen, told, baseline; where there are several CPUs, a block of seen and told for each of them follows. Query: split: means of each Q@C; in the second block where CPU time or I/O is not known.
  number: number | null; // In the lab; null: not stored.
  started_at: string | null; // Of a study: when it was made.
  ended_at: string | null;
  tags: string | null;
  version: string | null; // Of the tare that measured.
  conditions: Record<string, unknown> | null; // Every option that shaped the run.
  command: string;
  parameters: Parameter[];
  backend: 'plain' | 'netlink' | 'bpf';
  headline: 'et' | 'pt_net' | 'pt_exec' | 'pt_tick' | 'user' | 'system' | 'pt_steady'; // What the run is about: asked for by --measure, et if it sleeps or does I/O, or else the lead.
  lead: 'et' | 'pt_net' | 'pt_exec' | 'pt_tick' | 'user' | 'system' | 'pt_steady'; // What rule (II) judges by: what --measure asked for, pt_steady where that is shown to be better, or else the best process time.
  steady: Steady | null; // How PT(steady) was estimated; null: the CPUs' speed was not watched.
  counters?: MeanCounter[]; // Over the kept executions; not there without counters.
  shell_ns: number; // Taken off each ET; 0: no shell.
  planned: number | null; // Executions asked for, without warm-ups; null: as many as it takes.
  kept: { et: Summary | null; pt_net: Summary | null; pt_exec: Summary | null; pt_tick: Summary | null; user: Summary | null; system: Summary | null; pt_steady: Summary | null; };
  unfiltered: { et: Summary | null; pt_net: Summary | null; pt_exec: Summary | null; pt_tick: Summary | null; user: Summary | null; system: Summary | null; pt_steady: Summary | null; };
  rule2: Bounds | null; // What rule (II) keeps, of the lead; null: it was not applied.
  warnings: Warning[];
  measures: PageMeasure[]; // Those of the columns that people are shown, as the catalogue has them.
  columns: Columns; // Parallel: a row for each execution, in order; further ones by measures.
  reasons: Record<string, Reason>; // Of dropped executions, by position in the columns.
  ledger: LedgerColumns | null; // null: no execution has one.
  dual: Dual | null; // Pairs of successive measured executions; null: there are fewer than two.
  details: Record<string, Detail>; // By position; of many executions only the remarkable ones have one.
  names: string[]; // What details refer to; any text.
}

export interface Chart {
  x: Axis;
  y: Axis;
  bandwidth: number | null; // Of densities; of lengths of detours in decades.
  blocks: (Record<string, (number | string | null)[]>)[];
}

export interface Axis {
  name: string | null;
  log: boolean;
  low: number | null;
  high: number | null;
}

export interface Parameter {
  name: string;
  value: string;
}

export interface Bounds {
  low_ns: number;
  high_ns: number;
}

export interface PageMeasure {
  column: string; // Its name in columns.
  name: string; // In the lab and in CSV.
  title: string; // A heading for people.
  unit: 'none' | 'ns' | 'bytes' | 'count' | 'ticks' | 'id' | 'share' | 'per_s'; // share: a fraction of 1.
  meaning: string;
}

export interface Columns {
  number: number[]; // From 1 within the run; warm-ups count on their own.
  at_us: number[]; // When it began, in us since the run did; where that is not known, one follows the other.
  et: number[]; // Like the others: less the shell, as the protocol sees it.
  net: (number | null)[] | null; // A column that nobody has is null.
  exec: (number | null)[] | null; // As net.
  tick: (number | null)[] | null; // As net.
  steady: (number | null)[] | null; // PT(steady), estimated; null: the speed of the CPUs does not help.
  rss: (number | null)[] | null; // Peak memory, bytes.
  rule: (0 | 1 | 2 | 3 | 4)[]; // 0 kept, 1 warm-up, 2 failed, 3 dropped by rule (I), 4 by rule (II).
}

export interface Reason {
  daemon: string | null;
  value_ns: number | null;
  low_ns: number | null;
  high_ns: number | null;
  text: string;
}

export interface LedgerColumns {
  index: number[] | null; // The executions (positions in the columns) that have one here; null: all.
  causes: string[]; // Those that occur, in the order of the catalogue in tare(1).
  wall: number[][]; // By cause, then execution: adds up to the execution's ET, the shell's share included.
  mean: number[] | null; // By cause, over all kept executions; null: none of them has a ledger.
}

export interface Dual {
  levels: StudyLevel[];
  outside: number[]; // Positions of executions beyond the central cluster.
}

export interface Detail {
  processes: ([number, 0 | 1 | 2, number, number | null])[]; // By time, at most 10 of each role.
  entries: ([number, number, number, number, number])[]; // The subject's account by cause and name, the largest first.
  others: ([number, number, number, number, number, number, number])[]; // Processes outside of the subject.
  interrupts: ([number, number, number, number, number])[];
  trace: Trace | null;
}

export interface Trace {
  et_ns: number;
  cpus: number[]; // Their numbers.
  slices: ([number, number, number, 0 | 1 | 2 | 3 | 4 | 5 | 6, number])[]; // Who had each CPU, by begin. Idle is left out; interrupts lie above what they interrupt.
  waits: ([number, number, number, number])[]; // Of the subject's threads, while off the CPU.
  threads: ([number, number])[];
  cut: number; // Slices and waits that were left out, the shortest first.
}

export interface StudySection {
  kind: 'study';
  anchor: string; // Unique within the document.
  title: string; // Its name; any text.
  subtitle: string; // One line: the command, what was sampled; any text.
  status: 'going' | 'complete' | 'interrupted' | 'failed';
  machine: number | null; // Index of machines; null: not known.
  notes: string[]; // What was not seen, what was left out of the page and why: sentences.
  charts: Record<string, Chart>; // Time: density_et and those of the headline and the lead: value_ns, ascending, coarser outside of what was kept; all_per_ns, kept_per_ns. Noise: length_ns, and detours per s of a CPU and decade: seen, told, baseline; where there are several CPUs, a block of seen and told for each of them follows. Query: split: means of each Q@C; in the second block where CPU time or I/O is not known.
  number: number | null; // In the lab; null: not stored.
  started_at: string | null; // Of a study: when it was made.
  ended_at: string | null;
  tags: string | null;
  version: string | null; // Of the tare that measured.
  conditions: Record<string, unknown> | null; // Every option that shaped the run.
  study: Study;
  samples: Samples;
  phases: Phases;
}

export interface Samples {
  short: PageSamples | null; // null: the run is gone, or was cut from a watch.
  long: PageSamples | null; // null: the run is gone, or was cut from a watch.
}

export interface PageSamples {
  number: number[];
  at_us: number[] | null; // Since the first; null: not known.
  et: number[];
  l: number[]; // Positions outside of the cluster.
  dropped: number[]; // Positions.
}

export interface Phases {
  short: (number | null)[]; // Of each daemon of the study: its period in this run is expected at the phase, and every so many samples after it, by number; null: it has none.
  long: (number | null)[]; // Of each daemon of the study: its period in this run is expected at the phase, and every so many samples after it, by number; null: it has none.
}

export interface NoiseSection {
  kind: 'noise';
  anchor: string; // Unique within the document.
  title: string; // Its name; any text.
  subtitle: string; // One line: the command, what was sampled; any text.
  status: 'going' | 'complete' | 'interrupted' | 'failed';
  machine: number | null; // Index of machines; null: not known.
  notes: string[]; // What was not seen, what was left out of the page and why: sentences.
  charts: Record<string, Chart>; // Time: density_et and those of the headline and the lead: value_ns, ascending, coarser outside of what was kept; all_per_ns, kept_per_ns. Noise: length_ns, and detours per s of a CPU and decade: seen, told, baseline; where there are several CPUs, a block of seen and told for each of them follows. Query: split: means of each Q@C; in the second block where CPU time or I/O is not known.
  number: number | null; // In the lab; null: not stored.
  started_at: string | null; // Of a study: when it was made.
  ended_at: string | null;
  tags: string | null;
  version: string | null; // Of the tare that measured.
  conditions: Record<string, unknown> | null; // Every option that shaped the run.
  noise: Noise | null; // null: nothing of the run is stored yet.
  baseline: Baseline | null; // This against the machine's baseline.
}

export interface Baseline {
  number: number;
  name: string;
  diff: NoiseDiff;
}

export interface ProfileSection {
  kind: 'profile';
  anchor: string; // Unique within the document.
  title: string; // Its name; any text.
  subtitle: string; // One line: the command, what was sampled; any text.
  status: 'going' | 'complete' | 'interrupted' | 'failed';
  machine: number | null; // Index of machines; null: not known.
  notes: string[]; // What was not seen, what was left out of the page and why: sentences.
  charts: Record<string, Chart>; // Time: density_et and those of the headline and the lead: value_ns, ascending, coarser outside of what was kept; all_per_ns, kept_per_ns. Noise: length_ns, and detours per s of a CPU and decade: seen, told, baseline; where there are several CPUs, a block of seen and told for each of them follows. Query: split: means of each Q@C; in the second block where CPU time or I/O is not known.
  number: number | null; // In the lab; null: not stored.
  started_at: string | null; // Of a study: when it was made.
  ended_at: string | null;
  tags: string | null;
  version: string | null; // Of the tare that measured.
  conditions: Record<string, unknown> | null; // Every option that shaped the run.
  profile: Profile;
  tree: Tree; // Calls: node 0 is everything, its children the apps, then outermost function to innermost.
  slices: Slices; // Samples over time.
  listings: ProfileListing[]; // Of the functions with the most samples.
}

export interface Tree {
  names: string[]; // Of functions and apps; any text.
  where: string[]; // Objects.
  name: number[]; // Of each node, index of names.
  object: number[]; // Index of where; -1: none.
  parent: number[]; // -1: of the root. Parents come before children.
  self: number[]; // Samples that end here.
  kind: (0 | 1 | 2 | 3 | 4 | 5)[]; // 0 root, 1 app, 2 user, 3 kernel, 4 inlined, 5 unknown.
}

export interface Slices {
  at_ms: number[];
  ms: number[];
  user: number[];
  kernel: number[];
  idle: number[];
}

export interface QuerySection {
  kind: 'query';
  anchor: string; // Unique within the document.
  title: string; // Its name; any text.
  subtitle: string; // One line: the command, what was sampled; any text.
  status: 'going' | 'complete' | 'interrupted' | 'failed';
  machine: number | null; // Index of machines; null: not known.
  notes: string[]; // What was not seen, what was left out of the page and why: sentences.
  charts: Record<string, Chart>; // Time: density_et and those of the headline and the lead: value_ns, ascending, coarser outside of what was kept; all_per_ns, kept_per_ns. Noise: length_ns, and detours per s of a CPU and decade: seen, told, baseline; where there are several CPUs, a block of seen and told for each of them follows. Query: split: means of each Q@C; in the second block where CPU time or I/O is not known.
  number: number | null; // In the lab; null: not stored.
  started_at: string | null; // Of a study: when it was made.
  ended_at: string | null;
  tags: string | null;
  version: string | null; // Of the tare that measured.
  conditions: Record<string, unknown> | null; // Every option that shaped the run.
  query: Query | null; // null: nothing of the run is stored yet.
  matrix: Matrix | null; // Every pair of the model's measures.
  ledgers: QueryLedger[]; // Wall view, mean over executions kept.
}

export interface Matrix {
  measures: string[];
  r: ((number | null)[])[];
}

export interface QueryLedger {
  query: number;
  cardinality: number | null;
  elapsed_ns: number; // In the query itself: the ledger begins before it is asked and ends after it.
  causes: string[];
  mean: number[];
}

export interface DuetSection {
  kind: 'duet';
  anchor: string; // Unique within the document.
  title: string; // Its name; any text.
  subtitle: string; // One line: the command, what was sampled; any text.
  status: 'going' | 'complete' | 'interrupted' | 'failed';
  machine: number | null; // Index of machines; null: not known.
  notes: string[]; // What was not seen, what was left out of the page and why: sentences.
  charts: Record<string, Chart>; // Time: density_et and those of the headline and the lead: value_ns, ascending, coarser outside of what was kept; all_per_ns, kept_per_ns. Noise: length_ns, and detours per s of a CPU and decade: seen, told, baseline; where there are several CPUs, a block of seen and told for each of them follows. Query: split: means of each Q@C; in the second block where CPU time or I/O is not known.
  number: number | null; // In the lab; null: not stored.
  started_at: string | null; // Of a study: when it was made.
  ended_at: string | null;
  tags: string | null;
  version: string | null; // Of the tare that measured.
  conditions: Record<string, unknown> | null; // Every option that shaped the run.
  duet: Duet | null; // null: nothing of the run is stored yet.
}

export interface TimeComparison {
  kind: 'time';
  sections: number[]; // Those compared, the reference included.
  reference: number;
  measure: 'et' | 'pt_net' | 'pt_exec' | 'pt_tick' | 'user' | 'system' | 'pt_steady';
  why: string; // Why by this measure, in words; empty: there is nothing to say.
  rows: TimeComparisonRow[];
}

export interface TimeComparisonRow {
  section: number;
  ratio: number | null; // Mean of result by mean of reference.
  ratio_low: number | null; // 95 % interval. null: one side has one execution, or too few (needed_n).
  ratio_high: number | null;
  p: number | null; // Below 0.05 exactly if the interval does not contain 1.
  test: string;
  significant: boolean;
  needed_n: number; // One side has too few executions for the dependence between them, and needs about as many; 0: no.
  sentence: string;
}

export interface NoiseComparison {
  kind: 'noise';
  base: number;
  run: number;
  diff: NoiseDiff;
}

export interface ProfileComparison {
  kind: 'profile';
  before: number;
  after: number;
  diff: ProfileDiff;
  places: Places; // What changed, by path of names.
}

export interface Places {
  before: ProfileComparisonSide; // Columns by node of the tree before.
  after: ProfileComparisonSide; // Columns by node of the tree after.
}

export interface ProfileComparisonSide {
  here: number[]; // Samples of this path of names in this profile.
  other: number[]; // Samples of this path of names in the other profile.
  sure: number[]; // 1: the shares differ by more than how samples fall: p < 0.05, adjusted for the number of paths.
}

export interface QueryComparison {
  kind: 'query';
  base: number;
  other: number;
  diff: QueryCompare;
}

export interface DuetComparison {
  kind: 'duet';
  sections: number[]; // Of the duets, in the order given.
  sentence: string | null; // The pooled answer; null: they do not compare the same two.
  runs: number; // Pooled ones; 0: they do not compare the same two.
  ratio: number | null; // Over all runs, other / reference.
  ratio_low: number | null; // With the variation between runs.
  ratio_high: number | null;
  sigma_between_runs: number | null; // Of the log ratio; null: one run.
  share_between_runs: number | null; // Of the variation seen between runs, what is not within them (I²).
}
