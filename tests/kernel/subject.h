/* Subjects with a known use of CPU, run under a back end as measure/ would run them. */
#ifndef TARE_TESTS_KERNEL_SUBJECT_H
#define TARE_TESTS_KERNEL_SUBJECT_H

#include <stdatomic.h>

#include "collect/backend/backend.h"

/* In memory shared by the test and its subject. */
struct shared {
	_Atomic uint64_t cpu_ns; /* summed over the processes that called done() */
	_Atomic int pid[16];	 /* whatever the subject wants to tell */
};

typedef void subject(struct shared *shared);

struct outcome_of {
	struct image before, exits, after;
	struct totals totals, base;
	uint64_t lost, root_end_ns;
	uint64_t released_ns, reaped_ns; /* CLOCK_MONOTONIC around the root's run */
	uint64_t usage_ns;		 /* CPU time by wait4(), summed */
	struct shared *shared;
	pid_t root;
};

struct trial {
	const struct backend_ops *ops;
	void *state;
	bool lazy;		     /* never drain before the end */
	void (*meanwhile)(void *of); /* called when the subject runs; may be NULL */
	void *of;
};

/* Runs it to its end, and all it leaves behind. */
void trial_run(const struct trial *trial, subject *run, struct outcome_of *o);
void outcome_release(struct outcome_of *o);

/* For subjects: */
void burn_ms(unsigned ms);	  /* of this process's CPU time */
void done(struct shared *shared); /* adds this process's CPU time and exits */

const struct task_record *record_of(const struct image *image, pid_t tid);

/* Ends the test as skipped (77), or as failed when TARE_TEST_REQUIRE is 1. */
_Noreturn void skip_all(const char *reason);

#endif
