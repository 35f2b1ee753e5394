/* Chooses the CPUs to measure. */
#ifndef TARE_COLLECT_MACHINE_CPUS_H
#define TARE_COLLECT_MACHINE_CPUS_H

#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

typedef ARRAY(uint32_t) cpu_list;

/* "0-3,8" or "all", in order. Each CPU must exist, be online and be in this process's cpuset;
 * otherwise the error (EXIT_USAGE) says which is not. */
int cpus_choose(const char *text, cpu_list *into, struct error *err);
/* All online CPUs, whether or not this process may run there. */
int cpus_online(cpu_list *into, struct error *err);

#endif
