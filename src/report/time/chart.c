/* Charts of runs of commands. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/chart/charts.h"
#include "report/time/several.h"
#include "report/time/times.h"
#include "stats/bins.h"
#include "stats/density.h"

static bool value_of(const struct run_view *v, size_t i, enum emp_measure m, double *ns)
{
	*ns = time_value(v, i, m);
	return !isnan(*ns);
}

/* With a sign of its own: those that failed have one, though they count for nothing else. */
static bool is_drawn(const struct run_view *v, size_t i)
{
	return v->result->verdicts[i].rule != EMP_WARMUP;
}

static enum emp_measure choose(const struct run_view *v, enum emp_measure asked)
{
	return asked == EMP_MEASURES ? v->result->shown : asked;
}

/* ---- samples over time ---- */

/* Each kind of verdict is a block, and a sign. */
static const struct {
	enum emp_rule rule;
	enum chart_role role;
	const char *title;
} signs[] = {
	{ EMP_KEPT, CHART_KEPT, "kept" },
	{ EMP_OUTSIDE, CHART_OUTSIDE, "dropped by rule (II)" },
	{ EMP_CUTOFF, CHART_CUTOFF, "dropped by rule (I)" },
	{ EMP_FAILED, CHART_FAILED, "failed" },
	{ EMP_WARMUP, CHART_ROLES, "warm-up: not drawn" },
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

int chart_samples(struct chart *c, const struct run_view *v, enum emp_measure measure,
		  struct error *err)
{
	enum emp_measure m = choose(v, measure);
	size_t blocks[SIGNS], of_rule[EMP_OUTSIDE + 1] = { 0 };
	bool timed = is_timed(v);
	double so_far = 0, low = INFINITY, high = 0, last = 0, first_number = INFINITY,
	       last_number = 0;
	int64_t origin = origin_of(v);
	if (time_check_measure(v, m, err))
		return -1;
	chart_say_run(c, "samples", v->run, v->machine);
	chart_say(c, "measure", measure_title(m));
	if (!timed)
		chart_say(c, "at_ns", "when each began is not known: as if one followed the other");
	else if (origin != v->run->started_at_ns)
		chart_say(c, "at_ns",
			  "since the earliest execution: the clock was set back during the run");
	for (size_t k = 0; k < SIGNS; k++)
		of_rule[signs[k].rule] = blocks[k] =
			chart_block(c, "execution\tat_ns\tvalue_ns\twhy", signs[k].title);
	for (size_t i = 0; i < v->count; i++) {
		const struct execution *x = &v->executions[i];
		const struct emp_verdict *verdict = &v->result->verdicts[i];
		double at = timed ? (double)(x->started_at_ns - origin) : so_far;
		double row[] = { x->number, at, 0 };
		so_far += (double)x->et_ns;
		if (!value_of(v, i, m, &row[2]))
			continue;
		chart_row(c, of_rule[verdict->rule], row, 3, verdict->reason);
		if (!is_drawn(v, i))
			continue;
		last = fmax(last, at);
		first_number = fmin(first_number, row[0]);
		last_number = fmax(last_number, row[0]);
		low = fmin(low, row[2]);
		high = fmax(high, row[2]);
		c->key |= rule_is_drop(verdict->rule);
	}
	if (!(high >= low))
		return chart_empty(err, "no execution was measured");
	if (last > 0) {
		chart_axis_time(&c->x, timed ? "time into the run" : "elapsed time so far", last);
		chart_axis_from_zero(&c->x, last);
	} else { /* all at once, as one alone is: there is no time to be shown */
		c->x.notation = CHART_COUNTS;
		chart_axis_label(&c->x, "execution");
		c->x.low = first_number - 0.5;
		c->x.high = last_number + 0.5;
	}
	chart_axis_time(&c->y, measure_title(m), high);
	chart_axis_span(&c->y, low, high);
	for (size_t k = 0; k < SIGNS; k++)
		if (signs[k].role != CHART_ROLES)
			chart_add(c, blocks[k], CHART_POINTS, signs[k].role, signs[k].title,
				  last > 0 ? 1 : 0, 2);
	return 0;
}

/* ---- histogram and density ---- */

/* Sorted; what was measured, or only what counts. The caller frees. */
static double *values_of(const struct run_view *v, enum emp_measure m, bool kept, size_t *count)
{
	double *x = xcalloc(v->count + 1, sizeof *x);
	*count = 0;
	for (size_t i = 0; i < v->count; i++) {
		enum emp_rule rule = v->result->verdicts[i].rule;
		if ((kept ? rule == EMP_KEPT : rule_is_measured(rule)) &&
		    value_of(v, i, m, &x[*count]))
			++*count;
	}
	qsort(x, *count, sizeof *x, chart_by_value);
	return x;
}

int chart_histogram(struct chart *c, const struct run_view *v, enum emp_measure measure,
		    struct error *err)
{
	enum emp_measure m = choose(v, measure);
	size_t n, n_kept, of_all[BINS_MOST] = { 0 }, of_kept[BINS_MOST] = { 0 };
	double top = 0;
	if (time_check_measure(v, m, err))
		return -1;
	double *all = values_of(v, m, false, &n), *kept = values_of(v, m, true, &n_kept);
	double low = n ? all[0] : 0, high = n ? all[n - 1] : 0;
	size_t bins = bins_of(all, n, low, high, BINS_MOST);
	bins_count(all, n, low, high, bins, of_all);
	bins_count(kept, n_kept, low, high, bins, of_kept);
	high = high > low ? high : low + fmax(low * 1e-3, 1);
	chart_say_run(c, "histogram", v->run, v->machine);
	chart_say(c, "measure", measure_title(m));
	size_t block = chart_block(c, "low_ns\thigh_ns\tall\tkept", "executions by bin");
	for (size_t i = 0; i < bins && n; i++) {
		double width = (high - low) / (double)bins;
		double row[] = { low + (double)i * width, low + (double)(i + 1) * width,
				 (double)of_all[i], (double)of_kept[i] };
		chart_row(c, block, row, 4, NULL);
		top = fmax(top, row[2]);
	}
	chart_axis_time(&c->x, measure_title(m), high);
	chart_axis_span(&c->x, low, high);
	chart_axis_label(&c->y, "executions");
	c->y.notation = CHART_COUNTS;
	chart_axis_from_zero(&c->y, top);
	c->key = n_kept < n;
	for (unsigned k = 0; k < 2; k++)
		chart_add(c, block, CHART_BARS, k ? CHART_BAR : CHART_OUTSIDE,
			  !c->key ? NULL
			  : k	  ? "kept"
				  : "all",
			  0, 2 + k);
	xfree(all);
	xfree(kept);
	return n ? 0 : chart_empty(err, "no execution was measured");
}

int chart_density(struct chart *c, const struct run_view *v, enum emp_measure measure,
		  struct error *err)
{
	enum emp_measure m = choose(v, measure);
	struct density_pair d;
	size_t n, n_kept;
	double top = 0;
	char words[WORDS];
	if (time_check_measure(v, m, err))
		return -1;
	double *all = values_of(v, m, false, &n), *kept = values_of(v, m, true, &n_kept);
	double least = fmax(1, n ? CHART_LEAST_PART * all[n - 1] : 0);
	density_pair_of(all, n, kept, n_kept, least, &d);
	xfree(all);
	xfree(kept);
	if (!d.count)
		return chart_empty(err, "no execution was measured");
	chart_say_run(c, "density", v->run, v->machine);
	chart_say(c, "measure", measure_title(m));
	snprintf(words, sizeof words, "Parzen, Gaussian, bandwidth %.6g ns", d.bandwidth);
	chart_say(c, "estimate", words);
	size_t block = chart_block(c, "value_ns\tall_per_ns\tkept_per_ns", "densities");
	for (size_t i = 0; i < d.count; i++) {
		double row[] = { d.grid[i], d.all[i], n_kept ? d.kept[i] : NAN };
		chart_row(c, block, row, 3, NULL);
		top = fmax(top, fmax(row[1], row[2]));
	}
	chart_axis_time(&c->x, measure_title(m), d.grid[d.count - 1]);
	chart_axis_range(&c->x, d.grid[0], d.grid[d.count - 1]);
	snprintf(words, sizeof words, "density (1/%s)", c->x.unit_name);
	chart_axis_label(&c->y, words);
	c->y.unit = 1 / c->x.unit;
	chart_axis_from_zero(&c->y, top);
	c->key = n_kept < n;
	chart_add(c, block, CHART_LINE, CHART_PEN, c->key ? "kept" : NULL, 0, 2);
	if (c->key)
		chart_add(c, block, CHART_LINE, CHART_PEN + 1, "all", 0, 1);
	return 0;
}

/* ---- the ledger ---- */

#define MOST_BARS 200
#define CAUSES_SHOWN 7 /* more cannot be told apart */

struct ledger_bars {
	ARRAY(size_t) with;		    /* executions, by index */
	size_t causes[CAUSES_SHOWN], count; /* those shown, as in the catalogue */
	bool rest;
};

static int by_sum(const void *a, const void *b, void *sums)
{
	double p = ((double *)sums)[*(const size_t *)a], q = ((double *)sums)[*(const size_t *)b];
	return ORDER(q, p);
}

static int by_number(const void *a, const void *b)
{
	size_t p = *(const size_t *)a, q = *(const size_t *)b;
	return ORDER(p, q);
}

static void choose_causes(const struct run_view *v, struct ledger_bars *bars)
{
	double sums[LEDGER_CAUSES] = { 0 };
	size_t order[LEDGER_CAUSES], used = 0;
	for (size_t i = 0; i < v->count; i++) {
		const struct ledger *l = &v->executions[i].ledger;
		if (!rule_is_measured(v->result->verdicts[i].rule) || !l->present)
			continue;
		array_push(&bars->with, i);
		for (size_t c = 0; c < LEDGER_CAUSES; c++)
			sums[c] += (double)l->wall_ns[c];
	}
	for (size_t c = 0; c < LEDGER_CAUSES; c++)
		if (sums[c] > 0)
			order[used++] = c;
	qsort_r(order, used, sizeof *order, by_sum, sums);
	bars->rest = used > CAUSES_SHOWN;
	bars->count = used < CAUSES_SHOWN ? used : CAUSES_SHOWN;
	qsort(order, bars->count, sizeof *order, by_number);
	for (size_t i = 0; i < bars->count; i++)
		bars->causes[i] = order[i];
}

/* The mean of executions [first, end) of those with one. */
static void add_bar(struct chart *c, size_t block, const struct run_view *v,
		    const struct ledger_bars *bars, size_t first, size_t end)
{
	double row[2 + CAUSES_SHOWN + 1] = { v->executions[bars->with.items[first]].number,
					     v->executions[bars->with.items[end - 1]].number };
	for (size_t i = first; i < end; i++) {
		const struct ledger *l = &v->executions[bars->with.items[i]].ledger;
		double n = (double)(end - first), rest = 0, shown = 0;
		for (size_t k = 0; k < LEDGER_CAUSES; k++)
			rest += (double)l->wall_ns[k] / n;
		for (size_t k = 0; k < bars->count; k++) {
			double ns = (double)l->wall_ns[bars->causes[k]] / n;
			row[2 + k] += ns;
			shown += ns;
		}
		row[2 + bars->count] += fmax(rest - shown, 0);
	}
	chart_row(c, block, row, 2 + bars->count + bars->rest, NULL);
}

int chart_ledger(struct chart *c, const struct run_view *v, struct error *err)
{
	struct ledger_bars bars = { 0 };
	struct strbuf columns = { 0 };
	double most = 0;
	choose_causes(v, &bars);
	if (!bars.with.count) {
		chart_empty(err, "no measured execution of this run has a ledger");
		return error_hint(err, "as root, 'tare time' keeps one of each");
	}
	size_t bin = (bars.with.count + MOST_BARS - 1) / MOST_BARS;
	chart_say_run(c, "ledger", v->run, v->machine);
	strbuf_puts(&columns, "first\tlast");
	for (size_t k = 0; k < bars.count; k++)
		strbuf_printf(&columns, "\t%s_ns", ledger_causes[bars.causes[k]].name);
	strbuf_puts(&columns, bars.rest ? "\tother_ns" : "");
	char title[2 * WORDS + 1];
	snprintf(title, sizeof title, "wall-clock view of %s%zu executions%s",
		 bin > 1 ? "the mean of " : "", bin > 1 ? bin : bars.with.count,
		 bin > 1 ? " in each row" : "");
	size_t block = chart_block(c, strbuf_text(&columns), title);
	strbuf_release(&columns);
	for (size_t i = 0; i < bars.with.count; i += bin) {
		size_t end = i + bin < bars.with.count ? i + bin : bars.with.count;
		add_bar(c, block, v, &bars, i, end);
		for (size_t k = i; k < end; k++)
			most = fmax(most, (double)v->executions[bars.with.items[k]].et_ns);
	}
	chart_axis_time(&c->y, "elapsed time", most);
	chart_axis_label(&c->x, bin > 1 ? "execution (each bar the mean of several)" : "execution");
	c->x.low = v->executions[bars.with.items[0]].number - 0.5;
	c->x.high = v->executions[bars.with.items[bars.with.count - 1]].number + 0.5;
	c->x.notation = CHART_COUNTS;
	chart_axis_from_zero(&c->y, most);
	for (unsigned k = 0; k < bars.count + bars.rest; k++) {
		bool rest = k == bars.count;
		chart_add(c, block, CHART_BARS,
			  rest ? CHART_REST : CHART_CAUSE + (unsigned)bars.causes[k],
			  rest ? "other" : ledger_causes[bars.causes[k]].name, 0, 2 + k)
			->stack_from = 2;
	}
	c->key = true;
	array_release(&bars.with);
	return 0;
}

/* ---- dual execution ---- */

int chart_dual(struct chart *c, const struct run_view *v, enum emp_measure measure,
	       struct error *err)
{
	enum emp_measure m = measure == EMP_MEASURES ? EMP_ET : measure;
	double least = INFINITY, most = 0;
	if (time_check_measure(v, m, err))
		return -1;
	chart_say_run(c, "dual", v->run, v->machine);
	chart_say(c, "measure", measure_title(m));
	size_t kept = chart_block(c, "first\tsecond\tfirst_ns\tsecond_ns", "pairs, both kept");
	size_t dropped = chart_block(c, "first\tsecond\tfirst_ns\tsecond_ns",
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
		chart_row(c, both ? kept : dropped, row, 4, NULL);
	}
	if (!chart_rows(c))
		return chart_empty(err, "no two successive executions were measured");
	char label[WORDS];
	snprintf(label, sizeof label, "%s of the first", measure_title(m));
	chart_axis_time(&c->x, label, most);
	snprintf(label, sizeof label, "%s of the second", measure_title(m));
	chart_axis_time(&c->y, label, most);
	/* the same of both, or the diagonal would be none */
	chart_axis_span(&c->x, least, most);
	chart_axis_span(&c->y, least, most);
	chart_add(c, kept, CHART_POINTS, CHART_KEPT, "both kept", 2, 3);
	chart_add(c, dropped, CHART_POINTS, CHART_OUTSIDE, "one dropped or failed", 2, 3);
	c->square = true;
	c->key = true;
	return 0;
}
