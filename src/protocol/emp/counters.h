/* Counters over the kept executions of a run, and figures derived from them: instructions per
 * cycle, misses per 1,000 instructions, GHz, what became of the pipeline's slots. Pure. */
#ifndef TARE_PROTOCOL_EMP_COUNTERS_H
#define TARE_PROTOCOL_EMP_COUNTERS_H

#include "base/strbuf.h"
#include "protocol/emp/emp.h"

enum emp_counter_kind {
	EMP_COUNTED,
	EMP_PER_CYCLE, /* instructions per cycle */
	EMP_GHZ,       /* cycles per ns of process time */
	EMP_CLOCK,     /* cycles per reference cycle: the clock as a share of its nominal rate */
	EMP_EFFECTIVE, /* the same by aperf and mperf, interrupts and idle moments included */
	EMP_SLOTS, /* the share of the pipeline's slots that were so, by the names in emp_slots */
	EMP_PER_1000, /* of this event per 1,000 instructions */
	EMP_COUNTER_KINDS
};
extern const char *const emp_counter_kind_names[EMP_COUNTER_KINDS];
#define EMP_SLOTS_OF 4
extern const char *const emp_slots[EMP_SLOTS_OF];

struct emp_counter {
	enum emp_counter_kind kind;
	const char *name;    /* of the event, borrowed from the executions; or of emp_slots */
	bool scaled;	     /* the CPU had too few counters for all of them at once */
	bool user_only;	     /* nothing of the kernel is in it */
	size_t unknown;	     /* of the kept ones, those that lack it */
	size_t outliers;     /* of the kept ones, those more than 1.5 quartiles' distances off */
	double user, kernel; /* their means; NaN: not counted apart, or derived */
	struct summary kept;
};
typedef ARRAY(struct emp_counter) emp_counter_list;

/* Those that a kept execution has, in the order in which they were asked for, then what is
 * derived. */
void emp_counters(const struct execution *executions, const struct emp_result *r,
		  emp_counter_list *out);
const struct emp_counter *emp_counter_find(const emp_counter_list *list, enum emp_counter_kind kind,
					   const char *name);

/* How many of them are more than 1.5 quartiles' distances off. */
size_t emp_outliers(const double *values, size_t n);

/* A figure of one execution; NaN: it is not known. name: of the event, for those kinds that have
 * one. */
double emp_counter_value(const struct execution *x, enum emp_counter_kind kind, const char *name);

/* Why x ran longer than base, by their counters: it did more, the same took more cycles (and which
 * stalls or misses grew), or the cycles took longer. Nothing if they do not say. */
void emp_counters_explain(const struct execution *x, const struct execution *base,
			  struct strbuf *out);

#endif
