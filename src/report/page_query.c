/* Queries. */
#include "report/page_private.h"

void page_add_query(struct page *p, const struct query_view *v,
		    const struct page_query_ledger *ledgers, size_t count)
{
	(void)ledgers, (void)count;
	page_add(p, page_head(p, "query", v->run, v->machine, NULL));
}

void page_compare_queries(struct page *p, size_t base, size_t other,
			  const struct query_view *base_view, const struct query_view *other_view,
			  const struct ttp_comparison *c)
{
	(void)p, (void)base, (void)other, (void)base_view, (void)other_view, (void)c;
}
