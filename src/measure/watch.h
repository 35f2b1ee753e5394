/* A watch: what every process does on the CPUs, recorded for days, handed over in chunks. */
#ifndef TARE_MEASURE_WATCH_H
#define TARE_MEASURE_WATCH_H

#include "collect/bursts/bursts.h"

enum watch_wish {
	WATCH_GO_ON,
	WATCH_CUT, /* the chunk ends here, another begins */
	WATCH_END,
};

struct watch_plan {
	uint64_t duration_ns; /* 0: until interrupted, or wished for */
	uint64_t take_ns;     /* how often the kernel's buffers are emptied; 0: 5 s */
	uint64_t chunk_ns;    /* a chunk is handed over when it is so long; 0: 60 s */
	size_t chunk_bytes;   /* or so large; 0: 4 MB */
	/* Something else to look at: called when control_fd is readable. control NULL: nothing. */
	int control_fd;
	int (*control)(void *context, enum watch_wish *wish, struct error *err);
	/* After each time the buffers were emptied; NULL: not. */
	void (*taken)(void *context);
};

/* With one chunk each, neighbours in time; lent until it returns. -1 ends the watch with an error.
 */
typedef int (*watch_chunk_fn)(void *context, const struct bursts *chunk, struct error *err);

/* Until it ends; what was recorded by then is handed over also after an error or a signal. -1 with
 * EXIT_INTERRUPTED after a signal. */
int watch_run(struct burst_collector *c, const struct watch_plan *plan, watch_chunk_fn each,
	      void *context, struct error *err);

#endif
