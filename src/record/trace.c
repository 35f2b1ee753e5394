#include "record/trace.h"

#include <stdlib.h>
#include <string.h>

#include "record/speed.h"

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

static uint32_t tenths(float ns)
{
	return ns < 1e8f ? (uint32_t)(ns * 10 + 0.5f) : UINT32_MAX / 2;
}

void trace_add_speed(struct trace *t, uint32_t cpu, const struct speed_sample *samples,
		     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct speed_sample *s = &samples[i];
		if (!s->flags)
			array_push(&t->events, (struct trace_event){
						       .at_ns = s->at_ns,
						       .kind = TRACE_SPEED,
						       .cpu = (uint16_t)cpu,
						       .tid = (int32_t)tenths(s->ns[SPEED_CHAIN]),
						       .tgid = (int32_t)tenths(s->ns[SPEED_TURNS]),
						       .a = tenths(s->ns[SPEED_PORTS]),
						       .b = tenths(s->ns[SPEED_LOADS]) });
	}
}
