/* INC, the papers' compute-bound program: a loop of increments that takes a given time on this
 * machine. It uses only registers: no memory, no I/O. */
#ifndef TARE_SUBJECT_INC_H
#define TARE_SUBJECT_INC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Runs the loop. Returns the number of turns, so that the compiler cannot remove it. */
uint64_t inc_run(uint64_t turns);

/* Turns per second of CPU time on this machine: the fastest of several short measurements. */
double inc_calibrate(void);

/* The number of turns that take ns here. It is measured once and kept by CPU model in the user's
 * cache directory ($XDG_CACHE_HOME/tare/inc or ~/.cache/tare/inc; under sudo that of the invoking
 * user), so that every later run does exactly the same work. Without a cache it is measured each
 * time. `again`: measure it again. */
int inc_turns(uint64_t ns, bool again, uint64_t *turns, struct error *err);

#endif
