#include "record/execution.h"

#include <string.h>

#include <math.h>
#include <stdlib.h>

const char *const backend_names[] = { "plain", "netlink", "bpf" };

const char *backend_name(enum backend backend)
{
	return backend < BACKENDS ? backend_names[backend] : "auto";
}

const char *const outcome_names[] = { "exited", "signalled", "timed out" };

const char *const grade_names[] = { "net", "exec", "tick" };

const char *const role_names[] = { "subject", "daemon", "self" };

const char *const run_status_names[] = { "going", "complete", "interrupted", "failed" };

const char *const subject_kind_names[SUBJECT_KINDS] = { "command", "cpu", "system", "query",
							"duet" };

#define X(member, ...) FACT(struct execution, member, __VA_ARGS__)

/* JSON and CSV have the rows in this order. A view of the lab gets what it lacks at its end. */
const struct field execution_fields[] = {
	X(number, "number", FIELD_U32, "from 1 within the run; warm-ups count on their own",
	  .more = "\"minimum\": 1"),
	X(warmup, "warmup", FIELD_BOOL, "thrown away by EMP's first rule"),
	X(outcome, "outcome", FIELD_ENUM, "exited, signalled or timed out",
	  .limit = OUTCOME_TIMED_OUT + 1, .names = outcome_names),
	X(status, "status", FIELD_I32, "exit code or signal"),
	X(started_at_ns, "started_at_ns", FIELD_DATE, "UTC", .json = "started_at",
	  .csv = "started_at"),
	X(et_ns, "et_ns", FIELD_NS, "elapsed time: the first process from its exec to its end",
	  .title = "ET"),
	X(wait_ns, "wait_ns", FIELD_NS, "the same up to when tare, waiting, was told"),
	X(tree_ns, "tree_ns", FIELD_NS, "up to the end of the last process of the tree"),
	X(pt_ns[GRADE_NET], "pt_net_ns", FIELD_NS,
	  "process time at grade net: without the interrupts within", .title = "PT net",
	  .json = "pt_ns.net"),
	X(pt_ns[GRADE_EXEC], "pt_exec_ns", FIELD_NS, "process time at grade exec: by the scheduler",
	  .title = "PT exec", .json = "pt_ns.exec"),
	X(pt_ns[GRADE_TICK], "pt_tick_ns", FIELD_NS, "process time at grade tick: counted in ticks",
	  .title = "PT tick", .json = "pt_ns.tick"),
	X(user_ns, "user_ns", FIELD_NS,
	  "this execution's exec in the proportion of its ticks, noise below about 100 ms; absent "
	  "where no tick fell on it"),
	X(system_ns, "system_ns", FIELD_NS, "the rest of its exec, likewise"),
	X(totals.value, "", FIELD_MEASURES, "summed over the subject's tree", .csv = "totals_",
	  .json = "totals.", .limit = TASK_CUMULATIVE, .measures = task_measures,
	  .bits = offsetof(struct execution, totals.present)),
	X(totals.rss_peak_bytes, "rss_peak", FIELD_U64, "bytes, of the largest process",
	  .title = "peak RSS", .unit = UNIT_BYTES, .flags = FIELD_ZERO_ABSENT,
	  .csv = "totals_rss_peak", .json = "totals.rss_peak"),
	X(totals.processes, "processes", FIELD_U32, "of the subject", .flags = FIELD_ZERO_ABSENT,
	  .json = "totals.processes"),
	X(totals.threads, "threads", FIELD_U32, "of the subject, first threads included",
	  .flags = FIELD_ZERO_ABSENT, .json = "totals.threads"),
	X(switches_per_s, "switches_per_s", FIELD_REAL,
	  "the subject's context switches per second of its elapsed time", .title = "switches/s",
	  .unit = UNIT_PER_S),
	X(totals.present, "present", FIELD_U64, "struct totals", .flags = FIELD_ONLY_SQL),
	X(before.value, "before_", FIELD_MEASURES, "", .flags = FIELD_ONLY_SQL,
	  .limit = OVERALL_MEASURES, .measures = overall_measures,
	  .bits = offsetof(struct execution, before.present)),
	X(after.value, "after_", FIELD_MEASURES, "", .flags = FIELD_ONLY_SQL,
	  .limit = OVERALL_MEASURES, .measures = overall_measures,
	  .bits = offsetof(struct execution, after.present)),
	{ "overall", FIELD_OBJECT, .shape = &overall_shape,
	  .flags = FIELD_ONLY_JSON | FIELD_BY_HAND,
	  .meaning = "What the counters of the whole system grew by." },
	{ "processes", FIELD_LIST, .shape = &process_shape, .flags = FIELD_ONLY_JSON | FIELD_MAYBE,
	  .meaning = "What ran during it: up to 10 of each role, by time on a CPU." },
	{ "counters", FIELD_LIST, .shape = &counter_shape,
	  .flags = FIELD_ONLY_JSON | FIELD_OPTIONAL | FIELD_BY_HAND,
	  .meaning =
		  "Hardware and software counters of the subject's tree; not there without any." },
	X(left_behind, "left_behind", FIELD_U32, "processes alive when the first one ended"),
	X(ended, "ended", FIELD_U32, "of those, ended by tare"),
	X(lost, "lost", FIELD_U64, "events the collector lost"),
	X(ephemeral, "ephemeral", FIELD_KNOWN,
	  "tasks made but never seen; absent where it cannot be known"),
	X(self_ns, "self_ns", FIELD_NS, "CPU time of tare within the timed window"),
	X(speed.ns[SPEED_CHAIN], "speed_chain_ns", FIELD_REAL,
	  "what the speed probe's dependent multiplications took at the mean speed of the CPUs "
	  "while the subject had them",
	  .unit = UNIT_NS, .json = "speed.chain_ns"),
	X(speed.ns[SPEED_PORTS], "speed_ports_ns", FIELD_REAL,
	  "likewise its additions, which fill the core's ports", .unit = UNIT_NS,
	  .json = "speed.ports_ns"),
	X(speed.ns[SPEED_TURNS], "speed_turns_ns", FIELD_REAL,
	  "likewise its tight loop, of one taken branch a turn", .unit = UNIT_NS,
	  .json = "speed.turns_ns"),
	X(speed.ns[SPEED_LOADS], "speed_loads_ns", FIELD_REAL,
	  "likewise its dependent loads from 4 MiB", .unit = UNIT_NS, .json = "speed.loads_ns"),
	X(speed.used, "speed_probes", FIELD_KNOWN, "probes in these means", .json = "speed.probes"),
	X(speed.left_out, "speed_left_out", FIELD_KNOWN, "probes that were interrupted",
	  .json = "speed.left_out"),
	X(speed.self_ns, "speed_self_ns", FIELD_NS,
	  "CPU time of the probes themselves; part of self_ns", .json = "speed.self_ns"),
	{ 0 },
};

#undef X
#define X(member, ...) FACT(struct process, member, __VA_ARGS__)

const struct field process_fields[] = {
	X(name, "name", FIELD_NAME, "stable across instances: kworker/0, not kworker/0:1-events",
	  .limit = sizeof((struct process){ 0 }.name)),
	X(role, "role", FIELD_ENUM, "subject, daemon or self (tare)", .limit = ROLE_SELF + 1,
	  .names = role_names),
	X(pid, "pid", FIELD_I32, "process id"),
	X(ppid, "ppid", FIELD_I32, "of its parent"),
	X(kernel, "kernel", FIELD_BOOL, "a kernel thread"),
	X(started, "started", FIELD_BOOL, "began within the execution"),
	X(ended, "ended", FIELD_BOOL, "ended within the execution"),
	X(start_ns, "start_ns", FIELD_U64, "CLOCK_BOOTTIME; with pid, its identity",
	  .flags = FIELD_ONLY_SQL),
	X(threads, "threads", FIELD_U32, "threads seen"),
	X(rss_peak_bytes, "rss_peak", FIELD_U64, "bytes", .unit = UNIT_BYTES,
	  .flags = FIELD_ZERO_ABSENT),
	X(present, "present", FIELD_U64, "struct totals", .flags = FIELD_ONLY_SQL),
	X(value, "", FIELD_MEASURES, "", .json = "totals.", .limit = TASK_CUMULATIVE,
	  .measures = task_measures, .bits = offsetof(struct process, present)),
	{ 0 },
};

const struct shape process_shape = { "process", NULL, process_fields };
const struct shape execution_shape = { "execution", NULL, execution_fields };

/* A difference of two values means something for these only. */
static const struct field overall_fields[] = {
	{ "", FIELD_MEASURES, OVERALL_BOOT_TIME, .measures = overall_measures, .item = FIELD_I64,
	  .flags = FIELD_MAYBE },
	{ "forks", FIELD_I64, .meaning = "processes and threads made", .flags = FIELD_MAYBE },
	{ 0 },
};
const struct shape overall_shape = { "overall", "What the counters of the whole system grew by.",
				     overall_fields };

bool process_pt_ns(const struct process *p, uint64_t *ns)
{
	const uint64_t ticks = UINT64_C(1) << TASK_USER | UINT64_C(1) << TASK_SYSTEM;
	*ns = 0;
	if (p->present >> TASK_EXEC & 1)
		*ns = p->value[TASK_EXEC];
	else if ((p->present & ticks) == ticks)
		*ns = p->value[TASK_USER] + p->value[TASK_SYSTEM];
	else
		return false;
	return true;
}

void execution_release(struct execution *x)
{
	array_release(&x->processes);
	array_release(&x->counters);
	image_release(&x->tasks_before);
	image_release(&x->tasks_after);
	image_release(&x->exits);
	ledger_release(&x->ledger);
	trace_release(&x->trace);
	*x = (struct execution){ 0 };
}

struct execution execution_take(struct execution *x)
{
	struct execution taken = *x;
	memset(&x->processes, 0, sizeof x->processes);
	memset(&x->counters, 0, sizeof x->counters);
	memset(&x->ledger.threads, 0, sizeof x->ledger.threads);
	memset(&x->ledger.entries, 0, sizeof x->ledger.entries);
	memset(&x->ledger.details, 0, sizeof x->ledger.details);
	memset(&x->ledger.others, 0, sizeof x->ledger.others);
	memset(&x->ledger.interrupts, 0, sizeof x->ledger.interrupts);
	x->trace = (struct trace){ 0 };
	taken.tasks_before = taken.tasks_after = taken.exits = (struct image){ 0 };
	return taken;
}

#define BYTES_OF(list) ((list).capacity * sizeof *(list).items)

size_t execution_bytes(const struct execution *x)
{
	const struct ledger *l = &x->ledger;
	return sizeof *x + BYTES_OF(x->processes) + BYTES_OF(x->counters) + BYTES_OF(l->threads) +
	       BYTES_OF(l->entries) + BYTES_OF(l->details) + BYTES_OF(l->others) +
	       BYTES_OF(l->interrupts) + BYTES_OF(x->trace.events) + BYTES_OF(x->trace.names);
}

struct execution execution_unknown(void)
{
	static struct execution unknown; /* by the catalogue */
	static bool made;
	struct field_cursor c = { .fields = execution_fields,
				  .without = FIELD_NOT_SQL,
				  .unnamed = true };
	while (!made && field_next(&c))
		field_set(&c, &unknown, false, 0);
	made = true;
	return unknown;
}

void execution_begin_again(struct execution *x)
{
	struct execution fresh = execution_unknown();
	fresh.tasks_before = x->tasks_before;
	fresh.tasks_after = x->tasks_after;
	fresh.exits = x->exits;
	fresh.ledger = x->ledger;
	fresh.trace = x->trace;
	fresh.processes.items = x->processes.items;
	fresh.processes.capacity = x->processes.capacity;
	fresh.counters.items = x->counters.items;
	fresh.counters.capacity = x->counters.capacity;
	*x = fresh;
	x->tasks_before.count = x->tasks_after.count = x->exits.count = 0;
	ledger_clear(&x->ledger);
	trace_clear(&x->trace);
}

bool outcome_counts(enum outcome outcome, int status, const int *codes, size_t count,
		    bool ignore_failure)
{
	bool expected = status == 0;
	for (size_t i = 0; i < count; i++)
		expected |= status == codes[i];
	return (outcome == OUTCOME_EXITED && expected) ||
	       (ignore_failure && outcome != OUTCOME_TIMED_OUT);
}

bool execution_succeeded(const struct execution *x, const int *codes, size_t count)
{
	return outcome_counts(x->outcome, x->status, codes, count, false);
}

enum grade execution_grade(const struct execution *x)
{
	for (enum grade g = 0; g < GRADES; g++)
		if (x->pt_ns[g] != ABSENT_NS)
			return g;
	return GRADES;
}

static struct execution_spent spent_by_ledger(const struct ledger *l)
{
	struct execution_spent s = { .queued_ns = (double)l->wall_ns[LEDGER_QUEUED],
				     .run_ns = (double)l->subject.ns[LEDGER_RUN],
				     .run_wall_ns = (double)l->wall_ns[LEDGER_RUN] };
	for (int c = LEDGER_IO; c <= LEDGER_STOPPED; c++)
		s.blocked_ns += (double)l->wall_ns[c];
	return s;
}

/* The root's own CPU time, of the tree's: its time on run queues is then about that of the tree. */
#define MOST_OF 0.9

/* The time that the tree was ready without a CPU; NaN: not known. */
static double run_delay(const struct execution *x)
{
	const struct totals *t = &x->totals;
	uint64_t exec = 0, delay = 0;
	if (t->present >> TASK_RUN_DELAY & 1)
		return (double)t->value[TASK_RUN_DELAY];
	/* without privileges only that of the root is seen */
	array_each(p, &x->processes)
		if (p->role == ROLE_SUBJECT && p->present >> TASK_RUN_DELAY & 1) {
			exec += p->value[TASK_EXEC];
			delay += p->value[TASK_RUN_DELAY];
		}
	return exec && (double)exec >= MOST_OF * (double)t->value[TASK_EXEC] ? (double)delay : NAN;
}

struct execution_spent execution_spent(const struct execution *x, bool by_ledger)
{
	enum grade g = execution_grade(x);
	if (by_ledger)
		return spent_by_ledger(&x->ledger);
	if (g == GRADES)
		return (struct execution_spent){ NAN, NAN, NAN, NAN };
	double et = (double)x->et_ns, pt = (double)x->pt_ns[g], delay = run_delay(x);
	/* summed over threads, either may be longer than it took */
	double off = fmax(et - pt, 0), queued = isnan(delay) ? NAN : fmin(delay, off);
	return (struct execution_spent){ .blocked_ns = isnan(queued) ? off : off - queued,
					 .queued_ns = queued,
					 .run_ns = pt,
					 .run_wall_ns = fmin(pt, et) };
}

void run_release(struct run *run)
{
	free(run->name);
	free(run->command);
	free(run->shell);
	free(run->directory);
	conditions_release(&run->conditions);
	free(run->not_seen);
	free(run->version);
	free(run->tags);
	for (size_t i = 0; i < run->parameters.count; i++) {
		free(run->parameters.items[i].name);
		free(run->parameters.items[i].value);
	}
	array_release(&run->parameters);
	*run = (struct run){ 0 };
}

/* The last word on a task is its exit record, else its record in the after image. Sorted by process
 * and start, a process's leader comes first, its threads follow, and a second process of the same
 * pid comes after all of them. */
struct entry {
	const struct task_record *task;
	uint64_t start_ns; /* a copy, like tgid and tid: sorting is done in every execution */
	int32_t tgid, tid;
	int stage; /* 0 before, 1 after, 2 exit */
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	return ORDER(x->tgid, y->tgid) ?: ORDER(x->start_ns, y->start_ns) ?:
	       ORDER(x->tid != x->tgid, y->tid != y->tgid) ?: ORDER(x->tid, y->tid) ?:
	       x->stage - y->stage;
}

static void add_entries(const struct image *image, int stage, struct entry *into, size_t *count)
{
	for (size_t i = 0; i < image->count; i++) {
		const struct task_record *t = &image->tasks[i];
		into[(*count)++] = (struct entry){ t, t->start_ns, t->tgid, t->tid, stage };
	}
}

/* Adds what the task used between first (NULL: it was not there) and last to its process. */
static void add_task(struct process *p, const struct task_record *first,
		     const struct task_record *last)
{
	p->threads++;
	uint64_t seen = first ? first->present & last->present : last->present;
	p->present &= seen;
	for (int m = 0; m < TASK_CUMULATIVE; m++) {
		uint64_t base = first ? first->value[m] : 0;
		/* a counter that went back is not one (6.18 resets some on exec): count none */
		if (seen >> m & 1 && last->value[m] > base)
			p->value[m] += last->value[m] - base;
	}
	if (task_has(last, TASK_RSS_PEAK) && last->value[TASK_RSS_PEAK] > p->rss_peak_bytes)
		p->rss_peak_bytes = last->value[TASK_RSS_PEAK];
}

static int compare_processes(const void *a, const void *b)
{
	const struct process *x = a, *y = b;
	return ORDER(y->role == ROLE_SUBJECT, x->role == ROLE_SUBJECT) ?:
	       ORDER(y->value[TASK_EXEC], x->value[TASK_EXEC]) ?: ORDER(x->pid, y->pid);
}

void tasks_between(const struct image *before, const struct image *after, const struct image *exits,
		   task_between_fn each, void *context)
{
	size_t count = 0, total = before->count + after->count + exits->count;
	struct entry *entries = xcalloc(total, sizeof *entries);
	add_entries(before, 0, entries, &count);
	add_entries(after, 1, entries, &count);
	add_entries(exits, 2, entries, &count);
	if (count)
		qsort(entries, count, sizeof *entries, compare_entries);
	for (size_t i = 0, j; i < count; i = j) {
		const struct task_record *first = entries[i].stage == 0 ? entries[i].task : NULL;
		for (j = i + 1; j < count && entries[j].tgid == entries[i].tgid &&
				entries[j].tid == entries[i].tid &&
				entries[j].start_ns == entries[i].start_ns;)
			j++;
		const struct task_record *last = entries[j - 1].task;
		if (!last)
			break; /* never: every entry has its task */
		/* it ended while the first image was being taken, or before: its life is not this
		 * execution's */
		if (!first && entries[j - 1].stage == 2 && last->at_ns < before->end_ns)
			continue;
		/* gone also if nobody saw it go */
		each(context, first, last, entries[j - 1].stage == 1 ? TASK_STAYED : TASK_ENDED);
		for (size_t k = i; k + 1 < j; k++)
			if (entries[k].stage == 2)
				each(context, NULL, entries[k].task, TASK_ONCE_MORE);
	}
	free(entries);
}

struct gathering {
	struct process p;
	const char *comm; /* of p */
	bool open, led;
	uint64_t made;
	int32_t self;
	struct execution *into;
};

static void keep_process(struct gathering *g)
{
	const uint64_t *did = g->p.value;
	if (g->p.role != ROLE_SUBJECT && !did[TASK_EXEC] && !did[TASK_NVCSW] && !did[TASK_NIVCSW])
		return;
	daemon_name(g->comm, g->p.name);
	array_push(&g->into->processes, g->p);
}

static void gather(void *context, const struct task_record *first, const struct task_record *last,
		   enum task_stay stay)
{
	struct gathering *g = context;
	if (stay == TASK_ONCE_MORE) {
		add_task(&g->p, NULL, last);
		return;
	}
	bool leads = last->flags & TASK_IS_LEADER;
	if (g->open && (g->p.pid != last->tgid || (leads && g->led))) {
		keep_process(g);
		g->open = false;
	}
	if (!g->open) {
		bool self = last->tgid == g->self || last->flags & TASK_IS_SELF;
		g->p = (struct process){ .role = last->flags & TASK_IS_SUBJECT ? ROLE_SUBJECT
						 : self			       ? ROLE_SELF
									       : ROLE_DAEMON,
					 .pid = last->tgid,
					 .present = UINT64_MAX };
		g->open = true;
		g->led = false;
	}
	if (g->p.threads == 0 || leads) {
		g->p.ppid = last->ppid;
		g->p.start_ns = last->start_ns;
		g->p.kernel = last->flags & TASK_IS_KERNEL;
		g->p.started = !first;
		g->p.ended = stay == TASK_ENDED;
		g->comm = last->comm;
	}
	g->led |= leads;
	add_task(&g->p, first, last);
	g->made += !first;
}

void processes_between(const struct image *before, const struct image *after,
		       const struct image *exits, int32_t self, struct execution *into)
{
	struct gathering g = { .self = self, .into = into };
	tasks_between(before, after, exits, gather, &g);
	if (g.open)
		keep_process(&g);
	into->ephemeral = -1;
	if (into->before.present & into->after.present & 1u << OVERALL_FORKS) {
		uint64_t forks =
			into->after.value[OVERALL_FORKS] - into->before.value[OVERALL_FORKS];
		into->ephemeral = forks > g.made ? (int64_t)(forks - g.made) : 0;
	}
	if (into->processes.count)
		qsort(into->processes.items, into->processes.count, sizeof g.p, compare_processes);
}
