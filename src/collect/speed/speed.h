/* Watches how fast CPUs are while something else runs on them. A thread on each wakes up with the
 * kernel's tick, before everything else that wants the CPU, does a few µs of known work and sleeps
 * again. A wake-up at any other time would take an interrupt of its own, which costs the subject
 * far more than the probe itself: on a virtual machine some 50 µs of TLB and cache misses. */
#ifndef TARE_COLLECT_SPEED_SPEED_H
#define TARE_COLLECT_SPEED_SPEED_H

#include <sched.h>

#include "base/error.h"
#include "record/speed.h"

/* Who had this thread's CPU before this thread. *events counts what interrupted that CPU so far. */
enum speed_turn {
	SPEED_TURN_UNKNOWN,
	SPEED_TURN_SUBJECT,
	SPEED_TURN_OTHER, /* another task, or nobody */
};
typedef enum speed_turn (*speed_turn_fn)(void *context, uint32_t cpu, uint64_t *events);

/* Zeroed: all CPUs that this process may use, whoever has them. */
struct speed_options {
	const cpu_set_t *cpus; /* NULL: all that this process may use; borrowed until open returns
				*/
	int above_priority;    /* of the subject if that is a real-time one; 0: it is not */
	/* Tells when the subject has the CPU: other probes do no work. NULL: every one counts. */
	speed_turn_fn turn;
	void *context;
};

/* What one CPU's probes noted. */
struct speed_series {
	uint32_t cpu;
	const struct speed_sample *samples;
	size_t count;
	uint32_t stride; /* every stride-th probe was kept: a long time is thinned out */
};

struct speed_probe;

/* The threads are made here and sleep until begin. -1: none could be started on any CPU. */
int speed_probe_open(struct speed_probe **out, const struct speed_options *options,
		     struct error *err);
void speed_probe_close(struct speed_probe *p);

/* What is lost because this process may not do all; NULL: nothing. */
const char *speed_probe_not_seen(const struct speed_probe *p);

/* Around each execution. Between end and begin no thread wakes up. */
void speed_probe_begin(struct speed_probe *p);
void speed_probe_end(struct speed_probe *p, struct speed_means *out);

/* The probes between the last begin and end, one series per CPU; false: there are no more. Valid
 * until the next begin. */
bool speed_probe_series(const struct speed_probe *p, size_t number, struct speed_series *out);
/* The means of one series; all flags count, so that those elsewhere are not in it. */
void speed_probe_means(const struct speed_probe *p, size_t number, struct speed_means *out);

#endif
