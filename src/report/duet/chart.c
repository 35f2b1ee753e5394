/* Charts of duets: how the ratio settled, and a forest plot of one or several. */
#include <stdio.h>
#include <stdlib.h>

#include "report/chart/charts.h"
#include "report/duet/words.h"

/* Of ratios: chart_axis_span() is for ns and counts, and would widen them to 1. */
static void ratio_axis(struct chart_axis *a, const char *label, double low, double high)
{
	double margin = fmax(0.06 * (high - low), 1e-6);
	chart_axis_label(a, label);
	a->low = fmax(low - margin, 0);
	a->high = high + margin;
}

static void add_guide(struct chart *c, const double from[2], const double to[2])
{
	size_t block = chart_block(c, "x\ty", "no difference");
	chart_row(c, block, from, 2, NULL);
	chart_row(c, block, to, 2, NULL);
	chart_add(c, block, CHART_LINE, CHART_GUIDE, NULL, 0, 1);
}

static void add_side(struct chart *c, const struct duet_view *v, const struct duet_verdict *s,
		     double range[2], double *last)
{
	enum { TRIMMED = 4, PAIR_COLUMNS = 5 };
	const unsigned pen = CHART_PEN + (s->side - 1) % CHART_PENS;
	const bool only = v->result->verdicts.count == 1;
	FREED char *name = duet_name(v->duet, s->side);
	size_t pairs = chart_block(c, "pair\tratio\treference_ns\tother_ns\ttrimmed", name);
	size_t steps = chart_block(c, "pair\tratio\tratio_low\tratio_high\tpairs", name);
	array_each(p, &s->list) {
		double ratio = exp(p->log_ratio);
		double row[PAIR_COLUMNS] = { p->pair, ratio, p->ns[0], p->ns[1], p->trimmed };
		chart_row(c, pairs, row, PAIR_COLUMNS, NULL);
		range[0] = fmin(range[0], ratio);
		range[1] = fmax(range[1], ratio);
		*last = fmax(*last, p->pair);
	}
	array_each(step, &s->steps) {
		if (!step->pairs || isnan(step->ratio))
			continue;
		double row[] = { s->list.items[step->pairs - 1].pair, step->ratio, step->low,
				 step->high, (double)step->pairs };
		chart_row(c, steps, row, sizeof row / sizeof *row, NULL);
		range[0] = fmin(range[0], fmax(step->low, step->ratio / 2));
		range[1] = fmax(range[1], fmin(step->high, step->ratio * 2));
	}
	struct chart_series *kept = chart_add(c, pairs, CHART_POINTS,
					      only ? (unsigned)CHART_KEPT : pen,
					      only ? "pairs" : name, 0, 1);
	if (kept)
		kept->unless = TRIMMED;
	struct chart_series *out = chart_add(c, pairs, CHART_POINTS, CHART_OUTSIDE,
					     s->trimmed && only ? "left out of the mean" : NULL, 0,
					     1);
	if (out)
		out->where = TRIMMED;
	chart_add(c, steps, CHART_INTERVALS, CHART_INTERVAL, NULL, 0, 1);
	chart_add(c, steps, CHART_LINE, only ? (unsigned)CHART_INTERVAL : pen,
		  only ? "ratio at each look, 95 %" : NULL, 0, 1);
}

int chart_duet(struct chart *c, const struct duet_view *v, struct error *err)
{
	double range[2] = { 1, 1 }, last = 1;
	struct strbuf label = { 0 };
	FREED char *base = duet_name(v->duet, 0), *other = duet_name(v->duet, 1);
	chart_say_run(c, "duet", v->run, v->machine);
	chart_say(c, "measure", duet_measure_words[v->result->measure]);
	array_each(s, &v->result->verdicts)
		add_side(c, v, s, range, &last);
	if (!chart_rows(c))
		return chart_empty(err, "no pair of this duet was counted");
	add_guide(c, (double[]){ 0, 1 }, (double[]){ last, 1 });
	chart_axis_label(&c->x, "pair");
	c->x.notation = CHART_COUNTS;
	chart_axis_range(&c->x, 0, last + 1);
	if (v->duet->sides.count == 2)
		strbuf_printf(&label, "%s / %s", other, base);
	else
		strbuf_printf(&label, "ratio to %s", base);
	ratio_axis(&c->y, strbuf_text(&label), range[0], range[1]);
	strbuf_release(&label);
	c->key = true;
	return 0;
}

int chart_forest(struct chart *c, const struct duet_view *views, size_t count, struct error *err)
{
	double range[2] = { 1, 1 };
	size_t rows = 0, known = 0;
	size_t block = chart_block(c, "row\tratio\tratio_low\tratio_high\tpairs\trun\tname",
				   "ratios with 95 % intervals");
	for (size_t i = 0; i < count; i++) {
		chart_say_run(c, i ? NULL : "forest", views[i].run, views[i].machine);
		array_each(s, &views[i].result->verdicts) {
			FREED char *base = duet_name(views[i].duet, 0);
			FREED char *other = duet_name(views[i].duet, s->side);
			struct strbuf name = { 0 };
			strbuf_printf(&name, "%s / %s", other, base);
			if (count > 1)
				strbuf_printf(&name, " (%lld)", (long long)views[i].run->id);
			double row[] = {
				(double)rows, s->ratio,		 s->low,
				s->high,      (double)s->judged, (double)views[i].run->id
			};
			chart_axis_tick(&c->y, (double)rows++, strbuf_text(&name));
			if (!isnan(s->ratio)) {
				chart_row(c, block, row, sizeof row / sizeof *row,
					  strbuf_text(&name));
				range[0] = fmin(range[0], fmax(s->low, s->ratio / 4));
				range[1] = fmax(range[1], fmin(s->high, s->ratio * 4));
				known++;
			}
			strbuf_release(&name);
		}
	}
	if (!known)
		return chart_empty(err, "no side has pairs enough for a ratio");
	chart_axis_rows(c, rows);
	ratio_axis(&c->x, "ratio to the reference", range[0], range[1]);
	add_guide(c, (double[]){ 1, -0.5 }, (double[]){ 1, (double)rows - 0.5 });
	chart_add(c, block, CHART_INTERVALS, CHART_INTERVAL, NULL, 1, 0);
	chart_add(c, block, CHART_POINTS, CHART_KEPT, NULL, 1, 0);
	return 0;
}
