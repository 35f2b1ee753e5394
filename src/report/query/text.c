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

static void put_title(const struct query_view *v, const struct query_style *style,
		      struct strbuf *out)
{
	const struct query_run *r = v->data;
	struct strbuf text = { 0 };
	char server[WORDS];
	query_server(r, server);
	strbuf_puts(&text, r->imported ? "Queries measured elsewhere" : "Queries");
	if (r->experiment_name && *r->experiment_name) {
		char *name = display_copy(r->experiment_name);
		strbuf_printf(&text, " of experiment %s", name);
		xfree(name);
	}
	strbuf_printf(&text, " on %s", server);
	if (!r->imported)
		strbuf_printf(&text, ", %s", r->cold ? "cold" : "warm");
	if (r->scenario && *r->scenario)
		strbuf_printf(&text, ", %s", r->scenario);
	if (v->run && v->run->id > 0)
		strbuf_printf(&text, ", run %lld", (long long)v->run->id);
	strbuf_puts(&text, run_state_words(v->run));
	put_headline(out, (size_t)style->width, style->colour, strbuf_text(&text));
	strbuf_release(&text);
}

static void put_machine(const struct query_view *v, const struct query_style *style,
			struct strbuf *out)
{
	struct query_item items[QUERY_ITEMS];
	struct strbuf text = { 0 };
	if (!v->machine || !v->machine->facts.count)
		return;
	query_items(v, items);
	strbuf_printf(&text, "%s; %s", items[1].text, items[2].text);
	put_query_fact("Machine", strbuf_text(&text), style, out);
	query_items_release(items);
	strbuf_release(&text);
}

static void put_shape(const struct query_view *v, const struct query_style *style,
		      struct strbuf *out)
{
	const struct query_run *r = v->data;
	struct strbuf text = { 0 };
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
	strbuf_release(&text);
}

static void put_tags(const struct query_view *v, const struct query_style *style,
		     struct strbuf *out)
{
	if (!v->run || !v->run->tags || !*v->run->tags)
		return;
	char *shown = display_copy(v->run->tags);
	put_query_fact("Tags", shown, style, out);
	xfree(shown);
}

static void put_not_seen(const struct query_view *v, const struct query_style *style,
			 struct strbuf *out)
{
	if (!v->run || !v->run->not_seen || !*v->run->not_seen)
		return;
	char *shown = display_copy(v->run->not_seen);
	put_query_fact("Not seen", shown, style, out);
	xfree(shown);
}

static void put_kept(const struct query_view *v, const struct query_rows *rows,
		     const struct query_style *style, struct strbuf *out)
{
	const struct ttp_result *r = v->result;
	struct strbuf text = { 0 };
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
	strbuf_release(&text);
}

/* ---- times ---- */

struct place {
	struct column column;
	int from; /* columns of the terminal */
	bool no;
};

/* Without the column of what was read, which cold runs have. */
static int width_for(const struct query_view *v, const struct query_style *style)
{
	return style->width - (v->data->cold ? FOR_READ : 0);
}

static struct table *times_table(const struct query_view *v, const struct query_rows *rows,
				 const struct query_style *style)
{
	const char *title = rows->time == TTP_MEASURED	? "Time"
			    : rows->time == TTP_BLOCKED ? "CPU+blkd"
							: "CPU+device";
	const struct place places[] = {
		{ { "query", "Query", COLUMN_TEXT }, 0 },
		{ { "cardinality", "Rows", COLUMN_TEXT, .right = true }, 0 },
		{ { "plan", "Plan", COLUMN_TEXT }, 0 },
		{ { "kept", "Kept", COLUMN_TEXT, .right = true }, 0 },
		{ { "time", title, COLUMN_TEXT, .right = true }, 0 },
		{ { "sigma", style->ascii ? "Sigma" : "σ", COLUMN_TEXT, .right = true }, 0 },
		{ { "cpu", "CPU", COLUMN_TEXT, .right = true }, FOR_CPU },
		{ { "io", "I/O", COLUMN_TEXT, .right = true }, FOR_IO },
		{ { "read", "Read", COLUMN_TEXT, .right = true }, 0, .no = !v->data->cold },
		{ { "elapsed", "Elapsed", COLUMN_TEXT, .right = true }, 0 },
		{ { "all", "Of all", COLUMN_TEXT, .right = true }, 0 },
		{ { "calculated", "Time_calc", COLUMN_TEXT, .right = true }, FOR_CALC },
		{ { "dropped", "Dropped by", COLUMN_TEXT }, FOR_REASON },
	};
	struct column columns[sizeof places / sizeof *places];
	size_t n = 0;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (!places[i].no && width_for(v, style) >= places[i].from)
			columns[n++] = places[i].column;
	return table_new(columns, n);
}

static void add_ns(struct table *t, const struct ttp_figure *f, double ns)
{
	char text[WORDS] = "-";
	if (f->present)
		format_ns(ns, text);
	table_add_text(t, text);
}

static void add_sigma(struct table *t, const struct query_row *row)
{
	char text[WORDS] = "-";
	if (isfinite(row->sigma_ns))
		text_duration(row->sigma_ns, 2, text, sizeof text);
	table_add_text(t, text);
}

static void add_share(struct table *t, double share)
{
	char text[WORDS] = "-";
	if (isfinite(share))
		format_percent(share, text);
	table_add_text(t, text);
}

/* Of a Q@C that was dropped, by all of its executions. */
static void add_unfiltered(struct table *t, const struct ttp_figure *f)
{
	char text[WORDS], time[WORDS];
	format_ns(f->median_ns, time);
	snprintf(text, sizeof text, "(%.60s)", time);
	table_add_text(t, f->present ? text : "dropped");
}

static void add_row(struct table *t, const struct query_view *v, const struct query_row *row,
		    enum ttp_time time, const struct query_style *style)
{
	char text[WORDS], letter[16];
	int width = width_for(v, style);
	struct ttp_figure calc = row->verdict->times[TTP_CALC];
	const struct ttp_figure *measured = &row->verdict->times[TTP_MEASURED],
				*all = row->verdict->unfiltered;
	calc.present = calc.present && ttp_time_means(v->data, TTP_CALC);
	query_name(v->data, row->at->query, text);
	table_add_text(t, text);
	format_count(row->at->cardinality, text);
	table_add_text(t, row->at->cardinality ? text : "-");
	plan_letter(row->plan, letter);
	snprintf(text, sizeof text, "%s%s", letter, row->plans ? "+" : "");
	table_add_text(t, text);
	snprintf(text, sizeof text, "%zu/%zu", row->verdict->kept, row->at->executions.count);
	table_add_text(t, text);
	if (row->verdict->drop)
		add_unfiltered(t, &all[time]);
	else
		add_ns(t, &row->time, row->time.median_ns);
	add_sigma(t, row);
	if (width >= FOR_CPU)
		add_ns(t, &row->cpu, row->cpu.median_ns);
	if (width >= FOR_IO)
		add_ns(t, &row->io, row->io.median_ns);
	if (v->data->cold)
		add_share(t, row->read_share);
	add_ns(t, measured, measured->median_ns);
	add_ns(t, &all[TTP_MEASURED], all[TTP_MEASURED].median_ns);
	if (width >= FOR_CALC)
		add_ns(t, &calc, calc.median_ns);
	if (width >= FOR_REASON)
		table_add_text(t, row->verdict->drop ? ttp_drop_name(row->verdict->drop) : "");
}

static void put_times(const struct query_view *v, const struct query_rows *rows,
		      const struct query_style *style, struct strbuf *out)
{
	const struct plot_style screen = { (size_t)style->width, style->lines, style->colour,
					   style->ascii };
	if (!style->all && plot_wanted(&screen, rows->list.count + 1)) {
		plot_queries(v, rows, &screen, out);
		return;
	}
	struct table *t = times_table(v, rows, style);
	size_t most = query_most(style, QUERY_MOST_AT);
	bool several = false;
	for (size_t i = 0; i < rows->list.count && i < most; i++) {
		add_row(t, v, &rows->list.items[i], rows->time, style);
		several |= rows->list.items[i].plans;
	}
	strbuf_putc(out, '\n');
	query_render(t, style, out);
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

/* What became of its plan. */
static void put_restart(const struct query_view *v, const struct query_event *e,
			const struct query_style *style, struct strbuf *out)
{
	const struct query_plan *from = query_plan_of(v->data, e->before);
	const struct query_plan *to = query_plan_of(v->data, e->plan);
	if (from && to) {
		strbuf_puts(out, ": ");
		put_plan_change(from, to, style->ascii, out);
	} else if (!e->text)
		strbuf_puts(out, ": its plan changed");
}

static void put_event(const struct query_view *v, const struct query_event *e,
		      const struct query_style *style, struct strbuf *out)
{
	struct strbuf text = { 0 };
	char date[WORDS], first[WORDS], place[2 * WORDS];
	text_date(e->at_ns, date, sizeof date);
	strbuf_puts(&text, query_event_name(e->kind));
	if (e->query) {
		query_place(v->data, e->query, e->cardinality, place);
		strbuf_printf(&text, ", %s", place);
	}
	if (e->text) {
		char *shown = display_copy(e->text);
		strbuf_printf(&text, ": %s", shown);
		xfree(shown);
	}
	if (e->kind == QUERY_RESTARTED)
		put_restart(v, e, style, &text);
	snprintf(first, sizeof first, "%.40s  ", date);
	put_paragraph(out,
		      &(struct paragraph){ .width = (size_t)style->width,
					   .first = first,
					   .indent = strlen(first),
					   .lines = 3 },
		      strbuf_text(&text));
	strbuf_release(&text);
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

static void put_model(const struct query_view *v, const struct query_style *style,
		      struct strbuf *out)
{
	struct query_relation model[TTP_RELATIONS];
	struct strbuf text = { 0 };
	query_model_of(v, model);
	strbuf_puts(out, "\nThe causal model\n");
	query_render(query_model_table(model), style, out);
	put_model_summary(model, &text);
	put_query_text("", strbuf_text(&text), style, out);
	put_query_text("",
		       "q: query, u: utility, d: daemon processes, o: overall; each scaled from 0 "
		       "to 1. Levels: r below 0.3, below 0.7, above.",
		       style, out);
	strbuf_release(&text);
}

static void put_section9(const struct query_view *v, const struct query_style *style,
			 struct strbuf *out)
{
	const char *unfit = query_unfit(v);
	char text[WORDS] = "--paragraphs writes two paragraphs.";
	if (unfit)
		snprintf(text, sizeof text, "no paragraphs, as %s.", unfit);
	put_query_text("For a paper: ", text, style, out);
}

void query_text(const struct query_view *v, const struct query_style *given, struct strbuf *out)
{
	struct query_style style = query_normal_style(given);
	struct query_rows rows;
	size_t from = out->length;
	query_rows_of(v, &rows);
	put_title(v, &style, out);
	put_tags(v, &style, out);
	put_machine(v, &style, out);
	put_shape(v, &style, out);
	put_not_seen(v, &style, out);
	if (v->result->executions) {
		put_kept(v, &rows, &style, out);
		put_times(v, &rows, &style, out);
		put_query_findings(v, &rows, &style, out);
		if (style.plans)
			put_query_plans(v, &rows, &style, out);
		if (style.model)
			put_model(v, &style, out);
	} else
		strbuf_puts(out, "\nNothing was executed.\n");
	put_events(v, &style, out);
	if (v->result->executions) {
		put_query_deviations(v, &style, out);
		put_section9(v, &style, out);
	}
	query_rows_release(&rows);
	query_finish(&style, out, from);
}
