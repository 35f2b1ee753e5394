/* Parzen's window estimate of a density (Parzen 1962) from weighted points: lengths in fine
 * buckets, each with the mean of its bucket. All functions are pure. */
#ifndef TARE_STATS_DENSITY_H
#define TARE_STATS_DENSITY_H

#include <stddef.h>

/* Silverman's rule of thumb for weighted points: 0.9 min(sigma, IQR / 1.34) n^(-1/5), where n is
 * the sum of the weights; at least `least`, the width of the buckets. */
double density_bandwidth(const double *x, const double *weight, size_t n, double least);

/* The density at each point of the ascending grid, with a Gaussian kernel. It integrates to 1 over
 * all x, or to 0 without points. Each point reaches only 5 bandwidths far, which makes it cheap. */
void density_estimate(const double *x, const double *weight, size_t n, double bandwidth,
		      const double *grid, size_t grid_count, double *out);

/* Makes an even grid for points from low to high that reaches 4 bandwidths beyond them. Returns the
 * bandwidth, which is widened if a peak could fall between two points of the grid. */
double density_lay(double low, double high, double bandwidth, double *grid, size_t grid_count);

/* The densities of sorted values and of the kept ones among them, on one grid and with one
 * bandwidth, so that they do not differ by smoothing. The grid is fine where the kept values are,
 * and coarse from there to the outermost ones. */
#define DENSITY_FINE 384
#define DENSITY_COARSE 64
#define DENSITY_POINTS (DENSITY_FINE + 2 * DENSITY_COARSE)
struct density_pair {
	double grid[DENSITY_POINTS], all[DENSITY_POINTS], kept[DENSITY_POINTS];
	size_t count; /* of points; 0 without values */
	double bandwidth;
};
/* least: for the bandwidth. */
void density_pair_of(const double *all, size_t n, const double *kept, size_t n_kept, double least,
		     struct density_pair *out);

#endif
