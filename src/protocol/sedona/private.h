/* The daemon study's inner parts: private to protocol/sedona/. */
#ifndef TARE_PROTOCOL_SEDONA_PRIVATE_H
#define TARE_PROTOCOL_SEDONA_PRIVATE_H

#include "protocol/sedona/sedona.h"

/* A sample that holds a long-running execution. */
struct sedona_occurrence {
	uint32_t number;
	int64_t at_ns; /* 0: not known */
};

/* Step 7's period, of the samples it occurs in (ascending) out of `total`, each of which takes
 * spacing_ns. Samples in a row are one occurrence, that reached over their ends. Where times are
 * known, gaps in which time stood still or leapt (a pause, a clock that was set) tell nothing and
 * are left out. */
void sedona_period(const struct sedona_occurrence *seen, size_t count, uint32_t total,
		   uint64_t spacing_ns, struct study_period *out);

/* How probable it is that chance places `count` of `total` samples (by number, ascending) at
 * distances as even as these. 1: they are too few to tell, or too many to count. */
double sedona_p_even(const uint32_t *numbers, size_t count, size_t total);

/* From the begin of a sample to the next one's: the median; 0 where no times are known. */
uint64_t sedona_spacing(const struct sedona_run *r);

/* Where the sorted values (ties are spread) break. */
struct sedona_breaks {
	size_t cluster;	 /* that many are below the lowest break with a minority above; n: none */
	size_t low_band; /* of the cluster, a band of its own below the rest; 0: none */
	double sigma;	 /* of the cluster, by its lower side */
};
void sedona_find_breaks(const double *x, size_t n, struct sedona_breaks *out);

#endif
