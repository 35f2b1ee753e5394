/* A run of noise being recorded: rounds of the detour loops, analysed between them. */
#ifndef TARE_RUN_RECORD_NOISE_H
#define TARE_RUN_RECORD_NOISE_H

#include "measure/noise.h"
#include "protocol/jitter/jitter.h"
#include "run/record.h"

struct noise_recording {
	struct detours *detours;
	struct noise noise; /* of all rounds until now */
	struct jitter *jitter;
	/* of a run that is stored */
	struct recorder to;
	struct run run;
	bool seen; /* a round is in the recording */
	uint64_t store_at_ns;
};

/* Opens the detour loops; interrupt_watch() must have been called: the loops' threads must not be
 * who gets the signals. */
int noise_recording_open(struct noise_recording *r, const struct detours_options *options,
			 uint32_t worst, struct error *err);
void noise_recording_add(struct noise_recording *r, const struct detour_round *rounds,
			 size_t count);
void noise_recording_close(struct noise_recording *r); /* a zeroed one is fine */

/* What the loops cannot see here, and how they could; NULL: nothing. The caller frees. kernel:
 * names were wanted. */
char *noise_recording_not_seen(const struct noise_recording *r, bool kernel);

/* Called after each round; true ends the measurement. */
typedef bool (*noise_shown_fn)(void *context, const struct noise_recording *r);
/* All rounds of the plan, stored now and then. The run must have begun (recorder_begin()). */
int noise_recording_run(struct noise_recording *r, const struct noise_plan *plan,
			noise_shown_fn shown, void *context, struct error *err);
/* Stores everything that was seen and ends the run; one that saw nothing is not kept. */
int noise_recording_end(struct noise_recording *r, enum run_status status, struct error *err);

#endif
