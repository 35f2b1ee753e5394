#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/array.h"
#include "base/file.h"
#include "binary/symbols.h"
#include "binary/symbols_private.h"

#define SUBJECT(name) TARE_SUBJECTS "/subject-" name

/* ---- what is known of the subject, by other means ---- */

static uint64_t address_of(const char *path, const char *name)
{
	uint64_t address = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr header;
		GElf_Sym s;
		Elf_Data *data = elf_getdata(scn, NULL);
		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		for (int i = 0; gelf_getsym(data, i, &s); i++)
			if (strcmp(elf_strptr(elf, header.sh_link, s.st_name), name) == 0)
				address = s.st_value;
	}
	elf_end(elf);
	close(fd);
	assert_true(address != 0);
	return address;
}

static uint64_t offset_of(const char *path, uint64_t address)
{
	uint64_t offset = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	GElf_Phdr p;
	for (int i = 0; gelf_getphdr(elf, i, &p); i++)
		if (p.p_type == PT_LOAD && address >= p.p_vaddr && address < p.p_vaddr + p.p_filesz)
			offset = address - p.p_vaddr + p.p_offset;
	elf_end(elf);
	close(fd);
	assert_true(offset != 0);
	return offset;
}

/* The line of the source that holds this word. */
static uint32_t line_of(const char *word)
{
	char *text = file_read(TARE_SUBJECT_SOURCE);
	assert_non_null(text);
	char mark[64];
	snprintf(mark, sizeof mark, "/* %s */", word);
	const char *found = strstr(text, mark);
	assert_non_null(found);
	uint32_t line = 1;
	for (const char *c = text; c < found; c++)
		line += *c == '\n';
	xfree(text);
	return line;
}

static struct profile_object object_at(char *path)
{
	return (struct profile_object){ .path = path, .kind = OBJECT_FILE };
}

static uint32_t add_sampled(struct profile *p, const struct profile_object *o, uint64_t offset)
{
	uint32_t location = profile_add_location(p, profile_add_object(p, o), offset);
	profile_add_stack(p, &location, 1, 0, STACK_LEAF);
	return location;
}

static const struct profile_frame *frame_at(const struct profile *p, uint32_t location, uint32_t i)
{
	const struct profile_location *l = &p->locations.items[location];
	assert_true(i < l->frames);
	return &p->frames.items[l->first_frame + i];
}

static const char *name_at(const struct profile *p, uint32_t location, uint32_t i)
{
	return p->functions.items[frame_at(p, location, i)->function].name;
}

static const char *file_at(const struct profile *p, uint32_t location, uint32_t i)
{
	const struct profile_frame *f = frame_at(p, location, i);
	const char *file = f->file ? f->file : p->functions.items[f->function].file;
	return file ? file : "";
}

static void fill(struct profile *p, const struct symbols_options *options)
{
	struct symbols *s = symbols_new(options);
	symbols_fill(s, p);
	symbols_free(s);
}

/* ---- functions, inlines, lines ---- */

static void assert_frame(const struct profile *p, uint32_t location, uint32_t i, const char *name,
			 const char *word)
{
	assert_string_equal(name_at(p, location, i), name);
	assert_int_equal(frame_at(p, location, i)->line, line_of(word));
	const char *slash = strrchr(file_at(p, location, i), '/');
	assert_non_null(slash);
	assert_string_equal(slash + 1, "symbols-subject.c");
	assert_int_equal(*file_at(p, location, i), '/');
}

/* All that is to be found, of the file at `path`, laid out as the one at `like`. */
static void assert_whole(char *path, const char *like, const struct symbols_options *options)
{
	struct profile p = { 0 };
	struct profile_object o = object_at(path);
	uint64_t inner = address_of(like, "mark_innermost"), plain = address_of(like, "mark_plain");
	uint32_t a = add_sampled(&p, &o, offset_of(like, inner));
	uint32_t b = add_sampled(&p, &o, offset_of(like, plain));
	fill(&p, options);
	assert_int_equal(p.locations.items[a].address, inner);
	assert_int_equal(p.locations.items[a].frames, 3);
	assert_frame(&p, a, 0, "innermost", "INNERMOST");
	assert_frame(&p, a, 1, "middle", "MIDDLE");
	assert_frame(&p, a, 2, "subject_work", "OUTER");
	assert_int_equal(p.locations.items[b].frames, 1);
	assert_frame(&p, b, 0, "subject_work", "PLAIN");
	const struct profile_function *f = &p.functions.items[frame_at(&p, b, 0)->function];
	assert_int_equal(f->address, address_of(like, "subject_work"));
	assert_int_equal(frame_at(&p, a, 2)->function, frame_at(&p, b, 0)->function);
	profile_release(&p);
}

static void functions_lines_and_inlined_ones_are_found_in_programs(void **state)
{
	(void)state;
	char plain[] = SUBJECT("plain"), library[] = SUBJECT("library"), no_id[] = SUBJECT("no-id");
	assert_whole(plain, plain, NULL);
	assert_whole(library, library, NULL);
	assert_whole(no_id, no_id, NULL);
}

static void a_debug_file_is_found_by_its_link(void **state)
{
	(void)state;
	char linked[] = SUBJECT("linked");
	assert_whole(linked, SUBJECT("plain"), NULL);
}

static void a_debug_file_is_found_by_its_build_id(void **state)
{
	(void)state;
	char bare[] = SUBJECT("bare"), root[] = "/tmp/tare-symbols-XXXXXX", path[256];
	struct elf_image image;
	assert_non_null(mkdtemp(root));
	assert_true(elf_image_open(&image, file_open_regular(bare)));
	assert_int_equal(image.build_id_size, 20);
	snprintf(path, sizeof path, "%s/.build-id", root);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof path, "%s/.build-id/%02x", root, image.build_id[0]);
	assert_int_equal(mkdir(path, 0755), 0);
	size_t length = strlen(path);
	for (size_t i = 1; i < 20; i++)
		length += (size_t)snprintf(path + length, sizeof path - length,
					   i == 1 ? "/%02x" : "%02x", image.build_id[i]);
	snprintf(path + length, sizeof path - length, ".debug");
	elf_image_close(&image);
	assert_int_equal(symlink(SUBJECT("linked.debug"), path), 0);
	struct symbols_options options = { .debug_path = root };
	assert_whole(bare, SUBJECT("plain"), &options);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(root);
}

static void dynamic_symbols_alone_give_names_without_lines(void **state)
{
	(void)state;
	struct profile p = { 0 };
	char bare[] = SUBJECT("bare");
	struct profile_object o = object_at(bare);
	uint64_t at = address_of(SUBJECT("plain"), "mark_plain");
	uint32_t a = add_sampled(&p, &o, offset_of(bare, at));
	fill(&p, NULL);
	assert_int_equal(p.locations.items[a].frames, 1);
	assert_string_equal(name_at(&p, a, 0), "subject_work");
	assert_int_equal(frame_at(&p, a, 0)->line, 0);
	profile_release(&p);
}

/* A stripped program has functions, too. */
static void functions_without_names_are_called_by_object_and_address(void **state)
{
	(void)state;
	struct profile p = { 0 };
	char bare[] = SUBJECT("bare"), expected[512];
	struct profile_object o = object_at(bare);
	uint64_t at = address_of(SUBJECT("plain"), "hidden");
	uint32_t a = add_sampled(&p, &o, offset_of(bare, at));
	uint32_t b = add_sampled(&p, &o, offset_of(bare, at + 5));
	fill(&p, NULL);
	snprintf(expected, sizeof expected, "%s+0x%" PRIx64, object_name(&o), at);
	assert_string_equal(name_at(&p, a, 0), expected);
	assert_int_equal(frame_at(&p, a, 0)->function, frame_at(&p, b, 0)->function);
	const struct profile_function *f = &p.functions.items[frame_at(&p, a, 0)->function];
	assert_int_equal(f->address, at);
	assert_true(f->size > 5);
	assert_non_null(profile_find_code(&p, frame_at(&p, a, 0)->function));
	profile_release(&p);
}

static void a_label_without_a_size_ends_where_the_next_begins(void **state)
{
	(void)state;
	struct profile p = { 0 };
	char plain[] = SUBJECT("plain");
	struct profile_object o = object_at(plain);
	uint64_t bare = address_of(plain, "bare_begin"), end = address_of(plain, "bare_end");
	uint32_t a = add_sampled(&p, &o, offset_of(plain, bare + 3));
	uint32_t b = add_sampled(&p, &o, offset_of(plain, end));
	struct symbols_options options = { .no_lines = true };
	fill(&p, &options);
	assert_string_equal(name_at(&p, a, 0), "bare_begin");
	assert_string_equal(name_at(&p, b, 0), "bare_end");
	assert_int_equal(p.functions.items[frame_at(&p, a, 0)->function].size, end - bare);
	profile_release(&p);
}

static void entries_of_the_plt_are_named_by_their_function(void **state)
{
	(void)state;
	char plain[] = SUBJECT("plain");
	struct elf_image image;
	struct symbol_table table = { 0 };
	assert_true(elf_image_open(&image, file_open_regular(plain)));
	symbol_table_read(&table, &image, NULL);
	size_t found = 0;
	for (size_t i = 0; i < table.list.count; i++) {
		const struct symbol *s = &table.list.items[i];
		if (strcmp(symbol_table_name(&table, s), "rand@plt") == 0)
			found++;
		assert_true(i == 0 || s->start > table.list.items[i - 1].start);
		assert_ptr_equal(symbol_table_find(&table, s->start), s);
	}
	assert_int_equal(found, 1);
	symbol_table_release(&table);
	elf_image_close(&image);
}

/* Each function that nm names is found by its first and its last byte. */
static void names_agree_with_nm(void **state)
{
	(void)state;
	char path[] = SUBJECT("library");
	char line[1024], type, name[512];
	unsigned long long start, size;
	struct elf_image image;
	struct symbol_table table = { 0 };
	assert_true(elf_image_open(&image, file_open_regular(path)));
	symbol_table_read(&table, &image, NULL);
	FILE *nm = popen("nm -S --defined-only " SUBJECT("library"), "r");
	assert_non_null(nm);
	size_t seen = 0;
	while (fgets(line, sizeof line, nm)) {
		if (sscanf(line, "%llx %llx %c %511s", &start, &size, &type, name) != 4 ||
		    (type != 'T' && type != 't') || size == 0)
			continue;
		const struct symbol *s = symbol_table_find(&table, start + size - 1);
		assert_non_null(s);
		assert_string_equal(symbol_table_name(&table, s), name);
		assert_ptr_equal(symbol_table_find(&table, start), s);
		assert_int_equal(s->end, start + size);
		seen++;
	}
	pclose(nm);
	assert_true(seen >= 2);
	symbol_table_release(&table);
	elf_image_close(&image);
}

struct told {
	char function[256];
	unsigned line;
};

/* What addr2line says, innermost first. */
static size_t ask_addr2line(uint64_t address, struct told *told, size_t most)
{
	char command[512], file[1024];
	size_t count = 0;
	snprintf(command, sizeof command, "addr2line -i -f -e %s %#llx", SUBJECT("no-id"),
		 (unsigned long long)address);
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	while (count < most && fscanf(pipe, "%255s %1023[^\n]", told[count].function, file) == 2) {
		const char *colon = strrchr(file, ':');
		told[count++].line = colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
	}
	pclose(pipe);
	return count;
}

static void lines_agree_with_addr2line(void **state)
{
	(void)state;
	char path[] = SUBJECT("no-id");
	struct profile_object o = object_at(path);
	uint64_t begin = address_of(path, "subject_work"), end = address_of(path, "mark_plain");
	for (uint64_t at = begin; at < end; at += 3) {
		struct profile p = { 0 };
		struct told told[8];
		uint32_t a = add_sampled(&p, &o, offset_of(path, at));
		fill(&p, NULL);
		size_t count = ask_addr2line(at, told, 8);
		assert_int_equal(p.locations.items[a].frames, count);
		for (uint32_t i = 0; i < count; i++) {
			assert_string_equal(name_at(&p, a, i), told[i].function);
			assert_int_equal(frame_at(&p, a, i)->line, told[i].line);
		}
		profile_release(&p);
	}
}

/* ---- code ---- */

static void only_the_code_of_sampled_functions_is_kept(void **state)
{
	(void)state;
	struct profile p = { 0 };
	char path[] = SUBJECT("plain");
	struct profile_object o = object_at(path);
	uint32_t object = profile_add_object(&p, &o);
	uint64_t work = address_of(path, "subject_work");
	uint32_t stack[] = {
		profile_add_location(&p, object, offset_of(path, work)),
		profile_add_location(&p, object, offset_of(path, address_of(path, "main"))),
	};
	profile_add_stack(&p, stack, 2, 0, STACK_COMPLETE);
	fill(&p, NULL);
	assert_int_equal(p.code.count, 1);
	const struct profile_code *code = &p.code.items[0];
	const struct profile_function *f = &p.functions.items[code->function];
	assert_string_equal(f->name, "subject_work");
	assert_int_equal(code->size, f->size);
	char bytes[4096];
	assert_true(code->size < sizeof bytes);
	int fd = file_open_regular(path);
	assert_int_equal(pread(fd, bytes, code->size, (off_t)offset_of(path, work)), code->size);
	close(fd);
	assert_memory_equal(bytes, code->bytes, code->size);
	profile_release(&p);
}

/* ---- what has no file ---- */

static void functions_of_the_vdso_are_named(void **state)
{
	(void)state;
	struct elf_image image;
	if (!elf_image_open_vdso(&image))
		skip();
	struct symbol_table table = { 0 };
	symbol_table_read(&table, &image, NULL);
	uint64_t offset = 0;
	for (size_t i = 0; i < table.list.count; i++)
		if (strstr(symbol_table_name(&table, &table.list.items[i]), "clock_gettime"))
			elf_image_offset(&image, table.list.items[i].start, &offset);
	assert_true(offset != 0);
	symbol_table_release(&table);
	elf_image_close(&image);
	struct profile p = { 0 };
	char path[] = "[vdso]";
	struct profile_object o = { .path = path, .kind = OBJECT_VDSO };
	uint32_t a = add_sampled(&p, &o, offset);
	fill(&p, NULL);
	assert_non_null(strstr(name_at(&p, a, 0), "clock_gettime"));
	assert_int_equal(p.code.count, 1);
	profile_release(&p);
}

static void functions_of_the_running_kernel_are_named(void **state)
{
	(void)state;
	char *text = file_read("/proc/kallsyms");
	const char *found = text ? strstr(text, " T vfs_read\n") : NULL;
	while (found && found > text && found[-1] != '\n')
		found--;
	uint64_t address = found ? strtoull(found, NULL, 16) : 0;
	xfree(text);
	if (!address) /* hidden from us */
		skip();
	struct profile p = { 0 };
	char path[] = "[kernel]";
	struct profile_object o = { .path = path, .kind = OBJECT_KERNEL };
	uint32_t a = add_sampled(&p, &o, address + 5), b = add_sampled(&p, &o, 4096);
	fill(&p, NULL);
	assert_string_equal(name_at(&p, a, 0), "vfs_read");
	assert_int_equal(p.functions.items[frame_at(&p, a, 0)->function].address, address);
	assert_int_equal(p.locations.items[b].frames, 0);
	profile_release(&p);
}

static void lines_of_kallsyms_that_are_no_code_are_passed_over(void **state)
{
	(void)state;
	struct kernel_symbols k = { .kcore = -1 };
	kernel_parse(
		&k,
		"ffffffff81000000 T _stext\nffffffff81000000 t start_of_it\n"
		"ffffffff81000100 D data\nffffffff81000200 t second\n"
		"junk\n\nffffffffc0000000 t inner\t[module]\nffffffffc0000010 t last\t[module]");
	assert_string_equal(
		symbol_table_name(&k.table, symbol_table_find(&k.table, 0xffffffff81000210u)),
		"second");
	assert_string_equal(
		symbol_table_name(&k.table, symbol_table_find(&k.table, 0xffffffffc0000008u)),
		"inner");
	assert_non_null(symbol_table_find(&k.table, 0xffffffffc0000011u));
	assert_null(symbol_table_find(&k.table, 0x1000));
	kernel_parse(&k, "0000000000000000 T hidden\n0000000000000000 T too\n");
	assert_int_equal(k.table.list.count, 0);
	kernel_release(&k);
}

static void perf_maps_are_read_again_and_their_broken_lines_ignored(void **state)
{
	(void)state;
	char path[64], memory[] = "[anon]";
	struct profile p = { 0 };
	struct profile_object o = { .path = memory, .kind = OBJECT_MEMORY, .pid = getpid() };
	snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
	static const char map[] = "1000 20 first one\nbroken\n2000 10 Foo.bar(int)\n2000 20 again\n"
				  "fffffffffffffff0 ff beyond\n3000\n4000 0 empty\n5000 8 last";
	assert_int_equal(file_write(path, map, sizeof map - 1, NULL), 0);
	uint32_t a = add_sampled(&p, &o, 0x101f), b = add_sampled(&p, &o, 0x2000);
	uint32_t c = add_sampled(&p, &o, 0x5007), d = add_sampled(&p, &o, 0x4000);
	struct symbols *s = symbols_new(NULL);
	symbols_fill(s, &p);
	assert_string_equal(name_at(&p, a, 0), "first one");
	assert_string_equal(name_at(&p, b, 0), "again");
	assert_string_equal(name_at(&p, c, 0), "last");
	assert_int_equal(p.locations.items[d].frames, 0);
	assert_int_equal(file_write(path, "4000 10 new\n", 12, NULL), 0);
	symbols_fill(s, &p);
	assert_string_equal(name_at(&p, d, 0), "new");
	/* a profile of an earlier boot: its pids are others' now */
	struct profile old = { .realtime_ns = 1 };
	uint32_t e = add_sampled(&old, &o, 0x4000);
	fill(&old, NULL);
	assert_int_equal(old.locations.items[e].frames, 0);
	profile_release(&old);
	unlink(path);
	symbols_free(s);
	profile_release(&p);
	assert_int_equal(mkfifo(path, 0600), 0); /* does not wait for a writer */
	struct jit_map j = { 0 };
	assert_int_equal(jit_open(&j, getpid(), &(struct jit_times){ .session_ns = 1 }), -1);
	unlink(path);
}

/* ---- files that are not what they were ---- */

static void files_that_were_replaced_give_no_names(void **state)
{
	(void)state;
	char path[] = SUBJECT("plain"), no_id[] = SUBJECT("no-id"), gone[] = SUBJECT("none");
	struct stat st;
	assert_int_equal(stat(no_id, &st), 0);
	struct profile_object other_id = object_at(path), other_inode = object_at(no_id),
			      missing = object_at(gone), right = object_at(no_id);
	other_id.build_id_size = 20;
	other_inode.inode = st.st_ino + 1;
	right.inode = st.st_ino;
	right.device = st.st_dev;
	struct profile p = { 0 };
	uint64_t plain = offset_of(path, address_of(path, "mark_plain"));
	uint64_t fixed = offset_of(no_id, address_of(no_id, "mark_plain"));
	uint32_t a = add_sampled(&p, &other_id, plain), b = add_sampled(&p, &other_inode, fixed);
	uint32_t c = add_sampled(&p, &missing, plain), d = add_sampled(&p, &right, fixed);
	fill(&p, NULL);
	assert_int_equal(p.locations.items[a].frames, 0);
	assert_int_equal(p.locations.items[b].frames, 0);
	assert_int_equal(p.locations.items[c].frames, 0);
	assert_int_equal(p.locations.items[d].frames, 1);
	profile_release(&p);
}

static int open_context(void *context, const struct profile_object *o)
{
	(void)o;
	return dup(*(int *)context);
}

/* Cut anywhere, it is read without harm. */
static void files_cut_anywhere_are_read_without_harm(void **state)
{
	(void)state;
	char path[] = SUBJECT("plain");
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	char *bytes = xmalloc((size_t)st.st_size);
	int from = file_open_regular(path);
	assert_int_equal(read(from, bytes, (size_t)st.st_size), st.st_size);
	close(from);
	uint64_t offset = offset_of(path, address_of(path, "mark_innermost"));
	for (size_t size = 0; size < (size_t)st.st_size; size += 997) {
		char name[] = "/tmp/tare-truncated-XXXXXX";
		int fd = mkstemp(name);
		unlink(name);
		assert_int_equal(write(fd, bytes, size), size);
		struct symbols_options options = { .open = open_context, .context = &fd };
		struct profile p = { 0 };
		struct profile_object o = object_at(path);
		add_sampled(&p, &o, offset);
		fill(&p, &options);
		profile_release(&p);
		close(fd);
	}
	xfree(bytes);
}

/* With no room at all everything is still found. */
static void with_no_memory_to_keep_tables_all_is_still_found(void **state)
{
	(void)state;
	char path[] = SUBJECT("plain");
	struct symbols_options options = { .memory = 1 };
	assert_whole(path, path, &options);
}

static void of_aliases_the_one_that_perf_chooses_is_taken(void **state)
{
	(void)state;
	struct symbol_table t = { 0 };
	symbol_table_add(&t, 0x10, 4, "__weak_one", STB_WEAK, STT_FUNC);
	symbol_table_add(&t, 0x10, 4, "_strong", STB_GLOBAL, STT_FUNC);
	symbol_table_add(&t, 0x20, 4, "local_and_long", STB_LOCAL, STT_FUNC);
	symbol_table_add(&t, 0x20, 4, "__global", STB_GLOBAL, STT_FUNC);
	symbol_table_add(&t, 0x30, 4, "__under", STB_GLOBAL, STT_FUNC);
	symbol_table_add(&t, 0x30, 4, "u", STB_GLOBAL, STT_FUNC);
	symbol_table_add(&t, 0x40, 4, "short", STB_GLOBAL, STT_FUNC);
	symbol_table_add(&t, 0x40, 4, "longer", STB_GLOBAL, STT_FUNC);
	symbol_table_add(&t, 0x50, 100, "outer", STB_GLOBAL, STT_FUNC);
	symbol_table_add(&t, 0x58, 8, "inner", STB_GLOBAL, STT_FUNC);
	symbol_table_finish(&t);
	static const struct {
		uint64_t at;
		const char *name;
	} expected[] = { { 0x10, "_strong" }, { 0x23, "__global" }, { 0x30, "u" },
			 { 0x40, "longer" },  { 0x59, "inner" },    { 0x61, "outer" } };
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		const struct symbol *s = symbol_table_find(&t, expected[i].at);
		assert_non_null(s);
		assert_string_equal(symbol_table_name(&t, s), expected[i].name);
	}
	assert_null(symbol_table_find(&t, 0x14));
	assert_null(symbol_table_find(&t, 0x4));
	symbol_table_release(&t);
}

static void names_of_cxx_and_rust_are_demangled(void **state)
{
	(void)state;
#ifdef TARE_DEMANGLE
	static const char *const pairs[][2] = {
		{ "_ZN3foo3barEi", "foo::bar" },
		{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
		{ "plain", "plain" },
		{ "_Z", "_Z" },
		{ "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write" },
	};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		char *name = demangled(pairs[i][0]);
		assert_string_equal(name, pairs[i][1]);
		xfree(name);
	}
	/* each part names the one before it twice: 2^60 letters */
	char name[4096] = "_Z1fI1aE1bIS_S_E";
	for (int i = 0; i < 35; i++)
		snprintf(name + strlen(name), sizeof name - strlen(name), "1bIS%c_S%c_E",
			 i < 10 ? '0' + i : 'A' + i - 10, i < 10 ? '0' + i : 'A' + i - 10);
	xfree(demangled(name));
#else
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_lines_and_inlined_ones_are_found_in_programs),
		cmocka_unit_test(a_debug_file_is_found_by_its_link),
		cmocka_unit_test(a_debug_file_is_found_by_its_build_id),
		cmocka_unit_test(dynamic_symbols_alone_give_names_without_lines),
		cmocka_unit_test(functions_without_names_are_called_by_object_and_address),
		cmocka_unit_test(a_label_without_a_size_ends_where_the_next_begins),
		cmocka_unit_test(entries_of_the_plt_are_named_by_their_function),
		cmocka_unit_test(names_agree_with_nm),
		cmocka_unit_test(lines_agree_with_addr2line),
		cmocka_unit_test(only_the_code_of_sampled_functions_is_kept),
		cmocka_unit_test(functions_of_the_vdso_are_named),
		cmocka_unit_test(functions_of_the_running_kernel_are_named),
		cmocka_unit_test(lines_of_kallsyms_that_are_no_code_are_passed_over),
		cmocka_unit_test(perf_maps_are_read_again_and_their_broken_lines_ignored),
		cmocka_unit_test(files_that_were_replaced_give_no_names),
		cmocka_unit_test(files_cut_anywhere_are_read_without_harm),
		cmocka_unit_test(with_no_memory_to_keep_tables_all_is_still_found),
		cmocka_unit_test(of_aliases_the_one_that_perf_chooses_is_taken),
		cmocka_unit_test(names_of_cxx_and_rust_are_demangled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
