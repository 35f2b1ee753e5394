/* Runs of queries, with the mean ledger of each Q@C. */
#include <stdlib.h>

#include "cmd/kinds.h"
#include "cmd/view.h"
#include "protocol/ttp/compare.h"

typedef ARRAY(struct ttp_ledger) ledger_list;

static int add_ledger(struct lab *lab, const struct loaded_run *l, size_t at, ledger_list *into,
		      struct error *err)
{
	const struct query_at *a = &l->queries.at.items[at];
	struct ttp_ledger mean = { .query = a->query, .cardinality = a->cardinality };
	FREED execution_list list = { 0 };
	int failed = lab_get_query_ledger(lab, l->run.id, a->query, a->cardinality, &list, err);
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	const struct execution **kept = xcalloc(list.count + 1, sizeof *kept);
	size_t n = ttp_kept_ledgers(&l->queries, &l->ttp, at, list.items, list.count, kept);
	if (n) {
		ttp_mean_ledger(kept, n, &mean);
		array_push(into, mean);
	}
	free(kept);
	for (size_t i = 0; i < list.count; i++)
		execution_release(&list.items[i]);
	return failed;
}

void page_queries_compare(struct page *p, size_t first, const struct loaded_run *base,
			  const struct loaded_run *other)
{
	const struct query_view a = loaded_queries(base), b = loaded_queries(other);
	SCOPED(ttp_comparison_release) struct ttp_comparison c = { 0 };
	ttp_compare(&base->queries, &base->ttp, &other->queries, &other->ttp, TTP_TIMES, &c);
	page_compare_queries(p, first, page_section_count(p) - 1, &a, &b, &c);
}

int page_queries_add(struct page *p, struct lab *lab, struct loaded_run *l, size_t runs,
		     struct error *err)
{
	const struct query_view view = loaded_queries(l);
	FREED ledger_list ledgers = { 0 };
	(void)runs;
	int failed = 0;
	for (size_t i = 0; l->stored && !l->queries.imported && i < l->queries.at.count &&
			   ledgers.count < PAGE_QUERY_LEDGERS && !failed;
	     i++)
		failed = !l->ttp.at[i].drop && add_ledger(lab, l, i, &ledgers, err);
	if (!failed)
		page_add_query(p, &view, ledgers.items, ledgers.count);
	return failed ? -1 : 0;
}
