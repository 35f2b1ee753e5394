/* The slices of a profile, one after the other, until it ends. What they hold is the caller's. */
#ifndef TARE_MEASURE_PROFILE_H
#define TARE_MEASURE_PROFILE_H

#include <stdbool.h>

#include "collect/samples.h"
#include "subject/command.h"

#define PROFILE_SLICE_NS 10000000000u /* the default */

struct profile_plan {
	uint64_t duration_ns;	 /* 0: until interrupted, or the command or the processes end */
	uint64_t slice_ns;	 /* not 0 */
	struct command *command; /* at its gate; NULL: none. Its end is the end */
	/* Something else to watch: called when control_fd (-1: none) is readable; sets *enough to
	 * end the measurement. */
	int control_fd;
	int (*control)(void *context, bool *enough, struct error *err);
};

/* With one slice each; lent until it returns. -1 ends it with an error. */
typedef int (*profile_slice_fn)(void *context, struct profile *slice, struct error *err);

/* -1 with EXIT_INTERRUPTED after a signal; the last slice was handed over before. status: of the
 * command, as waitpid() gives it; NULL without one. */
int profile_run(struct samples *s, const struct profile_plan *plan, profile_slice_fn each,
		void *context, int *status, struct error *err);

#endif
