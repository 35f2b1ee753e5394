/* Reads a Perfetto trace back, by nothing of what wrote it. */
#ifndef TARE_TESTS_PERFETTO_CHECK_H
#define TARE_TESTS_PERFETTO_CHECK_H

#include <stddef.h>
#include <stdint.h>

struct perfetto_counts {
	size_t packets, tracks, slices, instants, switches, wakings;
	uint64_t lost;			/* as an instant event says */
	uint64_t busy_ns, interrupt_ns; /* of all CPUs; outermost slices of "CPU n" */
};

/* NULL, or what is wrong: it does not parse; an event on a track that was never described; a slice
 * that ends before it begins, or never; a switch from a thread that did not have the CPU. */
const char *perfetto_check(const void *bytes, size_t length, struct perfetto_counts *counts);

#endif
