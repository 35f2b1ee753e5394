/* Whether a ledger adds up, and by how much it does not. For tests and benchmarks. */
#ifndef TARE_TESTS_KERNEL_CLOSURE_H
#define TARE_TESTS_KERNEL_CLOSURE_H

#include "record/execution.h"

/* A sum may be off by 0.1 % or by this, whichever is larger. */
#define CLOSURE_NS 5000u

struct closure {
	/* Of the threads: the sum of the causes against the lifetime. */
	uint64_t worst_ns;
	double worst_share;
	size_t beyond;	     /* threads that are off by more than both allow */
	uint64_t unseen_ns;  /* the most that one thread has as LEDGER_UNSEEN */
	uint64_t wall_ns;    /* the wall-clock view against the ET */
	uint64_t window_ns;  /* begin to end against the ET */
	uint64_t sum_ns;     /* the subject against its threads, the worst cause; 0 when not all are
				listed */
	uint64_t entries_ns; /* the names beneath a cause against it, the worst cause */
};

void closure_of(const struct execution *x, struct closure *c);

uint64_t closure_allows(uint64_t of_ns);

/* What does not add up, or "" */
void closure_verdict(const struct execution *x, char *why, size_t size);

#endif
