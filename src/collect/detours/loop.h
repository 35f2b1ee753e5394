/* The loop that reads its CPU's counter again and again, and notes where two readings lie far
 * apart. Private to collect/. */
#ifndef TARE_COLLECT_DETOURS_LOOP_H
#define TARE_COLLECT_DETOURS_LOOP_H

#include <stdbool.h>

#include "collect/bpf/noise.h"
#include "collect/speed/work.h"
#include "record/detour.h"

struct loop_pair {
	uint64_t ticks, ns; /* of the same instant; ns: CLOCK_MONOTONIC */
};

/* What the loop looks like undisturbed, in ticks. */
struct loop_turn {
	uint64_t median, p999;
	uint64_t least; /* the smallest difference that the clock's step can show */
	double step;	/* of the clock, which may stand still and jump */
};

/* Known work that the loop did, in ticks. It did not watch between `at` and `resumed`. */
struct loop_probe {
	uint64_t at, resumed;
	uint64_t ticks[SPEED_KINDS];
};

struct loop {
	/* Set by the caller. */
	uint32_t cpu;
	double ticks_per_ns;
	uint64_t threshold;   /* ticks */
	uint64_t steal_after; /* ticks: a shorter detour contains no steal */
	int here;	      /* the program that reports steal, or -1 */
	int smi;	      /* the count of SMIs, or -1 */
	uint64_t smi_after;   /* ticks: no SMI is as short */
	const volatile struct noise_slot *slot;
	struct detour_note *notes;
	size_t room;		       /* a round ends when it is full */
	const struct speed_ring *ring; /* for probes of the CPU's speed; NULL: none */
	struct loop_probe *probes;
	size_t probe_room; /* when it is full, no more probes are made in this round */
	/* The result of a round. */
	struct loop_pair begin, end;
	uint64_t steal_before; /* ABSENT_NS: unknown */
	uint64_t smis;	       /* counted in it; ABSENT_NS: unknown */
	uint64_t turns;
	size_t count;
	size_t probe_count;
	bool moved; /* it left its CPU, which went offline */
	/* Kept between rounds. */
	uint32_t place;	    /* in the ring */
	uint64_t smis_read; /* the last reading of the count */
	uint64_t dither;    /* 0 at first */
};

/* Borrows the memory of the notes. */
void loop_calibrate(struct loop *l, struct loop_turn *out);
/* Runs for at least ns. */
void loop_run(struct loop *l, uint64_t ns);
/* The best of a few tries: the one with the shortest time between its readings. */
struct loop_pair loop_pair_now(void);

/* Pure: judges sorted differences of readings. */
void loop_judge(const uint32_t *sorted, size_t count, struct loop_turn *out);

#endif
