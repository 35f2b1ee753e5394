/* Tasks as /proc shows them. Private to collect/.
 *
 * TASK_USER and TASK_SYSTEM of a /proc record are not the raw ticks: the kernel scales those so
 * that their sum is TASK_EXEC, then rounds each down to 10 ms. They show a split; only BPF and
 * taskstats records have the grade `tick`. TASK_BLKIO_DELAY also comes in steps of 10 ms. start_ns
 * is a multiple of 10 ms: it is the same in every /proc record of a task, but differs from what BPF
 * says. */
#ifndef TARE_COLLECT_BACKEND_PROCFS_H
#define TARE_COLLECT_BACKEND_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/array.h"
#include "base/error.h"
#include "record/task.h"

struct procfs;

/* Fails when /proc is not mounted. */
int procfs_open(struct procfs **out, struct error *err);
void procfs_close(struct procfs *p);

enum procfs_files {
	PROCFS_STAT = 0,   /* always read: identity, user, system, faults, memory, block delay */
	PROCFS_STATUS = 1, /* context switches, peak memory */
	PROCFS_IO = 2,
	PROCFS_SCHEDSTAT = 4, /* exec, run_delay */
	PROCFS_ALL = 7,
};

/* What /proc/PID/stat has in addition to the record. */
struct stat_extra {
	char state;
	uint32_t flags; /* PF_* */
	uint64_t threads;
	uint64_t blkio_ticks;
	bool has_blkio;
};

/* One task now. False, with *into unspecified, if it is gone. What may not be read is not
 * present. */
bool procfs_task(struct procfs *p, pid_t tgid, pid_t tid, unsigned files, struct task_record *into,
		 struct stat_extra *extra);

/* Calls each with every task, a process's leader first. The callee may change the record, which is
 * valid only during the call. */
typedef void procfs_visitor(void *context, struct task_record *task,
			    const struct stat_extra *extra);
int procfs_each(struct procfs *p, unsigned files, procfs_visitor *each, void *context,
		struct error *err);
/* Like procfs_each(), for the threads of one process. Does nothing if it is gone. */
void procfs_each_thread(struct procfs *p, pid_t tgid, unsigned files, procfs_visitor *each,
			void *context);
/* Like procfs_each(), for the leaders only. */
int procfs_each_process(struct procfs *p, unsigned files, procfs_visitor *each, void *context,
			struct error *err);

/* Appends the children of this process, including zombies. */
typedef ARRAY(pid_t) procfs_pids;
void procfs_children(struct procfs *p, procfs_pids *into);

/* A zombie, or a task about to become one: what it used is final, or nearly so. */
bool procfs_is_gone(const struct stat_extra *extra);

/* Checks again whether the kernel keeps block-I/O delays (kernel.task_delayacct). procfs_each() and
 * its variants do this themselves. */
bool procfs_delays_kept(struct procfs *p);

/* The parsers. The text need not be well-formed or end in NUL. False: not such a file; *into may
 * have been changed. They set what they find and its presence. */
bool stat_parse(const char *text, size_t length, struct task_record *into,
		struct stat_extra *extra);
bool status_parse(const char *text, size_t length, struct task_record *into);
bool io_parse(const char *text, size_t length, struct task_record *into);
bool schedstat_parse(const char *text, size_t length, struct task_record *into);

#endif
