/* Parzen's window estimate of a density (Parzen 1962), from weighted points: lengths that fell into
 * fine buckets, each with the mean of its bucket. All functions are pure. */
#ifndef TARE_STATS_DENSITY_H
#define TARE_STATS_DENSITY_H

#include <stddef.h>

/* Silverman's rule of thumb over weighted points: 0.9 min(sigma, IQR / 1.34) n^(-1/5), n the sum of
 * the weights; not less than `least`, the width of what the points were gathered in. */
double density_bandwidth(const double *x, const double *weight, size_t n, double least);

/* The density at each of the grid's points (ascending), with a Gaussian kernel; it integrates to 1
 * over all x, to 0 without points. Cheap: each point reaches 5 bandwidths far. */
void density_estimate(const double *x, const double *weight, size_t n, double bandwidth,
		      const double *grid, size_t grid_count, double *out);

#endif
