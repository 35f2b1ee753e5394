/* Which CPUs to measure. */
#ifndef TARE_COLLECT_MACHINE_CPUS_H
#define TARE_COLLECT_MACHINE_CPUS_H

#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

typedef ARRAY(uint32_t) cpu_list;

/* "0-3,8", "all"; in order. Each must exist, be online and in this process's cpuset; else an error
 * (EXIT_USAGE) says which is not. */
int cpus_choose(const char *text, cpu_list *into, struct error *err);
/* All that are online, whether this process may run there or not. */
int cpus_online(cpu_list *into, struct error *err);

#endif
