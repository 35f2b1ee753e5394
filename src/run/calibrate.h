/* The active study: executions of inc, stored one by one in two ordinary runs. Those runs are all
 * that is needed to resume after an interruption. */
#ifndef TARE_RUN_CALIBRATE_H
#define TARE_RUN_CALIBRATE_H

#include <sched.h>

#include "measure/plan.h"
#include "run/study.h"

/* What the caller wants of one of the runs. */
struct calibrate_part {
	uint64_t length_ns; /* 0: there is none */
	uint32_t samples;
};

struct calibration_part {
	struct calibrate_part want;
	uint64_t turns;
	struct run run; /* id 0: not begun */
	uint32_t done, warmed;
	bool ended; /* in the lab */
};

struct calibration {
	/* set by the caller */
	enum backend backend;			     /* BACKENDS: the best available */
	struct calibrate_part wanted[STUDY_LENGTHS]; /* when resuming, length 0: unchanged */
	const char *wanted_cpus;		     /* NULL: any, or unchanged when resuming */
	cpu_set_t wanted_set;
	const char *resume; /* NULL: a new study; "": the newest; otherwise a run */
	notice_fn notice;
	void *context;
	void (*begun)(void *context, const struct calibration *c); /* part c->at */
	void (*progress)(void *context, const struct calibration *c);
	void (*ended)(void *context);
	struct recorder to; /* the caller sets lab and command line */
	/* set by calibration_run() */
	struct collector *collector;
	char *cpus; /* NULL: any */
	cpu_set_t cpu_set;
	struct calibration_part parts[STUDY_LENGTHS];
	enum study_length at;
};

/* "INC128", as in the papers. */
void calibration_inc_name(uint64_t length_ns, char out[32]);
/* Measures what is still missing. The samples are then in the lab and loaded into `in`. */
int calibration_run(struct calibration *c, struct study_input *in, struct error *err);
void calibration_close(struct calibration *c);

#endif
