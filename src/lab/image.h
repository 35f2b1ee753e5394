/* Images of tasks as bytes: lossless, small and fast. Private to lab/ and its tests.
 *
 * A record is 29 words of 64 bits. Each word is predicted from the record of the same task in a
 *base image, where there is one (an image before and one after differ little), else from the record
 * before it; at_ns always from the record before. What differs is kept, column by column:
 *
 *	byte     format, 1
 *	byte     0: the columns follow as they are, 1: as a zstd frame
 *	u32      checksum over the records, little endian
 *	varint   length of the columns
 *	columns: references (0: none, else zigzag(index in base - expected index) + 1),
 *	         masks (bit w: word w differs from its prediction),
 *	         and for w = 0..28 the differences, zigzag; every number a LEB128 varint
 *
 * The packed words (tid and tgid, comm, ...) are in the byte order of the machine: little endian.
 */
#ifndef TARE_LAB_IMAGE_H
#define TARE_LAB_IMAGE_H

#include <stddef.h>

#include "base/error.h"
#include "record/task.h"

#define IMAGE_TASKS_MAX (1u << 22) /* the kernel's PID_MAX_LIMIT */

/* Compression contexts and buffers, kept from one image to the next. */
struct image_codec;
struct image_codec *image_codec_new(void);
void image_codec_free(struct image_codec *codec);

/* base may be NULL. The bytes belong to the codec and live until its next use. */
int image_encode(struct image_codec *codec, const struct image *image, const struct image *base,
		 const void **bytes, size_t *length, struct error *err);

/* count and base as they were at encoding. Fills in tasks and count of `into` (which must be
 * empty); anything that is not exactly what image_encode() made is an error, and `into` stays
 * empty. */
int image_decode(struct image_codec *codec, const void *bytes, size_t length, size_t count,
		 const struct image *base, struct image *into, struct error *err);

#endif
