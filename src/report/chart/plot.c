#include "report/chart/plot.h"

#include <stdio.h>

#include "base/text.h"
#include "report/chart/charts.h"
#include "report/noise/rows.h"
#include "report/query/rows.h"
#include "report/time/several.h"
#include "report/time/shares.h"

#define AROUND 7 /* lines that a chart has beside its area, and the prompt */
#define LEAST_LINES 5
#define MOST_LINES 24
#define MOST_WIDTH 120

bool plot_wanted(const struct style *s, size_t lines)
{
	return s->lines && lines + 1 > s->lines;
}

static struct chart_screen screen_of(const struct style *s, const char *title)
{
	size_t lines = s->lines > AROUND + LEAST_LINES ? s->lines - AROUND : LEAST_LINES;
	return (struct chart_screen){ .width = s->width < MOST_WIDTH ? s->width : MOST_WIDTH,
				      .height = lines < MOST_LINES ? lines : MOST_LINES,
				      .ascii = s->ascii,
				      .colour = s->colour,
				      .title = title };
}

/* "300 rows: --all, or through a pipe" */
static void plot_rows_line(size_t rows, const char *what, const struct style *s, struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf line = { 0 };
	strbuf_printf(&line, "%zu %s are longer than the screen: --all prints them, as does a pipe",
		      rows, what);
	put_paragraph(out,
		      &(struct paragraph){
			      .width = s->width, .first = "", .colour = s->colour ? DIM : NULL },
		      strbuf_text(&line));
}

void plot_executions(const struct run_view *v, const struct style *s, struct strbuf *out)
{
	struct error none = ERROR_INIT;
	struct chart *c = chart_new();
	size_t count = 0, marks = 0;
	char title[WORDS];
	chart_samples(c, v, EMP_MEASURES, &none);
	for (size_t k = 0; k < c->series.count; k++) {
		struct chart_series *of = &c->series.items[k];
		count += c->blocks.items[of->block].count;
		marks += of->role == CHART_KEPT ? 0 : c->blocks.items[of->block].count;
		of->x = 0; /* the number, by which it is found in the table */
	}
	chart_axis_label(&c->x, "execution");
	c->x.unit_name = NULL;
	int used = snprintf(title, sizeof title, "%zu executions, %s", count,
			    measure_title(v->result->headline));
	if (marks)
		snprintf(title + used, sizeof title - (size_t)used, "; %s: %zu dropped or failed",
			 s->ascii ? "x" : "●", marks);
	struct chart_screen screen = screen_of(s, title);
	chart_points_text(c, &screen, out);
	/* the table has warm-ups, too */
	char what[WORDS] = "executions";
	size_t warmups = 0;
	for (size_t i = 0; i < v->count; i++)
		warmups += v->result->verdicts[i].rule == EMP_WARMUP;
	if (warmups)
		snprintf(what, sizeof what, "executions and %zu warm-up%s", warmups,
			 warmups == 1 ? "" : "s");
	plot_rows_line(v->count - warmups, what, s, out);
	chart_free(c);
}

void plot_processes(const struct run_view *v, const struct style *s, struct strbuf *out)
{
	struct chart_screen screen = screen_of(s, "CPU time of processes over all executions");
	struct chart *c = chart_new();
	SCOPED(shares_release) struct shares shares = { 0 };
	size_t block = chart_block(c, "row\tcpu_ns\trole", "processes");
	shares_of(v, &shares);
	size_t most = screen.height + 2, rows = shares.list.count;
	/* the list is by role; of all, those with the most */
	for (size_t k = 0; k < most && k < rows; k++) {
		size_t best = rows;
		for (size_t i = 0; i < rows; i++)
			if (shares.list.items[i].exec_seen &&
			    (best == rows ||
			     shares.list.items[i].exec_ns > shares.list.items[best].exec_ns))
				best = i;
		if (best == rows)
			break;
		struct share *x = &shares.list.items[best];
		SCOPED(strbuf_release) struct strbuf text = { 0 };
		char time[WORDS];
		text_duration((double)x->exec_ns, 3, time, sizeof time);
		strbuf_printf(&text, "%s %s", role_names[x->role], time);
		chart_row(c, block, (double[]){ (double)k, (double)x->exec_ns }, 2,
			  strbuf_text(&text));
		chart_axis_tick(&c->y, (double)k, x->name);
		x->exec_seen = false; /* taken */
	}
	chart_add(c, block, CHART_BARS, CHART_KEPT, NULL, 1, 0);
	chart_bars_text(c, &screen, out);
	plot_rows_line(rows, "rows", s, out);
	chart_free(c);
}

void plot_pairs(const struct duet_view *v, const struct style *s, struct strbuf *out)
{
	struct error none = ERROR_INIT;
	struct chart *c = chart_new();
	size_t pairs = 0, trimmed = 0;
	char title[WORDS];
	array_each(side, &v->result->verdicts) {
		pairs += side->pairs;
		trimmed += side->trimmed;
	}
	chart_duet(c, v, &none);
	int used = snprintf(title, sizeof title, "%zu pairs, ratio", pairs);
	if (trimmed)
		snprintf(title + used, sizeof title - (size_t)used,
			 "; %s: %zu left out of the mean", s->ascii ? "x" : "●", trimmed);
	struct chart_screen screen = screen_of(s, title);
	chart_points_text(c, &screen, out);
	plot_rows_line(pairs, "pairs", s, out);
	chart_free(c);
}

void plot_noise(const struct noise_view *v, const struct style *s, struct strbuf *out)
{
	const struct style style = style_normal(s);
	size_t from = out->length;
	put_noise_density(v, &style, out);
	style_finish(&style, out, from);
}

/* ---- queries ---- */

/* "( ): 3 dropped (time of all); *: several; 1 join, 2 scan", on at most two lines. */
static void put_signs(const struct query_view *v, const struct query_rows *rows, size_t dropped,
		      bool shared, const struct style *s, struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf names = { 0 };
	size_t queries = 0;
	if (dropped)
		strbuf_printf(&names, "( ): %zu dropped (time of all); ", dropped);
	if (shared)
		strbuf_puts(&names, "*: several; ");
	uint32_t last = 0;
	for (size_t i = 0; i < rows->list.count; i++) {
		uint32_t query = rows->list.items[i].at->query;
		char name[WORDS];
		if (query == last)
			continue;
		query_name(v->data, query, name);
		FREED char *shown = display_copy(name);
		strbuf_printf(&names, "%s%c %.40s", queries ? ", " : "", query_sign(queries),
			      shown);
		queries++;
		last = query;
	}
	put_paragraph(out, &(struct paragraph){ .width = s->width, .lines = 2, .first = "" },
		      strbuf_text(&names));
}

/* By their place where no table varies: chart_query() has left its rows in blocks of their own. */
static void draw_by_place(struct chart *c)
{
	double place = 0;
	size_t blocks = c->blocks.count;
	chart_axis_label(&c->x, "Q@C");
	for (size_t b = 0; b < blocks; b++)
		for (size_t i = 0; i < c->blocks.items[b].count; i++) {
			bool dropped = chart_at(c, b, i, 6) > 0;
			double row[] = { ++place, chart_at(c, b, i, 1) };
			size_t block = chart_block(c, "place\tmedian_ns", "");
			chart_row(c, block, row, 2, NULL);
			chart_add(c, block, CHART_POINTS, dropped ? CHART_CROSS : CHART_PEN, NULL,
				  0, 1)
				->sign = query_sign(b / 2);
		}
}

void plot_queries(const struct query_view *v, const struct query_rows *rows,
		  const struct style *given, struct strbuf *out)
{
	struct error none = ERROR_INIT;
	struct style s = *given;
	SCOPED(strbuf_release) struct strbuf title = { 0 };
	struct chart *c = chart_new();
	size_t dropped = 0;
	bool varies = !chart_query(c, v, 0, &none);
	if (!varies)
		draw_by_place(c);
	c->x.log = varies;
	c->y.log = true;
	c->y.notation = CHART_TIMES;
	for (size_t i = 0; i < rows->list.count; i++)
		dropped += rows->list.items[i].verdict->drop &&
			   rows->list.items[i].verdict->unfiltered[rows->time].present;
	strbuf_printf(&title, "%zu Q@Cs, %s, by %s", rows->list.count, query_time_title(rows->time),
		      varies ? "cardinality (both logarithmic)" : "query");
	s.lines = s.lines > 2 ? s.lines - 2 : s.lines;
	struct chart_screen screen = screen_of(&s, strbuf_text(&title));
	strbuf_putc(out, '\n');
	bool shared = chart_points_text(c, &screen, out);
	put_signs(v, rows, dropped, shared, &s, out);
	plot_rows_line(rows->list.count, "Q@Cs", &s, out);
	chart_free(c);
}
