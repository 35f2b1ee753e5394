/* EMP as six versions, each adding to the one before, tabulated from one stored run where the data
 * allow (EMP Tables II-VI, XIX); and the study of the sample size (v6, Tables XX-XXIII). */
#ifndef TARE_PROTOCOL_EMP_VERSIONS_H
#define TARE_PROTOCOL_EMP_VERSIONS_H

#include "protocol/emp.h"
#include "record/machine.h"

enum emp_version { EMP_V0, EMP_V1, EMP_V2, EMP_V3, EMP_V4, EMP_V5, EMP_V6, EMP_VERSIONS };
const char *emp_version_name(enum emp_version v); /* "v0" .. "v6"; v0: ET of everything */
const char *emp_version_adds(enum emp_version v); /* a few words: "process time; daemons stopped" */

struct emp_version_row {
	enum emp_version version;
	bool held;     /* the conditions it asks for were met in this run */
	char why[160]; /* what of them was not, or how it was; "" when there is nothing to say */
	enum emp_measure measure;		   /* v0: EMP_ET, else the headline */
	size_t n, dropped_cutoff, dropped_outside; /* rule (I), rule (II) */
	struct summary et, value; /* of what this version keeps; value is of `measure` */
};

struct emp_versions {
	struct emp_version_row rows[EMP_VERSIONS];
};
/* machine may be NULL: then held of v1-v4 is false and why says so. options as for emp_judge(). */
void emp_versions(const struct run *run, const struct execution *executions, size_t count,
		  const struct machine *machine, const struct emp_options *options,
		  struct emp_versions *out);

/* v5 applied to the first n samples, n halved as in the paper. */
struct emp_size_row {
	size_t n, dropped_cutoff, dropped_outside;
	struct summary et, value;
	bool recommended; /* the smallest n whose sigma and share of outliers are near the whole's
			   */
};
typedef ARRAY(struct emp_size_row) emp_size_list;
void emp_sizes(const struct run *run, const struct execution *executions, size_t count,
	       const struct emp_options *options, emp_size_list *out);

#endif
