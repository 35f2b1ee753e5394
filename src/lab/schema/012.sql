-- Schema version 12: profiles by an event. Its name and period are columns that grow (grow.c).

DROP VIEW profiles;

CREATE VIEW profiles -- One row per run of 'tare profile'; sums over its slices
AS SELECT
  p.run AS run, -- id in runs
  coalesce(r.name_text, CAST(r.name AS TEXT)) AS name, -- what the user called it
  strftime('%Y-%m-%dT%H:%M:%fZ', r.started_at_ns / 1e9, 'unixepoch') AS started_at, -- UTC
  CASE p.mode WHEN 0 THEN 'tick' WHEN 1 THEN 'cpu-clock' WHEN 2 THEN 'cycles' ELSE 'event' END AS mode, -- what made a CPU look: tick, cpu-clock, cycles or an event
  CASE p.stacks WHEN 0 THEN 'none' WHEN 1 THEN 'fp' ELSE 'eh_frame' END AS stacks, -- how user stacks were followed: none, fp or eh_frame
  p.hz AS hz, -- samples per second and busy CPU; NULL: by an event
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
