/* Makes two subjects take turns on the CPUs that they share. */
#ifndef TARE_MEASURE_TURNS_H
#define TARE_MEASURE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "measure/groups.h"

struct turns;

/* On one CPU the scheduler alternates them by itself, but only at its ticks. A thread that wakes
 * every period on that CPU and sleeps again makes it choose anew each time. */
int turns_open_scheduler(struct turns **out, int cpu, uint64_t period_ns, struct error *err);
/* On several CPUs: one subject's control group is frozen while the other has its turn. -1 if this
 * kernel cannot: EXIT_ENVIRONMENT. g outlives the turns. */
int turns_open_freezer(struct turns **out, const struct groups *g, uint64_t turn_ns,
		       struct error *err);
/* NULL is fine. */
void turns_close(struct turns *t);

/* Whether the waking thread has a real-time priority. Without it, it may come late. */
bool turns_exact(const struct turns *t);
/* The control group of subject 0 or 1; "" without the freezer. */
const char *turns_group(const struct turns *t, int subject);

void turns_begin(struct turns *t);
/* Subject 0 or 1 has ended, or begins again: its turns are skipped, or not any more. */
void turns_set_present(struct turns *t, int subject, bool present);
void turns_end(struct turns *t);
/* How long the subject has had its turn since turns_open_freezer(). */
uint64_t turns_had_ns(struct turns *t, int subject);

#endif
