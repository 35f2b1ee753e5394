/* What the loop of `tare noise` saw in one round on one CPU: its detours, and beside them what the
 * kernel told of that CPU meanwhile. No round depends on another: each begins and ends with the
 * loop on its CPU. */
#ifndef TARE_RECORD_DETOUR_H
#define TARE_RECORD_DETOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "record/trace.h"

/* As the loop notes it: ticks of the CPU's counter (x86: TSC, arm64: CNTVCT). */
struct detour_note {
	uint64_t before, after; /* the two readings around the detour */
	uint64_t paired;	/* a third, taken together with paired_ns right after it */
	uint64_t paired_ns;	/* CLOCK_MONOTONIC */
	uint64_t steal_ns;	/* the CPU's steal clock then; ABSENT_NS: not read (too short, or no
				   BPF). What it grew by since the last reading is this detour's. */
	uint64_t resumed; /* when the loop went on: what is between `after` and this it did not
			     watch */
};

/* CLOCK_MONOTONIC. The loop was away from begin_ns to end_ns. */
struct detour {
	uint64_t begin_ns, end_ns;
	uint64_t steal_ns; /* taken by the hypervisor in it; 0 where none or not known */
};

/* Each detour is placed by its own pair, so that a drift between the clocks cannot add up.
 * steal_before: the steal clock at the begin of the round, ABSENT_NS: not known. ticks_per_ns is
 * that of the round. Detours keep their order, and none begins before the last has ended. */
typedef ARRAY(struct detour) detour_list;
void detours_place(const struct detour_note *notes, size_t count, double ticks_per_ns,
		   uint64_t steal_before, detour_list *into);

struct detour_round {
	uint32_t cpu;
	int32_t tid;		   /* of the loop */
	bool realtime;		   /* it ran in the FIFO class */
	bool kernel;		   /* events were taken; false: detours without names */
	uint64_t begin_ns, end_ns; /* the loop's first and last reading, CLOCK_MONOTONIC */
	uint64_t turns;		   /* readings of the clock */
	uint64_t unwatched_ns;	   /* the loop's own notes: it saw nothing then */
	const struct detour *detours;
	size_t detour_count;
	/* By time. TRACE_SWITCH, TRACE_ENTER, TRACE_LEAVE, TRACE_WORK_BEGIN, TRACE_WORK_END,
	 * TRACE_FAULT, TRACE_NMI of this CPU. */
	const struct trace_event *events;
	size_t event_count;
	uint64_t lost; /* events that found no room */
	/* What the events' numbers mean, by (cause, source). */
	const struct trace_name *names;
	size_t name_count;
};

#endif
