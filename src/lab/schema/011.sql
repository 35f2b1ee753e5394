-- Schema version 11: hardware and software counters of executions.

CREATE TABLE counter (
  execution  INTEGER NOT NULL REFERENCES execution (id) ON DELETE CASCADE,
  position   INTEGER NOT NULL,          -- in the order in which they were asked for
  name       TEXT NOT NULL,
  value      INTEGER,                   -- NULL: it never had a counter
  user       INTEGER,
  kernel     INTEGER,
  enabled_ns INTEGER NOT NULL,
  running_ns INTEGER NOT NULL,
  PRIMARY KEY (execution, position)
) STRICT, WITHOUT ROWID;

CREATE VIEW counters -- One row per execution and counter
AS SELECT
  e.run AS run, -- id in runs
  c.execution AS execution, -- id in executions
  c.name AS name, -- as perf calls it: cycles, branch-misses, instructions:u
  c.value AS value, -- of the subject's tree, scaled up if it was not counted all the time; NULL: it never was
  c.user AS user, -- the part of it in user mode; NULL: not counted apart
  c.kernel AS kernel, -- the part of it in kernel mode; NULL: not counted apart, or not allowed
  c.enabled_ns AS enabled_ns, -- CPU time of the tree
  c.running_ns AS running_ns -- the part of that time in which it was counted: less if the CPU has fewer counters than were asked for
FROM counter c JOIN execution e ON e.id = c.execution;
