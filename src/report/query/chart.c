/* Charts of runs of queries. */
#include <ctype.h>
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "record/ledger.h"
#include "report/chart/charts.h"
#include "report/query/rows.h"

#define LOG_FROM 30 /* values that differ by more than this factor get a logarithmic axis */
#define NEAR 0.3    /* cardinalities above this share of the highest: without 0 */
#define SPLIT                                                                     \
	"row\telapsed_ns\tcpu_ns\tio_ns\tother_ns\tquery\tcardinality\tdropped\t" \
	"executions\trun_delay_ns\tname"
enum { CHANGED = 5, DROPPED = 6 }; /* columns of TIMES */
#define TIMES "cardinality\tmedian_ns\tlow_ns\thigh_ns\tkept\tplan_changes\tdropped\tplan"

static bool is_wanted(const struct query_row *row, uint32_t query)
{
	return !query || row->at->query == query;
}

/* Q@Cs of a figure, and how many of them the protocol drops. */
struct drops {
	size_t dropped, all;
};

static void note_drops(struct chart *c, const struct drops *d)
{
	char title[WORDS];
	snprintf(title, sizeof title, "dropped (%zu of %zu)", d->dropped, d->all);
	if (d->dropped)
		chart_add(c, CHART_KEY_ONLY, CHART_POINTS, CHART_CROSS, title, 0, 0);
	if (d->dropped < d->all)
		return;
	strbuf_printf(&c->note,
		      "%s of this figure %s dropped by the protocol: what is drawn is of all of "
		      "%s executions",
		      d->all == 1 ? "the one Q@C" : "all Q@Cs", d->all == 1 ? "was" : "were",
		      d->all == 1 ? "its" : "their");
	chart_say(c, "note", strbuf_text(&c->note));
}

/* What the axes must hold. */
struct extent {
	double x_low, x_high, y_low, y_high, bottom, top; /* the last two: with the spread */
};

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

static void add_times(struct chart *c, const struct query_rows *rows, size_t i, struct line *line,
		      struct extent *e)
{
	const struct query_row *row = &rows->list.items[i];
	/* of a Q@C that was dropped: of all of its executions */
	const struct ttp_figure t = row->verdict->drop ? row->verdict->unfiltered[rows->time]
						       : row->time;
	if (!t.present)
		return;
	double values[] = { (double)row->at->cardinality,      t.median_ns,
			    fmax(t.median_ns - t.sigma_ns, 0), t.median_ns + t.sigma_ns,
			    (double)row->verdict->kept,	       is_change(rows, i) ? 1 : NAN,
			    row->verdict->drop ? 1 : 0 };
	chart_row(c, row->at->cardinality ? line->block : line->aside, values, 7,
		  *row->letter ? row->letter : "-");
	if (!row->at->cardinality)
		return; /* it has no place on the axis */
	e->x_low = fmin(e->x_low, values[0]);
	e->x_high = fmax(e->x_high, values[0]);
	if (values[1] > 0) {
		e->y_low = fmin(e->y_low, values[1]);
		e->y_high = fmax(e->y_high, values[1]);
	}
	e->top = fmax(e->top, values[3]);
	if (values[2] > values[1] / 10) /* else a logarithmic axis would be of it alone */
		e->bottom = fmin(e->bottom, values[2]);
	line->changes += is_change(rows, i);
	line->drops.all++;
	line->drops.dropped += row->verdict->drop != TTP_KEPT;
}

static void set_axes(struct chart *c, const struct extent *e, const char *time)
{
	const char *rows = "rows of the table that varies";
	c->x.notation = CHART_COUNTS;
	chart_axis_label(&c->x, rows);
	if (e->x_low > NEAR * e->x_high)
		chart_axis_span(&c->x, e->x_low, e->x_high);
	else
		chart_axis_from_zero(&c->x, e->x_high);
	if (e->x_high > LOG_FROM * e->x_low)
		chart_axis_log(&c->x, rows, e->x_low, e->x_high, CHART_COUNTS);
	chart_axis_time(&c->y, time, e->y_high);
	chart_axis_from_zero(&c->y, e->top);
	if (e->y_high > LOG_FROM * e->y_low && e->y_low > 0) {
		c->y.unit = 1;
		chart_axis_log(&c->y, time, fmin(e->bottom, e->y_low), e->top, CHART_TIMES);
	}
}

char query_sign(size_t query)
{
	static const char signs[] = "123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	return query < sizeof signs - 1 ? signs[query] : '+';
}

/* A line through all of a query's Q@Cs, points where they were kept. gnuplot complains of series in
 * which nothing is to be seen. */
static void times_series(struct chart *c, const struct line *line, size_t number, const char *name)
{
	unsigned pen = CHART_PEN + (unsigned)(number % CHART_PENS);
	size_t block = line->block;
	if (!line->drops.all)
		return;
	chart_add(c, block, CHART_INTERVALS, CHART_SPREAD, NULL, 0, 1);
	chart_add(c, block, CHART_LINE, pen, NULL, 0, 1);
	chart_add(c, CHART_KEY_ONLY, CHART_LINE_POINTS, pen, name, 0, 0);
	if (line->drops.dropped < line->drops.all) {
		struct chart_series *kept = chart_add(c, block, CHART_POINTS, pen, NULL, 0, 1);
		kept->unless = DROPPED;
		kept->sign = query_sign(number);
	}
	if (line->drops.dropped) {
		struct chart_series *cross =
			chart_add(c, block, CHART_POINTS, CHART_CROSS, NULL, 0, 1);
		cross->where = DROPPED;
		cross->sign = query_sign(number);
	}
	if (line->changes) {
		chart_add(c, block, CHART_POINTS, CHART_RING, NULL, 0, 1)->where = CHANGED;
		/* letters are our own words */
		chart_add(c, block, CHART_NAMES, CHART_RING, NULL, 0, 1)->where = CHANGED;
	}
}

static void draw_times(struct chart *c, const struct query_view *v, const struct line *lines,
		       size_t count)
{
	char name[WORDS];
	struct drops all = { 0 };
	for (size_t i = 0; i < count; i++) {
		query_name(v->data, lines[i].query, name);
		times_series(c, &lines[i], i, name);
		all.all += lines[i].drops.all;
		all.dropped += lines[i].drops.dropped;
	}
	note_drops(c, &all);
	size_t aside = 0;
	for (size_t i = 0; i < count; i++)
		aside += c->blocks.items[lines[i].aside].count;
	if (aside)
		strbuf_printf(&c->note,
			      "%s%zu Q@C%s without a table that varies %s not drawn: 'split' shows "
			      "%s",
			      c->note.length ? "; " : "", aside, aside == 1 ? "" : "s",
			      aside == 1 ? "is" : "are", aside == 1 ? "it" : "them");
	if (count > CHART_PENS)
		strbuf_printf(&c->note,
			      "%s%zu queries have %d kinds of lines: --query draws one of them",
			      c->note.length ? "; " : "", count, CHART_PENS);
	c->key = true;
}

int chart_query(struct chart *c, const struct query_view *v, uint32_t query, struct error *err)
{
	struct query_rows rows;
	struct extent e = { .x_low = INFINITY, .y_low = INFINITY, .bottom = INFINITY };
	ARRAY(struct line) lines = { 0 };
	query_rows_of(v, &rows);
	chart_say_run(c, "query", v->run, v->machine);
	chart_say(c, "time", query_time_meaning(rows.time));
	chart_say(c, "dropped", "1: by all of its executions, not by those kept");
	for (size_t i = 0; i < rows.list.count; i++) {
		const struct query_row *row = &rows.list.items[i];
		if (!is_wanted(row, query))
			continue;
		if (!lines.count || lines.items[lines.count - 1].query != row->query) {
			char aside[2 * WORDS];
			struct line line = { .query = row->query };
			snprintf(aside, sizeof aside, "%s, without a table that varies: not drawn",
				 row->name);
			line.block = chart_block(c, TIMES, row->name);
			line.aside = chart_block(c, TIMES, aside);
			array_push(&lines, line);
		}
		add_times(c, &rows, i, &lines.items[lines.count - 1], &e);
	}
	char label[WORDS];
	snprintf(label, sizeof label, "%s time", query_time_title(rows.time));
	int failed = 0;
	if (!chart_rows(c))
		failed = chart_empty(err, "no query of that number has a time");
	else if (!(e.x_high > 0)) {
		failed = chart_empty(err, "no table of this run varies in its cardinality");
		error_hint(err, "'tare plot RUN split' shows the time of each query");
	} else {
		set_axes(c, &e, label);
		draw_times(c, v, lines.items, lines.count);
	}
	array_release(&lines);
	query_rows_release(&rows);
	return failed;
}

/* ---- where the time went ---- */

/* Means, so that they add up, as on the page: of the executions kept, and where the Q@C was
 * dropped, of all that ended. NaN: not known of each of them. */
struct split {
	double n, elapsed, cpu, io, other, delay;
};

static struct split split_of(const struct query_row *row)
{
	struct split s = { 0 };
	for (size_t k = 0; k < row->at->executions.count; k++) {
		const struct query_execution *x = &row->at->executions.items[k];
		uint32_t cpu = 1u << QUERY_USER_NS | 1u << QUERY_SYSTEM_NS;
		if (row->verdict->drop ? x->timed_out : row->fired[k] != 0)
			continue;
		s.elapsed += (double)x->measured_ns;
		s.cpu += x->usage[QUERY_QUERY].missing & cpu ? NAN
							     : (double)query_cpu_ns(x, QUERY_QUERY);
		s.io += x->own_device_ns == ABSENT_NS ? NAN : (double)x->own_device_ns;
		s.delay += x->run_delay_ns == ABSENT_NS ? NAN : (double)x->run_delay_ns;
		s.n++;
	}
	s.elapsed /= s.n;
	s.cpu /= s.n;
	s.io /= s.n;
	s.delay /= s.n;
	s.other = isnan(s.cpu + s.io) ? NAN : fmax(0, s.elapsed - s.cpu - s.io);
	return s;
}

/* The blocks of chart_split(). */
struct splits {
	int digits; /* of a cardinality */
	size_t whole, partly, ends, shown, cpu_of_partly;
	double most;
	struct drops drops;
};

/* As many as tell the cardinalities of each query apart. */
static int digits_of(const struct query_rows *rows)
{
	int digits = 4;
	for (size_t i = 1; i < rows->list.count && digits < DBL_DIG; i++) {
		const struct query_at *a = rows->list.items[i - 1].at, *b = rows->list.items[i].at;
		char before[WORDS], text[WORDS];
		chart_count_text((double)a->cardinality, digits, before);
		chart_count_text((double)b->cardinality, digits, text);
		if (a->query == b->query && a->cardinality != b->cardinality &&
		    !strcmp(before, text)) {
			digits++;
			i--; /* once more */
		}
	}
	return digits;
}

static void add_split(struct chart *c, const struct query_view *v, const struct query_row *row,
		      struct splits *to)
{
	const struct split s = split_of(row);
	char name[2 * WORDS], rows[WORDS];
	if (!(s.elapsed > 0))
		return;
	double values[] = { (double)to->shown,
			    s.elapsed,
			    s.cpu,
			    s.io,
			    s.other,
			    row->at->query,
			    (double)row->at->cardinality,
			    row->verdict->drop ? 1 : 0,
			    s.n,
			    s.delay };
	to->cpu_of_partly += isnan(s.other) && !isnan(s.cpu);
	query_place(v->data, row->query, row->cardinality, name);
	chart_row(c, isnan(s.other) ? to->partly : to->whole, values, 10, name);
	/* digits of a cardinality must not be lost where the name is shortened */
	chart_count_text((double)row->cardinality, to->digits, rows);
	snprintf(name, sizeof name, row->cardinality ? "%s at %.40s" : "%s", row->name, rows);
	chart_axis_tick(&c->y, (double)to->shown++, name);
	/* several processes at once use more than what elapsed */
	double end = fmax(s.elapsed, fmax(s.cpu, s.cpu + s.io));
	if (row->verdict->drop)
		chart_row(c, to->ends, (double[]){ values[0], end }, 2, NULL);
	to->most = fmax(to->most, end);
	to->drops.all++;
	to->drops.dropped += row->verdict->drop != TTP_KEPT;
}

static void split_series(struct chart *c, const struct splits *s)
{
	static const struct {
		const char *title;
		unsigned role;
	} parts[] = { { "CPU", CHART_CAUSE + (unsigned)LEDGER_RUN },
		      { "own I/O", CHART_CAUSE + (unsigned)LEDGER_IO },
		      { "other", CHART_REST } };
	const struct chart_block *whole = &c->blocks.items[s->whole];
	const struct chart_block *partly = &c->blocks.items[s->partly];
	chart_add(c, s->partly, CHART_BARS, CHART_FRAME,
		  s->cpu_of_partly == partly->count ? "not CPU" : "not told apart", 1, 0);
	if (s->cpu_of_partly)
		chart_add(c, s->partly, CHART_BARS, parts[0].role, whole->count ? NULL : "CPU", 2,
			  0);
	for (unsigned k = 0; k < 3; k++)
		chart_add(c, s->whole, CHART_BARS, parts[k].role, parts[k].title, 2 + k, 0)
			->stack_from = 2;
	chart_add(c, s->ends, CHART_POINTS, CHART_CROSS, NULL, 1, 0);
}

int chart_split(struct chart *c, const struct query_view *v, uint32_t query, struct error *err)
{
	struct query_rows rows;
	struct splits s = { 0 };
	query_rows_of(v, &rows);
	chart_say_run(c, "split", v->run, v->machine);
	s.digits = digits_of(&rows);
	s.whole = chart_block(c, SPLIT, "means of the executions kept; dropped 1: of all");
	s.partly = chart_block(c, SPLIT, "the same where CPU time or I/O is not known");
	s.ends = chart_block(c, "row\tat_ns", "crosses beyond the bars of dropped ones");
	for (size_t i = 0; i < rows.list.count; i++)
		if (is_wanted(&rows.list.items[i], query))
			add_split(c, v, &rows.list.items[i], &s);
	query_rows_release(&rows);
	if (!s.shown)
		return chart_empty(err, "no execution of the queries asked for came to its end");
	struct chart_block *ends = &c->blocks.items[s.ends];
	for (size_t i = 0; i < ends->count; i++)
		ends->values.items[2 * i + 1] += 0.025 * s.most;
	chart_axis_time(&c->x, "elapsed time", s.most);
	chart_axis_rows(c, s.shown);
	/* with room for the crosses beyond the bars */
	chart_axis_from_zero(&c->x, s.drops.dropped ? s.most * 1.03 : s.most);
	split_series(c, &s);
	note_drops(c, &s.drops);
	c->key = true;
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
static void add_cells(struct chart *c, double r[TTP_MODEL_MEASURES][TTP_MODEL_MEASURES])
{
	size_t cells =
		chart_block(c, "column\trow\tr\tname", "Pearson's r over the executions kept");
	size_t words = chart_block(c, "column\trow\tpredicted", "predicted levels (L, M, H)");
	size_t minus = chart_block(c, "left\tright\tfrom\theight", "where r is below -0.3");
	for (size_t a = 0; a < TTP_MODEL_MEASURES; a++)
		for (size_t b = 0; b < a; b++) {
			char name[WORDS];
			const struct ttp_relation *told = relation_of(a, b);
			double row[] = { (double)b, (double)a, r[a][b] };
			snprintf(name, sizeof name, "%s, %s",
				 ttp_model_measure_names[(enum ttp_model_measure)a],
				 ttp_model_measure_names[(enum ttp_model_measure)b]);
			chart_row(c, cells, row, 3, name);
			char level[] = { told ? *ttp_level_names[told->predicted] : '\0', '\0' };
			*level = (char)toupper((unsigned char)*level);
			if (*level)
				chart_row(c, words, row, 2, level);
			if (r[a][b] <= -0.3)
				chart_row(c, minus,
					  (double[]){ row[0] - 0.3, row[0] + 0.3, row[1] + 0.36,
						      0.1 },
					  4, NULL);
		}
	chart_add(c, cells, CHART_CELLS, CHART_VALUE, NULL, 0, 1);
	chart_add(c, words, CHART_NAMES, CHART_VALUE, NULL, 0, 1);
	/* in grey the sign cannot be seen, and beside a letter there is no room for one */
	chart_add(c, minus, CHART_BARS, CHART_CROSS, NULL, 0, 3)->stack_from = 2;
}

int chart_matrix(struct chart *c, const struct query_view *v, struct error *err)
{
	double r[TTP_MODEL_MEASURES][TTP_MODEL_MEASURES];
	size_t kept = 0;
	for (size_t i = 0; i < v->data->at.count; i++)
		kept += v->result->at[i].drop ? 0 : v->result->at[i].kept;
	if (kept <= 2)
		return chart_empty(err, "fewer than 3 executions of this run were kept");
	chart_say_run(c, "matrix", v->run, v->machine);
	for (size_t m = 0; m < TTP_MODEL_MEASURES; m++) {
		const char *name = ttp_model_measure_names[(enum ttp_model_measure)m];
		chart_axis_tick(&c->x, (double)m, name);
		chart_axis_tick(&c->y, (double)m, name);
	}
	ttp_model_matrix(v->data, v->result, r);
	add_cells(c, r);
	c->x.sloping = true;
	c->x.low = -0.5;
	c->x.high = (double)TTP_MODEL_MEASURES - 1.5;
	c->y.low = (double)TTP_MODEL_MEASURES - 0.5;
	c->y.high = 0.5;
	c->height_cm = CHART_COLUMN_CM;
	c->tick_points = 6;
	c->palette = "unset grid\nset palette defined (-1 '#b35806', -0.5 '#fdb863', 0 '#f7f7f7', "
		     "0.5 '#92c5de', 1 '#2166ac')\nset cbrange [-1:1]\nset cbtics 0.5\n"
		     "set colorbox user origin 0.62,0.86 size 0.3,0.02 horizontal\n"
		     "set cblabel 'correlation (r)' offset 0,0.8\nset bmargin 4.2\n";
	return 0;
}
