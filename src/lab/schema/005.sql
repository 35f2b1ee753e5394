-- Schema version 5: studies of daemons (record/study.h), the cutoffs in force, and watches
-- (record/bursts.h).
--
-- A study has its own tables, which never change after it was stored; "study" of version 1 is a group of
-- runs and something else. Lists of samples are JSON arrays of their numbers. The cutoffs in force are
-- apart: they may be edited, and belong to a machine, whatever its kernel and settings (its identity).
-- What a watch saw is kept in chunks (src/lab/chunk.h); the oldest go when there is no more room.

CREATE TABLE daemon_study (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  source     INTEGER NOT NULL CHECK (source BETWEEN 0 AND 2), -- enum study_source
  made_at_ns INTEGER NOT NULL,
  machine    INTEGER NOT NULL REFERENCES machine (id),
  identity   TEXT NOT NULL              -- of that machine
) STRICT;
CREATE INDEX daemon_study_by_identity ON daemon_study (identity);

CREATE TABLE daemon_study_run (
  study           INTEGER NOT NULL REFERENCES daemon_study (id) ON DELETE CASCADE,
  length          INTEGER NOT NULL CHECK (length BETWEEN 0 AND 1), -- enum study_length
  run             INTEGER REFERENCES run (id) ON DELETE SET NULL,
  length_ns       INTEGER NOT NULL,
  samples         INTEGER NOT NULL,
  cluster         INTEGER NOT NULL,
  cluster_low_ns  INTEGER NOT NULL,
  cluster_high_ns INTEGER NOT NULL,
  sigma_ns        REAL,                 -- NULL is NaN, here and below
  sigma_kept_ns   REAL,
  mean_ns         REAL,
  mean_kept_ns    REAL,
  l_samples       TEXT NOT NULL,
  dropped         TEXT NOT NULL,
  PRIMARY KEY (study, length)
) STRICT;
CREATE INDEX daemon_study_run_by_run ON daemon_study_run (run);

CREATE TABLE daemon_study_level (
  study         INTEGER NOT NULL REFERENCES daemon_study (id) ON DELETE CASCADE,
  length        INTEGER NOT NULL,
  position      INTEGER NOT NULL,       -- the outermost first
  low_ns        INTEGER NOT NULL,
  high_ns       INTEGER NOT NULL,
  cut_ns        INTEGER NOT NULL,
  neither       INTEGER NOT NULL,
  first         INTEGER NOT NULL,
  second        INTEGER NOT NULL,
  both          INTEGER NOT NULL,
  both_expected REAL,
  shape         INTEGER NOT NULL CHECK (shape BETWEEN 0 AND 2), -- enum study_shape
  PRIMARY KEY (study, length, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE daemon_study_daemon (
  study            INTEGER NOT NULL REFERENCES daemon_study (id) ON DELETE CASCADE,
  position         INTEGER NOT NULL,
  name             TEXT NOT NULL,
  period_found     INTEGER NOT NULL,
  period_uncertain INTEGER NOT NULL,
  period_samples   REAL,
  period_ns        INTEGER NOT NULL,
  period_error_ns  INTEGER NOT NULL,
  PRIMARY KEY (study, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE daemon_study_seen (
  study              INTEGER NOT NULL REFERENCES daemon_study (id) ON DELETE CASCADE,
  daemon             INTEGER NOT NULL,  -- its position
  length             INTEGER NOT NULL,
  cluster_executions INTEGER NOT NULL,
  cluster_max_ns     INTEGER NOT NULL,
  cluster_sigma_ns   REAL,
  long_executions    INTEGER NOT NULL,
  long_least_ns      INTEGER NOT NULL,
  long_most_ns       INTEGER NOT NULL,
  period_found       INTEGER NOT NULL,
  period_uncertain   INTEGER NOT NULL,
  period_samples     REAL,
  period_ns          INTEGER NOT NULL,
  period_error_ns    INTEGER NOT NULL,
  has_cutoff         INTEGER NOT NULL,
  cutoff_ns          INTEGER NOT NULL,
  samples            TEXT NOT NULL,
  PRIMARY KEY (study, daemon, length)
) STRICT;

CREATE TABLE cutoff (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  identity     TEXT NOT NULL,           -- of a machine
  study        INTEGER REFERENCES daemon_study (id) ON DELETE CASCADE, -- NULL: by hand
  daemon       TEXT NOT NULL,
  from_ns      INTEGER NOT NULL CHECK (from_ns >= 0),
  below_ns     INTEGER CHECK (below_ns > from_ns), -- NULL: without end
  cutoff_ns    INTEGER NOT NULL CHECK (cutoff_ns >= 0),
  edited       INTEGER NOT NULL,
  edited_at_ns INTEGER                  -- NULL: it was not
) STRICT;
CREATE INDEX cutoff_by_identity ON cutoff (identity, daemon, from_ns);
CREATE INDEX cutoff_by_study ON cutoff (study);

CREATE TABLE daemon_study_cutoff (
  study     INTEGER NOT NULL REFERENCES daemon_study (id) ON DELETE CASCADE,
  position  INTEGER NOT NULL,
  cutoff    INTEGER REFERENCES cutoff (id) ON DELETE SET NULL, -- what it became; NULL: no longer in force
  daemon    TEXT NOT NULL,
  from_ns   INTEGER NOT NULL,
  below_ns  INTEGER,                    -- NULL: without end
  cutoff_ns INTEGER NOT NULL,
  edited    INTEGER NOT NULL,
  PRIMARY KEY (study, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX daemon_study_cutoff_by_cutoff ON daemon_study_cutoff (cutoff);

CREATE TABLE watch (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  machine     INTEGER NOT NULL REFERENCES machine (id),
  identity    TEXT NOT NULL,            -- of that machine
  status      INTEGER NOT NULL CHECK (status BETWEEN 0 AND 2), -- enum run_status
  begun_at_ns INTEGER NOT NULL,
  ended_at_ns INTEGER,
  -- as of a run; times of CLOCK_MONOTONIC compare within one owner_boot
  owner_pid   INTEGER NOT NULL,
  owner_start INTEGER NOT NULL,
  owner_boot  TEXT NOT NULL,
  owner_space TEXT NOT NULL
) STRICT;
CREATE INDEX watch_by_identity ON watch (identity);

CREATE TABLE watch_chunk (
  id          INTEGER PRIMARY KEY,      -- in the order of time
  watch       INTEGER NOT NULL REFERENCES watch (id) ON DELETE CASCADE,
  begin_ns    INTEGER NOT NULL,         -- CLOCK_MONOTONIC
  end_ns      INTEGER NOT NULL,
  realtime_ns INTEGER NOT NULL,         -- CLOCK_REALTIME at begin_ns
  cpus        INTEGER NOT NULL,
  lost        INTEGER NOT NULL,
  processes   INTEGER NOT NULL,
  bursts      INTEGER NOT NULL,
  bytes       INTEGER NOT NULL,         -- of the row, about
  data        BLOB NOT NULL
) STRICT;
CREATE INDEX watch_chunk_by_watch ON watch_chunk (watch, bytes);

CREATE VIEW studies -- One row per study of daemons ('tare calibrate')
AS SELECT
  s.id AS id, -- number of the study
  CASE s.source WHEN 0 THEN 'active' WHEN 1 THEN 'watch' ELSE 'runs' END AS source, -- active (executions made for it), watch (windows cut from a watch) or runs (that were stored already)
  strftime('%Y-%m-%dT%H:%M:%fZ', s.made_at_ns / 1e9, 'unixepoch') AS made_at, -- UTC
  s.machine AS machine, -- id in machines
  s.identity AS identity, -- which machine that is, whatever its kernel and settings
  NOT EXISTS (SELECT 1 FROM daemon_study n WHERE n.identity = s.identity AND n.id > s.id) AS in_force, -- 1: the newest of its machine
  a.run AS short_run, -- id in runs; NULL: none, or removed since
  a.length_ns AS short_ns, -- length of the samples of the short run; NULL, like the rest of it: there is none
  a.samples AS short_samples, -- how many there are
  a.cluster AS short_cluster, -- of those, in the central cluster
  length(a.l_samples) - length(replace(a.l_samples, ',', '')) + (a.l_samples <> '[]') AS short_l_samples, -- samples that long-running daemons disturbed
  length(a.dropped) - length(replace(a.dropped, ',', '')) + (a.dropped <> '[]') AS short_dropped, -- samples that the cutoffs drop
  a.sigma_ns AS short_sigma_ns, -- standard deviation of the elapsed time of all
  a.sigma_kept_ns AS short_sigma_kept_ns, -- without the dropped
  a.mean_ns AS short_mean_ns, -- mean elapsed time of all
  a.mean_kept_ns AS short_mean_kept_ns, -- without the dropped
  b.run AS long_run, -- the same of the long run
  b.length_ns AS long_ns, -- as short_ns
  b.samples AS long_samples, -- as short_samples
  b.cluster AS long_cluster, -- as short_cluster
  length(b.l_samples) - length(replace(b.l_samples, ',', '')) + (b.l_samples <> '[]') AS long_l_samples, -- as short_l_samples
  length(b.dropped) - length(replace(b.dropped, ',', '')) + (b.dropped <> '[]') AS long_dropped, -- as short_dropped
  b.sigma_ns AS long_sigma_ns, -- as short_sigma_ns
  b.sigma_kept_ns AS long_sigma_kept_ns, -- as short_sigma_kept_ns
  b.mean_ns AS long_mean_ns, -- as short_mean_ns
  b.mean_kept_ns AS long_mean_kept_ns, -- as short_mean_kept_ns
  (SELECT count(DISTINCT d.daemon) FROM daemon_study_seen d WHERE d.study = s.id AND d.long_executions > 0) AS daemons, -- infrequent long-running ones found
  (SELECT count(*) FROM daemon_study_cutoff c WHERE c.study = s.id) AS cutoffs, -- that follow from it
  s.made_at_ns AS made_at_ns -- since 1970
FROM daemon_study s
LEFT JOIN daemon_study_run a ON a.study = s.id AND a.length = 0
LEFT JOIN daemon_study_run b ON b.study = s.id AND b.length = 1;

CREATE VIEW study_daemons -- One row per daemon of a study
AS SELECT
  d.study AS study, -- id in studies
  d.name AS daemon, -- its name
  a.long_executions > 0 OR b.long_executions > 0 AS long_running, -- 1: it has infrequent long executions
  iif(d.period_found, d.period_ns, NULL) AS period_ns, -- from one long execution to the next; NULL: none found
  iif(d.period_found, d.period_error_ns, NULL) AS period_error_ns, -- its standard error
  iif(d.period_found, d.period_uncertain, NULL) AS period_uncertain, -- 1: it rests on two occurrences
  a.cluster_executions AS short_cluster_executions, -- executions in samples of the central cluster of the short run
  iif(a.cluster_executions, a.cluster_max_ns, NULL) AS short_cluster_max_ns, -- the longest of those
  iif(a.cluster_executions, a.cluster_sigma_ns, NULL) AS short_cluster_sigma_ns, -- their standard deviation
  a.long_executions AS short_long_executions, -- long ones, in disturbed samples of the short run
  iif(a.long_executions, a.long_least_ns, NULL) AS short_long_least_ns, -- the shortest of those
  iif(a.long_executions, a.long_most_ns, NULL) AS short_long_most_ns, -- the longest
  iif(a.period_found, a.period_ns, NULL) AS short_period_ns, -- by the short run alone
  iif(a.has_cutoff, a.cutoff_ns, NULL) AS short_cutoff_ns, -- by the short run alone; NULL: none
  a.samples AS short_samples, -- numbers of the samples that hold its long executions: a JSON array, for json_each()
  b.cluster_executions AS long_cluster_executions, -- the same of the long run
  iif(b.cluster_executions, b.cluster_max_ns, NULL) AS long_cluster_max_ns, -- as short_cluster_max_ns
  iif(b.cluster_executions, b.cluster_sigma_ns, NULL) AS long_cluster_sigma_ns, -- as short_cluster_sigma_ns
  b.long_executions AS long_long_executions, -- as short_long_executions
  iif(b.long_executions, b.long_least_ns, NULL) AS long_long_least_ns, -- as short_long_least_ns
  iif(b.long_executions, b.long_most_ns, NULL) AS long_long_most_ns, -- as short_long_most_ns
  iif(b.period_found, b.period_ns, NULL) AS long_period_ns, -- as short_period_ns
  iif(b.has_cutoff, b.cutoff_ns, NULL) AS long_cutoff_ns, -- as short_cutoff_ns
  b.samples AS long_samples -- as short_samples
FROM daemon_study_daemon d
LEFT JOIN daemon_study_seen a ON a.study = d.study AND a.daemon = d.position AND a.length = 0
LEFT JOIN daemon_study_seen b ON b.study = d.study AND b.daemon = d.position AND b.length = 1;

CREATE VIEW cutoffs -- One row per cutoff in force: executions of the daemon above it spoil a sample
AS SELECT
  c.id AS id, -- number of the cutoff, as commands take it
  c.identity AS identity, -- which machine it holds for, as in studies
  c.daemon AS daemon, -- name of the daemon
  c.from_ns AS from_ns, -- programs that take this long at least
  c.below_ns AS below_ns, -- and less than this; NULL: without end
  c.cutoff_ns AS cutoff_ns, -- an execution of the daemon that takes longer spoils the sample
  c.edited AS edited, -- 1: by hand, or imported
  strftime('%Y-%m-%dT%H:%M:%fZ', c.edited_at_ns / 1e9, 'unixepoch') AS edited_at, -- UTC; NULL: it was not
  c.study AS study -- id in studies; NULL: it comes from none
FROM cutoff c;

CREATE VIEW watches -- One row per watch: the bursts of every process on the CPUs, of which 'tare calibrate' cuts samples
AS SELECT
  w.id AS id, -- number of the watch
  CASE w.status WHEN 0 THEN 'going' WHEN 1 THEN 'complete' ELSE 'interrupted' END AS status, -- going, complete or interrupted; one whose tare was killed says going until the next tare writes to the lab
  w.machine AS machine, -- id in machines
  w.identity AS identity, -- which machine that is, as in studies
  strftime('%Y-%m-%dT%H:%M:%fZ', w.begun_at_ns / 1e9, 'unixepoch') AS begun_at, -- UTC
  strftime('%Y-%m-%dT%H:%M:%fZ', w.ended_at_ns / 1e9, 'unixepoch') AS ended_at, -- UTC; NULL while going or when its tare was killed
  strftime('%Y-%m-%dT%H:%M:%fZ', (SELECT min(c.realtime_ns) FROM watch_chunk c WHERE c.watch = w.id) / 1e9, 'unixepoch') AS kept_from, -- UTC; the oldest may have gone to make room; NULL: nothing is kept
  (SELECT coalesce(sum(c.end_ns - c.begin_ns), 0) FROM watch_chunk c WHERE c.watch = w.id) AS covered_ns, -- time that what is kept covers
  (SELECT count(*) FROM watch_chunk c WHERE c.watch = w.id) AS chunks, -- kept
  (SELECT coalesce(sum(c.bursts), 0) FROM watch_chunk c WHERE c.watch = w.id) AS bursts, -- in them
  (SELECT coalesce(sum(c.lost), 0) FROM watch_chunk c WHERE c.watch = w.id) AS lost, -- bursts that found no room in the kernel
  (SELECT coalesce(sum(c.bytes), 0) FROM watch_chunk c WHERE c.watch = w.id) AS bytes -- that it takes, about
FROM watch w;
