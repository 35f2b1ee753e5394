/* How the ledgers of two executions differ: by cause and, within a cause, by name. This pure
 * function is the basis of `explain` and of the reasons for emp's rule (II). */
#ifndef TARE_PROTOCOL_EMP_DIFFERENCE_H
#define TARE_PROTOCOL_EMP_DIFFERENCE_H

#include "record/execution.h"

struct difference_name {
	char name[48];
	int32_t pid;		    /* in the execution that has more of it; 0: none or several */
	int64_t ns;		    /* its part of the cause's difference */
	uint64_t count, base_count; /* occurrences, over all threads */
};

struct difference_cause {
	enum ledger_cause cause;
	int64_t ns; /* had_ns - base_ns + parallel_ns */
	uint64_t had_ns, base_ns;
	/* Wall view with several threads: the subject ran less in parallel, and thus longer by this
	 * time, because this cause delayed a thread. LEDGER_RUN is reduced by the sum. */
	int64_t parallel_ns;
	/* LEDGER_RUN: the part of ns due to less parallelism that no outside cause explains. */
	int64_t unexplained_ns;
	/* They add up to ns and are sorted by their part in its direction, descending. "" (what no
	 * name accounts for) comes last. Empty: there are no names. */
	ARRAY(struct difference_name) names;
};

struct difference {
	int64_t ns; /* wall: ET of x minus that of base; account: the same for their sums */
	/* Those that differ, sorted by their part in the direction of ns, descending. Together with
	 * rest_ns they add up to ns exactly. */
	ARRAY(struct difference_cause) causes;
	int64_t rest_ns; /* in the ET, but in neither ledger */
};

enum difference_view {
	DIFFERENCE_WALL,    /* of the elapsed time */
	DIFFERENCE_ACCOUNT, /* summed over the threads */
};

/* Whether it had more than one thread, in one process or several. */
bool has_threads(const struct execution *x);

/* Compares x with base; both must have a ledger. Names are known only per thread, so in the wall
 * view they are scaled to the difference of their cause, which changes nothing for a subject of one
 * thread. "itself" is not a name there, because nothing of the subject runs while all of it
 * waits. */
void difference_of(const struct execution *x, const struct execution *base,
		   enum difference_view view, struct difference *out);
void difference_release(struct difference *d);

#endif
