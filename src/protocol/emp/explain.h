/* Why an execution took longer than others of its run, as a pure function of stored executions with
 * ledgers: its ledger against that of the median execution. */
#ifndef TARE_PROTOCOL_EMP_EXPLAIN_H
#define TARE_PROTOCOL_EMP_EXPLAIN_H

#include "base/error.h"
#include "protocol/emp/difference.h"
#include "protocol/emp/emp.h"

enum explain_why {
	EXPLAIN_ASKED,
	EXPLAIN_SLOW, /* its ET is above the limit, or a rule found it (or a daemon in it) too high
		       */
	EXPLAIN_SLOWEST, /* none is slow; it took the longest */
};
extern const char *const explain_why_names[];

struct explained {
	size_t index; /* of the executions given */
	enum explain_why why;
	bool threads;		   /* one of the two had several */
	struct difference wall;	   /* of the ET */
	struct difference account; /* over all threads; filled in when threads */
};

struct explanation {
	size_t compared;  /* executions that count and have a ledger */
	size_t base;	  /* the median one: by ET, of those kept; of an even number the faster */
	double median_ns; /* of the ET of those compared */
	/* median + the larger of 3 sigma (by the MAD) and 2 %: below it an ET is like the others */
	double limit_ns;
	ARRAY(struct explained) list; /* slowest first */
};

#define EXPLAIN_SLOW_ONES SIZE_MAX

/* asked is an index, or EXPLAIN_SLOW_ONES: those that are slow, or the slowest when none is. The
 * median execution asked for itself gives an empty list. Without a ledger it fails with
 * EXIT_ENVIRONMENT, with nothing to compare with EXIT_USAGE; the error names no run. */
int explain_run(const struct execution *executions, size_t count, const struct emp_result *result,
		size_t asked, struct explanation *out, struct error *err);
/* Whether it would find one that is slow. */
bool explain_finds_slow(const struct execution *executions, size_t count,
			const struct emp_result *result);
void explanation_release(struct explanation *e);

#endif
