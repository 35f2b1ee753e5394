/* The executions of a run, for pages, figures and plots. Private to report/. */
#ifndef TARE_REPORT_TIME_TIMES_H
#define TARE_REPORT_TIME_TIMES_H

#include "base/error.h"
#include "report/time/report.h"

/* Measured executions are those that rules (I) and (II) judge. */
static inline bool rule_is_measured(enum emp_rule rule)
{
	return rule == EMP_KEPT || rule == EMP_CUTOFF || rule == EMP_OUTSIDE;
}
static inline bool rule_is_drop(enum emp_rule rule)
{
	return rule == EMP_FAILED || rule == EMP_CUTOFF || rule == EMP_OUTSIDE;
}

/* ET or a grade of PT in ns without the shell, as the protocol sees it; NaN: not seen. */
double time_value(const struct run_view *v, size_t i, enum emp_measure m);
/* EXIT_USAGE if there is nothing to draw for this measure. */
int time_check_measure(const struct run_view *v, enum emp_measure m, struct error *err);

#endif
