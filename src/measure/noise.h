/* The rounds of a noise measurement, one after the other. What they saw is the caller's to analyse,
 * between rounds. */
#ifndef TARE_MEASURE_NOISE_H
#define TARE_MEASURE_NOISE_H

#include <stdbool.h>

#include "collect/detours/detours.h"

#define NOISE_ROUND_NS 1000000000u /* the default */

struct noise_plan {
	uint64_t duration_ns; /* pauses between rounds included; 0: until interrupted */
	uint64_t round_ns;    /* not 0 */
};

/* After each round, with that of each CPU; lent until it returns. *enough may be set to end the
 * measurement here. -1 ends it with an error. */
typedef int (*noise_round_fn)(void *context, const struct detour_round *rounds, size_t count,
			      bool *enough, struct error *err);

/* count: the CPUs that d was opened with. -1 with EXIT_INTERRUPTED after a signal, at the
 * end of the round in which it came. */
int noise_run(struct detours *d, size_t count, const struct noise_plan *plan, noise_round_fn each,
	      void *context, struct error *err);

#endif
