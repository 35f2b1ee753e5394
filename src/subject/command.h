/* A command as subject: started behind a gate, so that everything can be made ready around it, and
 * timed from the instant before its exec, stamped by itself. */
#ifndef TARE_SUBJECT_COMMAND_H
#define TARE_SUBJECT_COMMAND_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

enum output { OUTPUT_NULL, OUTPUT_PIPE, OUTPUT_INHERIT, OUTPUT_FILE };

/* How processes are started. Strings are borrowed. Zeroed: stdin and output are /dev/null, nothing
 * else is changed. */
struct launch {
	const char *input;  /* file for stdin; NULL: /dev/null */
	bool inherit_input; /* stdin is tare's own, whatever input says */
	enum output output;
	const char *output_path; /* OUTPUT_FILE */
	const cpu_set_t *cpus;	 /* NULL: any */
	int policy; /* SCHED_OTHER (0), SCHED_FIFO, SCHED_RR, SCHED_BATCH, SCHED_IDLE */
	int rt_priority;
	int nice_level;
	bool set_nice;
	bool no_aslr;
	size_t env_padding; /* bytes of an extra environment variable: moves the stack */
	bool as_root;	    /* under sudo: not as the user who typed it */
	long iteration;	    /* given to the subject as HYPERFINE_ITERATION; -1: not given */
};

/* Written by the child, in memory it shares with tare until its exec. */
struct launch_stamp {
	uint32_t gate;	       /* futex */
	int32_t failed;	       /* errno of what failed in the child, 0 none */
	int32_t stage;	       /* enum launch_stage */
	uint64_t exec_ns;      /* CLOCK_MONOTONIC just before exec */
	uint64_t cpu_ns;       /* CPU time of the child until then */
	uint64_t read_bytes;   /* by that last look at the run queue */
	uint64_t run_delay_ns; /* its time on a run queue until then; 0 not known */
	struct rusage used;    /* by the child until then */
};

struct command {
	pid_t pid;
	int pidfd;
	int output_fd; /* OUTPUT_PIPE: read end, to be drained; else -1 */
	volatile struct launch_stamp *stamp;
};

/* Whom commands are started as, environment included; found once. NULL-safe to release twice. */
struct launcher;
int launcher_new(struct launcher **out, const struct launch *launch, struct error *err);
void launcher_free(struct launcher *l);

/* Forks a child that waits at the gate. argv[0] is looked up in PATH. as_root must be the
 * launcher's. */
int command_spawn(struct launcher *l, const struct launch *launch, char *const *argv,
		  struct command *c, struct error *err);

/* Opens the gate: the child execs. */
void command_start(struct command *c);

/* After its end: 0, or -1 when it never came to exec: the error says why, EXIT_USAGE for a command
 * that is not there or not executable. */
int command_started(const struct command *c, const char *name, struct error *err);

/* Closes what the parent holds. The process must have been waited for. */
void command_release(struct command *c);

#endif
