#include "protocol/jitter/lengths.h"

#include <math.h>

#include "stats/density.h"

/* The widest fine bucket: lengths within one cannot be told apart. */
#define BUCKET_DECADES 0.0087

void jitter_lengths_of(const struct noise_cpu *c, bool told, struct jitter_lengths *out)
{
	*out = (struct jitter_lengths){ .x = xcalloc(NOISE_BUCKETS, sizeof(double)),
					.weight = xcalloc(NOISE_BUCKETS, sizeof(double)),
					.low = INFINITY,
					.high = -INFINITY };
	for (unsigned i = 0; i < NOISE_BUCKETS; i++) {
		const struct noise_detours *seen = &c->buckets[i];
		struct noise_bucket b = told ? noise_histogram_at(&c->master, i)
					     : (struct noise_bucket){ seen->count, seen->ns };
		if (!b.count || !b.ns)
			continue;
		double x = log10((double)b.ns / (double)b.count);
		out->x[out->count] = x;
		out->weight[out->count++] = (double)b.count;
		out->total += (double)b.count;
		out->low = fmin(out->low, x);
		out->high = fmax(out->high, x);
	}
}

void jitter_lengths_release(struct jitter_lengths *l)
{
	xfree(l->x);
	xfree(l->weight);
}

double jitter_lay_grid(const struct jitter_lengths *run, const struct jitter_lengths *told,
		       const struct jitter_lengths *other, double *grid, size_t grid_count)
{
	const struct jitter_lengths *all[] = { run, told, other };
	double low = INFINITY, high = -INFINITY;
	double h = fmax(density_bandwidth(run->x, run->weight, run->count, BUCKET_DECADES),
			density_bandwidth(other->x, other->weight, other->count, BUCKET_DECADES));
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i] && all[i]->count) {
			low = fmin(low, all[i]->low);
			high = fmax(high, all[i]->high);
		}
	if (!(low <= high)) /* no detour at all */
		low = 1, high = 9;
	return density_lay(low, high, h, grid, grid_count);
}

void jitter_rates(const struct jitter_lengths *l, double window_s, double bandwidth,
		  const double *grid, size_t grid_count, double *out)
{
	density_estimate(l->x, l->weight, l->count, bandwidth, grid, grid_count, out);
	for (size_t i = 0; i < grid_count; i++)
		out[i] *= l->total / window_s;
}
