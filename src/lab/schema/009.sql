-- Schema version 9: stacks that end for want of room, or lack their middle (enum stack_end); a query that is given
-- up for its own error.

DROP VIEW profile_frames;
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
  CASE c.stop WHEN 0 THEN 'leaf' WHEN 1 THEN 'complete' WHEN 2 THEN 'limit' WHEN 3 THEN 'broken' WHEN 4 THEN 'no_room' ELSE 'elided' END AS end, -- why the stack ends: leaf (not followed), complete, elided (complete without its middle), limit (too deep), no_room (a full buffer) or broken (unreadable)
  g.samples AS samples -- of the whole stack
FROM (SELECT l.run AS run, s.chain AS chain, s.location AS leaf, sum(s.count) AS samples
      FROM profile_slice l CROSS JOIN profile_sample s ON s.id BETWEEN l.id << 24 AND (l.id << 24) + 16777215
      WHERE s.location IS NOT NULL GROUP BY l.run, s.chain, s.location) g
JOIN profile_chain c ON c.id = g.chain
CROSS JOIN json_each('[' || g.leaf || c.links || ']') j
JOIN profile_location k ON k.id = j.value
LEFT JOIN profile_frame m ON m.location = k.id LEFT JOIN profile_function f ON f.id = m.function
JOIN profile_object o ON o.id = coalesce(f.object, k.object);

DROP VIEW query_events;
CREATE VIEW query_events -- One row per thing that happened to a run of 'tare query'
AS SELECT
  e.run AS run, -- id in runs
  strftime('%Y-%m-%dT%H:%M:%fZ', e.at_ns / 1e9, 'unixepoch') AS happened_at, -- UTC
  CASE e.kind WHEN 0 THEN 'restarted' WHEN 1 THEN 'backed off' WHEN 2 THEN 'paused' WHEN 3 THEN 'resumed' WHEN 4 THEN 'same plan' WHEN 5 THEN 'made table' ELSE 'gave up' END AS kind, -- restarted (the plan changed), backed off (an error), paused, resumed, same plan (not executed, since the next higher cardinality has its plan), made table (its own from then on) or gave up (an error of the query itself, or the plan changed again and again)
  nullif(e.query, 0) AS query, -- number of the query; NULL: of none
  iif(e.query, e.cardinality, NULL) AS cardinality, -- as in query_ats
  iif(e.plan IS NULL, NULL, printf('%016x', e.plan)) AS plan, -- hash of the plan then; NULL: means nothing here
  iif(e.before IS NULL, NULL, printf('%016x', e.before)) AS plan_before, -- and of the one before
  e.text AS text, -- what was the matter
  e.at_ns AS at_ns -- since 1970
FROM query_event e;
