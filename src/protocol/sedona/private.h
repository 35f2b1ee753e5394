/* The inner parts of the daemon study. Private to protocol/sedona/. */
#ifndef TARE_PROTOCOL_SEDONA_PRIVATE_H
#define TARE_PROTOCOL_SEDONA_PRIVATE_H

#include "protocol/sedona/sedona.h"

/* A sample with a long-running execution. */
struct sedona_occurrence {
	uint32_t number;
	int64_t at_ns; /* 0: unknown */
};

/* Step 7: the period of a daemon, from the samples it occurs in (ascending) out of `total`, each of
 * which takes spacing_ns. Consecutive samples count as one occurrence that spans them. If times are
 * known, gaps in which time stood still or jumped (a pause, a clock that was set) are ignored. */
void sedona_period(const struct sedona_occurrence *seen, size_t count, uint32_t total,
		   uint64_t spacing_ns, struct study_period *out);

/* The probability that chance places `count` of `total` samples (by number, ascending) as evenly as
 * these. 1: they are too few to tell, or too many to count. */
double sedona_p_even(const uint32_t *numbers, size_t count, size_t total);

/* The median time from the begin of one sample to the next; 0 if no times are known. */
uint64_t sedona_spacing(const struct sedona_run *r);

/* Where the sorted values (ties are spread) have breaks. */
struct sedona_breaks {
	size_t cluster;	 /* how many are below the lowest break with a minority above it; n: none */
	size_t low_band; /* how many of the cluster form a separate band below the rest; 0: none */
	double sigma;	 /* of the cluster, from its lower side */
};
void sedona_find_breaks(const double *x, size_t n, struct sedona_breaks *out);

#endif
