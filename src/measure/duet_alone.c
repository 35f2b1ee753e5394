#include "measure/duet_conduct.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/strbuf.h"

/* Below this share of its time on a CPU, a command is judged by the time that it takes in all. */
#define WAITING 0.5
/* Above this, it uses more than one CPU at once. */
#define PARALLEL 1.2

int conduct_alone_first(struct conduct *c, struct error *err)
{
	/* without a ledger, waiting for a CPU looks like waiting for a disk: look more often */
	uint32_t least = c->ledger ? 1 : 3, turns = c->p->plan->warmup;
	turns = turns > least ? turns : least;
	for (size_t side = 0; side < c->p->plan->count; side++) {
		c->failed_side = side;
		if (plan_hook(c->p->plan, c->hooks, c->p->plan->items[side].setup, "--setup", -1,
			      err))
			return -1;
		struct place *at = &c->place[side > 0];
		for (uint32_t i = 0; i < turns; i++) {
			struct seat_report r;
			c->events->progress(c->events->context, 0,
					    clock_monotonic_ns() - c->begin_ns);
			if (conduct_execute(c, at, side, c->p->cpus, &r, err))
				return -1;
			at->parts.items[at->parts.count - 1].warmup = true;
			struct alone *a = &c->alone[side];
			bool known = r.active_ns != ABSENT_NS && r.active_ns && r.et_ns;
			a->active = known ? fmax(a->active, (double)r.active_ns / (double)r.et_ns)
					  : 1;
			a->cpus = known ? fmax(a->cpus, (double)r.demand_ns / (double)r.active_ns)
					: 1;
		}
		conduct_keep_parts(c);
	}
	return 0;
}

int conduct_alone_again(struct conduct *c, struct error *err)
{
	uint32_t pairs = c->pairs, round = pairs / (uint32_t)(c->d->sides.count - 1);
	bool due = round == 6 || round == 12 || round == 24 || round == 48 ||
		   (round && round % 96 == 0);
	if (!due || c->d->way == DUET_WHOLE || pairs % (c->d->sides.count - 1) ||
	    conduct_is_over(c))
		return 0;
	c->pairs = 0; /* alone */
	int failed = 0;
	for (size_t side = 0; side < c->d->sides.count && !failed; side++) {
		struct seat_report r;
		failed = conduct_execute(c, &c->place[side > 0], side, &c->shared, &r, err);
	}
	c->pairs = pairs;
	if (failed)
		return -1;
	return c->events->added(c->events->context, c->d, conduct_keep_parts(c), err);
}

void conduct_say(char **into, const char *fmt, ...)
{
	va_list ap;
	struct strbuf text = { 0 };
	if (*into)
		strbuf_printf(&text, "%s. ", *into);
	va_start(ap, fmt);
	strbuf_vprintf(&text, fmt, ap);
	va_end(ap);
	free(*into);
	*into = strbuf_detach(&text);
}

static void choose_way(struct conduct *c)
{
	struct duet *d = c->d;
	const char *waits = NULL, *parallel = NULL;
	double share = 1, cpus = 1;
	for (size_t i = 0; i < d->sides.count; i++) {
		const struct alone *a = &c->alone[i];
		if (a->active < WAITING && a->active < share) {
			share = a->active;
			waits = d->sides.items[i].name;
		}
		if (a->cpus > PARALLEL && a->cpus > cpus) {
			cpus = a->cpus;
			parallel = d->sides.items[i].name;
		}
	}
	if (c->p->way != DUET_WAYS) {
		d->way = c->p->way;
		conduct_say(&d->why, "as asked");
	} else if (waits) {
		d->way = DUET_WHOLE;
		conduct_say(&d->why, "'%.60s' waits %.0f %% of its time", waits, 100 * (1 - share));
	} else if (parallel && CPU_COUNT(&c->usable) > 1) {
		d->way = DUET_FREEZER;
		conduct_say(&d->why, "'%.60s' uses %.1f CPUs at once", parallel, cpus);
	} else {
		d->way = DUET_SCHEDULER;
		conduct_say(&d->why,
			    parallel ? "there is one CPU only" : "each uses one CPU at a time");
	}
}

static void name_cpus(struct conduct *c)
{
	uint32_t list[CPU_SETSIZE];
	size_t count = 0;
	struct strbuf text = { 0 };
	for (uint32_t i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &c->shared))
			list[count++] = i;
	cpus_text(list, count, &text);
	c->d->cpus = strbuf_detach(&text);
}

/* tare itself keeps off the CPU that is shared, if there is another. */
static void keep_off(struct conduct *c)
{
	cpu_set_t rest;
	CPU_ZERO(&rest);
	sched_getaffinity(0, sizeof rest, &rest);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &c->shared))
			CPU_CLR(i, &rest);
	if (CPU_COUNT(&rest))
		sched_setaffinity(0, sizeof rest, &rest);
}

int conduct_prepare(struct conduct *c, struct error *err)
{
	struct duet *d = c->d;
	struct error why = c->no_groups;
	choose_way(c);
	c->shared = c->usable;
	if (d->way == DUET_FREEZER &&
	    (!c->groups || turns_open_freezer(&c->turns, c->groups, d->turn_ns, &why))) {
		if (c->p->way == DUET_FREEZER) {
			*err = why;
			return error_hint(err, "it takes root and cgroup v2");
		}
		d->way = DUET_WHOLE;
		conduct_say(
			&d->lacks,
			"Programs that use several CPUs cannot be made to take turns here (%s), so whole "
			"executions are compared, which meet different speeds",
			why.text);
	}
	if (d->way == DUET_SCHEDULER) {
		int last = 0;
		for (int i = 0; i < CPU_SETSIZE; i++)
			if (CPU_ISSET(i, &c->usable))
				last = i;
		CPU_ZERO(&c->shared);
		CPU_SET(last, &c->shared);
		if (turns_open_scheduler(&c->turns, last, d->period_ns, err))
			return -1;
		if (!turns_exact(c->turns))
			conduct_say(&d->lacks,
				    "Without root nothing can make the two alternate at exact "
				    "times, so pairs vary more");
		keep_off(c);
	}
	if (d->way != DUET_FREEZER)
		d->turn_ns = 0;
	if (d->way != DUET_SCHEDULER)
		d->period_ns = d->slice_ns = 0;
	name_cpus(c);
	return 0;
}
