/* Figures of runs of queries. */
#include <ctype.h>
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "report/chart/figure_private.h"
#include "report/query/rows.h"

#define LOG_FROM 30 /* values that differ by more than this factor get a logarithmic axis */
#define PENS 8	    /* lines that can be told apart */
#define NEAR 0.3    /* cardinalities above this share of the highest: without 0 */
#define MOST_SPLIT 300
#define SPLIT "row\telapsed_ns\tcpu_ns\tio_ns\tother_ns\tquery\tcardinality\tdropped\tname"
#define TIMES "cardinality\tmedian_ns\tlow_ns\thigh_ns\tkept\tplan_changes\tdropped\tplan"

static bool is_wanted(const struct query_row *row, uint32_t query)
{
	return !query || row->at->query == query;
}

/* Of a Q@C that was dropped: of all of its executions. */
static struct ttp_figure time_of(const struct query_rows *rows, const struct query_row *row)
{
	return row->verdict->drop ? row->verdict->unfiltered[rows->time] : row->time;
}

/* Q@Cs of a figure, and how many of them the protocol drops. */
struct drops {
	size_t dropped, all;
};

/* "dropped (3 of 36)", in the key. */
static void drops_title(const struct drops *d, char out[WORDS])
{
	snprintf(out, WORDS, "dropped (%zu of %zu)", d->dropped, d->all);
}

static void note_drops(struct figure *f, const struct drops *d)
{
	if (d->dropped < d->all)
		return;
	strbuf_printf(&f->note,
		      "%s of this figure %s dropped by the protocol: what is drawn is of all of "
		      "%s executions",
		      d->all == 1 ? "the one Q@C" : "all Q@Cs", d->all == 1 ? "was" : "were",
		      d->all == 1 ? "its" : "their");
	figure_say(f, "note", strbuf_text(&f->note));
}

/* What the axes must hold. */
struct extent {
	double x_low, x_high, y_low, y_high, bottom, top; /* the last two: with the spread */
};

static void widen(struct extent *e, double x, double y)
{
	if (x > 0) {
		e->x_low = fmin(e->x_low, x);
		e->x_high = fmax(e->x_high, x);
	}
	if (y > 0) {
		e->y_low = fmin(e->y_low, y);
		e->y_high = fmax(e->y_high, y);
	}
}

/* From its highest cardinality down plans get their letters: the change is marked at the first row
 * with the lower one's. */
static bool is_change(const struct query_rows *rows, size_t i)
{
	const struct query_row *row = &rows->list.items[i];
	return i && row[-1].at->query == row->at->query && row[-1].plan >= 0 && row->plan >= 0 &&
	       row[-1].plan != row->plan;
}

/* The Q@Cs of a query. */
struct line {
	uint32_t query;
	size_t block, aside, changes; /* aside: those without a table that varies */
	struct drops drops;
};

static void add_times(struct figure *f, const struct query_rows *rows, size_t i, struct line *line,
		      struct extent *e)
{
	const struct query_row *row = &rows->list.items[i];
	const struct ttp_figure t = time_of(rows, row);
	char letter[16];
	if (!t.present)
		return;
	double values[] = { (double)row->at->cardinality,      t.median_ns,
			    fmax(t.median_ns - t.sigma_ns, 0), t.median_ns + t.sigma_ns,
			    (double)row->verdict->kept,	       is_change(rows, i) ? 1 : NAN,
			    row->verdict->drop ? 1 : 0 };
	plan_letter(row->plan, letter);
	figure_row(f, row->at->cardinality ? line->block : line->aside, values, 7, letter);
	if (!row->at->cardinality)
		return; /* it has no place on the axis */
	widen(e, values[0], values[1]);
	e->top = fmax(e->top, values[3]);
	if (values[2] > values[1] / 10) /* else a logarithmic axis would be of it alone */
		e->bottom = fmin(e->bottom, values[2]);
	line->changes += is_change(rows, i);
	line->drops.all++;
	line->drops.dropped += row->verdict->drop != TTP_KEPT;
}

static void set_axes(struct figure *f, const struct extent *e, const char *time)
{
	const char *rows = "rows of the table that varies";
	f->x.notation = FIGURE_COUNTS;
	figure_axis_label(&f->x, rows);
	if (e->x_low > NEAR * e->x_high)
		figure_axis_span(&f->x, e->x_low, e->x_high);
	else
		figure_axis_from_zero(&f->x, e->x_high);
	if (e->x_high > LOG_FROM * e->x_low)
		figure_axis_log(&f->x, rows, e->x_low, e->x_high, FIGURE_COUNTS);
	figure_axis_time(&f->y, time, e->y_high);
	figure_axis_from_zero(&f->y, e->top);
	if (e->y_high > LOG_FROM * e->y_low && e->y_low > 0) {
		f->y.unit = 1;
		figure_axis_log(&f->y, time, fmin(e->bottom, e->y_low), e->top, FIGURE_TIMES);
	}
}

#define CROSS "points pt 2 ps 0.8 lc rgb '#000000'"

/* A line through all of a query's Q@Cs, points where they were kept. gnuplot complains of layers in
 * which nothing is to be seen. */
static void times_layers(struct figure *f, const struct line *line, size_t pen, const char *name)
{
	static const char *const lines[PENS] = { "lines lt 1", "lines lt 2", "lines lt 3",
						 "lines lt 4", "lines lt 5", "lines lt 6",
						 "lines lt 7", "lines lt 8" };
	static const char *const points[PENS] = { "points lt 1", "points lt 2", "points lt 3",
						  "points lt 4", "points lt 5", "points lt 6",
						  "points lt 7", "points lt 8" };
	static const char *const both[PENS] = { "linespoints lt 1", "linespoints lt 2",
						"linespoints lt 3", "linespoints lt 4",
						"linespoints lt 5", "linespoints lt 6",
						"linespoints lt 7", "linespoints lt 8" };
	double unit = f->y.unit;
	size_t block = line->block;
	if (!line->drops.all)
		return;
	figure_layer(f, block, "yerrorbars dt 1 pt 0 lc rgb '#777777' lw 0.7", NULL,
		     "1:($2/%g):($3/%g):($4/%g)", unit, unit, unit);
	figure_layer(f, block, lines[pen], NULL, "1:($2/%g)", unit);
	figure_layer(f, FIGURE_KEY_ONLY, both[pen], name, " ");
	if (line->drops.dropped < line->drops.all)
		figure_layer(f, block, points[pen], NULL, "1:($7>0?NaN:$2/%g)", unit);
	if (line->drops.dropped)
		figure_layer(f, block, CROSS, NULL, "1:($7>0?$2/%g:NaN)", unit);
	if (!line->changes)
		return;
	figure_layer(f, block, "points pt 6 ps 1.6 lc rgb '#000000' lw 1", NULL,
		     "1:($6>0?$2/%g:NaN)", unit);
	/* letters are our own words */
	figure_layer(f, block, "labels offset 0,0.8 font pt7", NULL, "1:($6>0?$2/%g:NaN):8", unit);
}

static void draw_times(struct figure *f, const struct query_view *v, const struct line *lines,
		       size_t count)
{
	char name[WORDS];
	struct drops all = { 0 };
	for (size_t i = 0; i < count; i++) {
		query_name(v->data, lines[i].query, name);
		times_layers(f, &lines[i], i % PENS, name);
		all.all += lines[i].drops.all;
		all.dropped += lines[i].drops.dropped;
	}
	drops_title(&all, name);
	if (all.dropped)
		figure_layer(f, FIGURE_KEY_ONLY, CROSS, name, " ");
	note_drops(f, &all);
	size_t aside = 0;
	for (size_t i = 0; i < count; i++)
		aside += f->blocks.items[lines[i].aside].count;
	if (aside)
		strbuf_printf(&f->note,
			      "%s%zu Q@C%s without a table that varies %s not drawn: 'split' shows "
			      "%s",
			      f->note.length ? "; " : "", aside, aside == 1 ? "" : "s",
			      aside == 1 ? "is" : "are", aside == 1 ? "it" : "them");
	if (count > PENS)
		strbuf_printf(&f->note,
			      "%s%zu queries have %d kinds of lines: --query draws one of them",
			      f->note.length ? "; " : "", count, PENS);
	f->key = true;
}

static struct line line_of(struct figure *f, const struct query_run *r, uint32_t query)
{
	char name[WORDS], aside[2 * WORDS];
	query_name(r, query, name);
	snprintf(aside, sizeof aside, "%s, without a table that varies: not drawn", name);
	return (struct line){ .query = query,
			      .block = figure_block(f, TIMES, name),
			      .aside = figure_block(f, TIMES, aside) };
}

int figure_query(struct figure *f, const struct query_view *v, uint32_t query, struct error *err)
{
	struct query_rows rows;
	struct extent e = { .x_low = INFINITY, .y_low = INFINITY, .bottom = INFINITY };
	ARRAY(struct line) lines = { 0 };
	query_rows_of(v, &rows);
	figure_say_run(f, "query", v->run, v->machine);
	figure_say(f, "time", query_time_meaning(rows.time));
	figure_say(f, "dropped", "1: by all of its executions, not by those kept");
	for (size_t i = 0; i < rows.list.count; i++) {
		const struct query_row *row = &rows.list.items[i];
		if (!is_wanted(row, query))
			continue;
		if (!lines.count || lines.items[lines.count - 1].query != row->at->query) {
			array_push(&lines, line_of(f, v->data, row->at->query));
		}
		add_times(f, &rows, i, &lines.items[lines.count - 1], &e);
	}
	char label[WORDS];
	snprintf(label, sizeof label, "%s time", query_time_title(rows.time));
	int failed = 0;
	if (!figure_rows(f))
		failed = figure_empty(err, "no query of that number has a time");
	else if (!(e.x_high > 0)) {
		failed = figure_empty(err, "no table of this run varies in its cardinality");
		error_hint(err, "'tare plot RUN split' shows the time of each query");
	} else {
		set_axes(f, &e, label);
		draw_times(f, v, lines.items, lines.count);
	}
	array_release(&lines);
	query_rows_release(&rows);
	return failed;
}

/* ---- where the time went ---- */

/* Means, so that they add up, as on the page: of the executions kept, and where the Q@C was
 * dropped, of all that ended. NaN: not known of each of them. */
struct split {
	double elapsed, cpu, io, other;
};

static struct split split_of(const struct query_row *row)
{
	struct split s = { 0 };
	double n = 0;
	for (size_t k = 0; k < row->at->executions.count; k++) {
		const struct query_execution *x = &row->at->executions.items[k];
		uint32_t cpu = 1u << QUERY_USER_NS | 1u << QUERY_SYSTEM_NS;
		if (row->verdict->drop ? x->timed_out : row->fired[k] != 0)
			continue;
		s.elapsed += (double)x->measured_ns;
		s.cpu += x->usage[QUERY_QUERY].missing & cpu ? NAN
							     : (double)query_cpu_ns(x, QUERY_QUERY);
		s.io += x->own_device_ns == ABSENT_NS ? NAN : (double)x->own_device_ns;
		n++;
	}
	s = (struct split){ s.elapsed / n, s.cpu / n, s.io / n, 0 };
	s.other = isnan(s.cpu + s.io) ? NAN : fmax(0, s.elapsed - s.cpu - s.io);
	return s;
}

/* The blocks of figure_split(). */
struct splits {
	int digits; /* of a cardinality */
	size_t whole, partly, shown, cpu_of_partly, dropped_partly;
	double most;
	struct drops drops;
};

/* "join at 1.2M" */
static void short_place(const struct query_run *r, const struct query_row *row, int digits,
			char out[2 * WORDS])
{
	char name[WORDS], rows[WORDS];
	query_name(r, row->at->query, name);
	figure_count_text((double)row->at->cardinality, digits, rows);
	if (row->at->cardinality)
		snprintf(out, 2 * (size_t)WORDS, "%s at %.40s", name, rows);
	else
		snprintf(out, 2 * (size_t)WORDS, "%s", name);
}

/* As many as tell the cardinalities of each query apart. */
static int digits_of(const struct query_rows *rows)
{
	int digits = 4;
	for (size_t i = 1; i < rows->list.count && digits < DBL_DIG; i++) {
		const struct query_at *a = rows->list.items[i - 1].at, *b = rows->list.items[i].at;
		char before[WORDS], text[WORDS];
		figure_count_text((double)a->cardinality, digits, before);
		figure_count_text((double)b->cardinality, digits, text);
		if (a->query == b->query && a->cardinality != b->cardinality &&
		    !strcmp(before, text)) {
			digits++;
			i--; /* once more */
		}
	}
	return digits;
}

static void add_split(struct figure *f, const struct query_view *v, const struct query_row *row,
		      struct splits *to)
{
	const struct split s = split_of(row);
	char name[2 * WORDS];
	if (!(s.elapsed > 0))
		return;
	double values[] = { (double)to->shown,
			    s.elapsed,
			    s.cpu,
			    s.io,
			    s.other,
			    row->at->query,
			    (double)row->at->cardinality,
			    row->verdict->drop ? 1 : 0 };
	to->cpu_of_partly += isnan(s.other) && !isnan(s.cpu);
	to->dropped_partly += isnan(s.other) && row->verdict->drop;
	query_place(v->data, row->at->query, row->at->cardinality, name);
	figure_row(f, isnan(s.other) ? to->partly : to->whole, values, 8, name);
	/* digits of a cardinality must not be lost where the name is shortened */
	short_place(v->data, row, to->digits, name);
	figure_axis_tic(&f->y, (double)to->shown++, name);
	/* several processes at once use more than what elapsed */
	to->most = fmax(to->most, fmax(s.elapsed, fmax(s.cpu, s.cpu + s.io)));
	to->drops.all++;
	to->drops.dropped += row->verdict->drop != TTP_KEPT;
}

static void split_layers(struct figure *f, const struct splits *s)
{
	const struct figure_stack stack = { s->whole, 3, "$1-0.35", "$1+0.35", true };
	const struct figure_stack known = { s->partly, 3, "$1-0.35", "$1+0.35", true };
	char title[WORDS];
	figure_layer(f, s->partly, "boxxyerror fs empty border lc rgb '#777777' lw 0.7",
		     s->cpu_of_partly == f->blocks.items[s->partly].count ? "not CPU"
									  : "not told apart",
		     "(0):1:(0):($2/%g):($1-0.35):($1+0.35)", f->x.unit);
	if (s->cpu_of_partly)
		figure_stack_layer(f, &known, 3, figure_fills[0],
				   f->blocks.items[s->whole].count ? NULL : "CPU");
	figure_stack_layer(f, &stack, 3, figure_fills[0], "CPU");
	figure_stack_layer(f, &stack, 4, figure_fills[2], "own I/O");
	figure_stack_layer(f, &stack, 5, figure_fills[7], "other");
	/* where the bar ends; with a column that is not known there would be no point */
	if (s->drops.dropped > s->dropped_partly)
		figure_layer(f, s->whole, CROSS, NULL, "($8>0?($3+$4>$2?$3+$4:$2)/%g+%g:NaN):1",
			     f->x.unit, 0.025 * f->x.high);
	if (s->dropped_partly)
		figure_layer(f, s->partly, CROSS, NULL, "($8>0?$2/%g+%g:NaN):1", f->x.unit,
			     0.025 * f->x.high);
	drops_title(&s->drops, title);
	if (s->drops.dropped)
		figure_layer(f, FIGURE_KEY_ONLY, CROSS, title, " ");
}

int figure_split(struct figure *f, const struct query_view *v, uint32_t query, struct error *err)
{
	struct query_rows rows;
	struct splits s = { 0 };
	query_rows_of(v, &rows);
	figure_say_run(f, "split", v->run, v->machine);
	s.digits = digits_of(&rows);
	s.whole = figure_block(f, SPLIT, "means of the executions kept; dropped 1: of all");
	s.partly = figure_block(f, SPLIT, "the same where CPU time or I/O is not known");
	for (size_t i = 0; i < rows.list.count; i++)
		if (is_wanted(&rows.list.items[i], query))
			add_split(f, v, &rows.list.items[i], &s);
	query_rows_release(&rows);
	if (!s.shown)
		return figure_empty(err, "no execution of the queries asked for came to its end");
	if (s.shown > MOST_SPLIT) {
		error_set(err, EXIT_USAGE, "%zu Q@Cs are too many for one figure", s.shown);
		return error_hint(err, "--query NUM shows those of one query");
	}
	figure_axis_time(&f->x, "elapsed time", s.most);
	figure_axis_rows(f, s.shown);
	/* with room for the crosses beyond the bars */
	figure_axis_from_zero(&f->x, s.drops.dropped ? s.most * 1.03 : s.most);
	split_layers(f, &s);
	note_drops(f, &s.drops);
	f->key = true;
	return 0;
}

/* ---- the model ---- */

static const struct ttp_relation *relation_of(size_t a, size_t b)
{
	for (size_t i = 0; i < TTP_RELATIONS; i++) {
		const struct ttp_relation *r = &ttp_relations[i];
		if (((size_t)r->left == a && (size_t)r->right == b) ||
		    ((size_t)r->left == b && (size_t)r->right == a))
			return r;
	}
	return NULL;
}

/* Below the diagonal what was found, with what was predicted on it. */
static void add_cells(struct figure *f, double r[TTP_MODEL_MEASURES][TTP_MODEL_MEASURES])
{
	size_t cells =
		figure_block(f, "column\trow\tr\tname", "Pearson's r over the executions kept");
	size_t words = figure_block(f, "column\trow\tpredicted", "predicted levels (L, M, H)");
	size_t minus = figure_block(f, "column\trow", "where r is below -0.3");
	for (size_t a = 0; a < TTP_MODEL_MEASURES; a++)
		for (size_t b = 0; b < a; b++) {
			char name[WORDS];
			const struct ttp_relation *told = relation_of(a, b);
			double row[] = { (double)b, (double)a, r[a][b] };
			snprintf(name, sizeof name, "%s, %s",
				 ttp_model_measure_name((enum ttp_model_measure)a),
				 ttp_model_measure_name((enum ttp_model_measure)b));
			figure_row(f, cells, row, 3, name);
			char level[] = { told ? *ttp_level_name(told->predicted) : '\0', '\0' };
			*level = (char)toupper((unsigned char)*level);
			if (*level)
				figure_row(f, words, row, 2, level);
			if (r[a][b] <= -0.3)
				figure_row(f, minus, row, 2, NULL);
		}
	figure_layer(f, cells, "boxxyerror fs solid 1 noborder lc palette", NULL,
		     "1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):3");
	figure_layer(f, words, "labels font pt5", NULL, "1:2:3");
	/* in grey the sign cannot be seen, and beside a letter there is no room for one */
	figure_layer(f, minus, "boxxyerror fs solid 1 noborder lc rgb '#000000'", NULL,
		     "1:2:($1-0.3):($1+0.3):($2+0.36):($2+0.46)");
}

int figure_matrix(struct figure *f, const struct query_view *v, struct error *err)
{
	double r[TTP_MODEL_MEASURES][TTP_MODEL_MEASURES];
	size_t kept = 0;
	for (size_t i = 0; i < v->data->at.count; i++)
		kept += v->result->at[i].drop ? 0 : v->result->at[i].kept;
	if (kept <= 2)
		return figure_empty(err, "fewer than 3 executions of this run were kept");
	figure_say_run(f, "matrix", v->run, v->machine);
	for (size_t m = 0; m < TTP_MODEL_MEASURES; m++) {
		const char *name = ttp_model_measure_name((enum ttp_model_measure)m);
		figure_axis_tic(&f->x, (double)m, name);
		figure_axis_tic(&f->y, (double)m, name);
	}
	ttp_model_matrix(v->data, v->result, r);
	add_cells(f, r);
	f->x.sloping = true;
	f->x.low = -0.5;
	f->x.high = TTP_MODEL_MEASURES - 1.5;
	f->y.low = TTP_MODEL_MEASURES - 0.5;
	f->y.high = 0.5;
	f->height_cm = FIGURE_COLUMN_CM;
	f->tic_points = 6;
	strbuf_puts(&f->extra,
		    "unset grid\nset palette defined (-1 '#b35806', -0.5 '#fdb863', 0 '#f7f7f7', "
		    "0.5 '#92c5de', 1 '#2166ac')\nset cbrange [-1:1]\nset cbtics 0.5\n"
		    "set colorbox user origin 0.62,0.86 size 0.3,0.02 horizontal\n"
		    "set cblabel 'correlation (r)' offset 0,0.8\nset bmargin 4.2\n");
	return 0;
}
