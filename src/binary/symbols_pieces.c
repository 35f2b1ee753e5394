/* Functions that no symbol names, by what .eh_frame covers: those of stripped programs, which most
 * are. Each is called by where it begins. */
#include <inttypes.h>
#include <stdio.h>

#include "binary/cfi.h"
#include "binary/symbols_private.h"

#define SECTION_MOST (128u << 20)

/* Where code may be. */
static bool find_code(const struct elf_image *e, struct cfi_section *into)
{
	cfi_section_clear(into);
	for (size_t i = 0; i < e->sections.count; i++) {
		const struct elf_section *s = &e->sections.items[i];
		if (s->flags & SHF_EXECINSTR)
			cfi_section_cover(into, s->address, s->size);
	}
	return cfi_section_bound(into);
}

void symbol_table_read_pieces(struct symbol_table *t, const struct elf_image *e, const char *name)
{
	const struct elf_section *s = elf_image_section(e, ".eh_frame");
	struct cfi_section section = { 0 };
	SCOPED(cfi_release) struct cfi c = { 0 };
	if (!e->is64 || !s || s->size > SECTION_MOST || !find_code(e, &section))
		return;
	FREED uint8_t *bytes = elf_image_section_bytes(e, s);
	if (!bytes)
		return;
	section.bytes = bytes;
	section.size = s->size;
	section.address = s->address;
	cfi_read(&c, &section);
	for (size_t i = 0; i < c.spans.count; i++) {
		const struct cfi_span *span = &c.spans.items[i];
		uint64_t begin = section.low + span->begin;
		char called[256];
		snprintf(called, sizeof called, "%.200s+0x%" PRIx64, name, begin);
		if (!symbol_table_add(t, begin, span->end - span->begin, called, STB_LOCAL,
				      STT_FUNC))
			break;
	}
	symbol_table_finish(t);
}
