#include "base/cpus.h"

#include <errno.h>
#include <stdlib.h>

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

bool cpus_usable(const cpu_set_t *set)
{
	cpu_set_t before;
	if (sched_getaffinity(0, sizeof before, &before))
		return true; /* more of them than fit: whoever pins will tell */
	/* one that is isolated is not in the mask that is inherited, and may be had all the same */
	if (sched_setaffinity(0, sizeof *set, set))
		return errno != EINVAL;
	sched_setaffinity(0, sizeof before, &before);
	return true;
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
