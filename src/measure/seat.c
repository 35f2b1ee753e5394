#include "measure/seat.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/schedule.h"

struct seat {
	pid_t pid;
	int fd;
};

enum order_of { ORDER_START, ORDER_GO, ORDER_ASK };
struct order_message {
	enum order_of what;
	struct seat_start start; /* ORDER_START */
};

/* ---- in the seat's own process ---- */

struct worker {
	int fd;
	const struct seat_options *o;
	struct collector *collector;
	struct launcher *launcher;
	const struct seat_start *start;
	struct execution x;
	bool ledger;
	pid_t pid;	    /* of the command */
	uint64_t before_ns; /* CPU time that the command used before its exec */
};

static void tell(const struct worker *w, const struct seat_report *r)
{
	while (send(w->fd, r, sizeof *r, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

/* Waits for an order. False: tare is gone, or a signal came. */
static bool hear(const struct worker *w, struct order_message *m)
{
	struct pollfd fd = { .fd = w->fd, .events = POLLIN };
	while (!interrupted() && ppoll(&fd, 1, NULL, interrupt_mask()) != 1)
		;
	return !interrupted() && recv(w->fd, m, sizeof *m, 0) == (ssize_t)sizeof *m;
}

static int join_group(const char *group, pid_t pid, struct error *err)
{
	char path[CGROUP_PATH + 32], text[24];
	if (!*group)
		return 0;
	snprintf(path, sizeof path, "%s/cgroup.procs", group);
	int length = snprintf(text, sizeof text, "%d", (int)pid);
	CLOSED int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, (size_t)length) != length)
		return error_errno(err, EXIT_ENVIRONMENT, "cannot move the command to %s", group);
	return 0;
}

static int at_gate(void *context, pid_t pid, struct error *err)
{
	struct worker *w = context;
	struct order_message m;
	struct seat_report r = { .news = SEAT_READY, .pid = pid };
	if (join_group(w->start->group, pid, err))
		return -1;
	if (w->start->slice_ns)
		r.slice_ns = schedule_set_slice(pid, w->start->slice_ns);
	w->pid = pid;
	w->before_ns = collector_used_ns(w->collector);
	tell(w, &r);
	do
		if (!hear(w, &m))
			return error_set(err, EXIT_INTERRUPTED, "interrupted");
	while (m.what != ORDER_GO);
	return 0;
}

static int on_order(void *context, struct collector *c)
{
	struct worker *w = context;
	struct order_message m;
	if (!hear(w, &m))
		return -1;
	struct seat_report r = { .news = SEAT_USED, .used_ns = collector_used_ns(c) };
	if (r.used_ns != ABSENT_NS && w->before_ns != ABSENT_NS && r.used_ns >= w->before_ns)
		r.used_ns -= w->before_ns;
	if (m.what == ORDER_ASK)
		tell(w, &r);
	return 0;
}

static void find_activity(const struct execution *x, struct seat_report *r)
{
	const struct totals *t = &x->totals;
	r->active_ns = r->demand_ns = ABSENT_NS;
	if (x->ledger.present) {
		r->active_ns = r->demand_ns = 0;
		for (int c = LEDGER_RUN; c <= LEDGER_THROTTLED; c++) {
			r->active_ns += x->ledger.wall_ns[c];
			r->demand_ns += x->ledger.subject.ns[c];
		}
	} else if (t->present >> TASK_EXEC & 1) {
		bool delayed = t->present >> TASK_RUN_DELAY & 1;
		r->demand_ns = t->value[TASK_EXEC] + (delayed ? t->value[TASK_RUN_DELAY] : 0);
		r->active_ns = r->demand_ns < x->et_ns ? r->demand_ns : x->et_ns;
	}
}

static void execute_item(struct worker *w, struct seat_report *r)
{
	const struct plan *plan = w->o->plan;
	const struct plan_item *item = &plan->items[w->start->item];
	const struct execute_watch watch = {
		.context = w, .at_gate = at_gate, .fd = w->fd, .readable = on_order
	};
	struct launch launch = plan->launch;
	struct execute_options how = plan->execute;
	launch.iteration = w->start->iteration;
	launch.env_padding = w->start->padding;
	if (w->start->pinned)
		launch.cpus = &w->start->cpus;
	launch.directory = item->directory;
	plan_set_output(&launch, item->output);
	how.watch = &watch;
	if (w->start->time_limit_ns)
		how.time_limit_ns = w->start->time_limit_ns;
	*r = (struct seat_report){ .news = SEAT_FAILED };
	if (execute(w->collector, w->launcher, &launch, item->argv, &how, &w->x, &r->err))
		return;
	const struct totals *t = &w->x.totals;
	bool counted = t->present >> TASK_NVCSW & 1 && t->present >> TASK_NIVCSW & 1;
	*r = (struct seat_report){
		.news = SEAT_ENDED,
		.outcome = w->x.outcome,
		.status = w->x.status,
		.started_at_ns = w->x.started_at_ns,
		.et_ns = w->x.et_ns,
		.end_ns = clock_monotonic_ns(),
		.switches = counted ? t->value[TASK_NVCSW] + t->value[TASK_NIVCSW] : ABSENT_NS,
		.instructions = counter_in_user_mode(&w->x.counters, "instructions"),
		.cycles = counter_in_user_mode(&w->x.counters, "cycles"),
		.processes = t->processes,
		.threads = t->threads,
		.left_behind = w->x.left_behind
	};
	memcpy(r->pt_ns, w->x.pt_ns, sizeof r->pt_ns);
	find_activity(&w->x, r);
}

static void work(struct worker *w)
{
	struct seat_report r = { .news = SEAT_FAILED };
	struct order_message m;
	if (w->o->ledger)
		collector_expect_ledger(w->o->backend, false);
	if (collector_open(&w->collector, w->o->backend, &r.err) ||
	    launcher_new(&w->launcher, &w->o->plan->launch, &r.err)) {
		tell(w, &r);
		return;
	}
	struct error why = ERROR_INIT;
	w->ledger = w->o->ledger && collector_keep_ledger(w->collector, false, &why) == 0;
	r = (struct seat_report){ .news = SEAT_OPEN,
				  .backend = collector_backend(w->collector),
				  .ledger = w->ledger };
	const char *not_seen = collector_not_seen(w->collector);
	snprintf(r.not_seen, sizeof r.not_seen, "%s", not_seen ? not_seen : "");
	tell(w, &r);
	while (hear(w, &m)) {
		if (m.what != ORDER_START)
			continue; /* it ended before it was asked */
		w->start = &m.start;
		execute_item(w, &r);
		tell(w, &r);
	}
}

/* ---- in tare ---- */

int seat_open(struct seat **out, const struct seat_options *o, struct error *err)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return error_errno(err, EXIT_ENVIRONMENT, "cannot make a socket");
	pid_t tare = getpid(), pid = fork();
	if (pid < 0) {
		error_errno(err, EXIT_ENVIRONMENT, "cannot start a process");
		close(ends[0]);
		close(ends[1]);
		return -1;
	}
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != tare)
			_exit(1); /* it was killed just before */
		prctl(PR_SET_NAME, "tare-seat");
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		close(ends[0]);
		/* or the end of that seat's socket would not be seen there */
		if (o->other)
			close(o->other->fd);
		groups_enter(o->groups);
		struct worker w = { .fd = ends[1], .o = o };
		work(&w);
		execution_release(&w.x);
		launcher_free(w.launcher);
		collector_close(w.collector);
		/* not exit(): tare's files and locks are tare's */
		_exit(0);
	}
	close(ends[1]);
	struct seat *s = xcalloc(1, sizeof *s);
	*s = (struct seat){ pid, ends[0] };
	*out = s;
	return 0;
}

void seat_close(struct seat *s)
{
	if (!s)
		return;
	/* the end of the socket ends the command and then the process */
	close(s->fd);
	kill(s->pid, SIGTERM);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(s);
}

int seat_fd(const struct seat *s)
{
	return s->fd;
}

int seat_read(struct seat *s, struct seat_report *r, struct error *err)
{
	struct pollfd fd = { .fd = s->fd, .events = POLLIN };
	while (!interrupted() && ppoll(&fd, 1, NULL, interrupt_mask()) != 1)
		;
	if (interrupted())
		return error_set(err, EXIT_INTERRUPTED, "interrupted");
	if (recv(s->fd, r, sizeof *r, 0) != (ssize_t)sizeof *r)
		return error_set(err, EXIT_ENVIRONMENT, "the process that runs one side is gone");
	if (r->news != SEAT_FAILED)
		return 0;
	if (err)
		*err = r->err;
	return -1;
}

static int order(struct seat *s, const struct order_message *m, struct error *err)
{
	if (send(s->fd, m, sizeof *m, MSG_NOSIGNAL) == (ssize_t)sizeof *m)
		return 0;
	return error_errno(err, EXIT_ENVIRONMENT, "cannot reach the process that runs one side");
}

int seat_start(struct seat *s, const struct seat_start *start, struct error *err)
{
	const struct order_message m = { ORDER_START, *start };
	return order(s, &m, err);
}

void seat_go(struct seat *s)
{
	order(s, &(struct order_message){ .what = ORDER_GO }, NULL);
}

void seat_ask(struct seat *s)
{
	order(s, &(struct order_message){ .what = ORDER_ASK }, NULL);
}
