/* Samples of what the CPUs execute, counted in the kernel and taken over from time to time.
 *
 * There are two back ends: `bpf` (tick, cpu-clock and events; the whole system) and `perf` (own
 * processes, user space only, which is what an unprivileged user may see). */
#ifndef TARE_COLLECT_SAMPLES_SAMPLES_H
#define TARE_COLLECT_SAMPLES_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cpus.h"
#include "base/error.h"
#include "record/execution.h"
#include "record/profile.h"

struct samples;

struct samples_options {
	enum profile_mode mode;
	uint32_t hz;	   /* PROFILE_CLOCK and PROFILE_CYCLES */
	const char *event; /* PROFILE_EVENT: a name as of `tare time --counters` */
	uint64_t period;   /* PROFILE_EVENT: a sample for so many of it; 0: as suits the event */
	enum profile_stacks stacks;
	/* NULL: all online CPUs */
	const uint32_t *cpus;
	size_t cpu_count;
	/* If all of these are empty: the whole system. Otherwise the processes in any of them, and
	 * their descendants from now on. */
	const pid_t *pids;
	size_t pid_count;
	const char *cgroup; /* path below the mount point of cgroup v2, or absolute; NULL: none */
	bool no_kernel;	    /* user space only */
	bool unprivileged;  /* use the perf back end, as if this were not root */
};

/* EXIT_USAGE: a rate above the kernel's limit (says which), or no such event, process or cgroup.
 * EXIT_ENVIRONMENT: not permitted, or this kernel lacks something (says what). Sampling does not
 * start yet. */
int samples_open(struct samples **out, const struct samples_options *options, struct error *err);
void samples_close(struct samples *s); /* NULL is fine */

/* Fills in the actual mode, event, period, stacks, hz, cpus and realtime_ns. */
void samples_describe(const struct samples *s, struct profile *into);
enum backend samples_backend(const struct samples *s); /* BACKEND_BPF or BACKEND_PLAIN */
/* One sentence on what cannot be seen and why; NULL: everything is seen. Borrowed. */
const char *samples_not_seen(const struct samples *s);

/* Adds a process that is not running yet (a command at its gate) to those of samples_options. Call
 * it before samples_start(). */
int samples_follow(struct samples *s, pid_t pid, struct error *err);

int samples_start(struct samples *s, struct error *err);
/* Ends sampling. What was not taken yet can still be taken. */
void samples_stop(struct samples *s);

/* samples_beat() must be called at least every samples_beat_ns(), whatever the slices are, to keep
 * the kernel's buffers from filling. samples_fd() is for poll(): readable when it should be called
 * earlier; -1: none. */
uint64_t samples_beat_ns(const struct samples *s);
int samples_fd(const struct samples *s);
int samples_beat(struct samples *s, struct error *err);

/* Appends everything since the last call (or the start) as one slice to `into`, and extends its
 * dictionaries. Locations are not symbolised. */
int samples_take(struct samples *s, struct profile *into, struct error *err);

/* A new descriptor for the file of an object in a profile of this collector, even if the file was
 * deleted since or is in another mount namespace; -1 if impossible. */
int samples_object_fd(struct samples *s, const struct profile_object *o);

/* All processes that were followed have ended. */
bool samples_idle(const struct samples *s);

/* Whether this is one event, and not time. EXIT_USAGE says why not. Whether the machine has it is
 * found out by samples_open(). */
int samples_check_event(const char *event, struct error *err);

/* The kernel's limit for hz. */
uint32_t samples_max_hz(void);

#endif
