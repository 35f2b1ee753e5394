/* Prints a made-up run of queries in a form of report/: what the schema check reads, and people who
 * change the layout.
 * usage: query-sample [text|full|json|csv|executions|markdown|paragraphs|compare|compare-json
 *                      [RUN [WIDTH [ascii]]]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "query-fixture.h"

static void put_csv(struct table *t, struct strbuf *out)
{
	table_render(t, TABLE_CSV, NULL, out);
	table_free(t);
}

/* Against the whole one. */
static bool put_comparison(const struct query_fixture *f, bool json,
			   const struct query_style *style, struct strbuf *out)
{
	struct query_fixture base;
	struct ttp_comparison c;
	if (!query_fixture_make(&base, "whole"))
		return false;
	ttp_compare(&base.data, &base.result, &f->data, &f->result, TTP_TIMES, &c);
	if (json)
		query_compare_json(&base.view, &f->view, &c, out);
	else
		query_compare_text(&base.view, &f->view, &c, style, out);
	ttp_comparison_release(&c);
	query_fixture_release(&base);
	return true;
}

int main(int argc, char **argv)
{
	struct query_fixture f;
	struct strbuf out = { 0 };
	const char *form = argc > 1 ? argv[1] : "text";
	bool full = !strcmp(form, "full"), fine = true;
	struct query_style style = { .style = { .width = argc > 3 ? (size_t)atoi(argv[3]) : 0,
						.colour = isatty(1),
						.ascii = argc > 4 },
				     .all = full,
				     .plans = full,
				     .model = full,
				     .checks = full };
	if (!query_fixture_make(&f, argc > 2 ? argv[2] : "whole"))
		return 2;
	if (!strcmp(form, "json"))
		query_json(&f.view, &out);
	else if (!strcmp(form, "csv"))
		put_csv(query_table(&f.view), &out);
	else if (!strcmp(form, "executions"))
		put_csv(query_executions_table(&f.view), &out);
	else if (!strcmp(form, "markdown"))
		query_markdown(&f.view, &style, &out);
	else if (!strcmp(form, "paragraphs"))
		query_paragraphs(&f.view, &out);
	else if (!strncmp(form, "compare", 7))
		fine = put_comparison(&f, !strcmp(form, "compare-json"), &style, &out);
	else
		query_text(&f.view, &style, &out);
	fputs(strbuf_text(&out), stdout);
	strbuf_release(&out);
	query_fixture_release(&f);
	return fine ? 0 : 2;
}
