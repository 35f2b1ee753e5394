/* Runs of queries for people and programs. Everything is appended to `out`. */
#ifndef TARE_REPORT_QUERY_REPORT_H
#define TARE_REPORT_QUERY_REPORT_H

#include "base/strbuf.h"
#include "protocol/ttp/compare.h"
#include "protocol/ttp/ttp.h"
#include "record/execution.h"
#include "record/machine.h"
#include "record/query.h"
#include "report/core/table.h"

/* A stored run and what the protocol says of it, borrowed. */
struct query_view {
	const struct run *run;
	const struct machine *machine; /* NULL or without facts: not known */
	const struct query_run *data;
	const struct ttp_options *options;
	const struct ttp_result *result;
};

struct query_style {
	int width;    /* 0: 80 */
	size_t lines; /* of a screen that the times shall fit into; 0: none */
	bool colour, ascii;
	bool all;    /* every Q@C, not the first 60, and every dropped execution by itself */
	bool plans;  /* plan trees, and their changes with the cardinality */
	bool model;  /* the causal model */
	bool checks; /* every sanity check with its counts, also those that did not fire, measures
		      * that never vary, deviations */
};

void query_text(const struct query_view *v, const struct query_style *style, struct strbuf *out);
void query_json(const struct query_view *v, struct strbuf *out); /* docs/schema/query.schema.json */
/* A row per Q@C: the caller renders and frees (CSV, Markdown, ...). */
struct table *query_table(const struct query_view *v);
/* A row per execution: the 17 measures and what was dropped by which check. Its CSV is what
 * `tare query import` reads. */
struct table *query_executions_table(const struct query_view *v);
/* The whole report as Markdown: section 9's nine items, tables, and the two paragraphs if the run
 * is complete and something of it was kept. */
void query_markdown(const struct query_view *v, const struct query_style *style,
		    struct strbuf *out);
/* The two paragraphs of section 9, ready to paste. */
void query_paragraphs(const struct query_view *v, struct strbuf *out);

void query_compare_text(const struct query_view *base, const struct query_view *other,
			const struct ttp_comparison *c, const struct query_style *style,
			struct strbuf *out);
void query_compare_json(const struct query_view *base, const struct query_view *other,
			const struct ttp_comparison *c, struct strbuf *out);

/* One short paragraph and a table of where the time of a Q@C's executions went: the mean ledger of
 * them. */
void query_ledger_text(const struct execution *const *executions, size_t count,
		       const struct query_style *style, struct strbuf *out);

#endif
