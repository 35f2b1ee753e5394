/* Reports of `tare emp`: a run by version of EMP, and by sample size. */
#ifndef TARE_REPORT_TIME_EMP_H
#define TARE_REPORT_TIME_EMP_H

#include "protocol/emp/versions.h"
#include "report/time/report.h"

/* sizes may be NULL: not wanted. */
void emp_text(const struct run_view *view, const struct emp_versions *versions,
	      const emp_size_list *sizes, const struct style *style, struct strbuf *out);
/* docs/schema/emp.schema.json */
void emp_json(const struct run_view *view, const struct emp_versions *versions,
	      const emp_size_list *sizes, struct strbuf *out);
/* style NULL: every figure, for programs and Markdown. The caller renders and frees them. */
struct table *emp_versions_table(const struct emp_versions *versions, const struct style *style);
struct table *emp_sizes_table(const emp_size_list *sizes, enum emp_measure measure,
			      const struct style *style);

#endif
