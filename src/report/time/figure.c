/* Figures of runs of commands. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/chart/figure_private.h"
#include "report/time/several.h"
#include "report/time/times.h"
#include "stats/density.h"

#define MOST_POINTS 3000 /* above, points are small */

static bool value_of(const struct run_view *v, size_t i, enum emp_measure m, double *ns)
{
	*ns = time_value(v, i, m);
	return !isnan(*ns);
}

static bool is_measured(const struct run_view *v, size_t i)
{
	return rule_is_measured(v->result->verdicts[i].rule);
}

/* With a sign of its own: those that failed have one, though they count for nothing else. */
static bool is_drawn(const struct run_view *v, size_t i)
{
	return v->result->verdicts[i].rule != EMP_WARMUP;
}

static enum emp_measure choose(const struct run_view *v, enum emp_measure asked)
{
	return asked == EMP_MEASURES ? v->result->headline : asked;
}

int figure_check_measure(const struct run_view *v, enum emp_measure m, struct error *err)
{
	size_t measured = 0;
	for (size_t i = 0; i < v->count; i++)
		measured += is_measured(v, i);
	if (!measured)
		return error_set(err, EXIT_USAGE,
				 "there is nothing to plot: no execution of run %lld was measured",
				 (long long)v->run->id);
	if (v->result->present[m])
		return 0;
	error_set(err, EXIT_USAGE, "run %lld has no %s", (long long)v->run->id, measure_title(m));
	return error_hint(err, "'tare show %lld' tells what it has", (long long)v->run->id);
}

/* The values of what was measured; kept: only of those that count. The caller frees. */
static double *values_of(const struct run_view *v, enum emp_measure m, bool kept, size_t *count)
{
	double *x = xcalloc(v->count + 1, sizeof *x);
	*count = 0;
	for (size_t i = 0; i < v->count; i++)
		if (is_measured(v, i) && (!kept || v->result->verdicts[i].rule == EMP_KEPT) &&
		    value_of(v, i, m, &x[*count]))
			++*count;
	return x;
}

static double most_of(const double *x, size_t n)
{
	double most = 0;
	for (size_t i = 0; i < n; i++)
		most = fmax(most, x[i]);
	return most;
}

static double least_of(const double *x, size_t n)
{
	double least = n ? x[0] : 0;
	for (size_t i = 1; i < n; i++)
		least = fmin(least, x[i]);
	return least;
}

/* ---- samples over time ---- */

/* Each kind of verdict is a block, and a sign. */
static const struct {
	enum emp_rule rule;
	const char *title, *style, *small;
} signs[] = {
	{ EMP_KEPT, "kept", "points pt 7 ps 0.5 lc rgb '#0072b2'",
	  "points pt 7 ps 0.2 lc rgb '#0072b2'" },
	{ EMP_OUTSIDE, "dropped by rule (II)", "points pt 2 ps 0.9 lc rgb '#d55e00'", NULL },
	{ EMP_CUTOFF, "dropped by rule (I)", "points pt 4 ps 0.9 lc rgb '#000000'", NULL },
	{ EMP_FAILED, "failed", "points pt 8 ps 0.9 lc rgb '#777777'", NULL },
	{ EMP_WARMUP, "warm-up: not drawn", NULL, NULL },
};
#define SIGNS (sizeof signs / sizeof *signs)

/* Imported ones may not know when they were made. */
static bool is_timed(const struct run_view *v)
{
	for (size_t i = 0; i < v->count; i++)
		if (!v->executions[i].started_at_ns)
			return false;
	return true;
}

/* What times are since: the run's start, or what the clock showed after it was set back. */
static int64_t origin_of(const struct run_view *v)
{
	int64_t origin = v->run->started_at_ns;
	for (size_t i = 0; i < v->count; i++)
		if (v->executions[i].started_at_ns < origin)
			origin = v->executions[i].started_at_ns;
	return origin;
}

static void say_origin(struct figure *f, const struct run_view *v, bool timed)
{
	if (!timed)
		figure_say(f, "at_ns",
			   "when each began is not known: as if one followed the other");
	else if (origin_of(v) != v->run->started_at_ns)
		figure_say(f, "at_ns",
			   "since the earliest execution: the clock was set back during the run");
}

/* What a sign is at: its time, else its number. */
struct places {
	double last, first_number, last_number;
};

/* The column of it. */
static int set_places(struct figure_axis *x, const struct places *p, bool timed)
{
	if (p->last > 0) {
		figure_axis_time(x, timed ? "time into the run" : "elapsed time so far", p->last);
		figure_axis_from_zero(x, p->last);
		return 2;
	}
	/* all at once, as one alone is: there is no time to be shown */
	x->notation = FIGURE_COUNTS;
	figure_axis_label(x, "execution");
	x->low = p->first_number - 0.5;
	x->high = p->last_number + 0.5;
	return 1;
}

static size_t block_of(const struct run_view *v, size_t i, const size_t blocks[SIGNS])
{
	for (size_t k = 0; k < SIGNS; k++)
		if (signs[k].rule == v->result->verdicts[i].rule)
			return blocks[k];
	return blocks[0];
}

int figure_samples(struct figure *f, const struct run_view *v, enum emp_measure measure,
		   struct error *err)
{
	enum emp_measure m = choose(v, measure);
	size_t blocks[SIGNS];
	bool timed = is_timed(v), dropped = false;
	struct places places = { .first_number = INFINITY };
	double so_far = 0, low = INFINITY, high = 0;
	int64_t origin = origin_of(v);
	if (figure_check_measure(v, m, err))
		return -1;
	figure_say_run(f, "samples", v->run, v->machine);
	figure_say(f, "measure", measure_title(m));
	say_origin(f, v, timed);
	for (size_t k = 0; k < SIGNS; k++)
		blocks[k] = figure_block(f, "execution\tat_ns\tvalue_ns\twhy", signs[k].title);
	for (size_t i = 0; i < v->count; i++) {
		const struct execution *x = &v->executions[i];
		double at = timed ? (double)(x->started_at_ns - origin) : so_far;
		double row[] = { x->number, at, 0 };
		so_far += (double)x->et_ns;
		if (!value_of(v, i, m, &row[2]))
			continue;
		figure_row(f, block_of(v, i, blocks), row, 3, v->result->verdicts[i].reason);
		if (!is_drawn(v, i))
			continue;
		places.last = fmax(places.last, at);
		places.first_number = fmin(places.first_number, row[0]);
		places.last_number = fmax(places.last_number, row[0]);
		low = fmin(low, row[2]);
		high = fmax(high, row[2]);
		dropped |= rule_is_drop(v->result->verdicts[i].rule);
	}
	if (!(high >= low))
		return figure_empty(err, "no execution was measured");
	int column = set_places(&f->x, &places, timed);
	figure_axis_time(&f->y, measure_title(m), high);
	figure_axis_span(&f->y, low, high);
	for (size_t k = 0; k < SIGNS; k++)
		if (signs[k].style)
			figure_layer(f, blocks[k],
				     signs[k].small && v->count > MOST_POINTS ? signs[k].small
									      : signs[k].style,
				     signs[k].title, "($%d/%g):($3/%g)", column, f->x.unit,
				     f->y.unit);
	f->key = dropped;
	return 0;
}

/* ---- histogram and density ---- */

#define MOST_BINS 80

/* Freedman and Diaconis; sorts x. */
static size_t bins_of(double *x, size_t n, double *low, double *width)
{
	qsort(x, n, sizeof *x, figure_by_value);
	double range = x[n - 1] - x[0], iqr = x[n * 3 / 4] - x[n / 4];
	size_t bins = 1;
	*low = x[0];
	if (range > 0 && iqr > 0)
		bins = (size_t)fmin(ceil(range / (2 * iqr / cbrt((double)n))), MOST_BINS);
	*width = range > 0 ? range / (double)bins : fmax(x[0] * 1e-3, 1);
	return bins;
}

int figure_histogram(struct figure *f, const struct run_view *v, enum emp_measure measure,
		     struct error *err)
{
	enum emp_measure m = choose(v, measure);
	size_t n, n_kept;
	double low, width, top = 0;
	if (figure_check_measure(v, m, err))
		return -1;
	double *all = values_of(v, m, false, &n), *kept = values_of(v, m, true, &n_kept);
	if (!n) {
		xfree(all);
		xfree(kept);
		return figure_empty(err, "no execution was measured");
	}
	size_t bins = bins_of(all, n, &low, &width);
	size_t *counts = xcalloc(2 * bins, sizeof *counts);
	for (size_t i = 0; i < n; i++)
		counts[(size_t)fmin((all[i] - low) / width, (double)bins - 1)]++;
	for (size_t i = 0; i < n_kept; i++)
		counts[bins + (size_t)fmin((kept[i] - low) / width, (double)bins - 1)]++;
	figure_say_run(f, "histogram", v->run, v->machine);
	figure_say(f, "measure", measure_title(m));
	size_t block = figure_block(f, "low_ns\thigh_ns\tall\tkept", "executions by bin");
	for (size_t i = 0; i < bins; i++) {
		double row[] = { low + (double)i * width, low + (double)(i + 1) * width,
				 (double)counts[i], (double)counts[bins + i] };
		figure_row(f, block, row, 4, NULL);
		top = fmax(top, row[2]);
	}
	figure_axis_time(&f->x, measure_title(m), all[n - 1]);
	figure_axis_span(&f->x, low, low + (double)bins * width);
	figure_axis_label(&f->y, "executions");
	f->y.notation = FIGURE_COUNTS;
	figure_axis_from_zero(&f->y, top);
	double unit = f->x.unit;
	figure_layer(f, block, "boxxyerror fs solid 1 border lt -1 dt 1 lc rgb '#d55e00' lw 0.5",
		     n_kept < n ? "all" : NULL, "(($1+$2)/2/%g):3:($1/%g):($2/%g):(0):3", unit,
		     unit, unit);
	figure_layer(f, block, "boxxyerror fs solid 1 border lt -1 dt 1 lc rgb '#9ecae1' lw 0.5",
		     n_kept < n ? "kept" : NULL, "(($1+$2)/2/%g):4:($1/%g):($2/%g):(0):4", unit,
		     unit, unit);
	f->key = n_kept < n;
	xfree(counts);
	xfree(all);
	xfree(kept);
	return 0;
}

#define GRID 400
#define BEYOND 3 /* bandwidths on each side */

int figure_density(struct figure *f, const struct run_view *v, enum emp_measure measure,
		   struct error *err)
{
	enum emp_measure m = choose(v, measure);
	size_t n, n_kept;
	double grid[GRID], at_all[GRID], at_kept[GRID], top = 0;
	if (figure_check_measure(v, m, err))
		return -1;
	double *all = values_of(v, m, false, &n), *kept = values_of(v, m, true, &n_kept);
	double *weight = xcalloc(n + 1, sizeof *weight);
	for (size_t i = 0; i < n; i++)
		weight[i] = 1;
	/* one bandwidth for both, or what differs would be the smoothing */
	double least = fmax(1, FIGURE_LEAST_PART * most_of(all, n));
	double width = n_kept > 1 ? density_bandwidth(kept, weight, n_kept, least)
				  : density_bandwidth(all, weight, n, least);
	double low = least_of(all, n) - BEYOND * width, high = most_of(all, n) + BEYOND * width;
	for (size_t i = 0; i < GRID; i++)
		grid[i] = low + (high - low) * (double)i / (GRID - 1);
	density_estimate(all, weight, n, width, grid, GRID, at_all);
	density_estimate(kept, weight, n_kept, width, grid, GRID, at_kept);
	figure_say_run(f, "density", v->run, v->machine);
	figure_say(f, "measure", measure_title(m));
	char words[WORDS];
	snprintf(words, sizeof words, "Parzen, Gaussian, bandwidth %.6g ns", width);
	figure_say(f, "estimate", words);
	size_t block = figure_block(f, "value_ns\tall_per_ns\tkept_per_ns", "densities");
	for (size_t i = 0; i < GRID && n; i++) {
		double row[] = { grid[i], at_all[i], n_kept ? at_kept[i] : NAN };
		figure_row(f, block, row, 3, NULL);
		top = fmax(top, fmax(row[1], row[2]));
	}
	figure_axis_time(&f->x, measure_title(m), high);
	double unit = f->x.unit;
	figure_axis_range(&f->x, low, high);
	char label[WORDS];
	snprintf(label, sizeof label, "density (1/%s)", f->x.unit_name);
	figure_axis_label(&f->y, label);
	figure_axis_from_zero(&f->y, top * unit);
	figure_layer(f, block, "lines lt 1 lw 2", n_kept < n ? "kept" : NULL, "($1/%g):($3*%g)",
		     unit, unit);
	if (n_kept < n)
		figure_layer(f, block, "lines lt 2", "all", "($1/%g):($2*%g)", unit, unit);
	f->key = n_kept < n;
	xfree(weight);
	xfree(all);
	xfree(kept);
	return n ? 0 : figure_empty(err, "no execution was measured");
}

/* ---- the ledger ---- */

#define MOST_BARS 200
#define CAUSES_SHOWN (FIGURE_FILLS - 1) /* the last fill is of the rest */

struct ledger_bars {
	ARRAY(size_t) with;		    /* executions, by index */
	size_t causes[CAUSES_SHOWN], count; /* those shown, as in the catalogue */
	size_t rank[LEDGER_CAUSES];	    /* by their sum: the largest are told apart best */
	bool rest;
};

static int by_sum(const void *a, const void *b, void *sums)
{
	double p = ((double *)sums)[*(const size_t *)a], q = ((double *)sums)[*(const size_t *)b];
	return p > q ? -1 : p < q;
}

static int by_number(const void *a, const void *b)
{
	size_t p = *(const size_t *)a, q = *(const size_t *)b;
	return p < q ? -1 : p > q;
}

static void choose_causes(const struct run_view *v, struct ledger_bars *bars)
{
	double sums[LEDGER_CAUSES] = { 0 };
	size_t order[LEDGER_CAUSES], used = 0;
	for (size_t i = 0; i < v->count; i++) {
		const struct ledger *l = &v->executions[i].ledger;
		if (!is_measured(v, i) || !l->present)
			continue;
		array_push(&bars->with, i);
		for (size_t c = 0; c < LEDGER_CAUSES; c++)
			sums[c] += (double)l->wall_ns[c];
	}
	for (size_t c = 0; c < LEDGER_CAUSES; c++)
		if (sums[c] > 0)
			order[used++] = c;
	if (sums[LEDGER_RUN] > 0)
		sums[LEDGER_RUN] = INFINITY; /* blue, as in a page */
	qsort_r(order, used, sizeof *order, by_sum, sums);
	for (size_t i = 0; i < used; i++)
		bars->rank[order[i]] = i;
	bars->rest = used > CAUSES_SHOWN;
	bars->count = used < CAUSES_SHOWN ? used : CAUSES_SHOWN;
	qsort(order, bars->count, sizeof *order, by_number);
	for (size_t i = 0; i < bars->count; i++)
		bars->causes[i] = order[i];
}

/* The mean of executions [first, end) of those with one. */
static void add_bar(struct figure *f, size_t block, const struct run_view *v,
		    const struct ledger_bars *bars, size_t first, size_t end)
{
	double row[2 + FIGURE_FILLS] = { v->executions[bars->with.items[first]].number,
					 v->executions[bars->with.items[end - 1]].number };
	for (size_t i = first; i < end; i++) {
		const struct ledger *l = &v->executions[bars->with.items[i]].ledger;
		double n = (double)(end - first), rest = 0, shown = 0;
		for (size_t c = 0; c < LEDGER_CAUSES; c++)
			rest += (double)l->wall_ns[c] / n;
		for (size_t k = 0; k < bars->count; k++) {
			double ns = (double)l->wall_ns[bars->causes[k]] / n;
			row[2 + k] += ns;
			shown += ns;
		}
		row[2 + bars->count] += fmax(rest - shown, 0);
	}
	figure_row(f, block, row, 2 + bars->count + bars->rest, NULL);
}

int figure_ledger(struct figure *f, const struct run_view *v, struct error *err)
{
	struct ledger_bars bars = { 0 };
	struct strbuf columns = { 0 };
	double most = 0;
	choose_causes(v, &bars);
	if (!bars.with.count) {
		figure_empty(err, "no measured execution of this run has a ledger");
		return error_hint(err, "as root, 'tare time' keeps one of each");
	}
	size_t bin = (bars.with.count + MOST_BARS - 1) / MOST_BARS;
	figure_say_run(f, "ledger", v->run, v->machine);
	strbuf_puts(&columns, "first\tlast");
	for (size_t k = 0; k < bars.count; k++)
		strbuf_printf(&columns, "\t%s_ns", ledger_causes[bars.causes[k]].name);
	strbuf_puts(&columns, bars.rest ? "\tother_ns" : "");
	char title[2 * WORDS + 1];
	snprintf(title, sizeof title, "wall-clock view of %s%zu executions%s",
		 bin > 1 ? "the mean of " : "", bin > 1 ? bin : bars.with.count,
		 bin > 1 ? " in each row" : "");
	size_t block = figure_block(f, strbuf_text(&columns), title);
	strbuf_release(&columns);
	for (size_t i = 0; i < bars.with.count; i += bin) {
		size_t end = i + bin < bars.with.count ? i + bin : bars.with.count;
		add_bar(f, block, v, &bars, i, end);
		for (size_t k = i; k < end; k++)
			most = fmax(most, (double)v->executions[bars.with.items[k]].et_ns);
	}
	figure_axis_time(&f->y, "elapsed time", most);
	figure_axis_label(&f->x,
			  bin > 1 ? "execution (each bar the mean of several)" : "execution");
	f->x.low = v->executions[bars.with.items[0]].number - 0.5;
	f->x.high = v->executions[bars.with.items[bars.with.count - 1]].number + 0.5;
	f->x.notation = FIGURE_COUNTS;
	figure_axis_from_zero(&f->y, most);
	const struct figure_stack stack = { block, 3, "$1-0.5", "$2+0.5", false };
	for (size_t k = 0; k < bars.count + bars.rest; k++)
		figure_stack_layer(f, &stack, 3 + k,
				   k < bars.count ? figure_fills[bars.rank[bars.causes[k]]]
						  : figure_fills[FIGURE_FILLS - 1],
				   k < bars.count ? ledger_causes[bars.causes[k]].name : "other");
	f->key = true;
	array_release(&bars.with);
	return 0;
}

/* ---- dual execution ---- */

int figure_dual(struct figure *f, const struct run_view *v, enum emp_measure measure,
		struct error *err)
{
	enum emp_measure m = measure == EMP_MEASURES ? EMP_ET : measure;
	double least = INFINITY, most = 0;
	if (figure_check_measure(v, m, err))
		return -1;
	figure_say_run(f, "dual", v->run, v->machine);
	figure_say(f, "measure", measure_title(m));
	size_t kept = figure_block(f, "first\tsecond\tfirst_ns\tsecond_ns", "pairs, both kept");
	size_t dropped = figure_block(f, "first\tsecond\tfirst_ns\tsecond_ns",
				      "pairs with one that was dropped or failed");
	for (size_t i = 0; i + 1 < v->count; i++) {
		const struct execution *a = &v->executions[i], *b = &v->executions[i + 1];
		double row[] = { a->number, b->number, 0, 0 };
		if (!is_drawn(v, i) || !is_drawn(v, i + 1) || a->number % 2 == 0 ||
		    b->number != a->number + 1 || !value_of(v, i, m, &row[2]) ||
		    !value_of(v, i + 1, m, &row[3]))
			continue;
		bool both = v->result->verdicts[i].rule == EMP_KEPT &&
			    v->result->verdicts[i + 1].rule == EMP_KEPT;
		least = fmin(least, fmin(row[2], row[3]));
		most = fmax(most, fmax(row[2], row[3]));
		figure_row(f, both ? kept : dropped, row, 4, NULL);
	}
	if (!figure_rows(f))
		return figure_empty(err, "no two successive executions were measured");
	char label[WORDS];
	snprintf(label, sizeof label, "%s of the first", measure_title(m));
	figure_axis_time(&f->x, label, most);
	snprintf(label, sizeof label, "%s of the second", measure_title(m));
	figure_axis_time(&f->y, label, most);
	/* the same of both, or the diagonal would be none */
	figure_axis_span(&f->x, least, most);
	figure_axis_span(&f->y, least, most);
	const size_t blocks[] = { kept, dropped };
	for (size_t k = 0; k < 2; k++)
		figure_layer(f, blocks[k], signs[k].style,
			     k ? "one dropped or failed" : "both kept", "($3/%g):($4/%g)",
			     f->x.unit, f->y.unit);
	f->square = true;
	f->key = true;
	return 0;
}
