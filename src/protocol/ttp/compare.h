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

/* One kind of time in both runs. */
struct ttp_ratio {
	double base_ns, other_ns; /* medians; NaN: unknown */
	/* other / base with its 95 % interval; NaN: unknown. It is a factor for all times (Hodges
	 * and Lehmann), not quite that of the medians. */
	double ratio, low, high;
	double p; /* of equal distributions (Mann-Whitney), corrected over all pairs (Holm) */
};

struct ttp_pair {
	uint32_t query;
	uint64_t cardinality;
	const struct query_at *base, *other; /* NULL: missing */
	bool same_plan; /* also true if unknown, or for two DBMSs, whose plans always differ */
	enum ttp_change change;
	enum ttp_time by;	  /* the time that decided the change */
	struct ttp_ratio time;	  /* of the compared time */
	struct ttp_ratio elapsed; /* of TTP_MEASURED, whatever is compared */
};

struct ttp_comparison {
	enum ttp_time time; /* as asked for, or the best that both runs have: device, blocked,
			       measured */
	/* By query and cardinality, without those kept in neither run. The query has the number it
	 * has in the base or, if missing there, in the other. */
	ARRAY(struct ttp_pair) pairs;
	size_t compared; /* kept in both, with known times */
	size_t plan_changes, slower, faster;
	size_t contrary; /* of those, decided by elapsed time, as the compared one says the opposite
			  */
	/* Geometric means over the compared pairs, NaN if there are none. Their 95 % intervals are
	 * for executing the same queries again, not for other queries. */
	double ratio, ratio_low, ratio_high;
	double elapsed_ratio, elapsed_low, elapsed_high;
};

/* Queries are matched by their texts if both runs have them, otherwise by number. A time that is
 * asked for decides. Otherwise elapsed time does where it changed the other way than the best: a
 * parallel plan uses more CPU and ends earlier, which is no slow-down. */
void ttp_compare(const struct query_run *base, const struct ttp_result *base_result,
		 const struct query_run *other, const struct ttp_result *other_result,
		 enum ttp_time time, struct ttp_comparison *out); /* TTP_TIMES: the best */
void ttp_comparison_release(struct ttp_comparison *c);

#endif
