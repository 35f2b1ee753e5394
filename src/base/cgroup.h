/* Control groups of version 2. No controller is enabled in those made here, so limits and
 * scheduling stay those of the group above. */
#ifndef TARE_BASE_CGROUP_H
#define TARE_BASE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CGROUP_PATH 512

/* The directory of the caller's own group, so that what is moved below it keeps its limits. If that
 * is not visible from here (a namespace), the root of the mount. False: no cgroup v2 is mounted. */
bool cgroup_own(char *into, size_t size);

/* Writes to a file of a group. */
bool cgroup_write(const char *group, const char *name, const char *text);
bool cgroup_move(const char *group, pid_t pid);

/* Kills whatever is in the group and below, also what is frozen. Does not wait. */
void cgroup_kill(const char *group);
/* Removes the group and those below, thawed. What is in them is moved to `to`, or killed if that is
 * NULL. Tries for a second. */
void cgroup_clear(const char *group, const char *to);

#endif
