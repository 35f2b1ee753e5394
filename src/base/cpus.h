/* Lists of CPUs, as the kernel and users write them. */
#ifndef TARE_BASE_CPUS_H
#define TARE_BASE_CPUS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* "0,2-3". False if it is not such a list, or names more CPUs than a cpu_set_t holds. */
bool cpus_parse(const char *text, cpu_set_t *set);
/* All CPUs that a thread of this process can be pinned to: those that are online and that its
 * cpuset allows. They may be more than the mask it inherited, which isolated CPUs are not in. False
 * if they are more than a cpu_set_t holds. */
bool cpus_reachable(cpu_set_t *set);
/* Writes ascending numbers as "0,2-3". */
void cpus_text(const uint32_t *cpus, size_t count, struct strbuf *out);

#endif
