#include <dwarf.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "binary/symbols_private.h"

#define UNITS_MAX 200000
#define RANGES_MAX (2u << 20)	/* of all units, and of what is in one */
#define ENTRIES_MAX (16u << 20) /* looked at in one unit */
#define EMPTY_MAX 65536		/* ranges of an entry that hold nothing */
#define ROWS_MAX (16u << 20)
#define DEPTH_MAX 48
#define BACK_MAX 64
#define PROGRAM_MAX (8u << 20) /* bytes of a unit's line program: libdw makes some 50 of each */
#define NONE UINT32_MAX

/* A function, or a place where one is inlined. What it says is asked of libdw on need. */
struct node {
	Dwarf_Die die;
	uint32_t parent; /* the node around it */
	bool inlined;
};
struct range {
	uint64_t begin, end;
	uint32_t of; /* a unit, or a node */
};
typedef ARRAY(struct range) range_list;
/* From here on, the innermost is this. */
struct segment {
	uint64_t begin;
	uint32_t node;
};
struct row {
	uint64_t address;
	uint32_t line, file; /* file NONE: no code from here on */
};
struct line_unit {
	Dwarf_Die die;
	Dwarf_Files *files;
	size_t file_count;
	ARRAY(struct node) nodes;
	ARRAY(struct segment) segments;
	ARRAY(struct row) rows;
	bool built;
};

struct lines {
	struct dwarf_files files;
	Elf_Data *programs, *alternative_programs; /* .debug_line; NULL: none */
	range_list ranges;
	ARRAY(struct line_unit) units;
	ARRAY(char *) texts; /* handed out by the last call */
	size_t memory;
	struct work *work;
};

static int by_begin(const void *a, const void *b)
{
	const struct range *x = a, *y = b;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->of < y->of ? -1 : x->of > y->of;
}

/* Adds the ranges of an entry; how many they were. */
static size_t add_ranges(range_list *into, Dwarf_Die *die, uint32_t of, struct work *work)
{
	Dwarf_Addr base, begin, end;
	size_t before = into->count, empty = 0;
	ptrdiff_t at = 0;
	while (into->count < RANGES_MAX && empty < EMPTY_MAX && work_on(work, 1) &&
	       (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0) {
		if (begin < end)
			array_push(into, (struct range){ .begin = begin, .end = end, .of = of });
		else
			empty++;
	}
	return into->count - before;
}

static Elf_Data *programs_of(Dwarf *dwarf)
{
	Elf *elf = dwarf ? dwarf_getelf(dwarf) : NULL;
	size_t names;
	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr header;
		const char *name =
			gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
		if (name && (strcmp(name, ".debug_line") == 0 || strcmp(name, ".zdebug_line") == 0))
			return elf_rawdata(scn, NULL);
	}
	return NULL;
}

/* May libdw read the lines and files of this unit? It makes them all at once. */
static bool has_small_program(const struct lines *l, Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	Dwarf_Word at;
	uint32_t size;
	bool other = dwarf_cu_getdwarf(unit->cu) != l->files.dwarf;
	const Elf_Data *data = other ? l->alternative_programs : l->programs;
	if (!data || !data->d_buf || !dwarf_attr(unit, DW_AT_stmt_list, &attribute) ||
	    dwarf_formudata(&attribute, &at) != 0 || at > data->d_size ||
	    data->d_size - at < sizeof size)
		return false;
	memcpy(&size, (const char *)data->d_buf + at, sizeof size);
	return size <= PROGRAM_MAX; /* UINT32_MAX, which would be the 64-bit form, is not */
}

struct lines *lines_new(struct dwarf_files *files, struct work *work)
{
	struct lines *l = xcalloc(1, sizeof *l);
	l->files = *files;
	l->work = work;
	l->memory = files->memory;
	l->programs = programs_of(files->dwarf);
	l->alternative_programs = programs_of(files->alternative);
	*files = (struct dwarf_files){ .fd = -1, .alternative_fd = -1 };
	/* units that are kept elsewhere (split DWARF) are left out: libdw would open any path they
	 * name */
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type = 0;
	uint64_t keep_ns = l->work->left_ns / 4 * 3; /* for what is in them */
	while (l->units.count < UNITS_MAX && work_on(l->work, 64) && l->work->left_ns > keep_ns &&
	       dwarf_get_units(l->files.dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
		if (type != DW_UT_compile ||
		    add_ranges(&l->ranges, &die, (uint32_t)l->units.count, l->work) == 0)
			continue;
		array_push(&l->units, (struct line_unit){ .die = die });
	}
	array_sort(&l->ranges, by_begin);
	l->memory += l->ranges.capacity * sizeof *l->ranges.items +
		     l->units.capacity * sizeof *l->units.items;
	return l;
}

static void forget_texts(struct lines *l)
{
	for (size_t i = 0; i < l->texts.count; i++)
		free(l->texts.items[i]);
	l->texts.count = 0;
}

void lines_free(struct lines *l)
{
	if (!l)
		return;
	forget_texts(l);
	array_release(&l->texts);
	for (size_t i = 0; i < l->units.count; i++) {
		array_release(&l->units.items[i].nodes);
		array_release(&l->units.items[i].segments);
		array_release(&l->units.items[i].rows);
	}
	array_release(&l->units);
	array_release(&l->ranges);
	dwarf_files_close(&l->files);
	xfree(l);
}

size_t lines_memory(const struct lines *l)
{
	return l ? l->memory : 0;
}

/* ---- building a unit ---- */

struct build {
	struct line_unit *unit;
	range_list ranges;
	size_t entries;
	struct work *work;
};

static void walk(struct build *b, Dwarf_Die *parent, uint32_t node, unsigned depth);

static void visit(struct build *b, Dwarf_Die *die, uint32_t node, unsigned depth)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine: {
		uint32_t new = (uint32_t)b->unit->nodes.count;
		bool inlined = dwarf_tag(die) == DW_TAG_inlined_subroutine;
		if (add_ranges(&b->ranges, die, new, b->work) == 0)
			return; /* a declaration, or what others were made after */
		array_push(&b->unit->nodes,
			   (struct node){ .die = *die, .parent = node, .inlined = inlined });
		walk(b, die, new, depth);
		break;
	}
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		walk(b, die, node, depth);
		break;
	default:
		break;
	}
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as DEPTH_MAX */
static void walk(struct build *b, Dwarf_Die *parent, uint32_t node, unsigned depth)
{
	Dwarf_Die die, next;
	if (depth >= DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return;
	do {
		b->entries++;
		visit(b, &die, node, depth + 1);
	} while (b->entries < ENTRIES_MAX && work_on(b->work, 1) &&
		 dwarf_siblingof(&die, &next) == 0 && (die = next, true));
}

static void add_segment(struct line_unit *u, uint64_t begin, uint32_t node)
{
	if (u->segments.count && u->segments.items[u->segments.count - 1].begin == begin)
		u->segments.items[u->segments.count - 1].node = node;
	else
		array_push(&u->segments, (struct segment){ .begin = begin, .node = node });
}

/* Nested ranges, sorted, to pieces that do not overlap. */
static void make_segments(struct line_unit *u, range_list *ranges)
{
	FREED range_list open = { 0 };
	array_sort(ranges, by_begin);
	for (size_t i = 0; i <= ranges->count; i++) {
		bool last = i == ranges->count;
		struct range r = last ? (struct range){ .begin = UINT64_MAX } : ranges->items[i];
		while (open.count && open.items[open.count - 1].end <= r.begin) {
			uint64_t end = open.items[--open.count].end;
			add_segment(u, end, open.count ? open.items[open.count - 1].of : NONE);
		}
		if (last)
			break;
		if (open.count && r.end > open.items[open.count - 1].end)
			r.end = open.items[open.count - 1].end;
		add_segment(u, r.begin, r.of);
		array_push(&open, r);
	}
}

static void build(struct lines *l, struct line_unit *u)
{
	u->built = true;
	if (l->work->left_ns == 0)
		return;
	work_begin(l->work);
	struct build b = { .unit = u, .work = l->work };
	walk(&b, &u->die, NONE, 0);
	make_segments(u, &b.ranges);
	array_release(&b.ranges);
	Dwarf_Lines *lines;
	size_t count;
	if (!has_small_program(l, &u->die) ||
	    dwarf_getsrcfiles(&u->die, &u->files, &u->file_count) != 0) {
		u->files = NULL;
	} else if (dwarf_getsrclines(&u->die, &lines, &count) == 0) {
		count = count < ROWS_MAX ? count : ROWS_MAX;
		array_reserve(&u->rows, count);
		for (size_t i = 0; i < count && work_on(l->work, 1); i++) {
			Dwarf_Line *line = dwarf_onesrcline(lines, i);
			Dwarf_Files *files;
			Dwarf_Addr address;
			size_t file;
			int number;
			bool end = false;
			if (!line || dwarf_lineaddr(line, &address) != 0 ||
			    dwarf_lineno(line, &number) != 0 ||
			    dwarf_lineendsequence(line, &end) != 0)
				continue;
			struct row row = { .address = address,
					   .line = (uint32_t)number,
					   .file = NONE };
			if (!end && dwarf_line_file(line, &files, &file) == 0 && file < NONE)
				row.file = (uint32_t)file;
			array_push(&u->rows, row);
		}
	}
	work_end(l->work);
	/* libdw keeps its rows and files as well, some 40 bytes each */
	l->memory += u->nodes.capacity * sizeof *u->nodes.items +
		     u->segments.capacity * sizeof *u->segments.items +
		     u->rows.capacity * (sizeof *u->rows.items + 40) + u->file_count * 40;
}

/* ---- looking up ---- */

/* Relative paths are so to where the compiler ran; libdw joins the two in old versions of DWARF. */
static const char *full_path(struct lines *l, struct line_unit *u, const char *file)
{
	Dwarf_Attribute attribute;
	if (file && strnlen(file, PATH_MAX) == PATH_MAX)
		return NULL;
	if (!file || *file == '/' || !dwarf_attr(&u->die, DW_AT_comp_dir, &attribute))
		return file;
	const char *directory = dwarf_formstring(&attribute);
	if (!directory || strnlen(directory, PATH_MAX) == PATH_MAX)
		return file;
	array_push(&l->texts, xprintf("%s/%s", directory, file));
	return l->texts.items[l->texts.count - 1];
}

static const char *file_name(struct lines *l, struct line_unit *u, uint64_t file)
{
	if (!u->files || file >= u->file_count)
		return NULL;
	return full_path(l, u, dwarf_filesrc(u->files, file, NULL, NULL));
}

static uint64_t number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;
	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0)
		return 0;
	return value;
}

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(die);
}

/* The file that the function is declared in; it may be of another unit. */
static const char *declared_in(struct lines *l, struct line_unit *u, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die unit;
	if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) ||
	    !dwarf_cu_die(attribute.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    !has_small_program(l, &unit))
		return NULL;
	return full_path(l, u, dwarf_decl_file(die));
}

static void describe(struct lines *l, struct line_unit *u, struct node *node,
		     struct line_frame *frame)
{
	int line = 0;
	const char *name = name_of(&node->die);
	if (name && *name) {
		array_push(&l->texts, demangled(name));
		frame->name = l->texts.items[l->texts.count - 1];
	}
	frame->inlined = node->inlined;
	frame->decl_file = declared_in(l, u, &node->die);
	if (dwarf_decl_line(&node->die, &line) == 0 && line > 0)
		frame->decl_line = (uint32_t)line;
	Dwarf_Addr low, high;
	if (!node->inlined && dwarf_lowpc(&node->die, &low) == 0 &&
	    dwarf_highpc(&node->die, &high) == 0 && low < high) {
		frame->start = low;
		frame->size = high - low;
	}
}

size_t lines_find(struct lines *l, uint64_t address, struct line_frame frames[LINE_FRAMES_MAX])
{
	forget_texts(l);
	struct line_unit *u = NULL;
	size_t range = array_count_up_to(&l->ranges, begin, address);
	for (size_t back = 0; !u && range-- > 0 && back < BACK_MAX; back++)
		if (address < l->ranges.items[range].end)
			u = &l->units.items[l->ranges.items[range].of];
	if (!u)
		return 0;
	if (!u->built)
		build(l, u);
	size_t row = array_count_up_to(&u->rows, address, address);
	size_t segment = array_count_up_to(&u->segments, begin, address);
	uint32_t at = segment ? u->segments.items[segment - 1].node : NONE;
	struct line_frame next = { 0 };
	if (row && u->rows.items[row - 1].file != NONE) {
		next.line = u->rows.items[row - 1].line;
		next.file = file_name(l, u, u->rows.items[row - 1].file);
	}
	size_t count = 0;
	while (at != NONE && count < LINE_FRAMES_MAX) {
		struct node *node = &u->nodes.items[at];
		describe(l, u, node, &next);
		frames[count++] = next;
		next = (struct line_frame){ 0 };
		if (!node->inlined)
			break;
		next.line = (uint32_t)number(&node->die, DW_AT_call_line);
		next.file = file_name(l, u, number(&node->die, DW_AT_call_file));
		at = node->parent;
	}
	if (!count && next.line)
		frames[count++] = next;
	return count;
}
