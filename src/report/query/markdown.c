/* The report of `tare query` as Markdown, for a repository or an appendix. */
#include <math.h>
#include <string.h>

#include "report/query/rows.h"

static void put_table(struct table *t, struct strbuf *out)
{
	table_render(t, TABLE_MARKDOWN, NULL, out);
	table_free(t);
	strbuf_putc(out, '\n');
}

/* What Markdown would read as its own. */
static void put_escaped(const char *text, struct strbuf *out)
{
	for (; *text; text++) {
		if (strchr("\\`*_[]<>|~#&", *text))
			strbuf_putc(out, '\\');
		strbuf_putc(out, *text);
	}
}

/* Those of the run's own order that people read: a hash is for programs. */
static void put_times(const struct query_view *v, const struct query_style *style,
		      struct strbuf *out)
{
	static const struct column columns[] = {
		{ "query", "Query", COLUMN_TEXT },
		{ "cardinality", "Rows", COLUMN_COUNT, .thousands = true },
		{ "plan", "Plan", COLUMN_TEXT },
		{ "kept", "Kept", COLUMN_COUNT },
		{ "made", "Made", COLUMN_COUNT },
		{ "time", "Time", COLUMN_DURATION, .digits = 3 },
		{ "sigma", "σ", COLUMN_DURATION, .digits = 2 },
		{ "cpu", "CPU", COLUMN_DURATION, .digits = 3 },
		{ "io", "I/O", COLUMN_DURATION, .digits = 3 },
		{ "elapsed", "Elapsed", COLUMN_DURATION, .digits = 3 },
		{ "calculated", "Time_calc", COLUMN_DURATION, .digits = 3 },
		{ "time_of_all", "Time of all", COLUMN_DURATION, .digits = 3 },
		{ "elapsed_of_all", "Elapsed of all", COLUMN_DURATION, .digits = 3 },
		{ "read", "Read", COLUMN_PERCENT },
		{ "dropped", "Dropped by", COLUMN_TEXT },
	};
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	struct query_rows rows;
	size_t most = query_most(style, QUERY_MOST_AT);
	query_rows_of(v, &rows);
	for (size_t i = 0; i < rows.list.count && i < most; i++) {
		const struct query_row *row = &rows.list.items[i];
		const struct ttp_figure *const figures[] = {
			&row->cpu,
			&row->io,
			&row->times[TTP_MEASURED],
			&row->times[TTP_CALC],
			&row->unfiltered[rows.time],
			&row->unfiltered[TTP_MEASURED],
		};
		table_add_text(t, row->name);
		if (row->cardinality)
			table_add_count(t, (int64_t)row->cardinality);
		else
			table_add_absent(t);
		table_add_text(t, *row->letter ? row->letter : NULL);
		table_add_count(t, (int64_t)row->kept);
		table_add_count(t, (int64_t)row->made);
		table_add_number(t, row->time.present ? row->time.median_ns : NAN);
		table_add_number(t, row->sigma_ns);
		/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
		for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
			table_add_number(t, figures[k]->present ? figures[k]->median_ns : NAN);
		table_add_number(t, row->read_share);
		table_add_text(t, row->dropped_by ? row->dropped_by : "");
	}
	strbuf_printf(out,
		      "\n## Times\n\nTime: %s; median over the executions kept. Of all: over "
		      "all that ended, dropped or not. Read: bytes from devices, of those of its "
		      "tables, by these.\n\n",
		      query_time_meaning(rows.time));
	put_table(t, out);
	if (rows.list.count > most)
		strbuf_printf(out, "And %zu more.\n\n", rows.list.count - most);
	query_rows_release(&rows);
}

static void put_plans(const struct query_view *v, struct strbuf *out)
{
	struct query_rows rows;
	query_rows_of(v, &rows);
	strbuf_puts(out, "## Plans\n\n```text");
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	put_query_plans(v, &rows, &(struct query_style){ .style.width = 100 }, &text);
	/* its own heading is the section's; a fence within it would end the block */
	const char *at = strchr(strbuf_text(&text) + (text.length > 0), '\n');
	for (; at && *at; at++)
		strbuf_putc(out, (char)(*at == '`' ? '\'' : *at));
	strbuf_puts(out, "```\n\n");
	query_rows_release(&rows);
}

void query_markdown(const struct query_view *v, const struct query_style *given, struct strbuf *out)
{
	struct query_style style = query_normal_style(given);
	struct query_item items[QUERY_ITEMS];
	struct strbuf text = { 0 };
	size_t from = out->length;
	char server[WORDS];
	query_server(v->data, server);
	strbuf_puts(out, "# Query times: ");
	put_escaped(v->data->experiment_name ? v->data->experiment_name : "queries", out);
	strbuf_puts(out, " on ");
	put_escaped(server, out);
	strbuf_puts(out, "\n\n");
	if (query_unfit(v))
		strbuf_printf(&text, "No paragraphs for a paper, as %s.\n", query_unfit(v));
	else
		query_paragraphs(v, &text);
	put_escaped(strbuf_text(&text), out);
	strbuf_release(&text);
	query_items(v, items);
	strbuf_puts(out, "\n## What to report\n\n");
	for (size_t i = 0; i < QUERY_ITEMS; i++) {
		strbuf_printf(out, "%zu. **%s**: ", i + 1, items[i].name);
		put_escaped(items[i].text, out);
		strbuf_putc(out, '\n');
	}
	query_items_release(items);
	put_times(v, &style, out);
	struct table *dropped = query_dropped_table(v, "Query", "Execution", "Dropped by");
	if (dropped) {
		strbuf_puts(out, "## Executions dropped\n\n");
		put_table(dropped, out);
	}
	struct table *checks =
		query_checks_table(v, style.checks ? QUERY_ALL_CHECKS : QUERY_FIRED_CHECKS);
	strbuf_puts(out, "## Sanity checks\n\n");
	if (checks)
		put_table(checks, out);
	else
		strbuf_puts(out, "None fired.\n\n");
	if (style.plans)
		put_plans(v, out);
	if (style.model) {
		struct query_relation model[TTP_RELATIONS];
		query_model_of(v, model);
		strbuf_puts(out, "## The causal model\n\n");
		put_table(query_model_table(model), out);
		put_model_summary(model, out);
		strbuf_putc(out, '\n');
	}
	style_finish(&(struct style){ 0 }, out, from);
}
