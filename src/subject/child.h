/* The subject between its birth and its exec. Private to subject/. */
#ifndef TARE_SUBJECT_CHILD_H
#define TARE_SUBJECT_CHILD_H

#include <stddef.h>
#include <sys/types.h>

#include "subject/command.h"

enum launch_stage {
	STAGE_EXEC, /* 0: also what an untouched stamp says */
	STAGE_INPUT,
	STAGE_OUTPUT,
	STAGE_CPUS,
	STAGE_SCHEDULER,
	STAGE_NICE,
	STAGE_ASLR,
	STAGE_USER,
	STAGES,
};

/* Everything the child needs; it lives in tare's memory until its exec, so nothing of this may
 * change before. */
struct child {
	const struct launch *launch;
	const char *path;
	char *const *argv, *const *env;
	bool change_user;
	uid_t uid;
	gid_t gid;
	const gid_t *groups;
	size_t group_count;
	int pipe_write; /* -1: none */
	volatile struct launch_stamp *stamp;
};

/* Starts a process that sets itself up, waits at the gate and execs. It shares tare's memory until
 * then (as after vfork, but tare goes on), so that neither its birth nor its exec has to copy or
 * tear down tare's page tables: with fork, the larger part of the time of `true` was tare's own
 * memory being taken apart. stack_end: the upper end of memory it may use as its stack. The pid, or
 * -1 with errno. */
pid_t child_start(struct child *c, void *stack_end);

#endif
