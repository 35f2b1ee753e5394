/* Clocks in ns, and durations as people write them. */
#ifndef TARE_BASE_CLOCK_H
#define TARE_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

uint64_t clock_monotonic_ns(void); /* CLOCK_MONOTONIC: the clock of BPF's ktime too */
uint64_t clock_boottime_ns(void);  /* CLOCK_BOOTTIME: what a task's start time is kept in */
int64_t clock_realtime_ns(void);
uint64_t clock_cpu_ns(void);	    /* CPU time of this process */
uint64_t clock_thread_cpu_ns(void); /* of this thread */

/* "250ms", "1.5s", "2m", "1h", "10us", "7ns"; a bare number is in seconds.
 * False, and *ns untouched, when it is not a duration or is negative. */
bool duration_parse(const char *text, uint64_t *ns);

/* "2%" -> 0.02; a bare number must be below 1: "0.02". False when it is none of these or is
 * negative. */
bool fraction_parse(const char *text, double *value);

/* Whole text must be a number. False otherwise. */
bool integer_parse(const char *text, long min, long max, long *value);
bool real_parse(const char *text, double *value);

#endif
