/* What each back end implements for samples.c. Private to collect/. The functions are documented
 * under the same names in samples.h; none may be NULL. */
#ifndef TARE_COLLECT_SAMPLES_BACKEND_H
#define TARE_COLLECT_SAMPLES_BACKEND_H

#include "collect/counters/events.h"
#include "collect/samples/samples.h"

/* ---- sampling by an event (event.c) ---- */

struct sampled_event {
	struct counter_event is;
	uint64_t period;
};
/* How often an event comes nobody knows: buffers are emptied as if it were so often a second. They
 * also say when they fill up. */
#define SAMPLES_EVENT_HZ 10000

/* Of the options of PROFILE_EVENT. EXIT_USAGE: there is no such event, or it is time. */
int samples_event_of(const struct samples_options *o, struct sampled_event *out, struct error *err);
/* Sets the event, its modes and its period. */
struct perf_event_attr;
void samples_event_attr(const struct sampled_event *e, struct perf_event_attr *a);
/* Says why perf_event_open() refused it, with `why` in errno. */
int samples_event_refused(const struct sampled_event *e, int why, struct error *err);
/* So many of an event for a sample if the user says nothing. */
uint64_t samples_usual_period(const struct counter_event *e);

/* ---- back ends ---- */

struct samples_ops {
	enum backend backend;
	/* EXIT_ENVIRONMENT: this back end cannot be used here, and the next one is tried. Any other
	 * code is the user's mistake, which no other back end would fix. */
	int (*open)(void **state, const struct samples_options *options, struct error *err);
	void (*close)(void *state);
	void (*describe)(const void *state, struct profile *into);
	const char *(*not_seen)(const void *state);
	int (*follow)(void *state, pid_t pid, struct error *err);
	int (*start)(void *state, struct error *err);
	void (*stop)(void *state);
	uint64_t (*beat_ns)(const void *state);
	int (*fd)(const void *state);
	int (*beat)(void *state, struct error *err);
	int (*take)(void *state, struct profile *into, struct error *err);
	int (*object_fd)(void *state, const struct profile_object *o);
	bool (*idle)(const void *state);
};

extern const struct samples_ops samples_perf_ops;
#ifdef TARE_BPF
extern const struct samples_ops samples_bpf_ops;
#endif

#endif
