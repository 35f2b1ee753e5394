/* Runs of queries, with the mean ledger of each Q@C. */
#include "cmd/kinds.h"
#include "cmd/view.h"
#include "protocol/ttp/compare.h"

typedef ARRAY(struct page_query_ledger) ledger_list;

/* Whether it is one of those kept. */
static bool is_kept(const struct query_at *at, const uint32_t *fired, int64_t execution)
{
	for (size_t i = 0; i < at->executions.count; i++)
		if (at->executions.items[i].raw == execution)
			return !fired[i];
	return false;
}

static int add_ledger(struct lab *lab, const struct loaded_run *l, const struct query_at *at,
		      const uint32_t *fired, ledger_list *into, struct error *err)
{
	struct page_query_ledger mean = { .query = at->query, .cardinality = at->cardinality };
	execution_list list = { 0 };
	uint64_t n = 0;
	int failed = lab_get_query_ledger(lab, l->run.id, at->query, at->cardinality, &list, err);
	for (size_t i = 0; i < list.count; i++) {
		const struct execution *x = &list.items[i];
		if (x->ledger.present && is_kept(at, fired, x->id)) {
			for (int c = 0; c < LEDGER_CAUSES; c++)
				mean.wall_ns[c] += x->ledger.wall_ns[c];
			mean.et_ns += x->et_ns;
			n++;
		}
		execution_release(&list.items[i]);
	}
	array_release(&list);
	for (int c = 0; n && c < LEDGER_CAUSES; c++)
		mean.wall_ns[c] = (mean.wall_ns[c] + n / 2) / n;
	if (n) {
		mean.et_ns = (mean.et_ns + n / 2) / n;
		array_push(into, mean);
	}
	return failed;
}

static int add_ledgers(struct lab *lab, const struct loaded_run *l, ledger_list *into,
		       struct error *err)
{
	const uint32_t *fired = l->ttp.fired;
	if (l->queries.imported)
		return 0;
	for (size_t i = 0; i < l->queries.at.count && into->count < PAGE_QUERY_LEDGERS; i++) {
		const struct query_at *at = &l->queries.at.items[i];
		if (!l->ttp.at[i].drop && add_ledger(lab, l, at, fired, into, err))
			return -1;
		fired += at->executions.count;
	}
	return 0;
}

void page_queries_compare(struct page *p, size_t first, const struct loaded_run *base,
			  const struct loaded_run *other)
{
	const struct query_view a = loaded_queries(base), b = loaded_queries(other);
	struct ttp_comparison c = { 0 };
	ttp_compare(&base->queries, &base->ttp, &other->queries, &other->ttp, TTP_TIMES, &c);
	page_compare_queries(p, first, page_section_count(p) - 1, &a, &b, &c);
	ttp_comparison_release(&c);
}

int page_queries_add(struct page *p, struct lab *lab, struct loaded_run *l, size_t runs,
		     struct error *err)
{
	const struct query_view view = loaded_queries(l);
	ledger_list ledgers = { 0 };
	(void)runs;
	int failed = l->stored && add_ledgers(lab, l, &ledgers, err);
	if (!failed)
		page_add_query(p, &view, ledgers.items, ledgers.count);
	array_release(&ledgers);
	return failed ? -1 : 0;
}
