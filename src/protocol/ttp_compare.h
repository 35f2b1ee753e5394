/* Two runs of the same queries against each other: by Q@C, plans and times. */
#ifndef TARE_PROTOCOL_TTP_COMPARE_H
#define TARE_PROTOCOL_TTP_COMPARE_H

#include "protocol/ttp.h"

enum ttp_change {
	TTP_SAME,   /* no difference that is not by chance */
	TTP_SLOWER, /* the other run */
	TTP_FASTER,
	TTP_ONLY_BASE, /* the Q@C is in one of them alone, or was kept in one alone */
	TTP_ONLY_OTHER,
};

struct ttp_pair {
	uint32_t query;
	uint64_t cardinality;
	const struct query_at *base, *other; /* NULL: not there */
	bool same_plan;
	enum ttp_change change;
	double base_ns, other_ns; /* medians of the time compared */
	double ratio, low, high;  /* other / base with its 95 % interval; NaN: not known */
	double p; /* of equal distributions (Mann-Whitney), corrected over all pairs (Holm) */
};

struct ttp_comparison {
	enum ttp_time time;	      /* the best that both runs have: device, blocked, measured */
	ARRAY(struct ttp_pair) pairs; /* by query, cardinality */
	size_t plan_changes, slower, faster;
	double ratio, ratio_low, ratio_high; /* geometric mean over the pairs */
};

/* Queries are matched by their texts where both runs have them, else by number. */
void ttp_compare(const struct query_run *base, const struct ttp_result *base_result,
		 const struct query_run *other, const struct ttp_result *other_result,
		 enum ttp_time time, struct ttp_comparison *out); /* TTP_TIMES: the best */
void ttp_comparison_release(struct ttp_comparison *c);

#endif
