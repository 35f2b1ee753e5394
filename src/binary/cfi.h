/* The call frame information of an .eh_frame section, as rows of unwind.h. Only rsp, rbp and the
 * return address are followed, so a program's state is small and most of its instructions are
 * passed over. */
#ifndef TARE_BINARY_CFI_H
#define TARE_BINARY_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "binary/unwind.h"

struct cfi_section {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;   /* of the first byte */
	uint64_t low, high; /* code outside is not told; at most 4 GiB */
	bool terminated;    /* the size is not known: a length of 0 ends it */
};

/* Where code is, piece by piece: none at first, then what [low, high) has to cover, at last whether
 * there is any, cut to what it may be. A piece beyond the last address is none. */
void cfi_section_clear(struct cfi_section *s);
void cfi_section_cover(struct cfi_section *s, uint64_t address, uint64_t size);
bool cfi_section_bound(struct cfi_section *s);

/* What one entry (FDE) covers, and its rows. */
struct cfi_span {
	uint32_t begin, end; /* from low */
	size_t first, count;
};

struct cfi {
	ARRAY(struct cfi_span) spans;  /* in the order of the section */
	ARRAY(struct unwind_row) rows; /* pc counts from low */
};

/* An encoded pointer (DW_EH_PE_*) at bytes[at], of a section that is at `address`. false: no such
 * encoding, or cut short. */
bool cfi_pointer(const uint8_t *bytes, size_t size, size_t at, uint8_t encoding, uint64_t address,
		 uint64_t *value);

void cfi_read(struct cfi *into, const struct cfi_section *section);
void cfi_release(struct cfi *c);

#endif
