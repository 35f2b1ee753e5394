#include "binary/unwind.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "binary/cfi.h"

#define ENTRY_BYTES 64 /* of a start without a frame */

struct image {
	const uint8_t *bytes;
	size_t size;
	Elf64_Ehdr header;
};

/* An item of a table of the file, by its index; false: it is not in the image. */
static bool item_at(const struct image *image, uint64_t table, uint64_t index, void *item,
		    size_t size)
{
	uint64_t at;
	if (__builtin_mul_overflow(index, size, &at) || __builtin_add_overflow(at, table, &at) ||
	    at > image->size || image->size - at < size)
		return false;
	memcpy(item, image->bytes + at, size);
	return true;
}

static bool section_at(const struct image *image, size_t index, Elf64_Shdr *section)
{
	return index < image->header.e_shnum && image->header.e_shentsize == sizeof *section &&
	       item_at(image, image->header.e_shoff, index, section, sizeof *section);
}

static bool segment_at(const struct image *image, size_t index, Elf64_Phdr *segment)
{
	return index < image->header.e_phnum && image->header.e_phentsize == sizeof *segment &&
	       item_at(image, image->header.e_phoff, index, segment, sizeof *segment);
}

static bool in_image(const struct image *image, uint64_t offset, uint64_t size)
{
	return offset <= image->size && size <= image->size - offset;
}

static bool find_by_section(const struct image *image, struct cfi_section *into)
{
	static const char name[] = ".eh_frame";
	Elf64_Shdr names, section;
	if (!section_at(image, image->header.e_shstrndx, &names))
		return false;
	for (size_t i = 0; section_at(image, i, &section); i++) {
		uint64_t at = names.sh_offset;
		if (section.sh_type == SHT_NOBITS || section.sh_name > names.sh_size ||
		    __builtin_add_overflow(at, section.sh_name, &at) ||
		    !in_image(image, at, sizeof name) ||
		    memcmp(image->bytes + at, name, sizeof name) != 0 ||
		    !in_image(image, section.sh_offset, section.sh_size))
			continue;
		into->bytes = image->bytes + section.sh_offset;
		into->size = section.sh_size;
		into->address = section.sh_addr;
		return true;
	}
	return false;
}

/* The rest of the segment from an address on: where the section ends is not told. */
static bool find_by_address(const struct image *image, uint64_t address, struct cfi_section *into)
{
	Elf64_Phdr segment;
	for (size_t i = 0; segment_at(image, i, &segment); i++) {
		uint64_t within = address - segment.p_vaddr;
		if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
		    within >= segment.p_filesz ||
		    !in_image(image, segment.p_offset, segment.p_filesz))
			continue;
		into->bytes = image->bytes + segment.p_offset + within;
		into->size = segment.p_filesz - within;
		into->address = address;
		into->terminated = true;
		return true;
	}
	return false;
}

static bool find_by_segment(const struct image *image, struct cfi_section *into)
{
	/* .eh_frame_hdr: version, encodings of the pointer, the count and the table; the pointer */
	enum { VERSION, ENCODING, POINTER = 4 };
	Elf64_Phdr segment;
	for (size_t i = 0; segment_at(image, i, &segment); i++) {
		if (segment.p_type != PT_GNU_EH_FRAME || segment.p_filesz < POINTER ||
		    !in_image(image, segment.p_offset, segment.p_filesz))
			continue;
		const uint8_t *header = image->bytes + segment.p_offset;
		uint64_t address;
		if (header[VERSION] == 1 &&
		    cfi_pointer(header, segment.p_filesz, POINTER, header[ENCODING],
				segment.p_vaddr, &address))
			return find_by_address(image, address, into);
	}
	return false;
}

static int compare_spans(const void *a, const void *b)
{
	const struct cfi_span *x = a, *y = b;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void add_row(struct unwind_table *t, struct unwind_row row)
{
	if (t->count) {
		struct unwind_row *last = &t->rows[t->count - 1];
		if (last->how == row.how && last->offset == row.offset && last->bp == row.bp)
			return;
	}
	t->rows[t->count++] = row;
}

/* Rows of one span; of what an earlier span covers too, the earlier tells. */
static void add_span(struct unwind_table *t, const struct cfi *c, const struct cfi_span *span,
		     uint32_t from)
{
	for (size_t i = 0; i < span->count; i++) {
		struct unwind_row row = c->rows.items[span->first + i];
		uint32_t end = i + 1 < span->count ? c->rows.items[span->first + i + 1].pc
						   : span->end;
		if (end <= from)
			continue;
		row.pc = row.pc < from ? from : row.pc;
		add_row(t, row);
	}
}

/* Between spans nothing is known, but for the first instructions of a program, which the loader's
 * author wrote without a word on frames: nobody called them. */
static void add_gap(struct unwind_table *t, uint32_t begin, uint32_t end, uint64_t entry)
{
	add_row(t, (struct unwind_row){ .pc = begin, .how = UNWIND_NONE });
	if (entry < begin || entry >= end)
		return;
	add_row(t, (struct unwind_row){ .pc = (uint32_t)entry, .how = UNWIND_END });
	if (end - entry > ENTRY_BYTES)
		add_row(t, (struct unwind_row){ .pc = (uint32_t)entry + ENTRY_BYTES,
						.how = UNWIND_NONE });
}

void unwind_read(struct unwind_table *into, const void *bytes, size_t size)
{
	struct image image = { .bytes = bytes, .size = size };
	struct cfi_section section = { 0 };
	SCOPED(cfi_release) struct cfi c = { 0 };
	*into = (struct unwind_table){ 0 };
	const unsigned char *ident = image.header.e_ident;
	if (!item_at(&image, 0, 0, &image.header, sizeof image.header) ||
	    memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_CLASS] != ELFCLASS64 ||
	    ident[EI_DATA] != ELFDATA2LSB || image.header.e_machine != EM_X86_64)
		return;
	/* Where the code is. Entries about anything else are what a linker left behind. */
	Elf64_Phdr segment;
	cfi_section_clear(&section);
	for (size_t i = 0; segment_at(&image, i, &segment); i++)
		if (segment.p_type == PT_LOAD && segment.p_flags & PF_X)
			cfi_section_cover(&section, segment.p_vaddr, segment.p_memsz);
	if (!cfi_section_bound(&section) ||
	    (!find_by_section(&image, &section) && !find_by_segment(&image, &section)))
		return;
	cfi_read(&c, &section);
	if (!c.spans.count)
		return;
	into->base = section.low;
	uint32_t end = 0;
	bool sorted = true;
	for (size_t i = 1; i < c.spans.count; i++)
		sorted &= c.spans.items[i].begin >= c.spans.items[i - 1].begin;
	if (!sorted)
		array_sort(&c.spans, compare_spans);
	into->rows = xmalloc((c.rows.count + c.spans.count + 3) * sizeof *into->rows);
	for (size_t i = 0; i < c.spans.count; i++) {
		const struct cfi_span *span = &c.spans.items[i];
		if (i && span->begin > end)
			add_gap(into, end, span->begin, image.header.e_entry - section.low);
		if (span->end > end) {
			add_span(into, &c, span, end);
			end = span->end;
		}
	}
	add_row(into, (struct unwind_row){ .pc = end, .how = UNWIND_NONE });
	into->rows = xrealloc(into->rows, into->count * sizeof *into->rows);
}

void unwind_release(struct unwind_table *t)
{
	xfree(t->rows);
	*t = (struct unwind_table){ 0 };
}

const struct unwind_row *unwind_find(const struct unwind_table *t, uint64_t address)
{
	size_t low = 0, high = t->count;
	if (address < t->base || address - t->base > UINT32_MAX)
		return NULL;
	uint32_t pc = (uint32_t)(address - t->base);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (t->rows[middle].pc <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &t->rows[low - 1] : NULL;
}

/* A word of the stack, which no frame has below sp. */
static enum unwind_result load(const struct unwind_memory *stack, uint64_t sp, uint64_t address,
			       uint64_t *word)
{
	if (address < sp)
		return UNWIND_STUCK;
	uint64_t at = address - stack->begin;
	if (address < stack->begin || at > stack->size || stack->size - at < sizeof *word)
		return UNWIND_BEYOND;
	memcpy(word, stack->bytes + at, sizeof *word);
	return UNWIND_CALLER;
}

static enum unwind_result find_cfa(const struct unwind_row *row, const struct unwind_state *state,
				   uint64_t address_in_16, const struct unwind_memory *stack,
				   uint64_t *cfa)
{
	uint64_t offset = (uint64_t)(int64_t)row->offset;
	enum unwind_result result = UNWIND_CALLER;
	switch (row->how & 0x0f) {
	case UNWIND_SP:
		*cfa = state->sp + offset;
		break;
	case UNWIND_BP:
		*cfa = state->bp + offset;
		break;
	case UNWIND_SP_AT:
		result = load(stack, state->sp, state->sp + offset, cfa);
		break;
	case UNWIND_SP_AT_8:
		result = load(stack, state->sp, state->sp + offset, cfa);
		*cfa += 8;
		break;
	case UNWIND_BP_AT:
		result = load(stack, state->sp, state->bp + offset, cfa);
		break;
	case UNWIND_PLT:
		*cfa = state->sp + 8 + ((address_in_16 & 15) >= offset ? 8 : 0);
		break;
	default:
		return UNWIND_STUCK;
	}
	if (result == UNWIND_CALLER && (*cfa <= state->sp || *cfa % 8))
		return UNWIND_STUCK;
	return result;
}

enum unwind_result unwind_step(const struct unwind_row *row, struct unwind_state *state,
			       uint64_t address_in_16, const struct unwind_memory *stack)
{
	struct unwind_state caller = { 0 };
	if (!row)
		return UNWIND_STUCK;
	if ((row->how & 0x0f) == UNWIND_END)
		return UNWIND_DONE;
	bool is_signal = (row->how & 0x0f) == UNWIND_SIGNAL;
	uint64_t sp = state->sp;
	enum unwind_result result =
		is_signal ? load(stack, sp, sp + UNWIND_SIGNAL_SP, &caller.sp)
			  : find_cfa(row, state, address_in_16, stack, &caller.sp);
	if (result == UNWIND_CALLER)
		result = load(stack, sp, is_signal ? sp + UNWIND_SIGNAL_IP : caller.sp - 8,
			      &caller.ip);
	if (result == UNWIND_CALLER && is_signal)
		result = load(stack, sp, sp + UNWIND_SIGNAL_BP, &caller.bp);
	if (result == UNWIND_CALLER && !caller.ip)
		return UNWIND_DONE;
	if (is_signal && result == UNWIND_CALLER)
		*state = caller;
	if (is_signal || result != UNWIND_CALLER)
		return result;
	uint64_t saved = caller.sp + 8 * (uint64_t)(int64_t)row->bp;
	switch (row->how >> 4) {
	case UNWIND_BP_SAME:
		caller.bp = state->bp;
		break;
	case UNWIND_BP_SAVED:
		if (saved < state->sp)
			caller.bp = state->bp;
		else
			result = load(stack, state->sp, saved, &caller.bp);
		break;
	case UNWIND_BP_AT_BP:
		result = load(stack, state->sp, state->bp, &caller.bp);
		break;
	default:
		break;
	}
	if (result == UNWIND_CALLER)
		*state = caller;
	return result;
}
