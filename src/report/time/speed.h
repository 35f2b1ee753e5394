/* What is said about the speed of the CPU. Private to report/. */
#ifndef TARE_REPORT_TIME_SPEED_H
#define TARE_REPORT_TIME_SPEED_H

#include "report/core/format.h"
#include "report/time/report.h"

/* The part of an execution's PT(net) by which a CPU at the reference speed would have taken less;
 * NaN: not known. Below 0 if it was faster than that. */
double speed_slower_ns(const struct run_view *view, const struct execution *x);

/* "The CPU's speed varied by 6 %. ..."; nothing if it was not watched. */
void put_speed(const struct run_view *view, const struct style *style, struct strbuf *out);

/* Why x ran for longer than base in its own code, if the speed explains most of it: "; the CPU ran
 * at 61 % of its best ...". False: it does not. */
bool put_slower_cpu(const struct run_view *view, const struct execution *x,
		    const struct execution *base, double more_ns, const struct style *style,
		    struct strbuf *out);

/* What helps where the speed varied while commands were compared; nothing if it did not. */
void put_speed_advice(const struct run_view *views, size_t count, enum emp_measure m,
		      const struct style *style, struct strbuf *out);

#endif
