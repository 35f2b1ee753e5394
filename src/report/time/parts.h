/* Parts of the block of one run, in addition to those in text.c. Private to report/time/. */
#ifndef TARE_REPORT_TIME_PARTS_H
#define TARE_REPORT_TIME_PARTS_H

#include "report/time/report.h"

/* How many were measured and kept, and why others were dropped. */
void put_executions(const struct run_view *view, const struct style *style, struct strbuf *out);

/* The cutoffs that rule (I) used; nothing if the machine has none. */
void put_cutoffs(const struct run_view *view, const struct style *style, struct strbuf *out);
/* Whether the conditions of the requested version of EMP were met. */
void put_emp_version(const struct run_view *view, const struct style *style, struct strbuf *out);
/* What was made quiet for the run. */
void put_quiet(const struct run_view *view, const struct style *style, struct strbuf *out);

#endif
