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
	return ORDER(p->x, q->x);
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
	struct weighted *points = xcalloc(n, sizeof *points);
	for (size_t i = 0; i < n; i++)
		points[i] = (struct weighted){ x[i], weight[i] };
	qsort(points, n, sizeof *points, compare);
	double quartiles = quantile(points, n, total, 0.75) - quantile(points, n, total, 0.25);
	xfree(points);
	/* Half of the points in one place say nothing of how wide the others lie. */
	double robust = quartiles / 1.34;
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

double density_lay(double low, double high, double bandwidth, double *grid, size_t grid_count)
{
	const double beyond = 4;
	for (int i = 0; i < 3; i++) /* wider, it needs more room */
		bandwidth = fmax(bandwidth,
				 (high - low + 2 * beyond * bandwidth) / (double)(grid_count - 1));
	low -= beyond * bandwidth;
	high += beyond * bandwidth;
	for (size_t i = 0; i < grid_count; i++)
		grid[i] = low + (high - low) * (double)i / (double)(grid_count - 1);
	return bandwidth;
}

#define GATHERED 4096 /* more points than that are gathered before they are estimated */
#define BEYOND 3      /* bandwidths from the outermost point to the end of the grid */

/* Neighbours of many sorted points become one of more weight. */
struct gathered {
	double *x, *weight;
	size_t count;
};

static struct gathered gather(const double *sorted, size_t n)
{
	size_t each = n / GATHERED + 1;
	struct gathered g = { .x = xcalloc(n / each + 2, sizeof(double)),
			      .weight = xcalloc(n / each + 2, sizeof(double)) };
	for (size_t i = 0; i < n; i += each, g.count++) {
		size_t most = i + each < n ? each : n - i;
		for (size_t k = 0; k < most; k++)
			g.x[g.count] += sorted[i + k] / (double)most;
		g.weight[g.count] = (double)most;
	}
	return g;
}

/* `count` more points of the grid, from low to below high. Where they are far apart, what lies
 * between two of them must not get lost. */
static void add_stretch(const struct gathered *all, const struct gathered *kept, double low,
			double high, size_t count, struct density_pair *out)
{
	size_t from = out->count;
	double step = (high - low) / (double)count, bandwidth = fmax(out->bandwidth, step);
	for (size_t i = 0; i < count; i++)
		out->grid[from + i] = low + step * (double)i;
	density_estimate(all->x, all->weight, all->count, bandwidth, out->grid + from, count,
			 out->all + from);
	density_estimate(kept->x, kept->weight, kept->count, bandwidth, out->grid + from, count,
			 out->kept + from);
	out->count += count;
}

void density_pair_of(const double *all, size_t n, const double *kept, size_t n_kept, double least,
		     struct density_pair *out)
{
	out->count = 0;
	if (!n)
		return;
	struct gathered of_all = gather(all, n), of_kept = gather(kept, n_kept);
	const struct gathered *core = n_kept > 1 ? &of_kept : &of_all;
	out->bandwidth = density_bandwidth(core->x, core->weight, core->count, least);
	double reach = BEYOND * out->bandwidth, first = all[0], last = all[n - 1];
	double low = fmax((n_kept ? kept[0] : first) - reach, 0);
	double high = (n_kept ? kept[n_kept - 1] : last) + reach;
	/* the grid of the rest reaches as far as what it blurs */
	double beyond = fmax(reach, fmax(low - first, last - high) * BEYOND / DENSITY_COARSE);
	if (first < low)
		add_stretch(&of_all, &of_kept, fmax(first - beyond, 0), low, DENSITY_COARSE, out);
	add_stretch(&of_all, &of_kept, low, high, DENSITY_FINE, out);
	if (last > high)
		add_stretch(&of_all, &of_kept, high, last + beyond, DENSITY_COARSE, out);
	xfree(of_all.x);
	xfree(of_all.weight);
	xfree(of_kept.x);
	xfree(of_kept.weight);
}
