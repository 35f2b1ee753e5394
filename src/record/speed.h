/* How fast a CPU does known work. A probe does a few µs of it now and then and notes how long each
 * kind took; the mean over an execution says how fast the CPU was while the subject had it. */
#ifndef TARE_RECORD_SPEED_H
#define TARE_RECORD_SPEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the work is bound by. */
enum speed_kind {
	SPEED_CHAIN, /* the clock: multiplications, each of which needs the one before */
	SPEED_PORTS, /* the core's width: additions that fill its ports, which a sibling shares */
	SPEED_TURNS, /* the front end: turns of a tight loop, each a taken branch */
	SPEED_LOADS, /* caches and memory: loads, each of which needs the one before */
	SPEED_KINDS
};
extern const char *const speed_kind_names[SPEED_KINDS];
/* For sentences: "on full ports". */
extern const char *const speed_kind_phrases[SPEED_KINDS];

/* Why a probe does not count for an execution. */
enum speed_flag {
	SPEED_INTERRUPTED = 1, /* an interrupt or another task fell into it */
	SPEED_MOVED = 2,       /* it did not run on its CPU, which went offline */
	SPEED_ELSEWHERE = 4,   /* something other than the subject had the CPU before it */
};

/* One probe. */
struct speed_sample {
	uint64_t at_ns; /* CLOCK_MONOTONIC */
	float ns[SPEED_KINDS];
	uint32_t flags; /* of enum speed_flag */
};

/* What the probes of one execution, or of another stretch of time, say. */
struct speed_means {
	double ns[SPEED_KINDS]; /* one probe's work at the mean speed; NaN: no probe counted */
	/* Probes; left_out: interrupted; those elsewhere are in neither. -1: there were none. */
	int64_t used, left_out;
	uint64_t self_ns; /* CPU time of the probes themselves; ABSENT_NS: there were none */
};
struct speed_means speed_unknown(void);

/* The samples of several CPUs, one after the other. Marks those that took too long for known work
 * of any speed as SPEED_INTERRUPTED, and takes the mean of what is left. The mean is one of speeds:
 * with samples at even times, time at half the speed counts for half the work. Does not set
 * self_ns. */
void speed_mean(struct speed_sample *samples, size_t count, struct speed_means *out);

#endif
