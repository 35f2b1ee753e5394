-- Schema version 6: studies of a program whose own process time varies (struct study_run, steadied).

ALTER TABLE daemon_study_run ADD COLUMN steadied INTEGER NOT NULL DEFAULT 0 CHECK (steadied IN (0, 1));
ALTER TABLE daemon_study_run ADD COLUMN steady_sigma_ns REAL; -- means nothing where it is not steadied; NULL is NaN
ALTER TABLE daemon_study_run ADD COLUMN steady_sigma_kept_ns REAL;

DROP VIEW studies;
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
  a.steadied AS short_steadied, -- 1: samples were compared by an elapsed time without the variation of the program's own process time
  iif(a.steadied, a.steady_sigma_ns, NULL) AS short_steady_sigma_ns, -- standard deviation of that, of all
  iif(a.steadied, a.steady_sigma_kept_ns, NULL) AS short_steady_sigma_kept_ns, -- without the dropped
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
  b.steadied AS long_steadied, -- as short_steadied
  iif(b.steadied, b.steady_sigma_ns, NULL) AS long_steady_sigma_ns, -- as short_steady_sigma_ns
  iif(b.steadied, b.steady_sigma_kept_ns, NULL) AS long_steady_sigma_kept_ns, -- as short_steady_sigma_kept_ns
  (SELECT count(DISTINCT d.daemon) FROM daemon_study_seen d WHERE d.study = s.id AND d.long_executions > 0) AS daemons, -- infrequent long-running ones found
  (SELECT count(*) FROM daemon_study_cutoff c WHERE c.study = s.id) AS cutoffs, -- that follow from it
  s.made_at_ns AS made_at_ns -- since 1970
FROM daemon_study s
LEFT JOIN daemon_study_run a ON a.study = s.id AND a.length = 0
LEFT JOIN daemon_study_run b ON b.study = s.id AND b.length = 1;
