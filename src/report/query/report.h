/* Reports of runs of queries for people and programs. Everything is appended to `out`. */
#ifndef TARE_REPORT_QUERY_REPORT_H
#define TARE_REPORT_QUERY_REPORT_H

#include "base/strbuf.h"
#include "protocol/ttp/compare.h"
#include "protocol/ttp/ttp.h"
#include "record/execution.h"
#include "record/machine.h"
#include "record/query.h"
#include "report/core/table.h"
#include "report/time/report.h"

/* A stored run and the protocol's result, borrowed. */
struct query_view {
	const struct run *run;
	const struct machine *machine; /* NULL or without facts: unknown */
	const struct query_run *data;
	const struct ttp_options *options;
	const struct ttp_result *result;
	/* Who used the CPUs meanwhile, as put_query_others() says it; may be NULL. */
	const char *others;
};

struct query_style {
	struct style style; /* lines: of the screen that the times should fit */
	bool all;	    /* every Q@C, not only the first 60, and every dropped execution */
	bool plans;	    /* plan trees, and how they change with the cardinality */
	bool model;	    /* the causal model */
	bool checks; /* every sanity check with its counts, even if it did not fire, measures that
			never vary, deviations */
};

void query_text(const struct query_view *v, const struct query_style *style, struct strbuf *out);
void query_json(const struct query_view *v, struct strbuf *out); /* docs/schema/query.schema.json */
/* A row per Q@C. The caller renders (CSV, Markdown, ...) and frees it. */
struct table *query_table(const struct query_view *v);
/* A row per execution: 17 measures and the checks that dropped it. `tare query import` reads its
 * CSV. */
struct table *query_executions_table(const struct query_view *v);
/* The complete report as Markdown: the nine items of section 9, tables, and the two paragraphs if
 * the run is complete and something was kept. */
void query_markdown(const struct query_view *v, const struct query_style *style,
		    struct strbuf *out);
/* The two paragraphs of section 9, ready to paste. */
void query_paragraphs(const struct query_view *v, struct strbuf *out);

void query_compare_text(const struct query_view *base, const struct query_view *other,
			const struct ttp_comparison *c, const struct query_style *style,
			struct strbuf *out);
void query_compare_json(const struct query_view *base, const struct query_view *other,
			const struct ttp_comparison *c, struct strbuf *out);

/* "autovacuum 62 ms, dpkg 3.0 ms": what used most CPU time beside the query and tare, in the mean
 * of these executions. Nothing is appended if it was not seen, or is below 1 % of the time. */
void put_query_others(const struct run_view *view, struct strbuf *out);

/* A short paragraph and a table of where the time of a Q@C's executions went: their mean ledger. */
void query_ledger_text(const struct execution *const *executions, size_t count,
		       const struct query_style *style, struct strbuf *out);

#endif
