/* Records a profile: takes slices from the collector to the lab. */
#ifndef TARE_RUN_RECORD_PROFILE_H
#define TARE_RUN_RECORD_PROFILE_H

#include "binary/reader.h"
#include "measure/profile.h"
#include "run/record.h"

/* Slices are held back if symbolising them at once would disturb what is sampled, or if the lab
 * cannot take them. */
struct profile_recording {
	/* set by the caller, borrowed */
	struct samples_options how;
	const char *const *words; /* of the profiled command; NULL: none */
	size_t word_count;
	bool follow;	 /* sample only what the command starts */
	bool as_root;	 /* run the command as root, under sudo */
	bool background; /* tare runs for days */
	bool no_lines, no_code;
	uint64_t keep_bytes; /* the most that the run may take; 0: no limit */
	/* the caller sets the command line, and the run's name, conditions and tags */
	struct recorder to;
	struct run run;
	/* set by profile_recording_open() */
	struct samples *samples;
	struct reader *reader;
	struct launcher *launcher;
	struct command command; /* waiting at its gate after opening; pid 0: none */
	char **argv;
	struct profile held;
	uint64_t held_since_ns; /* 0: nothing is held */
	uint64_t rolled_ns;	/* when old slices were last made coarser */
	uint64_t taken, lost;	/* samples */
	uint32_t slices, stored, dropped;
	struct error trouble; /* why the last attempt to store failed; text "": it did not */
	struct error dropped_why;
	uint64_t begun_ns;
};

/* Starts the command up to its gate, opens the sampler, and begins the run. Call interrupt_watch()
 * first. If this fails, r must still be closed. */
int profile_recording_open(struct profile_recording *r, struct lab_access *lab,
			   enum recorder_lab which, struct error *err);
/* Stores a slice, for a profile_slice_fn. It never fails: what cannot be stored now is held. */
void profile_recording_add(struct profile_recording *r, struct profile *slice);
/* Stores what is held and ends the run in the lab. A run without a slice is removed. */
int profile_recording_end(struct profile_recording *r, enum run_status status, struct error *err);
/* Removes the run because the command never began. */
void profile_recording_forget(struct profile_recording *r);
/* Returns -1 if a part of the run is missing in the lab or exceeds keep_bytes; err says why. */
int profile_recording_judge(const struct profile_recording *r, struct error *err);
void profile_recording_close(struct profile_recording *r);

#endif
