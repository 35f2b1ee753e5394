-- Schema version 7: executions of queries (record/query.h) beside the other runs.
--
-- A column for each fact of an execution, called as in its CSV (query_execution_fields in record/query.c): NULLs
-- and small numbers take one byte or two, so that all of it can be queried and still is small and quick
-- to read (docs/decisions/022). What was measured beside it is an execution of the run, like any other:
-- `raw`. Plans are hashes of 64 bits, and negative where they are above 2^63. What a user wrote is bytes, with
-- a *_text beside where they are not UTF-8.

DROP VIEW runs;
-- A wider CHECK, as in version 4.
ALTER TABLE run ADD COLUMN subject INTEGER NOT NULL DEFAULT 0 CHECK (subject BETWEEN 0 AND 3); -- enum subject_kind
UPDATE run SET subject = kind;
ALTER TABLE run DROP COLUMN kind;
ALTER TABLE run RENAME COLUMN subject TO kind;

CREATE TABLE query_run (
  run             INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  dbms            TEXT NOT NULL,
  cpus            INTEGER NOT NULL,
  queries         INTEGER NOT NULL,
  version         TEXT,
  settings        TEXT,                 -- JSON object
  experiment_name TEXT,
  experiment      BLOB,                 -- its file
  experiment_text TEXT,
  scenario        TEXT,
  cold            INTEGER NOT NULL,
  imported        INTEGER NOT NULL,
  io_by_process   INTEGER NOT NULL,
  planned         INTEGER NOT NULL,
  time_limit_ns   INTEGER NOT NULL,
  tick_ns         INTEGER NOT NULL,
  seed            INTEGER NOT NULL
) STRICT;

CREATE TABLE query_text (
  run       INTEGER NOT NULL REFERENCES query_run (run) ON DELETE CASCADE,
  query     INTEGER NOT NULL,
  name      BLOB,
  name_text TEXT,
  sql       BLOB,
  sql_text  TEXT,
  PRIMARY KEY (run, query)
) STRICT, WITHOUT ROWID;

CREATE TABLE query_plan (
  run  INTEGER NOT NULL REFERENCES query_run (run) ON DELETE CASCADE,
  hash INTEGER NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (run, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE query_event (
  id          INTEGER PRIMARY KEY,      -- in the order of time
  run         INTEGER NOT NULL REFERENCES query_run (run) ON DELETE CASCADE,
  kind        INTEGER NOT NULL,         -- enum query_event_kind
  at_ns       INTEGER NOT NULL,
  query       INTEGER NOT NULL,
  cardinality INTEGER NOT NULL,
  plan        INTEGER,                  -- NULL: means nothing here
  before      INTEGER,
  text        TEXT
) STRICT;
CREATE INDEX query_event_by_run ON query_event (run);

CREATE TABLE query_at (
  id          INTEGER PRIMARY KEY,
  run         INTEGER NOT NULL REFERENCES query_run (run) ON DELETE CASCADE,
  query       INTEGER NOT NULL,
  cardinality INTEGER NOT NULL,
  table_bytes INTEGER NOT NULL,
  UNIQUE (run, query, cardinality)
) STRICT;

CREATE TABLE query_execution (
  at INTEGER NOT NULL REFERENCES query_at (id) ON DELETE CASCADE,
  execution INTEGER NOT NULL, -- its number
  -- id in execution; NULL: no more is kept. No reference, which would need an index: whatever deletes one of
  -- them deletes the other.
  raw INTEGER,
  started_at_ns INTEGER, timed_out INTEGER, measured_ns INTEGER, snapshot_ns INTEGER,
  plan INTEGER,
  query_user_ns INTEGER, query_system_ns INTEGER, query_blkio_ns INTEGER, query_reads INTEGER,
  query_writes INTEGER, query_nvcsw INTEGER, query_nivcsw INTEGER, query_majflt INTEGER,
  query_guest_ns INTEGER, query_processes INTEGER,
  utility_user_ns INTEGER, utility_system_ns INTEGER, utility_blkio_ns INTEGER,
  utility_reads INTEGER, utility_writes INTEGER, utility_nvcsw INTEGER, utility_nivcsw INTEGER,
  utility_majflt INTEGER, utility_guest_ns INTEGER, utility_processes INTEGER,
  daemon_user_ns INTEGER, daemon_system_ns INTEGER, daemon_blkio_ns INTEGER, daemon_reads INTEGER,
  daemon_writes INTEGER, daemon_nvcsw INTEGER, daemon_nivcsw INTEGER, daemon_majflt INTEGER,
  daemon_guest_ns INTEGER, daemon_processes INTEGER,
  user_user_ns INTEGER, user_system_ns INTEGER, user_blkio_ns INTEGER, user_reads INTEGER,
  user_writes INTEGER, user_nvcsw INTEGER, user_nivcsw INTEGER, user_majflt INTEGER,
  user_guest_ns INTEGER, user_processes INTEGER,
  tare_user_ns INTEGER, tare_system_ns INTEGER, tare_blkio_ns INTEGER, tare_reads INTEGER,
  tare_writes INTEGER, tare_nvcsw INTEGER, tare_nivcsw INTEGER, tare_majflt INTEGER,
  tare_guest_ns INTEGER, tare_processes INTEGER,
  overall_user_ns INTEGER, overall_nice_ns INTEGER, overall_system_ns INTEGER,
  overall_idle_ns INTEGER, overall_iowait_ns INTEGER, overall_irq_ns INTEGER,
  overall_softirq_ns INTEGER, overall_steal_ns INTEGER, overall_guest_ns INTEGER,
  query_process INTEGER, query_tasks INTEGER, utility_most_ns INTEGER, blkio_most_ns INTEGER,
  other_query INTEGER, other_utility INTEGER, ephemeral INTEGER, own_device_ns INTEGER,
  others_device_ns INTEGER, rows INTEGER, read_bytes INTEGER, run_delay_ns INTEGER, lost INTEGER,
  PRIMARY KEY (at, execution)
) STRICT, WITHOUT ROWID;

CREATE VIEW runs -- One row per run
AS SELECT
  r.id AS id, -- number of the run, as commands take it
  coalesce(r.name_text, CAST(r.name AS TEXT)) AS name, -- what the user called it, or the command
  CASE r.status WHEN 0 THEN 'going' WHEN 1 THEN 'complete' WHEN 2 THEN 'interrupted' ELSE 'failed' END AS status, -- going, complete, interrupted or failed; a run whose tare was killed says going until the next tare writes to the lab
  strftime('%Y-%m-%dT%H:%M:%fZ', r.started_at_ns / 1e9, 'unixepoch') AS started_at, -- UTC
  strftime('%Y-%m-%dT%H:%M:%fZ', r.ended_at_ns / 1e9, 'unixepoch') AS ended_at, -- UTC; NULL while going or when its tare was killed
  iif(r.kind = 3, (SELECT count(*) FROM query_at a JOIN query_execution x ON x.at = a.id WHERE a.run = r.id), (SELECT count(*) FROM execution e WHERE e.run = r.id AND NOT e.warmup)) AS executions, -- stored, without warm-ups
  (SELECT count(*) FROM execution e WHERE e.run = r.id AND e.warmup) AS warmups, -- stored warm-ups
  nullif(r.planned, 0) AS planned, -- executions asked for; NULL when open-ended
  (SELECT avg(e.et_ns) FROM execution e WHERE e.run = r.id AND NOT e.warmup AND r.kind <> 3) AS mean_et_ns, -- mean elapsed time of all executions but warm-ups, the shell's cost included; NULL for queries
  (SELECT avg(e.pt_exec_ns) FROM execution e WHERE e.run = r.id AND NOT e.warmup AND r.kind <> 3) AS mean_pt_exec_ns, -- mean process time at grade exec, likewise
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
  CASE r.kind WHEN 0 THEN 'command' WHEN 1 THEN 'cpu' WHEN 2 THEN 'system' ELSE 'query' END AS kind -- command; cpu for a run of 'tare noise', system for one of 'tare profile': these have no executions; query for one of 'tare query'
FROM run r;

CREATE VIEW query_runs -- One row per run of 'tare query'
AS SELECT
  q.run AS run, -- id in runs
  q.dbms AS dbms, -- sqlite, postgresql, ...
  q.version AS version, -- of the server; NULL: not known
  q.settings AS settings, -- of the server: a JSON object; NULL: not known
  q.experiment_name AS experiment_name, -- what its file calls it
  coalesce(q.experiment_text, CAST(q.experiment AS TEXT)) AS experiment, -- the text of that file
  q.scenario AS scenario, -- exhaustive or onepass; NULL: not known
  q.queries AS queries, -- that were to be executed: 1 to this
  nullif(q.planned, 0) AS planned, -- executions of each query at each cardinality; NULL: not known
  q.cold AS cold, -- 1: each execution began with empty caches
  q.imported AS imported, -- 1: measured elsewhere
  q.io_by_process AS io_by_process, -- 1: the server reads in other threads, so that query_blkio_ns means nothing
  nullif(q.time_limit_ns, 0) AS time_limit_ns, -- of an execution; NULL: none
  nullif(q.tick_ns, 0) AS tick_ns, -- of the kernel's clock; NULL: not known
  q.cpus AS cpus, -- online
  q.seed AS seed -- of generated tables and queries
FROM query_run q;

CREATE VIEW queries -- One row per query of a run of 'tare query'
AS SELECT
  t.run AS run, -- id in runs
  t.query AS query, -- its number, from 1
  coalesce(t.name_text, CAST(t.name AS TEXT)) AS name, -- what the experiment calls it
  coalesce(t.sql_text, CAST(t.sql AS TEXT)) AS sql -- the statement
FROM query_text t;

CREATE VIEW query_plans -- One row per plan that a server chose in a run
AS SELECT
  p.run AS run, -- id in runs
  printf('%016x', p.hash) AS plan, -- its hash
  p.json AS json -- the tree, without costs and numbers of rows
FROM query_plan p;

CREATE VIEW query_ats -- One row per query at a cardinality (Q@C)
AS SELECT
  a.run AS run, -- id in runs
  a.query AS query, -- number of the query
  a.cardinality AS cardinality, -- rows of the table that varies; 0: none does
  nullif(a.table_bytes, 0) AS table_bytes, -- of the tables it reads, as the server says; NULL: not known
  (SELECT count(*) FROM query_execution x WHERE x.at = a.id) AS executions, -- stored
  (SELECT count(*) FROM query_execution x WHERE x.at = a.id AND x.timed_out) AS timed_out, -- of those, cancelled at the time limit
  (SELECT count(DISTINCT x.plan) FROM query_execution x WHERE x.at = a.id) AS plans, -- that they had
  (SELECT avg(x.measured_ns) FROM query_execution x WHERE x.at = a.id AND NOT x.timed_out) AS mean_measured_ns -- mean elapsed time of those that were not cancelled
FROM query_at a;

CREATE VIEW query_executions -- One row per execution of a query at a cardinality
AS SELECT
  a.run AS run, -- id in runs
  a.query AS query, -- number of the query
  a.cardinality AS cardinality, -- as in query_ats
  x.execution AS execution, -- from 1 within these
  x.raw AS raw, -- id in executions, whose processes and ledger are those of this one; NULL: these are not kept
  x.started_at_ns AS started_at_ns, -- since 1970; NULL: not known
  x.timed_out AS timed_out, -- 1: it was cancelled at the time limit
  x.measured_ns AS measured_ns, -- from asking to the last row
  x.snapshot_ns AS snapshot_ns, -- that the snapshots of all processes took
  iif(x.plan IS NULL, NULL, printf('%016x', x.plan)) AS plan, -- hash of its plan, as in query_plans; NULL: not known
  x.query_user_ns AS query_user_ns, -- user time of the processes that evaluate the query; this and the rest: NULL where one of them was not seen
  x.query_system_ns AS query_system_ns, -- system time of the processes that evaluate the query
  x.query_blkio_ns AS query_blkio_ns, -- time blocked on block I/O of the processes that evaluate the query
  x.query_reads AS query_reads, -- read calls of the processes that evaluate the query
  x.query_writes AS query_writes, -- write calls of the processes that evaluate the query
  x.query_nvcsw AS query_nvcsw, -- voluntary context switches of the processes that evaluate the query
  x.query_nivcsw AS query_nivcsw, -- involuntary context switches of the processes that evaluate the query
  x.query_majflt AS query_majflt, -- major page faults of the processes that evaluate the query
  x.query_guest_ns AS query_guest_ns, -- time running guests of the processes that evaluate the query
  x.query_processes AS query_processes, -- how many of those there were
  x.utility_user_ns AS utility_user_ns, -- user time of the server's other processes
  x.utility_system_ns AS utility_system_ns, -- system time of the server's other processes
  x.utility_blkio_ns AS utility_blkio_ns, -- time blocked on block I/O of the server's other processes
  x.utility_reads AS utility_reads, -- read calls of the server's other processes
  x.utility_writes AS utility_writes, -- write calls of the server's other processes
  x.utility_nvcsw AS utility_nvcsw, -- voluntary context switches of the server's other processes
  x.utility_nivcsw AS utility_nivcsw, -- involuntary context switches of the server's other processes
  x.utility_majflt AS utility_majflt, -- major page faults of the server's other processes
  x.utility_guest_ns AS utility_guest_ns, -- time running guests of the server's other processes
  x.utility_processes AS utility_processes, -- how many of those there were
  x.daemon_user_ns AS daemon_user_ns, -- user time of daemons
  x.daemon_system_ns AS daemon_system_ns, -- system time of daemons
  x.daemon_blkio_ns AS daemon_blkio_ns, -- time blocked on block I/O of daemons
  x.daemon_reads AS daemon_reads, -- read calls of daemons
  x.daemon_writes AS daemon_writes, -- write calls of daemons
  x.daemon_nvcsw AS daemon_nvcsw, -- voluntary context switches of daemons
  x.daemon_nivcsw AS daemon_nivcsw, -- involuntary context switches of daemons
  x.daemon_majflt AS daemon_majflt, -- major page faults of daemons
  x.daemon_guest_ns AS daemon_guest_ns, -- time running guests of daemons
  x.daemon_processes AS daemon_processes, -- how many that ran there were
  x.user_user_ns AS user_user_ns, -- user time of users' processes
  x.user_system_ns AS user_system_ns, -- system time of users' processes
  x.user_blkio_ns AS user_blkio_ns, -- time blocked on block I/O of users' processes
  x.user_reads AS user_reads, -- read calls of users' processes
  x.user_writes AS user_writes, -- write calls of users' processes
  x.user_nvcsw AS user_nvcsw, -- voluntary context switches of users' processes
  x.user_nivcsw AS user_nivcsw, -- involuntary context switches of users' processes
  x.user_majflt AS user_majflt, -- major page faults of users' processes
  x.user_guest_ns AS user_guest_ns, -- time running guests of users' processes
  x.user_processes AS user_processes, -- how many that ran there were
  x.tare_user_ns AS tare_user_ns, -- user time of tare itself
  x.tare_system_ns AS tare_system_ns, -- system time of tare itself
  x.tare_blkio_ns AS tare_blkio_ns, -- time blocked on block I/O of tare itself
  x.tare_reads AS tare_reads, -- read calls of tare itself
  x.tare_writes AS tare_writes, -- write calls of tare itself
  x.tare_nvcsw AS tare_nvcsw, -- voluntary context switches of tare itself
  x.tare_nivcsw AS tare_nivcsw, -- involuntary context switches of tare itself
  x.tare_majflt AS tare_majflt, -- major page faults of tare itself
  x.tare_guest_ns AS tare_guest_ns, -- time running guests of tare itself
  x.tare_processes AS tare_processes, -- how many there were
  x.overall_user_ns AS overall_user_ns, -- time in user mode, of all CPUs, sampled at the tick, like the rest of overall_
  x.overall_nice_ns AS overall_nice_ns, -- time in user mode, low priority
  x.overall_system_ns AS overall_system_ns, -- time in kernel mode
  x.overall_idle_ns AS overall_idle_ns, -- time with nothing to do
  x.overall_iowait_ns AS overall_iowait_ns, -- time idle with I/O pending
  x.overall_irq_ns AS overall_irq_ns, -- time in interrupts
  x.overall_softirq_ns AS overall_softirq_ns, -- time in soft interrupts
  x.overall_steal_ns AS overall_steal_ns, -- time taken by the hypervisor
  x.overall_guest_ns AS overall_guest_ns, -- time running a guest
  x.query_process AS query_process, -- which process evaluated it: the same number, the same one; 0: there was none
  x.query_tasks AS query_tasks, -- threads of it that may run at once; 0 counts as 1
  x.utility_most_ns AS utility_most_ns, -- user and system time of the server's busiest other process
  x.blkio_most_ns AS blkio_most_ns, -- of the process, of any role, that was blocked most
  x.other_query AS other_query, -- processes of another server that evaluated queries
  x.other_utility AS other_utility, -- other processes of another server
  x.ephemeral AS ephemeral, -- processes that nobody saw; NULL where it cannot be known
  x.own_device_ns AS own_device_ns, -- time that devices served it; NULL: not seen
  x.others_device_ns AS others_device_ns, -- time that devices served everybody else meanwhile; NULL: not seen
  x.rows AS rows, -- fetched
  x.read_bytes AS read_bytes, -- read from devices for it; NULL: not seen
  x.run_delay_ns AS run_delay_ns, -- its tasks waited so long for a CPU; NULL: not seen
  x.lost AS lost -- events the collector lost
FROM query_at a JOIN query_execution x ON x.at = a.id;

CREATE VIEW query_events -- One row per thing that happened to a run of 'tare query'
AS SELECT
  e.run AS run, -- id in runs
  strftime('%Y-%m-%dT%H:%M:%fZ', e.at_ns / 1e9, 'unixepoch') AS happened_at, -- UTC
  CASE e.kind WHEN 0 THEN 'restarted' WHEN 1 THEN 'backed off' WHEN 2 THEN 'paused' WHEN 3 THEN 'resumed' WHEN 4 THEN 'same plan' WHEN 5 THEN 'made table' ELSE 'gave up' END AS kind, -- restarted (the plan changed), backed off (an error), paused, resumed, same plan (not executed, since the next higher cardinality has its plan), made table (its own from then on) or gave up (the plan changed again and again)
  nullif(e.query, 0) AS query, -- number of the query; NULL: of none
  iif(e.query, e.cardinality, NULL) AS cardinality, -- as in query_ats
  iif(e.plan IS NULL, NULL, printf('%016x', e.plan)) AS plan, -- hash of the plan then; NULL: means nothing here
  iif(e.before IS NULL, NULL, printf('%016x', e.before)) AS plan_before, -- and of the one before
  e.text AS text, -- what was the matter
  e.at_ns AS at_ns -- since 1970
FROM query_event e;
