/* Bursts as bytes: lossless and small. Private to lab/ and its tests.
 *
 *	byte     format, 1
 *	u32      checksum of all that follows, little endian
 *	columns, each of which is: varint length, varint stored length, then as many bytes: as they
 *	are where both lengths are the same, else a zstd frame. In this order:
 *	  processes  of each: varint zigzag(pid), varint start_ns, byte flags, byte length, name
 *	  of each burst: process, cpu, turns (varints); then the widths in bits (bytes) of
 *	  begin_ns less that of the burst before (or of the stretch), of span_ns, and of
 *	  span_ns - busy_ns
 *	  bits       of these three numbers below their highest one, burst by burst, the lowest
 *first
 *
 * Times are random in their lower bits, which no compression gets rid of: they are kept apart from
 * what has a pattern. */
#ifndef TARE_LAB_CHUNK_H
#define TARE_LAB_CHUNK_H

#include <stddef.h>

#include "base/error.h"
#include "record/bursts.h"

#define CHUNK_BURSTS_MAX (1u << 24)
#define CHUNK_PROCESSES_MAX (1u << 22)

/* The caller frees the bytes. A burst of no process or CPU, or beyond all time, is an error. */
int chunk_encode(const struct bursts *b, unsigned char **bytes, size_t *length, struct error *err);

/* processes and bursts: how many there were at encoding. into has begin_ns and cpus as they were,
 * and no processes or bursts: these are filled in, or an error leaves it so. What is decoded would
 * be encoded. */
int chunk_decode(const unsigned char *bytes, size_t length, size_t processes, size_t bursts,
		 struct bursts *into, struct error *err);

/* Over what is behind it: for tests that damage what the checksum does not. */
#define CHUNK_CHECKSUM_AT 1
#define CHUNK_HEADER 5
uint32_t chunk_checksum(const unsigned char *bytes, size_t length);

#endif
