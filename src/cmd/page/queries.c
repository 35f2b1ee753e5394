/* Runs of queries, with the mean ledger of each Q@C. */
#include "cmd/cmd.h"
#include "cmd/page/page.h"
#include "cmd/query/query.h"

typedef ARRAY(struct page_query_ledger) ledger_list;

/* Whether it is one of those kept. */
static bool is_kept(const struct query_at *at, const uint32_t *fired, int64_t execution)
{
	for (size_t i = 0; i < at->executions.count; i++)
		if (at->executions.items[i].raw == execution)
			return !fired[i];
	return false;
}

static int add_ledger(struct lab *lab, const struct query_loaded *l, const struct query_at *at,
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

static int add_ledgers(struct lab *lab, const struct query_loaded *l, ledger_list *into,
		       struct error *err)
{
	const uint32_t *fired = l->result.fired;
	if (l->data.imported)
		return 0;
	for (size_t i = 0; i < l->data.at.count && into->count < PAGE_QUERY_LEDGERS; i++) {
		const struct query_at *at = &l->data.at.items[i];
		if (!l->result.at[i].drop && add_ledger(lab, l, at, fired, into, err))
			return -1;
		fired += at->executions.count;
	}
	return 0;
}

static void compare(struct page *p, size_t first, const void *of_first, const void *of_other)
{
	const struct query_loaded *base = of_first, *other = of_other;
	const struct query_view a = query_loaded_view(base), b = query_loaded_view(other);
	struct ttp_comparison c = { 0 };
	ttp_compare(&base->data, &base->result, &other->data, &other->result, TTP_TIMES, &c);
	page_compare_queries(p, first, page_section_count(p) - 1, &a, &b, &c);
	ttp_comparison_release(&c);
}

static int add_stored(struct page *p, struct lab *lab, int64_t id, struct query_loaded *into,
		      struct error *err)
{
	ledger_list ledgers = { 0 };
	int failed = query_load(into, lab, id, false, err) || add_ledgers(lab, into, &ledgers, err);
	if (!failed) {
		const struct query_view view = query_loaded_view(into);
		page_add_query(p, &view, ledgers.items, ledgers.count);
	}
	array_release(&ledgers);
	return failed ? -1 : 0;
}

/* Of a run that has just begun there is nothing yet but itself. */
static int add_nothing(struct page *p, struct lab *lab, int64_t id, struct query_loaded *into,
		       struct error *err)
{
	if (cmd_load_run(lab, id, &into->run, &into->machine, err))
		return -1;
	struct query_view view = query_loaded_view(into);
	view.data = NULL;
	page_add_query(p, &view, NULL, 0);
	return 0;
}

static int add(struct page *p, struct lab *lab, int64_t id, void *into, bool *stored,
	       struct error *err)
{
	if (lab_has_data(lab, id, stored, err))
		return -1;
	return (*stored ? add_stored : add_nothing)(p, lab, id, into, err);
}

static void release(void *loaded)
{
	query_loaded_release(loaded);
}

int cmd_page_queries(struct page *p, struct lab *lab, const id_list *runs, struct error *err)
{
	static const struct page_kind kind = { sizeof(struct query_loaded), add, compare, release };
	return cmd_page_compared(p, lab, runs, &kind, err);
}
