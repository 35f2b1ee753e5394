#include "report/chart/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "report/chart/scatter.h"
#include "report/noise/rows.h"
#include "report/query/rows.h"
#include "report/time/several.h"
#include "report/time/shares.h"
#include "report/time/times.h"

#define AROUND 7 /* lines that a scatter has beside its area, and the prompt */
#define LEAST_LINES 5
#define MOST_LINES 24
#define MOST_WIDTH 120
#define NAME_COLUMNS 24

bool plot_wanted(const struct plot_style *s, size_t lines)
{
	return s->lines && lines + 1 > s->lines;
}

static size_t area_lines(const struct plot_style *s)
{
	size_t lines = s->lines > AROUND + LEAST_LINES ? s->lines - AROUND : LEAST_LINES;
	return lines < MOST_LINES ? lines : MOST_LINES;
}

static size_t plot_width(const struct plot_style *s)
{
	return s->width < MOST_WIDTH ? s->width : MOST_WIDTH;
}

void plot_rows_line(size_t rows, const char *what, const struct plot_style *s, struct strbuf *out)
{
	struct strbuf line = { 0 };
	strbuf_printf(&line, "%zu %s are longer than the screen: --all prints them, as does a pipe",
		      rows, what);
	put_paragraph(out,
		      &(struct paragraph){
			      .width = s->width, .first = "", .colour = s->colour ? DIM : NULL },
		      strbuf_text(&line));
	strbuf_release(&line);
}

/* The table has warm-ups, too. */
static void put_executions_line(const struct run_view *v, const struct plot_style *s,
				struct strbuf *out)
{
	char what[WORDS] = "executions";
	size_t warmups = 0;
	for (size_t i = 0; i < v->count; i++)
		warmups += v->result->verdicts[i].rule == EMP_WARMUP;
	if (warmups)
		snprintf(what, sizeof what, "executions and %zu warm-up%s", warmups,
			 warmups == 1 ? "" : "s");
	plot_rows_line(v->count - warmups, what, s, out);
}

/* ---- bars ---- */

static void put_bar(double share, size_t columns, bool ascii, struct strbuf *out)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	size_t length = share > 0 ? (size_t)lround(share * (double)columns * 8) : 0;
	size_t whole = ascii ? (length + 4) / 8 : length / 8;
	for (size_t i = 0; i < whole; i++)
		strbuf_puts(out, ascii ? "#" : "█");
	strbuf_puts(out, ascii ? "" : eighths[length % 8]);
}

void plot_bars(const struct plot_bar *bars, size_t count, const char *title,
	       const struct plot_style *s, struct strbuf *out)
{
	size_t from = out->length, text = 0;
	double most = 0;
	for (size_t i = 0; i < count; i++) {
		most = fmax(most, bars[i].value);
		text = text_width(bars[i].text) > text ? text_width(bars[i].text) : text;
	}
	size_t used = NAME_COLUMNS + 2 + text + 1, width = plot_width(s);
	put_coloured(out, s->colour, BOLD, title);
	strbuf_putc(out, '\n');
	for (size_t i = 0; i < count; i++) {
		char *name = display_copy(bars[i].name);
		struct strbuf fitted = { 0 };
		put_middle(&fitted, name, NAME_COLUMNS);
		put_columns(out, strbuf_text(&fitted), NAME_COLUMNS);
		strbuf_pad(out, ' ', 1 + text - text_width(bars[i].text));
		strbuf_puts(out, bars[i].text);
		strbuf_putc(out, ' ');
		put_bar(most > 0 ? bars[i].value / most : 0, width > used ? width - used : 1,
			s->ascii, out);
		strbuf_putc(out, '\n');
		strbuf_release(&fitted);
		xfree(name);
	}
	style_finish(&(struct style){ .ascii = s->ascii }, out, from);
}

/* ---- points ---- */

struct points {
	double *x, *y;
	bool *marked;
	char *signs;
	size_t count, marks;
};

static struct points new_points(size_t most)
{
	return (struct points){ .x = xcalloc(most + 1, sizeof(double)),
				.y = xcalloc(most + 1, sizeof(double)),
				.marked = xcalloc(most + 1, sizeof(bool)),
				.signs = xcalloc(most + 1, 1) };
}

static void free_points(struct points *p)
{
	xfree(p->x);
	xfree(p->y);
	xfree(p->marked);
	xfree(p->signs);
}

static bool put_points(const struct points *p, struct scatter *plot, const struct plot_style *s,
		       struct strbuf *out)
{
	plot->x_low = plot->y_low = INFINITY;
	plot->x_high = plot->y_high = -INFINITY;
	for (size_t i = 0; i < p->count; i++) {
		plot->x_low = fmin(plot->x_low, p->x[i]);
		plot->x_high = fmax(plot->x_high, p->x[i]);
		plot->y_low = fmin(plot->y_low, p->y[i]);
		plot->y_high = fmax(plot->y_high, p->y[i]);
	}
	plot->x = p->x;
	plot->y = p->y;
	plot->count = p->count;
	return scatter_text(plot, plot_width(s), area_lines(s), s->ascii, s->colour, out);
}

void plot_executions(const struct run_view *v, const struct plot_style *s, struct strbuf *out)
{
	struct points p = new_points(v->count);
	char title[WORDS];
	for (size_t i = 0; i < v->count; i++) {
		enum emp_rule rule = v->result->verdicts[i].rule;
		double ns = time_value(v, i, v->result->headline);
		if (rule == EMP_WARMUP || isnan(ns))
			continue;
		p.x[p.count] = v->executions[i].number;
		p.y[p.count] = ns;
		p.marked[p.count++] = rule != EMP_KEPT;
		p.marks += rule != EMP_KEPT;
	}
	int used = snprintf(title, sizeof title, "%zu executions, %s", p.count,
			    measure_title(v->result->headline));
	if (p.marks)
		snprintf(title + used, sizeof title - (size_t)used, "; %s: %zu dropped or failed",
			 s->ascii ? "x" : "●", p.marks);
	struct scatter plot = {
		.title = title, .x_label = "execution", .times_y = true, .marked = p.marked
	};
	put_points(&p, &plot, s, out);
	put_executions_line(v, s, out);
	free_points(&p);
}

void plot_processes(const struct run_view *v, const struct plot_style *s, struct strbuf *out)
{
	struct shares shares = { 0 };
	ARRAY(struct plot_bar) bars = { 0 };
	shares_of(v, &shares);
	size_t most = area_lines(s) + 2, rows = shares.list.count;
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
		struct strbuf text = { 0 };
		char time[WORDS];
		text_duration((double)x->exec_ns, 3, time, sizeof time);
		strbuf_printf(&text, "%s %s", role_name(x->role), time);
		array_push(&bars,
			   (struct plot_bar){ x->name, (double)x->exec_ns, strbuf_detach(&text) });
		x->exec_seen = false; /* taken */
	}
	plot_bars(bars.items, bars.count, "CPU time of processes over all executions", s, out);
	plot_rows_line(rows, "rows", s, out);
	for (size_t i = 0; i < bars.count; i++)
		xfree((char *)bars.items[i].text);
	array_release(&bars);
	shares_release(&shares);
}

void plot_noise(const struct noise_view *v, const struct plot_style *s, struct strbuf *out)
{
	const struct noise_style given = { .width = s->width,
					   .colour = s->colour,
					   .ascii = s->ascii };
	struct noise_style style = noise_normal_style(&given);
	struct noise_cpu all;
	size_t from = out->length;
	noise_together(v->noise, &all);
	put_noise_density(&all, &style, out);
	style_finish(&(struct style){ .ascii = s->ascii }, out, from);
	noise_cpu_release(&all);
}

/* ---- queries ---- */

static char sign_of(size_t query)
{
	static const char signs[] = "123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	return query < sizeof signs - 1 ? signs[query] : '+';
}

/* "( ): 3 dropped (time of all); *: several; 1 join, 2 scan", on at most two lines. */
static void put_signs(const struct query_view *v, const struct query_rows *rows, size_t dropped,
		      bool shared, const struct plot_style *s, struct strbuf *out)
{
	struct strbuf names = { 0 };
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
		char *shown = display_copy(name);
		strbuf_printf(&names, "%s%c %.40s", queries ? ", " : "", sign_of(queries), shown);
		xfree(shown);
		queries++;
		last = query;
	}
	put_paragraph(out, &(struct paragraph){ .width = s->width, .lines = 2, .first = "" },
		      strbuf_text(&names));
	strbuf_release(&names);
}

void plot_queries(const struct query_view *v, const struct query_rows *rows,
		  const struct plot_style *given, struct strbuf *out)
{
	struct plot_style s = *given;
	struct points p = new_points(rows->list.count);
	size_t queries = 0;
	bool varies = false;
	for (size_t i = 0; i < rows->list.count; i++) {
		const struct query_row *row = &rows->list.items[i];
		const struct ttp_figure *t =
			row->verdict->drop ? &row->verdict->unfiltered[rows->time] : &row->time;
		queries += !i || row[-1].at->query != row->at->query;
		varies |= row->at->cardinality > 0;
		if (!t->present)
			continue;
		p.x[p.count] = (double)row->at->cardinality;
		p.y[p.count] = t->median_ns;
		p.marked[p.count] = row->verdict->drop;
		p.marks += p.marked[p.count];
		p.signs[p.count++] = sign_of(queries - 1);
	}
	for (size_t i = 0; i < p.count && !varies; i++)
		p.x[i] = (double)i + 1;
	struct strbuf title = { 0 };
	strbuf_printf(&title, "%zu Q@Cs, %s, by %s", rows->list.count, query_time_title(rows->time),
		      varies ? "cardinality (both logarithmic)" : "query");
	struct scatter plot = { .title = strbuf_text(&title),
				.x_label = varies ? "rows of the table that varies" : "Q@C",
				.times_y = true,
				.log_x = varies,
				.log_y = true,
				.marked = p.marked,
				.signs = p.signs };
	s.lines = s.lines > 2 ? s.lines - 2 : s.lines;
	strbuf_putc(out, '\n');
	bool shared = put_points(&p, &plot, &s, out);
	put_signs(v, rows, p.marks, shared, &s, out);
	plot_rows_line(rows->list.count, "Q@Cs", &s, out);
	strbuf_release(&title);
	free_points(&p);
}
