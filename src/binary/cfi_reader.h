/* Numbers of an .eh_frame, none from behind the end of what is read. */
#ifndef TARE_BINARY_CFI_READER_H
#define TARE_BINARY_CFI_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "binary/cfi.h"

struct reader {
	const struct cfi_section *section;
	size_t at, end; /* in the section */
	bool bad;	/* read past the end: every value since is 0 */
};

/* So many, at most 8, the lowest first. */
static inline uint64_t reader_bytes(struct reader *r, size_t count)
{
	uint64_t value = 0;
	if (r->bad || r->end - r->at < count) {
		r->bad = true;
		return 0;
	}
	for (size_t i = 0; i < count; i++)
		value |= (uint64_t)r->section->bytes[r->at + i] << (8 * i);
	r->at += count;
	return value;
}

uint64_t reader_unsigned(struct reader *r); /* LEB128 */
int64_t reader_signed(struct reader *r);
void reader_skip(struct reader *r, uint64_t count);

/* A pointer in an encoding (DW_EH_PE_*): the bare value, and with what it is relative to. */
uint64_t reader_format(struct reader *r, uint8_t encoding);
uint64_t reader_pointer(struct reader *r, uint8_t encoding, uint64_t datarel);
void reader_skip_pointer(struct reader *r, uint8_t encoding);

#endif
