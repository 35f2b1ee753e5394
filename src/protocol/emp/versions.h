/* EMP as six versions, each adding to the one before, tabulated from one stored run where the data
 * allow (EMP Tables II-VI, XIX); and the study of the sample size (v6, Tables XX-XXIII). */
#ifndef TARE_PROTOCOL_EMP_VERSIONS_H
#define TARE_PROTOCOL_EMP_VERSIONS_H

#include "protocol/emp/emp.h"
#include "record/machine.h"

enum emp_version { EMP_V0, EMP_V1, EMP_V2, EMP_V3, EMP_V4, EMP_V5, EMP_V6, EMP_VERSIONS };
extern const char *const emp_version_names[];
const char *emp_version_name(enum emp_version v); /* "v0" .. "v6"; v0: ET of everything */
const char *emp_version_adds(enum emp_version v); /* a few words: "process time; daemons stopped" */

/* What the versions 1 to 4 ask of the machine, as the doctor judges its facts: whether v's own
 * addition is met, and how it was found to be. Of other versions, or without facts: false. */
#define EMP_WHY 160
bool emp_condition(const struct machine *m, enum emp_version v, char why[EMP_WHY]);

struct emp_version_row {
	enum emp_version version;
	bool held; /* the conditions it asks for, and those before it, were met in this run */
	char why[EMP_WHY];	  /* what of them was not, or how its own was; "": nothing to say */
	enum emp_measure measure; /* v0: EMP_ET, else the headline */
	size_t n, dropped_cutoff, dropped_outside; /* rule (I), rule (II) */
	struct summary et, value; /* of what this version keeps; value is of `measure` */
};

struct emp_versions {
	struct emp_version_row rows[EMP_VERSIONS];
};
/* machine may be NULL: then held of v1-v4 is false and why says so. options as for emp_judge(), but
 * for keep_outside: v0 to v4 keep everything that counts, v5 and v6 apply both rules. */
void emp_versions(const struct run *run, const struct execution *executions, size_t count,
		  const struct machine *machine, const struct emp_options *options,
		  struct emp_versions *out);

/* v5 applied to the first n samples that count, n halved as in the paper: the whole first. */
struct emp_size_row {
	size_t n, dropped_cutoff, dropped_outside;
	struct summary et, value;
	bool recommended; /* the smallest n whose sigma and share of outliers are near the whole's,
			     as those of every larger n are; at least 10 */
};
typedef ARRAY(struct emp_size_row) emp_size_list;
void emp_sizes(const struct run *run, const struct execution *executions, size_t count,
	       const struct emp_options *options, emp_size_list *out);

#endif
