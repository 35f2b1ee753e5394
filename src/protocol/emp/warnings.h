/* Shared by emp.c, cutoffs.c and warnings.c. Private to protocol/emp/. */
#ifndef TARE_PROTOCOL_EMP_WARNINGS_H
#define TARE_PROTOCOL_EMP_WARNINGS_H

#include "protocol/emp/emp.h"

/* "ET", "PT", "user", "system", for use in sentences. */
const char *emp_label(enum emp_measure m);

/* Rule (I): drops kept executions by the cutoffs for their median ET (r->unfiltered). Fills in
 * r->cutoffs and returns how many it dropped. */
size_t emp_drop_by_cutoffs(const struct execution *executions, const struct emp_options *options,
			   struct emp_result *r);

/* The kept values of one measure in execution order; with `outside`, also those that only rule (II)
 * dropped. The caller frees them. */
double *emp_collect(const struct run *run, const struct execution *executions,
		    const struct emp_result *r, enum emp_measure m, bool outside, size_t *count);

/* Fills in r->warnings. Everything else in r must be filled in already. */
void emp_warn(const struct run *run, const struct execution *executions,
	      const struct emp_options *options, struct emp_result *r);
/* The part of emp_warn() that is about rule (I). */
void emp_warn_of_cutoffs(const struct run *run, const struct emp_options *options,
			 struct emp_result *r);

#endif
