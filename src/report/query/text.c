/* The report of `tare query` for people, in the order of what is asked first: the times, what was
 * dropped and why, what they are worth, how they came about. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/chart/plot.h"
#include "report/query/rows.h"

/* Columns of the terminal from which on there is one for CPU, I/O, TTPv2's own time, the reason. */
#define FOR_CPU 80
#define FOR_IO 90
#define FOR_CALC 102
#define FOR_REASON 130
#define FOR_READ 8 /* the width of that one */

/* ---- what was measured ---- */

static void put_own_words(const char *label, const char *text, const struct query_style *style,
			  struct strbuf *out)
{
	if (!text || !*text)
		return;
	FREED char *shown = display_copy(text);
	put_query_fact(label, shown, style, out);
}

static void put_title(const struct query_view *v, const struct query_style *style,
		      struct strbuf *out)
{
	const struct query_run *r = v->data;
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	char server[WORDS];
	query_server(r, server);
	strbuf_puts(&text, r->imported ? "Queries measured elsewhere" : "Queries");
	if (r->experiment_name && *r->experiment_name) {
		FREED char *name = display_copy(r->experiment_name);
		strbuf_printf(&text, " of experiment %s", name);
	}
	strbuf_printf(&text, " on %s", server);
	if (!r->imported)
		strbuf_printf(&text, ", %s", r->cold ? "cold" : "warm");
	if (r->scenario && *r->scenario)
		strbuf_printf(&text, ", %s", r->scenario);
	if (v->run && v->run->id > 0)
		strbuf_printf(&text, ", run %lld", (long long)v->run->id);
	strbuf_puts(&text, run_state_words(v->run));
	put_headline(out, style->style.width, style->style.colour, strbuf_text(&text));
}

static void put_shape(const struct query_view *v, const struct query_style *style,
		      struct strbuf *out)
{
	const struct query_run *r = v->data;
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	char number[WORDS], low[WORDS], high[WORDS];
	uint64_t least = UINT64_MAX, most = 0;
	for (size_t i = 0; i < r->at.count; i++) {
		uint64_t n = r->at.items[i].cardinality;
		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	format_count(r->at.count, number);
	strbuf_printf(&text, "%u, %s Q@C%s", r->queries, number, r->at.count == 1 ? "" : "s");
	format_count(least, low);
	format_count(most, high);
	if (r->at.count && most)
		strbuf_printf(&text, least < most ? " at cardinalities from %s to %s" : " at %s",
			      low, high);
	put_query_fact("Queries", strbuf_text(&text), style, out);
	strbuf_clear(&text);
	format_count(v->result->executions, number);
	strbuf_puts(&text, number);
	if (r->planned)
		strbuf_printf(&text, ", %u of each Q@C asked for", r->planned);
	if (query_missing(r))
		strbuf_printf(&text, ", %llu missing", (unsigned long long)query_missing(r));
	if (v->run && v->run->started_at_ns && !r->imported) {
		text_date(v->run->started_at_ns, low, sizeof low);
		strbuf_printf(&text, "; from %s", low);
	}
	if (v->run && v->run->ended_at_ns > v->run->started_at_ns && !r->imported) {
		format_span((double)(v->run->ended_at_ns - v->run->started_at_ns), high);
		strbuf_printf(&text, ", for %s", high);
	}
	put_query_fact("Executions", strbuf_text(&text), style, out);
}

/* Whose settings they are: the user's, or the experiment's. */
static void put_settings(const struct query_view *v, const struct query_style *style,
			 struct strbuf *out)
{
	SCOPED(query_settings_release) query_settings shown = { 0 }, all = { 0 };
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	query_settings_of(v->data, style->checks, &shown);
	query_settings_of(v->data, true, &all);
	array_each(s, &shown)
		strbuf_printf(&text, "%s%s %s", text.length ? ", " : "", s->name, s->base);
	if (shown.count < all.count)
		strbuf_printf(&text, "%s%zu more by --checks", text.length ? "; " : "",
			      all.count - shown.count);
	put_own_words("Settings", strbuf_text(&text), style, out);
}

static void put_kept(const struct query_view *v, const struct query_rows *rows,
		     const struct query_style *style, struct strbuf *out)
{
	const struct ttp_result *r = v->result;
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	char at[WORDS], executions[WORDS], error[WORDS];
	format_part(r->at_kept, r->at_count, "Q@Cs", at);
	format_part(r->executions_kept, r->executions, "executions", executions);
	strbuf_printf(&text, "%s, %s", at, executions);
	put_query_fact("Kept", strbuf_text(&text), style, out);
	strbuf_clear(&text);
	strbuf_printf(&text, "%s; median", query_time_meaning(rows->time));
	if (isfinite(rows->relative_error)) {
		format_percent(rows->relative_error, error);
		strbuf_printf(&text, ", relative error %s", error);
	}
	put_query_fact("Time", strbuf_text(&text), style, out);
}

/* ---- nothing was kept ---- */

/* What a check means to somebody who wants a time, and what to do about it. */
struct obstacle {
	const char *why, *next;
};
#define QUIETER "Try again on a quieter machine, or: tare quiet -- tare query ..."
#define AS_ROOT "Try again as root, which sees more; tare query report --checks has the details."
static const struct obstacle obstacles[TTP_CHECKS] = {
	[TTP_EPHEMERAL] = { "processes came and went unseen", AS_ROOT },
	[TTP_DBMS_TIME] = { "other processes used more CPU time than the database", QUIETER },
	[TTP_IOWAIT] = { "others kept the disk busy", QUIETER },
	[TTP_SWITCHES] = { "it was interrupted unusually often", QUIETER },
	[TTP_AMBIGUOUS] = { "another process of the server used more CPU time than the query",
			    "Try again when the server is idle." },
	[TTP_NO_QUERY_PROCESS] = { "the process that evaluates the query was not seen", AS_ROOT },
	[TTP_TIMED_OUT] = { "it was cancelled at the time limit", "--limit sets another one." },
	[TTP_LOST] = { "the collector lost events", QUIETER },
};
static const struct obstacle drops[TTP_DROPS] = {
	[TTP_DROP_VARIATION] = { "its CPU time varied by more than 20 %", QUIETER },
	[TTP_DROP_RESULT_CACHE] = { "all but the first seem to come from a cache of results",
				    "Turn that cache off." },
	[TTP_DROP_QUERY_PROCESS] = { "not the same process evaluated it each time",
				     "Connect to the server itself, not to a pool." },
	[TTP_DROP_SHORT] = { "it is too short to be measured", "Measure a longer one." },
	[TTP_DROP_FEW] = { "fewer than 6 executions are left", "-r 10 executes more." },
};

/* The first thing to say of a run that has no time to trust: why, and the next step. */
static void put_nothing_kept(const struct query_view *v, const struct query_style *style,
			     struct strbuf *out)
{
	const struct ttp_result *r = v->result;
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	int most = 0, drop = TTP_DROP_FEW;
	double low = INFINITY, high = 0;
	for (int i = 1; i < TTP_CHECKS; i++)
		most = r->checks[i].fired >= r->checks[most].fired ? i : most;
	for (int i = 1; i < TTP_DROPS; i++)
		drop = r->dropped[i] > r->dropped[drop] ? i : drop;
	array_each(at, &v->data->at)
		array_each(x, &at->executions) {
			low = fmin(low, (double)x->measured_ns);
			high = fmax(high, (double)x->measured_ns);
		}
	bool by_check = drop == TTP_DROP_FEW && r->checks[most].fired;
	struct obstacle o = by_check ? obstacles[most] : drops[drop];
	strbuf_printf(&text, "%zu of %zu executions were disturbed",
		      r->executions - r->executions_kept, r->executions);
	if (!by_check && r->executions == r->executions_kept)
		strbuf_clear(&text);
	if (o.why)
		strbuf_printf(&text, "%s%s", text.length ? ": " : "", o.why);
	else if (by_check)
		strbuf_printf(&text, " (check: %s)", ttp_check_names[most]);
	if (v->others && *v->others)
		strbuf_printf(&text, ". CPU time that others used meanwhile, in the mean: %s",
			      v->others);
	char fastest[WORDS], slowest[WORDS];
	format_ns(low, fastest);
	format_ns(high, slowest);
	strbuf_printf(&text, ". Raw: %s %s %s. %s", fastest, style->style.ascii ? "to" : "…",
		      slowest, o.next ? o.next : QUIETER);
	put_query_text("No trustworthy time: ", strbuf_text(&text), style, out);
}

/* ---- times ---- */

static double median_of(const struct ttp_figure *f)
{
	return f->present ? f->median_ns : NAN;
}

static void add_row(struct table *t, const struct query_row *row, enum ttp_time time)
{
	const struct ttp_figure *all = row->unfiltered;
	char text[WORDS], shown[WORDS];
	table_add_text(t, row->name);
	if (row->cardinality)
		table_add_count(t, (int64_t)row->cardinality);
	else
		table_add_absent(t);
	snprintf(text, sizeof text, "%s%s", *row->letter ? row->letter : "-",
		 row->plans ? "+" : "");
	table_add_text(t, text);
	snprintf(text, sizeof text, "%zu/%zu", row->kept, row->made);
	table_add_text(t, text);
	if (row->dropped_by) { /* by all of its executions */
		format_ns(all[time].median_ns, text);
		snprintf(shown, sizeof shown, "(%.60s)", text);
		table_add_shown(t, NAN, all[time].present ? shown : "dropped");
	} else
		table_add_number(t, median_of(&row->time));
	table_add_number(t, row->sigma_ns);
	table_add_number(t, median_of(&row->cpu));
	table_add_number(t, median_of(&row->io));
	table_add_number(t, row->read_share);
	table_add_number(t, median_of(&row->times[TTP_MEASURED]));
	table_add_number(t, median_of(&all[TTP_MEASURED]));
	table_add_number(t, median_of(&row->times[TTP_CALC]));
	table_add_text(t, row->dropped_by ? row->dropped_by : "");
}

static void put_times(const struct query_view *v, const struct query_rows *rows,
		      const struct query_style *style, struct strbuf *out)
{
	if (!style->all && plot_wanted(&style->style, rows->list.count + 1)) {
		plot_queries(v, rows, &style->style, out);
		return;
	}
	/* cold runs have a column more, of what was read */
	const bool cold = v->data->cold;
	const size_t more = cold ? FOR_READ : 0;
	const char *title = rows->time == TTP_MEASURED	? "Time"
			    : rows->time == TTP_BLOCKED ? "CPU+blkd"
							: "CPU+device";
	const struct column columns[] = {
		{ "query", "Query", COLUMN_TEXT, .least = 4 },
		{ "cardinality", "Rows", COLUMN_COUNT, .thousands = true },
		{ "plan", "Plan", COLUMN_TEXT },
		{ "kept", "Kept", COLUMN_TEXT, .right = true },
		{ "time", title, COLUMN_DURATION, .digits = 3 },
		{ "sigma", "σ", COLUMN_DURATION, .digits = 2, .ascii = "Sigma", .spare = 1 },
		{ "cpu", "CPU", COLUMN_DURATION, .digits = 3, .from = FOR_CPU + more },
		{ "io", "I/O", COLUMN_DURATION, .digits = 3, .from = FOR_IO + more },
		{ "read", "Read", COLUMN_PERCENT, cold ? FOR_ALL : FOR_DATA, .spare = 2 },
		{ "elapsed", "Elapsed", COLUMN_DURATION, .digits = 3 },
		{ "all", "Of all", COLUMN_DURATION, .digits = 3 },
		{ "calculated", "Time_calc", COLUMN_DURATION, .digits = 3,
		  .from = FOR_CALC + more },
		{ "dropped", "Dropped by", COLUMN_TEXT, .from = FOR_REASON + more },
	};
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	size_t most = query_most(style, QUERY_MOST_AT);
	bool several = false;
	for (size_t i = 0; i < rows->list.count && i < most; i++) {
		add_row(t, &rows->list.items[i], rows->time);
		several |= rows->list.items[i].plans;
	}
	strbuf_putc(out, '\n');
	table_put(t, &style->style, out);
	put_more(rows->list.count, QUERY_MOST_AT, "Q@C", style, out);
	if (several)
		strbuf_puts(out, "+: its executions had several plans\n");
	put_query_text("Of all: ",
		       v->result->at_kept < v->result->at_count
			       ? "elapsed time of all that ended. In parentheses: dropped; time of "
				 "all."
			       : "elapsed time of all executions that ended, dropped or not.",
		       style, out);
}

/* ---- how it came about ---- */

static void put_event(const struct query_view *v, const struct query_event *e,
		      const struct query_style *style, struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	char date[WORDS], first[WORDS], place[2 * WORDS];
	text_date(e->at_ns, date, sizeof date);
	strbuf_puts(&text, query_event_names[e->kind]);
	if (e->query) {
		query_place(v->data, e->query, e->cardinality, place);
		strbuf_printf(&text, ", %s", place);
	}
	if (e->text) {
		FREED char *shown = display_copy(e->text);
		strbuf_printf(&text, ": %s", shown);
	}
	if (e->kind == QUERY_RESTARTED) {
		const struct query_plan *before = query_plan_of(v->data, e->before);
		const struct query_plan *plan = query_plan_of(v->data, e->plan);
		if (before && plan) {
			strbuf_puts(&text, ": ");
			put_plan_change(before, plan, style->style.ascii, &text);
		} else if (!e->text)
			strbuf_puts(&text, ": its plan changed");
	}
	snprintf(first, sizeof first, "%.40s  ", date);
	put_paragraph(out,
		      &(struct paragraph){ .width = style->style.width,
					   .first = first,
					   .indent = strlen(first),
					   .lines = 3 },
		      strbuf_text(&text));
}

static void put_events(const struct query_view *v, const struct query_style *style,
		       struct strbuf *out)
{
	size_t same = 0, shown = 0;
	for (size_t i = 0; i < v->data->events.count; i++) {
		const struct query_event *e = &v->data->events.items[i];
		same += e->kind == QUERY_SAME_PLAN;
		if (e->kind == QUERY_SAME_PLAN || e->kind == QUERY_MADE_TABLE)
			continue;
		if (!shown)
			strbuf_puts(out, "\nWhat happened\n");
		if (shown++ < query_most(style, QUERY_MOST))
			put_event(v, e, style, out);
	}
	put_more(shown, QUERY_MOST, "event", style, out);
	if (same) {
		char text[WORDS];
		snprintf(text, sizeof text,
			 "%zu Q@C%s not executed, as the plan is that of the next higher one.",
			 same, same == 1 ? "" : "s");
		strbuf_puts(out, shown ? "" : "\n");
		put_query_text("Onepass: ", text, style, out);
	}
}

void query_text(const struct query_view *v, const struct query_style *given, struct strbuf *out)
{
	struct query_style style = query_normal_style(given);
	struct query_rows rows;
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	size_t from = out->length;
	query_rows_of(v, &rows);
	put_title(v, &style, out);
	if (v->result->executions && !v->result->at_kept)
		put_nothing_kept(v, &style, out);
	put_own_words("Tags", v->run ? v->run->tags : NULL, &style, out);
	if (v->machine && v->machine->facts.count) {
		struct query_item items[QUERY_ITEMS];
		query_items(v, items);
		strbuf_printf(&text, "%s; %s", items[1].text, items[2].text);
		put_query_fact("Machine", strbuf_text(&text), &style, out);
		query_items_release(items);
		strbuf_clear(&text);
	}
	put_shape(v, &style, out);
	put_settings(v, &style, out);
	put_query_writes(v->data, &text);
	put_own_words("Writes", strbuf_text(&text), &style, out);
	strbuf_clear(&text);
	put_own_words("Not seen", v->run ? v->run->not_seen : NULL, &style, out);
	if (v->result->executions) {
		put_kept(v, &rows, &style, out);
		put_times(v, &rows, &style, out);
		put_query_findings(v, &rows, &style, out);
		if (style.plans)
			put_query_plans(v, &rows, &style, out);
	} else
		strbuf_puts(out, "\nNothing was executed.\n");
	if (v->result->executions && style.model) {
		struct query_relation model[TTP_RELATIONS];
		query_model_of(v, model);
		strbuf_puts(out, "\nThe causal model\n");
		table_put(query_model_table(model), &style.style, out);
		put_model_summary(model, &text);
		put_query_text("", strbuf_text(&text), &style, out);
		put_query_text("",
			       "q: query, u: utility, d: daemon processes, o: overall; each scaled "
			       "from 0 to 1. Levels: r below 0.3, below 0.7, above.",
			       &style, out);
		strbuf_clear(&text);
	}
	put_events(v, &style, out);
	if (v->result->executions) {
		put_query_deviations(v, &style, out);
		if (query_unfit(v))
			strbuf_printf(&text, "no paragraphs, as %s.", query_unfit(v));
		else
			strbuf_puts(&text, "--paragraphs writes two paragraphs.");
		put_query_text("For a paper: ", strbuf_text(&text), &style, out);
	}
	query_rows_release(&rows);
	style_finish(&style.style, out, from);
}
