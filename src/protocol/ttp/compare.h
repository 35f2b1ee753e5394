/* Compares two runs of the same queries: plans and times by Q@C. */
#ifndef TARE_PROTOCOL_TTP_COMPARE_H
#define TARE_PROTOCOL_TTP_COMPARE_H

#include "protocol/ttp/ttp.h"

enum ttp_change {
	TTP_SAME,   /* no significant difference, or a time is unknown */
	TTP_SLOWER, /* the other run is */
	TTP_FASTER,
	TTP_ONLY_BASE, /* the Q@C exists, or was kept, in only one of them */
	TTP_ONLY_OTHER,
};

struct ttp_pair {
	uint32_t query;
	uint64_t cardinality;
	const struct query_at *base, *other; /* NULL: missing */
	bool same_plan; /* also true if unknown, or for two DBMSs, whose plans always differ */
	enum ttp_change change;
	double base_ns, other_ns; /* medians of the compared time; NaN: unknown */
	/* other / base with its 95 % interval; NaN: unknown. It is a factor for all times (Hodges
	 * and Lehmann), not quite that of the medians. */
	double ratio, low, high;
	double p; /* of equal distributions (Mann-Whitney), corrected over all pairs (Holm) */
};

struct ttp_comparison {
	enum ttp_time time; /* the best that both runs have: device, blocked, measured */
	/* By query and cardinality, without those kept in neither run. The query has the number it
	 * has in the base or, if missing there, in the other. */
	ARRAY(struct ttp_pair) pairs;
	size_t compared; /* kept in both, with known times */
	size_t plan_changes, slower, faster;
	/* Geometric mean over the compared pairs, NaN if there are none. Its 95 % interval is for
	 * executing the same queries again, not for other queries. */
	double ratio, ratio_low, ratio_high;
};

/* Queries are matched by their texts if both runs have them, otherwise by number. */
void ttp_compare(const struct query_run *base, const struct ttp_result *base_result,
		 const struct query_run *other, const struct ttp_result *other_result,
		 enum ttp_time time, struct ttp_comparison *out); /* TTP_TIMES: the best */
void ttp_comparison_release(struct ttp_comparison *c);

#endif
