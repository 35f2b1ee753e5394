/* A profile being recorded: slices on their way from the collector to the lab. */
#ifndef TARE_RUN_RECORD_PROFILE_H
#define TARE_RUN_RECORD_PROFILE_H

#include "binary/symbols.h"
#include "measure/profile.h"
#include "run/record.h"

/* Slices are held where symbolising them at once would disturb what is sampled, or where the lab
 * could not take them. */
struct profile_recording {
	/* told by the caller, borrowed */
	struct samples_options how;
	const char *const *words; /* of the command that is profiled; NULL: none */
	size_t word_count;
	bool follow;	 /* what the command starts is all that is sampled */
	bool as_root;	 /* of the command, under sudo */
	bool background; /* tare stays for days */
	bool no_lines, no_code;
	uint64_t keep_bytes; /* the run stays below that; 0: all is kept */
	/* the caller fills in the command line, and the run's name, conditions and tags */
	struct recorder to;
	struct run run;
	/* made by it */
	struct samples *samples;
	struct symbols *symbols;
	struct launcher *launcher;
	struct command command; /* at its gate after the opening; pid 0: none */
	char **argv;
	struct profile held;
	uint64_t held_since_ns; /* 0: nothing is */
	uint64_t rolled_ns;	/* when the old was made coarser the last time */
	uint64_t taken, lost;	/* samples */
	uint32_t slices, stored, dropped;
	struct error trouble; /* why the last attempt to store failed; text "": it did not */
	struct error dropped_why;
	uint64_t begun_ns;
};

/* Starts the command up to its gate, opens what samples, and begins the run. interrupt_watch() must
 * have been called. One that failed to open is to be closed, too. */
int profile_recording_open(struct profile_recording *r, struct lab_access *lab,
			   enum recorder_lab which, struct error *err);
/* A profile_slice_fn's work. Never fails: what cannot be stored now is held. */
void profile_recording_add(struct profile_recording *r, struct profile *slice);
/* Stores what is held and ends the run in the lab; one without a slice is removed. */
int profile_recording_end(struct profile_recording *r, enum run_status status, struct error *err);
/* Removes the run: the command never began. */
void profile_recording_forget(struct profile_recording *r);
/* -1: something of the run is missing in the lab, or more than keep_bytes is there; err says what
 * and why. */
int profile_recording_judge(const struct profile_recording *r, struct error *err);
void profile_recording_close(struct profile_recording *r);

#endif
