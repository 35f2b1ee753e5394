#include "record/execution.h"

#include <stdlib.h>
#include <string.h>

const char *backend_name(enum backend backend)
{
	static const char *const names[] = { "plain", "netlink", "bpf" };
	return backend < BACKENDS ? names[backend] : "auto";
}

const char *outcome_name(enum outcome outcome)
{
	static const char *const names[] = { "exited", "signalled", "timed out" };
	return names[outcome];
}

const char *grade_name(enum grade grade)
{
	static const char *const names[] = { "net", "exec", "tick" };
	return grade < GRADES ? names[grade] : "none";
}

const char *role_name(enum role role)
{
	static const char *const names[] = { "subject", "daemon", "self" };
	return names[role];
}

const char *run_status_name(enum run_status status)
{
	static const char *const names[] = { "going", "complete", "interrupted", "failed" };
	return names[status];
}

const char *subject_kind_name(enum subject_kind kind)
{
	static const char *const names[SUBJECT_KINDS] = { "command", "cpu", "system", "query" };
	return names[kind];
}

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
	image_release(&x->tasks_before);
	image_release(&x->tasks_after);
	image_release(&x->exits);
	ledger_release(&x->ledger);
	trace_release(&x->trace);
	*x = (struct execution){ 0 };
}

void execution_begin_again(struct execution *x)
{
	struct execution fresh = { .tasks_before = x->tasks_before,
				   .tasks_after = x->tasks_after,
				   .exits = x->exits,
				   .ledger = x->ledger,
				   .trace = x->trace };
	fresh.processes.items = x->processes.items;
	fresh.processes.capacity = x->processes.capacity;
	*x = fresh;
	x->tasks_before.count = x->tasks_after.count = x->exits.count = 0;
	ledger_clear(&x->ledger);
	trace_clear(&x->trace);
}

bool execution_succeeded(const struct execution *x, const int *codes, size_t count)
{
	bool expected = x->status == 0;
	for (size_t i = 0; i < count; i++)
		expected |= x->status == codes[i];
	return x->outcome == OUTCOME_EXITED && expected;
}

enum grade execution_grade(const struct execution *x)
{
	for (enum grade g = 0; g < GRADES; g++)
		if (x->pt_ns[g] != ABSENT_NS)
			return g;
	return GRADES;
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
	int stage; /* 0 before, 1 after, 2 exit */
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	if (x->task->tgid != y->task->tgid)
		return x->task->tgid < y->task->tgid ? -1 : 1;
	if (x->task->start_ns != y->task->start_ns)
		return x->task->start_ns < y->task->start_ns ? -1 : 1;
	int leader = (x->task->tid == x->task->tgid) - (y->task->tid == y->task->tgid);
	if (leader)
		return -leader;
	if (x->task->tid != y->task->tid)
		return x->task->tid < y->task->tid ? -1 : 1;
	return x->stage - y->stage;
}

static bool same_task(const struct task_record *a, const struct task_record *b)
{
	return a->tgid == b->tgid && a->tid == b->tid && a->start_ns == b->start_ns;
}

static void add_entries(const struct image *image, int stage, struct entry *into, size_t *count)
{
	for (size_t i = 0; i < image->count; i++)
		into[(*count)++] = (struct entry){ &image->tasks[i], stage };
}

static enum role role_of(const struct task_record *t, int32_t self)
{
	if (t->flags & TASK_IS_SUBJECT)
		return ROLE_SUBJECT;
	return t->tgid == self || (t->flags & TASK_IS_SELF) ? ROLE_SELF : ROLE_DAEMON;
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

static bool did_nothing(const struct process *p)
{
	return p->value[TASK_EXEC] == 0 && p->value[TASK_NVCSW] == 0 && p->value[TASK_NIVCSW] == 0;
}

static int compare_processes(const void *a, const void *b)
{
	const struct process *x = a, *y = b;
	if ((x->role == ROLE_SUBJECT) != (y->role == ROLE_SUBJECT))
		return x->role == ROLE_SUBJECT ? -1 : 1;
	if (x->value[TASK_EXEC] != y->value[TASK_EXEC])
		return x->value[TASK_EXEC] > y->value[TASK_EXEC] ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static void keep_process(const struct process *p, struct execution *into)
{
	if (p->role == ROLE_SUBJECT || !did_nothing(p))
		array_push(&into->processes, *p);
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
		for (j = i + 1; j < count && same_task(entries[i].task, entries[j].task);)
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
	bool open, led;
	uint64_t made;
	int32_t self;
	struct execution *into;
};

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
		keep_process(&g->p, g->into);
		g->open = false;
	}
	if (!g->open) {
		g->p = (struct process){ .role = role_of(last, g->self),
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
		daemon_name(last->comm, g->p.name);
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
		keep_process(&g.p, into);
	into->ephemeral = -1;
	if (into->before.present & into->after.present & 1u << OVERALL_FORKS) {
		uint64_t forks =
			into->after.value[OVERALL_FORKS] - into->before.value[OVERALL_FORKS];
		into->ephemeral = forks > g.made ? (int64_t)(forks - g.made) : 0;
	}
	if (into->processes.count)
		qsort(into->processes.items, into->processes.count, sizeof g.p, compare_processes);
}
