/* Lengths of detours as input for Parzen's method (stats/density.h): log10 of ns, weighted by the
 * counts of the buckets. */
#ifndef TARE_PROTOCOL_JITTER_LENGTHS_H
#define TARE_PROTOCOL_JITTER_LENGTHS_H

#include "record/noise.h"

struct jitter_lengths {
	double *x, *weight;
	size_t count;
	double total;	  /* of the weights */
	double low, high; /* of x; high < low: empty */
};
/* From the detours as the loop saw them or, if `told`, as the kernel did (the master histogram). */
void jitter_lengths_of(const struct noise_cpu *c, bool told, struct jitter_lengths *out);
void jitter_lengths_release(struct jitter_lengths *l);

/* Makes one grid of log10 ns and one bandwidth for two runs, so that they do not differ by
 * smoothing. The other run may be empty. It takes the wider bandwidth, because the narrower one
 * would show noise in the sparser run. The grid also covers `told` (NULL: none). Returns the
 * bandwidth. */
double jitter_lay_grid(const struct jitter_lengths *run, const struct jitter_lengths *told,
		       const struct jitter_lengths *other, double *grid, size_t grid_count);
/* Detours per s and decade at each point of the grid. */
void jitter_rates(const struct jitter_lengths *l, double window_s, double bandwidth,
		  const double *grid, size_t grid_count, double *out);

#endif
