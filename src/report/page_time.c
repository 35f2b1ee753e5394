/* Executions of a command. */
#include "report/page_private.h"

void page_add_time(struct page *p, const struct run_view *view, const struct trace *traces)
{
	(void)traces;
	page_add(p, page_head(p, "time", view->run, view->machine, NULL));
}

void page_compare_times(struct page *p, size_t reference, enum emp_measure measure,
			const struct page_time_comparison *list, size_t count)
{
	(void)p, (void)reference, (void)measure, (void)list, (void)count;
}
