/* Reports of duets for people and programs. Everything is appended to `out`. */
#ifndef TARE_REPORT_DUET_REPORT_H
#define TARE_REPORT_DUET_REPORT_H

#include "base/strbuf.h"
#include "protocol/duet/pool.h"
#include "record/machine.h"
#include "report/core/table.h"

/* A stored run and its verdict, borrowed. */
struct duet_view {
	const struct run *run;
	const struct machine *machine; /* NULL or without facts: unknown */
	const struct duet *duet;       /* NULL: nothing is stored yet */
	const struct duet_result *result;
};

/* The answer and what it depends on; details: also all the rest. */
void duet_text(const struct duet_view *v, const struct style *style, bool details,
	       struct strbuf *out);
void duet_json(const struct duet_view *v, struct strbuf *out); /* docs/schema/duet.schema.json */
/* A row per execution of every duet. The caller renders (CSV, ...) and frees it. */
struct table *duet_parts_table(const struct duet_view *views, size_t count);
/* A row per counted pair, for people. */
struct table *duet_pairs_table(const struct duet_view *v);
/* A short summary, for a pull request. */
void duet_markdown(const struct duet_view *v, struct strbuf *out);

/* "new is 1.8 % faster than old", "No difference shown: new / old = 1.0004 [0.998, 1.003]": the
 * answer of one side, without a full stop. */
void duet_sentence(const struct duet_view *v, const struct duet_verdict *side, struct strbuf *out);
/* The answer to --fail-if-slower; nothing if it was not asked. */
void duet_gate_sentence(const struct duet_view *v, const struct duet_verdict *side,
			struct strbuf *out);
/* "Both ran in turns on CPU 1, so both met the same CPU speed (which varied by 11 %)." */
void duet_way_sentence(const struct duet_view *v, struct strbuf *out);
/* From the beginning of the run to the end of the last execution; NaN: unknown. */
double duet_elapsed_ns(const struct duet_view *v);

/* Several duets: a row for each side of each, and the pooled ratio if all compare the same two.
 * `pool` has one entry per view in the order of the views; NULL: they do not. */
void duet_compare_text(const struct duet_view *views, size_t count, const struct duet_pool *pool,
		       const struct style *style, struct strbuf *out);
/* The pooled answer, in one or two sentences. */
void duet_pool_sentence(const struct duet_view *first, const struct duet_pool *pool,
			struct strbuf *out);
/* The rows, and the pooled ratio as the last; for data and Markdown. */
struct table *duet_compare_table(const struct duet_view *views, size_t count,
				 const struct duet_pool *pool);

#endif
