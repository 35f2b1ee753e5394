#include "base/cpus.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

bool cpus_parse(const char *text, cpu_set_t *set)
{
	CPU_ZERO(set);
	for (;;) {
		char *end;
		if (*text < '0' || *text > '9')
			return false;
		long first = strtol(text, &end, 10), last = first;
		if (*end == '-') {
			if (end[1] < '0' || end[1] > '9')
				return false;
			last = strtol(end + 1, &end, 10);
		}
		if (last < first || last >= CPU_SETSIZE)
			return false;
		for (long cpu = first; cpu <= last; cpu++)
			CPU_SET((size_t)cpu, set);
		if (!*end)
			return true;
		if (*end != ',')
			return false;
		text = end + 1;
	}
}

static void *reach(void *argument)
{
	cpu_set_t *set = argument, all;
	memset(&all, 0xff, sizeof all);
	/* the kernel leaves out what the cpuset forbids */
	sched_setaffinity(0, sizeof all, &all);
	return sched_getaffinity(0, sizeof *set, set) == 0 ? set : NULL;
}

bool cpus_reachable(cpu_set_t *set)
{
	/* a thread of its own: this one keeps its mask, which its children inherit */
	pthread_t thread;
	void *known = NULL;
	if (pthread_create(&thread, NULL, reach, set) == 0)
		pthread_join(thread, &known);
	return known || sched_getaffinity(0, sizeof *set, set) == 0;
}

void cpus_text(const uint32_t *cpus, size_t count, struct strbuf *out)
{
	for (size_t i = 0, last; i < count; i = last + 1) {
		last = i;
		while (last + 1 < count && cpus[last + 1] == cpus[last] + 1)
			last++;
		strbuf_printf(out, "%s%u", i ? "," : "", cpus[i]);
		if (last > i)
			strbuf_printf(out, "-%u", cpus[last]);
	}
}
