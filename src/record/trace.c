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
static void sort(struct trace_event *a, size_t count, struct trace_event *scratch)
{
	size_t left = count / 2, i = 0, j = left, to = 0;
	if (count < 2)
		return;
	sort(a, left, scratch);
	sort(a + left, count - left, scratch);
	if (a[left - 1].at_ns <= a[left].at_ns)
		return;
	memcpy(scratch, a, left * sizeof *a);
	while (i < left)
		a[to++] = j < count && a[j].at_ns < scratch[i].at_ns ? a[j++] : scratch[i++];
}

void trace_sort(struct trace *t)
{
	if (!t->events.count)
		return;
	struct trace_event *scratch = xcalloc(t->events.count / 2 + 1, sizeof *scratch);
	sort(t->events.items, t->events.count, scratch);
	free(scratch);
}
