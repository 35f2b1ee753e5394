/* How the ledgers of two executions differ: by cause and, beneath a cause, by name. A pure function
 * that `explain` and the reasons of emp's rule (II) stand on. */
#ifndef TARE_PROTOCOL_EMP_DIFFERENCE_H
#define TARE_PROTOCOL_EMP_DIFFERENCE_H

#include "record/execution.h"

struct difference_name {
	char name[48];
	int32_t pid;		    /* in the execution that has more of it; 0: none or several */
	int64_t ns;		    /* its part of the cause's difference */
	uint64_t count, base_count; /* how often, over every thread */
};

struct difference_cause {
	enum ledger_cause cause;
	int64_t ns; /* had_ns - base_ns + parallel_ns */
	uint64_t had_ns, base_ns;
	/* Wall view, several threads: it ran for longer because it ran less in parallel, as this
	 * cause held a thread up meanwhile; LEDGER_RUN is less by their sum. */
	int64_t parallel_ns;
	/* LEDGER_RUN: of ns, that it ran less in parallel for no cause found outside it. */
	int64_t unexplained_ns;
	/* They add up to ns; by their part in its direction, descending, "" (what no
	 * name accounts for) last. Empty: nothing to tell
	 * apart. */
	ARRAY(struct difference_name) names;
};

struct difference {
	int64_t ns; /* of wall: ET of x less that of base; of account: of their sums */
	/* Those that differ, by their part in the direction of ns, descending. With rest_ns they
	 * add up to ns, exactly. */
	ARRAY(struct difference_cause) causes;
	int64_t rest_ns; /* of the ET, but in neither ledger */
};

enum difference_view {
	DIFFERENCE_WALL,    /* of the elapsed time */
	DIFFERENCE_ACCOUNT, /* summed over the threads */
};

/* More than one thread, be it of one process or of several. */
bool has_threads(const struct execution *x);

/* x against base. The names are known by thread only, so for the wall view they are scaled to the
 * difference of their cause; for a subject of one thread that is none. "itself" is no name there:
 * nothing of the subject runs while all of it waits. Both must have a ledger. */
void difference_of(const struct execution *x, const struct execution *base,
		   enum difference_view view, struct difference *out);
void difference_release(struct difference *d);

#endif
