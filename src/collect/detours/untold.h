/* Vectors that /proc/interrupts counts but no tracepoint reports. Private to collect/. */
#ifndef TARE_COLLECT_DETOURS_UNTOLD_H
#define TARE_COLLECT_DETOURS_UNTOLD_H

#include "record/noise.h"

/* Adds to c->untold what CPU c->cpu counted between the two texts of /proc/interrupts. */
void untold_between(const char *before, const char *after, struct noise_cpu *c);

#endif
