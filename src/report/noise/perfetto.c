#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/noise/report.h"
#include "report/time/several.h"

/* Sources get numbers of their own: each of the traces may have its own. */
#define OWN_NUMBERS 0x40000000u

typedef ARRAY(struct trace_event) event_list;

/* ---- one numbering ---- */

static uint32_t renumbered(struct trace *all, const struct trace *from, uint32_t cause,
			   uint32_t source)
{
	const struct trace_name *name = NULL;
	for (size_t i = 0; i < from->names.count && !name; i++)
		if (from->names.items[i].cause == cause && from->names.items[i].source == source)
			name = &from->names.items[i];
	if (!name)
		return source;
	for (size_t i = 0; i < all->names.count; i++)
		if (all->names.items[i].cause == cause &&
		    strncmp(all->names.items[i].name, name->name, sizeof name->name) == 0)
			return all->names.items[i].source;
	struct trace_name own = *name;
	own.source = OWN_NUMBERS + (uint32_t)all->names.count;
	array_push(&all->names, own);
	return own.source;
}

/* ---- the events of one CPU ---- */

/* Within an instant the order stays, but a detour holds what happens when it begins and ends. */
static int rank(const struct trace_event *e)
{
	return e->kind == TRACE_DETOUR_BEGIN ? 0 : e->kind == TRACE_DETOUR_END ? 2 : 1;
}

static bool is_same(const struct trace_event *a, const struct trace_event *b)
{
	return a->at_ns == b->at_ns && a->kind == b->kind &&
	       (rank(a) != 1 || (a->tid == b->tid && a->a == b->a && a->b == b->b));
}

/* Two lists in order become one, without those of `more` that are in `list` already. */
static void merge(event_list *list, const event_list *more)
{
	event_list both = { 0 };
	size_t i = 0, k = 0;
	while (i < list->count || k < more->count) {
		const struct trace_event *a = i < list->count ? &list->items[i] : NULL;
		const struct trace_event *b = k < more->count ? &more->items[k] : NULL;
		bool later = a && b &&
			     (b->at_ns != a->at_ns ? b->at_ns < a->at_ns : rank(b) < rank(a));
		if (a && !later) {
			array_push(&both, *a);
			i++;
		} else if (b) {
			array_push(&both, *b);
			k++;
		}
	}
	/* an instant holds few events */
	size_t kept = 0;
	for (i = 0; i < both.count; i++) {
		bool twice = false;
		for (k = kept; k > 0 && both.items[k - 1].at_ns == both.items[i].at_ns; k--)
			twice |= is_same(&both.items[k - 1], &both.items[i]);
		if (!twice)
			both.items[kept++] = both.items[i];
	}
	both.count = kept;
	array_release(list);
	*list = both;
}

/* Its own events, renumbered, then those of the detour itself. */
static void gather(struct trace *all, const struct noise_worst *w, event_list *into)
{
	uint16_t cpu = (uint16_t)w->cpu;
	struct trace_event ends[] = {
		{ .at_ns = w->begin_ns, .kind = TRACE_DETOUR_BEGIN, .cpu = cpu },
		{ .at_ns = w->begin_ns + w->ns, .kind = TRACE_DETOUR_END, .cpu = cpu },
	};
	struct trace sorted = { 0 };
	for (size_t i = 0; i < w->trace.events.count; i++) {
		struct trace_event e = w->trace.events.items[i];
		if (e.cpu != w->cpu)
			continue;
		if (e.kind == TRACE_ENTER || e.kind == TRACE_LEAVE)
			e.b = renumbered(all, &w->trace, e.a, e.b);
		if (e.kind == TRACE_WORK_BEGIN)
			e.a = renumbered(all, &w->trace, TRACE_NAMES_WORK, e.a);
		array_push(&sorted.events, e);
	}
	trace_sort(&sorted);
	into->items = sorted.events.items;
	into->count = sorted.events.count;
	into->capacity = sorted.events.capacity;
	merge(into, &(event_list){ .items = ends, .count = 2 });
}

/* ---- stretches: what is kept of a CPU without a gap ---- */

struct stretch {
	uint32_t cpu;
	event_list events;
};

typedef ARRAY(struct stretch) stretch_list;

static bool overlap(const struct stretch *s, const event_list *events)
{
	if (!s->events.count || !events->count || !s->events.items || !events->items)
		return false;
	const struct trace_event *last = &s->events.items[s->events.count - 1];
	return s->events.items[0].at_ns <= events->items[events->count - 1].at_ns &&
	       events->items[0].at_ns <= last->at_ns;
}

static void add_stretch(stretch_list *list, uint32_t cpu, event_list *events)
{
	struct stretch joined = { cpu, *events };
	/* what is joined may overlap with more */
	for (size_t i = 0; i < list->count;) {
		struct stretch *s = &list->items[i];
		if (s->cpu != cpu || !overlap(s, &joined.events)) {
			i++;
			continue;
		}
		merge(&joined.events, &s->events);
		array_release(&s->events);
		*s = list->items[--list->count];
		i = 0;
	}
	array_push(list, joined);
}

/* The loop's tid on a CPU; 0: not known. */
static int32_t loop_of(const stretch_list *list, uint32_t cpu)
{
	for (size_t i = 0; i < list->count; i++)
		for (size_t k = 0; list->items[i].cpu == cpu && k < list->items[i].events.count;
		     k++) {
			const struct trace_event *e = &list->items[i].events.items[k];
			if (e->kind == TRACE_SWITCH && e->flags & TRACE_IS_SELF)
				return e->tid;
		}
	return 0;
}

static struct trace_event hand_over(const struct stretch *s, uint64_t at_ns, int32_t from,
				    int32_t to)
{
	return (struct trace_event){ .at_ns = at_ns,
				     .kind = TRACE_SWITCH,
				     .cpu = (uint16_t)s->cpu,
				     .tid = to,
				     .tgid = to,
				     .a = (uint32_t)from,
				     .b = LEDGER_QUEUED };
}

/* Between stretches nothing is known of a CPU, which is no loss: whoever has it gets it when a
 * stretch begins and leaves it when it ends, and what is still open then ends, too. */
static void put_stretch(const struct stretch *s, int32_t loop, struct trace *all)
{
	int32_t running = loop;
	const event_list *events = &s->events;
	uint64_t begin_ns = events->items[0].at_ns, end_ns = events->items[events->count - 1].at_ns;
	FREED ARRAY(int32_t) working = { 0 };
	bool away = false;
	for (size_t i = events->count; i-- > 0;)
		if (events->items[i].kind == TRACE_SWITCH)
			running = (int32_t)events->items[i].a;
	if (running)
		array_push(&all->events, hand_over(s, begin_ns, 0, running));
	for (size_t i = 0; i < events->count; i++) {
		struct trace_event e = events->items[i];
		if (e.kind == TRACE_SWITCH)
			running = e.tid;
		if (e.kind == TRACE_WORK_BEGIN || e.kind == TRACE_WORK_END)
			e.tid = e.tid ? e.tid : running;
		if (e.kind == TRACE_WORK_BEGIN)
			array_push(&working, e.tid);
		if (rank(&e) != 1)
			away = e.kind == TRACE_DETOUR_BEGIN;
		array_push(&all->events, e);
	}
	for (size_t i = 0; i < working.count; i++)
		array_push(&all->events, (struct trace_event){ .at_ns = end_ns,
							       .kind = TRACE_WORK_END,
							       .cpu = (uint16_t)s->cpu,
							       .tid = working.items[i] });
	if (away)
		array_push(&all->events, (struct trace_event){ .at_ns = end_ns,
							       .kind = TRACE_DETOUR_END,
							       .cpu = (uint16_t)s->cpu });
	if (running)
		array_push(&all->events, hand_over(s, end_ns, running, 0));
}

/* ---- the whole ---- */

void noise_perfetto(const struct noise_view *v, struct strbuf *out)
{
	const struct noise *n = v->noise;
	SCOPED(trace_release) struct trace all = { .present = true };
	FREED stretch_list stretches = { 0 };
	FREED ARRAY(struct perfetto_detour) detours = { 0 };
	for (size_t i = 0; i < n->worst.count; i++) {
		const struct noise_worst *w = &n->worst.items[i];
		event_list events = { 0 };
		gather(&all, w, &events);
		add_stretch(&stretches, w->cpu, &events);
		all.lost += w->trace.lost;
		array_push(&detours,
			   (struct perfetto_detour){ w->cpu, w->begin_ns, w->name, w->class_ns });
	}
	for (size_t i = 0; i < stretches.count; i++)
		put_stretch(&stretches.items[i], loop_of(&stretches, stretches.items[i].cpu), &all);
	/* stable, so those of a CPU stay as they are; stretches do not overlap */
	trace_sort(&all);
	char what[64];
	snprintf(what, sizeof what, "%zu longest detour%s", n->worst.count,
		 n->worst.count == 1 ? "" : "s");
	/* started_at_ns is when the run began: the loops were being set up until begin_ns */
	struct perfetto_title title = { .run = run_title(v->run),
					.execution = what,
					.begin_ns = n->begin_ns,
					.end_ns = n->begin_ns + n->elapsed_ns,
					.started_at_ns = v->run->started_at_ns,
					.begin = "first round",
					.detours = detours.items,
					.detour_count = detours.count };
	perfetto_render(&all, &title, out);
	for (size_t i = 0; i < stretches.count; i++)
		array_release(&stretches.items[i].events);
}
