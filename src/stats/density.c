#include "stats/density.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"

#define REACH 5 /* bandwidths; what is beyond is less than 1e-6 of a point */

struct weighted {
	double x, weight;
};

static int compare(const void *a, const void *b)
{
	const struct weighted *p = a, *q = b;
	return (p->x > q->x) - (p->x < q->x);
}

/* The x below which `share` of the weight lies. */
static double quantile(const struct weighted *points, size_t n, double total, double share)
{
	double below = 0;
	for (size_t i = 0; i < n; i++) {
		below += points[i].weight;
		if (below >= share * total)
			return points[i].x;
	}
	return points[n - 1].x;
}

static double quartile_range(const double *x, const double *weight, size_t n, double total)
{
	struct weighted *points = xcalloc(n, sizeof *points);
	for (size_t i = 0; i < n; i++)
		points[i] = (struct weighted){ x[i], weight[i] };
	qsort(points, n, sizeof *points, compare);
	double range = quantile(points, n, total, 0.75) - quantile(points, n, total, 0.25);
	xfree(points);
	return range;
}

double density_bandwidth(const double *x, const double *weight, size_t n, double least)
{
	double total = 0, mean = 0, squares = 0;
	for (size_t i = 0; i < n; i++) {
		total += weight[i];
		mean += weight[i] * x[i];
	}
	if (!(total > 0))
		return least;
	mean /= total;
	for (size_t i = 0; i < n; i++)
		squares += weight[i] * (x[i] - mean) * (x[i] - mean);
	double spread = sqrt(squares / total);
	/* Half of the points in one place say nothing of how wide the others lie. */
	double robust = quartile_range(x, weight, n, total) / 1.34;
	if (robust > 0 && robust < spread)
		spread = robust;
	double bandwidth = 0.9 * spread * pow(total, -0.2);
	return bandwidth > least ? bandwidth : least;
}

static size_t first_from(const double *grid, size_t count, double x)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (grid[middle] < x)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void density_estimate(const double *x, const double *weight, size_t n, double bandwidth,
		      const double *grid, size_t grid_count, double *out)
{
	double total = 0;
	for (size_t i = 0; i < n; i++)
		total += weight[i];
	for (size_t i = 0; i < grid_count; i++)
		out[i] = 0;
	if (!(total > 0) || !(bandwidth > 0))
		return;
	double reach = REACH * bandwidth, unit = total * bandwidth * sqrt(2 * acos(-1));
	for (size_t i = 0; i < n; i++) {
		if (!(weight[i] > 0))
			continue;
		size_t at = first_from(grid, grid_count, x[i] - reach);
		for (; at < grid_count && grid[at] <= x[i] + reach; at++) {
			double z = (grid[at] - x[i]) / bandwidth;
			out[at] += weight[i] / unit * exp(-z * z / 2);
		}
	}
}
