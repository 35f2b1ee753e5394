/* The report of `tare query` for people, in the order of what is asked first: the times, what was
 * dropped and why, what they are worth, how they came about. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/query_rows.h"

#define MOST 20 /* rows of a list, unless all are asked for */
/* Columns of the terminal from which on there is one for I/O, TTPv2's own time, the reason. */
#define FOR_IO 90
#define FOR_CALC 102
#define FOR_REASON 130

static size_t most_of(const struct query_style *style)
{
	return style->all ? SIZE_MAX : MOST;
}

static void put_more(size_t count, const char *what, const struct query_style *style,
		     struct strbuf *out)
{
	if (count > most_of(style))
		strbuf_printf(out, "and %zu more %s%s\n", count - MOST, what,
			      count - MOST == 1 ? "" : "s");
}

/* ---- what was measured ---- */

static void put_title(const struct query_view *v, const struct query_style *style,
		      struct strbuf *out)
{
	static const char *const states[] = { [RUN_GOING] = " (still going)",
					      [RUN_COMPLETE] = "",
					      [RUN_INTERRUPTED] = " (interrupted)",
					      [RUN_FAILED] = " (failed)" };
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
	strbuf_puts(&text, v->run ? states[v->run->status] : "");
	put_paragraph(out,
		      &(struct paragraph){ .width = (size_t)style->width,
					   .first = "",
					   .indent = 2,
					   .lines = 3,
					   .colour = style->colour ? BOLD : NULL },
		      strbuf_text(&text));
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
	format_thousands(r->at.count, number);
	strbuf_printf(&text, "%u, %s Q@C%s", r->queries, number, r->at.count == 1 ? "" : "s");
	format_thousands(least, low);
	format_thousands(most, high);
	if (r->at.count && most)
		strbuf_printf(&text, least < most ? " at cardinalities from %s to %s" : " at %s",
			      low, high);
	put_query_fact("Queries", strbuf_text(&text), style, out);
	strbuf_clear(&text);
	format_thousands(v->result->executions, number);
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

static void put_kept(const struct query_view *v, const struct query_rows *rows,
		     const struct query_style *style, struct strbuf *out)
{
	const struct ttp_result *r = v->result;
	struct strbuf text = { 0 };
	char at[WORDS], executions[WORDS], error[WORDS];
	format_count(r->at_kept, r->at_count, "Q@Cs", at);
	format_count(r->executions_kept, r->executions, "executions", executions);
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
};

static struct table *times_table(const struct query_rows *rows, const struct query_style *style)
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
		{ { "cpu", "CPU", COLUMN_TEXT, .right = true }, 0 },
		{ { "io", "I/O", COLUMN_TEXT, .right = true }, FOR_IO },
		{ { "elapsed", "Elapsed", COLUMN_TEXT, .right = true }, 0 },
		{ { "all", "Of all", COLUMN_TEXT, .right = true }, 0 },
		{ { "calculated", "Time_calc", COLUMN_TEXT, .right = true }, FOR_CALC },
		{ { "dropped", "Dropped by", COLUMN_TEXT }, FOR_REASON },
	};
	struct column columns[sizeof places / sizeof *places];
	size_t n = 0;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (style->width >= places[i].from)
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

/* As many digits as the standard error of its mean supports, within reason. */
static void add_time(struct table *t, const struct ttp_figure *f, size_t n)
{
	const struct summary summary = { .n = n, .mean = f->median_ns, .stddev = f->sigma_ns };
	struct scale scale = scale_of_summary(&summary, TIME_UNIT_AUTO);
	struct scale most = scale_for(f->median_ns, TIME_UNIT_AUTO);
	char text[WORDS] = "-";
	if (scale.decimals > most.decimals + 1)
		scale.decimals = most.decimals + 1;
	if (f->present)
		format_time(f->median_ns, &scale, text);
	table_add_text(t, text);
}

static void add_sigma(struct table *t, const struct ttp_figure *f)
{
	char text[WORDS] = "-";
	if (f->present)
		text_duration(f->sigma_ns, 2, text, sizeof text);
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
	struct ttp_figure calc = row->verdict->times[TTP_CALC];
	const struct ttp_figure *measured = &row->verdict->times[TTP_MEASURED],
				*all = row->verdict->unfiltered;
	calc.present = calc.present && ttp_time_means(v->data, TTP_CALC);
	query_name(v->data, row->at->query, text);
	table_add_text(t, text);
	format_thousands(row->at->cardinality, text);
	table_add_text(t, row->at->cardinality ? text : "-");
	plan_letter(row->plan, letter);
	snprintf(text, sizeof text, "%s%s", letter, row->plans ? "+" : "");
	table_add_text(t, text);
	snprintf(text, sizeof text, "%zu/%zu", row->verdict->kept, row->at->executions.count);
	table_add_text(t, text);
	if (row->verdict->drop)
		add_unfiltered(t, &all[time]);
	else
		add_time(t, &row->time, row->verdict->kept);
	add_sigma(t, &row->time);
	add_ns(t, &row->cpu, row->cpu.median_ns);
	if (style->width >= FOR_IO)
		add_ns(t, &row->io, row->io.median_ns);
	add_ns(t, measured, measured->median_ns);
	add_ns(t, &all[TTP_MEASURED], all[TTP_MEASURED].median_ns);
	if (style->width >= FOR_CALC)
		add_ns(t, &calc, calc.median_ns);
	if (style->width >= FOR_REASON)
		table_add_text(t, row->verdict->drop ? ttp_drop_name(row->verdict->drop) : "");
}

static void put_times(const struct query_view *v, const struct query_rows *rows,
		      const struct query_style *style, struct strbuf *out)
{
	struct table *t = times_table(rows, style);
	bool several = false;
	for (size_t i = 0; i < rows->list.count && i < most_of(style); i++) {
		add_row(t, v, &rows->list.items[i], rows->time, style);
		several |= rows->list.items[i].plans;
	}
	strbuf_putc(out, '\n');
	query_render(t, style, out);
	put_more(rows->list.count, "Q@C", style, out);
	if (several)
		strbuf_puts(out, "+: its executions had several plans\n");
	put_query_text("Of all: ",
		       v->result->at_kept < v->result->at_count
			       ? "elapsed time of all executions that ended, dropped or not; in "
				 "parentheses: of a Q@C that was dropped, its time by all of them."
			       : "elapsed time of all executions that ended, dropped or not.",
		       style, out);
}

/* ---- what was dropped ---- */

static void put_dropped_at(const struct query_view *v, const struct query_rows *rows,
			   const struct query_style *style, struct strbuf *out)
{
	struct strbuf text = { 0 };
	for (enum ttp_drop d = TTP_KEPT + 1; d < TTP_DROPS; d++) {
		size_t said = 0;
		char first[WORDS], place[2 * WORDS];
		strbuf_clear(&text);
		for (size_t i = 0; i < rows->list.count; i++) {
			const struct query_row *row = &rows->list.items[i];
			if (row->verdict->drop != d || said++ >= most_of(style))
				continue;
			query_place(v->data, row->at->query, row->at->cardinality, place);
			strbuf_printf(&text, "%s%s", said > 1 ? ", " : "", place);
		}
		if (said > most_of(style))
			strbuf_printf(&text, " and %zu more", said - MOST);
		snprintf(first, sizeof first, "Dropped, %s: ", ttp_drop_name(d));
		if (said)
			put_query_text(first, strbuf_text(&text), style, out);
	}
	strbuf_release(&text);
}

static void put_dropped(const struct query_view *v, const struct query_rows *rows,
			const struct query_style *style, struct strbuf *out)
{
	static const struct column columns[] = {
		{ "query", "Dropped execution", COLUMN_TEXT },
		{ "number", "No.", COLUMN_COUNT },
		{ "elapsed", "Elapsed", COLUMN_TEXT, .right = true },
		{ "checks", "By", COLUMN_TEXT },
	};
	size_t dropped = 0;
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < rows->list.count; i++) {
		const struct query_row *row = &rows->list.items[i];
		for (size_t k = 0; k < row->at->executions.count; k++) {
			const struct query_execution *x = &row->at->executions.items[k];
			struct strbuf names = { 0 };
			char place[2 * WORDS], time[WORDS];
			if (!row->fired[k] || dropped++ >= most_of(style))
				continue;
			query_place(v->data, row->at->query, row->at->cardinality, place);
			format_ns((double)x->measured_ns, time);
			put_checks(row->fired[k], ", ", &names);
			table_add_text(t, place);
			table_add_count(t, x->number);
			table_add_text(t, time);
			table_add_text(t, strbuf_text(&names));
			strbuf_release(&names);
		}
	}
	if (dropped) {
		strbuf_putc(out, '\n');
		query_render(t, style, out);
		put_more(dropped, "execution", style, out);
	} else
		table_free(t);
}

/* ---- what it is worth ---- */

static void put_sanity(const struct query_view *v, const struct query_style *style,
		       struct strbuf *out)
{
	struct table *t = query_checks_table(v, style->checks);
	strbuf_putc(out, '\n');
	if (t)
		query_render(t, style, out);
	else
		strbuf_puts(out, "No sanity check fired.\n");
}

static void put_post(const struct query_view *v, const struct query_style *style,
		     struct strbuf *out)
{
	const struct ttp_result *r = v->result;
	struct strbuf text = { 0 };
	char kept[WORDS], dropped[WORDS], error[WORDS];
	size_t said = 0;
	if (!ttp_time_means(v->data, TTP_CALC)) {
		put_query_text(
			"Refused: ",
			"this server reads in threads other than the query's, so the query's "
			"blocked time, and with it CPU + blocked and TTPv2's Time_calc, mean "
			"nothing.",
			style, out);
		return;
	}
	format_percent(r->post.kept_difference, kept);
	format_percent(r->post.dropped_difference, dropped);
	format_percent(r->relative_error, error);
	strbuf_printf(&text, "Time_calc of TTPv2 differs from elapsed by %s in Q@Cs kept", kept);
	if (isfinite(r->post.dropped_difference))
		strbuf_printf(&text, ", by %s in those dropped", dropped);
	strbuf_printf(&text, "; its relative error is %s.", error);
	if (isfinite(r->post.kept_difference))
		put_query_text("Step 5: ", strbuf_text(&text), style, out);
	else if (r->at_kept)
		put_query_text(
			"Step 5: ",
			"not asked, as TTPv2's Time_calc rests on measures that were not seen.",
			style, out);
	strbuf_clear(&text);
	for (enum ttp_model_measure m = 0; m < TTP_MODEL_MEASURES; m++)
		if (r->post.constant >> m & 1)
			strbuf_printf(&text, "%s%s", said++ ? ", " : "", ttp_model_measure_name(m));
	if (said && r->executions > 1)
		put_query_text("Never varied: ", strbuf_text(&text), style, out);
	strbuf_release(&text);
}

/* Calculated times of a Q@C and the next higher one, whose plan is the same. */
static void put_monotonicity(const struct query_view *v, const struct query_rows *rows,
			     const struct query_style *style, struct strbuf *out)
{
	struct strbuf text = { 0 };
	size_t said = 0;
	if (!ttp_time_means(v->data, TTP_CALC))
		return;
	for (size_t i = 0; i + 1 < rows->list.count; i++) {
		const struct query_row *row = &rows->list.items[i], *next = row + 1;
		char place[2 * WORDS], higher[WORDS], time[WORDS], against[WORDS];
		if (!(row->verdict->after >> TTP_STRICT & 1) || said++ >= most_of(style))
			continue;
		query_place(v->data, row->at->query, row->at->cardinality, place);
		format_thousands(next->at->cardinality, higher);
		format_ns(row->verdict->times[TTP_CALC].median_ns, time);
		format_ns(next->verdict->times[TTP_CALC].median_ns, against);
		strbuf_printf(&text, "%s%s took %s, at %s %s%s", said > 1 ? "; " : "", place, time,
			      higher, against,
			      row->verdict->after >> TTP_RELAXED & 1 ? " (relaxed, too)" : "");
	}
	if (said > most_of(style))
		strbuf_printf(&text, "; and %zu more", said - MOST);
	if (said)
		put_query_text("Not monotone: ", strbuf_text(&text), style, out);
	strbuf_release(&text);
}

static void put_reading(const struct query_view *v, const struct query_rows *rows,
			const struct query_style *style, struct strbuf *out)
{
	struct query_reading r = query_reading_of(rows);
	struct strbuf text = { 0 };
	if (!r.known)
		return;
	if (v->data->cold)
		strbuf_printf(&text,
			      "%zu of %zu Q@Cs read what their tables have, within 3 %%; %zu read "
			      "less (an index does, or a cache was not empty), %zu more.",
			      r.whole, r.known, r.less, r.more);
	else
		strbuf_printf(&text, "%zu of %zu Q@Cs read less than 1 %% of their tables.", r.warm,
			      r.known);
	put_query_text(v->data->cold ? "Cold: " : "Warm: ", strbuf_text(&text), style, out);
	strbuf_release(&text);
}

/* What the paper's machine did not have, or could not see. */
static void put_surroundings(const struct query_view *v, const struct query_rows *rows,
			     const struct query_style *style, struct strbuf *out)
{
	struct query_surroundings s = query_surroundings_of(v->data, rows);
	struct strbuf text = { 0 };
	char share[WORDS];
	if (isfinite(s.run_delay)) {
		format_percent(s.run_delay, share);
		strbuf_printf(&text, "the query waited %s of the elapsed time for a CPU", share);
	}
	if (isfinite(s.steal)) {
		format_percent(s.steal, share);
		strbuf_printf(&text, "%s%s of the CPUs' time was stolen", text.length ? ", " : "",
			      share);
	}
	if (s.lost)
		strbuf_printf(&text, "%sevents were lost in %zu execution%s, %s",
			      text.length ? ", " : "", s.lost, s.lost == 1 ? "" : "s",
			      v->options->form == TTP_ADAPTED ? "dropped for that"
							      : "without a device time");
	strbuf_putc(&text, '.');
	if (text.length > 1)
		put_query_text("Meanwhile: ", strbuf_text(&text), style, out);
	strbuf_release(&text);
}

static void put_deviations(const struct query_view *v, const struct query_style *style,
			   struct strbuf *out)
{
	sentence_list list = { 0 };
	query_deviations(v, false, &list);
	if (list.count)
		strbuf_puts(out, "\nDeviations from the protocol as printed\n");
	for (size_t i = 0; i < list.count; i++)
		put_query_text("- ", list.items[i], style, out);
	sentences_release(&list);
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
		if (e->kind == QUERY_SAME_PLAN) {
			same++;
			continue;
		}
		if (!shown)
			strbuf_puts(out, "\nWhat happened\n");
		if (shown++ < most_of(style))
			put_event(v, e, style, out);
	}
	put_more(shown, "event", style, out);
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
	struct ttp_correlation found[TTP_RELATIONS];
	struct strbuf text = { 0 };
	query_model_of(v, found);
	strbuf_puts(out, "\nThe causal model\n");
	query_render(query_model_table(found), style, out);
	put_model_summary(found, &text);
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
	struct strbuf text = { 0 };
	query_paragraphs(v, &text);
	char *second = strstr(text.text, "\n\n");
	text.text[text.length - 1] = '\0'; /* its newline */
	strbuf_puts(out, "\nFor a paper\n");
	if (second)
		*second = '\0';
	put_query_text("", text.text, style, out);
	if (second) {
		strbuf_putc(out, '\n');
		put_query_text("", second + 2, style, out);
	}
	strbuf_release(&text);
}

void query_text(const struct query_view *v, const struct query_style *given, struct strbuf *out)
{
	struct query_style style = query_normal_style(given);
	struct query_rows rows;
	size_t from = out->length;
	query_rows_of(v, &rows);
	put_title(v, &style, out);
	put_machine(v, &style, out);
	put_shape(v, &style, out);
	if (v->result->executions) {
		put_kept(v, &rows, &style, out);
		put_times(v, &rows, &style, out);
		put_dropped_at(v, &rows, &style, out);
		put_dropped(v, &rows, &style, out);
		put_sanity(v, &style, out);
		put_post(v, &style, out);
		put_monotonicity(v, &rows, &style, out);
		put_reading(v, &rows, &style, out);
		put_surroundings(v, &rows, &style, out);
		if (style.plans)
			put_query_plans(v, &rows, &style, out);
		if (style.model)
			put_model(v, &style, out);
	} else
		strbuf_puts(out, "\nNothing was executed.\n");
	put_events(v, &style, out);
	if (v->result->executions) {
		put_deviations(v, &style, out);
		put_section9(v, &style, out);
	}
	query_rows_release(&rows);
	query_finish(&style, out, from);
}
