/* Shared by the judging steps of the protocol. Private to protocol/ttp/. */
#ifndef TARE_PROTOCOL_TTP_PRIVATE_H
#define TARE_PROTOCOL_TTP_PRIVATE_H

#include "protocol/ttp/ttp.h"

#define TTP_TICK_NS 10000000u /* as in the paper */
#define TTP_MOST_VARIATION 0.2

/* Running mean and deviation. */
struct ttp_moments {
	double n, mean, squares;
};
void ttp_add(struct ttp_moments *m, double x);
double ttp_sigma(const struct ttp_moments *m); /* n - 1; 0 for fewer than 2 */

/* Over the executions with fired 0 (of this Q@C) or, with fired NULL, those that ended. */
struct ttp_figure ttp_figure_of(const struct query_at *q, const uint32_t *fired, enum ttp_time t);

/* Step 1: sets wide, checks, fired, at_checks and at[].fired. fired and at must be allocated. */
void ttp_check_all(const struct query_run *run, const struct ttp_options *o,
		   struct ttp_result *out);

/* Compares each Q@C with the next higher one of its query that has the same plan and the same kind
 * of time, whatever plans lie between. If the time at the lower cardinality is longer, its bits are
 * set in *bits. skip: ignore this Q@C. */
struct ttp_level_time {
	bool skip;
	enum ttp_time time;
	double ns, sigma_ns;
};
void ttp_monotonicity(const struct query_run *run, const struct ttp_level_time *times,
		      struct ttp_count *strict, struct ttp_count *relaxed, uint32_t *bits);

#endif
