/* INC, the papers' compute-bound program: a loop that increments, of as many turns as take a given
 * time on this machine. No memory but registers, no I/O. */
#ifndef TARE_SUBJECT_INC_H
#define TARE_SUBJECT_INC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Turns of the loop; returns their count, so that nothing can be left out. */
uint64_t inc_run(uint64_t turns);

/* Turns per second of CPU time here, by the fastest of several short stretches of CPU time. */
double inc_calibrate(void);

/* The turns that take ns here. Measured once and kept in the user's cache directory
 * ($XDG_CACHE_HOME/tare/inc or ~/.cache/tare/inc; under sudo the invoking user's), under the CPU's
 * model, so that every later one does exactly the same work; without a cache it is measured each
 * time. `again`: measure anew. */
int inc_turns(uint64_t ns, bool again, uint64_t *turns, struct error *err);

#endif
