/* Samples of what the CPUs execute, counted in the kernel, taken over now and then.
 *
 * Back ends behind this: `bpf` (tick and cpu-clock; whole system) and `perf` (own processes, user
 * space only: what an unprivileged user may see). */
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
	uint32_t hz; /* PROFILE_CLOCK and PROFILE_CYCLES */
	enum profile_stacks stacks;
	/* NULL: all that are online */
	const uint32_t *cpus;
	size_t cpu_count;
	/* All of these empty: the whole system. Else processes that are in one of them and their
	 * descendants from now on. */
	const pid_t *pids;
	size_t pid_count;
	const char *cgroup; /* path beneath the mount point of cgroup v2, or absolute; NULL: none */
	bool no_kernel;	    /* user space only */
	bool unprivileged;  /* as if this were not root: the perf back end */
};

/* EXIT_USAGE: a rate beyond the kernel's limit (says which), no such process or cgroup;
 * EXIT_ENVIRONMENT: not permitted, or this kernel lacks something (says what). Nothing is sampled
 * yet. */
int samples_open(struct samples **out, const struct samples_options *options, struct error *err);
void samples_close(struct samples *s); /* NULL is fine */

/* What it became: fills in mode, stacks, hz, cpus, realtime_ns. */
void samples_describe(const struct samples *s, struct profile *into);
enum backend samples_backend(const struct samples *s); /* BACKEND_BPF or BACKEND_PLAIN */
/* One sentence on what cannot be seen and why; NULL: nothing. Borrowed. */
const char *samples_not_seen(const struct samples *s);

/* Beneath the others of samples_options: a process not yet running (a command at its gate). Before
 * samples_start(). */
int samples_follow(struct samples *s, pid_t pid, struct error *err);

int samples_start(struct samples *s, struct error *err);
/* Sampling ends; what was not taken yet still can be. */
void samples_stop(struct samples *s);

/* Must be called at least this often, whatever the slices are: keeps the kernel's buffers from
 * filling. fd: for poll(), readable when it should be called earlier; -1: none. */
uint64_t samples_beat_ns(const struct samples *s);
int samples_fd(const struct samples *s);
int samples_beat(struct samples *s, struct error *err);

/* Everything since the last call (or the start) as one slice appended to `into`, whose dictionaries
 * it extends. Locations are not symbolised. */
int samples_take(struct samples *s, struct profile *into, struct error *err);

/* An open file of an object in a profile of this collector, also when it is deleted since or lies
 * in another mount namespace: a new descriptor, or -1. */
int samples_object_fd(struct samples *s, const struct profile_object *o);

/* The processes that were followed have all ended. */
bool samples_idle(const struct samples *s);

/* The kernel's limit for hz. */
uint32_t samples_max_hz(void);

#endif
