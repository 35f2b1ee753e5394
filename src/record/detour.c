#include "record/detour.h"

#include "record/execution.h"

void detours_place(const struct detour_note *notes, size_t count, double ticks_per_ns,
		   uint64_t steal_before, detour_list *into)
{
	uint64_t ended_ns = 0, stolen = steal_before;
	for (size_t i = 0; i < count; i++) {
		const struct detour_note *n = &notes[i];
		struct detour d = { 0 };
		d.end_ns = n->paired_ns -
			   (uint64_t)((double)(n->paired - n->after) / ticks_per_ns + 0.5);
		d.begin_ns =
			d.end_ns - (uint64_t)((double)(n->after - n->before) / ticks_per_ns + 0.5);
		if (d.begin_ns < ended_ns) { /* the pairs' own error, some ns */
			d.end_ns += ended_ns - d.begin_ns;
			d.begin_ns = ended_ns;
		}
		if (n->steal_ns != ABSENT_NS) {
			if (stolen != ABSENT_NS && n->steal_ns > stolen)
				d.steal_ns = n->steal_ns - stolen;
			stolen = n->steal_ns;
		}
		d.smis = n->smis;
		ended_ns = d.end_ns;
		array_push(into, d);
	}
}
