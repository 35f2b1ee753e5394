/* Unwinds stacks from a copy of their top by .eh_frame. Private to collect/.
 *
 * The tables are kept in sideband_object.user, which belongs to this module. */
#ifndef TARE_COLLECT_SAMPLES_UNWOUND_H
#define TARE_COLLECT_SAMPLES_UNWOUND_H

#include <stdbool.h>
#include <string.h>

#include "binary/unwind.h"
#include "collect/samples/sideband.h"

/* A part of a file that is mapped as code. */
struct unwound_part {
	uint64_t offset, size; /* in the file */
	uint64_t address;      /* the ELF address of offset */
};

struct unwound_object {
	struct unwind_table table; /* empty: none, or the file cannot be read */
	ARRAY(struct unwound_part) parts;
	uint64_t used_ns; /* when it was last used */
};

/* Reads the object at its first use. pid is a process that has it mapped; 0: none known. The result
 * is valid until the next call: when there are many, those not used for a long time are removed. */
const struct unwound_object *unwound_object(struct sideband *sb, uint32_t object, uint32_t pid);
/* The ELF address of a byte of the file; false: it is not code. */
bool unwound_address(const struct unwound_object *o, uint64_t offset, uint64_t *address);

/* Gives the addresses of the stack's frames, innermost first: from.ip itself, then the return
 * address minus 1 of each caller. Returns at least 1 unless max is 0. A frame without a row (code
 * made by a JIT) is unwound by its frame pointer if that is plausible. */
size_t unwound(struct sideband *sb, struct image_of *image, struct unwind_state from,
	       const struct unwind_memory *stack, uint64_t *ips, size_t max, enum stack_end *end);

/* Leaves out the middle of a stack of more than PROFILE_FRAMES_MAX frames. Returns how many are
 * left. */
static inline size_t unwound_keep(uint64_t *ips, size_t count)
{
	if (count <= PROFILE_FRAMES_MAX)
		return count;
	memmove(ips + PROFILE_FRAMES_INNER, ips + count - PROFILE_FRAMES_OUTER,
		PROFILE_FRAMES_OUTER * sizeof *ips);
	return PROFILE_FRAMES_MAX;
}

/* Releases what is kept for the objects. Call it before sideband_close(). */
void unwound_release(struct sideband *sb);

#endif
