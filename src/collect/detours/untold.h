/* Vectors that /proc/interrupts counts and no tracepoint tells of. Private to collect/. */
#ifndef TARE_COLLECT_DETOURS_UNTOLD_H
#define TARE_COLLECT_DETOURS_UNTOLD_H

#include "record/noise.h"

/* Adds to c->untold what was counted on CPU c->cpu between the two texts of /proc/interrupts. */
void untold_between(const char *before, const char *after, struct noise_cpu *c);

#endif
