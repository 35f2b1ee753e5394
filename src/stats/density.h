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

/* An even grid for points from low to high that reaches 4 bandwidths beyond them. Returns the
 * bandwidth, made wider where a peak would fall between two points of the grid. */
double density_lay(double low, double high, double bandwidth, double *grid, size_t grid_count);

/* The densities of sorted values and of those among them that count, on one grid and with one
 * bandwidth: else what differs would be the smoothing. The grid is fine where those lie that count,
 * and coarse from there to the outermost. */
#define DENSITY_FINE 384
#define DENSITY_COARSE 64
#define DENSITY_POINTS (DENSITY_FINE + 2 * DENSITY_COARSE)
struct density_pair {
	double grid[DENSITY_POINTS], all[DENSITY_POINTS], kept[DENSITY_POINTS];
	size_t count; /* of points; 0 without values */
	double bandwidth;
};
/* least: of the bandwidth. */
void density_pair_of(const double *all, size_t n, const double *kept, size_t n_kept, double least,
		     struct density_pair *out);

#endif
