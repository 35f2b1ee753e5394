/* Records a run of noise: rounds of the detour loops, analysed between rounds. */
#ifndef TARE_RUN_RECORD_NOISE_H
#define TARE_RUN_RECORD_NOISE_H

#include "measure/noise.h"
#include "protocol/jitter/jitter.h"
#include "run/record.h"

struct noise_recording {
	struct detours *detours;
	struct noise noise; /* of all rounds so far */
	struct jitter *jitter;
	/* if the run is stored */
	struct recorder to;
	struct run run;
	bool seen; /* the recording has at least one round */
	uint64_t store_at_ns;
};

/* Opens the detour loops. Call interrupt_watch() first: their threads must not get the signals. */
int noise_recording_open(struct noise_recording *r, const struct detours_options *options,
			 uint32_t worst, struct error *err);
void noise_recording_add(struct noise_recording *r, const struct detour_round *rounds,
			 size_t count);
void noise_recording_close(struct noise_recording *r); /* a zeroed one is fine */

/* Called after each round; true ends the measurement. */
typedef bool (*noise_shown_fn)(void *context, const struct noise_recording *r);
/* Runs all rounds of the plan and stores from time to time. Call recorder_begin() first. */
int noise_recording_run(struct noise_recording *r, const struct noise_plan *plan,
			noise_shown_fn shown, void *context, struct error *err);
/* Stores everything that was seen and ends the run. A run that saw nothing is removed. */
int noise_recording_end(struct noise_recording *r, enum run_status status, struct error *err);

#endif
