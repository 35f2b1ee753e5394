/* How steady the speed of a machine's CPUs is, by probes of known work. Pure. */
#ifndef TARE_PROTOCOL_DOCTOR_SPEED_H
#define TARE_PROTOCOL_DOCTOR_SPEED_H

#include "record/speed.h"

enum speed_grade {
	SPEED_GRADE_UNKNOWN, /* too few probes */
	SPEED_GRADE_STEADY,
	SPEED_GRADE_SHARED,    /* others use the core, its caches or its memory */
	SPEED_GRADE_THROTTLED, /* its clock changes */
	SPEED_GRADES
};
extern const char *const speed_grade_names[SPEED_GRADES];

/* Of means over windows of 100 ms, in ns of a probe's work. NaN: not seen. */
struct speed_figures {
	double best, median, worst; /* the 5 %, 50 % and 95 % quantiles */
	double varied;		    /* worst / best - 1 */
};

/* Sorts the means. */
struct speed_figures speed_figures_of(double *means, size_t count);

struct speed_cpu {
	uint32_t cpu;
	enum speed_grade grade;
	uint64_t windows, probes, left_out;
	struct speed_figures of[SPEED_KINDS];
};

/* samples are in order of time; those that were interrupted get marked. */
void speed_judge(struct speed_sample *samples, size_t count, struct speed_cpu *out);

/* The worst of them. */
enum speed_grade speed_grade_of(const struct speed_cpu *cpus, size_t count);

/* What to do about it, a sentence. */
const char *speed_advice(enum speed_grade grade);

#endif
