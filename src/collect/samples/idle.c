#include "collect/samples/idle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

uint64_t idle_ns(const uint32_t *cpus, size_t count)
{
	FREED char *stat = file_read("/proc/stat");
	uint64_t ticks = 0;
	for (size_t i = 0; stat && i < count; i++) {
		char name[24];
		uint64_t idle, waiting;
		snprintf(name, sizeof name, "\ncpu%u ", cpus[i]);
		const char *line = strstr(stat, name);
		if (line && sscanf(line + strlen(name), "%*u %*u %*u %" SCNu64 " %" SCNu64, &idle,
				   &waiting) == 2)
			ticks += idle + waiting;
	}
	return ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}
