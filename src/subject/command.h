/* A command as subject. It is started behind a gate, so that everything can be prepared around it,
 * and timed from the instant before its exec, which it stamps itself. */
#ifndef TARE_SUBJECT_COMMAND_H
#define TARE_SUBJECT_COMMAND_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

enum output { OUTPUT_NULL, OUTPUT_PIPE, OUTPUT_INHERIT, OUTPUT_FILE };

/* How to start a process. Strings are borrowed. Zeroed: stdin and output are /dev/null. */
struct launch {
	const char *input;  /* file for stdin; NULL: /dev/null */
	bool inherit_input; /* stdin is tare's own, whatever input says */
	enum output output;
	const char *output_path; /* OUTPUT_FILE */
	const char *directory;	 /* to run in; NULL: tare's */
	const cpu_set_t *cpus;	 /* NULL: any */
	int policy; /* SCHED_OTHER (0), SCHED_FIFO, SCHED_RR, SCHED_BATCH, SCHED_IDLE */
	int rt_priority;
	int nice_level;
	bool set_nice;
	bool no_aslr;
	size_t env_padding; /* bytes of an extra environment variable, which moves the stack */
	bool as_root;	    /* under sudo: run as root, not as the invoking user */
	long iteration;	    /* passed to the subject as HYPERFINE_ITERATION; -1: not passed */
};

/* Written by the child, in memory that it shares with tare until its exec. */
struct launch_stamp {
	uint32_t gate;	       /* futex */
	int32_t failed;	       /* errno of what failed in the child; 0: nothing */
	int32_t stage;	       /* enum launch_stage */
	uint64_t exec_ns;      /* CLOCK_MONOTONIC just before exec */
	uint64_t cpu_ns;       /* CPU time of the child until then */
	uint64_t read_bytes;   /* by reading the run-queue statistics last */
	uint64_t run_delay_ns; /* its time on a run queue until then; 0: unknown */
	struct rusage used;    /* by the child until then */
};

struct command {
	pid_t pid;
	int pidfd;
	int output_fd; /* OUTPUT_PIPE: the read end, which must be drained; otherwise -1 */
	int guarded;   /* for guard_release(); 0: it is not */
	volatile struct launch_stamp *stamp;
};

/* The user and environment for commands, determined once. NULL may be released. */
struct launcher;
int launcher_new(struct launcher **out, const struct launch *launch, struct error *err);
void launcher_free(struct launcher *l);

/* Starts a child that waits at the gate. argv[0] is looked up in PATH. as_root: the launcher's. */
int command_spawn(struct launcher *l, const struct launch *launch, char *const *argv,
		  struct command *c, struct error *err);

/* Opens the gate, so that the child execs. */
void command_start(struct command *c);

/* Call it after the command ended. Returns 0, or -1 if it never reached exec; the error says why,
 * with EXIT_USAGE if the command does not exist or is not executable. */
int command_started(const struct command *c, const char *name, struct error *err);

/* Closes what the parent holds. The process must have been waited for. */
void command_release(struct command *c);

#endif
