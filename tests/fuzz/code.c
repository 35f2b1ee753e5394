/* What is in programs beside symbols and lines: instructions, mangled names and notes. The first
 * byte chooses. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "binary/build_id.h"
#include "binary/disassemble.h"
#include "binary/symbols_demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every byte belongs to one instruction, and they follow each other. */
static void check_instructions(const uint8_t *data, size_t size)
{
	instruction_list list = { 0 };
	struct error err = ERROR_INIT;
	uint64_t at = 0x401000;
	if (disassemble(at, data, size, &list, &err)) {
		if (!*err.text)
			abort();
	} else {
		for (size_t i = 0; i < list.count; i++) {
			const struct instruction *x = &list.items[i];
			if (x->address != at || !x->size || !memchr(x->text, '\0', sizeof x->text))
				abort();
			at += x->size;
		}
		if (at != 0x401000 + size)
			abort();
	}
	array_release(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	uint8_t which = *data % 3;
	size--;
	/* exactly as long as it is: a read beyond is seen */
	uint8_t *bytes = memcpy(xmalloc(size), data + 1, size);
	if (which == 0) {
		check_instructions(bytes, size);
	} else if (which == 1) {
		char *name = xstrndup((const char *)bytes, size), into[256];
		if (demangle(name, into, sizeof into) && !memchr(into, '\0', sizeof into))
			abort();
		xfree(name);
	} else {
		uint8_t id[BUILD_ID_MAX];
		if (build_id_in_notes(bytes, size, id) > sizeof id)
			abort();
	}
	xfree(bytes);
	return 0;
}
