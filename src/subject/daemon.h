/* The synthetic daemon of De, Kothari and Mann (section IV-B): jitter of known name, period and
 * length, to check an installation of `tare noise`. Only one per process, because it takes the
 * process's name, priority and memory. */
#ifndef TARE_SUBJECT_DAEMON_H
#define TARE_SUBJECT_DAEMON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define DAEMON_NAME_MOST 15 /* bytes of a task's name */
#define DAEMON_LOG_MOST 100000

struct daemon_plan {
	const char *name;
	uint64_t period_ns, work_ns;
	uint64_t count;	      /* activations; 0: until told to stop */
	uint64_t duration_ns; /* 0: the same */
	int cpu;	      /* -1: any */
	bool realtime;
	int priority;	   /* of the FIFO class */
	uint64_t start_ns; /* CLOCK_MONOTONIC of the first activation; 0: a period from now */
	double jitter;	   /* each period is longer or shorter by up to this share */
	uint64_t seed;	   /* of the jitter */
};

struct daemon_activation {
	uint64_t number; /* from 1 */
	uint64_t begin_ns, length_ns,
		cpu_ns; /* CLOCK_MONOTONIC; its length by that clock; CPU time of the thread */
};

struct daemon {
	struct daemon_plan plan;
	bool realtime, locked; /* what it actually got */
	uint64_t steps;	       /* of the generator in one activation */
	uint64_t begin_ns;     /* when the first period began */
	struct daemon_activation
		*log; /* a ring of DAEMON_LOG_MOST; number n is at (n - 1) % DAEMON_LOG_MOST */
	uint64_t activations;
	uint64_t missed; /* deadlines that had passed before it reached them */
	uint64_t random; /* state of the jitter's generator */
};

/* Checks the plan. EXIT_USAGE if it makes no sense. */
int daemon_check(const struct daemon_plan *plan, struct error *err);
/* Takes CPU, name, class and memory as planned, and measures how many steps the work is. It is not
 * an error if the real-time class or the memory lock is refused: see the members above. plan.name
 * must stay valid. */
int daemon_prepare(struct daemon *d, const struct daemon_plan *plan, struct error *err);
/* Works until the plan ends or daemon_stop(). An activation cut short by that is not in the log. */
void daemon_run(struct daemon *d);
/* May be called in signal handlers of the same thread. */
void daemon_stop(void);
void daemon_release(struct daemon *d);

#endif
