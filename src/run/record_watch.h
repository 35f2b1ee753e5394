/* A watch being recorded: bursts of every process, from the kernel to the lab. */
#ifndef TARE_RUN_RECORD_WATCH_H
#define TARE_RUN_RECORD_WATCH_H

#include "lab/lab.h"
#include "measure/watch.h"

struct watch_recording {
	uint64_t keep_bytes; /* told by the caller: of all watches together; 0: all is kept */
	struct lab *lab;     /* opened by the caller */
	struct burst_collector *collector;
	int64_t watch, since_ns;
	bool began;		  /* it is in the lab */
	struct bursts held;	  /* waits for a lab that could not take it; end_ns 0: nothing */
	uint64_t bursts, dropped; /* stored, and given up */
	uint64_t lost;
	struct error trouble; /* why the last attempt to store failed; text "": it did not */
};

/* The collector, and the watch in the lab. One that failed to open is to be closed, too. */
int watch_recording_open(struct watch_recording *w, struct error *err);
/* A watch_chunk_fn's work. Never fails: what cannot be stored now is held, as long as there is
 * room. */
void watch_recording_add(struct watch_recording *w, const struct bursts *chunk);
/* Stores what is held, and ends the watch in the lab if it is there. -1 with what could not be
 * stored. */
int watch_recording_end(struct watch_recording *w, struct error *err);

#endif
