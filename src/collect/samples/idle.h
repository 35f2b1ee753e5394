/* How long CPUs have been idle. Private to collect/. */
#ifndef TARE_COLLECT_SAMPLES_IDLE_H
#define TARE_COLLECT_SAMPLES_IDLE_H

#include <stddef.h>
#include <stdint.h>

/* Idle time of these CPUs together since boot, including waiting for I/O, in steps of 10 ms. */
uint64_t idle_ns(const uint32_t *cpus, size_t count);

#endif
