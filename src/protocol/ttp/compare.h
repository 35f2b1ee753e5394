/* Two runs of the same queries against each other: by Q@C, plans and times. */
#ifndef TARE_PROTOCOL_TTP_COMPARE_H
#define TARE_PROTOCOL_TTP_COMPARE_H

#include "protocol/ttp/ttp.h"

enum ttp_change {
	TTP_SAME,   /* no difference that is not by chance, or a time is not known */
	TTP_SLOWER, /* the other run */
	TTP_FASTER,
	TTP_ONLY_BASE, /* the Q@C is in one of them alone, or was kept in one alone */
	TTP_ONLY_OTHER,
};

struct ttp_pair {
	uint32_t query;
	uint64_t cardinality;
	const struct query_at *base, *other; /* NULL: not there */
	bool same_plan; /* or that is not known, or they are of two DBMSs, whose plans all differ */
	enum ttp_change change;
	double base_ns, other_ns; /* medians of the time compared; NaN: not known */
	/* other / base with its 95 % interval; NaN: not known. A factor of all times (Hodges and
	 * Lehmann), not quite that of the medians. */
	double ratio, low, high;
	double p; /* of equal distributions (Mann-Whitney), corrected over all pairs (Holm) */
};

struct ttp_comparison {
	enum ttp_time time; /* the best that both runs have: device, blocked, measured */
	/* By query, cardinality; what was kept in neither run is left out. The query is the base's
	 * number, or where it has none, the other's. */
	ARRAY(struct ttp_pair) pairs;
	size_t compared; /* kept in both, with times that are known */
	size_t plan_changes, slower, faster;
	/* Geometric mean over the pairs compared, NaN without one. Its 95 % interval is about the
	 * same queries executed again, not about other queries. */
	double ratio, ratio_low, ratio_high;
};

/* Queries are matched by their texts where both runs have them, else by number. */
void ttp_compare(const struct query_run *base, const struct ttp_result *base_result,
		 const struct query_run *other, const struct ttp_result *other_result,
		 enum ttp_time time, struct ttp_comparison *out); /* TTP_TIMES: the best */
void ttp_comparison_release(struct ttp_comparison *c);

#endif
