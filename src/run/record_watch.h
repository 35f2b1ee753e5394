/* Records a watch: takes the bursts of every process from the kernel to the lab. */
#ifndef TARE_RUN_RECORD_WATCH_H
#define TARE_RUN_RECORD_WATCH_H

#include "measure/watch.h"
#include "run/record.h"

struct watch_recording {
	uint64_t keep_bytes; /* set by the caller: for all watches together; 0: no limit */
	struct lab *lab;     /* opened by the caller */
	struct burst_collector *collector;
	int64_t watch, since_ns;
	struct recorder to;	  /* waits for the lab */
	bool began, ending;	  /* began: it is in the lab */
	struct bursts held;	  /* waits until the lab can take it; end_ns 0: nothing */
	uint64_t bursts, dropped; /* stored, and given up */
	uint64_t lost;
	struct error trouble; /* why the last attempt to store failed; text "": it did not */
};

/* Opens the collector and begins the watch. If this fails, still call watch_recording_end(). */
int watch_recording_open(struct watch_recording *w, struct error *err);
/* Stores a chunk (the work of a watch_chunk_fn). It never fails: what cannot be stored now is held
 * while there is room. */
void watch_recording_add(struct watch_recording *w, const struct bursts *chunk);
/* Stores what is held and ends the watch in the lab. Returns -1 if something was not stored. */
int watch_recording_end(struct watch_recording *w, struct error *err);

#endif
