-- Schema version 2: the ledger and the trace of an execution (record/ledger.h, record/trace.h).
--
-- A row per thing, no blobs, so that all of it can be queried. The ids of threads and items hold
-- execution, kind and position: rows are appended in order and need no index, which halves what an
-- insert costs. They go with their execution by a trigger. Names are the bytes as they came. A cause
-- added later is a new column behind the others.

CREATE TABLE ledger_cause (
  id   INTEGER PRIMARY KEY,             -- enum ledger_cause
  name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO ledger_cause (id, name) VALUES
  (0, 'run'), (1, 'irq'), (2, 'softirq'), (3, 'nmi'), (4, 'steal'), (5, 'queued'), (6, 'waking'),
  (7, 'throttled'), (8, 'io'), (9, 'io_other'), (10, 'io_idle'), (11, 'fault'), (12, 'futex'),
  (13, 'pipe'), (14, 'socket'), (15, 'timer'), (16, 'poll'), (17, 'child'), (18, 'lock'),
  (19, 'sleep'), (20, 'stopped'), (21, 'unseen');

-- NAME_ns and NAME_count: the subject's account, summed over its threads; NAME_wall_ns: the ET.
CREATE TABLE ledger_subject (
  execution INTEGER PRIMARY KEY REFERENCES execution (id) ON DELETE CASCADE,
  begin_ns  INTEGER NOT NULL,           -- CLOCK_MONOTONIC: the root's exec
  end_ns    INTEGER NOT NULL,           -- and end
  run_ns INTEGER NOT NULL, irq_ns INTEGER NOT NULL, softirq_ns INTEGER NOT NULL,
  nmi_ns INTEGER NOT NULL, steal_ns INTEGER NOT NULL, queued_ns INTEGER NOT NULL,
  waking_ns INTEGER NOT NULL, throttled_ns INTEGER NOT NULL, io_ns INTEGER NOT NULL,
  io_other_ns INTEGER NOT NULL, io_idle_ns INTEGER NOT NULL, fault_ns INTEGER NOT NULL,
  futex_ns INTEGER NOT NULL, pipe_ns INTEGER NOT NULL, socket_ns INTEGER NOT NULL,
  timer_ns INTEGER NOT NULL, poll_ns INTEGER NOT NULL, child_ns INTEGER NOT NULL,
  lock_ns INTEGER NOT NULL, sleep_ns INTEGER NOT NULL, stopped_ns INTEGER NOT NULL,
  unseen_ns INTEGER NOT NULL,
  run_count INTEGER NOT NULL, irq_count INTEGER NOT NULL, softirq_count INTEGER NOT NULL,
  nmi_count INTEGER NOT NULL, steal_count INTEGER NOT NULL, queued_count INTEGER NOT NULL,
  waking_count INTEGER NOT NULL, throttled_count INTEGER NOT NULL, io_count INTEGER NOT NULL,
  io_other_count INTEGER NOT NULL, io_idle_count INTEGER NOT NULL, fault_count INTEGER NOT NULL,
  futex_count INTEGER NOT NULL, pipe_count INTEGER NOT NULL, socket_count INTEGER NOT NULL,
  timer_count INTEGER NOT NULL, poll_count INTEGER NOT NULL, child_count INTEGER NOT NULL,
  lock_count INTEGER NOT NULL, sleep_count INTEGER NOT NULL, stopped_count INTEGER NOT NULL,
  unseen_count INTEGER NOT NULL,
  run_wall_ns INTEGER NOT NULL, irq_wall_ns INTEGER NOT NULL, softirq_wall_ns INTEGER NOT NULL,
  nmi_wall_ns INTEGER NOT NULL, steal_wall_ns INTEGER NOT NULL, queued_wall_ns INTEGER NOT NULL,
  waking_wall_ns INTEGER NOT NULL, throttled_wall_ns INTEGER NOT NULL, io_wall_ns INTEGER NOT NULL,
  io_other_wall_ns INTEGER NOT NULL, io_idle_wall_ns INTEGER NOT NULL,
  fault_wall_ns INTEGER NOT NULL, futex_wall_ns INTEGER NOT NULL, pipe_wall_ns INTEGER NOT NULL,
  socket_wall_ns INTEGER NOT NULL, timer_wall_ns INTEGER NOT NULL, poll_wall_ns INTEGER NOT NULL,
  child_wall_ns INTEGER NOT NULL, lock_wall_ns INTEGER NOT NULL, sleep_wall_ns INTEGER NOT NULL,
  stopped_wall_ns INTEGER NOT NULL, unseen_wall_ns INTEGER NOT NULL,
  tick_user_ns   INTEGER NOT NULL,
  tick_system_ns INTEGER NOT NULL,
  migrations     INTEGER NOT NULL,
  unlisted       INTEGER NOT NULL,      -- threads that are in the account only
  lost           INTEGER NOT NULL,
  -- What the ledger itself cost: by enum ledger_event, on the whole machine; NULL is NaN.
  events_switches INTEGER NOT NULL, events_wakeups INTEGER NOT NULL,
  events_interrupts INTEGER NOT NULL, events_blocks INTEGER NOT NULL,
  event_ns_switches REAL, event_ns_wakeups REAL, event_ns_interrupts REAL, event_ns_blocks REAL,
  subject_events INTEGER NOT NULL,
  not_seen       TEXT NOT NULL
) STRICT;

CREATE TABLE ledger_thread (
  id        INTEGER PRIMARY KEY,        -- (4 * execution << 24) + position
  execution INTEGER GENERATED ALWAYS AS (id >> 26) VIRTUAL,
  position  INTEGER GENERATED ALWAYS AS (id & 16777215) VIRTUAL, -- by begin
  tid       INTEGER NOT NULL,
  tgid      INTEGER NOT NULL,
  start_ns  INTEGER NOT NULL,           -- CLOCK_BOOTTIME
  begin_ns  INTEGER NOT NULL,           -- CLOCK_MONOTONIC
  end_ns    INTEGER NOT NULL,
  alive     INTEGER NOT NULL,
  name      TEXT NOT NULL,
  run_ns INTEGER NOT NULL, irq_ns INTEGER NOT NULL, softirq_ns INTEGER NOT NULL,
  nmi_ns INTEGER NOT NULL, steal_ns INTEGER NOT NULL, queued_ns INTEGER NOT NULL,
  waking_ns INTEGER NOT NULL, throttled_ns INTEGER NOT NULL, io_ns INTEGER NOT NULL,
  io_other_ns INTEGER NOT NULL, io_idle_ns INTEGER NOT NULL, fault_ns INTEGER NOT NULL,
  futex_ns INTEGER NOT NULL, pipe_ns INTEGER NOT NULL, socket_ns INTEGER NOT NULL,
  timer_ns INTEGER NOT NULL, poll_ns INTEGER NOT NULL, child_ns INTEGER NOT NULL,
  lock_ns INTEGER NOT NULL, sleep_ns INTEGER NOT NULL, stopped_ns INTEGER NOT NULL,
  unseen_ns INTEGER NOT NULL,
  run_count INTEGER NOT NULL, irq_count INTEGER NOT NULL, softirq_count INTEGER NOT NULL,
  nmi_count INTEGER NOT NULL, steal_count INTEGER NOT NULL, queued_count INTEGER NOT NULL,
  waking_count INTEGER NOT NULL, throttled_count INTEGER NOT NULL, io_count INTEGER NOT NULL,
  io_other_count INTEGER NOT NULL, io_idle_count INTEGER NOT NULL, fault_count INTEGER NOT NULL,
  futex_count INTEGER NOT NULL, pipe_count INTEGER NOT NULL, socket_count INTEGER NOT NULL,
  timer_count INTEGER NOT NULL, poll_count INTEGER NOT NULL, child_count INTEGER NOT NULL,
  lock_count INTEGER NOT NULL, sleep_count INTEGER NOT NULL, stopped_count INTEGER NOT NULL,
  unseen_count INTEGER NOT NULL,
  tick_user_ns   INTEGER NOT NULL,
  tick_system_ns INTEGER NOT NULL,
  migrations     INTEGER NOT NULL
) STRICT;

CREATE TABLE ledger_item (
  id            INTEGER PRIMARY KEY,    -- (4 * execution + kind << 24) + position
  execution     INTEGER GENERATED ALWAYS AS (id >> 26) VIRTUAL,
  kind          INTEGER GENERATED ALWAYS AS (id >> 24 & 3) VIRTUAL, -- 0 entry, 1 other, 2 interrupt, 3 detail
  position      INTEGER GENERATED ALWAYS AS (id & 16777215) VIRTUAL, -- by what the ledger sorts them
  name          TEXT NOT NULL,
  ns            INTEGER NOT NULL,
  count         INTEGER NOT NULL,       -- other: bursts
  cause         INTEGER,                -- id in ledger_cause; all but other
  pid           INTEGER,                -- all but interrupt
  thread        INTEGER,                -- detail: position in ledger_thread
  self          INTEGER,                -- other: this and the next four
  kernel        INTEGER,
  longest_ns    INTEGER,
  delayed_ns    INTEGER,
  io_delayed_ns INTEGER,
  subject_count INTEGER,                -- interrupt
  subject_ns    INTEGER
) STRICT;

CREATE TRIGGER ledger_goes AFTER DELETE ON execution
BEGIN
  DELETE FROM ledger_thread WHERE id BETWEEN old.id << 26 AND (old.id << 26) + 67108863;
  DELETE FROM ledger_item WHERE id BETWEEN old.id << 26 AND (old.id << 26) + 67108863;
END;

CREATE TABLE trace (
  execution INTEGER PRIMARY KEY REFERENCES execution (id) ON DELETE CASCADE,
  version   INTEGER NOT NULL,           -- TRACE_VERSION
  events    INTEGER NOT NULL,           -- how many
  names     INTEGER NOT NULL,
  lost      INTEGER NOT NULL,
  data      BLOB NOT NULL               -- src/lab/trace.h
) STRICT;

CREATE VIEW ledger -- Where the time of the subject's threads went: one row per execution, cause and what stood behind it; adds up to the lifetimes of all threads
AS SELECT
  e.id AS execution, -- id in executions
  e.run AS run, -- id in runs
  e.number AS number, -- of the execution
  e.warmup AS warmup, -- 1: a warm-up
  (SELECT c.name FROM ledger_cause c WHERE c.id = l.cause) AS cause, -- as the columns of ledger_threads are called, without _ns
  nullif(l.name, '') AS name, -- what stood behind it: the interrupt, the task that had the CPU or the device (itself: the subject), the device, the call; NULL: nothing to tell apart
  nullif(l.pid, 0) AS pid, -- of the process behind it; NULL: none or several
  l.ns AS ns, -- summed over the threads
  l.count AS count, -- how often it came to be so
  l.ns * 1.0 / nullif(e.et_ns, 0) AS share_of_et -- ns over the elapsed time; above 1 where threads waited or ran at once
FROM execution e CROSS JOIN ledger_item l ON l.id BETWEEN (4 * e.id << 24) AND (4 * e.id << 24) + 16777215;

CREATE VIEW ledger_wall -- Where the elapsed time went: one row per execution and cause, zeros too; adds up to the ET
AS SELECT
  s.execution AS execution, -- id in executions
  e.run AS run, -- id in runs
  e.number AS number, -- of the execution
  e.warmup AS warmup, -- 1: a warm-up
  c.name AS cause, -- run while any thread of the subject ran, else what all of it waited for
  CASE c.id
  WHEN 0 THEN s.run_wall_ns
  WHEN 1 THEN s.irq_wall_ns
  WHEN 2 THEN s.softirq_wall_ns
  WHEN 3 THEN s.nmi_wall_ns
  WHEN 4 THEN s.steal_wall_ns
  WHEN 5 THEN s.queued_wall_ns
  WHEN 6 THEN s.waking_wall_ns
  WHEN 7 THEN s.throttled_wall_ns
  WHEN 8 THEN s.io_wall_ns
  WHEN 9 THEN s.io_other_wall_ns
  WHEN 10 THEN s.io_idle_wall_ns
  WHEN 11 THEN s.fault_wall_ns
  WHEN 12 THEN s.futex_wall_ns
  WHEN 13 THEN s.pipe_wall_ns
  WHEN 14 THEN s.socket_wall_ns
  WHEN 15 THEN s.timer_wall_ns
  WHEN 16 THEN s.poll_wall_ns
  WHEN 17 THEN s.child_wall_ns
  WHEN 18 THEN s.lock_wall_ns
  WHEN 19 THEN s.sleep_wall_ns
  WHEN 20 THEN s.stopped_wall_ns
  WHEN 21 THEN s.unseen_wall_ns
  END AS ns -- of the elapsed time
FROM ledger_subject s JOIN execution e ON e.id = s.execution CROSS JOIN ledger_cause c;

CREATE VIEW ledger_executions -- The subject's account: one row per execution, a column per cause, summed over its threads
AS SELECT
  s.execution AS execution, -- id in executions
  e.run AS run, -- id in runs
  e.number AS number, -- of the execution
  e.warmup AS warmup, -- 1: a warm-up
  (SELECT count(*) FROM ledger_thread t WHERE t.id BETWEEN (4 * e.id << 24) AND (4 * e.id << 24) + 16777215) AS threads, -- listed in ledger_threads
  s.unlisted AS unlisted, -- threads that found no room there: in these sums only
  s.run_ns AS run_ns, -- on a CPU in its own user or kernel code
  s.irq_ns AS irq_ns, -- its CPU served a hard interrupt
  s.softirq_ns AS softirq_ns, -- its CPU served a soft interrupt
  s.nmi_ns AS nmi_ns, -- its CPU served a non-maskable interrupt
  s.steal_ns AS steal_ns, -- the hypervisor had taken its CPU away
  s.queued_ns AS queued_ns, -- runnable, another task had its CPU
  s.waking_ns AS waking_ns, -- runnable, its idle CPU was still waking up
  s.throttled_ns AS throttled_ns, -- runnable, the CPU quota of its control group was used up
  s.io_ns AS io_ns, -- blocked on I/O, the device served the subject
  s.io_other_ns AS io_other_ns, -- blocked on I/O, the device served others
  s.io_idle_ns AS io_idle_ns, -- blocked on I/O, the device had nothing to do
  s.fault_ns AS fault_ns, -- waiting for a page from storage
  s.futex_ns AS futex_ns, -- asleep on a lock or condition of user space
  s.pipe_ns AS pipe_ns, -- asleep on a pipe
  s.socket_ns AS socket_ns, -- asleep on a socket
  s.timer_ns AS timer_ns, -- asleep until a time
  s.poll_ns AS poll_ns, -- asleep until a file or event is ready
  s.child_ns AS child_ns, -- asleep until a child ends
  s.lock_ns AS lock_ns, -- blocked in the kernel on a lock or journal
  s.sleep_ns AS sleep_ns, -- asleep on something else
  s.stopped_ns AS stopped_ns, -- stopped by a signal, tracer or freezer
  s.unseen_ns AS unseen_ns, -- alive, but not accounted for
  s.tick_user_ns AS tick_user_ns, -- ticks that fell on it in user mode
  s.tick_system_ns AS tick_system_ns, -- ticks that fell on it in the kernel
  s.migrations AS migrations, -- moves of a thread to another CPU
  s.events_switches AS switches, -- events on the whole machine that cost a BPF program: task switches
  s.events_wakeups AS wakeups, -- likewise
  s.events_interrupts AS interrupts, -- likewise, entries and exits
  s.events_blocks AS blocks, -- likewise, block requests started and done
  s.subject_events AS subject_events, -- of all four, on a CPU that the subject had
  s.events_switches * s.event_ns_switches + s.events_wakeups * s.event_ns_wakeups + s.events_interrupts * s.event_ns_interrupts + s.events_blocks * s.event_ns_blocks AS cost_ns, -- estimated cost of the ledger on the whole machine; not taken off anything
  s.lost AS lost, -- facts that found a map full: names or I/O, not time
  nullif(s.not_seen, '') AS not_seen -- what this kernel does not tell; NULL: nothing
FROM ledger_subject s JOIN execution e ON e.id = s.execution;

CREATE VIEW ledger_threads -- One row per thread of the subject, a column per cause; the causes add up to lifetime_ns
AS SELECT
  e.id AS execution, -- id in executions
  e.run AS run, -- id in runs
  e.number AS number, -- of the execution
  e.warmup AS warmup, -- 1: a warm-up
  t.tid AS tid, -- thread id
  t.tgid AS pid, -- of its process
  t.name AS name, -- the last it had
  t.begin_ns - s.begin_ns AS begin_ns, -- from the start of the execution to its begin
  t.end_ns - t.begin_ns AS lifetime_ns, -- from its begin to its end
  t.alive AS alive, -- 1: still there when tare looked, which is then its end
  t.run_ns AS run_ns, -- on a CPU in its own user or kernel code
  t.irq_ns AS irq_ns, -- its CPU served a hard interrupt
  t.softirq_ns AS softirq_ns, -- its CPU served a soft interrupt
  t.nmi_ns AS nmi_ns, -- its CPU served a non-maskable interrupt
  t.steal_ns AS steal_ns, -- the hypervisor had taken its CPU away
  t.queued_ns AS queued_ns, -- runnable, another task had its CPU
  t.waking_ns AS waking_ns, -- runnable, its idle CPU was still waking up
  t.throttled_ns AS throttled_ns, -- runnable, the CPU quota of its control group was used up
  t.io_ns AS io_ns, -- blocked on I/O, the device served the subject
  t.io_other_ns AS io_other_ns, -- blocked on I/O, the device served others
  t.io_idle_ns AS io_idle_ns, -- blocked on I/O, the device had nothing to do
  t.fault_ns AS fault_ns, -- waiting for a page from storage
  t.futex_ns AS futex_ns, -- asleep on a lock or condition of user space
  t.pipe_ns AS pipe_ns, -- asleep on a pipe
  t.socket_ns AS socket_ns, -- asleep on a socket
  t.timer_ns AS timer_ns, -- asleep until a time
  t.poll_ns AS poll_ns, -- asleep until a file or event is ready
  t.child_ns AS child_ns, -- asleep until a child ends
  t.lock_ns AS lock_ns, -- blocked in the kernel on a lock or journal
  t.sleep_ns AS sleep_ns, -- asleep on something else
  t.stopped_ns AS stopped_ns, -- stopped by a signal, tracer or freezer
  t.unseen_ns AS unseen_ns, -- alive, but not accounted for
  t.tick_user_ns AS tick_user_ns, -- ticks that fell on it in user mode
  t.tick_system_ns AS tick_system_ns, -- ticks that fell on it in the kernel
  t.migrations AS migrations -- moves to another CPU
FROM execution e JOIN ledger_subject s ON s.execution = e.id
CROSS JOIN ledger_thread t ON t.id BETWEEN (4 * e.id << 24) AND (4 * e.id << 24) + 16777215;

CREATE VIEW ledger_processes -- One row per process of the subject: the sums of ledger_threads; a pid given twice within one execution is one row
AS SELECT
  p.execution AS execution, -- id in executions
  p.run AS run, -- id in runs
  p.number AS number, -- of the execution
  p.warmup AS warmup, -- 1: a warm-up
  p.tgid AS pid, -- process id
  f.name AS name, -- of its first thread
  p.threads AS threads, -- listed in ledger_threads
  f.begin_ns - p.start_ns AS begin_ns, -- from the start of the execution to its first thread's begin
  p.end_ns - f.begin_ns AS lifetime_ns, -- to its last thread's end
  p.alive AS alive, -- 1: still there when tare looked
  p.run_ns AS run_ns, -- on a CPU in its own user or kernel code; this and the rest summed over its threads
  p.irq_ns AS irq_ns, -- its CPU served a hard interrupt
  p.softirq_ns AS softirq_ns, -- its CPU served a soft interrupt
  p.nmi_ns AS nmi_ns, -- its CPU served a non-maskable interrupt
  p.steal_ns AS steal_ns, -- the hypervisor had taken its CPU away
  p.queued_ns AS queued_ns, -- runnable, another task had its CPU
  p.waking_ns AS waking_ns, -- runnable, its idle CPU was still waking up
  p.throttled_ns AS throttled_ns, -- runnable, the CPU quota of its control group was used up
  p.io_ns AS io_ns, -- blocked on I/O, the device served the subject
  p.io_other_ns AS io_other_ns, -- blocked on I/O, the device served others
  p.io_idle_ns AS io_idle_ns, -- blocked on I/O, the device had nothing to do
  p.fault_ns AS fault_ns, -- waiting for a page from storage
  p.futex_ns AS futex_ns, -- asleep on a lock or condition of user space
  p.pipe_ns AS pipe_ns, -- asleep on a pipe
  p.socket_ns AS socket_ns, -- asleep on a socket
  p.timer_ns AS timer_ns, -- asleep until a time
  p.poll_ns AS poll_ns, -- asleep until a file or event is ready
  p.child_ns AS child_ns, -- asleep until a child ends
  p.lock_ns AS lock_ns, -- blocked in the kernel on a lock or journal
  p.sleep_ns AS sleep_ns, -- asleep on something else
  p.stopped_ns AS stopped_ns, -- stopped by a signal, tracer or freezer
  p.unseen_ns AS unseen_ns, -- alive, but not accounted for
  p.tick_user_ns AS tick_user_ns, -- ticks that fell on it in user mode
  p.tick_system_ns AS tick_system_ns, -- ticks that fell on it in the kernel
  p.migrations AS migrations -- moves of a thread to another CPU
FROM (SELECT e.run AS run, e.id AS execution, e.number AS number, e.warmup AS warmup,
        s.begin_ns AS start_ns, t.tgid AS tgid, min(t.id) AS first, count(*) AS threads,
        max(t.end_ns) AS end_ns, max(t.alive) AS alive, sum(t.migrations) AS migrations,
        sum(t.tick_user_ns) AS tick_user_ns, sum(t.tick_system_ns) AS tick_system_ns,
        sum(t.run_ns) AS run_ns, sum(t.irq_ns) AS irq_ns, sum(t.softirq_ns) AS softirq_ns,
        sum(t.nmi_ns) AS nmi_ns, sum(t.steal_ns) AS steal_ns, sum(t.queued_ns) AS queued_ns,
        sum(t.waking_ns) AS waking_ns, sum(t.throttled_ns) AS throttled_ns, sum(t.io_ns) AS io_ns,
        sum(t.io_other_ns) AS io_other_ns, sum(t.io_idle_ns) AS io_idle_ns,
        sum(t.fault_ns) AS fault_ns, sum(t.futex_ns) AS futex_ns, sum(t.pipe_ns) AS pipe_ns,
        sum(t.socket_ns) AS socket_ns, sum(t.timer_ns) AS timer_ns, sum(t.poll_ns) AS poll_ns,
        sum(t.child_ns) AS child_ns, sum(t.lock_ns) AS lock_ns, sum(t.sleep_ns) AS sleep_ns,
        sum(t.stopped_ns) AS stopped_ns, sum(t.unseen_ns) AS unseen_ns
      FROM execution e JOIN ledger_subject s ON s.execution = e.id
      CROSS JOIN ledger_thread t ON t.id BETWEEN (4 * e.id << 24) AND (4 * e.id << 24) + 16777215
      GROUP BY e.run, e.id, t.tgid) p
JOIN ledger_thread f ON f.id = p.first;

CREATE VIEW ledger_details -- The ledger by thread, where it is known by thread
AS SELECT
  e.id AS execution, -- id in executions
  e.run AS run, -- id in runs
  e.number AS number, -- of the execution
  e.warmup AS warmup, -- 1: a warm-up
  t.tid AS tid, -- thread id
  t.tgid AS pid, -- of its process
  t.name AS thread, -- its name
  (SELECT c.name FROM ledger_cause c WHERE c.id = d.cause) AS cause, -- as in ledger
  nullif(d.name, '') AS name, -- what stood behind it: the interrupt, the task that had the CPU or the device (itself: the subject), the device, the call; NULL: nothing to tell apart
  nullif(d.pid, 0) AS behind_pid, -- of the process behind it; NULL: none or several
  d.ns AS ns, -- of this thread
  d.count AS count -- how often it came to be so
FROM execution e CROSS JOIN ledger_item d ON d.id BETWEEN (4 * e.id + 3 << 24) AND (4 * e.id + 3 << 24) + 16777215
JOIN ledger_thread t ON t.id = (4 * e.id << 24) + d.thread;

CREATE VIEW delays -- One row per process outside the subject that had a CPU during an execution, and what that cost the subject
AS SELECT
  e.id AS execution, -- id in executions
  e.run AS run, -- id in runs
  e.number AS number, -- of the execution
  e.warmup AS warmup, -- 1: a warm-up
  o.name AS name, -- of the process
  o.pid AS pid, -- process id
  o.self AS self, -- 1: tare
  o.kernel AS kernel, -- 1: a kernel thread
  o.ns AS ns, -- on a CPU, interrupts and steal within included
  o.count AS bursts, -- times it got a CPU
  o.longest_ns AS longest_ns, -- the longest of them
  o.delayed_ns AS delayed_ns, -- had a CPU that a thread of the subject was queued for
  o.io_delayed_ns AS io_delayed_ns -- had the device that a thread of the subject was blocked on
FROM execution e CROSS JOIN ledger_item o ON o.id BETWEEN (4 * e.id + 1 << 24) AND (4 * e.id + 1 << 24) + 16777215;

CREATE VIEW interrupts -- One row per source of interrupts, over the whole machine during an execution; nested ones netted out
AS SELECT
  e.id AS execution, -- id in executions
  e.run AS run, -- id in runs
  e.number AS number, -- of the execution
  e.warmup AS warmup, -- 1: a warm-up
  (SELECT c.name FROM ledger_cause c WHERE c.id = i.cause) AS kind, -- irq, softirq or nmi
  i.name AS name, -- of the source
  i.count AS count, -- served
  i.ns AS ns, -- time they took
  i.subject_count AS subject_count, -- of those, on a CPU that the subject had
  i.subject_ns AS subject_ns -- time they took there
FROM execution e CROSS JOIN ledger_item i ON i.id BETWEEN (4 * e.id + 2 << 24) AND (4 * e.id + 2 << 24) + 16777215;
