/* Figures of runs of noise. */
#include <stdio.h>

#include "report/chart/figure_private.h"
#include "report/noise/rows.h"
#include "stats/density.h"

#define GRID 800

/* The user-level distribution and the master's, of all CPUs. */
struct densities {
	struct noise_points seen, told;
	double window_s;
};

static void densities_of(const struct noise *n, struct densities *out)
{
	struct noise_cpu all;
	noise_together(n, &all);
	noise_points_of(&all, false, &out->seen);
	noise_points_of(&all, true, &out->told);
	out->window_s = noise_window_s(&all);
	noise_cpu_release(&all);
}

static void densities_release(struct densities *d)
{
	noise_points_release(&d->seen);
	noise_points_release(&d->told);
}

/* Detours per s of a CPU and decade, over log10 of their length in ns. */
struct curve {
	double grid[GRID], rate[GRID];
	size_t count; /* of points; 0: there is no such detour */
};

/* Its highest rate. */
static double curve_of(struct curve *c, const struct noise_points *p, double window_s, double width,
		       double low, double high)
{
	double most = 0;
	for (size_t i = 0; i < GRID; i++)
		c->grid[i] = low + (high - low) * (double)i / (GRID - 1);
	density_estimate(p->x, p->weight, p->n, width, c->grid, GRID, c->rate);
	for (size_t i = 0; i < GRID; i++) {
		c->rate[i] *= p->total / window_s;
		most = fmax(most, c->rate[i]);
	}
	c->count = p->n ? GRID : 0;
	return most;
}

/* What is less than `least` is no part of a plot on a logarithmic axis. */
static void add_curve(struct figure *f, size_t block, const struct curve *c, double least)
{
	for (size_t i = 0; i < c->count; i++) {
		double row[] = { pow(10, c->grid[i]), c->rate[i] >= least ? c->rate[i] : NAN };
		figure_row(f, block, row, 2, NULL);
	}
}

static int draw(struct figure *f, const struct densities *run, const struct densities *base,
		struct error *err)
{
	double low = fmin(run->seen.low, run->told.low),
	       high = fmax(run->seen.high, run->told.high);
	const char *columns = "length_ns\tper_s_and_decade";
	if (!run->seen.n || !(run->window_s > 0))
		return figure_empty(err, "no detour was seen in this run");
	if (base) {
		low = fmin(low, base->seen.low);
		high = fmax(high, base->seen.high);
	}
	/* one bandwidth for all, or what differs would be the smoothing */
	double width =
		density_bandwidth(run->seen.x, run->seen.weight, run->seen.n, NOISE_LEAST_WIDTH);
	if (base && base->seen.n) /* the wider, as in a page and in a comparison */
		width = fmax(width, density_bandwidth(base->seen.x, base->seen.weight, base->seen.n,
						      NOISE_LEAST_WIDTH));
	struct curve seen, told, other = { .count = 0 };
	double most;
	size_t blocks[] = { figure_block(f, columns, "seen by the loop (user level)"),
			    figure_block(f, columns, "told by the kernel (master)"),
			    figure_block(f, columns, "baseline, seen by the loop") };
	char words[WORDS];
	snprintf(words, sizeof words, "Parzen, Gaussian in log10, bandwidth %.4f decades", width);
	figure_say(f, "estimate", words);
	low = floor(low);
	high = floor(high) + 1;
	most = curve_of(&seen, &run->seen, run->window_s, width, low, high);
	/* a third of a detour in all of the time; of few that lie far apart there is less of each,
	 * yet something is to be seen */
	double least = fmin(0.3 / run->window_s, most / 10);
	most = fmax(most, curve_of(&told, &run->told, run->window_s, width, low, high));
	if (base && base->window_s > 0)
		most = fmax(most, curve_of(&other, &base->seen, base->window_s, width, low, high));
	add_curve(f, blocks[0], &seen, least);
	add_curve(f, blocks[1], &told, least);
	add_curve(f, blocks[2], &other, least);
	figure_axis_log(&f->x, "length of a detour", pow(10, low), pow(10, high), FIGURE_TIMES);
	figure_axis_log(&f->y, "detours per s and decade", least, most, FIGURE_POWERS);
	figure_layer(f, blocks[2], "lines lt 8 lw 1.5", "baseline", "1:2");
	figure_layer(f, blocks[0], "lines lt 1 lw 2", "seen (user level)", "1:2");
	figure_layer(f, blocks[1], "lines lt 2 lw 1.5", "told (master)", "1:2");
	f->key = true;
	return 0;
}

int figure_noise(struct figure *f, const struct noise_view *v, const struct noise_view *baseline,
		 struct error *err)
{
	struct densities run, base;
	figure_say_run(f, "noise", v->run, v->machine);
	if (baseline)
		figure_say_run(f, NULL, baseline->run, baseline->machine);
	densities_of(v->noise, &run);
	if (baseline)
		densities_of(baseline->noise, &base);
	int failed = draw(f, &run, baseline ? &base : NULL, err);
	densities_release(&run);
	if (baseline)
		densities_release(&base);
	return failed;
}

int figure_sources(struct figure *f, const struct noise_view *v, size_t most, struct error *err)
{
	struct noise_cpu all;
	struct noise_rows rows;
	double top = 0;
	const char *columns = "row\tns_per_s\tcount\ttotal_ns\tname";
	figure_say_run(f, "sources", v->run, v->machine);
	noise_together(v->noise, &all);
	noise_rows_of(&all, NOISE_BY_SOURCE, &rows);
	double window_s = noise_window_s(&all);
	size_t told = figure_block(f, columns, "told by the kernel");
	size_t inferred = figure_block(f, columns, "inferred, or not explained");
	size_t shown = rows.list.count < most ? rows.list.count : most;
	for (size_t i = 0; i < shown && window_s > 0; i++) {
		const struct noise_row *r = &rows.list.items[i];
		double row[] = { (double)i, (double)r->seen.ns / window_s, (double)r->seen.count,
				 (double)r->seen.ns };
		bool strict = noise_class_strict(r->class);
		figure_row(f, strict ? told : inferred, row, 4, r->name);
		figure_axis_tic(&f->y, (double)i, r->name);
		top = fmax(top, row[1]);
	}
	noise_rows_release(&rows);
	noise_cpu_release(&all);
	if (!figure_rows(f))
		return figure_empty(err, "no detour was seen in this run");
	figure_axis_time(&f->x, "time taken per s of a CPU", top);
	figure_axis_rows(f, shown);
	figure_axis_from_zero(&f->x, top);
	const size_t blocks[] = { told, inferred };
	const char *const titles[] = { "told by the kernel", "inferred, unexplained" };
	const char *const styles[] = {
		"boxxyerror fs solid 1 border lt -1 dt 1 lc rgb '#9ecae1' lw 0.5",
		"boxxyerror fs solid 1 border lt -1 dt 1 lc rgb '#b2182b' lw 0.5"
	};
	for (size_t k = 0; k < 2; k++)
		figure_layer(f, blocks[k], styles[k], titles[k],
			     "(0):1:(0):($2/%g):($1-0.35):($1+0.35)", f->x.unit);
	f->key = true;
	return 0;
}
