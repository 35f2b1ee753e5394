-- Schema version 4: profiles (record/profile.h) beside the runs of commands and of noise.
--
-- A row per thing, so that all of it can be queried; only code is a blob. What samples refer to is
-- stored once per run and found again by its key, slice after slice. A sample has the instruction
-- (location) and the chain of its callers apart: chains are few and long, instructions many and
-- short. Rows of samples have ids made of slice and place, and go with their slice by a trigger.
-- Raw names are bytes, with a *_text beside where they are not UTF-8.

DROP VIEW runs;
-- A wider CHECK without making the table anew: the old one goes with its column.
ALTER TABLE run ADD COLUMN subject INTEGER NOT NULL DEFAULT 0 CHECK (subject BETWEEN 0 AND 2); -- enum subject_kind
UPDATE run SET subject = kind;
ALTER TABLE run DROP COLUMN kind;
ALTER TABLE run RENAME COLUMN subject TO kind;

CREATE TABLE profile (
  run         INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  mode        INTEGER NOT NULL,         -- enum profile_mode
  stacks      INTEGER NOT NULL,         -- enum profile_stacks
  hz          REAL,                     -- NULL is NaN
  cpus        INTEGER NOT NULL,
  realtime_ns INTEGER NOT NULL,         -- CLOCK_REALTIME at CLOCK_MONOTONIC 0
  origin_ns   INTEGER NOT NULL,         -- CLOCK_MONOTONIC: where minutes and hours are counted from
  bytes       INTEGER NOT NULL          -- of all but slices and samples, about
) STRICT;

CREATE TABLE profile_object (
  id        INTEGER PRIMARY KEY,
  run       INTEGER NOT NULL REFERENCES profile (run) ON DELETE CASCADE,
  kind      INTEGER NOT NULL,           -- enum object_kind
  path      BLOB NOT NULL,
  path_text TEXT,
  build_id  BLOB NOT NULL,              -- empty: none
  device    INTEGER NOT NULL,
  inode     INTEGER NOT NULL,
  pid       INTEGER NOT NULL,
  UNIQUE (run, path, pid, inode, device, build_id, kind)
) STRICT;

CREATE TABLE profile_app (
  id        INTEGER PRIMARY KEY,
  run       INTEGER NOT NULL REFERENCES profile (run) ON DELETE CASCADE,
  name      BLOB NOT NULL,
  name_text TEXT,
  object    INTEGER                     -- id in profile_object; NULL: a thread of the kernel
) STRICT;
CREATE INDEX profile_app_by_name ON profile_app (run, name, object);

CREATE TABLE profile_cgroup (
  id             INTEGER PRIMARY KEY,
  run            INTEGER NOT NULL REFERENCES profile (run) ON DELETE CASCADE,
  cgroup         BLOB,
  cgroup_text    TEXT,
  container      BLOB,
  container_text TEXT
) STRICT;
CREATE INDEX profile_cgroup_by_path ON profile_cgroup (run, cgroup, container);

CREATE TABLE profile_instance (
  id       INTEGER PRIMARY KEY,
  run      INTEGER NOT NULL REFERENCES profile (run) ON DELETE CASCADE,
  app      INTEGER NOT NULL,            -- id in profile_app
  number   INTEGER NOT NULL,
  pid      INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,            -- CLOCK_BOOTTIME
  exec_id  INTEGER NOT NULL,
  first_ns INTEGER NOT NULL,            -- CLOCK_MONOTONIC
  comm     TEXT NOT NULL,
  cgroup   INTEGER NOT NULL,            -- id in profile_cgroup
  UNIQUE (run, pid, start_ns, exec_id)
) STRICT;

CREATE TABLE profile_thread (
  id       INTEGER PRIMARY KEY,
  instance INTEGER NOT NULL REFERENCES profile_instance (id) ON DELETE CASCADE,
  tid      INTEGER NOT NULL,
  comm     TEXT NOT NULL,
  UNIQUE (instance, tid)
) STRICT;

CREATE TABLE profile_function (
  id        INTEGER PRIMARY KEY,
  object    INTEGER NOT NULL REFERENCES profile_object (id) ON DELETE CASCADE,
  name      BLOB NOT NULL,
  name_text TEXT,
  address   INTEGER NOT NULL,
  size      INTEGER NOT NULL,
  file      BLOB,
  file_text TEXT,
  line      INTEGER NOT NULL,
  UNIQUE (object, address, name)
) STRICT;

CREATE TABLE profile_code (
  function INTEGER PRIMARY KEY REFERENCES profile_function (id) ON DELETE CASCADE,
  size     INTEGER NOT NULL,
  data     BLOB NOT NULL                -- a zstd frame
) STRICT;

CREATE TABLE profile_location (
  id     INTEGER PRIMARY KEY,
  object INTEGER NOT NULL REFERENCES profile_object (id) ON DELETE CASCADE,
  offset INTEGER NOT NULL,
  shift  INTEGER NOT NULL,              -- the address less the offset
  UNIQUE (object, offset)
) STRICT;

CREATE TABLE profile_frame (
  location  INTEGER NOT NULL REFERENCES profile_location (id) ON DELETE CASCADE,
  level     INTEGER NOT NULL,           -- 0 is the innermost
  function  INTEGER NOT NULL,           -- id in profile_function
  line      INTEGER NOT NULL,
  file      BLOB,
  file_text TEXT,
  PRIMARY KEY (location, level)
) STRICT, WITHOUT ROWID;

-- What a stack is but for its innermost location.
CREATE TABLE profile_chain (
  id     INTEGER PRIMARY KEY,
  run    INTEGER NOT NULL REFERENCES profile (run) ON DELETE CASCADE,
  hash   INTEGER NOT NULL,              -- of what follows
  kernel INTEGER NOT NULL,              -- locations of the stack in the kernel, the innermost too
  stop   INTEGER NOT NULL,              -- enum stack_end
  links  TEXT NOT NULL                  -- ",ID,ID...": ids in profile_location, the innermost first
) STRICT;
CREATE INDEX profile_chain_by_hash ON profile_chain (run, hash);

CREATE TABLE profile_slice (
  id        INTEGER PRIMARY KEY,
  run       INTEGER NOT NULL REFERENCES profile (run) ON DELETE CASCADE,
  begin_ns  INTEGER NOT NULL,           -- CLOCK_MONOTONIC
  end_ns    INTEGER NOT NULL,
  samples   INTEGER NOT NULL,
  user      INTEGER NOT NULL,
  kernel    INTEGER NOT NULL,
  idle      INTEGER NOT NULL,
  others    INTEGER NOT NULL,
  lost      INTEGER NOT NULL,
  throttled INTEGER NOT NULL,
  untold    INTEGER NOT NULL,
  peak_used INTEGER NOT NULL,
  peak_room INTEGER NOT NULL,
  self_ns   INTEGER NOT NULL,
  sample_rows INTEGER NOT NULL,         -- of it in profile_sample
  UNIQUE (run, begin_ns)
) STRICT;

CREATE TABLE profile_sample (
  id       INTEGER PRIMARY KEY,         -- (slice << 24) + position
  thread   INTEGER NOT NULL,            -- id in profile_thread
  location INTEGER,                     -- id in profile_location; NULL: an empty stack
  chain    INTEGER NOT NULL,            -- id in profile_chain
  count    INTEGER NOT NULL
) STRICT;

CREATE TRIGGER profile_samples_go AFTER DELETE ON profile_slice
BEGIN
  DELETE FROM profile_sample WHERE id BETWEEN old.id << 24 AND (old.id << 24) + 16777215;
END;

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
  CASE r.kind WHEN 0 THEN 'command' WHEN 1 THEN 'cpu' ELSE 'system' END AS kind -- command; cpu for a run of 'tare noise', system for one of 'tare profile': these have no executions
FROM run r;

CREATE VIEW profiles -- One row per run of 'tare profile'; sums over its slices
AS SELECT
  p.run AS run, -- id in runs
  coalesce(r.name_text, CAST(r.name AS TEXT)) AS name, -- what the user called it
  strftime('%Y-%m-%dT%H:%M:%fZ', r.started_at_ns / 1e9, 'unixepoch') AS started_at, -- UTC
  CASE p.mode WHEN 0 THEN 'tick' WHEN 1 THEN 'cpu-clock' ELSE 'cycles' END AS mode, -- what made a CPU look: tick, cpu-clock or cycles
  CASE p.stacks WHEN 0 THEN 'none' WHEN 1 THEN 'fp' ELSE 'eh_frame' END AS stacks, -- how user stacks were followed: none, fp or eh_frame
  p.hz AS hz, -- samples per second and busy CPU
  p.cpus AS cpus, -- sampled
  count(l.id) AS slices, -- stored
  sum(l.end_ns - l.begin_ns) / 1e9 AS seconds, -- that the slices last
  sum(l.samples) AS samples, -- taken, idle ones left out
  sum(l.user) AS user, -- of them, in user space
  sum(l.kernel) AS kernel, -- and in the kernel
  sum(l.idle) AS idle, -- the CPU had nothing to do
  sum(l.others) AS others, -- taken, but not of what was asked for
  sum(l.lost) AS lost, -- taken, found no room
  sum(l.throttled) AS throttled, -- times the kernel held sampling back
  sum(l.untold) AS untold, -- mappings, forks and ends that the kernel had no room to tell
  sum(l.self_ns) AS self_ns, -- CPU time of tare
  p.bytes + 20 * coalesce(sum(l.sample_rows), 0) + 100 * count(l.id) AS bytes -- in the lab, about
FROM profile p JOIN run r ON r.id = p.run LEFT JOIN profile_slice l ON l.run = p.run
GROUP BY p.run;

CREATE VIEW profile_slices -- One row per slice of time of a profile
AS SELECT
  l.run AS run, -- id in runs
  l.id AS slice, -- as in profile_samples
  strftime('%Y-%m-%dT%H:%M:%fZ', (p.realtime_ns + l.begin_ns) / 1e9, 'unixepoch') AS begin_at, -- UTC
  l.begin_ns AS begin_ns, -- CLOCK_MONOTONIC
  (l.end_ns - l.begin_ns) / 1e9 AS seconds, -- that it lasts
  l.samples AS samples, -- taken, idle ones left out
  l.user AS user, -- of them, in user space
  l.kernel AS kernel, -- and in the kernel
  l.idle AS idle, -- the CPU had nothing to do
  l.others AS others, -- taken, but not of what was asked for
  l.lost AS lost, -- taken, found no room
  l.throttled AS throttled, -- times the kernel held sampling back
  l.untold AS untold, -- mappings, forks and ends that the kernel had no room to tell
  l.peak_used AS peak_used, -- entries in use of the fullest buffer
  l.peak_room AS peak_room, -- entries that it has
  l.self_ns AS self_ns -- CPU time of tare
FROM profile_slice l JOIN profile p ON p.run = l.run;

CREATE VIEW profile_apps -- One row per app, that is binary, of a profile
AS SELECT
  l.run AS run, -- id in runs
  coalesce(a.name_text, CAST(a.name AS TEXT)) AS app, -- last part of its path; [name]: a thread of the kernel
  coalesce(o.path_text, CAST(o.path AS TEXT)) AS path, -- of its executable; NULL: a thread of the kernel
  nullif(lower(hex(o.build_id)), '') AS build_id, -- of the executable; NULL: none
  count(DISTINCT t.instance) AS instances, -- with samples
  count(DISTINCT s.thread) AS threads, -- with samples
  sum(s.count) AS samples, -- taken of it
  sum(iif(c.kernel, 0, s.count)) AS user, -- of them, in user space
  sum(iif(c.kernel, s.count, 0)) AS kernel, -- and in the kernel
  sum(s.count) * 1.0 / (SELECT nullif(sum(x.samples), 0) FROM profile_slice x WHERE x.run = l.run) AS share -- of the samples of the run
FROM profile_slice l CROSS JOIN profile_sample s ON s.id BETWEEN l.id << 24 AND (l.id << 24) + 16777215
JOIN profile_thread t ON t.id = s.thread JOIN profile_instance i ON i.id = t.instance
JOIN profile_app a ON a.id = i.app LEFT JOIN profile_object o ON o.id = a.object
JOIN profile_chain c ON c.id = s.chain
GROUP BY l.run, a.id;

CREATE VIEW profile_instances -- One row per instance: one program in one process, however often its PID was used
AS SELECT
  l.run AS run, -- id in runs
  coalesce(a.name_text, CAST(a.name AS TEXT)) AS app, -- as in profile_apps
  i.number AS instance, -- of this app, from 0 in order of appearance
  i.pid AS pid, -- of the process
  i.start_ns AS start_ns, -- of the process, CLOCK_BOOTTIME
  i.exec_id AS exec_id, -- how many programs the process had before
  i.comm AS comm, -- its name for the kernel
  strftime('%Y-%m-%dT%H:%M:%fZ', (p.realtime_ns + i.first_ns) / 1e9, 'unixepoch') AS first_at, -- UTC; its first sample
  coalesce(g.cgroup_text, CAST(g.cgroup AS TEXT)) AS cgroup, -- path in the hierarchy; NULL: not known
  coalesce(g.container_text, CAST(g.container AS TEXT)) AS container, -- id; NULL: none
  count(DISTINCT s.thread) AS threads, -- with samples
  sum(s.count) AS samples, -- taken of it
  sum(iif(c.kernel, 0, s.count)) AS user, -- of them, in user space
  sum(iif(c.kernel, s.count, 0)) AS kernel -- and in the kernel
FROM profile_slice l CROSS JOIN profile_sample s ON s.id BETWEEN l.id << 24 AND (l.id << 24) + 16777215
JOIN profile_thread t ON t.id = s.thread JOIN profile_instance i ON i.id = t.instance
JOIN profile_app a ON a.id = i.app LEFT JOIN profile_cgroup g ON g.id = i.cgroup
JOIN profile_chain c ON c.id = s.chain JOIN profile p ON p.run = l.run
GROUP BY l.run, i.id;

CREATE VIEW profile_threads -- One row per thread of an instance
AS SELECT
  l.run AS run, -- id in runs
  coalesce(a.name_text, CAST(a.name AS TEXT)) AS app, -- as in profile_apps
  i.number AS instance, -- as in profile_instances
  i.pid AS pid, -- of its process
  t.tid AS tid, -- of the thread
  t.comm AS comm, -- its name, the last that was seen
  sum(s.count) AS samples, -- taken of it
  sum(iif(c.kernel, 0, s.count)) AS user, -- of them, in user space
  sum(iif(c.kernel, s.count, 0)) AS kernel -- and in the kernel
FROM profile_slice l CROSS JOIN profile_sample s ON s.id BETWEEN l.id << 24 AND (l.id << 24) + 16777215
JOIN profile_thread t ON t.id = s.thread JOIN profile_instance i ON i.id = t.instance
JOIN profile_app a ON a.id = i.app JOIN profile_chain c ON c.id = s.chain
GROUP BY l.run, t.id;

CREATE VIEW profile_functions -- One row per function that was executing when samples were taken, inlined ones apart; callers: profile_frames
AS SELECT
  g.run AS run, -- id in runs
  coalesce(o.path_text, CAST(o.path AS TEXT)) AS object, -- what its code was mapped from
  CASE o.kind WHEN 0 THEN 'file' WHEN 1 THEN 'kernel' WHEN 2 THEN 'module' WHEN 3 THEN 'vdso' WHEN 4 THEN 'jit' WHEN 5 THEN 'memory' ELSE 'unknown' END AS kind, -- of the object: file, kernel, module, vdso, jit, memory or unknown
  coalesce(f.name_text, CAST(f.name AS TEXT)) AS function, -- NULL: not known
  nullif(f.address, 0) AS address, -- its first; NULL: not known, or inlined
  nullif(f.size, 0) AS size, -- bytes
  coalesce(f.file_text, CAST(f.file AS TEXT)) AS file, -- of its source; NULL: not known
  nullif(f.line, 0) AS line, -- where it is declared
  sum(g.samples) AS samples, -- in its own code: its callers do not count them
  sum(g.samples) * 1.0 / (SELECT nullif(sum(x.samples), 0) FROM profile_slice x WHERE x.run = g.run) AS share -- of the samples of the run
FROM (SELECT l.run AS run, s.location AS location, sum(s.count) AS samples FROM profile_slice l CROSS JOIN profile_sample s ON s.id BETWEEN l.id << 24 AND (l.id << 24) + 16777215
      GROUP BY l.run, s.location) g
JOIN profile_location k ON k.id = g.location
LEFT JOIN profile_frame m ON m.location = k.id AND m.level = 0 LEFT JOIN profile_function f ON f.id = m.function
JOIN profile_object o ON o.id = coalesce(f.object, k.object)
GROUP BY g.run, o.id, f.id;

CREATE VIEW profile_lines -- One row per source line that was executing when samples were taken
AS SELECT
  g.run AS run, -- id in runs
  coalesce(o.path_text, CAST(o.path AS TEXT)) AS object, -- what the code was mapped from
  coalesce(f.name_text, CAST(f.name AS TEXT)) AS function, -- innermost, inlined or not; NULL: not known
  coalesce(coalesce(m.file_text, CAST(m.file AS TEXT)), coalesce(f.file_text, CAST(f.file AS TEXT))) AS file, -- of the line; NULL: not known
  nullif(m.line, 0) AS line, -- NULL: not known
  sum(g.samples) AS samples -- on it
FROM (SELECT l.run AS run, s.location AS location, sum(s.count) AS samples FROM profile_slice l CROSS JOIN profile_sample s ON s.id BETWEEN l.id << 24 AND (l.id << 24) + 16777215
      GROUP BY l.run, s.location) g
JOIN profile_location k ON k.id = g.location
LEFT JOIN profile_frame m ON m.location = k.id AND m.level = 0 LEFT JOIN profile_function f ON f.id = m.function
JOIN profile_object o ON o.id = coalesce(f.object, k.object)
GROUP BY g.run, o.id, f.id, m.file, m.line;

CREATE VIEW profile_instructions -- One row per instruction that samples were taken at
AS SELECT
  g.run AS run, -- id in runs
  coalesce(o.path_text, CAST(o.path AS TEXT)) AS object, -- what the code was mapped from
  CASE o.kind WHEN 0 THEN 'file' WHEN 1 THEN 'kernel' WHEN 2 THEN 'module' WHEN 3 THEN 'vdso' WHEN 4 THEN 'jit' WHEN 5 THEN 'memory' ELSE 'unknown' END AS kind, -- as in profile_functions
  k.offset AS offset, -- in the file, or the address in memory
  k.offset + k.shift AS address, -- what nm and objdump show
  printf('0x%x', k.offset + k.shift) AS address_hex, -- the same
  coalesce(f.name_text, CAST(f.name AS TEXT)) AS function, -- innermost, inlined or not; NULL: not known
  coalesce(coalesce(m.file_text, CAST(m.file AS TEXT)), coalesce(f.file_text, CAST(f.file AS TEXT))) AS file, -- of its source line; NULL: not known
  nullif(m.line, 0) AS line, -- NULL: not known
  sum(g.samples) AS samples -- at it
FROM (SELECT l.run AS run, s.location AS location, sum(s.count) AS samples FROM profile_slice l CROSS JOIN profile_sample s ON s.id BETWEEN l.id << 24 AND (l.id << 24) + 16777215
      GROUP BY l.run, s.location) g
JOIN profile_location k ON k.id = g.location
LEFT JOIN profile_frame m ON m.location = k.id AND m.level = 0 LEFT JOIN profile_function f ON f.id = m.function
JOIN profile_object o ON o.id = coalesce(f.object, k.object)
GROUP BY g.run, k.id;

CREATE VIEW profile_samples -- Everything: one row per slice, thread and stack with samples
AS SELECT
  l.run AS run, -- id in runs
  l.id AS slice, -- id in profile_slices
  strftime('%Y-%m-%dT%H:%M:%fZ', (p.realtime_ns + l.begin_ns) / 1e9, 'unixepoch') AS begin_at, -- UTC; of the slice
  l.begin_ns AS begin_ns, -- CLOCK_MONOTONIC; of the slice
  coalesce(a.name_text, CAST(a.name AS TEXT)) AS app, -- as in profile_apps
  i.number AS instance, -- as in profile_instances
  i.pid AS pid, -- of the process
  t.tid AS tid, -- of the thread
  t.comm AS comm, -- name of the thread
  coalesce(g.cgroup_text, CAST(g.cgroup AS TEXT)) AS cgroup, -- NULL: not known
  coalesce(g.container_text, CAST(g.container AS TEXT)) AS container, -- NULL: none
  iif(c.kernel, 'kernel', 'user') AS space, -- user or kernel: where the instruction is
  coalesce(o.path_text, CAST(o.path AS TEXT)) AS object, -- what the code was mapped from
  coalesce(f.name_text, CAST(f.name AS TEXT)) AS function, -- innermost, inlined or not; NULL: not known
  coalesce(coalesce(m.file_text, CAST(m.file AS TEXT)), coalesce(f.file_text, CAST(f.file AS TEXT))) AS file, -- of its source line; NULL: not known
  nullif(m.line, 0) AS line, -- NULL: not known
  k.offset + k.shift AS address, -- what nm and objdump show
  s.chain AS chain, -- as in profile_frames: the callers
  s.location AS leaf, -- as in profile_frames: the instruction
  s.count AS count -- samples
FROM profile_slice l CROSS JOIN profile_sample s ON s.id BETWEEN l.id << 24 AND (l.id << 24) + 16777215
JOIN profile p ON p.run = l.run
JOIN profile_thread t ON t.id = s.thread JOIN profile_instance i ON i.id = t.instance
JOIN profile_app a ON a.id = i.app LEFT JOIN profile_cgroup g ON g.id = i.cgroup
JOIN profile_chain c ON c.id = s.chain
LEFT JOIN profile_location k ON k.id = s.location
LEFT JOIN profile_frame m ON m.location = k.id AND m.level = 0 LEFT JOIN profile_function f ON f.id = m.function
LEFT JOIN profile_object o ON o.id = coalesce(f.object, k.object);

CREATE VIEW profile_frames -- Stacks by depth: one row per stack (chain and leaf), place in it and function there, inlined ones too
AS SELECT
  g.run AS run, -- id in runs
  g.chain AS chain, -- with leaf: which stack
  g.leaf AS leaf, -- as in profile_samples
  j.key AS depth, -- 0 is the instruction, 1 its caller, ...
  coalesce(m.level, 0) AS level, -- of functions inlined into each other there; 0 is the innermost
  iif(j.key < c.kernel, 'kernel', 'user') AS space, -- user or kernel
  coalesce(o.path_text, CAST(o.path AS TEXT)) AS object, -- what the code was mapped from
  coalesce(f.name_text, CAST(f.name AS TEXT)) AS function, -- NULL: not known
  coalesce(coalesce(m.file_text, CAST(m.file AS TEXT)), coalesce(f.file_text, CAST(f.file AS TEXT))) AS file, -- of its source line; NULL: not known
  nullif(m.line, 0) AS line, -- NULL: not known
  k.offset + k.shift AS address, -- of a caller: inside of the call
  CASE c.stop WHEN 0 THEN 'leaf' WHEN 1 THEN 'complete' WHEN 2 THEN 'limit' ELSE 'broken' END AS end, -- why the stack ends: leaf (not followed), complete, limit or broken
  g.samples AS samples -- of the whole stack
FROM (SELECT l.run AS run, s.chain AS chain, s.location AS leaf, sum(s.count) AS samples
      FROM profile_slice l CROSS JOIN profile_sample s ON s.id BETWEEN l.id << 24 AND (l.id << 24) + 16777215
      WHERE s.location IS NOT NULL GROUP BY l.run, s.chain, s.location) g
JOIN profile_chain c ON c.id = g.chain
CROSS JOIN json_each('[' || g.leaf || c.links || ']') j
JOIN profile_location k ON k.id = j.value
LEFT JOIN profile_frame m ON m.location = k.id LEFT JOIN profile_function f ON f.id = m.function
JOIN profile_object o ON o.id = coalesce(f.object, k.object);
