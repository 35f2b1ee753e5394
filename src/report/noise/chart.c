/* Charts of runs of noise. */
#include <stdio.h>

#include "protocol/jitter/lengths.h"
#include "report/chart/charts.h"
#include "report/noise/rows.h"

/* The rates of all CPUs together: as the loop saw them, as the kernel told, of the baseline. */
enum { SEEN, TOLD, BASE, CURVES };

static int draw(struct chart *c, const struct jitter_lengths of[CURVES],
		const double window_s[CURVES], struct error *err)
{
	static const char *const titles[] = { "seen (user level)", "told (master)", "baseline" };
	static const unsigned pens[] = { CHART_PEN, CHART_PEN + 1, CHART_PEN + 7 };
	double grid[CHART_NOISE_GRID], rates[CURVES][CHART_NOISE_GRID], most[CURVES] = { 0 };
	double low = INFINITY, high = -INFINITY;
	char words[WORDS];
	if (!of[SEEN].count || !(window_s[SEEN] > 0))
		return chart_empty(err, "no detour was seen in this run");
	c->bandwidth = jitter_lay_grid(&of[SEEN], &of[TOLD], &of[BASE], grid, CHART_NOISE_GRID);
	size_t block = chart_block(c, "length_ns\tseen\ttold\tbaseline",
				   "detours per s and decade: seen by the loop (user level), told "
				   "by the kernel (master), seen in the baseline");
	for (unsigned k = 0; k < CURVES; k++) {
		jitter_rates(&of[k], window_s[k], c->bandwidth, grid, CHART_NOISE_GRID, rates[k]);
		if (!of[k].count)
			continue;
		low = fmin(low, floor(of[k].low));
		high = fmax(high, floor(of[k].high) + 1);
		chart_add(c, block, CHART_LINE, pens[k], titles[k], 0, 1 + k);
	}
	for (size_t i = 0; i < CHART_NOISE_GRID; i++) {
		double row[1 + CURVES] = { pow(10, grid[i]) };
		for (unsigned k = 0; k < CURVES; k++) {
			row[1 + k] = of[k].count ? rates[k][i] : NAN;
			most[k] = fmax(most[k], row[1 + k]);
		}
		chart_row(c, block, row, 1 + CURVES, NULL);
	}
	snprintf(words, sizeof words, "Parzen, Gaussian in log10, bandwidth %.4f decades",
		 c->bandwidth);
	chart_say(c, "estimate", words);
	/* a third of a detour in all of the time; of few that lie far apart there is less of each,
	 * yet something is to be seen */
	double least = fmin(0.3 / window_s[SEEN], most[SEEN] / 10);
	chart_axis_log(&c->x, "length of a detour", pow(10, low), pow(10, high), CHART_TIMES);
	chart_axis_log(&c->y, "detours per s and decade", least,
		       fmax(most[SEEN], fmax(most[TOLD], most[BASE])), CHART_POWERS);
	c->x.from = pow(10, low);
	c->x.to = pow(10, high);
	c->y.from = 1 / window_s[SEEN]; /* one detour per decade */
	c->key = true;
	return 0;
}

int chart_noise(struct chart *c, const struct noise_view *v, const struct noise_view *baseline,
		struct error *err)
{
	struct jitter_lengths of[CURVES] = { 0 };
	double window_s[CURVES] = { 1, 1, 1 };
	struct noise_cpu all;
	chart_say_run(c, "noise", v->run, v->machine);
	noise_together(v->noise, &all);
	window_s[SEEN] = window_s[TOLD] = noise_window_s(&all);
	jitter_lengths_of(&all, false, &of[SEEN]);
	jitter_lengths_of(&all, true, &of[TOLD]);
	noise_cpu_release(&all);
	if (baseline) {
		chart_say_run(c, NULL, baseline->run, baseline->machine);
		noise_together(baseline->noise, &all);
		window_s[BASE] = noise_window_s(&all);
		jitter_lengths_of(&all, false, &of[BASE]);
		noise_cpu_release(&all);
	}
	int failed = draw(c, of, window_s, err);
	for (unsigned k = 0; k < CURVES; k++)
		jitter_lengths_release(&of[k]);
	return failed;
}

int chart_sources(struct chart *c, const struct noise_view *v, size_t most, struct error *err)
{
	SCOPED(noise_cpu_release) struct noise_cpu all;
	SCOPED(noise_rows_release) struct noise_rows rows;
	double top = 0;
	const char *columns = "row\tns_per_s\tcount\ttotal_ns\tname";
	chart_say_run(c, "sources", v->run, v->machine);
	noise_together(v->noise, &all);
	noise_rows_of(&all, NOISE_BY_SOURCE, &rows);
	double window_s = noise_window_s(&all);
	size_t told = chart_block(c, columns, "told by the kernel");
	size_t inferred = chart_block(c, columns, "inferred, or not explained");
	size_t shown = rows.list.count < most ? rows.list.count : most;
	for (size_t i = 0; i < shown && window_s > 0; i++) {
		const struct noise_row *r = &rows.list.items[i];
		double row[] = { (double)i, (double)r->seen.ns / window_s, (double)r->seen.count,
				 (double)r->seen.ns };
		bool strict = r->class < NOISE_CLASSES && noise_class_strict(r->class);
		chart_row(c, strict ? told : inferred, row, 4, r->name);
		chart_axis_tick(&c->y, (double)i, r->name);
		top = fmax(top, row[1]);
	}
	if (!chart_rows(c))
		return chart_empty(err, "no detour was seen in this run");
	chart_axis_time(&c->x, "time taken per s of a CPU", top);
	chart_axis_rows(c, shown);
	chart_axis_from_zero(&c->x, top);
	for (unsigned k = 0; k < 2; k++)
		chart_add(c, k ? inferred : told, CHART_BARS, k ? CHART_INFERRED : CHART_BAR,
			  k ? "inferred, unexplained" : "told by the kernel", 1, 0);
	c->key = true;
	return 0;
}
