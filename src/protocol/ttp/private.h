/* What the judging steps of the protocol share: private to protocol/ttp/. */
#ifndef TARE_PROTOCOL_TTP_PRIVATE_H
#define TARE_PROTOCOL_TTP_PRIVATE_H

#include "protocol/ttp/ttp.h"

#define TTP_TICK_NS 10000000u /* the paper's */
#define TTP_MOST_VARIATION 0.2
#define TTP_LEAST_EXECUTIONS 6

/* Mean and deviation of numbers as they come. */
struct ttp_moments {
	double n, mean, squares;
};
void ttp_add(struct ttp_moments *m, double x);
double ttp_sigma(const struct ttp_moments *m); /* n - 1; 0 of fewer than 2 */

/* Over the executions that no bit is set for (fired: this Q@C's), or with NULL that ended. */
struct ttp_figure ttp_figure_of(const struct query_at *q, const uint32_t *fired, enum ttp_time t);

/* Step 1: fills in wide, checks, fired, at_checks and at[].fired. out->fired and out->at are there.
 */
void ttp_check_all(const struct query_run *run, const struct ttp_options *o,
		   struct ttp_result *out);

/* Pairs of neighbours in cardinality of one query with one plan, by a time of each; what is lower
 * than its neighbour has its bit set in *bits. skip: Q@Cs that are not asked. */
struct ttp_level_time {
	bool skip;
	double ns, sigma_ns;
};
void ttp_monotonicity(const struct query_run *run, const struct ttp_level_time *times,
		      struct ttp_count *strict, struct ttp_count *relaxed, uint32_t *bits);

#endif
