/* Assigns the processes of an execution's images to roles and sums what each role used. */
#ifndef TARE_RECORD_QUERY_USAGE_H
#define TARE_RECORD_QUERY_USAGE_H

#include "record/query.h"

struct query_who {
	int32_t self;		/* tare's process */
	int32_t server;		/* it and its children belong to this server */
	int32_t process;	/* evaluates; 0: unknown */
	int32_t thread;		/* of that process; 0: all */
	const int32_t *workers; /* helper processes */
	size_t worker_count;
	const char *name; /* comm of this server's processes; NULL or "": unknown */
	/* Whether a process belongs to a user and is not a daemon. NULL: none does. */
	bool (*is_user)(void *context, int32_t pid);
	void *context;
};

/* Fills in usage, query_process, query_tasks, utility_most_ns, blkio_most_ns, other_query,
 * other_utility, read_bytes and run_delay_ns. x->measured_ns must be set. CPU time is split into
 * user and system by the ticks. It is limited to the time between a task's two records, though the
 * first record of a running task may be a tick old. A longer block delay is a kernel error and
 * treated as missing. */
void query_usage_between(const struct image *before, const struct image *after,
			 const struct image *exits, const struct query_who *who,
			 struct query_execution *x);

/* Sets the CPU time of the query if its one thread knows it. What else it used between the images,
 * such as for being woken, is tare's. The proportion of user and system stays. */
void query_usage_set_cpu(struct query_execution *x, uint64_t cpu_ns);

/* Sets x->overall_ns and overall_missing from two /proc/stat readings; ticks_per_s: USER_HZ. */
void query_overall_between(const struct overall *before, const struct overall *after,
			   long ticks_per_s, struct query_execution *x);

#endif
