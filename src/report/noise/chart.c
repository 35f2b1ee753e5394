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
	if (!v->noise->kernel)
		rows.list.count = 0;
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
		return chart_empty(err, v->noise->kernel ? "no detour was seen in this run"
							 : "this run has no names of sources");
	chart_axis_time(&c->x, "time taken per s of a CPU", top);
	chart_axis_rows(c, shown);
	chart_axis_from_zero(&c->x, top);
	for (unsigned k = 0; k < 2; k++)
		chart_add(c, k ? inferred : told, CHART_BARS, k ? CHART_INFERRED : CHART_BAR,
			  k ? "inferred, unexplained" : "told by the kernel", 1, 0);
	c->key = true;
	return 0;
}

/* The points of a CPU as a share of its best, in percent; a stretch without a probe breaks the
 * line. */
static void add_speeds(struct chart *c, const struct noise_cpu *cpu, enum speed_kind kind,
		       unsigned pen, double range[2])
{
	struct jitter_speed speed;
	char title[WORDS];
	double end = NAN;
	jitter_speed_of(cpu, &speed);
	snprintf(title, sizeof title, "CPU %u", cpu->cpu);
	size_t block = chart_block(
		c, "at_ns\tpercent_of_best\tchain_ns\tports_ns\tturns_ns\tloads_ns", title);
	array_each(p, &cpu->speeds) {
		double row[2 + SPEED_KINDS] = { (double)p->begin_ns + (double)p->length_ns / 2,
						100 * speed.of[kind].best / p->ns[kind] };
		double gap[2 + SPEED_KINDS] = { end, NAN, NAN, NAN, NAN, NAN };
		for (enum speed_kind k = 0; k < SPEED_KINDS; k++)
			row[2 + k] = p->ns[k];
		if ((double)p->begin_ns > end)
			chart_row(c, block, gap, 2 + SPEED_KINDS, NULL);
		chart_row(c, block, row, 2 + SPEED_KINDS, NULL);
		end = (double)(p->begin_ns + p->length_ns);
		range[0] = fmin(range[0], row[1]);
		range[1] = fmax(range[1], row[1]);
	}
	chart_add(c, block, CHART_LINE, CHART_PEN + pen, title, 0, 1);
}

/* How many other CPUs were slowed down more than this one at times. */
static size_t rank_of(const struct noise *n, const struct noise_cpu *cpu)
{
	struct jitter_speed own, other;
	size_t rank = 0;
	jitter_speed_of(cpu, &own);
	array_each(o, &n->cpus) {
		jitter_speed_of(o, &other);
		rank += other.least < own.least || (other.least == own.least && o < cpu);
	}
	return rank;
}

int chart_speed(struct chart *c, const struct noise_view *v, struct error *err)
{
	double range[2] = { 100, 100 }, varied = -1;
	enum speed_kind kind = SPEED_PORTS;
	unsigned pens = 0;
	bool watched = false;
	char label[2 * WORDS];
	chart_say_run(c, "speed", v->run, v->machine);
	array_each(cpu, &v->noise->cpus) {
		struct jitter_speed s;
		jitter_speed_of(cpu, &s);
		watched |= cpu->speeds.count > 0;
		if (s.most < SPEED_KINDS && s.of[s.most].varied > varied) {
			varied = s.of[s.most].varied;
			kind = s.most;
		}
	}
	array_each(cpu, &v->noise->cpus)
		if (cpu->speeds.count && pens < CHART_PENS && rank_of(v->noise, cpu) < CHART_PENS)
			add_speeds(c, cpu, kind, pens++, range);
	if (varied < 0)
		return chart_empty(err,
				   watched ? "the run is too short for a series of speeds"
					   : "the speed of the CPUs was not watched in this run");
	double end = (double)v->noise->elapsed_ns;
	snprintf(label, sizeof label, "speed %s, %% of its best", speed_kind_phrases[kind]);
	chart_axis_time(&c->x, "time into the run", end);
	chart_axis_label(&c->y, label);
	c->x.low = 0;
	c->x.high = end / c->x.unit;
	chart_axis_span(&c->y, range[0], range[1]);
	c->key = true;
	return 0;
}
