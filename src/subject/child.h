/* The subject between its start and its exec. Private to subject/. */
#ifndef TARE_SUBJECT_CHILD_H
#define TARE_SUBJECT_CHILD_H

#include <stddef.h>
#include <sys/types.h>

#include "subject/command.h"

enum launch_stage {
	STAGE_EXEC, /* 0: also in an untouched stamp */
	STAGE_INPUT,
	STAGE_OUTPUT,
	STAGE_CPUS,
	STAGE_SCHEDULER,
	STAGE_NICE,
	STAGE_ASLR,
	STAGE_USER,
	STAGE_DIRECTORY,
	STAGES,
};

/* What the child needs. It runs in tare's memory until its exec, so this may not change before. */
struct child {
	const struct launch *launch;
	const char *path;
	char *const *argv, *const *env;
	bool change_user;
	uid_t uid;
	gid_t gid;
	const gid_t *groups;
	size_t group_count;
	int pipe_write;	  /* -1: none */
	int group;	  /* descriptor of the control group to start in; -1: tare's own */
	pid_t parent;	  /* tare */
	int death_signal; /* what it gets if tare is killed later; 0: SIGKILL. Read at the gate */
	volatile struct launch_stamp *stamp;
};

/* Starts a process that sets itself up, waits at the gate and execs. Until then it shares tare's
 * memory (as after vfork, but tare continues), so that neither its start nor its exec has to copy
 * or tear down tare's page tables. With fork, most of the time of `true` was spent on that.
 * stack is the memory for its stack. Returns the pid, or -1 with errno. Where it cannot start in
 * c->group, it starts in tare's, and c->group becomes -1. */
#define CHILD_STACK (64 << 10)
pid_t child_start(struct child *c, char *stack);

#endif
