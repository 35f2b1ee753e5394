/* Clocks in ns, and parsers for numbers and durations. */
#ifndef TARE_BASE_CLOCK_H
#define TARE_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

uint64_t clock_monotonic_ns(void); /* CLOCK_MONOTONIC: also the clock of BPF's ktime */
uint64_t clock_boottime_ns(void);  /* CLOCK_BOOTTIME: the clock of a task's start time */
int64_t clock_realtime_ns(void);
uint64_t clock_cpu_ns(void);	    /* CPU time of this process */
uint64_t clock_thread_cpu_ns(void); /* of this thread */

/* "250ms", "1.5s", "2m", "1h", "10us", "7ns"; a bare number is in seconds. Returns false, and
 * leaves *ns untouched, if it is not a duration or is negative. */
bool duration_parse(const char *text, uint64_t *ns);

/* "2%" -> 0.02; a bare number must be below 1: "0.02". False if it is neither or is negative. */
bool fraction_parse(const char *text, double *value);

/* The complete text must be a number; otherwise they return false. */
bool integer_parse(const char *text, long min, long max, long *value);
bool real_parse(const char *text, double *value);

#endif
