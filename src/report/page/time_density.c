/* Densities of times: of what was measured, and of what was kept. */
#include <math.h>
#include <stdlib.h>

#include "report/core/format.h"
#include "report/page/time_parts.h"
#include "stats/density.h"

#define CORE_POINTS 384 /* of the grid, where the kept ones lie */
#define REST_POINTS 64	/* on either side, up to the outermost */
#define BUCKETS 4096	/* more points than that are gathered before they are estimated */
#define REACH 3		/* bandwidths from the outermost point to the end of the grid */

typedef ARRAY(double) real_list;

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void gather(const struct run_view *v, enum emp_measure m, bool all, real_list *into)
{
	for (size_t i = 0; i < v->count; i++) {
		enum emp_rule rule = v->result->verdicts[i].rule;
		double ns = time_value(v, i, m);
		if (!isnan(ns) && (rule == EMP_KEPT || (all && rule_is_measured(rule))))
			array_push(into, ns);
	}
	if (into->count)
		qsort(into->items, into->count, sizeof *into->items, ascending);
}

/* Neighbours of many sorted points become one of more weight. */
struct points {
	double *x, *weight;
	size_t count;
};

static void points_of(const real_list *list, struct points *out)
{
	size_t n = list->count, each = n / BUCKETS + 1;
	*out = (struct points){ .x = xcalloc(n + 1, sizeof(double)),
				.weight = xcalloc(n + 1, sizeof(double)) };
	for (size_t i = 0; i < n; i += each, out->count++) {
		size_t most = i + each < n ? each : n - i;
		for (size_t k = 0; k < most; k++)
			out->x[out->count] += list->items[i + k] / (double)most;
		out->weight[out->count] = (double)most;
	}
}

/* One for both, or what differs would be the smoothing. */
static double bandwidth_of(const struct points *all, const struct points *kept)
{
	const struct points *p = kept->count > 1 ? kept : all;
	return density_bandwidth(p->x, p->weight, p->count, 1);
}

static void points_release(struct points *p)
{
	xfree(p->x);
	xfree(p->weight);
}

static void put_reals(json_t *into, const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		json_array_append_new(into, page_real(values[i]));
}

struct curves {
	const struct points *all, *kept;
	double bandwidth;
	json_t *ns, *of_all, *of_kept;
};

/* `count` more points of the grid, from low to below high. Where they are far apart, what lies
 * between two of them must not get lost. */
static void put_stretch(struct curves *c, double low, double high, size_t count)
{
	double grid[CORE_POINTS], of_all[CORE_POINTS], of_kept[CORE_POINTS];
	double step = (high - low) / (double)count;
	for (size_t i = 0; i < count; i++)
		grid[i] = low + step * (double)i;
	double bandwidth = fmax(c->bandwidth, step);
	density_estimate(c->all->x, c->all->weight, c->all->count, bandwidth, grid, count, of_all);
	density_estimate(c->kept->x, c->kept->weight, c->kept->count, bandwidth, grid, count,
			 of_kept);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(c->ns, json_integer(llround(grid[i])));
	put_reals(c->of_all, of_all, count);
	put_reals(c->of_kept, of_kept, count);
}

static json_t *density_json(const struct run_view *v, enum emp_measure m)
{
	real_list all = { 0 }, kept = { 0 };
	struct points of_all, of_kept;
	gather(v, m, true, &all);
	gather(v, m, false, &kept);
	if (!all.count) {
		array_release(&all);
		return NULL;
	}
	points_of(&all, &of_all);
	points_of(&kept, &of_kept);
	double bandwidth = bandwidth_of(&of_all, &of_kept), reach = REACH * bandwidth;
	struct curves c = {
		&of_all, &of_kept, bandwidth, json_array(), json_array(), json_array()
	};
	const real_list *core = kept.count ? &kept : &all;
	double low = fmax(core->items[0] - reach, 0), high = core->items[core->count - 1] + reach;
	/* the grid of the rest reaches as far as what it blurs */
	double span = fmax(low - all.items[0], all.items[all.count - 1] - high);
	double beyond = fmax(reach, span * REACH / REST_POINTS);
	double least = fmax(all.items[0] - beyond, 0), most = all.items[all.count - 1] + beyond;
	if (all.items[0] < low)
		put_stretch(&c, least, low, REST_POINTS);
	put_stretch(&c, low, high, CORE_POINTS);
	if (all.items[all.count - 1] > high)
		put_stretch(&c, high, most, REST_POINTS);
	json_t *o = json_object();
	json_object_set_new(o, "measure", json_string(emp_measure_name(m)));
	json_object_set_new(o, "ns", c.ns);
	json_object_set_new(o, "all", c.of_all);
	json_object_set_new(o, "kept", c.of_kept);
	points_release(&of_all);
	points_release(&of_kept);
	array_release(&all);
	array_release(&kept);
	return o;
}

json_t *page_densities(const struct run_view *view)
{
	json_t *list = json_array();
	enum emp_measure headline = view->result->headline;
	json_t *et = density_json(view, EMP_ET);
	json_t *pt = headline >= EMP_PT_NET && headline <= EMP_PT_TICK
			     ? density_json(view, headline)
			     : NULL;
	if (et)
		json_array_append_new(list, et);
	if (pt)
		json_array_append_new(list, pt);
	return list;
}
