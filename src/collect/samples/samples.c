#include "collect/samples/samples.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "collect/samples/backend.h"

#define MAX_HZ_FILE "/proc/sys/kernel/perf_event_max_sample_rate"
#define MAX_HZ_BUILT_IN 100000 /* kernel/events/core.c: DEFAULT_MAX_SAMPLE_RATE */

struct samples {
	const struct samples_ops *ops;
	void *state;
};

/* The best first. */
static size_t back_ends(const struct samples_options *options, const struct samples_ops **list)
{
	size_t count = 0;
#ifdef TARE_BPF
	if (!options->unprivileged) {
		list[count++] = &samples_bpf_ops;
		if (geteuid() == 0)
			return count; /* whoever may see everything is told why it is not seen */
	}
#else
	(void)options;
#endif
	list[count++] = &samples_perf_ops;
	return count;
}

int samples_open(struct samples **out, const struct samples_options *options, struct error *err)
{
	uint32_t most = samples_max_hz();
	bool rated = options->mode == PROFILE_CLOCK || options->mode == PROFILE_CYCLES;
	if (rated && (!options->hz || options->hz > most)) {
		error_set(err, EXIT_USAGE, "%u samples per second: the kernel allows 1 to %u",
			  options->hz, most);
		return error_hint(err, "kernel.perf_event_max_sample_rate is the limit");
	}
	for (size_t i = 0; i < options->pid_count; i++) {
		if (kill(options->pids[i], 0) == 0 || errno != ESRCH)
			continue;
		return error_set(err, EXIT_USAGE, "there is no process %d", (int)options->pids[i]);
	}
	const struct samples_ops *list[2];
	size_t count = back_ends(options, list);
	struct error last = ERROR_INIT;
	for (size_t i = 0; i < count; i++) {
		struct error why = ERROR_INIT;
		void *state = NULL;
		if (list[i]->open(&state, options, &why) == 0) {
			*out = xmalloc(sizeof **out);
			**out = (struct samples){ .ops = list[i], .state = state };
			return 0;
		}
		/* the last: what may be done without the better ones */
		last = why;
		if (why.code != EXIT_ENVIRONMENT)
			break;
	}
	if (err)
		*err = last;
	return -1;
}

void samples_close(struct samples *s)
{
	if (!s)
		return;
	s->ops->close(s->state);
	xfree(s);
}

void samples_describe(const struct samples *s, struct profile *into)
{
	into->realtime_ns = clock_realtime_ns() - (int64_t)clock_monotonic_ns();
	s->ops->describe(s->state, into);
}

enum backend samples_backend(const struct samples *s)
{
	return s->ops->backend;
}

const char *samples_not_seen(const struct samples *s)
{
	return s->ops->not_seen(s->state);
}

int samples_follow(struct samples *s, pid_t pid, struct error *err)
{
	return s->ops->follow(s->state, pid, err);
}

int samples_start(struct samples *s, struct error *err)
{
	return s->ops->start(s->state, err);
}

void samples_stop(struct samples *s)
{
	s->ops->stop(s->state);
}

uint64_t samples_beat_ns(const struct samples *s)
{
	return s->ops->beat_ns(s->state);
}

int samples_fd(const struct samples *s)
{
	return s->ops->fd(s->state);
}

int samples_beat(struct samples *s, struct error *err)
{
	return s->ops->beat(s->state, err);
}

int samples_take(struct samples *s, struct profile *into, struct error *err)
{
	return s->ops->take(s->state, into, err);
}

int samples_object_fd(struct samples *s, const struct profile_object *o)
{
	return s->ops->object_fd(s->state, o);
}

bool samples_idle(const struct samples *s)
{
	return s->ops->idle(s->state);
}

uint32_t samples_max_hz(void)
{
	FREED char *text = file_read_line(MAX_HZ_FILE);
	long hz = 0;
	if (!text || !integer_parse(text, 1, INT32_MAX, &hz))
		hz = MAX_HZ_BUILT_IN;
	return (uint32_t)hz;
}
