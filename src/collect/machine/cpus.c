#include "collect/machine/cpus.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/file.h"
#include "base/text.h"

#define CPUS "/sys/devices/system/cpu"

/* Is it in the list that this file holds? Without the file the affinity has the last word. */
static bool is_in(const char *path, size_t cpu)
{
	FREED char *list = file_read_line(path);
	cpu_set_t set;
	return !list || !cpus_parse(list, &set) || CPU_ISSET(cpu, &set);
}

static int not_usable(size_t cpu, struct error *err)
{
	if (!is_in(CPUS "/present", cpu)) {
		FREED char *present = file_read_line(CPUS "/present");
		error_set(err, EXIT_USAGE, "there is no CPU %zu", cpu);
		error_hint(err, "this machine has the CPUs %s", present ? present : "0");
		return -1;
	}
	if (!is_in(CPUS "/online", cpu)) {
		error_set(err, EXIT_USAGE, "CPU %zu is offline", cpu);
		return error_hint(err, "as root: echo 1 >" CPUS "/cpu%zu/online", cpu);
	}
	error_set(err, EXIT_USAGE, "CPU %zu may not be used by this process", cpu);
	return error_hint(err, "its cpuset or affinity leaves it out: 'taskset -p $$' tells");
}

int cpus_choose(const char *text, cpu_list *into, struct error *err)
{
	cpu_set_t allowed, wanted;
	if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
		return error_errno(err, EXIT_ENVIRONMENT,
				   "cannot learn which CPUs this process may use");
	if (strcmp(text, "all") == 0) {
		wanted = allowed;
	} else if (!cpus_parse(text, &wanted)) {
		error_set(err, EXIT_USAGE, "'%s' is not a list of CPUs", DISPLAYED(text, 64));
		return error_hint(err, "write it like 1, 0-3 or 0,2,4-7 (below %d), or all",
				  CPU_SETSIZE);
	}
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &wanted))
			continue;
		if (!CPU_ISSET(cpu, &allowed)) {
			array_release(into);
			return not_usable(cpu, err);
		}
		array_push(into, (uint32_t)cpu);
	}
	return 0;
}

int cpus_online(cpu_list *into, struct error *err)
{
	FREED char *list = file_read_line(CPUS "/online");
	cpu_set_t online;
	bool told = list && cpus_parse(list, &online);
	if (!told)
		return error_set(err, EXIT_ENVIRONMENT, "cannot learn which CPUs are online: %s",
				 CPUS "/online");
	for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &online))
			array_push(into, cpu);
	return 0;
}
