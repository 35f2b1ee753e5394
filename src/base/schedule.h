/* How the scheduler treats threads: slices and real-time priorities. */
#ifndef TARE_BASE_SCHEDULE_H
#define TARE_BASE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Asks for a slice of the fair scheduler (Linux 6.12 and later) for a thread; 0 is the caller.
 * Its nice level stays. Returns the slice that is in force; 0 if this kernel has none. */
uint64_t schedule_set_slice(pid_t thread, uint64_t slice_ns);

/* Puts the calling thread before all that are not real-time. False without the privilege. */
bool schedule_set_fifo(int priority);

/* Pins the calling thread to one CPU. */
bool schedule_pin(int cpu);

#endif
