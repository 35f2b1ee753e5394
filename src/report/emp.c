#include "report/emp.h"

void emp_text(const struct run_view *view, const struct emp_versions *versions,
	      const emp_size_list *sizes, const struct time_style *style, struct strbuf *out)
{
	(void)view;
	(void)versions;
	(void)sizes;
	(void)style;
	(void)out;
}
void emp_json(const struct run_view *view, const struct emp_versions *versions,
	      const emp_size_list *sizes, struct strbuf *out)
{
	(void)view;
	(void)versions;
	(void)sizes;
	strbuf_puts(out, "{}\n");
}
struct table *emp_versions_table(const struct emp_versions *versions)
{
	(void)versions;
	return NULL;
}
struct table *emp_sizes_table(const emp_size_list *sizes)
{
	(void)sizes;
	return NULL;
}
