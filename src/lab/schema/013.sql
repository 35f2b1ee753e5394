-- Schema version 13: SMIs, in which firmware takes a CPU: a class of noise, and how many a CPU counted.

INSERT INTO noise_class (id, name, strict) VALUES (11, 'smi', 0);
ALTER TABLE noise_cpu ADD COLUMN smi_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE noise_cpu ADD COLUMN smi_count INTEGER; -- NULL: this CPU does not count them
ALTER TABLE noise_cpu ADD COLUMN smi_explained INTEGER;
ALTER TABLE noise_bucket ADD COLUMN smi_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE noise_longest ADD COLUMN smi_ns INTEGER NOT NULL DEFAULT 0;

DROP VIEW IF EXISTS noise_runs;
CREATE VIEW noise_runs -- One row per run of 'tare noise'; sums over its CPUs
AS SELECT
  n.run AS run, -- id in runs
  coalesce(r.name_text, CAST(r.name AS TEXT)) AS name, -- what the user called it
  strftime('%Y-%m-%dT%H:%M:%fZ', r.started_at_ns / 1e9, 'unixepoch') AS started_at, -- UTC
  n.elapsed_ns AS elapsed_ns, -- from the begin of the first round to the end of the last, pauses included
  count(*) AS cpus, -- measured
  n.realtime AS realtime, -- 1: the loop was of the real-time class
  iif(n.realtime, n.priority, NULL) AS priority, -- of a real-time loop
  n.kernel AS kernel, -- 1: the kernel told of what happened, so sources have names
  n.steal_told AS steal_told, -- 1: and how much the hypervisor took
  sum(c.window_ns) AS window_ns, -- looked at
  sum(c.unwatched_ns) AS unwatched_ns, -- of it, the loop's own notes
  max(c.threshold_ns) AS threshold_ns, -- what is shorter is no detour; the largest of the CPUs
  sum(c.count) AS count, -- detours
  sum(c.ns) AS ns, -- their time
  sum(c.ns) * 1.0 / nullif(sum(c.window_ns), 0) AS share, -- of the time looked at
  iif(n.kernel, sum(c.irq_ns + c.softirq_ns + c.nmi_ns + c.thread_ns + c.work_ns + c.fault_ns + c.throttled_ns), NULL) AS strict_ns, -- of ns, inside of what the kernel told of
  iif(n.kernel, sum(c.irq_ns), NULL) AS irq_ns, -- in hard interrupts; NULL, like the rest but host and unexplained: the kernel was not asked
  iif(n.kernel, sum(c.softirq_ns), NULL) AS softirq_ns, -- in soft interrupts
  iif(n.kernel, sum(c.nmi_ns), NULL) AS nmi_ns, -- in non-maskable interrupts
  iif(n.kernel, sum(c.thread_ns), NULL) AS thread_ns, -- another task had the CPU
  iif(n.kernel, sum(c.work_ns), NULL) AS work_ns, -- in work items of kernel workers
  iif(n.kernel, sum(c.fault_ns), NULL) AS fault_ns, -- in page faults of the loop
  iif(n.kernel, sum(c.throttled_ns), NULL) AS throttled_ns, -- a real-time loop had to let other tasks run
  iif(n.kernel, sum(c.delivery_ns), NULL) AS delivery_ns, -- on the way into and out of what the kernel told of
  iif(n.steal_told, sum(c.steal_ns), NULL) AS steal_ns, -- the hypervisor gave the CPU to another; NULL: not told
  sum(c.host_ns) AS host_ns, -- in phase with a period of the host
  sum(c.unexplained_ns) AS unexplained_ns, -- what is left
  iif(n.kernel AND count(c.smi_count), sum(c.smi_ns), NULL) AS smi_ns, -- otherwise unexplained, in detours in which the CPU counted an SMI; NULL: it does not count them
  iif(n.kernel, sum(c.lost), NULL) AS lost, -- what the kernel told and found no room
  sum(c.smi_count) AS smi_count, -- SMIs that the CPUs counted, also while the loops saw nothing
  sum(c.smi_explained) AS smi_explained, -- of these, those in detours with time in smi_ns
  EXISTS (SELECT 1 FROM noise_baseline b WHERE b.run = n.run) AS baseline -- 1: the baseline of its machine
FROM noise n JOIN run r ON r.id = n.run JOIN noise_cpu c ON c.run = n.run
GROUP BY n.run;

DROP VIEW IF EXISTS noise_cpus;
CREATE VIEW noise_cpus -- One row per CPU of a run of noise
AS SELECT
  c.run AS run, -- id in runs
  c.cpu AS cpu, -- its number
  c.rounds AS rounds, -- measured
  c.window_ns AS window_ns, -- looked at in all of them
  c.unwatched_ns AS unwatched_ns, -- of it, the loop's own notes
  c.turns AS turns, -- of the loop
  c.threshold_ns AS threshold_ns, -- what is shorter is no detour
  c.step_ns AS step_ns, -- of the clock
  c.turn_ns AS turn_ns, -- median turn of the loop, before the run
  c.turn_p999_ns AS turn_p999_ns, -- 99.9 % of the turns were shorter
  c.count AS count, -- detours
  c.ns AS ns, -- their time
  c.ns * 1.0 / nullif(c.window_ns, 0) AS share, -- of the time looked at
  c.count * 1e9 / nullif(c.window_ns, 0) AS per_second, -- detours
  iif(n.kernel, c.irq_ns + c.softirq_ns + c.nmi_ns + c.thread_ns + c.work_ns + c.fault_ns + c.throttled_ns, NULL) AS strict_ns, -- of ns, inside of what the kernel told of
  iif(n.kernel, c.irq_ns, NULL) AS irq_ns, -- in hard interrupts; NULL, like the rest but host and unexplained: the kernel was not asked
  iif(n.kernel, c.softirq_ns, NULL) AS softirq_ns, -- in soft interrupts
  iif(n.kernel, c.nmi_ns, NULL) AS nmi_ns, -- in non-maskable interrupts
  iif(n.kernel, c.thread_ns, NULL) AS thread_ns, -- another task had the CPU
  iif(n.kernel, c.work_ns, NULL) AS work_ns, -- in work items of kernel workers
  iif(n.kernel, c.fault_ns, NULL) AS fault_ns, -- in page faults of the loop
  iif(n.kernel, c.throttled_ns, NULL) AS throttled_ns, -- a real-time loop had to let other tasks run
  iif(n.kernel, c.delivery_ns, NULL) AS delivery_ns, -- on the way into and out of what the kernel told of
  iif(n.steal_told, c.steal_ns, NULL) AS steal_ns, -- the hypervisor gave the CPU to another; NULL: not told
  c.host_ns AS host_ns, -- in phase with a period of the host
  c.unexplained_ns AS unexplained_ns, -- what is left
  iif(n.kernel AND c.smi_count NOT NULL, c.smi_ns, NULL) AS smi_ns, -- otherwise unexplained, in detours in which the CPU counted an SMI; NULL: it does not count them
  iif(n.kernel, c.overlap_ns, NULL) AS overlap_ns, -- whole detours in which the kernel told of anything
  c.host_rounds AS host_rounds, -- rounds in which a period of the host was looked for
  c.host_fitted AS host_fitted, -- and found
  iif(c.host_fitted, c.host_period_ns, NULL) AS host_period_ns, -- mean; NULL: none was found
  iif(c.host_fitted, c.host_width_ns, NULL) AS host_width_ns, -- half of the window around its phase, mean
  iif(c.host_fitted, c.host_chance, NULL) AS host_chance, -- share of detours at random times that would fall into it
  c.host_in_phase AS host_in_phase, -- detours that did
  c.host_looked_at AS host_looked_at, -- of so many with something left to explain
  iif(n.kernel, c.events, NULL) AS events, -- that the kernel told of
  iif(n.kernel, c.lost, NULL) AS lost, -- that found no room
  iif(n.kernel, c.outside, NULL) AS outside, -- occurrences in no detour: too short, or while the loop made its notes
  iif(n.kernel, c.outside_ns, NULL) AS outside_ns, -- their time
  c.smi_count AS smi_count, -- SMIs that it counted, also while the loop saw nothing
  c.smi_explained AS smi_explained -- of these, those in detours with time in smi_ns
FROM noise_cpu c JOIN noise n ON n.run = c.run;

DROP VIEW IF EXISTS noise_histogram;
CREATE VIEW noise_histogram -- The detours of a CPU by length: one row per bucket that is not empty
AS SELECT
  b.run AS run, -- id in runs
  c.cpu AS cpu, -- number of the CPU
  b.low_ns AS bucket_low_ns, -- shortest length in it
  b.high_ns AS bucket_high_ns, -- shortest that is too long for it
  b.count AS count, -- detours, as the loop saw them
  b.ns AS ns, -- their time
  iif(n.kernel, b.irq_ns + b.softirq_ns + b.nmi_ns + b.thread_ns + b.work_ns + b.fault_ns + b.throttled_ns, NULL) AS strict_ns, -- of ns, inside of what the kernel told of
  iif(n.kernel, b.irq_ns, NULL) AS irq_ns, -- in hard interrupts; NULL, like the rest but host and unexplained: the kernel was not asked
  iif(n.kernel, b.softirq_ns, NULL) AS softirq_ns, -- in soft interrupts
  iif(n.kernel, b.nmi_ns, NULL) AS nmi_ns, -- in non-maskable interrupts
  iif(n.kernel, b.thread_ns, NULL) AS thread_ns, -- another task had the CPU
  iif(n.kernel, b.work_ns, NULL) AS work_ns, -- in work items of kernel workers
  iif(n.kernel, b.fault_ns, NULL) AS fault_ns, -- in page faults of the loop
  iif(n.kernel, b.throttled_ns, NULL) AS throttled_ns, -- a real-time loop had to let other tasks run
  iif(n.kernel, b.delivery_ns, NULL) AS delivery_ns, -- on the way into and out of what the kernel told of
  iif(n.steal_told, b.steal_ns, NULL) AS steal_ns, -- the hypervisor gave the CPU to another; NULL: not told
  b.host_ns AS host_ns, -- in phase with a period of the host
  b.unexplained_ns AS unexplained_ns, -- what is left
  iif(n.kernel AND c.smi_count NOT NULL, b.smi_ns, NULL) AS smi_ns, -- otherwise unexplained, in detours in which the CPU counted an SMI; NULL: it does not count them
  iif(n.kernel, b.overlap_ns, NULL) AS overlap_ns, -- whole detours in which the kernel told of anything
  iif(n.kernel, b.master_count, NULL) AS master_count, -- the master histogram: detours with that much strict time
  iif(n.kernel, b.master_ns, NULL) AS master_ns -- and that time
FROM noise_bucket b JOIN noise n ON n.run = b.run JOIN noise_cpu c ON c.run = b.run AND c.position = b.cpu;

DROP VIEW IF EXISTS noise_worst;
CREATE VIEW noise_worst -- The longest detours of a run
AS SELECT
  w.run AS run, -- id in runs
  w.position + 1 AS rank, -- 1 is the longest
  w.cpu AS cpu, -- number of the CPU
  w.begin_ns - n.begin_ns AS begin_ns, -- since the begin of the run
  w.ns AS ns, -- its length
  w.name AS name, -- the sources in order, joined by _
  iif(n.kernel, w.irq_ns + w.softirq_ns + w.nmi_ns + w.thread_ns + w.work_ns + w.fault_ns + w.throttled_ns, NULL) AS strict_ns, -- of ns, inside of what the kernel told of
  iif(n.kernel, w.irq_ns, NULL) AS irq_ns, -- in hard interrupts; NULL, like the rest but host and unexplained: the kernel was not asked
  iif(n.kernel, w.softirq_ns, NULL) AS softirq_ns, -- in soft interrupts
  iif(n.kernel, w.nmi_ns, NULL) AS nmi_ns, -- in non-maskable interrupts
  iif(n.kernel, w.thread_ns, NULL) AS thread_ns, -- another task had the CPU
  iif(n.kernel, w.work_ns, NULL) AS work_ns, -- in work items of kernel workers
  iif(n.kernel, w.fault_ns, NULL) AS fault_ns, -- in page faults of the loop
  iif(n.kernel, w.throttled_ns, NULL) AS throttled_ns, -- a real-time loop had to let other tasks run
  iif(n.kernel, w.delivery_ns, NULL) AS delivery_ns, -- on the way into and out of what the kernel told of
  iif(n.steal_told, w.steal_ns, NULL) AS steal_ns, -- the hypervisor gave the CPU to another; NULL: not told
  w.host_ns AS host_ns, -- in phase with a period of the host
  w.unexplained_ns AS unexplained_ns, -- what is left
  iif(n.kernel AND (SELECT count(c.smi_count) FROM noise_cpu c WHERE c.run = w.run), w.smi_ns, NULL) AS smi_ns, -- otherwise unexplained, in detours in which the CPU counted an SMI; NULL: it does not count them
  w.events AS events -- kept of what happened around it; NULL: none
FROM noise_longest w JOIN noise n ON n.run = w.run;
