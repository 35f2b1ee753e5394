/* A watch: records for days what every process does on the CPUs, and passes it on in chunks. */
#ifndef TARE_MEASURE_WATCH_H
#define TARE_MEASURE_WATCH_H

#include "collect/bursts/bursts.h"

enum watch_wish {
	WATCH_GO_ON,
	WATCH_CUT, /* end this chunk and begin another */
	WATCH_END,
};

struct watch_plan {
	uint64_t duration_ns; /* 0: until interrupted or asked to end */
	uint64_t take_ns;     /* how often to empty the kernel's buffers; 0: 5 s */
	uint64_t chunk_ns;    /* pass a chunk on when it is this long; 0: 60 s */
	size_t chunk_bytes;   /* or this large; 0: 4 MB */
	/* Another descriptor to watch: control is called when it is readable. control NULL:
	 * none. */
	int control_fd;
	int (*control)(void *context, enum watch_wish *wish, struct error *err);
	/* Called each time the buffers were emptied; may be NULL. */
	void (*taken)(void *context);
};

/* Called with each chunk, in order and without gaps; it is valid until the call returns. -1 ends
 * the watch with an error. */
typedef int (*watch_chunk_fn)(void *context, const struct bursts *chunk, struct error *err);

/* Records until the end. What was recorded is passed on even after an error or a signal. Returns -1
 * with EXIT_INTERRUPTED after a signal. */
int watch_run(struct burst_collector *c, const struct watch_plan *plan, watch_chunk_fn each,
	      void *context, struct error *err);

#endif
