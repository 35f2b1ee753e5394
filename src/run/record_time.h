/* Runs of commands being recorded: one for each command of a plan, their executions stored one by
 * one. */
#ifndef TARE_RUN_RECORD_TIME_H
#define TARE_RUN_RECORD_TIME_H

#include "measure/parameters.h"
#include "measure/plan.h"
#include "run/quiet.h"
#include "run/record.h"

/* One command with its parameters filled in, and what it is started with. */
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
	ARRAY(int) codes; /* exit codes that are no failure */
	cpu_set_t cpus;
	struct plan_item *items;
	struct plan plan;
};
void time_plan_release(struct time_plan *p);

struct time_recording {
	/* told by the caller */
	struct time_plan *p;
	enum backend backend;  /* BACKENDS: the best that there is */
	bool no_ledger, trace; /* no_ledger: none is kept, although it could be */
	bool must_have_ledger; /* that it cannot be kept is an error */
	bool make_quiet;       /* the machine, as `emp` says (run_quiet_begin()) */
	int emp;
	const char *tags, *shell_name; /* shell_name: as the user calls it */
	char *conditions;	       /* owned, set before time_recording_run() */
	void *context;
	void (*begun)(void *context, const struct run *run);
	/* mean_ns: of what was executed so far; NAN: nothing was. */
	void (*progress)(void *context, uint32_t done, uint32_t planned, double mean_ns);
	/* A run with executions has ended in the lab. */
	int (*ended)(void *context, const struct run *run, struct error *err);
	/* made by it */
	struct recorder to; /* to be opened by the caller */
	struct collector *collector;
	struct run_quiet quiet;
	char *ledger_missing; /* why there is no ledger although there could be; NULL: it is kept */
	struct run *runs;     /* one for each command; id 0 until begun */
	bool *stored;	      /* an execution of it is in the lab */
	double sum_ns;
	size_t summed;
};

/* Opens what measures and makes the machine quiet where that is wanted. From here on signals are
 * noted, not obeyed. */
int time_recording_open(struct time_recording *t, struct error *err);
/* The whole plan. Every run is ended as what it came to; one without an execution is not kept. */
int time_recording_run(struct time_recording *t, struct error *err);
/* The machine must have been put back: run_quiet_end(). */
void time_recording_close(struct time_recording *t);

#endif
