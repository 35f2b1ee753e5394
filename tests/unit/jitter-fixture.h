/* Made-up runs of `tare noise`: sources that come at random, each in a detour of its own. */
#ifndef TARE_TESTS_JITTER_FIXTURE_H
#define TARE_TESTS_JITTER_FIXTURE_H

#include "record/noise.h"
#include "stats/random.h"

struct made_source {
	enum noise_class class;
	const char *name;
	double rate;	/* per s of a CPU */
	double mean_ns; /* of the middle of its lengths */
	double spread;	/* sigma of their logarithm */
};

struct made_run {
	uint32_t cpus, parts;
	double part_s; /* of one CPU */
};

void make_noise(struct noise *n, const struct made_run *run, const struct made_source *sources,
		size_t count, struct random *r);

/* What `tare noise` keeps of the worst: two of CPU 1 that overlap, one of CPU 3; with every kind of
 * event there is, and one there is not. */
void make_worst(struct noise *n);

#endif
