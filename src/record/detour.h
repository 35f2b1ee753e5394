/* What the loop of `tare noise` saw in one round on one CPU: its detours, and what the kernel
 * reported about that CPU meanwhile. Rounds are independent: each begins and ends with the loop on
 * its CPU. */
#ifndef TARE_RECORD_DETOUR_H
#define TARE_RECORD_DETOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "record/speed.h"
#include "record/trace.h"

/* The name of a loop's thread is this and the number of its CPU. Another process's loop on the same
 * CPU is recognised by it. */
#define DETOUR_LOOP "tare-loop/"

/* The loop's raw note, in ticks of the CPU's counter (x86: TSC, arm64: CNTVCT). */
struct detour_note {
	uint64_t before, after; /* the two readings around the detour */
	uint64_t paired;	/* a third reading, taken together with paired_ns right after it */
	uint64_t paired_ns;	/* CLOCK_MONOTONIC */
	uint64_t steal_ns;	/* the CPU's steal clock then; ABSENT_NS: not read (too short, or no
				   BPF). Its increase since the last reading belongs to this detour. */
	uint64_t resumed; /* when the loop continued; it did not watch between `after` and this */
	uint64_t smis;	  /* counted since the loop last read the count; 0 if it was not read */
};

/* CLOCK_MONOTONIC. The loop was away from begin_ns to end_ns. */
struct detour {
	uint64_t begin_ns, end_ns;
	uint64_t steal_ns; /* taken by the hypervisor in it; 0: none or unknown */
	uint64_t smis;	   /* in it; 0: none or unknown */
};

/* Converts notes to detours. Each detour is placed by its own pair, so that a drift between the
 * clocks cannot add up. steal_before: the steal clock at the begin of the round, ABSENT_NS:
 * unknown. ticks_per_ns is that of the round. Detours keep their order, and none begins before the
 * previous has ended. */
typedef ARRAY(struct detour) detour_list;
void detours_place(const struct detour_note *notes, size_t count, double ticks_per_ns,
		   uint64_t steal_before, detour_list *into);

struct detour_round {
	uint32_t cpu;
	int32_t tid;		   /* of the loop */
	bool realtime;		   /* it ran in the FIFO class */
	bool kernel;		   /* events were taken; false: detours have no names */
	uint64_t begin_ns, end_ns; /* the loop's first and last reading, CLOCK_MONOTONIC */
	uint64_t turns;		   /* readings of the clock */
	uint64_t unwatched_ns;	   /* while the loop wrote its notes or probed, and saw nothing */
	bool smis_told;		   /* the CPU counts SMIs */
	uint64_t smis;		   /* in this round, also while the loop saw nothing */
	const struct detour *detours;
	size_t detour_count;
	const struct speed_sample *speeds; /* the loop's probes, each from its at_ns on; by time */
	size_t speed_count;
	/* By time: TRACE_SWITCH, TRACE_ENTER, TRACE_LEAVE, TRACE_WORK_BEGIN, TRACE_WORK_END,
	 * TRACE_FAULT, TRACE_NMI of this CPU. */
	const struct trace_event *events;
	size_t event_count;
	uint64_t lost; /* events without room */
	/* The meaning of the numbers in events, by (cause, source). */
	const struct trace_name *names;
	size_t name_count;
};

#endif
