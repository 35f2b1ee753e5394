#include "record/query_usage.h"

#include <string.h>

/* So many ticks tell user from system; of fewer, all of the task's life does. */
#define SPLIT_TICKS 10u
#define TICK_NS 4000000u
#define BLKIO_TICK_NS 10000000u /* the grain of block delays in /proc */
#define PID_BITS 22
#define OTHER_QUERY_SHARE 10 /* 1/10 of the measured time: it evaluates something, too */

/* The servers whose presence spoils a measurement, by the name of their processes. */
static const char *const servers[] = { "postgres", "mariadbd", "mysqld", "oracle",
				       "db2sysc",  "sqlservr", "mongod", NULL };

struct tally {
	const struct query_who *who;
	struct query_execution *x;
	uint64_t before_ns; /* begin of the first image */
	int32_t tgid;	    /* whose sums these are */
	enum query_role role;
	uint64_t cpu_ns, blkio_ns;
	bool open, other;
};

static enum query_role role_of(const struct query_who *who, const struct task_record *t)
{
	bool evaluates = t->tgid == who->process && who->process &&
			 (!who->thread || t->tid == who->thread);
	for (size_t i = 0; i < who->worker_count; i++)
		evaluates |= who->workers[i] == t->tgid;
	if (evaluates)
		return QUERY_QUERY;
	if (t->tgid == who->self)
		return QUERY_OWN;
	if (who->server &&
	    (t->tgid == who->server || t->ppid == who->server || t->tgid == who->process))
		return QUERY_UTILITY;
	if (t->flags & TASK_IS_SELF)
		return QUERY_OWN;
	if (!(t->flags & TASK_IS_KERNEL) && who->is_user && who->is_user(who->context, t->tgid))
		return QUERY_USER;
	return QUERY_DAEMON;
}

static bool is_a_server(const struct query_who *who, const struct task_record *t)
{
	char name[17] = "";
	memcpy(name, t->comm, sizeof t->comm);
	if (who->name && *who->name && strcmp(name, who->name) == 0)
		return true;
	for (size_t i = 0; servers[i]; i++)
		if (strcmp(name, servers[i]) == 0)
			return true;
	return false;
}

static uint64_t grown(const struct task_record *first, const struct task_record *last,
		      enum task_measure m)
{
	uint64_t base = first ? first->value[m] : 0;
	return last->value[m] > base ? last->value[m] - base : 0;
}

/* Between the two records; of a task that was not there, since the first image was begun. */
static uint64_t span_ns(const struct tally *t, const struct task_record *first,
			const struct task_record *last)
{
	uint64_t from = first ? first->at_ns : t->before_ns;
	return last->at_ns > from ? last->at_ns - from : 0;
}

/* The first record of a task that has a CPU lacks what it ran since the last tick. */
static uint64_t ran(const struct tally *t, const struct task_record *first,
		    const struct task_record *last)
{
	uint64_t ns = grown(first, last, TASK_EXEC), most = span_ns(t, first, last);
	return ns < most || last->flags & TASK_IS_SUM ? ns : most;
}

/* With delayed dequeue the kernel sometimes takes the uptime for a block delay. A task that was
 * blocked for longer already is not told from that: it counts its delay when it ends. */
static bool knows_blkio(const struct tally *t, const struct task_record *first,
			const struct task_record *last)
{
	uint64_t seen = first ? first->present & last->present : last->present;
	return seen >> TASK_BLKIO_DELAY & 1 &&
	       grown(first, last, TASK_BLKIO_DELAY) <= span_ns(t, first, last) + BLKIO_TICK_NS;
}

static void add_usage(const struct tally *t, struct query_usage *u, const struct task_record *first,
		      const struct task_record *last)
{
	static const struct {
		enum task_measure from;
		enum query_measure to;
	} plain[] = { { TASK_BLKIO_DELAY, QUERY_BLKIO_NS }, { TASK_SYSCR, QUERY_READS },
		      { TASK_SYSCW, QUERY_WRITES },	    { TASK_NVCSW, QUERY_NVCSW },
		      { TASK_NIVCSW, QUERY_NIVCSW },	    { TASK_MAJ_FLT, QUERY_MAJFLT } };
	uint64_t seen = first ? first->present & last->present : last->present;
	if (!knows_blkio(t, first, last))
		seen &= ~(UINT64_C(1) << TASK_BLKIO_DELAY);
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
		if (seen >> plain[i].from & 1)
			u->value[plain[i].to] += grown(first, last, plain[i].from);
		else
			u->missing |= 1u << plain[i].to;
	}
	if (!(seen >> TASK_EXEC & 1)) {
		u->missing |= 1u << QUERY_USER_NS | 1u << QUERY_SYSTEM_NS;
		return;
	}
	/* the scheduler's time is exact; the tick says which part of it was the user's */
	uint64_t user = grown(first, last, TASK_USER), system = grown(first, last, TASK_SYSTEM);
	if (user + system < (uint64_t)SPLIT_TICKS * TICK_NS) {
		user = last->value[TASK_USER];
		system = last->value[TASK_SYSTEM];
	}
	uint64_t both = user + system, exec = ran(t, first, last);
	uint64_t part = both ? (uint64_t)((double)exec * (double)user / (double)both) : exec;
	u->value[QUERY_USER_NS] += part;
	u->value[QUERY_SYSTEM_NS] += exec - part;
}

/* What a process used in all is known. */
static void close_process(struct tally *t)
{
	struct query_execution *x = t->x;
	if (!t->open)
		return;
	t->open = false;
	if (t->role == QUERY_UTILITY && t->cpu_ns > x->utility_most_ns)
		x->utility_most_ns = t->cpu_ns;
	if (t->blkio_ns > x->blkio_most_ns)
		x->blkio_most_ns = t->blkio_ns;
	if (t->other && t->cpu_ns) {
		bool evaluates = t->cpu_ns > x->measured_ns / OTHER_QUERY_SHARE;
		x->other_query += evaluates;
		x->other_utility += !evaluates;
	}
}

static void add_absent(uint64_t *sum, const struct task_record *first,
		       const struct task_record *last, enum task_measure m)
{
	uint64_t seen = first ? first->present & last->present : last->present;
	if (!(seen >> m & 1))
		*sum = ABSENT_NS;
	else if (*sum != ABSENT_NS)
		*sum += grown(first, last, m);
}

static void on_task(void *context, const struct task_record *first, const struct task_record *last,
		    enum task_stay stay)
{
	struct tally *t = context;
	struct query_execution *x = t->x;
	enum query_role role = role_of(t->who, last);
	(void)stay;
	if (t->open && (t->tgid != last->tgid || t->role != role))
		close_process(t);
	if (!t->open) {
		*t = (struct tally){ .who = t->who,
				     .x = x,
				     .before_ns = t->before_ns,
				     .tgid = last->tgid,
				     .role = role,
				     .open = true };
		t->other = (role == QUERY_DAEMON || role == QUERY_USER) &&
			   is_a_server(t->who, last);
		x->usage[role].processes++;
	}
	add_usage(t, &x->usage[role], first, last);
	t->cpu_ns += ran(t, first, last);
	uint64_t blkio = knows_blkio(t, first, last) ? grown(first, last, TASK_BLKIO_DELAY) : 0;
	t->blkio_ns = blkio > t->blkio_ns ? blkio : t->blkio_ns;
	if (role == QUERY_QUERY) {
		x->query_tasks++;
		/* the server's process rather than a worker, by its pid and the ms of its start */
		if (!x->query_process ||
		    last->tid == (t->who->thread ? t->who->thread : t->who->process))
			x->query_process = last->start_ns / 1000000 << PID_BITS |
					   (uint32_t)last->tid;
		add_absent(&x->read_bytes, first, last, TASK_READ_BYTES);
		add_absent(&x->run_delay_ns, first, last, TASK_RUN_DELAY);
	}
}

void query_usage_between(const struct image *before, const struct image *after,
			 const struct image *exits, const struct query_who *who,
			 struct query_execution *x)
{
	struct tally t = { .who = who, .x = x, .before_ns = before->begin_ns };
	memset(x->usage, 0, sizeof x->usage);
	x->query_process = x->utility_most_ns = x->blkio_most_ns = 0;
	x->other_query = x->other_utility = x->query_tasks = 0;
	x->read_bytes = x->run_delay_ns = 0;
	tasks_between(before, after, exits, on_task, &t);
	close_process(&t);
	if (!x->query_process)
		x->read_bytes = x->run_delay_ns = ABSENT_NS;
}

void query_usage_set_cpu(struct query_execution *x, uint64_t cpu_ns)
{
	struct query_usage *u = &x->usage[QUERY_QUERY], *own = &x->usage[QUERY_OWN];
	uint64_t user = u->value[QUERY_USER_NS], both = user + u->value[QUERY_SYSTEM_NS];
	uint64_t part = both ? (uint64_t)((double)cpu_ns * (double)user / (double)both) : cpu_ns;
	if (!u->processes || u->missing & (1u << QUERY_USER_NS | 1u << QUERY_SYSTEM_NS))
		return;
	u->value[QUERY_USER_NS] = part;
	u->value[QUERY_SYSTEM_NS] = cpu_ns - part;
	if (both > cpu_ns && own->processes)
		own->value[QUERY_SYSTEM_NS] += both - cpu_ns;
}

void query_overall_between(const struct overall *before, const struct overall *after,
			   long ticks_per_s, struct query_execution *x)
{
	uint64_t tick_ns = 1000000000u / (uint64_t)ticks_per_s;
	x->overall_missing = 0;
	for (int m = 0; m <= OVERALL_GUEST; m++) {
		bool seen = before->present & after->present & UINT64_C(1) << m;
		uint64_t from = before->value[m], to = after->value[m];
		x->overall_ns[m] = seen && to > from ? (to - from) * tick_ns : 0;
		x->overall_missing |= seen ? 0 : 1u << m;
	}
	/* no task has run a guest where the whole machine has not */
	for (int role = 0; role < QUERY_ROLES; role++)
		if (x->overall_missing >> OVERALL_GUEST & 1 || x->overall_ns[OVERALL_GUEST])
			x->usage[role].missing |= 1u << QUERY_GUEST_NS;
}
