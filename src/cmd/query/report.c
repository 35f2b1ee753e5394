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
#include "run/find.h"

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
		LAB_OPTION(d->lab, "the lab"),
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

/* ---- printed ---- */

static struct query_style style_of(const struct query_display *d)
{
	return (struct query_style){ .style = cmd_plot_style(),
				     .all = d->all,
				     .plans = d->plans,
				     .model = d->model,
				     .checks = d->checks };
}

void query_put(const struct loaded_run *l, enum run_form_as as, bool executions,
	       const struct query_display *d, struct strbuf *out)
{
	struct query_view v = loaded_queries(l);
	const struct query_style style = style_of(d);
	v.others = d->others;
	if (as == RUN_TEXT) {
		query_text(&v, &style, out);
	} else if (as == RUN_JSON) {
		query_json(&v, out);
	} else if (as == RUN_MARKDOWN) {
		query_markdown(&v, &style, out);
	} else {
		struct table *t = executions ? query_executions_table(&v) : query_table(&v);
		table_render(t, TABLE_CSV, NULL, out);
		table_free(t);
	}
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

int query_find_at(const struct query_run *q, const char *text, const struct query_at **at,
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

static int print_ledger(struct lab *lab, const struct loaded_run *l, const struct query_display *d,
			struct error *err)
{
	const struct query_style style = style_of(d);
	const struct query_at *at;
	execution_list list = { 0 };
	struct strbuf out = { 0 };
	if (query_find_at(&l->queries, d->ledger, &at, err) ||
	    lab_get_query_ledger(lab, l->run.id, at->query, at->cardinality, &list, err))
		return -1;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	const struct execution **kept = xcalloc(list.count + 1, sizeof *kept);
	size_t n = ttp_kept_ledgers(&l->queries, &l->ttp, (size_t)(at - l->queries.at.items),
				    list.items, list.count, kept);
	if (!n && list.count) {
		/* what spoiled a Q@C that was dropped is in its ledger, too */
		for (size_t i = 0; i < list.count; i++)
			if (list.items[i].ledger.present)
				kept[n++] = &list.items[i];
		if (n)
			strbuf_puts(
				&out,
				"None of its executions was kept: this is the mean of all of them.\n\n");
	}
	if (n)
		query_ledger_text(kept, n, &style, &out);
	else
		error_set(err, EXIT_ENVIRONMENT, "run %" PRId64 " has no ledger of query %" PRIu32,
			  l->run.id, at->query);
	cmd_print(&out);
	free(kept);
	for (size_t i = 0; i < list.count; i++)
		execution_release(&list.items[i]);
	array_release(&list);
	return n ? 0 : -1;
}

int query_print(struct lab *lab, const struct loaded_run *l, const struct query_display *d,
		bool quiet, struct error *err)
{
	const struct {
		const char *path;
		enum run_form_as as;
		bool executions;
	} all[] = { { quiet || query_to_stdout(d) ? NULL : "-", RUN_TEXT },
		    { d->export_json, RUN_JSON },
		    { d->export_csv, RUN_CSV },
		    { d->export_executions, RUN_CSV, true },
		    { d->export_markdown, RUN_MARKDOWN },
		    { d->json ? "-" : NULL, RUN_JSON },
		    { d->csv ? "-" : NULL, RUN_CSV },
		    { d->executions ? "-" : NULL, RUN_CSV, true },
		    { d->markdown ? "-" : NULL, RUN_MARKDOWN } };
	if (d->ledger)
		return print_ledger(lab, l, d, err);
	int failed = 0;
	SCOPED(strbuf_release) struct strbuf others = { 0 };
	struct query_display named = *d;
	if (!l->ttp.at_kept && l->run.id && !l->queries.imported) {
		/* who was in the way; what is not stored cannot be told */
		SCOPED(query_executions_release) struct query_executions x = { 0 };
		struct error ignored = ERROR_INIT;
		if (!query_executions_load(lab, l, NULL, &x, &ignored)) {
			const struct run_view view = query_executions_view(&x);
			put_query_others(&view, &others);
			named.others = strbuf_text(&others);
		}
	}
	for (size_t i = 0; i < sizeof all / sizeof *all && !failed; i++) {
		struct strbuf out = { 0 };
		if (!all[i].path)
			continue;
		query_put(l, all[i].as, all[i].executions, &named, &out);
		failed = file_write(all[i].path, strbuf_text(&out), out.length, err);
		strbuf_release(&out);
	}
	if (!failed && d->paragraphs) {
		const struct query_view v = loaded_queries(l);
		struct strbuf out = { 0 };
		query_paragraphs(&v, &out);
		cmd_print(&out);
	}
	return failed;
}

static int report(void *options, const struct cmd_args *args, struct error *err)
{
	const struct query_display *d = options;
	const text_list *operands = &args->operands;
	SCOPED(loaded_run_release) struct loaded_run l = { 0 };
	const struct load_options how = { .paper = d->paper };
	int64_t id;
	if (query_display_check(d, err))
		return -1;
	if (operands->count > 1)
		return error_set(err, EXIT_USAGE, "query report: one run, not %zu",
				 operands->count);
	struct lab *lab = lab_access_open(d->lab, err);
	int failed = !lab ||
		     run_find(lab, operands->count ? operands->items[0] : "last",
			      LAB_OF(SUBJECT_QUERY), &id, err) ||
		     run_load(&l, lab, id, &how, err) || query_print(lab, &l, d, false, err);
	return failed ? -1 : EXIT_DONE;
}

int query_report(struct lab_access *lab, int argc, char **argv)
{
	struct query_display d = { .lab = lab };
	FREED spec_list specs = { 0 };
	query_display_specs(&specs, &d);
	cmd_add_specs(&specs, &(struct option_spec){ 0 }, 1);
	int code = cmd_run(
		"tare query report [OPTIONS] [RUN]",
		"A stored run of queries (default: the newest), judged by the Tucson Timing\n"
		"Protocol: times by Q@C, what was dropped and why, what they are worth.\n",
		specs.items, argc, argv, report, &d);
	return code;
}
