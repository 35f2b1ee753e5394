/* When the kernel's periodic tick comes on each CPU. Private to collect/. */
#ifndef TARE_COLLECT_SPEED_TICK_H
#define TARE_COLLECT_SPEED_TICK_H

#include <stddef.h>
#include <stdint.h>

/* The time from one tick to the next. */
uint64_t tick_period_ns(void);

/* Fills phase_ns[0 .. count - 1] with when each CPU ticks, modulo the period (CLOCK_MONOTONIC).
 * Only root can ask the kernel; for others it is 0, which holds since Linux 6.4 unless the kernel
 * was booted with skew_tick. */
void tick_phases(uint64_t *phase_ns, size_t count);

/* The same from the text of /proc/timer_list. */
void tick_phases_of(char *timer_list, uint64_t period_ns, uint64_t *phase_ns, size_t count);

#endif
