/* Noise of CPUs. */
#include <math.h>

#include "base/text.h"
#include "report/noise/diff.h"
#include "report/noise/rows.h"
#include "report/page/documents.h"
#include "report/page/private.h"
#include "report/time/several.h"
#include "stats/density.h"

#define GRID 400
#define REACH 4 /* bandwidths on each side of the points */

/* ---- densities ---- */

/* Lengths of a run and what makes rates of them. */
struct lengths {
	struct noise_points seen, told;
	double window_s; /* over all CPUs: rates are of one */
};

static void lengths_of(const struct noise *n, struct lengths *out)
{
	struct noise_cpu together;
	noise_together(n, &together);
	noise_points_of(&together, false, &out->seen);
	noise_points_of(&together, true, &out->told);
	out->window_s = noise_window_s(&together);
	noise_cpu_release(&together);
}

static void lengths_release(struct lengths *l)
{
	noise_points_release(&l->seen);
	noise_points_release(&l->told);
}

/* One grid and one bandwidth for all, or what differs would be the smoothing; not finer than the
 * grid, or a peak would fall between its points. */
static double lay_grid(const struct lengths *run, const struct lengths *base, double grid[GRID])
{
	const struct noise_points *seen = &run->seen, *before = base ? &base->seen : NULL;
	double low = fmin(seen->low, run->told.low), high = fmax(seen->high, run->told.high);
	double h = density_bandwidth(seen->x, seen->weight, seen->n, NOISE_LEAST_WIDTH);
	if (before && before->n) {
		low = fmin(low, before->low);
		high = fmax(high, before->high);
		h = fmax(h, density_bandwidth(before->x, before->weight, before->n,
					      NOISE_LEAST_WIDTH));
	}
	for (int i = 0; i < 3; i++)
		h = fmax(h, (high - low + 2 * REACH * h) / (GRID - 1));
	low -= REACH * h;
	high += REACH * h;
	for (size_t i = 0; i < GRID; i++)
		grid[i] = low + (high - low) * (double)i / (GRID - 1);
	return h;
}

static json_t *curve_json(const struct noise_points *p, double window_s, double bandwidth,
			  const double grid[GRID])
{
	json_t *list = json_array();
	double density[GRID];
	density_estimate(p->x, p->weight, p->n, bandwidth, grid, GRID, density);
	for (size_t i = 0; i < GRID; i++)
		json_array_append_new(list, page_real(density[i] * p->total / window_s));
	return list;
}

static json_t *cpu_curve(const struct noise_cpu *c, bool told, double bandwidth,
			 const double grid[GRID])
{
	struct noise_points points;
	json_t *list = NULL;
	noise_points_of(c, told, &points);
	if (c->window_ns)
		list = curve_json(&points, noise_window_s(c), bandwidth, grid);
	noise_points_release(&points);
	return list ? list : json_array();
}

/* Each CPU alone; of one there is nothing to tell apart. */
static json_t *cpus_json(const struct noise *n, double bandwidth, const double grid[GRID])
{
	json_t *list = json_array();
	for (size_t i = 0; n->cpus.count > 1 && i < n->cpus.count; i++) {
		const struct noise_cpu *c = &n->cpus.items[i];
		json_t *o = json_object();
		json_object_set_new(o, "user", cpu_curve(c, false, bandwidth, grid));
		json_object_set_new(o, "master",
				    n->kernel ? cpu_curve(c, true, bandwidth, grid) : json_array());
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *density_json(const struct noise *run, const struct noise *base)
{
	struct lengths of_run, of_base;
	json_t *o = json_null();
	lengths_of(run, &of_run);
	if (base)
		lengths_of(base, &of_base);
	if (of_run.seen.n && of_run.window_s > 0) {
		double grid[GRID];
		double h = lay_grid(&of_run, base ? &of_base : NULL, grid);
		bool based = base && of_base.window_s > 0;
		json_t *ns = json_array();
		for (size_t i = 0; i < GRID; i++)
			json_array_append_new(ns, page_real(pow(10, grid[i])));
		o = json_object();
		json_object_set_new(o, "bandwidth", page_real(h));
		json_object_set_new(o, "ns", ns);
		json_object_set_new(o, "user", curve_json(&of_run.seen, of_run.window_s, h, grid));
		/* what nobody told of is not 0 */
		json_object_set_new(o, "master",
				    run->kernel ? curve_json(&of_run.told, of_run.window_s, h, grid)
						: json_array());
		json_object_set_new(o, "baseline",
				    based ? curve_json(&of_base.seen, of_base.window_s, h, grid)
					  : json_null());
		json_object_set_new(o, "cpus", cpus_json(run, h, grid));
	}
	lengths_release(&of_run);
	if (base)
		lengths_release(&of_base);
	return o;
}

/* ---- the section ---- */

/* "CPUs 0-1, ordinary scheduling, for 3.00 s" */
static void put_subtitle(const struct noise *n, struct strbuf *out)
{
	char elapsed[WORDS];
	text_duration((double)n->elapsed_ns, 3, elapsed, sizeof elapsed);
	put_cpus(n, out);
	strbuf_puts(out, ", ");
	put_scheduling(n, out);
	strbuf_printf(out, ", for %s", elapsed);
}

static json_t *baseline_json(const struct noise_view *v, const struct noise_view *baseline,
			     const struct jitter_diff *diff)
{
	json_t *o = json_object();
	json_object_set_new(o, "number", json_id(baseline->run->id));
	json_object_set_new(o, "name", json_text(run_title(baseline->run)));
	json_object_set_new(o, "diff", noise_diff_document(baseline, v, diff));
	return o;
}

void page_add_noise(struct page *p, const struct noise_view *v, const struct noise_view *baseline,
		    const struct jitter_diff *diff)
{
	const struct noise *n = v->noise, *before = baseline ? baseline->noise : NULL;
	struct strbuf subtitle = { 0 };
	if (n)
		put_subtitle(n, &subtitle);
	json_t *o = page_head_stored(p, "noise", v->run, v->machine, n ? &subtitle : NULL);
	json_object_set_new(o, "noise", n ? noise_document(v) : json_null());
	json_object_set_new(o, "density", n ? density_json(n, before) : json_null());
	json_object_set_new(o, "baseline",
			    baseline && diff ? baseline_json(v, baseline, diff) : json_null());
	page_add(p, o);
	strbuf_release(&subtitle);
}

void page_compare_noise(struct page *p, size_t base, size_t run, const struct noise_view *base_view,
			const struct noise_view *run_view, const struct jitter_diff *d)
{
	json_t *o = json_object();
	json_object_set_new(o, "kind", json_string("noise"));
	json_object_set_new(o, "base", json_integer((json_int_t)base));
	json_object_set_new(o, "run", json_integer((json_int_t)run));
	json_object_set_new(o, "diff", noise_diff_document(base_view, run_view, d));
	page_compare(p, o);
}
