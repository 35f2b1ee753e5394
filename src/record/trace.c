#include "record/trace.h"

#include <stdlib.h>
#include <string.h>

void trace_release(struct trace *t)
{
	array_release(&t->events);
	array_release(&t->names);
	*t = (struct trace){ 0 };
}

void trace_clear(struct trace *t)
{
	t->present = false;
	t->events.count = t->names.count = 0;
	t->lost = 0;
}

/* Merge sort: stable, which qsort() does not promise. The ring is nearly in order already, so runs
 * are merged only where they overlap. */
static void merge(struct trace_event *a, size_t left, size_t count, struct trace_event *scratch)
{
	if (left == 0 || left == count || a[left - 1].at_ns <= a[left].at_ns)
		return;
	memcpy(scratch, a, left * sizeof *a);
	size_t i = 0, j = left, to = 0;
	while (i < left)
		a[to++] = j < count && a[j].at_ns < scratch[i].at_ns ? a[j++] : scratch[i++];
}

static void sort(struct trace_event *a, size_t count, struct trace_event *scratch)
{
	if (count < 2)
		return;
	sort(a, count / 2, scratch);
	sort(a + count / 2, count - count / 2, scratch);
	merge(a, count / 2, count, scratch);
}

void trace_sort(struct trace *t)
{
	if (!t->events.count)
		return;
	struct trace_event *scratch = xcalloc(t->events.count / 2 + 1, sizeof *scratch);
	sort(t->events.items, t->events.count, scratch);
	free(scratch);
}
