/* EMP as six versions, each adding to the one before, tabulated from one stored run as far as its
 * data allow (EMP Tables II-VI, XIX), and the study of the sample size (v6, Tables XX-XXIII). */
#ifndef TARE_PROTOCOL_EMP_VERSIONS_H
#define TARE_PROTOCOL_EMP_VERSIONS_H

#include "protocol/emp/emp.h"
#include "record/machine.h"

/* The last one is ours: the steps of the papers end with v6. */
enum emp_version {
	EMP_V0,
	EMP_V1,
	EMP_V2,
	EMP_V3,
	EMP_V4,
	EMP_V5,
	EMP_V6,
	EMP_STEADY,
	EMP_VERSIONS
};
extern const char *const emp_version_names[]; /* "v0" .. "v6", "v6+steady"; v0: ET of everything */
const char *emp_version_adds(enum emp_version v); /* a few words: "process time; daemons stopped" */

enum emp_met {
	EMP_MET,
	EMP_CANNOT_SAY, /* a fact that it takes is not known */
	EMP_NOT_MET,
};

/* Whether the machine meets what version v (1 to 4) adds, as the doctor judges its facts at the
 * time at_ns (CLOCK_REALTIME); why says how. Without facts it cannot be said; other versions ask
 * nothing and are not met. */
#define EMP_WHY 160
enum emp_met emp_condition(const struct machine *m, int64_t at_ns, enum emp_version v,
			   char why[EMP_WHY]);

struct emp_version_row {
	enum emp_version version;
	/* This run met the conditions of this version and those before; unsaid: it cannot be said.
	 */
	bool held, unsaid;
	char why[EMP_WHY];	  /* which condition was not met, or how its own was; "": none */
	enum emp_measure measure; /* v0: EMP_ET, else what was asked for, or the headline */
	size_t n, dropped_cutoff, dropped_outside; /* rule (I), rule (II) */
	struct summary et, value; /* of what this version keeps; value is of `measure` */
};

struct emp_versions {
	struct emp_version_row rows[EMP_VERSIONS];
	size_t count;	 /* of rows: without EMP_STEADY where the CPUs' speed was not watched */
	bool by_measure; /* rule (II) judges by a measure that was asked for */
};
/* machine may be NULL: then v1-v4 cannot be said. options are as for emp_judge(),
 * but keep_outside is ignored: v0 to v4 keep all that counts, v5 and v6 apply both rules. */
void emp_versions(const struct run *run, const struct execution *executions, size_t count,
		  const struct machine *machine, const struct emp_options *options,
		  struct emp_versions *out);

/* v5 applied to the first n samples that count: first all of them, then halved as in the paper. */
struct emp_size_row {
	size_t n, dropped_cutoff, dropped_outside;
	struct summary et, value;
	/* sigma of `value` is that of all samples but for chance, at 99 %, if it is within these
	 * bounds */
	double sigma_low, sigma_high;
	bool recommended; /* the smallest n, at least 10, for which it and every larger n are not
			     shown to differ from all samples, in sigma by more than a quarter and
			     in their share of outliers by more than a tenth */
};
typedef ARRAY(struct emp_size_row) emp_size_list;
void emp_sizes(const struct run *run, const struct execution *executions, size_t count,
	       const struct emp_options *options, emp_size_list *out);

#endif
