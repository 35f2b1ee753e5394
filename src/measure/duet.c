#include "measure/duet_conduct.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/interrupt.h"

/* A side that takes at most this share of the other's CPU time is started again when it ends. */
#define REPEATED_BELOW 0.9
#define FIRST_LOOK 6 /* the first of them is a warm-up */
/* An execution may take this many times the longest one so far. */
#define PATIENCE 4

static const struct plan_item *item_of(const struct conduct *c, size_t side)
{
	return &c->p->plan->items[side];
}

bool conduct_is_over(const struct conduct *c)
{
	return clock_monotonic_ns() - c->begin_ns >= c->d->max_time_ns;
}

/* ---- one execution ---- */

static int start_part(struct conduct *c, struct place *at, const cpu_set_t *cpus, struct error *err)
{
	const struct plan *plan = c->p->plan;
	struct seat_start start = { .item = at->side,
				    .iteration = c->pairs ? (long)c->pairs - 1 : -1,
				    .time_limit_ns = plan->execute.time_limit_ns,
				    .pinned = cpus != NULL };
	if (cpus)
		start.cpus = *cpus;
	if (plan->pad_environment)
		start.padding = plan_padding(&c->random);
	if (!start.time_limit_ns) {
		uint64_t longest = PATIENCE * c->longest_ns;
		start.time_limit_ns = longest > c->d->max_time_ns ? longest : c->d->max_time_ns;
	}
	if (c->turns && c->d->way == DUET_SCHEDULER)
		start.slice_ns = c->d->slice_ns;
	snprintf(start.group, sizeof start.group, "%s",
		 turns_group(c->turns, (int)(at - c->place)));
	at->padding = start.padding;
	at->used_ns = ABSENT_NS;
	c->failed_side = at->side;
	struct seat_report r;
	if (seat_start(at->seat, &start, err))
		return -1;
	do
		if (seat_read(at->seat, &r, err))
			return -1;
	while (r.news != SEAT_READY);
	at->had_ns = c->turns && c->d->way == DUET_FREEZER
			     ? turns_had_ns(c->turns, (int)(at - c->place))
			     : 0;
	at->running = true;
	return 0;
}

/* Takes the report of an end. */
static int end_part(struct conduct *c, struct place *at, const struct seat_report *r,
		    struct error *err)
{
	int subject = (int)(at - c->place);
	at->running = false;
	if (c->turns)
		turns_set_present(c->turns, subject, false);
	struct duet_part part = { .side = (uint32_t)at->side,
				  .pair = c->pairs,
				  .repeat = at->repeat,
				  .place = at->order,
				  .outcome = r->outcome,
				  .status = r->status,
				  .started_at_ns = r->started_at_ns,
				  .et_ns = r->et_ns,
				  .turn_ns = ABSENT_NS,
				  .overlap = 1,
				  .switches = r->switches,
				  .padding = at->padding,
				  .instructions = r->instructions,
				  .cycles = r->cycles };
	memcpy(part.pt_ns, r->pt_ns, sizeof part.pt_ns);
	if (c->turns && c->d->way == DUET_FREEZER)
		part.turn_ns = turns_had_ns(c->turns, subject) - at->had_ns;
	if (r->et_ns > c->longest_ns)
		c->longest_ns = r->et_ns;
	array_push(&at->parts, part);
	c->failed_side = at->side;
	return plan_check_outcome(c->p->plan, c->d->sides.items[at->side].name, r->outcome,
				  r->status, err);
}

size_t conduct_keep_parts(struct conduct *c)
{
	size_t before = c->d->parts.count;
	for (int i = 0; i < 2; i++) {
		struct place *at = &c->place[i];
		for (size_t k = 0; k < at->parts.count; k++)
			array_push(&c->d->parts, at->parts.items[k]);
		at->parts.count = 0;
	}
	return c->d->parts.count - before;
}

int conduct_execute(struct conduct *c, struct place *at, size_t side, const cpu_set_t *cpus,
		    struct seat_report *r, struct error *err)
{
	at->side = side;
	at->repeat = 0;
	if (plan_hook(c->p->plan, c->hooks, item_of(c, side)->prepare, "--prepare", -1, err) ||
	    start_part(c, at, cpus, err))
		return -1;
	seat_go(at->seat);
	do
		if (seat_read(at->seat, r, err))
			return -1;
	while (r->news != SEAT_ENDED);
	return end_part(c, at, r, err) ||
			       plan_hook(c->p->plan, c->hooks, item_of(c, side)->conclude,
					 "--conclude", -1, err)
		       ? -1
		       : 0;
}

/* ---- a pair at once ---- */

/* By the last pair, whether `at` is so much shorter than the other that it can begin again. */
static bool is_repeated(const struct conduct *c, const struct place *at)
{
	double ratio = c->ratio[c->place[1].side];
	if (c->has_hooks || ratio <= 0)
		return false;
	return (at == c->place ? 1 / ratio : ratio) < REPEATED_BELOW;
}

/* The share of the last part of `at` that ran before the other's first execution ended. */
static void set_overlap(struct place *at, bool repeated)
{
	struct duet_part *part = &at->parts.items[at->parts.count - 1];
	uint64_t pt = part->pt_ns[GRADE_EXEC];
	if (part->repeat == 0 && repeated)
		return;
	if (at->used_ns != ABSENT_NS && pt != ABSENT_NS && pt)
		part->overlap = fmin((double)at->used_ns / (double)pt, 1);
	else if (part->repeat > 0)
		part->overlap = NAN;
}

static int on_end(struct conduct *c, struct place *at, const struct seat_report *r,
		  struct error *err)
{
	struct place *other = at == c->place ? at + 1 : c->place;
	bool first = at->repeat == 0;
	if (end_part(c, at, r, err))
		return -1;
	if (first)
		at->first_ended = 1;
	if (other->first_ended) {
		/* a repeat of the other may still run: how much of it overlapped? */
		if (first && other->running)
			seat_ask(other->seat);
		set_overlap(at, first && other->repeat > 0);
		return 0;
	}
	/* the other goes on */
	if (!is_repeated(c, at)) {
		seat_ask(other->seat);
		return 0;
	}
	at->repeat++;
	if (start_part(c, at, &c->shared, err))
		return -1;
	turns_set_present(c->turns, (int)(at - c->place), true);
	seat_go(at->seat);
	return 0;
}

/* Notes how the two compared, for the next pair. */
static void note_ratio(struct conduct *c)
{
	uint64_t pt[2] = { 0, 0 };
	for (int i = 0; i < 2; i++)
		if (c->place[i].parts.count)
			pt[i] = c->place[i].parts.items[0].pt_ns[GRADE_EXEC];
	bool known = pt[0] && pt[1] && pt[0] != ABSENT_NS && pt[1] != ABSENT_NS;
	c->ratio[c->place[1].side] = known ? (double)pt[1] / (double)pt[0] : 0;
}

/* Until both have ended. */
static int attend(struct conduct *c, struct error *err)
{
	while (c->place[0].running || c->place[1].running) {
		struct pollfd fds[2] = { { .fd = seat_fd(c->place[0].seat), .events = POLLIN },
					 { .fd = seat_fd(c->place[1].seat), .events = POLLIN } };
		int n = ppoll(fds, 2, NULL, interrupt_mask());
		if (interrupted())
			return error_set(err, EXIT_INTERRUPTED, "interrupted");
		for (int i = 0; n > 0 && i < 2; i++) {
			struct seat_report r;
			if (!fds[i].revents)
				continue;
			c->failed_side = c->place[i].side;
			if (seat_read(c->place[i].seat, &r, err))
				return -1;
			if (r.news == SEAT_USED)
				c->place[i].used_ns = r.used_ns;
			if (r.news == SEAT_ENDED && on_end(c, &c->place[i], &r, err))
				return -1;
		}
	}
	return 0;
}

/* Both at once, on the CPUs that they share. */
static int run_shared(struct conduct *c, int first, struct error *err)
{
	const struct plan *plan = c->p->plan;
	struct place *order[2] = { &c->place[first], &c->place[!first] };
	const long iteration = (long)c->pairs - 1;
	for (int i = 0; i < 2; i++)
		if (plan_hook(plan, c->hooks, item_of(c, order[i]->side)->prepare, "--prepare",
			      iteration, err))
			return -1;
	for (int i = 0; i < 2; i++)
		if (start_part(c, order[i], &c->shared, err))
			return -1;
	turns_begin(c->turns);
	for (int i = 0; i < 2; i++)
		seat_go(order[i]->seat);
	int failed = attend(c, err);
	turns_end(c->turns);
	for (int i = 0; i < 2 && !failed; i++)
		failed = plan_hook(plan, c->hooks, item_of(c, c->place[i].side)->conclude,
				   "--conclude", iteration, err);
	return failed;
}

/* One after the other. */
static int run_whole(struct conduct *c, int first, struct error *err)
{
	struct place *order[2] = { &c->place[first], &c->place[!first] };
	for (int i = 0; i < 2; i++) {
		struct seat_report r;
		if (conduct_execute(c, order[i], order[i]->side, c->p->cpus, &r, err))
			return -1;
		order[i]->parts.items[0].overlap = NAN;
	}
	return 0;
}

static int run_pair(struct conduct *c, size_t side, bool warmup, struct error *err)
{
	const bool whole = c->d->way == DUET_WHOLE;
	c->pairs++;
	/* whole executions: A B, then B A, so that a drift favours neither */
	int first = whole ? (int)(c->pairs & 1) : (int)(plan_random(&c->random) >> 63);
	for (int i = 0; i < 2; i++) {
		struct place *at = &c->place[i];
		at->side = i ? side : 0;
		at->repeat = at->first_ended = 0;
		at->order = (uint32_t)(i != first);
		at->parts.count = 0;
	}
	if (whole ? run_whole(c, first, err) : run_shared(c, first, err))
		return -1;
	for (int i = 0; i < 2; i++)
		array_each(part, &c->place[i].parts)
			part->warmup = warmup;
	note_ratio(c);
	return c->events->added(c->events->context, c->d, conduct_keep_parts(c), err);
}

/* ---- the whole ---- */

static int look(struct conduct *c, bool last, struct error *err)
{
	uint64_t rounds = c->pairs / (c->d->sides.count - 1);
	double used = (double)(clock_monotonic_ns() - c->begin_ns) / (double)c->d->max_time_ns;
	/* one pair in three more than at the last look: few looks, each of which costs some of the
	 * error rate, and yet none comes much too late */
	if (!last && (rounds < FIRST_LOOK || (double)rounds < 1.3 * (double)c->looked_at))
		return 0;
	if (rounds == c->looked_at)
		return 0;
	c->looked_at = rounds;
	/* by the root, more of the error rate is spent early, when most questions are answered */
	array_push(&c->d->looks, (struct duet_look){ .pairs = c->pairs,
						     .spent = last ? 1 : fmin(sqrt(used), 1) });
	if (c->events->looked(c->events->context, c->d, &c->done, err))
		return -1;
	return 0;
}

static bool is_enough(const struct conduct *c)
{
	uint32_t rounds = c->pairs / (uint32_t)(c->d->sides.count - 1);
	if (c->p->max_pairs && rounds > c->p->max_pairs)
		return true;
	/* another round would not end in time; the first ones are needed for any answer */
	uint64_t elapsed = clock_monotonic_ns() - c->begin_ns;
	if (rounds >= FIRST_LOOK && elapsed + c->round_ns > c->d->max_time_ns)
		return true;
	return c->done || conduct_is_over(c);
}

static int run_pairs(struct conduct *c, struct error *err)
{
	size_t others = c->d->sides.count - 1;
	while (!is_enough(c)) {
		uint64_t begin = clock_monotonic_ns();
		for (size_t side = 1; side <= others; side++) {
			if (run_pair(c, side, c->pairs < others, err))
				return -1;
			c->events->progress(c->events->context, c->pairs,
					    clock_monotonic_ns() - c->begin_ns);
		}
		c->round_ns = clock_monotonic_ns() - begin;
		if (look(c, false, err) || (!c->done && conduct_alone_again(c, err)))
			return -1;
	}
	return 0;
}

static int open_places(struct conduct *c, struct error *err)
{
	struct seat_options o = { .plan = c->p->plan,
				  .backend = c->p->backend,
				  .ledger = c->p->ledger,
				  .groups = c->groups };
	for (int i = 0; i < 2; i++) {
		o.other = i ? c->place[0].seat : NULL;
		if (seat_open(&c->place[i].seat, &o, err))
			return -1;
	}
	for (int i = 0; i < 2; i++) {
		struct seat_report r;
		if (seat_read(c->place[i].seat, &r, err))
			return -1;
		c->d->backend = r.backend;
		c->ledger = r.ledger;
		if (i == 0 && !r.ledger && c->p->ledger)
			conduct_say(&c->d->lacks,
				    "Interrupts and steal are in the process times, which "
				    "therefore vary more: taking them off needs root and BPF");
	}
	return 0;
}

static int run_all(struct conduct *c, struct error *err)
{
	bool leave = c->p->plan->execute.orphans == ORPHANS_LEAVE;
	/* the guard is forked before there is a thread */
	if (groups_open(&c->groups, leave, &c->no_groups))
		c->groups = NULL;
	if (open_places(c, err) || launcher_new(&c->hooks, &c->p->plan->hook_launch, err) ||
	    conduct_alone_first(c, err) || conduct_prepare(c, err))
		return -1;
	size_t alone = c->d->parts.count;
	if (c->events->begun(c->events->context, c->d, err) ||
	    c->events->added(c->events->context, c->d, alone, err))
		return -1;
	int failed = run_pairs(c, err);
	if (failed && err->code != EXIT_INTERRUPTED)
		return -1;
	/* the last look, with all of the error rate, also after an interruption */
	struct error late = ERROR_INIT;
	if (look(c, true, failed ? &late : err))
		return -1;
	return failed;
}

int duet_run(const struct duet_plan *p, struct duet *d, const struct duet_events *events,
	     size_t *failed_side, struct error *err)
{
	struct conduct c = { .p = p, .d = d, .events = events, .begin_ns = clock_monotonic_ns() };
	c.random = d->seed ? d->seed : 1;
	c.alone = xcalloc(p->plan->count, sizeof *c.alone);
	c.ratio = xcalloc(p->plan->count, sizeof *c.ratio);
	cpu_set_t before;
	sched_getaffinity(0, sizeof before, &before);
	c.usable = before;
	if (p->cpus) /* also where the inherited mask does not reach */
		c.usable = *p->cpus;
	for (size_t i = 0; i < p->plan->count; i++)
		c.has_hooks |= p->plan->items[i].prepare || p->plan->items[i].conclude;
	int failed = run_all(&c, err);
	*failed_side = failed ? c.failed_side : p->plan->count;
	for (int i = 0; i < 2; i++) {
		seat_close(c.place[i].seat);
		array_release(&c.place[i].parts);
	}
	turns_close(c.turns);
	groups_close(c.groups);
	sched_setaffinity(0, sizeof before, &before);
	for (size_t i = 0; c.hooks && i < p->plan->count; i++) {
		struct error ignored = ERROR_INIT;
		if (plan_hook(p->plan, c.hooks, p->plan->items[i].cleanup, "--cleanup", -1,
			      failed ? &ignored : err))
			failed = -1;
	}
	launcher_free(c.hooks);
	free(c.alone);
	free(c.ratio);
	return failed ? -1 : 0;
}
