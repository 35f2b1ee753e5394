/* Any bytes as an .eh_frame or as a whole image: rows are sorted and few, and a step along them
 * stays in its copy of a stack. The first byte says which; the stack is the input again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/binary/unwind-image.h"
#include "base/array.h"
#include "binary/unwind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct unwind_table *t, const uint8_t *data, size_t size)
{
	struct unwind_memory stack = { 0x7000, data, size };
	for (size_t i = 0; i < t->count; i++) {
		struct unwind_state state = { 1, 0x7000, 0x7000 + size / 2 }, before = state;
		uint64_t address = t->base + t->rows[i].pc;
		if (unwind_find(t, address) != &t->rows[i])
			abort();
		enum unwind_result result = unwind_step(&t->rows[i], &state, address & 15, &stack);
		if (result != UNWIND_CALLER && memcmp(&state, &before, sizeof state) != 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwind_table t;
	if (!size)
		return 0;
	size_t image_size = size - 1;
	uint8_t *image = NULL;
	if (data[0] & 1)
		image = image_make(data + 1, size - 1, &image_size);
	unwind_read(&t, image ? image : data + 1, image_size);
	if (t.count > image_size / 2)
		abort();
	for (size_t i = 1; i < t.count; i++) {
		if (t.rows[i - 1].pc >= t.rows[i].pc)
			abort();
	}
	if (t.count && t.rows[t.count - 1].how != UNWIND_NONE)
		abort();
	walk(&t, data, size);
	unwind_release(&t);
	xfree(image);
	return 0;
}
