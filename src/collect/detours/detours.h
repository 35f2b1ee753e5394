/* The loop that sees every detour of a CPU, and the BPF programs that tell what happened there. The
 * loops of all CPUs run in rounds; between rounds nothing is measured and tare may use the CPUs. */
#ifndef TARE_COLLECT_DETOURS_DETOURS_H
#define TARE_COLLECT_DETOURS_DETOURS_H

#include "base/error.h"
#include "record/detour.h"
#include "record/noise.h"

enum detour_threshold {
	THRESHOLD_AUTO,	 /* max(5 x p99.9 of the loop, 10 x the clock's step) */
	THRESHOLD_PAPER, /* 10 x the smallest difference seen */
	THRESHOLD_NS,
};

struct detours_options {
	const uint32_t *cpus;
	size_t count;
	bool kernel;  /* names wanted: BPF. Where it cannot be, detours come without */
	int priority; /* 0: the ordinary class; else FIFO with this priority */
	enum detour_threshold threshold;
	uint64_t threshold_ns; /* of THRESHOLD_NS */
};

struct detours;

/* The CPUs come from cpus_choose(). Errors: the real-time class refused (EXIT_ENVIRONMENT), a
 * threshold below the clock's step (EXIT_USAGE). */
int detours_open(struct detours **out, const struct detours_options *options, struct error *err);
void detours_close(struct detours *d); /* NULL is fine */

/* Why names or steal are missing, or the memory could not be locked: a sentence each; "" when all
 * is well. */
const char *detours_not_seen(const struct detours *d);
/* Fills in what is known before the first round: thresholds, turns, kernel, steal_told. */
void detours_describe(const struct detours *d, struct noise *n);

/* Lets all loops run for so long (at least; a detour at the end is waited for) and waits. rounds
 * gets the detours and events of each CPU, in the order of the options, good until the next call. A
 * round ends early when the room for its detours is used up; signals do not end it. -1: a loop was
 * not on its CPU any longer (EXIT_ENVIRONMENT). */
int detours_round(struct detours *d, uint64_t ns, const struct detour_round **rounds,
		  struct error *err);

/* After the last round: vectors that were counted on the measured CPUs and not told of. */
void detours_untold(struct detours *d, struct noise *n);

#endif
