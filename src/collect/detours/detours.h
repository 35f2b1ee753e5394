/* The loop that sees every detour of a CPU, and the BPF programs that report what happened there.
 * The loops of all CPUs run in rounds. Between rounds nothing is measured. */
#ifndef TARE_COLLECT_DETOURS_DETOURS_H
#define TARE_COLLECT_DETOURS_DETOURS_H

#include <sys/types.h>

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
	bool kernel;  /* names wanted: use BPF. If that is impossible, detours have no names */
	int priority; /* 0: the normal scheduling class; otherwise FIFO with this priority */
	enum detour_threshold threshold;
	uint64_t threshold_ns; /* of THRESHOLD_NS */
	bool speed;	       /* the loops also probe the speed of their CPUs, about every 10 ms */
};

struct detours;

/* The CPUs come from cpus_choose(). Errors: the real-time class was refused (EXIT_ENVIRONMENT), or
 * a threshold is below the clock's step (EXIT_USAGE). */
int detours_open(struct detours **out, const struct detours_options *options, struct error *err);
void detours_close(struct detours *d); /* NULL is fine */

/* Why names or steal are missing or memory is not locked, in sentences; "" if all is well. */
const char *detours_not_seen(const struct detours *d);
/* Another process that has a loop on one of these CPUs since before detours_open(), and that CPU.
 * 0: none is known. */
pid_t detours_rival(const struct detours *d, uint32_t *cpu);
/* Fills in what is known before the first round: thresholds, turns, kernel, steal_told. */
void detours_describe(const struct detours *d, struct noise *n);

/* Runs all loops for at least this long (a detour at the end is waited for). rounds gets the
 * detours and events of each CPU, in the order of the options, valid until the next call. A round
 * ends early when the room for its detours is full; signals do not end it. Returns -1 if a loop was
 * moved off its CPU (EXIT_ENVIRONMENT). */
int detours_round(struct detours *d, uint64_t ns, const struct detour_round **rounds,
		  struct error *err);

/* After the last round: adds vectors that were counted on the measured CPUs but not reported. */
void detours_untold(struct detours *d, struct noise *n);

#endif
