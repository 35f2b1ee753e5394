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
	if (p->begin_ns != q->begin_ns)
		return p->begin_ns < q->begin_ns ? -1 : 1;
	return p->process < q->process ? -1 : p->process > q->process;
}

void bursts_sort(struct bursts *b)
{
	for (size_t i = 1; i < b->bursts.count; i++)
		if (by_begin(&b->bursts.items[i - 1], &b->bursts.items[i]) > 0) {
			qsort(b->bursts.items, b->bursts.count, sizeof *b->bursts.items, by_begin);
			return;
		}
}

struct place {
	int32_t pid;
	uint32_t index;
	uint64_t start_ns;
};

static int by_identity(const void *a, const void *b)
{
	const struct place *p = a, *q = b;
	if (p->pid != q->pid)
		return p->pid < q->pid ? -1 : 1;
	return p->start_ns < q->start_ns ? -1 : p->start_ns > q->start_ns;
}

void bursts_append(struct bursts *into, const struct bursts *next)
{
	size_t known = into->processes.count, count = next->processes.count;
	if (!into->end_ns) {
		into->begin_ns = next->begin_ns;
		into->realtime_ns = next->realtime_ns;
	}
	into->end_ns = next->end_ns;
	if (next->cpus > into->cpus)
		into->cpus = next->cpus;
	into->lost += next->lost;

	struct place *places = xcalloc(known + 1, sizeof *places);
	uint32_t *where = xcalloc(count + 1, sizeof *where);
	for (size_t i = 0; i < known; i++) {
		const struct burst_process *p = &into->processes.items[i];
		places[i] = (struct place){ p->pid, (uint32_t)i, p->start_ns };
	}
	qsort(places, known, sizeof *places, by_identity);
	for (size_t i = 0; i < count; i++) {
		const struct burst_process *p = &next->processes.items[i];
		struct place key = { p->pid, 0, p->start_ns };
		const struct place *found =
			bsearch(&key, places, known, sizeof *places, by_identity);
		if (found) {
			where[i] = found->index;
			into->processes.items[where[i]] = *p; /* it may have a new name */
		} else {
			where[i] = (uint32_t)into->processes.count;
			array_push(&into->processes, *p);
		}
	}
	for (size_t i = 0; i < next->bursts.count; i++) {
		struct burst b = next->bursts.items[i];
		b.process = where[b.process];
		array_push(&into->bursts, b);
	}
	bursts_sort(into);
	free(places);
	free(where);
}
