/* The experiment: executes several commands in the chosen order, each until its stop rule holds. */
#ifndef TARE_MEASURE_PLAN_H
#define TARE_MEASURE_PLAN_H

#include "base/options.h"
#include "measure/execute.h"

enum order { ORDER_SEQUENTIAL, ORDER_INTERLEAVED, ORDER_RANDOM };

/* One command with its hooks. The argv arrays are borrowed; NULL: no hook. */
struct plan_item {
	char *const *argv;
	char *const *setup;    /* once before its executions */
	char *const *prepare;  /* before each execution, including warm-ups */
	char *const *conclude; /* after each execution */
	char *const *cleanup;  /* once after its executions */
	const char *directory; /* to run in; NULL: tare's */
	const char *output; /* a value of --output: NULL (the plan's own), "null", "pipe", "inherit"
			       or a file */
};

/* The cost of starting a shell with an empty command. */
struct shell_cost {
	uint64_t et_ns, pt_ns[GRADES];
};

/* What --precision judges by. */
enum plan_by {
	PLAN_BY_BEST, /* ET if it sleeps or does I/O, or else the best grade of process time */
	PLAN_BY_ET,
	PLAN_BY_GRADE, /* + enum grade */
};

/* The times of an item so far, of all measured executions, without the shell's. */
struct plan_times {
	ARRAY(double) et, pt; /* pt: of the grade judged by; empty: there is none */
	double et_sum, pt_sum;
	double raw_et_ns, blocked_ns;
};

struct plan {
	const struct plan_item *items;
	size_t count;
	uint32_t warmup;
	uint32_t runs;		     /* exactly this many; 0: by the rules below */
	uint32_t min_runs, max_runs; /* max 0: no limit */
	uint64_t min_time_ns;	     /* continue at least this long */
	double precision;	     /* 0: none; or until the mean is known to ± this share
					(stats/precision.h);	    with a max_runs */
	unsigned judged_by;	     /* enum plan_by: what that mean is of */
	enum order order;
	uint64_t seed; /* of ORDER_RANDOM and the environment padding */
	bool pad_environment;
	bool ignore_failure;	   /* a non-zero exit does not end the plan */
	const int *expected_codes; /* nor do these codes */
	size_t expected_count;
	bool through_shell;	   /* argv is a shell, -c and the command */
	struct shell_cost shell;   /* subtracted before the interval is judged; zeroed: no shell */
	struct launch launch;	   /* of the subjects */
	struct launch hook_launch; /* of the hooks */
	struct execute_options execute;
};

void plan_add_times(const struct plan *plan, const struct execution *x, struct plan_times *t);
void plan_forget_times(struct plan_times *t);
/* The mean of what it is judged by; NAN: there is none yet. */
double plan_mean(const struct plan *plan, const struct plan_times *t);

/* ---- shared with measure/duet.c ---- */

/* xorshift64*: order and padding only need to be unpredictable to the program under test. */
uint64_t plan_random(uint64_t *state);
/* A random size of the environment, which moves the stack of a command. */
uint64_t plan_padding(uint64_t *random);
/* Sets where output goes; NULL changes nothing. */
void plan_set_output(struct launch *launch, const char *output);
/* Runs a hook; NULL argv: none. `what` names it in the error. */
int plan_hook(const struct plan *plan, struct launcher *hooks, char *const *argv, const char *what,
	      long iteration, struct error *err);
/* 0 if an execution that ended so counts, else -1 with what happened to it. name: of the command;
 * NULL if the error need not name it. */
int plan_check_outcome(const struct plan *plan, const char *name, enum outcome outcome, int status,
		       struct error *err);

/* Notifies the caller. x is valid only during the call; its memory is reused. */
struct plan_events {
	void *context;
	/* Before an item's first execution. */
	int (*begun)(void *context, size_t item, struct error *err);
	/* After each execution; number and warmup are filled in. -1 ends the plan. */
	int (*executed)(void *context, size_t item, struct execution *x, struct error *err);
	/* From time to time: executions done and planned (0: unknown) of the item. */
	void (*progress)(void *context, size_t item, uint32_t done, uint32_t planned);
};

/* Stops at the first error or interruption, but still runs the cleanup hooks of items that began.
 * *failed is the item at fault, or plan->count if none is. */
int plan_run(struct collector *c, const struct plan *plan, const struct plan_events *events,
	     size_t *failed, struct error *err);

/* Medians over some executions of the shell with an empty command. */
int shell_calibrate(struct collector *c, const struct plan *plan, const word_list *shell,
		    struct shell_cost *cost, struct error *err);

#endif
