/* Made-up runs of `tare noise`, filled as the analyser fills them. */
#ifndef TARE_TEST_NOISE_FIXTURE_H
#define TARE_TEST_NOISE_FIXTURE_H

#include "report/noise/report.h"

struct noise_fixture {
	struct run run;
	struct noise noise;
	struct noise_view view;
	uint64_t seed;
};

/* One piece of a detour, in the order of time. */
struct noise_piece {
	enum noise_class class;
	const char *name; /* NULL: the class's */
	uint64_t ns;
};

/* Nothing but the CPUs: no detour. */
void noise_fixture_empty(struct noise_fixture *f, size_t cpus);
/* A detour that begins so many ns into the run. */
void noise_fixture_detour(struct noise_fixture *f, size_t cpu, uint64_t at_ns,
			  const struct noise_piece *pieces, size_t count);
/* Two CPUs of a guest for 10 s: a tick of 250 Hz with its softirqs, threads, work, a page fault,
 * steal, the host's tick, and what nobody can tell. */
void noise_fixture_guest(struct noise_fixture *f);
/* The same as seen without the kernel's side. */
void noise_fixture_plain(struct noise_fixture *f);
/* Table I of the paper, from the golden file; what the file has not is one source "others". */
void noise_fixture_table1(struct noise_fixture *f, const char *path);
void noise_fixture_release(struct noise_fixture *f);

#endif
