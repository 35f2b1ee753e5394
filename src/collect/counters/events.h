/* The names that perf gives to events, and what the kernel calls them. Private to collect/. */
#ifndef TARE_COLLECT_COUNTERS_EVENTS_H
#define TARE_COLLECT_COUNTERS_EVENTS_H

#include "base/error.h"
#include "record/counter.h"

enum counter_mode {
	COUNTER_USER = 1,
	COUNTER_KERNEL = 2,
	COUNTER_BOTH = COUNTER_USER | COUNTER_KERNEL,
};

/* An event as perf_event_open() wants it. */
struct counter_event {
	char name[COUNTER_NAME]; /* as it was written, or its first name */
	uint32_t type;
	uint64_t config, config1, config2;
	unsigned modes; /* of enum counter_mode */
	bool apart;	/* no mode was named: both may be counted, each by itself */
	bool by_kernel; /* it happens in the kernel: of user mode alone the count would be 0 */
	bool msr; /* of the PMU `msr`: it takes none of the CPU's counters, and has no modes */
	uint32_t times; /* what is counted stands for so many of it */
	/* Not 0: it is counted in one group with those of the same number; the first leads. */
	unsigned group;
};
typedef ARRAY(struct counter_event) counter_events;

/* "cycles,branch-misses:u,rc4,cpu/event=0x3c,umask=0/". A name that nothing here has is an error
 * (EXIT_USAGE), as is the same name twice. "topdown" becomes the events from which top-down
 * analysis of level 1 is derived (protocol/emp/counters.h), or EXIT_ENVIRONMENT if this CPU has
 * none. sysfs is where the kernel describes its own events: COUNTER_SYSFS. */
#define COUNTER_SYSFS "/sys/bus/event_source/devices"
int counter_events_parse(const char *list, const char *sysfs, counter_events *out,
			 struct error *err);

bool counter_event_is_software(const struct counter_event *e);
/* Whether it is counted by one of the counters that the CPU has few of. */
bool counter_event_takes_counter(const struct counter_event *e);
/* Whether the kernel describes this event of a PMU: "msr", "aperf". */
bool counter_event_described(const char *sysfs, const char *unit, const char *name);

/* Sets what is counted, and in which modes (of enum counter_mode). */
struct perf_event_attr;
void counter_event_attr(const struct counter_event *e, unsigned modes, struct perf_event_attr *a);
/* Says why perf_event_open() refused it, with `why` in errno; EXIT_ENVIRONMENT. name NULL: anything
 * of the CPU. */
int counter_event_refused(const char *name, int why, struct error *err);

#endif
