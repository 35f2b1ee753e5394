/* What several runs have in common, and how they stand to each other: private to report/. */
#ifndef TARE_REPORT_TIME_SEVERAL_H
#define TARE_REPORT_TIME_SEVERAL_H

#include "report/time/report.h"

/* The measure they are compared by: the best PT that every run with a kept execution has, else ET.
 */
enum emp_measure several_measure(const struct run_view *views, size_t count);
/* "process time (exec)", "elapsed time" */
const char *measure_title(enum emp_measure m);
/* What to call a run: its name, or its command. */
const char *run_title(const struct run *run);

/* At least one execution that is no warm-up: without one there is no figure to export. */
bool has_measured(const struct run_view *view);
/* ET in ns of every execution but the warm-ups, the shell taken off. */
void measured_et(const struct run_view *view, struct summary *out);

/* hyperfine's figures, in s, over the same executions; NaN: not known. User and system are the mean
 * of exec over those that have it, divided by the run's share. hyperfine has a stddev of 0 for one
 * execution; here it is not known. */
struct hyperfine {
	const char *command;
	double mean, stddev, median, user, system, min, max;
};
struct hyperfine hyperfine_of(const struct run_view *view);
extern const struct field hyperfine_fields[];

/* The run with the smallest mean of m among those that have one; count when none has. */
size_t fastest(const struct run_view *views, size_t count, enum emp_measure m);
/* The run the others are compared with: the one wanted (from 1), or else the fastest. */
size_t reference_run(const struct run_view *views, size_t count, enum emp_measure m, size_t wanted);
/* sigma of mean(b) / mean(a), as hyperfine propagates it. */
double ratio_sigma(const struct summary *a, const struct summary *b);

#endif
