-- Schema version 1 of the lab. Applied in one transaction by src/lab/lab.c.
--
-- Tables are tare's own and may change with a version; the views at the end are for users and keep
-- their names and columns. Their comments are what `tare sql` shows: one column a line, its meaning
-- behind "--".
--
-- Times are ns. NULL is "not seen", never zero. Bytes that a user gave (names, commands) are kept raw
-- in a BLOB; where these are not valid UTF-8, the column *_text beside it has them repaired.

CREATE TABLE machine (
  id            INTEGER PRIMARY KEY,
  fingerprint   TEXT NOT NULL,
  facts         BLOB NOT NULL,          -- lines "key=value"
  facts_text    TEXT,
  first_seen_ns INTEGER NOT NULL
) STRICT;
CREATE INDEX machine_by_fingerprint ON machine (fingerprint);

CREATE TABLE study (
  id                INTEGER PRIMARY KEY,
  command_line      BLOB NOT NULL,
  command_line_text TEXT,
  created_at_ns     INTEGER NOT NULL
) STRICT;

CREATE TABLE run (
  id              INTEGER PRIMARY KEY AUTOINCREMENT, -- a removed run's number is never given again
  study           INTEGER REFERENCES study (id),
  machine         INTEGER REFERENCES machine (id),
  status          INTEGER NOT NULL CHECK (status BETWEEN 0 AND 3), -- enum run_status
  backend         INTEGER NOT NULL CHECK (backend BETWEEN 0 AND 2), -- enum backend
  name            BLOB NOT NULL,
  name_text       TEXT,
  command         BLOB NOT NULL,
  command_text    TEXT,
  shell           BLOB,
  shell_text      TEXT,
  directory       BLOB,
  directory_text  TEXT,
  tags            BLOB,
  tags_text       TEXT,
  conditions      TEXT,
  parameters      TEXT NOT NULL,        -- JSON object, for queries
  parameters_raw  BLOB NOT NULL,        -- name NUL value NUL ..., in order
  not_seen        TEXT,
  version         TEXT,
  started_at_ns   INTEGER NOT NULL,
  ended_at_ns     INTEGER,
  planned         INTEGER NOT NULL,
  shell_et_ns     INTEGER,
  shell_pt_net_ns INTEGER,
  shell_pt_exec_ns INTEGER,
  shell_pt_tick_ns INTEGER,
  -- The tare that made it, recognisable after its pid was given to another process.
  owner_pid       INTEGER NOT NULL,
  owner_start     INTEGER NOT NULL,     -- field 22 of /proc/PID/stat
  owner_boot      TEXT NOT NULL,        -- /proc/sys/kernel/random/boot_id
  owner_space     TEXT NOT NULL         -- /proc/PID/ns/pid
) STRICT;
CREATE INDEX run_by_study ON run (study);
CREATE INDEX run_by_machine ON run (machine);
CREATE INDEX run_by_name ON run (name);
CREATE INDEX run_going ON run (status) WHERE status = 0;

CREATE TABLE execution (
  id            INTEGER PRIMARY KEY,
  run           INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  number        INTEGER NOT NULL,
  warmup        INTEGER NOT NULL,
  outcome       INTEGER NOT NULL CHECK (outcome BETWEEN 0 AND 2), -- enum outcome
  status        INTEGER NOT NULL,
  started_at_ns INTEGER NOT NULL,
  et_ns         INTEGER,
  wait_ns       INTEGER,
  tree_ns       INTEGER,
  pt_net_ns     INTEGER,
  pt_exec_ns    INTEGER,
  pt_tick_ns    INTEGER,
  user_ns       INTEGER,
  system_ns     INTEGER,
  self_ns       INTEGER,
  left_behind   INTEGER NOT NULL,
  ended         INTEGER NOT NULL,
  lost          INTEGER NOT NULL,
  ephemeral     INTEGER,
  processes     INTEGER NOT NULL,
  threads       INTEGER NOT NULL,
  rss_peak      INTEGER NOT NULL,
  present       INTEGER NOT NULL,       -- struct totals
  exec INTEGER, user INTEGER, system INTEGER, run_delay INTEGER, blkio_delay INTEGER,
  min_flt INTEGER, maj_flt INTEGER, nvcsw INTEGER, nivcsw INTEGER, rchar INTEGER, wchar INTEGER,
  syscr INTEGER, syscw INTEGER, read_bytes INTEGER, write_bytes INTEGER,
  cancelled_write_bytes INTEGER,
  before_user INTEGER, before_nice INTEGER, before_system INTEGER, before_idle INTEGER,
  before_iowait INTEGER, before_irq INTEGER, before_softirq INTEGER, before_steal INTEGER,
  before_guest INTEGER, before_guest_nice INTEGER, before_page_in INTEGER, before_page_out INTEGER,
  before_swap_in INTEGER, before_swap_out INTEGER, before_interrupts INTEGER,
  before_switches INTEGER, before_boot_time INTEGER, before_forks INTEGER, before_running INTEGER,
  before_blocked INTEGER,
  after_user INTEGER, after_nice INTEGER, after_system INTEGER, after_idle INTEGER,
  after_iowait INTEGER, after_irq INTEGER, after_softirq INTEGER, after_steal INTEGER,
  after_guest INTEGER, after_guest_nice INTEGER, after_page_in INTEGER, after_page_out INTEGER,
  after_swap_in INTEGER, after_swap_out INTEGER, after_interrupts INTEGER,
  after_switches INTEGER, after_boot_time INTEGER, after_forks INTEGER, after_running INTEGER,
  after_blocked INTEGER
) STRICT;
CREATE INDEX execution_by_run ON execution (run);

CREATE TABLE process (
  execution INTEGER NOT NULL REFERENCES execution (id) ON DELETE CASCADE,
  position  INTEGER NOT NULL,           -- the subject's first, then by exec
  role      INTEGER NOT NULL CHECK (role BETWEEN 0 AND 2), -- enum role
  kernel    INTEGER NOT NULL,
  started   INTEGER NOT NULL,
  ended     INTEGER NOT NULL,
  pid       INTEGER NOT NULL,
  ppid      INTEGER NOT NULL,
  start_ns  INTEGER NOT NULL,
  threads   INTEGER NOT NULL,
  name      TEXT NOT NULL,
  rss_peak  INTEGER NOT NULL,
  present   INTEGER NOT NULL,
  exec INTEGER, user INTEGER, system INTEGER, run_delay INTEGER, blkio_delay INTEGER,
  min_flt INTEGER, maj_flt INTEGER, nvcsw INTEGER, nivcsw INTEGER, rchar INTEGER, wchar INTEGER,
  syscr INTEGER, syscw INTEGER, read_bytes INTEGER, write_bytes INTEGER,
  cancelled_write_bytes INTEGER,
  PRIMARY KEY (execution, position)
) STRICT, WITHOUT ROWID;

-- Raw images (src/lab/image.h). The id holds execution and kind, which spares an index on each insert.
CREATE TABLE image (
  id        INTEGER PRIMARY KEY,        -- 4 * execution + kind
  execution INTEGER GENERATED ALWAYS AS (id / 4) VIRTUAL,
  kind      INTEGER GENERATED ALWAYS AS (id % 4) VIRTUAL, -- 0 before, 1 after, 2 exits
  base      INTEGER,                    -- the image this one is coded against, of the same run
  version   INTEGER NOT NULL,           -- TASK_RECORD_VERSION
  count     INTEGER NOT NULL,
  begin_ns  INTEGER NOT NULL,           -- CLOCK_MONOTONIC
  end_ns    INTEGER NOT NULL,
  data      BLOB NOT NULL
) STRICT;

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
  r.version AS version -- of the tare that made it
FROM run r;

CREATE VIEW executions -- One row per execution, warm-ups included; NULL is a measure that was not seen
AS SELECT
  e.id AS id, -- of this execution
  e.run AS run, -- id in runs
  e.number AS number, -- from 1 within the run; warm-ups count on their own
  e.warmup AS warmup, -- 1: thrown away by EMP's first rule
  CASE e.outcome WHEN 0 THEN 'exited' WHEN 1 THEN 'signalled' ELSE 'timed out' END AS outcome, -- exited, signalled or timed out
  e.status AS status, -- exit code or signal
  strftime('%Y-%m-%dT%H:%M:%fZ', e.started_at_ns / 1e9, 'unixepoch') AS started_at, -- UTC
  e.et_ns AS et_ns, -- elapsed time: the first process from its exec to its end
  e.wait_ns AS wait_ns, -- the same up to when tare, waiting, was told
  e.tree_ns AS tree_ns, -- up to the end of the last process of the tree
  e.pt_net_ns AS pt_net_ns, -- process time at grade net
  e.pt_exec_ns AS pt_exec_ns, -- process time at grade exec
  e.pt_tick_ns AS pt_tick_ns, -- process time at grade tick
  e.user_ns AS user_ns, -- this execution's exec in the proportion of its ticks, noise below about 100 ms; NULL: no tick fell on it
  e.system_ns AS system_ns, -- the rest of its exec, likewise
  e.self_ns AS self_ns, -- CPU time of tare within the timed window
  e.left_behind AS left_behind, -- processes alive when the first one ended
  e.ended AS ended, -- of those, ended by tare
  e.lost AS lost, -- events the collector lost
  e.ephemeral AS ephemeral, -- tasks made but never seen; NULL where it cannot be known
  e.processes AS processes, -- of the subject
  e.threads AS threads, -- of the subject, first threads included
  nullif(e.rss_peak, 0) AS rss_peak, -- bytes, of the largest process
  e.exec AS exec, -- ns on a CPU, by the scheduler; this and the rest summed over the subject's tree
  e.user AS user, -- ns of user time, sampled at the tick
  e.system AS system, -- ns of system time, sampled at the tick
  e.run_delay AS run_delay, -- ns runnable, waiting for a CPU
  e.blkio_delay AS blkio_delay, -- ns blocked on block I/O
  e.min_flt AS min_flt, -- minor page faults
  e.maj_flt AS maj_flt, -- major page faults
  e.nvcsw AS nvcsw, -- voluntary context switches
  e.nivcsw AS nivcsw, -- involuntary context switches
  e.rchar AS rchar, -- bytes asked for by read calls
  e.wchar AS wchar, -- bytes handed to write calls
  e.syscr AS syscr, -- read calls
  e.syscw AS syscw, -- write calls
  e.read_bytes AS read_bytes, -- bytes fetched from storage
  e.write_bytes AS write_bytes, -- bytes sent to storage
  e.cancelled_write_bytes AS cancelled_write_bytes -- bytes never written because the file was truncated
FROM execution e;

CREATE VIEW processes -- One row per process that ran during an execution: its threads summed, differences over the execution
AS SELECT
  p.execution AS execution, -- id in executions
  e.run AS run, -- id in runs
  e.number AS number, -- of the execution
  e.warmup AS warmup, -- 1: a warm-up
  CASE p.role WHEN 0 THEN 'subject' WHEN 1 THEN 'daemon' ELSE 'self' END AS role, -- subject, daemon or self (tare)
  p.name AS name, -- stable across instances: kworker/0, not kworker/0:1-events
  p.pid AS pid, -- process id
  p.ppid AS ppid, -- of its parent
  p.kernel AS kernel, -- 1: a kernel thread
  p.started AS started, -- 1: began within the execution
  p.ended AS ended, -- 1: ended within the execution
  p.threads AS threads, -- threads seen
  nullif(p.rss_peak, 0) AS rss_peak, -- bytes
  p.exec AS exec, -- ns on a CPU
  p.user AS user, -- ns of user time, sampled at the tick
  p.system AS system, -- ns of system time, sampled at the tick
  p.run_delay AS run_delay, -- ns runnable, waiting for a CPU
  p.blkio_delay AS blkio_delay, -- ns blocked on block I/O
  p.min_flt AS min_flt, -- minor page faults
  p.maj_flt AS maj_flt, -- major page faults
  p.nvcsw AS nvcsw, -- voluntary context switches
  p.nivcsw AS nivcsw, -- involuntary context switches
  p.rchar AS rchar, -- bytes asked for by read calls
  p.wchar AS wchar, -- bytes handed to write calls
  p.syscr AS syscr, -- read calls
  p.syscw AS syscw, -- write calls
  p.read_bytes AS read_bytes, -- bytes fetched from storage
  p.write_bytes AS write_bytes, -- bytes sent to storage
  p.cancelled_write_bytes AS cancelled_write_bytes -- bytes never written because the file was truncated
FROM process p JOIN execution e ON e.id = p.execution;

CREATE VIEW daemons -- What ran beside the subject, per run and name, warm-ups left out
AS SELECT
  d.run AS run, -- id in runs
  d.name AS name, -- of the daemon
  max(d.kernel) AS kernel, -- 1: a kernel thread
  count(*) AS executions, -- executions it was seen in
  sum(d.exec) AS total_exec_ns, -- its time on a CPU in all of them
  avg(d.exec) AS mean_exec_ns, -- per execution it was seen in
  max(d.exec) AS max_exec_ns -- most in one execution
FROM (SELECT e.run AS run, p.name AS name, max(p.kernel) AS kernel, sum(p.exec) AS exec
      FROM process p JOIN execution e ON e.id = p.execution
      WHERE p.role = 1 AND NOT e.warmup GROUP BY e.run, e.id, p.name) d
GROUP BY d.run, d.name;

CREATE VIEW overall -- System-wide counters, two rows per execution: subtract before from after
AS SELECT
  e.id AS execution, -- id in executions
  e.run AS run, -- id in runs
  e.number AS number, -- of the execution
  e.warmup AS warmup, -- 1: a warm-up
  m.moment AS moment, -- before or after
  iif(m.after, e.after_user, e.before_user) AS user, -- ticks in user mode
  iif(m.after, e.after_nice, e.before_nice) AS nice, -- ticks in user mode, low priority
  iif(m.after, e.after_system, e.before_system) AS system, -- ticks in kernel mode
  iif(m.after, e.after_idle, e.before_idle) AS idle, -- ticks with nothing to do
  iif(m.after, e.after_iowait, e.before_iowait) AS iowait, -- ticks idle with I/O pending
  iif(m.after, e.after_irq, e.before_irq) AS irq, -- ticks in interrupts
  iif(m.after, e.after_softirq, e.before_softirq) AS softirq, -- ticks in soft interrupts
  iif(m.after, e.after_steal, e.before_steal) AS steal, -- ticks taken by the hypervisor
  iif(m.after, e.after_guest, e.before_guest) AS guest, -- ticks running a guest
  iif(m.after, e.after_guest_nice, e.before_guest_nice) AS guest_nice, -- ticks running a niced guest
  iif(m.after, e.after_page_in, e.before_page_in) AS page_in, -- KiB read from disk
  iif(m.after, e.after_page_out, e.before_page_out) AS page_out, -- KiB written to disk
  iif(m.after, e.after_swap_in, e.before_swap_in) AS swap_in, -- pages swapped in
  iif(m.after, e.after_swap_out, e.before_swap_out) AS swap_out, -- pages swapped out
  iif(m.after, e.after_interrupts, e.before_interrupts) AS interrupts, -- interrupts served
  iif(m.after, e.after_switches, e.before_switches) AS switches, -- context switches
  iif(m.after, e.after_boot_time, e.before_boot_time) AS boot_time, -- of the machine, seconds since 1970
  iif(m.after, e.after_forks, e.before_forks) AS forks, -- processes and threads made
  iif(m.after, e.after_running, e.before_running) AS running, -- tasks runnable at the moment
  iif(m.after, e.after_blocked, e.before_blocked) AS blocked -- tasks blocked on I/O at the moment
FROM execution e, (SELECT 0 AS after, 'before' AS moment UNION ALL SELECT 1, 'after') m;

CREATE VIEW machines -- One row per distinct set of facts about a machine
AS SELECT
  m.id AS id, -- as in runs.machine
  m.fingerprint AS fingerprint, -- equal where two runs are comparable
  strftime('%Y-%m-%dT%H:%M:%fZ', m.first_seen_ns / 1e9, 'unixepoch') AS first_seen, -- UTC
  (SELECT count(*) FROM run r WHERE r.machine = m.id) AS runs, -- made on it
  coalesce(m.facts_text, CAST(m.facts AS TEXT)) AS facts -- lines "key=value"
FROM machine m;
