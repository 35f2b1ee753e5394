/* The experiment: several commands, each executed until its stop rule is met, in the order chosen.
 */
#ifndef TARE_MEASURE_PLAN_H
#define TARE_MEASURE_PLAN_H

#include "measure/execute.h"

enum order { ORDER_SEQUENTIAL, ORDER_INTERLEAVED, ORDER_RANDOM };

/* One command with its hooks; argv arrays are borrowed, NULL where there is no hook. */
struct plan_item {
	char *const *argv;
	char *const *setup;    /* once before its executions */
	char *const *prepare;  /* before each execution, warm-ups too */
	char *const *conclude; /* after each execution */
	char *const *cleanup;  /* once after its executions */
	const char *output; /* as --output has it: NULL (the plan's own), "null", "pipe", "inherit"
			       or a file */
};

/* What it costs to start a shell for nothing. */
struct shell_cost {
	uint64_t et_ns, pt_ns[GRADES];
};

struct plan {
	const struct plan_item *items;
	size_t count;
	uint32_t warmup;
	uint32_t runs;		     /* exactly so many; 0: by the rules below */
	uint32_t min_runs, max_runs; /* max 0: no limit */
	uint64_t min_time_ns;	     /* go on at least this long */
	double precision; /* 0: none; else until the 95 % interval of the mean is within ± this
			     share */
	enum order order;
	uint64_t seed; /* of ORDER_RANDOM and the environment padding */
	bool pad_environment;
	bool ignore_failure;	   /* a non-zero exit does not end the plan */
	const int *expected_codes; /* nor do these */
	size_t expected_count;
	struct shell_cost shell;   /* taken off before the interval is judged; zeroed: no shell */
	struct launch launch;	   /* of the subjects */
	struct launch hook_launch; /* of the hooks */
	struct execute_options execute;
};

/* What the caller is told. x is lent: its memory is reused afterwards. */
struct plan_events {
	void *context;
	/* Before an item's first execution. */
	int (*begun)(void *context, size_t item, struct error *err);
	/* After each execution; number and warmup are filled in. -1 ends the plan. */
	int (*executed)(void *context, size_t item, struct execution *x, struct error *err);
	/* Now and then: executions done and planned (0: unknown) of the item. */
	void (*progress)(void *context, size_t item, uint32_t done, uint32_t planned);
};

/* Stops at the first error, interruption included; cleanup hooks of items begun are run all the
 * same. failed is the item at fault, plan->count when none. */
int plan_run(struct collector *c, const struct plan *plan, const struct plan_events *events,
	     size_t *failed, struct error *err);

/* Medians over `runs` executions of argv, the shell with an empty command. */
int shell_calibrate(struct collector *c, const struct plan *plan, char *const *argv, uint32_t runs,
		    struct shell_cost *cost, struct error *err);

#endif
