/* Which measure runs are shown and compared by, and why: elapsed time if they sleep or do I/O,
 * process time if they only ran or queued for a CPU, or what the user asked for. Pure. */
#ifndef TARE_PROTOCOL_EMP_CHOICE_H
#define TARE_PROTOCOL_EMP_CHOICE_H

#include "base/strbuf.h"
#include "protocol/emp/emp.h"

/* The measure that a user calls "et", "net", "exec", "tick", "steady", "instructions" or "cycles";
 * EMP_MEASURES for "best", any other word and NULL. */
enum emp_measure emp_measure_of(const char *word);

enum emp_why {
	EMP_WHY_ASKED,	  /* by --measure, now or when the runs were made */
	EMP_WHY_NO_PT,	  /* elapsed time is all that every run has */
	EMP_WHY_WAITS,	  /* elapsed time: one of them slept or did I/O */
	EMP_WHY_OFF_CPU,  /* elapsed time: one was off the CPU, and nobody saw why */
	EMP_WHY_PARALLEL, /* elapsed time: they did not use as many CPUs at once */
	EMP_WHY_QUEUED,	  /* process time: others had the CPU of one */
	EMP_WHY_RAN,	  /* process time: they hardly did anything but run */
};
extern const char *const emp_why_names[];

struct emp_choice {
	enum emp_measure measure;
	enum emp_why why;
	size_t run; /* the one that decided it, among those given */
	/* WAITS, OFF_CPU, QUEUED: the share of its elapsed time; PARALLEL: the CPUs it used */
	double share;
	/* what was asked for, but not every run has it; EMP_MEASURES: nothing */
	enum emp_measure missed;
};

/* The best grade of process time that every run with a kept execution has; EMP_ET: none. */
enum emp_measure emp_best_pt(const struct emp_judged *runs, size_t count);

/* Runs without a kept execution have no say. asked: EMP_MEASURES is what all of them were made for
 * (`--measure`), or else the best. */
void emp_choose(const struct emp_judged *runs, size_t count, enum emp_measure asked,
		struct emp_choice *out);
/* "'sleep 0.01' slept or did I/O 95 % of its time"; nothing if there is nothing to say. */
void emp_choice_words(const struct emp_choice *c, const struct emp_judged *runs,
		      struct strbuf *out);

/* Compares the two sides by a measure that all of them have: PT(steady) at equal speed of the CPU,
 * if all were probed; otherwise the kept means. With several runs on a side, the interval has the
 * variation between them (summarise_runs()). */
void emp_compare_sides(const struct emp_judged *runs, size_t count, enum emp_measure m,
		       struct emp_comparison *out);

/* "process time (exec)", "elapsed time" */
const char *emp_measure_title(enum emp_measure m);

/* Fills in r->spent. Private to protocol/emp/. */
void emp_find_spent(const struct execution *executions, struct emp_result *r);
/* Fills in r->shown. Private to protocol/emp/. */
void emp_find_shown(const struct run *run, struct emp_result *r);

#endif
