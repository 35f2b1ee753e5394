/* Control groups that hold what a duet runs, so that nothing of it outlives tare, however tare
 * ends. No controller is enabled: limits stay those of tare's own group. */
#ifndef TARE_MEASURE_GROUPS_H
#define TARE_MEASURE_GROUPS_H

#include <stdbool.h>

#include "base/cgroup.h"
#include "base/error.h"

struct groups;

/* One group for everything, below the group of tare's subjects (base/guard.h), and in it one for
 * each of two subjects. leave: groups_close() moves what is left to tare's group instead of ending
 * it. -1 with EXIT_ENVIRONMENT if this machine or user cannot. */
int groups_open(struct groups **out, bool leave, struct error *err);
/* Removes the groups and ends what is left in them. NULL is fine. */
void groups_close(struct groups *g);

/* In a forked process of tare: its subjects start in the group for everything. NULL, or a failure,
 * changes nothing. */
void groups_enter(const struct groups *g);
/* The directory of the group of subject 0 or 1. */
const char *groups_of_subject(const struct groups *g, int subject);

#endif
