#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binary/cfi.h"
#include "binary/symbols_private.h"

/* ---- functions that no symbol names, by what .eh_frame covers ---- */

/* Those of stripped programs, which most are. Each is called by where it begins. */
#define SECTION_MOST (128u << 20)

void symbol_table_read_pieces(struct symbol_table *t, const struct elf_image *e, const char *name)
{
	const struct elf_section *s = elf_image_section(e, ".eh_frame");
	struct cfi_section section = { 0 };
	SCOPED(cfi_release) struct cfi c = { 0 };
	if (!e->is64 || !s || s->size > SECTION_MOST)
		return;
	cfi_section_clear(&section);
	for (const struct elf_section *code = e->sections.items;
	     code < e->sections.items + e->sections.count; code++)
		if (code->flags & SHF_EXECINSTR)
			cfi_section_cover(&section, code->address, code->size);
	if (!cfi_section_bound(&section))
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

#ifdef TARE_LZMA
#include <lzma.h>
#endif

#define RAW_MAX (64u << 20) /* bytes of a table of symbols or relocations that are read */
#define SHARED_MAX 4	    /* how often the names of a file are used, on average */
#define ROOM_LEAST 4096
#define PLT_NAME 64 /* bytes of the name of an entry that has no symbol */

/* ---- symbols ---- */

static Elf64_Sym symbol_at(const struct elf_image *e, const uint8_t *bytes, size_t i)
{
	Elf64_Sym wide;
	if (e->is64) {
		memcpy(&wide, bytes + i * sizeof wide, sizeof wide);
		return wide;
	}
	Elf32_Sym s;
	memcpy(&s, bytes + i * sizeof s, sizeof s);
	return (Elf64_Sym){ .st_name = s.st_name,
			    .st_info = s.st_info,
			    .st_shndx = s.st_shndx,
			    .st_value = s.st_value,
			    .st_size = s.st_size };
}

/* A table of symbols with its names. */
struct raw_symbols {
	uint8_t *bytes;
	char *names;
	size_t count, names_size;
};

static struct raw_symbols raw_read(const struct elf_image *e, const struct elf_section *s)
{
	struct raw_symbols raw = { 0 };
	if (!s || s->link >= e->sections.count)
		return raw;
	uint64_t size = 0, names_size = 0;
	raw.names = (char *)elf_image_section_begin(e, &e->sections.items[s->link], NAMES_MAX,
						    &names_size);
	raw.bytes = raw.names ? elf_image_section_begin(e, s, RAW_MAX, &size) : NULL;
	raw.names_size = names_size;
	if (raw.bytes)
		raw.count = size / (e->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
	return raw;
}

static void raw_release(struct raw_symbols *raw)
{
	xfree(raw->bytes);
	xfree(raw->names);
}

static const char *raw_name(const struct raw_symbols *raw, const Elf64_Sym *s)
{
	return raw->names && s->st_name < raw->names_size ? raw->names + s->st_name : "";
}

/* Adds the symbols of code in a section; how many they were. */
static size_t add_symbols(struct symbol_table *t, const struct elf_image *e,
			  const struct elf_section *section)
{
	SCOPED(raw_release) struct raw_symbols raw = raw_read(e, section);
	size_t before = t->list.count;
	symbol_table_room(t, SHARED_MAX * (uint64_t)raw.names_size + ROOM_LEAST);
	for (size_t i = 0; raw.bytes && i < raw.count; i++) {
		Elf64_Sym s = symbol_at(e, raw.bytes, i);
		const char *name = raw_name(&raw, &s);
		uint8_t type = ELF64_ST_TYPE(s.st_info);
		bool is_code = type == STT_FUNC || type == STT_GNU_IFUNC ||
			       (type == STT_NOTYPE && s.st_shndx < e->sections.count &&
				(e->sections.items[s.st_shndx].flags & SHF_EXECINSTR));
		if (*name && is_code && s.st_shndx != SHN_UNDEF &&
		    !symbol_table_add(t, s.st_value, s.st_size, name, ELF64_ST_BIND(s.st_info),
				      type))
			break;
	}
	return t->list.count - before;
}

/* ---- entries of the PLT, which have no symbols ---- */

struct slot {
	uint64_t got;
	uint32_t symbol;
	int64_t addend;
};
typedef ARRAY(struct slot) slot_list;

static void add_slots(slot_list *into, const struct elf_image *e, const struct elf_section *s)
{
	uint64_t size = 0;
	FREED uint8_t *bytes = elf_image_section_begin(e, s, RAW_MAX, &size);
	size_t count = bytes ? size / sizeof(Elf64_Rela) : 0;
	for (size_t i = 0; i < count && into->count < SYMBOLS_MAX; i++) {
		Elf64_Rela r;
		memcpy(&r, bytes + i * sizeof r, sizeof r);
		array_push(into, (struct slot){ .got = r.r_offset,
						.symbol = (uint32_t)ELF64_R_SYM(r.r_info),
						.addend = r.r_addend });
	}
}

static int by_got(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;
	return x->got < y->got ? -1 : x->got > y->got;
}

/* False: no room for more. */
static bool add_entry(struct symbol_table *t, const struct elf_image *e,
		      const struct raw_symbols *raw, const struct slot *slot, uint64_t address,
		      uint64_t size)
{
	SCOPED(strbuf_release) struct strbuf name = { 0 };
	Elf64_Sym s = { 0 };
	if (!work_on(t->work, 64))
		return false;
	if (raw->bytes && slot->symbol < raw->count)
		s = symbol_at(e, raw->bytes, slot->symbol);
	const char *plain = raw_name(raw, &s);
	if (slot->symbol && *plain) {
		FREED char *readable = demangled(plain);
		strbuf_printf(&name, "%s@plt", readable);
	} else {
		/* resolved by a function of the file itself; objdump's way to say it */
		strbuf_printf(&name, "*ABS*+%#llx@plt", (unsigned long long)slot->addend);
	}
	return symbol_table_add(t, address, size, name.text, STB_GLOBAL, STT_FUNC);
}

/* An entry jumps through its slot: jmp *slot(%rip). That tells whose it is, whatever the linker's
 * layout. */
static void add_x86_entries(struct symbol_table *t, const struct elf_image *e,
			    const struct raw_symbols *raw, const slot_list *slots,
			    const struct elf_section *plt, uint64_t size)
{
	FREED uint8_t *code = elf_image_section_bytes(e, plt);
	bool room = true;
	for (uint64_t at = 0; code && room && at + size <= plt->size; at += size) {
		room = work_on(t->work, 1);
		for (uint64_t i = at; i + 6 <= at + size; i++) {
			int32_t away;
			if (code[i] != 0xff || code[i + 1] != 0x25)
				continue;
			memcpy(&away, code + i + 2, sizeof away);
			uint64_t got = plt->address + i + 6 + (uint64_t)(int64_t)away;
			size_t up_to = array_count_up_to(slots, got, got);
			if (up_to && slots->items[up_to - 1].got == got)
				room = add_entry(t, e, raw, &slots->items[up_to - 1],
						 plt->address + at, size);
			break;
		}
	}
}

static void add_plt(struct symbol_table *t, const struct elf_image *e)
{
	const struct elf_section *dynamic = elf_image_section_of_type(e, SHT_DYNSYM);
	const struct elf_section *plt = elf_image_section(e, ".plt");
	const struct elf_section *sec = elf_image_section(e, ".plt.sec");
	const struct elf_section *got = elf_image_section(e, ".plt.got");
	if (!e->is64 || (!plt && !got))
		return;
	SCOPED(raw_release) struct raw_symbols raw = raw_read(e, dynamic);
	FREED slot_list slots = { 0 };
	add_slots(&slots, e, elf_image_section(e, ".rela.plt"));
	if (e->machine == EM_X86_64)
		add_slots(&slots, e, elf_image_section(e, ".rela.dyn"));
	symbol_table_room(t,
			  SHARED_MAX * (uint64_t)raw.names_size + PLT_NAME * (uint64_t)slots.count);
	if (e->machine == EM_AARCH64 && plt) {
		/* in the order of .rela.plt, behind a head of two entries */
		uint64_t at = 32;
		for (size_t i = 0; i < slots.count && at + 16 <= plt->size; i++, at += 16)
			if (!add_entry(t, e, &raw, &slots.items[i], plt->address + at, 16))
				return;
	} else if (e->machine == EM_X86_64) {
		array_sort(&slots, by_got);
		if (plt)
			add_x86_entries(t, e, &raw, &slots, plt, 16);
		if (sec)
			add_x86_entries(t, e, &raw, &slots, sec, 16);
		if (got)
			add_x86_entries(t, e, &raw, &slots, got, sec ? 16 : 8);
	}
}

/* ---- a table of symbols, packed into the stripped file (Fedora) ---- */

static void add_packed(struct symbol_table *t, const struct elf_image *main)
{
#ifdef TARE_LZMA
	const uint64_t most = 64u << 20;
	const struct elf_section *s = elf_image_section(main, ".gnu_debugdata");
	FREED uint8_t *packed = elf_image_section_bytes(main, s);
	if (!packed)
		return;
	uint64_t limit = s->size < most / 64 ? s->size * 64 : most;
	uint8_t *bytes = xmalloc(limit);
	lzma_stream stream = LZMA_STREAM_INIT;
	struct elf_image inner;
	lzma_ret code = lzma_stream_decoder(&stream, most, 0);
	stream.next_in = packed;
	stream.avail_in = s->size;
	stream.next_out = bytes;
	/* in pieces, between which others can breathe */
	for (size_t room = limit; code == LZMA_OK && room > 0 && work_on(t->work, WORK_LOOK);) {
		size_t piece = room < 1 << 20 ? room : 1 << 20;
		stream.avail_out = piece;
		code = lzma_code(&stream, LZMA_FINISH);
		room -= piece - stream.avail_out;
	}
	lzma_end(&stream);
	if (code != LZMA_STREAM_END) {
		xfree(bytes);
	} else if (elf_image_open_memory(&inner, bytes, stream.total_out)) {
		add_symbols(t, &inner, elf_image_section_of_type(&inner, SHT_SYMTAB));
		elf_image_close(&inner);
	}
#else
	(void)t;
	(void)main;
#endif
}

void symbol_table_read(struct symbol_table *t, const struct elf_image *main,
		       const struct elf_image *debug)
{
	size_t found = add_symbols(t, main, elf_image_section_of_type(main, SHT_SYMTAB));
	if (!found && debug)
		found = add_symbols(t, debug, elf_image_section_of_type(debug, SHT_SYMTAB));
	if (!found) {
		add_symbols(t, main, elf_image_section_of_type(main, SHT_DYNSYM));
		add_packed(t, main);
	}
	add_plt(t, main);
	symbol_table_finish(t);
}
