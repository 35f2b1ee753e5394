#include "collect/collect.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "collect/backend/backend.h"

struct collector {
	const struct backend_ops *ops;
	void *state;
	char *not_seen;
	struct collector_running running; /* all 0: the subject is a command */
	bool listening;			  /* no subject yet, but exits are kept */
};

/* NULL: not in this build. */
static const struct backend_ops *const backends[BACKENDS] = {
	[BACKEND_PLAIN] = &plain_backend,
#ifdef TARE_NETLINK
	[BACKEND_NETLINK] = &netlink_backend,
#endif
#ifdef TARE_BPF
	[BACKEND_BPF] = &bpf_backend,
#endif
};

static int open_one(struct collector *c, enum backend backend, struct error *err)
{
	const struct backend_ops *ops = backends[backend];
	if (!ops) {
		error_set(err, EXIT_ENVIRONMENT, "this build has no %s back end",
			  backend_name(backend));
		return error_hint(err, "'make' in the source tree installs what it needs");
	}
	c->ops = ops;
	return ops->open(&c->state, err);
}

void collector_expect_ledger(enum backend want, bool trace)
{
	for (int b = 0; b < BACKENDS; b++)
		if (backends[b] && backends[b]->expect_ledger &&
		    (want == BACKENDS || want == (enum backend)b))
			backends[b]->expect_ledger(trace);
}

int collector_open(struct collector **out, enum backend want, struct error *err)
{
	struct collector *c = xcalloc(1, sizeof *c);
	SCOPED(strbuf_release) struct strbuf why = { 0 };
	int failed = -1;
	if (want != BACKENDS) {
		failed = open_one(c, want, err);
		if (failed && getuid() != 0)
			error_hint(err, "run as root, or leave out --backend");
	} else {
		for (int b = BACKENDS - 1; b >= 0 && failed; b--) {
			struct error reason = ERROR_INIT;
			failed = open_one(c, (enum backend)b, &reason);
			if (failed)
				strbuf_printf(&why, "%sno %s: %s", why.length ? "; " : "",
					      backend_name((enum backend)b), reason.text);
		}
		if (failed)
			error_set(err, EXIT_ENVIRONMENT, "no back end can be used: %s",
				  strbuf_text(&why));
	}
	if (failed) {
		free(c);
	} else {
		/* what the chosen back end lacks, and why no better one was available */
		const char *why_not_better = strbuf_text(&why);
		struct strbuf sb = { 0 };
		const char *lacks = c->ops->explain ? c->ops->explain(c->state) : c->ops->not_seen;
		if (lacks)
			strbuf_puts(&sb, lacks);
		if (*why_not_better)
			strbuf_printf(&sb, "%s(%s)", sb.length ? " " : "", why_not_better);
		c->not_seen = sb.length ? strbuf_detach(&sb) : NULL;
		*out = c;
	}
	return failed;
}

void collector_close(struct collector *c)
{
	if (!c)
		return;
	c->ops->close(c->state);
	free(c->not_seen);
	free(c);
}

int collector_keep_ledger(struct collector *c, bool trace, struct error *err)
{
	if (!c->ops->keep_ledger)
		return error_set(err, EXIT_ENVIRONMENT, "the %s back end keeps no ledger",
				 backend_name(c->ops->backend));
	return c->ops->keep_ledger(c->state, trace, err);
}

void collector_take_ledger(struct collector *c, struct ledger *ledger, struct trace *trace)
{
	if (c->ops->take_ledger)
		c->ops->take_ledger(c->state, ledger, trace);
}

enum speed_turn collector_turn(void *collector, uint32_t cpu, uint64_t *events)
{
	const struct collector *c = collector;
	*events = 0;
	return c->ops->turn ? c->ops->turn(c->state, cpu, events) : SPEED_TURN_UNKNOWN;
}

bool collector_knows_turns(const struct collector *c)
{
	return c->ops->knows_turns && c->ops->knows_turns(c->state);
}

enum backend collector_backend(const struct collector *c)
{
	return c->ops->backend;
}

const char *collector_not_seen(const struct collector *c)
{
	return c->not_seen;
}

/* It may be a thread of tare itself: whatever is the subject is nothing else. */
static void flag_running(const struct collector_running *who, struct image *image)
{
	for (size_t i = 0; i < image->count; i++) {
		struct task_record *t = &image->tasks[i];
		if ((who->thread && t->tid == who->thread) ||
		    (who->process && t->tgid == who->process))
			t->flags = (t->flags & ~(uint32_t)TASK_IS_SELF) | TASK_IS_SUBJECT;
	}
}

int collector_snapshot(struct collector *c, struct image *image, struct error *err)
{
	if (c->ops->snapshot(c->state, image, err))
		return -1;
	flag_running(&c->running, image);
	return 0;
}

void collector_arm(struct collector *c)
{
	c->running = (struct collector_running){ 0 };
	c->listening = false;
	if (c->ops->arm)
		c->ops->arm(c->state);
}

int collector_adopt(struct collector *c, pid_t root, struct error *err)
{
	return c->ops->adopt ? c->ops->adopt(c->state, root, err) : 0;
}

static bool is_there(pid_t id)
{
	char path[48];
	snprintf(path, sizeof path, "/proc/%d", (int)id);
	return access(path, F_OK) == 0;
}

void collector_listen(struct collector *c)
{
	c->running = (struct collector_running){ 0 };
	c->ops->listen(c->state);
	c->listening = true;
}

int collector_arm_running(struct collector *c, const struct collector_running *who,
			  struct error *err)
{
	const pid_t ids[] = { who->thread, who->process, who->maker };
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		if (ids[i] && !is_there(ids[i]))
			return error_set(err, EXIT_SUBJECT, "there is no process or thread %d",
					 (int)ids[i]);
	if (!c->listening)
		collector_listen(c);
	c->listening = false;
	c->running = *who;
	return c->ops->arm_running(c->state, who, err);
}

void collector_disarm(struct collector *c)
{
	if (c->ops->disarm)
		c->ops->disarm(c->state);
}

int collector_fd(const struct collector *c)
{
	return c->ops->fd ? c->ops->fd(c->state) : -1;
}

void collector_drain(struct collector *c)
{
	if (c->ops->drain)
		c->ops->drain(c->state);
}

uint64_t collector_root_end_ns(struct collector *c)
{
	return c->ops->root_end_ns ? c->ops->root_end_ns(c->state) : 0;
}

void collector_members(struct collector *c, pid_list *pids)
{
	if (c->ops->members)
		c->ops->members(c->state, pids);
}

void collector_reaped(struct collector *c, pid_t pid, const struct rusage *usage)
{
	if (c->ops->reaped)
		c->ops->reaped(c->state, pid, usage);
}

uint64_t collector_used_ns(struct collector *c)
{
	return c->ops->used_ns ? c->ops->used_ns(c->state) : ABSENT_NS;
}

void collector_finish(struct collector *c, const struct totals *base, struct image *exits,
		      struct totals *totals, uint64_t *lost)
{
	c->ops->finish(c->state, base, exits, totals, lost);
	c->listening = false;
	flag_running(&c->running, exits);
	if (c->running.thread || c->running.process || c->running.maker)
		*totals = (struct totals){ 0 };
}

const char *collector_title(const struct collector *c, pid_t pid)
{
	return c->ops->title ? c->ops->title(c->state, pid) : NULL;
}

bool collector_tells_titles(const struct collector *c)
{
	return c->ops->title != NULL;
}

void collector_probe(enum backend backend, bool *built, bool *usable, char why[256])
{
	struct error err = ERROR_INIT;
	struct collector c = { 0 };
	*built = backends[backend] != NULL;
	*usable = open_one(&c, backend, &err) == 0;
	snprintf(why, 256, "%.255s", err.text);
	if (*usable && c.ops)
		c.ops->close(c.state);
}
