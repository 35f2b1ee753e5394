/* tare query report: a stored run of queries, judged and printed. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "cmd/cmd.h"
#include "cmd/query/query.h"

#define FLOOR_NS 100000u /* what is shorter is to a large part the way to the server and back */
#define FLOOR_TICKS 2	 /* of data in ticks: the paper's */

void query_display_specs(spec_list *into, struct query_display *d)
{
	const struct option_spec specs[] = {
		{ 0, "json", OPTION_FLAG, &d->json, NULL, "JSON on standard output, nothing else" },
		{ 0, "csv", OPTION_FLAG, &d->csv, NULL, "the same: CSV, a row per Q@C" },
		{ 0, "executions", OPTION_FLAG, &d->executions, NULL,
		  "the same: CSV, a row per execution, as 'import' reads it" },
		{ 0, "markdown", OPTION_FLAG, &d->markdown, NULL, "the same: Markdown" },
		{ 0, "paragraphs", OPTION_FLAG, &d->paragraphs, NULL,
		  "the same: the two paragraphs for a paper" },
		{ 'a', "all", OPTION_FLAG, &d->all, NULL,
		  "every Q@C, every dropped execution by itself" },
		{ 0, "plans", OPTION_FLAG, &d->plans, NULL,
		  "the plans, and where they change with the cardinality" },
		{ 0, "model", OPTION_FLAG, &d->model, NULL, "the causal model's 73 correlations" },
		{ 0, "checks", OPTION_FLAG, &d->checks, NULL,
		  "every sanity check, also those that did not fire; deviations" },
		{ 0, "ledger", OPTION_TEXT, &d->ledger, "Q[@CARD]",
		  "where the time of that query's executions went" },
		{ 0, "paper", OPTION_FLAG, &d->paper, NULL,
		  "judge word by word as the paper does: one CPU, ticks of 10 ms" },
		{ 0, "export-json", OPTION_TEXT, &d->export_json, "FILE", "write JSON",
		  .rare = true },
		{ 0, "export-csv", OPTION_TEXT, &d->export_csv, "FILE", "write CSV", .rare = true },
		{ 0, "export-markdown", OPTION_TEXT, &d->export_markdown, "FILE", "write Markdown",
		  .rare = true },
		{ 0, "export-executions", OPTION_TEXT, &d->export_executions, "FILE",
		  "write CSV, a row per execution", .rare = true },
		{ 0, "lab", OPTION_TEXT, &d->lab->file, "FILE", "the lab (default: your own)" },
	};
	cmd_add_specs(into, specs, sizeof specs / sizeof *specs);
}

int query_display_check(const struct query_display *d, struct error *err)
{
	if (d->json + d->csv + d->executions + d->markdown + d->paragraphs + (d->ledger != NULL) >
	    1)
		return error_set(err, EXIT_USAGE,
				 "query: --json, --csv, --executions, --markdown, --paragraphs and "
				 "--ledger exclude each other");
	return 0;
}

bool query_to_stdout(const struct query_display *d)
{
	const char *paths[] = { d->export_json, d->export_csv, d->export_markdown,
				d->export_executions };
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		if (paths[i] && strcmp(paths[i], "-") == 0)
			return true;
	return d->json || d->csv || d->executions || d->markdown || d->paragraphs;
}

/* ---- loaded ---- */

/* Measured elsewhere, with a clock that has no more than ticks. */
static bool is_in_ticks(const struct query_run *q)
{
	bool ticks = q->imported && q->tick_ns;
	for (size_t i = 0; ticks && i < q->at.count; i++)
		for (size_t k = 0; ticks && k < q->at.items[i].executions.count; k++)
			ticks = q->at.items[i].executions.items[k].measured_ns % q->tick_ns == 0;
	return ticks;
}

int query_load(struct query_loaded *into, struct lab *lab, int64_t run, bool paper,
	       struct error *err)
{
	*into = (struct query_loaded){ 0 };
	if (cmd_load_run(lab, run, &into->run, &into->machine, err) ||
	    lab_get_query_run(lab, run, &into->data, err)) {
		query_loaded_release(into);
		return -1;
	}
	into->options = (struct ttp_options){ .form = paper ? TTP_PAPER : TTP_ADAPTED,
					      .tick_ns = into->data.tick_ns,
					      .floor_ns = is_in_ticks(&into->data)
								  ? FLOOR_TICKS * into->data.tick_ns
								  : FLOOR_NS };
	ttp_judge(&into->data, &into->options, &into->result);
	return 0;
}

struct query_view query_loaded_view(const struct query_loaded *l)
{
	return (struct query_view){ .run = &l->run,
				    .machine = l->machine.facts.count ? &l->machine : NULL,
				    .data = &l->data,
				    .options = &l->options,
				    .result = &l->result };
}

void query_loaded_release(struct query_loaded *l)
{
	run_release(&l->run);
	machine_release(&l->machine);
	query_run_release(&l->data);
	ttp_result_release(&l->result);
	*l = (struct query_loaded){ 0 };
}

int query_find(struct lab *lab, const char *text, int64_t *id, struct error *err)
{
	if (text)
		return lab_find_run(lab, text, id, err);
	int failed = cmd_newest_run(lab, SUBJECT_QUERY, false, id, err);
	if (failed || *id)
		return failed;
	error_set(err, EXIT_USAGE, "there is no run of 'tare query' in %s", lab_path(lab));
	return error_hint(err, "'tare query quick' makes one, in a minute");
}

/* ---- printed ---- */

enum query_as { AS_JSON, AS_CSV, AS_EXECUTIONS, AS_MARKDOWN, AS_PARAGRAPHS };

static void render_table(struct table *t, struct strbuf *out)
{
	table_render(t, TABLE_CSV, NULL, out);
	table_free(t);
}

static int write_as(const struct query_view *v, enum query_as as, const char *path,
		    const struct query_style *style, struct error *err)
{
	struct strbuf out = { 0 };
	switch (as) {
	case AS_JSON:
		query_json(v, &out);
		break;
	case AS_CSV:
		render_table(query_table(v), &out);
		break;
	case AS_EXECUTIONS:
		render_table(query_executions_table(v), &out);
		break;
	case AS_MARKDOWN:
		query_markdown(v, style, &out);
		break;
	case AS_PARAGRAPHS:
		query_paragraphs(v, &out);
		break;
	}
	int failed = file_write(path, strbuf_text(&out), out.length, err);
	strbuf_release(&out);
	return failed;
}

static int write_exports(const struct query_view *v, const struct query_display *d,
			 const struct query_style *style, struct error *err)
{
	const struct {
		const char *path;
		enum query_as as;
	} exports[] = { { d->export_json, AS_JSON },
			{ d->export_csv, AS_CSV },
			{ d->export_executions, AS_EXECUTIONS },
			{ d->export_markdown, AS_MARKDOWN },
			{ d->json ? "-" : NULL, AS_JSON },
			{ d->csv ? "-" : NULL, AS_CSV },
			{ d->executions ? "-" : NULL, AS_EXECUTIONS },
			{ d->markdown ? "-" : NULL, AS_MARKDOWN },
			{ d->paragraphs ? "-" : NULL, AS_PARAGRAPHS } };
	for (size_t i = 0; i < sizeof exports / sizeof *exports; i++)
		if (exports[i].path && write_as(v, exports[i].as, exports[i].path, style, err))
			return -1;
	return 0;
}

static struct query_style style_of(const struct query_display *d)
{
	return (struct query_style){ .width = cmd_columns(),
				     .lines = (size_t)cmd_lines(),
				     .colour = cmd_colour(),
				     .ascii = !cmd_utf8(),
				     .all = d->all,
				     .plans = d->plans,
				     .model = d->model,
				     .checks = d->checks };
}

static bool is_called(const struct query_run *q, uint32_t query, const char *name, size_t length)
{
	char number[16];
	snprintf(number, sizeof number, "%" PRIu32, query);
	if (strlen(number) == length && strncmp(number, name, length) == 0)
		return true;
	for (size_t i = 0; i < q->texts.count; i++)
		if (q->texts.items[i].query == query && q->texts.items[i].name &&
		    strlen(q->texts.items[i].name) == length &&
		    strncmp(q->texts.items[i].name, name, length) == 0)
			return true;
	return false;
}

/* "3" or "join" is the query at its largest cardinality, "join@20000" at that one. */
static int find_at(const struct query_run *q, const char *text, const struct query_at **at,
		   struct error *err)
{
	const char *sign = strrchr(text, '@');
	long cardinality = 0;
	bool given = sign && integer_parse(sign + 1, 0, LONG_MAX, &cardinality);
	size_t length = given ? (size_t)(sign - text) : strlen(text);
	*at = NULL;
	for (size_t i = 0; i < q->at.count; i++) {
		const struct query_at *a = &q->at.items[i];
		if (is_called(q, a->query, text, length) &&
		    (!given || a->cardinality == (uint64_t)cardinality))
			*at = a;
	}
	if (*at)
		return 0;
	error_set(err, EXIT_USAGE, "query: the run has no Q@C '%.60s'", text);
	return error_hint(err, "a query's name or number, or with a cardinality as 3@20000");
}

static int print_ledger(struct lab *lab, const struct query_loaded *l,
			const struct query_display *d, struct error *err)
{
	const struct query_style style = style_of(d);
	const struct query_at *at;
	execution_list list = { 0 };
	struct strbuf out = { 0 };
	if (find_at(&l->data, d->ledger, &at, err) ||
	    lab_get_query_ledger(lab, l->run.id, at->query, at->cardinality, &list, err))
		return -1;
	ARRAY(const struct execution *) kept = { 0 };
	for (size_t i = 0; i < list.count; i++)
		if (list.items[i].ledger.present)
			/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
			array_push(&kept, &list.items[i]);
	bool any = kept.count > 0;
	if (any)
		query_ledger_text(kept.items, kept.count, &style, &out);
	else
		error_set(err, EXIT_ENVIRONMENT, "run %" PRId64 " has no ledger of query %" PRIu32,
			  l->run.id, at->query);
	fputs(strbuf_text(&out), stdout);
	strbuf_release(&out);
	array_release(&kept);
	for (size_t i = 0; i < list.count; i++)
		execution_release(&list.items[i]);
	array_release(&list);
	return any ? 0 : -1;
}

int query_print(struct lab *lab, const struct query_loaded *l, const struct query_display *d,
		bool quiet, struct error *err)
{
	const struct query_view view = query_loaded_view(l);
	const struct query_style style = style_of(d);
	if (d->ledger)
		return print_ledger(lab, l, d, err);
	if (!quiet && !d->silent && !query_to_stdout(d)) {
		struct strbuf out = { 0 };
		query_text(&view, &style, &out);
		fputs(strbuf_text(&out), stdout);
		fflush(stdout);
		strbuf_release(&out);
	}
	return write_exports(&view, d, &style, err);
}

int query_show_stored(struct lab *lab, int64_t run, const struct query_display *d,
		      struct error *err)
{
	struct query_loaded l = { 0 };
	int failed = query_load(&l, lab, run, d->paper, err) || query_print(lab, &l, d, false, err);
	query_loaded_release(&l);
	return failed;
}

static int report(const text_list *operands, const struct query_display *d, struct error *err)
{
	struct lab *lab;
	int64_t id;
	if (query_display_check(d, err))
		return -1;
	if (operands->count > 1)
		return error_set(err, EXIT_USAGE, "query report: one run, not %zu",
				 operands->count);
	lab = lab_access_open(d->lab, err);
	return !lab || query_find(lab, operands->count ? operands->items[0] : NULL, &id, err) ||
			       query_show_stored(lab, id, d, err)
		       ? -1
		       : 0;
}

int query_report(struct lab_access *lab, int argc, char **argv)
{
	struct query_display d = { .lab = lab };
	spec_list specs = { 0 };
	text_list operands = { 0 };
	int code = EXIT_DONE;
	query_display_specs(&specs, &d);
	cmd_add_specs(&specs, &(struct option_spec){ 0 }, 1);
	if (cmd_options(
		    "tare query report [OPTIONS] [RUN]",
		    "A stored run of queries (default: the newest), judged by the Tucson Timing\n"
		    "Protocol: times by Q@C, what was dropped and why, what they are worth.\n",
		    specs.items, argc, argv, &operands, &code)) {
		struct error err = ERROR_INIT;
		if (report(&operands, &d, &err))
			code = cmd_fail(&err);
	}
	array_release(&operands);
	array_release(&specs);
	return code;
}
