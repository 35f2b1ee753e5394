/* Lengths of detours as Parzen's method wants them (stats/density.h): log10 of ns, each as often as
 * its bucket has it. */
#ifndef TARE_PROTOCOL_JITTER_LENGTHS_H
#define TARE_PROTOCOL_JITTER_LENGTHS_H

#include "record/noise.h"

struct jitter_lengths {
	double *x, *weight;
	size_t count;
	double total;	  /* of the weights */
	double low, high; /* of x; high < low: there are none */
};
/* Of the detours as the loop saw them, or as the kernel told of them (the master histogram). */
void jitter_lengths_of(const struct noise_cpu *c, bool told, struct jitter_lengths *out);
void jitter_lengths_release(struct jitter_lengths *l);

/* One grid of log10 ns and one bandwidth for a run and another (which may be empty), or what
 * differs would be the smoothing. The wider bandwidth of the two: what is too fine for the sparser
 * run would be noise there. The grid holds `told`, too (NULL: none). Returns the bandwidth. */
double jitter_lay_grid(const struct jitter_lengths *run, const struct jitter_lengths *told,
		       const struct jitter_lengths *other, double *grid, size_t grid_count);
/* Detours per s and decade at each point of the grid. */
void jitter_rates(const struct jitter_lengths *l, double window_s, double bandwidth,
		  const double *grid, size_t grid_count, double *out);

#endif
