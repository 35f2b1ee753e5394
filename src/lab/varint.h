/* Numbers as bytes: LEB128, with zigzag for signed ones. Private to lab/. */
#ifndef TARE_LAB_VARINT_H
#define TARE_LAB_VARINT_H

#include <stddef.h>
#include <stdint.h>

#define VARINT_MAX 10 /* bytes */

static inline uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t unzigzag(uint64_t z)
{
	return z >> 1 ^ (0 - (z & 1));
}

static inline unsigned char *varint_put(unsigned char *to, uint64_t value)
{
	while (value >= 0x80) {
		*to++ = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	*to++ = (unsigned char)value;
	return to;
}

/* NULL if the bytes end within the number or it does not fit in 64 bits. */
static inline const unsigned char *varint_get(const unsigned char *from, const unsigned char *end,
					      uint64_t *value)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (from == end || (shift == 63 && *from > 1))
			return NULL;
		v |= (uint64_t)(*from & 0x7f) << shift;
		if (!(*from++ & 0x80)) {
			*value = v;
			return from;
		}
	}
	return NULL;
}

#endif
