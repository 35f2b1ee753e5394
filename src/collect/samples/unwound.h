/* Stacks from a copy of a piece of them, by .eh_frame. Private to collect/.
 *
 * The tables are kept in sideband_object.user, which is this module's. */
#ifndef TARE_COLLECT_SAMPLES_UNWOUND_H
#define TARE_COLLECT_SAMPLES_UNWOUND_H

#include <stdbool.h>

#include "binary/unwind.h"
#include "collect/samples/sideband.h"

/* A part of a file that is mapped as code. */
struct unwound_part {
	uint64_t offset, size; /* in the file */
	uint64_t address;      /* what the ELF file says of offset */
};

struct unwound_object {
	struct unwind_table table; /* empty: none, or the file cannot be read */
	ARRAY(struct unwound_part) parts;
	uint64_t used_ns; /* when it was asked for last */
};

/* Reads it the first time. pid: a process that has it mapped; 0: none known. Good until the next
 * call: those that were not asked for in a long time go when there are many. */
const struct unwound_object *unwound_object(struct sideband *sb, uint32_t object, uint32_t pid);
/* The ELF address of a byte of the file; false: it is not code. */
bool unwound_address(const struct unwound_object *o, uint64_t offset, uint64_t *address);

/* Addresses of the stack's frames, the innermost first: from.ip itself, then of each caller its
 * return address less 1. At least 1 when max is. A frame without a row (code that a JIT made) is
 * left by its frame pointer, where that is plausible. */
size_t unwound(struct sideband *sb, struct image_of *image, struct unwind_state from,
	       const struct unwind_memory *stack, uint64_t *ips, size_t max, enum stack_end *end);

/* Before sideband_close(): what is kept for its objects. */
void unwound_release(struct sideband *sb);

#endif
