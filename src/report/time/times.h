/* Executions of a run as pages, figures and plots count them: private to report/. */
#ifndef TARE_REPORT_TIME_TIMES_H
#define TARE_REPORT_TIME_TIMES_H

#include "base/error.h"
#include "report/time/report.h"

/* Measured: what rules (I) and (II) look at. */
static inline bool rule_is_measured(enum emp_rule rule)
{
	return rule == EMP_KEPT || rule == EMP_CUTOFF || rule == EMP_OUTSIDE;
}
static inline bool rule_is_drop(enum emp_rule rule)
{
	return rule == EMP_FAILED || rule == EMP_CUTOFF || rule == EMP_OUTSIDE;
}

/* ET or a grade of PT in ns as the protocol sees it, less the shell; NaN: not seen. */
double time_value(const struct run_view *v, size_t i, enum emp_measure m);
/* EXIT_USAGE where nothing of this measure can be drawn. */
int time_check_measure(const struct run_view *v, enum emp_measure m, struct error *err);

#endif
