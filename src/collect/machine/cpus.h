/* Chooses the CPUs to measure. */
#ifndef TARE_COLLECT_MACHINE_CPUS_H
#define TARE_COLLECT_MACHINE_CPUS_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

typedef ARRAY(uint32_t) cpu_list;

/* CPUs to run on: "0-3,8" or "all", in order. Affinity must reach each of them: isolated CPUs and
 * those outside the inherited mask are fine. If one does not exist, is offline or is forbidden by
 * the cpuset, the error (EXIT_USAGE) says so. */
int cpus_choose(const char *text, cpu_list *into, struct error *err);
/* Like cpus_choose(). */
int cpus_choose_set(const char *text, cpu_set_t *into, struct error *err);
/* Like cpus_choose(), for CPUs to look at from elsewhere: it is enough that they are online. */
int cpus_choose_online(const char *text, cpu_list *into, struct error *err);
/* All online CPUs, whether or not this process may run there. */
int cpus_online(cpu_list *into, struct error *err);

/* A descriptor that is readable when a CPU went offline or came online; -1: the kernel does not
 * tell. */
int cpus_watch(void);
/* Whether that happened since the last call. fd may be -1. */
bool cpus_changed(int fd);

#endif
