/* A trace as bytes: one zstd frame with a checksum. It contains the events and then the names, as
 * they are in memory (little endian). Private to lab/ and its tests. */
#ifndef TARE_LAB_TRACE_H
#define TARE_LAB_TRACE_H

#include <stddef.h>

#include "base/error.h"
#include "record/trace.h"

/* The caller frees the bytes. */
int trace_encode(const struct trace *t, void **bytes, size_t *length, struct error *err);

/* events and names: how many there were at encoding. into must be empty; it is filled in (and
 * present) except for lost. An error leaves it empty. Names are checked: they end with NUL and have
 * a valid cause (or TRACE_NAMES_WORK). Events are not checked; their readers must do that. */
int trace_decode(const void *bytes, size_t length, size_t events, size_t names, struct trace *into,
		 struct error *err);

#endif
