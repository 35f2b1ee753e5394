/* The files that this process has mapped, with their tables. */
#ifndef TARE_TESTS_UNWIND_OBJECTS_H
#define TARE_TESTS_UNWIND_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "binary/unwind.h"

struct mapped {
	const uint8_t *bytes; /* NULL: there is no such file */
	size_t size;
};
struct mapped map_file(const char *path);
void unmap_file(struct mapped *m);
/* The vdso's image; not to be unmapped. */
struct mapped vdso(void);

struct object {
	uint64_t begin, end, bias;
	struct unwind_table table;
};
struct objects {
	struct object items[64];
	size_t count;
};
void objects_take(struct objects *o);
void objects_release(struct objects *o);

/* The row for an address of this process; NULL: none. */
const struct unwind_row *objects_find(const struct objects *o, uint64_t address);

/* ips[0] is where state is, then those of its callers. exact: ip is no return address. */
enum unwind_result objects_walk(const struct objects *o, struct unwind_state state,
				const struct unwind_memory *stack, uint64_t *ips, size_t room,
				size_t *count);

#endif
