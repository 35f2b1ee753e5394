/* A trace as bytes: one zstd frame, with its checksum, of the events and behind them the names, as
 * they are in memory (little endian). Private to lab/ and its tests. */
#ifndef TARE_LAB_TRACE_H
#define TARE_LAB_TRACE_H

#include <stddef.h>

#include "base/error.h"
#include "record/trace.h"

/* The caller frees the bytes. */
int trace_encode(const struct trace *t, void **bytes, size_t *length, struct error *err);

/* events and names: how many there were at encoding. Fills in `into` (which must be empty, and is
 * present then) but for lost; an error leaves it empty. Names end with NUL and their causes exist
 * (or are TRACE_NAMES_WORK);
 * what the events say is not judged, so whoever reads them must. */
int trace_decode(const void *bytes, size_t length, size_t events, size_t names, struct trace *into,
		 struct error *err);

#endif
