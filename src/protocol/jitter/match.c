/* Which source had each ns of a detour: the events swept with a stack of what is active. Time is
 * the innermost one's. Events may be missing anywhere; what is given away still adds up to the
 * detour. */
#include <stdio.h>
#include <string.h>

#include "protocol/jitter/private.h"
#include "record/task.h"

#define DEPTH 32
#define ASLEEP 8

struct frame {
	size_t occurrence;
	enum noise_class class;
	uint32_t number; /* of an interrupt */
	int32_t tid;	 /* of a task */
};

struct sweep {
	struct jitter_work *w;
	struct jitter_detour *d;
	size_t first_occurrence, first_gap;
	uint64_t at; /* up to here time is given away */
	size_t gap_after;
	struct frame stack[DEPTH];
	unsigned depth;
	/* Work items whose worker was switched away. */
	struct frame asleep[ASLEEP];
	unsigned asleep_count;
};

/* ---- names ---- */

static enum noise_class interrupt_class(uint32_t cause)
{
	return cause == LEDGER_SOFTIRQ ? NOISE_SOFTIRQ
	       : cause == LEDGER_NMI   ? NOISE_NMI
				       : NOISE_IRQ;
}

static const char *name_of(const struct detour_round *r, uint32_t cause, uint32_t number)
{
	for (size_t i = 0; i < r->name_count; i++)
		if (r->names[i].cause == cause && r->names[i].source == number)
			return r->names[i].name;
	return NULL;
}

static uint32_t source_by_name(struct jitter_work *w, enum noise_class class, const char *name)
{
	return (uint32_t)(noise_source_get(w->into, class, name) - w->into->sources.items);
}

/* The empty slot or the one that holds it; NULL where the cache is full. */
static struct jitter_cached *cached(struct jitter_work *w, enum noise_class class, uint64_t k0,
				    uint64_t k1)
{
	uint64_t h = (k0 * 0x9e3779b97f4a7c15u ^ k1) * 0xbf58476d1ce4e5b9u + class;
	for (h ^= h >> 29;; h++) {
		struct jitter_cached *c = &w->cache[h % JITTER_CACHE];
		if (c->source && c->key[0] == k0 && c->key[1] == k1 && c->class == class)
			return c;
		if (!c->source) {
			if (w->cached >= JITTER_CACHE * 3 / 4)
				return NULL;
			w->cached++;
			*c = (struct jitter_cached){ { k0, k1 }, class, 0 };
			return c;
		}
	}
}

static uint32_t source_by_number(struct jitter_work *w, enum noise_class class, uint32_t cause,
				 uint32_t number)
{
	struct jitter_cached *c = cached(w, class, number, 0);
	if (c && c->source)
		return c->source - 1;
	const char *name = name_of(w->round, cause, number);
	const char *prefix = class == NOISE_SOFTIRQ ? "softirq:"
			     : class == NOISE_WORK  ? "work:"
						    : "";
	char text[NOISE_NAME_SIZE + 16];
	if (name)
		snprintf(text, sizeof text, "%s%.*s", prefix, NOISE_NAME_SIZE - 1, name);
	else if (class == NOISE_NMI)
		snprintf(text, sizeof text, "nmi");
	else
		snprintf(text, sizeof text, "%s%u", *prefix ? prefix : "irq ", number);
	uint32_t source = source_by_name(w, class, text);
	if (c)
		c->source = source + 1;
	return source;
}

static uint32_t source_of_task(struct jitter_work *w, const struct trace_event *e,
			       enum noise_class class)
{
	if (!e->tid)
		return source_by_name(w, class, "idle");
	uint64_t key[2];
	bool loop = strncmp(e->comm, DETOUR_LOOP, strlen(DETOUR_LOOP)) == 0;
	memcpy(key, e->comm, sizeof key);
	if (loop) { /* by process; no comm is like that */
		key[0] = (uint32_t)e->tgid;
		key[1] = UINT64_MAX;
	}
	struct jitter_cached *c = cached(w, class, key[0], key[1]);
	if (c && c->source)
		return c->source - 1;
	char name[NOISE_NAME_SIZE];
	if (loop)
		snprintf(name, sizeof name, "another tare noise (%d)", e->tgid);
	else
		daemon_name(e->comm, name);
	uint32_t source = source_by_name(w, class, name);
	if (c)
		c->source = source + 1;
	return source;
}

/* ---- the sweep of one detour ---- */

static void give_gap(struct sweep *s, uint64_t ns)
{
	struct jitter_work *w = s->w;
	size_t occurrences = w->occurrences.count - s->first_occurrence;
	if (w->gaps.count > s->first_gap && s->gap_after == occurrences) {
		struct jitter_gap *last = &w->gaps.items[w->gaps.count - 1];
		if (last->begin_ns + last->ns == s->at) {
			last->ns += ns;
			return;
		}
	}
	struct jitter_gap g = { .begin_ns = s->at,
				.ns = ns,
				.kind = occurrences ? GAP_BETWEEN : GAP_LEAD };
	array_push(&w->gaps, g);
	s->gap_after = occurrences;
}

/* The time up to t is the innermost one's. */
static void give(struct sweep *s, uint64_t t)
{
	if (t > s->d->end_ns)
		t = s->d->end_ns;
	if (t <= s->at)
		return;
	uint64_t ns = t - s->at;
	if (s->depth) {
		size_t occurrence = s->stack[s->depth - 1].occurrence;
		s->w->occurrences.items[occurrence].ns += ns;
		if (s->d->steal_ns) {
			struct jitter_segment segment = { occurrence, ns };
			array_push(&s->w->segments, segment);
		}
	} else {
		give_gap(s, ns);
	}
	s->at = t;
}

static struct frame *push_frame(struct sweep *s, struct frame f)
{
	if (s->depth == DEPTH) /* so many ends are missing; the innermost is the likeliest */
		s->depth--;
	s->stack[s->depth] = f;
	return &s->stack[s->depth++];
}

static struct frame *push(struct sweep *s, enum noise_class class, uint32_t source)
{
	struct frame f = { .occurrence = s->w->occurrences.count, .class = class };
	struct jitter_occurrence o = { .source = source, .top = !s->depth, .begin_ns = s->at };
	array_push(&s->w->occurrences, o);
	return push_frame(s, f);
}

static bool is_interrupt(const struct frame *f)
{
	return f->class <= NOISE_NMI;
}

static void enter(struct sweep *s, const struct trace_event *e)
{
	enum noise_class class = interrupt_class(e->a);
	/* no interrupt is nested in itself, no soft one in another: that one's end is missing */
	for (unsigned i = 0; i < s->depth; i++) {
		const struct frame *f = &s->stack[i];
		if (f->class == class && (f->number == e->b || class == NOISE_SOFTIRQ))
			s->depth = i;
	}
	push(s, class, source_by_number(s->w, class, e->a, e->b))->number = e->b;
}

static void leave(struct sweep *s, const struct trace_event *e)
{
	enum noise_class class = interrupt_class(e->a);
	for (unsigned i = s->depth; i-- && is_interrupt(&s->stack[i]);)
		if (s->stack[i].class == class && s->stack[i].number == e->b) {
			give(s, e->at_ns);
			s->depth = i;
			return;
		}
	if (e->at_ns <= s->at)
		return;
	/* its begin is missing: since the last that is known */
	push(s, class, source_by_number(s->w, class, e->a, e->b));
	give(s, e->at_ns);
	s->depth--;
}

static void switched(struct sweep *s, const struct trace_event *e)
{
	struct frame *work = s->depth > 1 ? &s->stack[1] : NULL;
	if (work && work->class == NOISE_WORK && s->asleep_count < ASLEEP) {
		work->tid = s->stack[0].tid;
		s->asleep[s->asleep_count++] = *work;
	}
	s->depth = 0;
	if (e->tid == s->w->round->tid)
		return;
	/* an idle CPU while the loop wants it: it has used up what real time may */
	bool throttled = s->w->round->realtime && ((e->flags & TRACE_IS_FAIR) || !e->tid);
	enum noise_class class = throttled ? NOISE_THROTTLED : NOISE_THREAD;
	push(s, class, source_of_task(s->w, e, class))->tid = e->tid;
	for (unsigned i = 0; i < s->asleep_count; i++)
		if (s->asleep[i].tid == e->tid) {
			push_frame(s, s->asleep[i]);
			s->asleep[i] = s->asleep[--s->asleep_count];
			return;
		}
}

/* Of an NMI only its end is an event. */
static uint64_t begin_of(const struct trace_event *e)
{
	return e->kind == TRACE_NMI ? jitter_sooner(e->at_ns, e->b) : e->at_ns;
}

static void take_event(struct sweep *s, const struct trace_event *e)
{
	if (e->kind == TRACE_LEAVE) {
		if (s->depth && s->stack[s->depth - 1].class == NOISE_FAULT) {
			give(s, e->at_ns);
			s->depth--;
		}
		leave(s, e);
		return;
	}
	give(s, begin_of(e));
	if (s->depth && s->stack[s->depth - 1].class == NOISE_FAULT)
		s->depth--;
	switch (e->kind) {
	case TRACE_ENTER:
		enter(s, e);
		break;
	case TRACE_SWITCH:
		switched(s, e);
		break;
	case TRACE_WORK_BEGIN:
		/* the task is about to do something: interrupts whose end is missing have ended */
		while (s->depth && is_interrupt(&s->stack[s->depth - 1]))
			s->depth--;
		if (s->depth && s->stack[s->depth - 1].class == NOISE_WORK)
			s->depth--;
		push(s, NOISE_WORK, source_by_number(s->w, NOISE_WORK, TRACE_NAMES_WORK, e->a));
		break;
	case TRACE_WORK_END:
		for (unsigned i = s->depth; i--;)
			if (s->stack[i].class == NOISE_WORK) {
				s->depth = i;
				break;
			}
		break;
	case TRACE_FAULT: /* of the loop: it has the CPU */
		s->depth = 0;
		push(s, NOISE_FAULT, source_by_name(s->w, NOISE_FAULT, "page_fault"));
		break;
	case TRACE_NMI:
		push(s, NOISE_NMI, source_by_number(s->w, NOISE_NMI, LEDGER_NMI, e->a));
		give(s, e->at_ns);
		s->depth--;
		break;
	}
}

/* ---- events in no detour ---- */

/* Interrupts that are told from begin to end. */
static void count_outside(struct noise_cpu *into, const struct trace_event *e, size_t count)
{
	struct {
		uint64_t begin_ns, nested_ns;
		uint32_t a, b;
	} stack[DEPTH];
	unsigned depth = 0;
	for (size_t i = 0; i < count; i++, e++) {
		uint64_t ns = 0;
		if (e->kind == TRACE_ENTER && depth < DEPTH) {
			stack[depth].begin_ns = e->at_ns;
			stack[depth].nested_ns = 0;
			stack[depth].a = e->a;
			stack[depth++].b = e->b;
			continue;
		}
		if (e->kind == TRACE_NMI) {
			into->outside++;
			into->outside_ns += e->b;
			ns = e->b;
		} else if (e->kind == TRACE_LEAVE && depth && stack[depth - 1].a == e->a &&
			   stack[depth - 1].b == e->b) {
			ns = e->at_ns - stack[--depth].begin_ns;
			into->outside++;
			into->outside_ns +=
				ns > stack[depth].nested_ns ? ns - stack[depth].nested_ns : 0;
		} else {
			depth = 0;
		}
		if (depth)
			stack[depth - 1].nested_ns += ns;
	}
}

/* How many of the first events are interrupts that were over when the detour began. */
static size_t over_before(const struct trace_event *e, size_t count, uint64_t begin_ns)
{
	size_t over = 0, depth = 0;
	for (size_t i = 0; i < count && e[i].at_ns <= begin_ns; i++) {
		if (e[i].kind == TRACE_ENTER)
			depth++;
		else if (e[i].kind == TRACE_LEAVE && depth)
			depth--;
		else if (e[i].kind != TRACE_NMI)
			break;
		if (!depth)
			over = i + 1;
	}
	return over;
}

static bool opens(const struct jitter_work *w, const struct trace_event *e)
{
	return e->kind == TRACE_ENTER || e->kind == TRACE_FAULT || e->kind == TRACE_WORK_BEGIN ||
	       e->kind == TRACE_NMI || (e->kind == TRACE_SWITCH && e->tid != w->round->tid);
}

static void sweep_detour(struct jitter_work *w, struct jitter_detour *d,
			 const struct trace_event *e, size_t count)
{
	struct sweep s;
	s.w = w, s.d = d, s.at = d->begin_ns, s.gap_after = 0, s.depth = s.asleep_count = 0;
	s.first_occurrence = w->occurrences.count;
	s.first_gap = w->gaps.count;
	size_t i = over_before(e, count, d->begin_ns);
	count_outside(w->into, e, i);
	for (; i < count; i++) {
		if (!s.depth && begin_of(&e[i]) >= d->end_ns && opens(w, &e[i])) {
			count_outside(w->into, e + i, count - i);
			break;
		}
		take_event(&s, &e[i]);
	}
	give(&s, d->end_ns);
	if (w->gaps.count > s.first_gap) {
		struct jitter_gap *last = &w->gaps.items[w->gaps.count - 1];
		if (w->occurrences.count == s.first_occurrence)
			last->kind = GAP_ALONE;
		else if (last->kind == GAP_BETWEEN && last->begin_ns + last->ns == d->end_ns)
			last->kind = GAP_TAIL;
	}
	d->occurrences = w->occurrences.count;
	d->gaps = w->gaps.count;
	d->segments = w->segments.count;
}

/* ---- a round ---- */

static void order_events(struct jitter_work *w)
{
	static const struct trace_event none[1];
	const struct detour_round *r = w->round;
	w->event_count = r->kernel ? r->event_count : 0;
	w->events = w->event_count ? r->events : none;
	for (size_t i = 1; i < w->event_count; i++)
		if (r->events[i].at_ns < r->events[i - 1].at_ns) {
			w->sorted.events.count = 0;
			array_reserve(&w->sorted.events, w->event_count);
			memcpy(w->sorted.events.items, r->events,
			       w->event_count * sizeof *r->events);
			w->sorted.events.count = w->event_count;
			trace_sort(&w->sorted);
			w->events = w->sorted.events.items;
			return;
		}
}

void jitter_match(struct jitter_work *w)
{
	const uint64_t slack = jitter_tuning.slack_ns;
	memset(w->cache, 0, sizeof w->cache);
	w->cached = 0;
	w->occurrences.count = w->gaps.count = w->segments.count = 0;
	uint64_t ended_ns = 0; /* detours are in order, also where the input is not */
	w->detours.count = 0;
	for (size_t i = 0; i < w->round->detour_count; i++) {
		const struct detour *from = &w->round->detours[i];
		struct jitter_detour d = { .begin_ns = from->begin_ns,
					   .end_ns = from->end_ns,
					   .smis = from->smis };
		if (d.begin_ns < ended_ns)
			d.begin_ns = ended_ns;
		if (d.end_ns < d.begin_ns)
			d.end_ns = d.begin_ns;
		uint64_t ns = d.end_ns - d.begin_ns;
		d.steal_ns = from->steal_ns < ns ? from->steal_ns : ns;
		ended_ns = d.end_ns;
		array_push(&w->detours, d);
	}
	order_events(w);
	size_t at = 0;
	for (size_t i = 0; i < w->detours.count; i++) {
		struct jitter_detour *d = &w->detours.items[i];
		uint64_t next_from =
			i + 1 < w->detours.count
				? jitter_sooner(w->detours.items[i + 1].begin_ns, slack)
				: UINT64_MAX;
		size_t first = at;
		while (at < w->event_count &&
		       w->events[at].at_ns < jitter_sooner(d->begin_ns, slack))
			at++;
		count_outside(w->into, w->events + first, at - first);
		first = at;
		/* where it could be the next one's too, it is when it begins something */
		while (at < w->event_count &&
		       w->events[at].at_ns <= jitter_later(d->end_ns, slack) &&
		       !(w->events[at].at_ns > d->end_ns && w->events[at].at_ns >= next_from &&
			 opens(w, &w->events[at])))
			at++;
		sweep_detour(w, d, w->events + first, at - first);
	}
	if (at < w->event_count)
		count_outside(w->into, w->events + at, w->event_count - at);
}
