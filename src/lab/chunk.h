/* Bursts as bytes: lossless and small. Private to lab/ and its tests.
 *
 *	byte     format, 1
 *	u32      checksum of everything after it, little endian
 *	columns  each: varint length, varint stored length, then the stored bytes, which are
 *	         a zstd frame unless both lengths are equal. In this order:
 *	  processes           each: varint zigzag(pid), varint start_ns, byte flags,
 *	                      byte length, name
 *	  process, cpu, turns three columns, a varint per burst
 *	  begin, span, idle   three columns, a byte per burst: the width in bits of begin_ns minus
 *	                      that of the previous burst (or of the stretch), of span_ns, and of
 *	                      span_ns - busy_ns
 *	  bits                of these three numbers below their highest 1, burst by burst,
 *	                      lowest first
 *
 * The lower bits of times are random and cannot be compressed, so they are kept apart from data
 * that have a pattern. */
#ifndef TARE_LAB_CHUNK_H
#define TARE_LAB_CHUNK_H

#include <stddef.h>

#include "base/error.h"
#include "record/bursts.h"

#define CHUNK_BURSTS_MAX (1u << 24)
#define CHUNK_PROCESSES_MAX (1u << 22)

/* The caller frees the bytes. A burst without a process or CPU, or out of range, is an error. */
int chunk_encode(const struct bursts *b, unsigned char **bytes, size_t *length, struct error *err);

/* processes and bursts: how many there were at encoding. `into` must have the original begin_ns and
 * cpus, and no processes or bursts. Those are filled in; on an error it stays unchanged. Whatever
 * decodes can also be encoded. */
int chunk_decode(const unsigned char *bytes, size_t length, size_t processes, size_t bursts,
		 struct bursts *into, struct error *err);

/* The checksum of everything after it, for tests that damage a chunk and correct the checksum. */
#define CHUNK_CHECKSUM_AT 1
#define CHUNK_HEADER 5
uint32_t chunk_checksum(const unsigned char *bytes, size_t length);

#endif
