/* What is kept of a run beside its sums: its parts in time, and its longest detours. */
#include <stdio.h>
#include <string.h>

#include "protocol/jitter/private.h"

/* ---- parts ---- */

static bool share_before(const struct noise_share *a, const struct noise_share *b)
{
	return a->cpu != b->cpu ? a->cpu < b->cpu : a->source < b->source;
}

/* Both by cpu and source; so is what comes out. */
static void add_part(struct noise_part *into, const struct noise_part *from)
{
	struct noise_part sum = *into;
	sum.shares.items = NULL;
	sum.shares.count = sum.shares.capacity = 0;
	array_reserve(&sum.shares, into->shares.count + from->shares.count);
	size_t i = 0, j = 0;
	while (i < into->shares.count || j < from->shares.count) {
		const struct noise_share *a = i < into->shares.count ? &into->shares.items[i]
								     : NULL;
		const struct noise_share *b = j < from->shares.count ? &from->shares.items[j]
								     : NULL;
		if (a && (!b || share_before(a, b))) {
			array_push(&sum.shares, *a);
			i++;
		} else if (b && (!a || share_before(b, a))) {
			array_push(&sum.shares, *b);
			j++;
		} else if (a && b) {
			struct noise_share both = *a;
			both.count += b->count;
			both.ns += b->ns;
			array_push(&sum.shares, both);
			i++, j++;
		}
	}
	if (from->begin_ns < sum.begin_ns)
		sum.begin_ns = from->begin_ns;
	sum.window_ns += from->window_ns;
	sum.count += from->count;
	sum.ns += from->ns;
	array_release(&into->shares);
	*into = sum;
}

void jitter_keep_part(struct noise *n, const struct noise_part *round, uint32_t *filled)
{
	if (!n->parts.count || *filled >= n->part_rounds) {
		size_t kept = 0;
		bool full = n->parts.count >= NOISE_PARTS_MAX; /* then pairs become one */
		for (size_t i = 0; full && i < n->parts.count; i += 2) {
			struct noise_part part = n->parts.items[i];
			if (i + 1 < n->parts.count) {
				add_part(&part, &n->parts.items[i + 1]);
				array_release(&n->parts.items[i + 1].shares);
			}
			n->parts.items[kept++] = part;
		}
		if (full) {
			n->parts.count = kept;
			n->part_rounds *= 2;
		}
		struct noise_part empty = { .begin_ns = round->begin_ns };
		array_push(&n->parts, empty);
		*filled = 0;
	}
	add_part(&n->parts.items[n->parts.count - 1], round);
	++*filled;
}

/* ---- the longest ---- */

static void need_name(struct trace *t, const struct detour_round *r, uint32_t cause,
		      uint32_t source)
{
	for (size_t i = 0; i < t->names.count; i++)
		if (t->names.items[i].cause == cause && t->names.items[i].source == source)
			return;
	for (size_t i = 0; i < r->name_count; i++)
		if (r->names[i].cause == cause && r->names[i].source == source) {
			array_push(&t->names, r->names[i]);
			return;
		}
}

static size_t first_from(const struct jitter_work *w, uint64_t ns)
{
	size_t low = 0, high = w->event_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (w->events[middle].at_ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void add_mark(struct trace *t, const struct detour_round *r, enum trace_kind kind,
		     uint64_t ns)
{
	struct trace_event mark = { .at_ns = ns,
				    .kind = (uint8_t)kind,
				    .cpu = (uint16_t)r->cpu,
				    .tid = r->tid,
				    .tgid = r->tid };
	array_push(&t->events, mark);
}

/* Where there are too many, those after the detour go first, then those before it. */
static void copy_events(const struct jitter_work *w, const struct jitter_detour *d, struct trace *t)
{
	const uint64_t around = jitter_tuning.worst_around;
	size_t first = first_from(w, jitter_sooner(d->begin_ns, around));
	size_t inside = first_from(w, d->begin_ns),
	       behind = first_from(w, jitter_later(d->end_ns, 1));
	size_t end = first_from(w, jitter_later(d->end_ns, around + 1)),
	       room = jitter_tuning.worst_events - 2;
	size_t over = end - first > room ? end - first - room : 0;
	t->present = true;
	t->lost = over;
	size_t cut = smaller(over, end - behind);
	end -= cut, over -= cut;
	cut = smaller(over, inside - first);
	first += cut, over -= cut;
	end -= over;
	behind = smaller(behind, end);
	for (size_t i = first; i <= end; i++) {
		if (i == inside)
			add_mark(t, w->round, TRACE_DETOUR_BEGIN, d->begin_ns);
		if (i == behind)
			add_mark(t, w->round, TRACE_DETOUR_END, d->end_ns);
		if (i == end)
			break;
		const struct trace_event *e = &w->events[i];
		array_push(&t->events, *e);
		if (e->kind == TRACE_ENTER || e->kind == TRACE_LEAVE)
			need_name(t, w->round, e->a, e->b);
		else if (e->kind == TRACE_WORK_BEGIN)
			need_name(t, w->round, TRACE_NAMES_WORK, e->a);
		else if (e->kind == TRACE_NMI)
			need_name(t, w->round, LEDGER_NMI, e->a);
	}
}

void jitter_keep_worst(struct noise *n, const struct jitter_work *w, size_t detour,
		       const uint64_t *class_ns, const char *name)
{
	const struct jitter_detour *d = &w->detours.items[detour];
	uint64_t ns = d->end_ns - d->begin_ns;
	size_t place = n->worst.count;
	if (!n->worst_max || (place >= n->worst_max && n->worst.items[n->worst_max - 1].ns >= ns))
		return;
	struct noise_worst new = { .cpu = w->round->cpu, .begin_ns = d->begin_ns, .ns = ns };
	memcpy(new.class_ns, class_ns, sizeof new.class_ns);
	snprintf(new.name, sizeof new.name, "%s", name);
	copy_events(w, d, &new.trace);
	if (n->worst.count >= n->worst_max)
		trace_release(&n->worst.items[--n->worst.count].trace);
	array_reserve(&n->worst, 1);
	for (place = n->worst.count; place && n->worst.items[place - 1].ns < ns; place--)
		n->worst.items[place] = n->worst.items[place - 1];
	n->worst.items[place] = new;
	n->worst.count++;
}
