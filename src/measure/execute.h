/* One execution of a command, in TTPv2's order: tasks, overall, clock, program, clock, overall,
 * exits, tasks. */
#ifndef TARE_MEASURE_EXECUTE_H
#define TARE_MEASURE_EXECUTE_H

#include "collect/collect.h"
#include "collect/counters/counters.h"
#include "subject/command.h"

enum orphans {
	ORPHANS_END,   /* wait for grace_ns, then kill them */
	ORPHANS_LEAVE, /* leave them running and report them */
};

/* For whoever conducts several executions at once (measure/seat.h). */
struct execute_watch {
	void *context;
	/* The command waits at the gate and everything else is ready. -1: give up. */
	int (*at_gate)(void *context, pid_t pid, struct error *err);
	/* While it runs, fd (-1: none) is readable. -1: end the command, as if interrupted. */
	int fd;
	int (*readable)(void *context, struct collector *c);
};

struct execute_options {
	uint64_t time_limit_ns; /* 0: none */
	enum orphans orphans;
	uint64_t grace_ns;
	const struct execute_watch *watch; /* NULL: none */
	struct speed_probe *speed;	   /* watches the CPUs meanwhile; NULL: none does */
	struct counters *counters;	   /* NULL: none are read */
};

/* Fills in x except id, number and warmup; its memory is reused. Returns -1 if the command could
 * not be started (EXIT_USAGE or EXIT_ENVIRONMENT) or the user interrupted it (EXIT_INTERRUPTED).
 * Nothing of it is running then. */
int execute(struct collector *c, struct launcher *l, const struct launch *launch, char *const *argv,
	    const struct execute_options *options, struct execution *x, struct error *err);

/* Runs a hook until it ends and gives its wait status; -1 as above. A signal ends the hook. */
int hook_execute(struct launcher *l, const struct launch *launch, char *const *argv, int *status,
		 struct error *err);

#endif
