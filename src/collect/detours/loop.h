/* The loop that reads its CPU's counter over and over, and notes where two readings lie far apart.
 * Private to collect/. */
#ifndef TARE_COLLECT_DETOURS_LOOP_H
#define TARE_COLLECT_DETOURS_LOOP_H

#include <stdbool.h>

#include "collect/bpf/noise.h"
#include "record/detour.h"

struct loop_pair {
	uint64_t ticks, ns; /* of the same instant; ns: CLOCK_MONOTONIC */
};

/* What the loop is like when nothing disturbs it, in ticks. */
struct loop_turn {
	uint64_t median, p999;
	uint64_t least; /* the smallest difference that the clock's step can show */
	double step;	/* of the clock: it may stand still and jump */
};

struct loop {
	/* Set before. */
	uint32_t cpu;
	double ticks_per_ns;
	uint64_t threshold;   /* ticks */
	uint64_t steal_after; /* ticks: a shorter detour holds no steal */
	int here;	      /* the program that tells steal, or -1 */
	const volatile struct noise_slot *slot;
	struct detour_note *notes;
	size_t room; /* a round ends when it is used up */
	/* Of the round. */
	struct loop_pair begin, end;
	uint64_t steal_before; /* ABSENT_NS: not known */
	uint64_t turns;
	size_t count;
	bool moved; /* it was not on its CPU all the time: that went offline */
};

/* Borrows the memory of the notes. */
void loop_calibrate(struct loop *l, struct loop_turn *out);
/* For ns, at least. */
void loop_run(struct loop *l, uint64_t ns);
/* The best of a few tries: what came between the readings is shortest. */
struct loop_pair loop_pair_now(void);

/* Pure: what sorted differences of readings say. */
void loop_judge(const uint32_t *sorted, size_t count, struct loop_turn *out);

#endif
