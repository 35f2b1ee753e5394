/* The record of a watch: what every process did on the CPUs, burst by burst. */
#ifndef TARE_RECORD_BURSTS_H
#define TARE_RECORD_BURSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "record/study.h"

#define BURST_MERGE_NS \
	10000000u /* turns of one process on one CPU within this time are one burst */

struct burst_process {
	int32_t pid;
	uint64_t start_ns; /* CLOCK_BOOTTIME; with pid, its identity */
	char name[DAEMON_NAME];
	bool kernel;
	bool own; /* tare or a descendant of it: not a daemon */
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

/* A period without a gap. */
struct bursts {
	/* CLOCK_MONOTONIC. Contains all bursts that ended within; a long one may have begun
	 * before. */
	uint64_t begin_ns, end_ns;
	int64_t realtime_ns; /* CLOCK_REALTIME at begin_ns */
	uint32_t cpus;	     /* CPU numbers are below this */
	uint64_t lost;	     /* bursts that the kernel had no room for */
	ARRAY(struct burst_process) processes;
	ARRAY(struct burst) bursts; /* by begin_ns */
};

void bursts_release(struct bursts *b); /* and zeroes it */
void bursts_sort(struct bursts *b);    /* by begin_ns, if they are not sorted yet */
/* Appends the next stretch; processes are matched by (pid, start). The two must adjoin or have a
 * gap, which is not marked: the caller decides what may be joined. */
void bursts_append(struct bursts *into, const struct bursts *next);

#endif
