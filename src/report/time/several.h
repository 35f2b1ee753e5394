/* What several runs share, and how they compare. Private to report/. */
#ifndef TARE_REPORT_TIME_SEVERAL_H
#define TARE_REPORT_TIME_SEVERAL_H

#include "protocol/emp/choice.h"
#include "report/time/report.h"

struct emp_judged judged_view(const struct run_view *view, bool other);
/* What they are compared by. why, unless NULL, gets the reason in words. */
struct emp_choice several_choice(const struct run_view *views, size_t count, struct strbuf *why);
/* The best PT that every run with a kept execution has, or else ET. */
enum emp_measure several_pt(const struct run_view *views, size_t count);
/* "process time (exec)", "elapsed time" */
static inline const char *measure_title(enum emp_measure m)
{
	return emp_measure_title(m);
}
/* The name of a run, or its command. */
const char *run_title(const struct run *run);

/* Whether there is an execution that is not a warm-up: without one there is no figure to export. */
bool has_measured(const struct run_view *view);
/* ET in ns of every execution except warm-ups, without the shell. */
void measured_et(const struct run_view *view, struct summary *out);

/* hyperfine's values in s, over the same executions; NaN: unknown. User and system are the mean of
 * exec over those that have it, divided by the run's share. hyperfine reports a stddev of 0 for one
 * execution; here it is unknown. */
struct hyperfine {
	const char *command;
	double mean, stddev, median, user, system, min, max;
};
struct hyperfine hyperfine_of(const struct run_view *view);
extern const struct field hyperfine_fields[];

/* Process time without the shell, at the grade that the result uses; NAN if unknown. */
double headline_pt(const struct run_view *view, const struct execution *x);
/* The run with the smallest mean of m; count if none has one. */
size_t fastest(const struct run_view *views, size_t count, enum emp_measure m);
/* The run that the others are compared with: the wanted one (from 1), or else the fastest. */
size_t reference_run(const struct run_view *views, size_t count, enum emp_measure m, size_t wanted);
/* sigma of mean(b) / mean(a), as hyperfine propagates it. */
double ratio_sigma(const struct summary *a, const struct summary *b);

#endif
