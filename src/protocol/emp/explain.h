/* Why an execution took longer than others of its run: compares its ledger with that of the median
 * execution. A pure function of stored executions with ledgers. */
#ifndef TARE_PROTOCOL_EMP_EXPLAIN_H
#define TARE_PROTOCOL_EMP_EXPLAIN_H

#include "base/error.h"
#include "protocol/emp/difference.h"
#include "protocol/emp/emp.h"

enum explain_why {
	EXPLAIN_ASKED,
	EXPLAIN_SLOW, /* its ET is above the limit, or a rule found it or a daemon in it too long */
	EXPLAIN_SLOWEST, /* none is slow; this one took longest */
};
extern const char *const explain_why_names[];

struct explained {
	size_t index; /* of the executions given */
	enum explain_why why;
	bool threads;		   /* one of the two had several */
	struct difference wall;	   /* of the ET */
	struct difference account; /* over all threads; only if `threads` */
};

struct explanation {
	size_t compared;  /* executions that count and have a ledger */
	size_t base;	  /* the median by ET of those kept; for an even number, the faster one */
	double median_ns; /* of the ET of those compared */
	/* median + the larger of 3 sigma (by the MAD) and 2 %; an ET below it is normal */
	double limit_ns;
	ARRAY(struct explained) list; /* slowest first */
};

#define EXPLAIN_SLOW_ONES SIZE_MAX

/* asked is an index, or EXPLAIN_SLOW_ONES for the slow ones, or the slowest if none is slow. Asking
 * for the median execution gives an empty list. Fails with EXIT_ENVIRONMENT without a ledger, and
 * with EXIT_USAGE if there is nothing to compare; the error does not name the run. */
int explain_run(const struct execution *executions, size_t count, const struct emp_result *result,
		size_t asked, struct explanation *out, struct error *err);
/* Whether explain_run() would find a slow one. */
bool explain_finds_slow(const struct execution *executions, size_t count,
			const struct emp_result *result);
void explanation_release(struct explanation *e);

#endif
