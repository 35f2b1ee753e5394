/* Runs the rounds of a noise measurement. The caller analyses the results between rounds. */
#ifndef TARE_MEASURE_NOISE_H
#define TARE_MEASURE_NOISE_H

#include <stdbool.h>

#include "collect/detours/detours.h"

#define NOISE_ROUND_NS 1000000000u /* the default */

struct noise_plan {
	uint64_t duration_ns; /* including pauses between rounds; 0: until interrupted */
	uint64_t round_ns;    /* not 0 */
};

/* Called after each round with the rounds of all CPUs, which are valid until it returns. It may set
 * *enough to end the measurement. -1 ends it with an error. */
typedef int (*noise_round_fn)(void *context, const struct detour_round *rounds, size_t count,
			      bool *enough, struct error *err);

/* count is the number of CPUs that d was opened with. Returns -1 with EXIT_INTERRUPTED after a
 * signal, at the end of the round in which it arrived. */
int noise_run(struct detours *d, size_t count, const struct noise_plan *plan, noise_round_fn each,
	      void *context, struct error *err);

#endif
