/* Reads the call frame information of an .eh_frame section into rows of unwind.h. Only rsp, rbp and
 * the return address are followed, so the state is small and most instructions are skipped. */
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
	uint64_t low, high; /* code outside is ignored; at most 4 GiB */
	bool terminated;    /* the size is unknown: a length of 0 ends it */
};

/* Determine where code is: clear it, cover each piece, then bound [low, high), which returns
 * whether there is any code and cuts it to the maximum. A piece beyond the last address is
 * ignored. */
void cfi_section_clear(struct cfi_section *s);
void cfi_section_cover(struct cfi_section *s, uint64_t address, uint64_t size);
bool cfi_section_bound(struct cfi_section *s);

/* The code that one entry (FDE) covers, and its rows. */
struct cfi_span {
	uint32_t begin, end; /* from low */
	size_t first, count;
};

struct cfi {
	ARRAY(struct cfi_span) spans;  /* in the order of the section */
	ARRAY(struct unwind_row) rows; /* pc counts from low */
};

/* Reads an encoded pointer (DW_EH_PE_*) at bytes[at] of a section at `address`. False: unknown
 * encoding, or cut short. */
bool cfi_pointer(const uint8_t *bytes, size_t size, size_t at, uint8_t encoding, uint64_t address,
		 uint64_t *value);

void cfi_read(struct cfi *into, const struct cfi_section *section);
void cfi_release(struct cfi *c);

#endif
