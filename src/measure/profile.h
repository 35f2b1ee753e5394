/* Takes the slices of a profile until it ends, and passes them to the caller. */
#ifndef TARE_MEASURE_PROFILE_H
#define TARE_MEASURE_PROFILE_H

#include <stdbool.h>

#include "collect/samples/samples.h"
#include "subject/command.h"

#define PROFILE_SLICE_NS 10000000000u /* the default */

/* What an outside request asks of a measurement that is going. */
enum profile_wish {
	PROFILE_GO_ON,
	PROFILE_CUT, /* end this slice and begin another */
	PROFILE_END,
};

struct profile_plan {
	uint64_t duration_ns; /* 0: until interrupted, or the command or the processes end */
	uint64_t slice_ns;    /* not 0 */
	struct command
		*command; /* waiting at its gate, NULL: none; the profile ends when it does */
	/* Another descriptor to watch: control is called when it is readable. control NULL:
	 * none. */
	int control_fd;
	int (*control)(void *context, enum profile_wish *wish, struct error *err);
	/* Called once when sampling has begun; may be NULL. */
	void (*started)(void *context);
	/* Called about as often as the kernel's buffers are emptied; may be NULL. */
	void (*beat)(void *context);
};

/* Called with each slice, which is valid until it returns. -1 ends the profile with an error. */
typedef int (*profile_slice_fn)(void *context, struct profile *slice, struct error *err);

/* Returns -1 with EXIT_INTERRUPTED after a signal, when the last slice has been passed on. A
 * command that is still running is ended; command_started() tells whether it ever began. *status is
 * that of the command, as from waitpid(), or -1 if tare ended it; NULL without a command. */
int profile_run(struct samples *s, const struct profile_plan *plan, profile_slice_fn each,
		void *context, int *status, struct error *err);

#endif
