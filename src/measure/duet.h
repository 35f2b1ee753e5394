/* The experiment of a duet: pairs of executions that share the CPUs, until the caller says that the
 * answer is sure or the time is over. */
#ifndef TARE_MEASURE_DUET_H
#define TARE_MEASURE_DUET_H

#include "measure/plan.h"
#include "record/duet.h"

#define DUET_PERIOD_NS 500000u /* decision 031 has the measurements behind these three */
#define DUET_SLICE_NS 100000u
#define DUET_TURN_NS 10000000u

struct duet_plan {
	const struct plan
		*plan; /* items (the first is the reference), hooks, launch, seed, failures */
	enum backend backend;  /* BACKENDS: the best available */
	bool ledger;	       /* keep one if possible */
	enum duet_way way;     /* DUET_WAYS: chosen by what the commands do alone */
	const cpu_set_t *cpus; /* NULL: any that tare may use */
	uint32_t max_pairs;    /* of each side with the reference; 0: no limit */
	uint64_t settle_ns;    /* go on at least this long; 0: until the answer is sure */
};

struct duet_events {
	void *context;
	/* The way is chosen and the pairs begin: everything in d but parts and looks is known. */
	int (*begun)(void *context, const struct duet *d, struct error *err);
	/* `count` parts were added to d: those of a pair, or executions alone. */
	int (*added)(void *context, const struct duet *d, size_t count, struct error *err);
	/* A look was added to d. *done: the answer is sure. */
	int (*looked)(void *context, const struct duet *d, bool *done, struct error *err);
	/* pairs: 0 while the commands run alone. */
	void (*progress)(void *context, uint32_t pairs, uint64_t elapsed_ns);
};

/* d: the limits (max_time_ns, precision, slower, period_ns, slice_ns, turn_ns, seed) are set by the
 * caller; the sides, too. The rest is filled in. *failed_side is the side at fault, or the number
 * of sides. What was measured until an error stays in d. */
int duet_run(const struct duet_plan *p, struct duet *d, const struct duet_events *events,
	     size_t *failed_side, struct error *err);

#endif
