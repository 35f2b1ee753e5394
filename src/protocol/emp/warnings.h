/* Private to protocol/emp/: what emp.c, cutoffs.c and warnings.c share. */
#ifndef TARE_PROTOCOL_EMP_WARNINGS_H
#define TARE_PROTOCOL_EMP_WARNINGS_H

#include "protocol/emp/emp.h"

/* "ET", "PT", "user", "system": as sentences have it. */
const char *emp_label(enum emp_measure m);

/* Rule (I): drops executions of those still kept, by the cutoffs that hold for the median ET of
 * them (r->unfiltered). Fills in r->cutoffs; how many it dropped. */
size_t emp_drop_by_cutoffs(const struct execution *executions, const struct emp_options *options,
			   struct emp_result *r);

/* Values of one measure in execution order: the kept ones, on demand those that only rule (II)
 * dropped too. The caller frees. */
double *emp_collect(const struct run *run, const struct execution *executions,
		    const struct emp_result *r, enum emp_measure m, bool outside, size_t *count);

/* Fills r->warnings; everything else of r is filled already. */
void emp_warn(const struct run *run, const struct execution *executions,
	      const struct emp_options *options, struct emp_result *r);
/* The part of it that is about rule (I). */
void emp_warn_of_cutoffs(const struct run *run, const struct emp_options *options,
			 struct emp_result *r);

#endif
