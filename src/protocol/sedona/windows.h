/* Virtual samples: a window cut from the record of a watch is what a program of that length would
 * have experienced. */
#ifndef TARE_PROTOCOL_SEDONA_WINDOWS_H
#define TARE_PROTOCOL_SEDONA_WINDOWS_H

#include "protocol/sedona/sedona.h"
#include "record/bursts.h"

#define WINDOWS_WORST_CPU (-1)

struct windows_options {
	uint64_t length_ns; /* CPU time that the virtual program needs */
	int cpu;	    /* of the program; WINDOWS_WORST_CPU: the one that daemons use most */
	uint32_t most;	    /* at most this many windows, the newest; 0: all that fit */
};

/* Cuts windows back to back through each part (a stretch without a gap), numbered from 1 across all
 * parts. If there are more than `most`, the newest are taken rather than a selection, because
 * periods can only be found at even distances. A window ends when its CPU was free for the program
 * for length_ns; that is its ET. Executions are per process on any CPU; one that began before or
 * continues after counts with its part inside. Tare's own processes are ignored. *cpu, unless NULL,
 * is the CPU that was taken. */
void windows_cut(const struct bursts *parts, size_t count, const struct windows_options *options,
		 struct sedona_run *out, int *cpu);

#endif
