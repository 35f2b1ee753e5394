-- Schema version 8: duets (record/duet.h) beside the other runs.
--
-- Columns are called as in CSV (duet_part_fields in record/duet.c). What a user wrote is bytes, with a *_text
-- beside where they are not UTF-8.

DROP VIEW runs;
-- A wider CHECK, as in versions 4 and 7.
ALTER TABLE run ADD COLUMN subject INTEGER NOT NULL DEFAULT 0 CHECK (subject BETWEEN 0 AND 4); -- enum subject_kind
UPDATE run SET subject = kind;
ALTER TABLE run DROP COLUMN kind;
ALTER TABLE run RENAME COLUMN subject TO kind;

CREATE TABLE duet (
  run         INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  way         INTEGER NOT NULL,         -- enum duet_way
  why         TEXT,
  lacks       TEXT,
  cpus        TEXT,
  period_ns   INTEGER NOT NULL,
  slice_ns    INTEGER NOT NULL,
  turn_ns     INTEGER NOT NULL,
  max_time_ns INTEGER NOT NULL,
  precision   REAL,
  precise     INTEGER NOT NULL,
  slower      REAL,                     -- NULL: not asked for
  seed        INTEGER NOT NULL,
  revisions   TEXT
) STRICT;

CREATE TABLE duet_side (
  run          INTEGER NOT NULL REFERENCES duet (run) ON DELETE CASCADE,
  side         INTEGER NOT NULL,        -- 0 is the reference
  name         BLOB,
  name_text    TEXT,
  command      BLOB,
  command_text TEXT,
  PRIMARY KEY (run, side)
) STRICT, WITHOUT ROWID;

CREATE TABLE duet_part (
  id            INTEGER PRIMARY KEY,    -- in the order in which they ended
  run           INTEGER NOT NULL REFERENCES duet (run) ON DELETE CASCADE,
  pair          INTEGER NOT NULL,       -- 0: alone
  side          INTEGER NOT NULL,
  repeat        INTEGER NOT NULL,
  place         INTEGER NOT NULL,
  warmup        INTEGER NOT NULL,
  outcome       INTEGER NOT NULL,       -- enum outcome
  status        INTEGER NOT NULL,
  started_at_ns INTEGER NOT NULL,
  et_ns         INTEGER,
  turn_ns       INTEGER,
  pt_net_ns     INTEGER,
  pt_exec_ns    INTEGER,
  pt_tick_ns    INTEGER,
  overlap       REAL,
  switches      INTEGER,
  padding       INTEGER NOT NULL
) STRICT;
CREATE INDEX duet_part_by_run ON duet_part (run);

CREATE TABLE duet_look (
  id    INTEGER PRIMARY KEY,            -- in the order of time
  run   INTEGER NOT NULL REFERENCES duet (run) ON DELETE CASCADE,
  pairs INTEGER NOT NULL,
  spent REAL NOT NULL
) STRICT;
CREATE INDEX duet_look_by_run ON duet_look (run);

CREATE VIEW runs -- One row per run
AS SELECT
  r.id AS id, -- number of the run, as commands take it
  coalesce(r.name_text, CAST(r.name AS TEXT)) AS name, -- what the user called it, or the command
  CASE r.status WHEN 0 THEN 'going' WHEN 1 THEN 'complete' WHEN 2 THEN 'interrupted' ELSE 'failed' END AS status, -- going, complete, interrupted or failed; a run whose tare was killed says going until the next tare writes to the lab
  strftime('%Y-%m-%dT%H:%M:%fZ', r.started_at_ns / 1e9, 'unixepoch') AS started_at, -- UTC
  strftime('%Y-%m-%dT%H:%M:%fZ', r.ended_at_ns / 1e9, 'unixepoch') AS ended_at, -- UTC; NULL while going or when its tare was killed
  CASE r.kind WHEN 3 THEN (SELECT count(*) FROM query_at a JOIN query_execution x ON x.at = a.id WHERE a.run = r.id) WHEN 4 THEN (SELECT count(*) FROM duet_part p WHERE p.run = r.id AND p.pair AND NOT p.warmup) ELSE (SELECT count(*) FROM execution e WHERE e.run = r.id AND NOT e.warmup) END AS executions, -- stored, without warm-ups; of a duet those of pairs
  iif(r.kind = 4, (SELECT count(*) FROM duet_part p WHERE p.run = r.id AND p.warmup), (SELECT count(*) FROM execution e WHERE e.run = r.id AND e.warmup)) AS warmups, -- stored warm-ups
  nullif(r.planned, 0) AS planned, -- executions asked for; NULL when open-ended
  (SELECT avg(e.et_ns) FROM execution e WHERE e.run = r.id AND NOT e.warmup AND r.kind < 3) AS mean_et_ns, -- mean elapsed time of all executions but warm-ups, the shell's cost included; NULL for queries and duets
  (SELECT avg(e.pt_exec_ns) FROM execution e WHERE e.run = r.id AND NOT e.warmup AND r.kind < 3) AS mean_pt_exec_ns, -- mean process time at grade exec, likewise
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
  CASE r.kind WHEN 0 THEN 'command' WHEN 1 THEN 'cpu' WHEN 2 THEN 'system' WHEN 3 THEN 'query' ELSE 'duet' END AS kind -- command; cpu for a run of 'tare noise', system for one of 'tare profile': these have no executions; query for one of 'tare query', duet for one of 'tare duet'
FROM run r;

CREATE VIEW duets -- One row per run of 'tare duet'
AS SELECT
  d.run AS run, -- id in runs
  CASE d.way WHEN 0 THEN 'scheduler' WHEN 1 THEN 'freezer' ELSE 'whole' END AS way, -- how the sides shared the CPUs: scheduler (at once on one CPU), freezer (at once on several, one frozen while the other ran) or whole (whole executions in turns)
  d.why AS why, -- why this way
  d.lacks AS lacks, -- what could not be done, and its effect; NULL: nothing
  d.cpus AS cpus, -- that they shared
  nullif(d.period_ns, 0) AS period_ns, -- between the wake-ups that make the scheduler alternate; NULL: none
  nullif(d.slice_ns, 0) AS slice_ns, -- asked of the scheduler; NULL: its own
  nullif(d.turn_ns, 0) AS turn_ns, -- a turn by the freezer; NULL: none
  d.max_time_ns AS max_time_ns, -- to go on for at most
  d.precision AS precision, -- to stop once the interval is within plus and minus this share
  d.precise AS precise, -- 1: not to stop before that, even if the sign is sure
  d.slower AS slower, -- the share that --fail-if-slower allows; NULL: not asked for
  d.seed AS seed, -- of order and padding
  d.revisions AS revisions, -- the git revisions that were built and compared; NULL: none
  (SELECT count(*) FROM duet_side s WHERE s.run = d.run) AS sides, -- the reference included
  (SELECT count(DISTINCT p.pair) FROM duet_part p WHERE p.run = d.run AND p.pair AND NOT p.warmup) AS pairs -- stored, failed ones included, without warm-ups
FROM duet d;

CREATE VIEW duet_sides -- One row per side of a duet
AS SELECT
  s.run AS run, -- id in runs
  s.side AS side, -- 0 is the reference that the others are compared with
  coalesce(s.name_text, CAST(s.name AS TEXT)) AS name, -- the user's name for it, or the command
  coalesce(s.command_text, CAST(s.command AS TEXT)) AS command, -- as given
  (SELECT avg(p.pt_exec_ns) FROM duet_part p WHERE p.run = s.run AND p.side = s.side AND p.pair AND NOT p.warmup) AS mean_pt_exec_ns, -- mean process time at grade exec of all its executions in pairs but warm-ups, the shell's cost included
  (SELECT avg(p.et_ns) FROM duet_part p WHERE p.run = s.run AND p.side = s.side AND p.pair AND NOT p.warmup) AS mean_et_ns -- mean elapsed time, likewise, the turns of the other side included
FROM duet_side s;

CREATE VIEW duet_parts -- One row per execution of a side of a duet, in the order in which they ended
AS SELECT
  p.id AS id, -- ascends in that order
  p.run AS run, -- id in runs
  p.pair AS pair, -- from 1; 0: it ran alone, to see what sharing costs
  p.side AS side, -- as in duet_sides
  p.repeat AS repeat, -- 0: the one that the pair began with; if a side ended first it was started again: 1, 2, ...
  p.place AS place, -- the order in which the sides of the pair were started: 0, 1
  p.warmup AS warmup, -- 1: of the first pair of its sides, which is not counted
  CASE p.outcome WHEN 0 THEN 'exited' WHEN 1 THEN 'signalled' ELSE 'timed out' END AS outcome, -- exited, signalled or timed out
  p.status AS status, -- exit code or signal
  strftime('%Y-%m-%dT%H:%M:%fZ', p.started_at_ns / 1e9, 'unixepoch') AS started_at, -- UTC
  p.started_at_ns AS started_at_ns, -- since 1970
  p.et_ns AS et_ns, -- from exec to the end of its first process, the turns of the other side included
  p.turn_ns AS turn_ns, -- of that, while it was not frozen; NULL: it never was
  p.pt_net_ns AS pt_net_ns, -- process time at grade net: without the interrupts within; NULL: not known
  p.pt_exec_ns AS pt_exec_ns, -- process time at grade exec: by the scheduler; NULL: not known
  p.pt_tick_ns AS pt_tick_ns, -- process time at grade tick: counted in ticks; NULL: not known
  p.overlap AS overlap, -- the share of it, by CPU time, that ran while the other side did; NULL: not known
  p.switches AS switches, -- how often it was taken off a CPU; NULL: not known
  p.padding AS padding -- bytes of environment that moved its stack
FROM duet_part p;

CREATE VIEW duet_looks -- One row per moment at which a duet judged its pairs and could have stopped
AS SELECT
  l.run AS run, -- id in runs
  l.pairs AS pairs, -- so far
  l.spent AS spent -- the share of the error rate that was used up by then
FROM duet_look l;
