/* Parts of the block of one run, beside those in text.c: private to report/time/. */
#ifndef TARE_REPORT_TIME_PARTS_H
#define TARE_REPORT_TIME_PARTS_H

#include "report/time/report.h"

/* How many were measured and kept, and those dropped with their reasons. */
void put_executions(const struct run_view *view, const struct style *style, struct strbuf *out);

/* What rule (I) went by; nothing where the machine has no cutoffs. */
void put_cutoffs(const struct run_view *view, const struct style *style, struct strbuf *out);
/* Whether the conditions of the version of EMP that was asked for were met. */
void put_emp_version(const struct run_view *view, const struct style *style, struct strbuf *out);
/* What was made quiet for the run. */
void put_quiet(const struct run_view *view, const struct style *style, struct strbuf *out);

#endif
