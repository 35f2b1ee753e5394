/* From the images of an execution to what each role used: who is who among the processes. */
#ifndef TARE_RECORD_QUERY_USAGE_H
#define TARE_RECORD_QUERY_USAGE_H

#include "record/query.h"

struct query_who {
	int32_t self;	 /* tare's process */
	int32_t server;	 /* processes that it is the parent of, and itself, are of this server */
	int32_t process; /* evaluates; 0: not known */
	int32_t thread;	 /* of it; 0: all of them */
	const int32_t *workers; /* processes that help */
	size_t worker_count;
	const char *name; /* comm of this server's processes; NULL or "": not known */
	/* Whether a process belongs to somebody who works here, and is no daemon. NULL: none does.
	 */
	bool (*is_user)(void *context, int32_t pid);
	void *context;
};

/* Fills in usage, query_process, query_tasks, utility_most_ns, blkio_most_ns, other_query,
 * other_utility, read_bytes and run_delay_ns; x->measured_ns is set. The split of CPU time into
 * user and system is that of the ticks. No task ran for longer than between its two records, though
 * the first of one that was running may be a tick old; a block delay of more than that is the
 * kernel's error, and missing. */
void query_usage_between(const struct image *before, const struct image *after,
			 const struct image *exits, const struct query_who *who,
			 struct query_execution *x);

/* The query's one thread knows its CPU time: what it used beyond that between the images, as for
 * being woken, is tare's. In the proportion of user and system found before. */
void query_usage_set_cpu(struct query_execution *x, uint64_t cpu_ns);

/* x->overall_ns and overall_missing from two readings of /proc/stat; ticks_per_s: USER_HZ. */
void query_overall_between(const struct overall *before, const struct overall *after,
			   long ticks_per_s, struct query_execution *x);

#endif
