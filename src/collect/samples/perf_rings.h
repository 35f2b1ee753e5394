/* Rings that perf writes records into, one per event and CPU, read as one stream in order of time.
 * Private to collect/. Events must be opened with PERF_RINGS_SAMPLE_TYPE (and more after it),
 * sample_id_all, and use_clockid with CLOCK_MONOTONIC, because the time is read from there. */
#ifndef TARE_COLLECT_SAMPLES_PERF_RINGS_H
#define TARE_COLLECT_SAMPLES_PERF_RINGS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PERF_RINGS_ID (PERF_SAMPLE_TID | PERF_SAMPLE_TIME) /* ends every record except samples */
#define PERF_RINGS_ID_BYTES 16
/* The fields of a sample before all others. */
struct perf_rings_sample {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time_ns;
};
#define PERF_RINGS_SAMPLE_TYPE (PERF_SAMPLE_IP | PERF_RINGS_ID)

struct perf_rings;

/* bytes is the size of each ring, rounded up to a power of two of pages. */
int perf_rings_new(struct perf_rings **out, size_t bytes, struct error *err);
void perf_rings_free(struct perf_rings *r); /* NULL is fine; closes the events */

/* The rings own the event from now on, even if this fails. */
int perf_rings_add(struct perf_rings *r, int event, struct error *err);
size_t perf_rings_count(const struct perf_rings *r);
int perf_rings_event(const struct perf_rings *r, size_t i);
/* Readable when a ring is half full or the task of an event ended. */
int perf_rings_fd(const struct perf_rings *r);
/* It is readable, too, when this descriptor is, which stays the caller's. */
void perf_rings_wake(struct perf_rings *r, int fd);
/* Closes the first ones. */
void perf_rings_drop(struct perf_rings *r, size_t count);
/* The bytes used in the fullest ring at the last reading, and the size of that ring. */
void perf_rings_peak(const struct perf_rings *r, size_t *used, size_t *room);

/* The record is valid only during the call. */
typedef void (*perf_record_fn)(void *context, const struct perf_event_header *record,
			       uint64_t time_ns);
/* Calls each for the records older than this call. Newer ones wait for the next call, so that none
 * overtakes another. Returns how many there were. */
size_t perf_rings_read(struct perf_rings *r, perf_record_fn each, void *context);

#endif
