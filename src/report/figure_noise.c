/* Figures of runs of noise. */
#include <stdio.h>

#include "report/figure_private.h"
#include "report/noise_rows.h"
#include "stats/density.h"

#define GRID 800
#define LEAST_WIDTH 0.0086 /* log10(1.02): a fine bucket */

/* Lengths as weighted points of log10 ns. */
struct lengths {
	double x[NOISE_BUCKETS], weight[NOISE_BUCKETS];
	size_t n;
	double total;
};

static void add_bucket(struct lengths *l, uint64_t count, uint64_t ns)
{
	if (!count || !ns)
		return;
	l->x[l->n] = log10((double)ns / (double)count);
	l->weight[l->n++] = (double)count;
	l->total += (double)count;
}

/* The user-level distribution and the master's, of all CPUs. */
struct densities {
	struct lengths *seen, *told;
	double watched_s;
};

static void densities_of(const struct noise *n, struct densities *out)
{
	struct noise_cpu all;
	noise_together(n, &all);
	out->seen = xcalloc(1, sizeof *out->seen);
	out->told = xcalloc(1, sizeof *out->told);
	out->watched_s = noise_watched_ns(&all) / 1e9;
	for (unsigned i = 0; i < NOISE_BUCKETS; i++) {
		struct noise_bucket told = noise_histogram_at(&all.master, i);
		add_bucket(out->seen, all.buckets[i].count, all.buckets[i].ns);
		add_bucket(out->told, told.count, told.ns);
	}
	noise_cpu_release(&all);
}

static void densities_release(struct densities *d)
{
	xfree(d->seen);
	xfree(d->told);
}

static void widen(const struct lengths *l, double *low, double *high)
{
	for (size_t i = 0; i < l->n; i++) {
		*low = fmin(*low, l->x[i]);
		*high = fmax(*high, l->x[i]);
	}
}

/* Detours per s of a CPU and decade; what is less than `least` is no part of a plot on a
 * logarithmic axis. */
static double add_curve(struct figure *f, size_t block, const struct lengths *l,
			const struct densities *of, double width, double low, double high,
			double least)
{
	double grid[GRID], at[GRID], most = 0;
	for (size_t i = 0; i < GRID; i++)
		grid[i] = low + (high - low) * (double)i / (GRID - 1);
	density_estimate(l->x, l->weight, l->n, width, grid, GRID, at);
	for (size_t i = 0; i < GRID && l->n; i++) {
		double rate = at[i] * l->total / of->watched_s;
		double row[] = { pow(10, grid[i]), rate >= least ? rate : NAN };
		figure_row(f, block, row, 2, NULL);
		most = fmax(most, rate);
	}
	return most;
}

static int draw(struct figure *f, const struct densities *run, const struct densities *base,
		struct error *err)
{
	double low = INFINITY, high = -INFINITY;
	const char *columns = "length_ns\tper_s_and_decade";
	if (!run->seen->n || !(run->watched_s > 0))
		return figure_empty(err, "no detour was seen in this run");
	widen(run->seen, &low, &high);
	widen(run->told, &low, &high);
	if (base)
		widen(base->seen, &low, &high);
	/* one bandwidth for all, or what differs would be the smoothing */
	double width =
		density_bandwidth(run->seen->x, run->seen->weight, run->seen->n, LEAST_WIDTH);
	double least = 0.3 / run->watched_s, most;
	size_t blocks[] = { figure_block(f, columns, "seen by the loop (user level)"),
			    figure_block(f, columns, "told by the kernel (master)"),
			    figure_block(f, columns, "baseline, seen by the loop") };
	char words[WORDS];
	snprintf(words, sizeof words, "Parzen, Gaussian in log10, bandwidth %.4f decades", width);
	figure_say(f, "estimate", words);
	low = floor(low);
	high = floor(high) + 1;
	most = add_curve(f, blocks[0], run->seen, run, width, low, high, least);
	most = fmax(most, add_curve(f, blocks[1], run->told, run, width, low, high, least));
	if (base && base->watched_s > 0)
		most = fmax(most,
			    add_curve(f, blocks[2], base->seen, base, width, low, high, least));
	figure_axis_log(&f->x, "length of a detour", pow(10, low), pow(10, high), true);
	figure_axis_log(&f->y, "detours per s and decade", least, most, false);
	figure_layer(f, blocks[2], "lines lt 8 lw 1.5", "baseline", "1:2");
	figure_layer(f, blocks[0], "lines lt 1 lw 2", "seen (user level)", "1:2");
	figure_layer(f, blocks[1], "lines lt 2 lw 1.5", "told (master)", "1:2");
	f->key = FIGURE_KEY_ABOVE;
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
	double watched_s = noise_watched_ns(&all) / 1e9;
	size_t told = figure_block(f, columns, "told by the kernel");
	size_t inferred = figure_block(f, columns, "inferred, or not explained");
	size_t shown = rows.list.count < most ? rows.list.count : most;
	for (size_t i = 0; i < shown && watched_s > 0; i++) {
		const struct noise_row *r = &rows.list.items[i];
		double row[] = { (double)i, (double)r->spread->ns / watched_s,
				 (double)r->spread->count, (double)r->spread->ns };
		bool strict = r->source && noise_class_strict(r->source->class);
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
	f->x.low = 0;
	const size_t blocks[] = { told, inferred };
	const char *const titles[] = { "told by the kernel", "inferred, unexplained" };
	const char *const styles[] = {
		"boxxyerror fs solid 1 border lt -1 lc rgb '#9ecae1' lw 0.5",
		"boxxyerror fs pattern 4 border lt -1 lc rgb '#b2182b' lw 0.5"
	};
	for (size_t k = 0; k < 2; k++)
		figure_layer(f, blocks[k], styles[k], titles[k],
			     "(0):1:(0):($2/%g):($1-0.35):($1+0.35)", f->x.unit);
	f->key = FIGURE_KEY_RIGHT;
	return 0;
}
