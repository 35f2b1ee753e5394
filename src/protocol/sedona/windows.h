/* Virtual samples: windows of any length cut from the record of a watch are what a program of that
 * length would have met. */
#ifndef TARE_PROTOCOL_SEDONA_WINDOWS_H
#define TARE_PROTOCOL_SEDONA_WINDOWS_H

#include "protocol/sedona/sedona.h"
#include "record/bursts.h"

#define WINDOWS_WORST_CPU (-1)

struct windows_options {
	uint64_t length_ns; /* CPU time the virtual program needs */
	int cpu;	    /* the program's; WINDOWS_WORST_CPU: the one that daemons use most */
	uint32_t most;	    /* windows, the newest that there are; 0: all that fit */
};

/* Back to back through each part (a stretch without a gap), numbered from 1, going on from part to
 * part. Of more than `most` the newest are taken, not some of all: distances between windows must
 * stay even, or no daemon has a period. A window ends when its CPU was left to the program for
 * length_ns: its ET. Executions are by process (any CPU), what began before or goes on after
 * counted by its share within. Tare's own processes are no daemons and take nothing. *cpu, when not
 * NULL, is the one that was taken. */
void windows_cut(const struct bursts *parts, size_t count, const struct windows_options *options,
		 struct sedona_run *out, int *cpu);

#endif
