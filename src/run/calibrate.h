/* The active study: executions of inc, stored one by one in two ordinary runs, which is all that
 * going on after an interruption needs. */
#ifndef TARE_RUN_CALIBRATE_H
#define TARE_RUN_CALIBRATE_H

#include <sched.h>

#include "measure/plan.h"
#include "run/study.h"

/* What one of the runs shall be. */
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
	/* told by the caller */
	enum backend backend; /* BACKENDS: the best that there is */
	struct calibrate_part
		wanted[STUDY_LENGTHS]; /* of one that is resumed, length 0: as it was */
	const char *wanted_cpus;       /* NULL: any, or as it was */
	cpu_set_t wanted_set;
	const char *resume; /* NULL: a new study; "": the newest; else a run */
	notice_fn notice;
	void *context;
	void (*begun)(void *context, const struct calibration *c); /* part c->at */
	void (*progress)(void *context, const struct calibration *c);
	void (*ended)(void *context);
	struct recorder to; /* with lab and command line */
	/* made by it */
	struct collector *collector;
	char *cpus; /* NULL: any */
	cpu_set_t cpu_set;
	struct calibration_part parts[STUDY_LENGTHS];
	enum study_length at;
};

/* "INC128", as the papers have it. */
void calibration_inc_name(uint64_t length_ns, char out[32]);
/* Measures what is left to be measured; the samples are then in the lab, and loaded into `in`. */
int calibration_run(struct calibration *c, struct study_input *in, struct error *err);
void calibration_close(struct calibration *c);

#endif
