/* The trimmed mean and its standard error from the winsorised variance (Yuen 1974, Biometrika 61,
 * 165-170): a few values that something spoilt do not rule it. */
#ifndef TARE_STATS_TRIMMED_H
#define TARE_STATS_TRIMMED_H

#include <stddef.h>

struct trimmed_mean {
	double mean, error, df; /* error: of the mean; NaN for fewer than 2 values kept */
	size_t cut;		/* as many are left out at each end */
};

/* x ascends; share < 0.5 is left out at each end, rounded down. With nothing left out it is
 * Student's. */
void trimmed_mean_of(const double *x, size_t n, double share, struct trimmed_mean *out);

#endif
