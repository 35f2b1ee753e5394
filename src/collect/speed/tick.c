#include "collect/speed/tick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"

uint64_t tick_period_ns(void)
{
	struct timespec t;
	/* the coarse clock advances at each tick */
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &t) != 0 || t.tv_sec || !t.tv_nsec)
		return 4000000;
	return (uint64_t)t.tv_nsec;
}

void tick_phases_of(char *timer_list, uint64_t period_ns, uint64_t *phase_ns, size_t count)
{
	size_t cpu = count;
	bool is_tick = false;
	char *rest = timer_list, *line;
	memset(phase_ns, 0, count * sizeof *phase_ns);
	while ((line = strsep(&rest, "\n"))) {
		unsigned long long at;
		unsigned number;
		if (sscanf(line, "cpu: %u", &number) == 1)
			cpu = number;
		else if (is_tick && cpu < count && sscanf(line, " # expires at %llu", &at) == 1)
			phase_ns[cpu] = at % period_ns;
		/* the second is its name before Linux 6.9 */
		is_tick = strstr(line, "tick_nohz_handler") || strstr(line, "tick_sched_timer");
	}
}

void tick_phases(uint64_t *phase_ns, size_t count)
{
	char *text = file_read("/proc/timer_list");
	char none[] = "";
	tick_phases_of(text ? text : none, tick_period_ns(), phase_ns, count);
	free(text);
}
