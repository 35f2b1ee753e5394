#include "record/bursts.h"

#include <stdlib.h>

void bursts_release(struct bursts *b)
{
	array_release(&b->processes);
	array_release(&b->bursts);
	*b = (struct bursts){ 0 };
}

static int by_begin(const void *a, const void *b)
{
	const struct burst *p = a, *q = b;
	return ORDER(p->begin_ns, q->begin_ns) ?: ORDER(p->process, q->process);
}

/* From a place on, before which all began earlier. */
static void sort_from(struct bursts *b, size_t first)
{
	for (size_t i = first + 1; i < b->bursts.count; i++)
		if (by_begin(&b->bursts.items[i - 1], &b->bursts.items[i]) > 0) {
			qsort(b->bursts.items + first, b->bursts.count - first,
			      sizeof *b->bursts.items, by_begin);
			return;
		}
}

void bursts_sort(struct bursts *b)
{
	sort_from(b, 0);
}

struct place {
	int32_t pid;
	uint32_t index;
	uint64_t start_ns;
};

static int by_identity(const void *a, const void *b)
{
	const struct place *p = a, *q = b;
	return ORDER(p->pid, q->pid) ?: ORDER(p->start_ns, q->start_ns);
}

/* Where each process of next is in into, after all of them are there. The caller frees it. */
static uint32_t *enter_processes(struct bursts *into, const struct bursts *next)
{
	size_t known = into->processes.count, count = next->processes.count;
	struct place *places = xcalloc(count + 1, sizeof *places);
	uint32_t *where = xcalloc(count + 1, sizeof *where);
	for (size_t i = 0; i < count; i++) {
		const struct burst_process *p = &next->processes.items[i];
		places[i] = (struct place){ p->pid, (uint32_t)i, p->start_ns };
		where[i] = UINT32_MAX;
	}
	qsort(places, count, sizeof *places, by_identity);
	for (size_t i = 0; i < known; i++) {
		struct burst_process *p = &into->processes.items[i];
		struct place key = { p->pid, 0, p->start_ns };
		const struct place *found =
			bsearch(&key, places, count, sizeof *places, by_identity);
		if (found) {
			where[found->index] = (uint32_t)i;
			*p = next->processes.items[found->index]; /* it may have a new name */
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (where[i] != UINT32_MAX)
			continue;
		where[i] = (uint32_t)into->processes.count;
		array_push(&into->processes, next->processes.items[i]);
	}
	free(places);
	return where;
}

void bursts_append(struct bursts *into, const struct bursts *next)
{
	if (!into->end_ns) {
		into->begin_ns = next->begin_ns;
		into->realtime_ns = next->realtime_ns;
	}
	into->end_ns = next->end_ns;
	if (next->cpus > into->cpus)
		into->cpus = next->cpus;
	into->lost += next->lost;
	/* a stretch of days is made of thousands: only what the next one reaches back to is sorted
	 */
	size_t first = into->bursts.count;
	uint64_t earliest = UINT64_MAX;
	uint32_t *where = enter_processes(into, next);
	array_reserve(&into->bursts, next->bursts.count);
	for (size_t i = 0; i < next->bursts.count; i++) {
		struct burst b = next->bursts.items[i];
		b.process = where[b.process];
		if (b.begin_ns < earliest)
			earliest = b.begin_ns;
		array_push(&into->bursts, b);
	}
	while (first && into->bursts.items[first - 1].begin_ns >= earliest)
		first--;
	sort_from(into, first);
	free(where);
}
