/* The slices of a profile, one after the other, until it ends. What they hold is the caller's. */
#ifndef TARE_MEASURE_PROFILE_H
#define TARE_MEASURE_PROFILE_H

#include <stdbool.h>

#include "collect/samples/samples.h"
#include "subject/command.h"

#define PROFILE_SLICE_NS 10000000000u /* the default */

/* What somebody outside wants of a measurement that is going. */
enum profile_wish {
	PROFILE_GO_ON,
	PROFILE_CUT, /* the slice ends here, another begins */
	PROFILE_END,
};

struct profile_plan {
	uint64_t duration_ns;	 /* 0: until interrupted, or the command or the processes end */
	uint64_t slice_ns;	 /* not 0 */
	struct command *command; /* at its gate; NULL: none. Its end is the end */
	/* Something else to watch: called when control_fd is readable. control NULL: nothing. */
	int control_fd;
	int (*control)(void *context, enum profile_wish *wish, struct error *err);
	/* Once, when sampling has begun; NULL: not. */
	void (*started)(void *context);
	/* Now and then, about as often as the kernel's buffers are emptied; NULL: not. */
	void (*beat)(void *context);
};

/* With one slice each; lent until it returns. -1 ends it with an error. */
typedef int (*profile_slice_fn)(void *context, struct profile *slice, struct error *err);

/* -1 with EXIT_INTERRUPTED after a signal; the last slice was handed over before. A command is
 * ended when it has not by then; command_started() tells whether it ever began. status: of the
 * command, as waitpid() gives it, -1 when it was tare who ended it; NULL without one. */
int profile_run(struct samples *s, const struct profile_plan *plan, profile_slice_fn each,
		void *context, int *status, struct error *err);

#endif
