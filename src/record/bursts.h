/* What every process did on the CPUs, burst by burst: the record of a watch. */
#ifndef TARE_RECORD_BURSTS_H
#define TARE_RECORD_BURSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "record/study.h"

#define BURST_MERGE_NS 10000000u /* turns of one process on one CPU within this are one burst */

struct burst_process {
	int32_t pid;
	uint64_t start_ns; /* CLOCK_BOOTTIME; with pid, its identity */
	char name[DAEMON_NAME];
	bool kernel;
	bool own; /* tare's, or descended from one that was: no daemon */
};

/* Turns of one process (any of its threads) on one CPU, merged. */
struct burst {
	uint64_t begin_ns; /* CLOCK_MONOTONIC of its first turn */
	uint64_t span_ns;  /* to the end of its last */
	uint64_t busy_ns;  /* of that, on the CPU */
	uint32_t process;  /* index */
	uint16_t cpu;
	uint16_t turns; /* saturates */
};

/* A stretch without a gap. */
struct bursts {
	/* CLOCK_MONOTONIC. Bursts that ended within are all here; a long one may have begun before.
	 */
	uint64_t begin_ns, end_ns;
	int64_t realtime_ns; /* CLOCK_REALTIME at begin_ns */
	uint32_t cpus;	     /* numbers go from 0 to below this */
	uint64_t lost;	     /* bursts the kernel had no room for */
	ARRAY(struct burst_process) processes;
	ARRAY(struct burst) bursts; /* by begin_ns */
};

void bursts_release(struct bursts *b); /* and zeroes it */
void bursts_sort(struct bursts *b);    /* by begin_ns, where they are not yet */
/* Appends what follows; processes are found by (pid, start). The two must be neighbours or have a
 * gap, which stays unmarked: the caller decides what may be joined. */
void bursts_append(struct bursts *into, const struct bursts *next);

#endif
