/* What each back end implements for collect.c. Private to collect/. The functions are documented
 * under the same names in collect.h. NULL: the back end cannot do this, and collect.c answers as
 * documented there. */
#ifndef TARE_COLLECT_BACKEND_BACKEND_H
#define TARE_COLLECT_BACKEND_BACKEND_H

#include <sys/resource.h>

#include "collect/collect.h"

struct backend_ops {
	enum backend backend;
	const char *not_seen; /* NULL: everything is seen */
	/* Used instead of not_seen if that depends on what open() found; may be NULL. */
	const char *(*explain)(void *state);
	/* Returns -1 with the reason in err if this process may not use it. */
	int (*open)(void **state, struct error *err);
	void (*expect_ledger)(bool trace); /* before open() */
	void (*close)(void *state);
	int (*keep_ledger)(void *state, bool trace, struct error *err);
	void (*take_ledger)(void *state, struct ledger *ledger, struct trace *trace);
	bool (*knows_turns)(const void *state);
	enum speed_turn (*turn)(const void *state, uint32_t cpu, uint64_t *events);
	int (*snapshot)(void *state, struct image *image, struct error *err);
	void (*arm)(void *state);
	int (*adopt)(void *state, pid_t root, struct error *err);
	void (*listen)(void *state); /* never NULL; always called before arm_running */
	/* collect.c flags the thread and the process themselves. */
	int (*arm_running)(void *state, const struct collector_running *who, struct error *err);
	void (*disarm)(void *state);
	int (*fd)(void *state);
	void (*drain)(void *state);
	uint64_t (*root_end_ns)(void *state);
	void (*members)(void *state, pid_list *pids);
	void (*reaped)(void *state, pid_t pid, const struct rusage *usage);
	uint64_t (*used_ns)(void *state);
	const char *(*title)(const void *state, pid_t pid);
	void (*finish)(void *state, const struct totals *base, struct image *exits,
		       struct totals *totals, uint64_t *lost);
};

extern const struct backend_ops plain_backend, netlink_backend, bpf_backend;

/* Sets the receive buffers of the netlink back end, in bytes, so that tests can fill them. */
void netlink_set_buffers(void *state, int bytes);

/* Appends a zeroed record and grows the memory as needed. */
struct task_record *image_add(struct image *image);

/* Adds everything a task used to the totals of its tree. */
void totals_add(struct totals *totals, const struct task_record *task);
/* Adds what wait4() reported for a child and all it had waited for. Only these measures: */
#define USAGE_MEASURES                                                                           \
	(UINT64_C(1) << TASK_EXEC | UINT64_C(1) << TASK_USER | UINT64_C(1) << TASK_SYSTEM |      \
	 UINT64_C(1) << TASK_MIN_FLT | UINT64_C(1) << TASK_MAJ_FLT | UINT64_C(1) << TASK_NVCSW | \
	 UINT64_C(1) << TASK_NIVCSW)
void totals_add_usage(struct totals *totals, const struct rusage *usage, bool is_root);
/* Subtracts base, measure by measure, down to 0 at most. base may be NULL. */
void totals_subtract(struct totals *totals, const struct totals *base);

#endif
