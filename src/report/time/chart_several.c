/* Charts of several runs of commands together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/chart/charts.h"
#include "report/time/several.h"
#include "report/time/times.h"

/* "sort (n = 3)" */
static void put_name(const struct run *run, struct strbuf *out)
{
	strbuf_puts(out, run_title(run));
	for (size_t k = 0; k < run->parameters.count; k++)
		strbuf_printf(out, "%s%s = %s", k ? ", " : " (", run->parameters.items[k].name,
			      run->parameters.items[k].value);
	strbuf_puts(out, run->parameters.count ? ")" : "");
}

/* With its number where another one has all of its name. The caller frees. */
static char *name_of(const struct run_view *views, size_t count, size_t i)
{
	struct strbuf out = { 0 };
	bool twice = false;
	put_name(views[i].run, &out);
	for (size_t k = 0; k < count && !twice; k++) {
		struct strbuf other = { 0 };
		put_name(views[k].run, &other);
		twice = k != i && !strcmp(strbuf_text(&other), strbuf_text(&out));
		strbuf_release(&other);
	}
	if (twice)
		strbuf_printf(&out, " (run %lld)", (long long)views[i].run->id);
	return strbuf_detach(&out);
}

int chart_compare(struct chart *c, const struct run_view *views, size_t count,
		  enum emp_measure measure, struct error *err)
{
	enum emp_measure m = measure == EMP_MEASURES ? several_choice(views, count, NULL).measure
						     : measure;
	double most = 0;
	size_t block = chart_block(c,
				   "row\tmean_ns\tci_low_ns\tci_high_ns\tstddev_ns\tn\trun\tname",
				   "means with 95 % intervals");
	for (size_t i = 0; i < count; i++) {
		const struct summary *s = &views[i].result->kept[m];
		double row[] = { (double)i,
				 s->mean,
				 s->ci_low,
				 s->ci_high,
				 s->stddev,
				 (double)s->n,
				 (double)views[i].run->id };
		if (time_check_measure(&views[i], m, err))
			return -1;
		chart_say_run(c, i ? NULL : "compare", views[i].run, views[i].machine);
		char *name = name_of(views, count, i);
		chart_axis_tick(&c->y, (double)i, name);
		if (s->n)
			chart_row(c, block, row, sizeof row / sizeof *row, name);
		xfree(name);
		if (!s->n)
			continue;
		most = fmax(fmax(most, s->mean), s->ci_high); /* NaN: no interval */
	}
	chart_say(c, "measure", measure_title(m));
	chart_axis_time(&c->x, measure_title(m), most);
	chart_axis_rows(c, count);
	chart_axis_from_zero(&c->x, most);
	chart_add(c, block, CHART_BARS, CHART_BAR, NULL, 1, 0);
	chart_add(c, block, CHART_INTERVALS, CHART_INTERVAL, NULL, 1, 0);
	return chart_rows(c) ? 0 : chart_empty(err, "nothing of these runs was kept");
}

/* One of the curves of chart_sigma(): a point for each run with two executions, as on the page. */
struct spread {
	const char *title;
	unsigned pen;
	enum emp_measure measure;
	bool all; /* dropped ones, too */
};

static const struct summary *spread_of(const struct spread *s, const struct run_view *v)
{
	const struct summary *of = &(s->all ? v->result->unfiltered : v->result->kept)[s->measure];
	/* of 0 there is no logarithm */
	return v->result->present[s->measure] && of->n > 1 && of->stddev > 0 && of->mean > 0 ? of
											     : NULL;
}

struct extent {
	double x_low, x_high, y_low, y_high;
};

static void add_spread(struct chart *c, const struct spread *s, const struct run_view *views,
		       size_t count, struct extent *e)
{
	enum { COLUMNS = 4 };
	double(*rows)[COLUMNS] = xcalloc(count + 1, sizeof *rows);
	size_t n = 0, block = chart_block(c, "mean_ns\tstddev_ns\tn\trun", s->title);
	for (size_t i = 0; i < count; i++) {
		const struct summary *of = spread_of(s, &views[i]);
		if (!of)
			continue;
		double row[COLUMNS] = { of->mean, of->stddev, (double)of->n,
					(double)views[i].run->id };
		memcpy(rows[n++], row, sizeof row);
		e->x_low = fmin(e->x_low, row[0]);
		e->x_high = fmax(e->x_high, row[0]);
		e->y_low = fmin(e->y_low, row[1]);
		e->y_high = fmax(e->y_high, row[1]);
	}
	qsort(rows, n, sizeof *rows, chart_by_value); /* of the first column */
	for (size_t i = 0; i < n; i++)
		chart_row(c, block, rows[i], COLUMNS, NULL);
	xfree(rows);
	chart_add(c, block, CHART_LINE_POINTS, CHART_PEN + s->pen, s->title, 0, 1);
}

/* Thin lines where sigma is 0.1, 1 and 10 % of the mean. */
static void add_shares(struct chart *c)
{
	static const struct {
		double share;
		const char *name;
	} shares[] = { { 0.001, "0.1 %" }, { 0.01, "1 %" }, { 0.1, "10 %" } };
	for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
		double end = fmin(c->x.high, c->y.high / shares[i].share);
		double begin = fmax(c->x.low, c->y.low / shares[i].share);
		if (begin >= end / 2)
			continue;
		size_t block = chart_block(c, "mean_ns\tstddev_ns\tname",
					   "where it is this share of the mean");
		double from[] = { begin, begin * shares[i].share };
		double to[] = { end, end * shares[i].share };
		chart_row(c, block, from, 2, "");
		chart_row(c, block, to, 2, shares[i].name);
		chart_add(c, block, CHART_LINE, CHART_GUIDE, NULL, 0, 1);
		chart_add(c, block, CHART_NAMES, CHART_GUIDE, NULL, 0, 1);
	}
}

int chart_sigma(struct chart *c, const struct run_view *views, size_t count, struct error *err)
{
	enum emp_measure pt = several_pt(views, count);
	struct extent e = { .x_low = INFINITY, .y_low = INFINITY };
	char title[WORDS];
	snprintf(title, sizeof title, "%s, kept", measure_title(pt));
	const struct spread spreads[] = {
		{ "elapsed time, all", 1, EMP_ET, true },
		{ "elapsed time, kept", 2, EMP_ET, false },
		{ title, 0, pt, false },
	};
	size_t with = 0;
	for (size_t i = 0; i < count; i++) {
		chart_say_run(c, i ? NULL : "sigma", views[i].run, views[i].machine);
		with += spread_of(&spreads[1], &views[i]) != NULL;
	}
	if (with < 2) {
		if (count < 2)
			error_set(err, EXIT_USAGE,
				  "there is nothing to plot: run %lld is one task length, 'sigma' "
				  "is drawn over several",
				  (long long)views[0].run->id);
		else
			chart_empty(err, "no two of these runs have two executions that were kept");
		return error_hint(err, "give several runs, or --study for all of a command line "
				       "such as 'tare time -L n 10ms,100ms,1s COMMAND'");
	}
	chart_say(c, "x", "the mean of the same measure, as on the page");
	for (size_t k = 0; k < (pt == EMP_ET ? 2 : 3); k++)
		add_spread(c, &spreads[k], views, count, &e);
	chart_axis_log(&c->x, "task length (mean of the same measure)", e.x_low, e.x_high,
		       CHART_TIMES);
	chart_axis_log(&c->y, "standard deviation", e.y_low, e.y_high, CHART_TIMES);
	add_shares(c);
	c->key = true;
	return 0;
}
