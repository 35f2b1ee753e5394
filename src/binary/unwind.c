#include "binary/unwind.h"

void unwind_read(struct unwind_table *into, const void *image, size_t size)
{
	(void)into;
	(void)image;
	(void)size;
}

void unwind_release(struct unwind_table *t)
{
	(void)t;
}

const struct unwind_row *unwind_find(const struct unwind_table *t, uint64_t address)
{
	(void)t;
	(void)address;
	return NULL;
}

enum unwind_result unwind_step(const struct unwind_row *row, struct unwind_state *state,
			       uint64_t address_in_16, const struct unwind_memory *stack)
{
	(void)row;
	(void)state;
	(void)address_in_16;
	(void)stack;
	return 0;
}
