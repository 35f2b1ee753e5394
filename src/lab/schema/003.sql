-- Schema version 3: runs of noise (record/noise.h) beside those of commands.
--
-- A row per thing, so that all of it can be queried; only what was around the longest detours is a
-- blob. `cpu` and `source` in these tables are positions in the lists of the run; the views have the
-- number and the name. All of it hangs on the row in `noise`: to store a run again is to delete that
-- row and to insert anew. Rows that there may be thousands of have ids made of run and place, like
-- those of the ledger, and go by a trigger. The edges of a bucket are stored with it: they are tare's
-- to choose.

ALTER TABLE run ADD COLUMN kind INTEGER NOT NULL DEFAULT 0 CHECK (kind BETWEEN 0 AND 1); -- enum subject_kind

CREATE TABLE noise_class (
  id     INTEGER PRIMARY KEY,           -- enum noise_class
  name   TEXT NOT NULL UNIQUE,
  strict INTEGER NOT NULL               -- the kernel told of it
) STRICT;
INSERT INTO noise_class (id, name, strict) VALUES
  (0, 'irq', 1), (1, 'softirq', 1), (2, 'nmi', 1), (3, 'thread', 1), (4, 'work', 1), (5, 'fault', 1),
  (6, 'throttled', 1), (7, 'delivery', 0), (8, 'steal', 0), (9, 'host-periodic', 0),
  (10, 'unexplained', 0);

CREATE TABLE noise (
  run         INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  realtime    INTEGER NOT NULL,
  priority    INTEGER NOT NULL,
  kernel      INTEGER NOT NULL,         -- sources have names
  steal_told  INTEGER NOT NULL,
  begin_ns    INTEGER NOT NULL,         -- CLOCK_MONOTONIC
  elapsed_ns  INTEGER NOT NULL,
  part_rounds INTEGER NOT NULL,
  worst_max   INTEGER NOT NULL
) STRICT;

CREATE TABLE noise_cpu (
  run          INTEGER NOT NULL REFERENCES noise (run) ON DELETE CASCADE,
  position     INTEGER NOT NULL,
  cpu          INTEGER NOT NULL,        -- its number
  rounds       INTEGER NOT NULL,
  window_ns    INTEGER NOT NULL,
  unwatched_ns INTEGER NOT NULL,
  turns        INTEGER NOT NULL,
  threshold_ns INTEGER NOT NULL,
  step_ns      REAL,                    -- NULL is NaN, here and below
  turn_ns      REAL,
  turn_p999_ns REAL,
  count        INTEGER NOT NULL,        -- of all detours, as is the rest up to overlap_ns
  ns           INTEGER NOT NULL,
  irq_ns INTEGER NOT NULL, softirq_ns INTEGER NOT NULL, nmi_ns INTEGER NOT NULL,
  thread_ns INTEGER NOT NULL, work_ns INTEGER NOT NULL, fault_ns INTEGER NOT NULL,
  throttled_ns INTEGER NOT NULL, delivery_ns INTEGER NOT NULL, steal_ns INTEGER NOT NULL,
  host_ns INTEGER NOT NULL, unexplained_ns INTEGER NOT NULL,
  overlap_ns   INTEGER NOT NULL,
  host_rounds  INTEGER NOT NULL,
  host_fitted  INTEGER NOT NULL,
  host_period_ns REAL,
  host_width_ns REAL,
  host_chance  REAL,
  host_in_phase INTEGER NOT NULL,
  host_looked_at INTEGER NOT NULL,
  events       INTEGER NOT NULL,
  lost         INTEGER NOT NULL,
  outside      INTEGER NOT NULL,
  outside_ns   INTEGER NOT NULL,
  PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;

-- The user-level histogram, and the master histogram beside it. Empty buckets have no row.
CREATE TABLE noise_bucket (
  run          INTEGER NOT NULL REFERENCES noise (run) ON DELETE CASCADE,
  cpu          INTEGER NOT NULL,
  bucket       INTEGER NOT NULL,
  low_ns       INTEGER NOT NULL,
  high_ns      INTEGER NOT NULL,        -- the first that is too long
  count        INTEGER NOT NULL,
  ns           INTEGER NOT NULL,
  irq_ns INTEGER NOT NULL, softirq_ns INTEGER NOT NULL, nmi_ns INTEGER NOT NULL,
  thread_ns INTEGER NOT NULL, work_ns INTEGER NOT NULL, fault_ns INTEGER NOT NULL,
  throttled_ns INTEGER NOT NULL, delivery_ns INTEGER NOT NULL, steal_ns INTEGER NOT NULL,
  host_ns INTEGER NOT NULL, unexplained_ns INTEGER NOT NULL,
  overlap_ns   INTEGER NOT NULL,
  master_count INTEGER NOT NULL,        -- detours with that much strict time
  master_ns    INTEGER NOT NULL,        -- and that time
  PRIMARY KEY (run, cpu, bucket)
) STRICT, WITHOUT ROWID;

-- sigma_ns is derived, and stored because not every SQLite can take a square root.
CREATE TABLE noise_source (
  run      INTEGER NOT NULL REFERENCES noise (run) ON DELETE CASCADE,
  cpu      INTEGER NOT NULL,
  position INTEGER NOT NULL,
  class    INTEGER NOT NULL,            -- id in noise_class
  name     TEXT NOT NULL,
  count    INTEGER NOT NULL,
  ns       INTEGER NOT NULL,
  min_ns   INTEGER NOT NULL,
  max_ns   INTEGER NOT NULL,
  squares  REAL,
  sigma_ns REAL,
  last_ns  INTEGER NOT NULL,
  PRIMARY KEY (run, cpu, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE noise_combination (
  run      INTEGER NOT NULL REFERENCES noise (run) ON DELETE CASCADE,
  cpu      INTEGER NOT NULL,
  position INTEGER NOT NULL,
  name     TEXT NOT NULL,
  seen_count  INTEGER NOT NULL,
  seen_ns     INTEGER NOT NULL,
  seen_min_ns INTEGER NOT NULL,
  seen_max_ns INTEGER NOT NULL,
  seen_squares REAL,
  seen_sigma_ns REAL,
  told_count  INTEGER NOT NULL,
  told_ns     INTEGER NOT NULL,
  told_min_ns INTEGER NOT NULL,
  told_max_ns INTEGER NOT NULL,
  told_squares REAL,
  told_sigma_ns REAL,
  PRIMARY KEY (run, cpu, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE noise_vector (
  run      INTEGER NOT NULL REFERENCES noise (run) ON DELETE CASCADE,
  cpu      INTEGER NOT NULL,
  position INTEGER NOT NULL,
  name     TEXT NOT NULL,
  count    INTEGER NOT NULL,
  PRIMARY KEY (run, cpu, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE noise_part (
  run       INTEGER NOT NULL REFERENCES noise (run) ON DELETE CASCADE,
  position  INTEGER NOT NULL,
  begin_ns  INTEGER NOT NULL,           -- since the begin of the run
  window_ns INTEGER NOT NULL,           -- of all CPUs, as are the detours
  count     INTEGER NOT NULL,
  ns        INTEGER NOT NULL,
  PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE noise_longest (
  run      INTEGER NOT NULL REFERENCES noise (run) ON DELETE CASCADE,
  position INTEGER NOT NULL,            -- the longest first
  cpu      INTEGER NOT NULL,            -- its number
  begin_ns INTEGER NOT NULL,            -- CLOCK_MONOTONIC
  ns       INTEGER NOT NULL,
  irq_ns INTEGER NOT NULL, softirq_ns INTEGER NOT NULL, nmi_ns INTEGER NOT NULL,
  thread_ns INTEGER NOT NULL, work_ns INTEGER NOT NULL, fault_ns INTEGER NOT NULL,
  throttled_ns INTEGER NOT NULL, delivery_ns INTEGER NOT NULL, steal_ns INTEGER NOT NULL,
  host_ns INTEGER NOT NULL, unexplained_ns INTEGER NOT NULL,
  name     TEXT NOT NULL,
  -- the trace around it, as in table trace; NULL: none
  version  INTEGER,
  events   INTEGER,
  names    INTEGER,
  lost     INTEGER,
  data     BLOB,
  PRIMARY KEY (run, position)
) STRICT;

CREATE TABLE noise_share (
  id       INTEGER PRIMARY KEY,         -- (run << 36) + (part << 23) + position
  run      INTEGER GENERATED ALWAYS AS (id >> 36) VIRTUAL,
  part     INTEGER GENERATED ALWAYS AS (id >> 23 & 8191) VIRTUAL,
  position INTEGER GENERATED ALWAYS AS (id & 8388607) VIRTUAL,
  cpu      INTEGER NOT NULL,
  source   INTEGER NOT NULL,
  count    INTEGER NOT NULL,
  ns       INTEGER NOT NULL
) STRICT;

-- The histograms of sources and combinations. Empty buckets have no row.
CREATE TABLE noise_length (
  id      INTEGER PRIMARY KEY,          -- (run << 36) + (cpu << 23) + (kind << 21) + (owner << 11) + bucket
  run     INTEGER GENERATED ALWAYS AS (id >> 36) VIRTUAL,
  cpu     INTEGER GENERATED ALWAYS AS (id >> 23 & 8191) VIRTUAL,
  kind    INTEGER GENERATED ALWAYS AS (id >> 21 & 3) VIRTUAL, -- of a source: 0 lengths, 1 intervals; of a combination: 2 seen, 3 told
  owner   INTEGER GENERATED ALWAYS AS (id >> 11 & 1023) VIRTUAL, -- position of the source or combination
  bucket  INTEGER GENERATED ALWAYS AS (id & 2047) VIRTUAL,
  low_ns  INTEGER NOT NULL,
  high_ns INTEGER NOT NULL,
  count   INTEGER NOT NULL,
  ns      INTEGER NOT NULL
) STRICT;

CREATE TRIGGER noise_goes AFTER DELETE ON noise
BEGIN
  DELETE FROM noise_share WHERE id BETWEEN old.run << 36 AND (old.run << 36) + 68719476735;
  DELETE FROM noise_length WHERE id BETWEEN old.run << 36 AND (old.run << 36) + 68719476735;
END;

CREATE TABLE noise_baseline (
  identity TEXT PRIMARY KEY,            -- of a machine, whatever its kernel and settings
  run      INTEGER NOT NULL UNIQUE REFERENCES run (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

DROP VIEW runs;
CREATE VIEW runs -- One row per run
AS SELECT
  r.id AS id, -- number of the run, as commands take it
  coalesce(r.name_text, CAST(r.name AS TEXT)) AS name, -- what the user called it, or the command
  CASE r.status WHEN 0 THEN 'going' WHEN 1 THEN 'complete' WHEN 2 THEN 'interrupted' ELSE 'failed' END AS status, -- going, complete, interrupted or failed; a run whose tare was killed says going until the next tare writes to the lab
  strftime('%Y-%m-%dT%H:%M:%fZ', r.started_at_ns / 1e9, 'unixepoch') AS started_at, -- UTC
  strftime('%Y-%m-%dT%H:%M:%fZ', r.ended_at_ns / 1e9, 'unixepoch') AS ended_at, -- UTC; NULL while going or when its tare was killed
  (SELECT count(*) FROM execution e WHERE e.run = r.id AND NOT e.warmup) AS executions, -- stored, without warm-ups
  (SELECT count(*) FROM execution e WHERE e.run = r.id AND e.warmup) AS warmups, -- stored warm-ups
  nullif(r.planned, 0) AS planned, -- executions asked for; NULL when open-ended
  (SELECT avg(e.et_ns) FROM execution e WHERE e.run = r.id AND NOT e.warmup) AS mean_et_ns, -- mean elapsed time of all executions but warm-ups, the shell's cost included
  (SELECT avg(e.pt_exec_ns) FROM execution e WHERE e.run = r.id AND NOT e.warmup) AS mean_pt_exec_ns, -- mean process time at grade exec, likewise
  CASE r.backend WHEN 0 THEN 'plain' WHEN 1 THEN 'netlink' ELSE 'bpf' END AS backend, -- plain, netlink or bpf
  r.not_seen AS not_seen, -- what this back end could not see; NULL: nothing
  coalesce(r.command_text, CAST(r.command AS TEXT)) AS command, -- as given, parameters filled in
  coalesce(r.shell_text, CAST(r.shell AS TEXT)) AS shell, -- NULL: started without one
  coalesce(r.directory_text, CAST(r.directory AS TEXT)) AS directory, -- where it was started
  r.parameters AS parameters, -- JSON object: json_extract(parameters, '$.NAME')
  r.conditions AS conditions, -- JSON object of every option that shaped the run
  coalesce(r.tags_text, CAST(r.tags AS TEXT)) AS tags, -- free text of the user
  r.study AS study, -- runs of one command line share it
  r.machine AS machine, -- id in machines
  r.shell_et_ns AS shell_et_ns, -- the shell's own median elapsed time, not taken off here
  r.shell_pt_exec_ns AS shell_pt_exec_ns, -- and its median process time at grade exec
  r.started_at_ns AS started_at_ns, -- since 1970
  r.ended_at_ns AS ended_at_ns, -- since 1970
  r.version AS version, -- of the tare that made it
  CASE r.kind WHEN 0 THEN 'command' ELSE 'cpu' END AS kind -- command, or cpu for a run of 'tare noise', which has no executions
FROM run r;

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
  iif(n.kernel, sum(c.lost), NULL) AS lost, -- what the kernel told and found no room
  EXISTS (SELECT 1 FROM noise_baseline b WHERE b.run = n.run) AS baseline -- 1: the baseline of its machine
FROM noise n JOIN run r ON r.id = n.run JOIN noise_cpu c ON c.run = n.run
GROUP BY n.run;

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
  iif(n.kernel, c.outside_ns, NULL) AS outside_ns -- their time
FROM noise_cpu c JOIN noise n ON n.run = c.run;

CREATE VIEW noise_sources -- One row per source of detours of a CPU; their ns add up to those of noise_cpus
AS SELECT
  s.run AS run, -- id in runs
  c.cpu AS cpu, -- number of the CPU
  k.name AS class, -- irq, softirq, nmi, thread, work, fault, throttled; inferred: delivery, steal, host-periodic, unexplained
  k.strict AS strict, -- 1: the kernel told of it
  s.name AS name, -- of the source; others: those that found no room
  s.count AS count, -- occurrences; of an inferred source: detours with a part of it
  s.ns AS ns, -- their time, nested ones taken off
  s.ns * 1.0 / nullif(s.count, 0) AS mean_ns, -- of an occurrence, as are the next three
  iif(s.count, s.min_ns, NULL) AS min_ns, -- shortest
  iif(s.count, s.max_ns, NULL) AS max_ns, -- longest
  s.sigma_ns AS sigma_ns, -- standard deviation
  s.ns * 1.0 / nullif(c.ns, 0) AS share, -- of the time of all detours of this CPU
  s.count * 1e9 / nullif(c.window_ns, 0) AS per_second -- occurrences
FROM noise_source s JOIN noise_cpu c ON c.run = s.run AND c.position = s.cpu
JOIN noise_class k ON k.id = s.class;

CREATE VIEW noise_combinations -- One row per succession of sources in a detour of a CPU; every detour is in exactly one
AS SELECT
  x.run AS run, -- id in runs
  c.cpu AS cpu, -- number of the CPU
  x.name AS name, -- the sources in order, joined by _
  x.seen_count AS count, -- detours
  x.seen_ns AS ns, -- their time, as the loop saw it; as are the next four
  x.seen_ns * 1.0 / nullif(x.seen_count, 0) AS mean_ns, -- of a detour
  iif(x.seen_count, x.seen_min_ns, NULL) AS min_ns, -- shortest
  iif(x.seen_count, x.seen_max_ns, NULL) AS max_ns, -- longest
  x.seen_sigma_ns AS sigma_ns, -- standard deviation
  x.seen_ns * 1.0 / nullif(c.ns, 0) AS share, -- of the time of all detours of this CPU
  x.seen_count * 1e9 / nullif(c.window_ns, 0) AS per_second, -- detours
  iif(x.told_count, x.told_ns, NULL) AS told_ns, -- strict time in them, as the kernel told it; NULL: not told, as are the next four
  x.told_ns * 1.0 / nullif(x.told_count, 0) AS told_mean_ns, -- of a detour
  iif(x.told_count, x.told_min_ns, NULL) AS told_min_ns, -- least
  iif(x.told_count, x.told_max_ns, NULL) AS told_max_ns, -- most
  iif(x.told_count, x.told_sigma_ns, NULL) AS told_sigma_ns -- standard deviation
FROM noise_combination x JOIN noise_cpu c ON c.run = x.run AND c.position = x.cpu;

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
  iif(n.kernel, b.overlap_ns, NULL) AS overlap_ns, -- whole detours in which the kernel told of anything
  iif(n.kernel, b.master_count, NULL) AS master_count, -- the master histogram: detours with that much strict time
  iif(n.kernel, b.master_ns, NULL) AS master_ns -- and that time
FROM noise_bucket b JOIN noise n ON n.run = b.run JOIN noise_cpu c ON c.run = b.run AND c.position = b.cpu;

CREATE VIEW noise_lengths -- Sources and combinations of a CPU by length: one row per bucket that is not empty
AS SELECT
  n.run AS run, -- id in runs
  c.cpu AS cpu, -- number of the CPU
  CASE l.kind WHEN 0 THEN 'source' WHEN 1 THEN 'interval' WHEN 2 THEN 'seen' ELSE 'told' END AS kind, -- of a source: source, its lengths, and interval, from begin to begin; of a combination: seen and told
  coalesce(s.name, x.name) AS name, -- as in noise_sources or noise_combinations
  (SELECT k.name FROM noise_class k WHERE k.id = s.class) AS class, -- of a source
  l.low_ns AS bucket_low_ns, -- shortest length in it
  l.high_ns AS bucket_high_ns, -- shortest that is too long for it
  l.count AS count, -- occurrences
  l.ns AS ns -- their sum
FROM noise n CROSS JOIN noise_length l ON l.id BETWEEN n.run << 36 AND (n.run << 36) + 68719476735
JOIN noise_cpu c ON c.run = n.run AND c.position = l.cpu
LEFT JOIN noise_source s ON l.kind < 2 AND s.run = n.run AND s.cpu = l.cpu AND s.position = l.owner
LEFT JOIN noise_combination x ON l.kind > 1 AND x.run = n.run AND x.cpu = l.cpu AND x.position = l.owner;

CREATE VIEW noise_parts -- The sources of a CPU over time: one row per part of the run and source that was seen in it
AS SELECT
  p.run AS run, -- id in runs
  p.position + 1 AS part, -- from 1, all of equally many rounds
  p.begin_ns AS begin_ns, -- since the begin of the run
  p.window_ns AS window_ns, -- looked at in this part, summed over the CPUs
  c.cpu AS cpu, -- number of the CPU
  k.name AS class, -- as in noise_sources
  s.name AS name, -- likewise
  h.count AS count, -- occurrences in this part
  h.ns AS ns, -- their time
  h.count * 1e9 * (SELECT count(*) FROM noise_cpu d WHERE d.run = p.run) / nullif(p.window_ns, 0) AS per_second, -- occurrences on this CPU, all CPUs taken as looked at for equally long
  h.ns * 1.0 * (SELECT count(*) FROM noise_cpu d WHERE d.run = p.run) / nullif(p.window_ns, 0) AS share -- of the time of this CPU
FROM noise_part p CROSS JOIN noise_share h ON h.id BETWEEN (p.run << 36) + (p.position << 23) AND (p.run << 36) + (p.position << 23) + 8388607
JOIN noise_cpu c ON c.run = p.run AND c.position = h.cpu
JOIN noise_source s ON s.run = p.run AND s.cpu = h.cpu AND s.position = h.source
JOIN noise_class k ON k.id = s.class;

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
  w.events AS events -- kept of what happened around it; NULL: none
FROM noise_longest w JOIN noise n ON n.run = w.run;

CREATE VIEW noise_untold -- Interrupts that a CPU counted and the kernel did not tell of
AS SELECT
  v.run AS run, -- id in runs
  c.cpu AS cpu, -- number of the CPU
  v.name AS name, -- as in /proc/interrupts
  v.count AS count -- during the run
FROM noise_vector v JOIN noise_cpu c ON c.run = v.run AND c.position = v.cpu;
