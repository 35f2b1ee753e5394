/* Records runs of commands, one per command of a plan. Each execution is stored when it ends. */
#ifndef TARE_RUN_RECORD_TIME_H
#define TARE_RUN_RECORD_TIME_H

#include "measure/parameters.h"
#include "measure/plan.h"
#include "run/quiet.h"
#include "run/record.h"

/* One command with its parameters filled in, and its hooks. */
struct time_command {
	char *text, *name;  /* as given, filled in */
	size_t combination; /* of the parameters; SIZE_MAX for the reference */
	word_list argv, setup, prepare, conclude, cleanup;
	char *output; /* --output with the parameters filled in; NULL: none */
};

struct time_plan {
	parameter_space space;
	ARRAY(struct time_command) commands;
	word_list shell;  /* empty: none */
	ARRAY(int) codes; /* exit codes that are not a failure */
	cpu_set_t cpus;
	struct plan_item *items;
	struct plan plan;
};
void time_plan_release(struct time_plan *p);

struct time_recording {
	/* set by the caller */
	struct time_plan *p;
	enum backend backend;  /* BACKENDS: the best available */
	bool no_ledger, trace; /* no_ledger: do not keep one even if possible */
	bool no_speed;	       /* do not watch the speed of the CPUs even if possible */
	/* events as counters_open() takes them; "none" */
	const char *counters;
	const char *counted; /* fail unless this event will be known in user mode; NULL: need not */
	bool must_have_ledger; /* fail if no ledger can be kept */
	bool make_quiet;       /* make the machine quiet, as `emp` says (run_quiet_begin()) */
	int emp;
	const char *tags, *shell_name; /* shell_name: as the user wrote it */
	char *conditions;	       /* owned, set before time_recording_run() */
	void *context;
	void (*begun)(void *context, const struct run *run);
	/* mean_ns: of all executions so far, of what they are judged by; NAN: none yet. */
	void (*progress)(void *context, uint32_t done, uint32_t planned, double mean_ns);
	/* A run with executions has ended in the lab. */
	int (*ended)(void *context, const struct run *run, struct error *err);
	/* set by time_recording_open() */
	struct recorder to; /* opened by the caller */
	struct collector *collector;
	struct run_quiet quiet;
	struct speed_probe *speed; /* NULL: none */
	struct counters *counting; /* NULL: none */
	char *ledger_missing; /* why the bpf back end keeps no ledger; NULL: it does, or is not used
			       */
	char *speed_missing;  /* what is not known of the CPUs' speed, a sentence; NULL: nothing */
	struct run *runs;     /* one per command; id 0 until begun */
	bool *stored;	      /* the lab has an execution of it */
	struct plan_times times; /* of the run being made, for the progress */
};

/* Opens the collectors and makes the machine quiet if wanted. From here on signals are noted but do
 * not end the process. */
int time_recording_open(struct time_recording *t, struct error *err);
/* Runs the plan and ends every run with its status. A run without an execution is removed. */
int time_recording_run(struct time_recording *t, struct error *err);
/* Call run_quiet_end() before this. */
void time_recording_close(struct time_recording *t);

/* Opens what `list` says ("none": nothing). Fails if `counted` (NULL: nothing) will not be known in
 * user mode. Shared with record_duet.c. */
int counting_open(struct counters **out, const char *list, const char *counted, struct error *err);

#endif
