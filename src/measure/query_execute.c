/* One execution of a query. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "measure/query.h"
#include "record/query_usage.h"

#define USERS_FROM 1000 /* ids of people; below are the system's, and from 65534 on nobody's */
#define USERS_TO 65534

/* By its owner, since a task's record has none. */
static bool is_user(void *context, int32_t pid)
{
	char path[32];
	struct stat st;
	(void)context;
	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	return stat(path, &st) == 0 && st.st_uid >= USERS_FROM && st.st_uid < USERS_TO;
}

/* Otherwise of processes that came and went only sums are known. */
static bool sees_ends(const struct query_rig *r)
{
	return collector_backend(r->collector) != BACKEND_PLAIN;
}

/* While the query runs. */
static bool take_turn(void *context)
{
	struct query_rig *r = context;
	collector_drain(r->collector);
	if (r->devices)
		devices_drain(r->devices);
	return interrupted();
}

static void note_devices(struct query_rig *r, const struct dbms_tasks *tasks,
			 const pid_list *helpers, const struct dbms_execution *x,
			 struct query_execution *q)
{
	q->own_device_ns = q->others_device_ns = ABSENT_NS;
	if (!r->devices)
		return;
	bool by_thread = tasks->thread && !tasks->io_by_process;
	FREED pid_list processes = { 0 };
	array_each(pid, helpers)
		array_push(&processes, *pid);
	if (!by_thread && tasks->process)
		array_push(&processes, tasks->process);
	const struct devices_owner owner = { &tasks->thread, by_thread ? 1 : 0, processes.items,
					     processes.count };
	FREED device_use_list uses = { 0 };
	uint64_t lost = 0, read = 0;
	devices_share(r->devices, x->begin_ns, x->end_ns, &owner, &uses, &lost);
	if (!lost)
		q->own_device_ns = q->others_device_ns = 0;
	for (size_t i = 0; i < uses.count; i++) {
		read += uses.items[i].own_read_bytes;
		if (lost)
			continue;
		q->own_device_ns += uses.items[i].own_ns;
		q->others_device_ns += uses.items[i].others_ns;
	}
	if (!lost)
		q->read_bytes = read;
	q->lost += (uint32_t)lost;
}

/* Tells the driver of the processes that the server forked and that ended. */
static void tell_ends(struct query_rig *r, const struct dbms_tasks *tasks,
		      const struct image *exits)
{
	FREED ARRAY(struct dbms_end) ends = { 0 };
	for (size_t i = 0; i < exits->count; i++) {
		const struct task_record *t = &exits->tasks[i];
		if (t->flags & TASK_IS_SUBJECT && t->flags & TASK_IS_LEADER &&
		    t->tgid != tasks->process)
			array_push(&ends, (struct dbms_end){ t->tgid, collector_title(r->collector,
										      t->tgid) });
	}
	dbms_ended(r->dbms, ends.items, ends.count);
}

static uint64_t exec_of(const struct image *image, pid_t process)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < image->count; i++)
		sum += image->tasks[i].tgid == process ? image->tasks[i].value[TASK_EXEC] : 0;
	return sum;
}

/* The processes that worked for the query beside the one that evaluates. Whoever reads for all
 * connections counts if it did anything. */
static void list_helpers(const struct query_rig *r, const struct execution *raw, pid_list *helpers)
{
	const pid_t *pids = NULL;
	size_t count = dbms_workers(r->dbms, &pids);
	for (size_t i = 0; i < count; i++)
		array_push(helpers, pids[i]);
	count = dbms_readers(r->dbms, &pids);
	for (size_t i = 0; i < count; i++)
		if (exec_of(&raw->tasks_after, pids[i]) > exec_of(&raw->tasks_before, pids[i]))
			array_push(helpers, pids[i]);
	for (size_t i = 0; i < raw->exits.count; i++)
		if (raw->exits.tasks[i].flags & TASK_IS_SUM)
			array_push(helpers, raw->exits.tasks[i].tgid);
}

/* Of the processes that the server forked, only the helpers are the query's. */
static void keep_subject(struct image *image, pid_t process, const pid_list *helpers)
{
	for (size_t i = 0; i < image->count; i++) {
		struct task_record *t = &image->tasks[i];
		bool keep = t->tgid == process;
		array_each(pid, helpers)
			keep |= t->tgid == *pid;
		t->flags &= keep ? UINT32_MAX : ~(uint32_t)TASK_IS_SUBJECT;
	}
}

static void describe(struct query_rig *r, const struct dbms_tasks *tasks, const pid_list *helpers,
		     const struct dbms_execution *x, struct query_execution *q,
		     struct execution *raw)
{
	const struct query_who who = { .self = getpid(),
				       .server = tasks->server == getpid() ? 0 : tasks->server,
				       .process = tasks->process,
				       .thread = tasks->thread,
				       .worker_count = helpers->count,
				       .workers = helpers->items,
				       .name = tasks->name,
				       .is_user = is_user };
	q->timed_out = x->timed_out;
	q->rows = x->rows;
	q->measured_ns = x->end_ns - x->begin_ns;
	/* tasks used what they used between the images, of which the query took this much less */
	uint64_t between = raw->tasks_after.end_ns - raw->tasks_before.begin_ns;
	q->snapshot_ns = between > q->measured_ns ? between - q->measured_ns : 0;
	query_usage_between(&raw->tasks_before, &raw->tasks_after, &raw->exits, &who, q);
	if (!sees_ends(r) && tasks->makes_workers && tasks->workers_planned > 0)
		q->query_tasks += (uint32_t)tasks->workers_planned - 1; /* one stood for all */
	if (x->cpu_ns)
		query_usage_set_cpu(q, x->cpu_ns);
	query_overall_between(&raw->before, &raw->after, sysconf(_SC_CLK_TCK), q);
	note_devices(r, tasks, helpers, x, q);
	/* fill the fields that the reports of ledgers need */
	raw->outcome = x->timed_out ? OUTCOME_TIMED_OUT : OUTCOME_EXITED;
	raw->et_ns = raw->wait_ns = raw->tree_ns = q->measured_ns;
	for (int g = 0; g < GRADES; g++)
		raw->pt_ns[g] = ABSENT_NS;
	raw->user_ns = raw->system_ns = ABSENT_NS;
	if (q->usage[QUERY_QUERY].processes && !(q->usage[QUERY_QUERY].missing & 3)) {
		raw->pt_ns[GRADE_EXEC] = query_cpu_ns(q, QUERY_QUERY);
		raw->user_ns = q->usage[QUERY_QUERY].value[QUERY_USER_NS];
		raw->system_ns = q->usage[QUERY_QUERY].value[QUERY_SYSTEM_NS];
	}
	if (raw->ledger.present && raw->ledger.net)
		raw->pt_ns[GRADE_NET] = raw->ledger.subject.ns[LEDGER_RUN];
	processes_between(&raw->tasks_before, &raw->tasks_after, &raw->exits, getpid(), raw);
	q->ephemeral = sees_ends(r) ? raw->ephemeral : -1;
	q->lost += (uint32_t)raw->lost;
	q->started_at_ns = raw->started_at_ns;
}

/* Up to the query: the ledger begins last of all. */
static int begin(struct query_rig *r, const struct collector_running *who, struct execution *raw,
		 struct error *err)
{
	collector_listen(r->collector);
	int failed = collector_snapshot(r->collector, &raw->tasks_before, err);
	overall_read(&raw->before);
	if (!failed && r->devices)
		devices_begin(r->devices);
	if (!failed)
		failed = collector_arm_running(r->collector, who, err);
	if (failed)
		collector_finish(r->collector, NULL, &raw->exits, &raw->totals, &raw->lost);
	return failed;
}

int query_execute(struct query_rig *r, uint64_t limit_ns, struct query_execution *q,
		  struct execution *raw, struct error *err)
{
	/* without ends, a sum stands for all workers: PostgreSQL waits for their exit before it
	 * answers, so that looking for them would find nobody who is not in it */
	const struct dbms_wait wait = { limit_ns, take_turn, r,
					collector_tells_titles(r->collector) || !sees_ends(r) };
	struct dbms_execution x = { 0 };
	struct dbms_tasks tasks;
	execution_begin_again(raw);
	*q = (struct query_execution){ 0 };
	if (dbms_tasks(r->dbms, &tasks, err))
		return -1;
	const struct collector_running who = { .thread = tasks.thread,
					       .process = tasks.thread ? 0 : tasks.process,
					       .maker = tasks.makes_workers ? tasks.server : 0 };
	struct error late = ERROR_INIT;
	if (dbms_begin(r->dbms, err))
		return -1;
	if (begin(r, &who, raw, err)) {
		dbms_end(r->dbms, &q->transaction, &late);
		return -1;
	}
	raw->started_at_ns = clock_realtime_ns();
	uint64_t own = clock_cpu_ns();
	int failed = dbms_execute(r->dbms, &wait, &x, err);
	collector_disarm(r->collector);
	uint64_t end_ns = clock_monotonic_ns();
	raw->self_ns = clock_cpu_ns() - own;
	overall_read(&raw->after);
	collector_finish(r->collector, NULL, &raw->exits, &raw->totals, &raw->lost);
	collector_take_ledger(r->collector, &raw->ledger, &raw->trace);
	if (collector_snapshot(r->collector, &raw->tasks_after, failed ? &late : err))
		failed = -1;
	/* this may wait for a device, which is no part of what lies between the images */
	if (r->devices)
		devices_end(r->devices, end_ns);
	/* rolling back is no part of it either, and may take as long as the query */
	if (dbms_end(r->dbms, &q->transaction, failed ? &late : err) || failed)
		return -1;
	FREED pid_list helpers = { 0 };
	if (tasks.makes_workers)
		tell_ends(r, &tasks, &raw->exits);
	list_helpers(r, raw, &helpers);
	if (tasks.makes_workers) {
		keep_subject(&raw->tasks_after, tasks.process, &helpers);
		keep_subject(&raw->exits, tasks.process, &helpers);
		FREED pid_list processes = { 0 };
		array_push(&processes, tasks.process);
		array_each(pid, &helpers)
			array_push(&processes, *pid);
		ledger_keep_processes(&raw->ledger, processes.items, processes.count);
	}
	const pid_t *workers = NULL;
	q->workers = !tasks.makes_workers ? 0
		     : sees_ends(r)	  ? (int64_t)dbms_workers(r->dbms, &workers)
					  : -1;
	q->workers_planned = tasks.makes_workers ? tasks.workers_planned : 0;
	describe(r, &tasks, &helpers, &x, q, raw);
	return 0;
}
