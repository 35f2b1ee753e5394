/* Figures of runs of queries. */
#include <stdio.h>
#include <string.h>

#include "report/figure_private.h"
#include "report/query_rows.h"

#define LOG_FROM 30 /* values that differ by more than this factor get a logarithmic axis */
#define KEY_ROOM 6  /* queries that it has room for above the plot */
#define MOST_SPLIT 60
#define SPLIT "row\telapsed_ns\tcpu_ns\tio_ns\tother_ns\tquery\tcardinality\tname"
#define TIMES "cardinality\tmedian_ns\tlow_ns\thigh_ns\tkept\tplan_changes\tplan"

static bool is_wanted(const struct query_row *row, uint32_t query)
{
	return !query || row->at->query == query;
}

/* Of a Q@C that was dropped: of all of its executions. */
static struct ttp_figure time_of(const struct query_rows *rows, const struct query_row *row)
{
	return row->verdict->drop ? row->verdict->unfiltered[rows->time] : row->time;
}

/* What the axes must hold. */
struct extent {
	double x_low, x_high, y_low, y_high;
	size_t queries, rows;
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

static void add_times(struct figure *f, const struct query_rows *rows, size_t i, size_t block,
		      size_t dropped, struct extent *e)
{
	const struct query_row *row = &rows->list.items[i];
	const struct ttp_figure t = time_of(rows, row);
	char letter[16];
	if (!t.present)
		return;
	double values[] = { (double)row->at->cardinality,      t.median_ns,
			    fmax(t.median_ns - t.sigma_ns, 0), t.median_ns + t.sigma_ns,
			    (double)row->verdict->kept,	       is_change(rows, i) ? 1 : NAN };
	plan_letter(row->plan, letter);
	figure_row(f, row->verdict->drop ? dropped : block, values, 6, letter);
	widen(e, values[0], values[1]);
	e->rows++;
}

static void set_axis(struct figure_axis *a, const char *label, double low, double high, bool time)
{
	if (high > LOG_FROM * low && low > 0)
		figure_axis_log(a, label, low, high, time);
	else if (time)
		figure_axis_time(a, label, high);
	else
		figure_axis_label(a, label);
	if (!a->log)
		a->low = 0;
}

static void times_layers(struct figure *f, size_t block, int pen, const char *name)
{
	static const char *const lines[] = { "linespoints lt 1", "linespoints lt 2",
					     "linespoints lt 3", "linespoints lt 4",
					     "linespoints lt 5", "linespoints lt 6",
					     "linespoints lt 7", "linespoints lt 8" };
	double unit = f->y.unit;
	figure_layer(f, block, "yerrorbars dt 1 pt 0 lc rgb '#777777' lw 0.7", NULL,
		     "1:($2/%g):($3/%g):($4/%g)", unit, unit, unit);
	figure_layer(f, block, lines[pen % 8], name, "1:($2/%g)", unit);
	figure_layer(f, block, "points pt 6 ps 1.6 lc rgb '#000000' lw 1", NULL,
		     "1:($6>0?$2/%g:NaN)", unit);
	/* letters are our own words */
	figure_layer(f, block, "labels offset 0,0.8 font ',7'", NULL, "1:($6>0?$2/%g:NaN):7", unit);
}

int figure_query(struct figure *f, const struct query_view *v, uint32_t query, struct error *err)
{
	struct query_rows rows;
	struct extent e = { .x_low = INFINITY, .y_low = INFINITY };
	ARRAY(size_t) blocks = { 0 };
	ARRAY(uint32_t) queries = { 0 };
	char name[WORDS];
	query_rows_of(v, &rows);
	figure_say_run(f, "query", v->run, v->machine);
	figure_say(f, "time", query_time_meaning(rows.time));
	size_t dropped = figure_block(f, TIMES, "dropped Q@Cs, by all of their executions");
	for (size_t i = 0; i < rows.list.count; i++) {
		const struct query_row *row = &rows.list.items[i];
		if (!is_wanted(row, query))
			continue;
		if (!queries.count || queries.items[queries.count - 1] != row->at->query) {
			query_name(v->data, row->at->query, name);
			array_push(&queries, row->at->query);
			array_push(&blocks, figure_block(f, TIMES, name));
		}
		add_times(f, &rows, i, blocks.items[blocks.count - 1], dropped, &e);
	}
	char label[WORDS];
	snprintf(label, sizeof label, "time (%s)", query_time_title(rows.time));
	if (rows.time == TTP_MEASURED)
		snprintf(label, sizeof label, "elapsed time");
	int failed = 0;
	if (!e.rows)
		failed = figure_empty(err, "no query of that number has a time");
	else if (!(e.x_high > 0)) {
		failed = figure_empty(err, "no table of this run varies in its cardinality");
		error_hint(err, "'tare plot RUN split' shows the time of each query");
	} else {
		set_axis(&f->x, "rows of the table that varies", e.x_low, e.x_high, false);
		set_axis(&f->y, label, e.y_low, e.y_high, true);
		for (size_t i = 0; i < blocks.count; i++) {
			query_name(v->data, queries.items[i], name);
			times_layers(f, blocks.items[i], (int)i, name);
		}
		figure_layer(f, dropped, "points pt 2 ps 0.9 lc rgb '#000000'", "dropped",
			     "1:($2/%g)", f->y.unit);
		f->key = blocks.count <= KEY_ROOM ? FIGURE_KEY_ABOVE : "outside right top vertical";
	}
	array_release(&blocks);
	array_release(&queries);
	query_rows_release(&rows);
	return failed;
}

/* ---- where the time went ---- */

int figure_split(struct figure *f, const struct query_view *v, uint32_t query, struct error *err)
{
	struct query_rows rows;
	double most = 0;
	size_t shown = 0, left_out = 0, cpu_of_partly = 0;
	char name[2 * WORDS];
	query_rows_of(v, &rows);
	figure_say_run(f, "split", v->run, v->machine);
	size_t block = figure_block(f, SPLIT, "medians of the executions kept");
	size_t partly = figure_block(f, SPLIT, "the same where CPU time or I/O is not known");
	for (size_t i = 0; i < rows.list.count; i++) {
		const struct query_row *row = &rows.list.items[i];
		const struct ttp_figure *elapsed = &row->verdict->times[TTP_MEASURED];
		if (!is_wanted(row, query) || !elapsed->present || row->verdict->drop)
			continue;
		if (shown == MOST_SPLIT) {
			left_out++;
			continue;
		}
		double cpu = row->cpu.present ? row->cpu.median_ns : NAN;
		double io = row->io.present ? row->io.median_ns : NAN;
		double other = elapsed->median_ns - cpu - io;
		double values[] = {
			(double)shown,	elapsed->median_ns,	     cpu, io, other < 0 ? 0 : other,
			row->at->query, (double)row->at->cardinality
		};
		cpu_of_partly += isnan(other) && !isnan(cpu);
		query_place(v->data, row->at->query, row->at->cardinality, name);
		figure_row(f, isnan(other) ? partly : block, values, 7, name);
		figure_axis_tic(&f->y, (double)shown++, name);
		most = fmax(most, fmax(elapsed->median_ns, cpu + io));
	}
	query_rows_release(&rows);
	if (!shown)
		return figure_empty(err, "nothing of the queries asked for was kept");
	if (left_out) {
		error_set(err, EXIT_USAGE, "%zu Q@Cs are too many for one figure",
			  shown + left_out);
		return error_hint(err, "--query NUM shows those of one query");
	}
	figure_axis_time(&f->x, "elapsed time", most);
	figure_axis_rows(f, shown);
	f->x.low = 0;
	const struct figure_stack stack = { block, 3, "$1-0.35", "$1+0.35", true };
	const struct figure_stack known = { partly, 3, "$1-0.35", "$1+0.35", true };
	figure_layer(f, partly, "boxxyerror fs empty border lc rgb '#777777' lw 0.7",
		     "not told apart", "(0):1:(0):($2/%g):($1-0.35):($1+0.35)", f->x.unit);
	if (cpu_of_partly)
		figure_stack_layer(f, &known, 3, figure_fills[0],
				   f->blocks.items[block].count ? NULL : "CPU");
	figure_stack_layer(f, &stack, 3, figure_fills[0], "CPU");
	figure_stack_layer(f, &stack, 4, figure_fills[1], "own I/O");
	figure_stack_layer(f, &stack, 5, figure_fills[7], "other");
	f->key = FIGURE_KEY_RIGHT;
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
	size_t words = figure_block(f, "column\trow\tpredicted",
				    "predicted levels (l, m, h); - before them: r is negative");
	for (size_t a = 0; a < TTP_MODEL_MEASURES; a++)
		for (size_t b = 0; b < a; b++) {
			char name[WORDS];
			const struct ttp_relation *told = relation_of(a, b);
			double row[] = { (double)b, (double)a, r[a][b] };
			snprintf(name, sizeof name, "%s, %s",
				 ttp_model_measure_name((enum ttp_model_measure)a),
				 ttp_model_measure_name((enum ttp_model_measure)b));
			figure_row(f, cells, row, 3, name);
			bool negative = r[a][b] <= -0.3;
			snprintf(name, sizeof name, "%s%.1s", negative ? "−" : "",
				 told ? ttp_level_name(told->predicted) : "");
			if (*name)
				figure_row(f, words, row, 2, name);
		}
	figure_layer(f, cells, "boxxyerror fs solid 1 noborder lc palette", NULL,
		     "1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):3");
	figure_layer(f, words, "labels font ',5'", NULL, "1:2:3");
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
		    "unset grid\nset palette defined (-1 '#2166ac', -0.5 '#92c5de', 0 '#f7f7f7', "
		    "0.5 '#f4a582', 1 '#b2182b')\nset cbrange [-1:1]\nset cbtics 0.5\n"
		    "set colorbox user origin 0.62,0.86 size 0.3,0.02 horizontal\n"
		    "set cblabel 'r' offset 0,0.8\n");
	return 0;
}
