/* Sampling by an event: which one, how often, and why not. */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/samples/backend.h"

/* So many of an event for a sample, unless the user says otherwise. Primes, so that no loop is in
 * step with them. A busy CPU makes about a thousand to ten thousand samples a second of each. */
#define PERIOD_EACH 1	      /* of the kernel: page faults, switches */
#define PERIOD_MISSES 10007   /* of caches and branches */
#define PERIOD_USUAL 100003   /* branches, loads, and whatever else the CPU counts */
#define PERIOD_CYCLES 1000003 /* cycles, instructions */

static bool is_miss(const struct counter_event *e)
{
	return e->type == PERF_TYPE_HW_CACHE ? e->config >> 16 & PERF_COUNT_HW_CACHE_RESULT_MISS
					     : e->type == PERF_TYPE_HARDWARE &&
						       (e->config == PERF_COUNT_HW_CACHE_MISSES ||
							e->config == PERF_COUNT_HW_BRANCH_MISSES);
}

static bool is_cycles(const struct counter_event *e)
{
	return e->type == PERF_TYPE_HARDWARE &&
	       (e->config == PERF_COUNT_HW_CPU_CYCLES || e->config == PERF_COUNT_HW_INSTRUCTIONS ||
		e->config == PERF_COUNT_HW_BUS_CYCLES ||
		e->config == PERF_COUNT_HW_REF_CPU_CYCLES ||
		e->config == PERF_COUNT_HW_STALLED_CYCLES_FRONTEND ||
		e->config == PERF_COUNT_HW_STALLED_CYCLES_BACKEND);
}

static bool is_clock(const struct counter_event *e)
{
	return counter_event_is_software(e) &&
	       (e->config == PERF_COUNT_SW_CPU_CLOCK || e->config == PERF_COUNT_SW_TASK_CLOCK);
}

uint64_t samples_usual_period(const struct counter_event *e)
{
	return counter_event_is_software(e) ? PERIOD_EACH
	       : is_miss(e)		    ? PERIOD_MISSES
	       : is_cycles(e)		    ? PERIOD_CYCLES
					    : PERIOD_USUAL;
}

int samples_event_of(const struct samples_options *o, struct sampled_event *out, struct error *err)
{
	counter_events list = { 0 };
	if (counter_events_parse(o->event, COUNTER_SYSFS, &list, err))
		return -1;
	const struct counter_event first = list.items[0];
	bool several = list.count > 1;
	array_release(&list);
	if (several)
		return error_set(err, EXIT_USAGE, "'%s' are several events: one makes the samples",
				 o->event);
	if (is_clock(&first)) {
		error_set(err, EXIT_USAGE, "'%s' is time, not an event", o->event);
		return error_hint(err, "'--event cpu-clock' samples by time, 997 times a second");
	}
	*out = (struct sampled_event){ .is = first,
				       .period = o->period ? o->period
							   : samples_usual_period(&first) };
	return 0;
}

int samples_check_event(const char *event, struct error *err)
{
	struct sampled_event unused;
	return samples_event_of(&(struct samples_options){ .event = event }, &unused, err);
}

void samples_event_attr(const struct sampled_event *e, struct perf_event_attr *a)
{
	counter_event_attr(&e->is, e->is.modes, a);
	a->freq = 0;
	a->sample_period = e->period;
}

int samples_event_refused(const struct sampled_event *e, int why, struct error *err)
{
	struct perf_event_attr a = { .size = sizeof a, .disabled = 1 };
	counter_event_attr(&e->is, e->is.modes, &a);
	int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 || why == EACCES || why == EPERM || why == EMFILE) {
		if (fd >= 0)
			close(fd);
		return counter_event_refused(e->is.name, why, err);
	}
	close(fd);
	error_set(err, EXIT_ENVIRONMENT, "this machine counts '%s', but cannot sample by it",
		  e->is.name);
	return error_hint(err, "'tare time --counters %s' counts it", e->is.name);
}
