/* Files that ask for too much, that are not to be believed, that are searched for elsewhere. */
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "binary/symbols.h"
#include "binary/symbols_demangle.h"
#include "binary/symbols_private.h"

#define SUBJECT(name) TARE_SUBJECTS "/subject-" name

/* ---- too much ---- */

/* A file whose symbols all begin in one long string, each a byte behind the one before, and at
 * addresses so far apart. */
static struct elf_image crowded(size_t symbols, size_t letters, uint64_t apart)
{
	size_t names = sizeof(Elf64_Ehdr) + symbols * sizeof(Elf64_Sym);
	size_t sections = (names + letters + 9) & ~(size_t)7;
	size_t size = sections + 3 * sizeof(Elf64_Shdr);
	uint8_t *bytes = xcalloc(1, size);
	const Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
				  .e_phentsize = sizeof(Elf64_Phdr),
				  .e_shoff = sections,
				  .e_shentsize = sizeof(Elf64_Shdr),
				  .e_shnum = 3 };
	const Elf64_Shdr list[3] = {
		{ 0 },
		{ .sh_type = SHT_SYMTAB,
		  .sh_offset = sizeof head,
		  .sh_size = symbols * sizeof(Elf64_Sym),
		  .sh_link = 2 },
		{ .sh_type = SHT_STRTAB, .sh_offset = names, .sh_size = letters + 1 },
	};
	memcpy(bytes, &head, sizeof head);
	memcpy(bytes + sections, list, sizeof list);
	memset(bytes + names, 'a', letters);
	for (size_t i = 0; i < symbols; i++) {
		const Elf64_Sym s = { .st_name = (uint32_t)i,
				      .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				      .st_shndx = 1,
				      .st_value = 4096 + i * apart,
				      .st_size = 1 };
		memcpy(bytes + sizeof head + i * sizeof s, &s, sizeof s);
	}
	struct elf_image image;
	assert_true(elf_image_open_memory(&image, bytes, size));
	return image;
}

static void names_within_names_take_bounded_memory(void **state)
{
	(void)state;
	struct symbol_table table = { 0 };
	struct elf_image image = crowded(20000, 256 << 10, 1);
	symbol_table_read(&table, &image, NULL);
	assert_true(table.list.count > 0);
	assert_true(symbol_table_memory(&table) < 4 * image.size);
	for (size_t i = 0; i < table.list.count; i++)
		assert_true(strlen(symbol_table_name(&table, &table.list.items[i])) <=
			    NAME_LENGTH_MAX);
	symbol_table_release(&table);
	elf_image_close(&image);
}

/* As a linker that shares the ends of names lays them out: none is left out. */
static void names_that_share_their_ends_are_all_kept(void **state)
{
	(void)state;
	struct symbol_table table = { 0 };
	struct elf_image image = crowded(8, 8, 1);
	symbol_table_read(&table, &image, NULL);
	assert_int_equal(table.list.count, 8);
	assert_string_equal(symbol_table_name(&table, symbol_table_find(&table, 4096)), "aaaaaaaa");
	symbol_table_release(&table);
	elf_image_close(&image);
}

static void count_breath(void *context)
{
	++*(unsigned *)context;
}

static void a_table_stops_growing_when_no_time_is_left(void **state)
{
	(void)state;
	unsigned breaths = 0;
	struct work work = { .breathe = count_breath, .context = &breaths, .left_ns = 1 };
	struct symbol_table table = { .work = &work };
	struct elf_image image = crowded(100000, 100001, 0);
	work_begin(&work);
	symbol_table_read(&table, &image, NULL);
	work_end(&work);
	assert_int_equal(work.left_ns, 0);
	assert_int_equal(table.list.count, 1);
	assert_true(breaths > 0);
	assert_false(symbol_table_add(&table, 1, 1, "more", STB_GLOBAL, STT_FUNC));
	symbol_table_release(&table);
	elf_image_close(&image);
}

static void it_breathes_between_objects_and_within_them(void **state)
{
	(void)state;
	unsigned breaths = 0;
	char own[] = "/proc/self/exe", vdso[] = "[vdso]";
	struct symbols_options options = { .breathe = count_breath, .context = &breaths };
	struct profile_object a = { .path = own, .kind = OBJECT_FILE };
	struct profile_object b = { .path = vdso, .kind = OBJECT_VDSO };
	struct profile p = { 0 };
	profile_add_location(&p, profile_add_object(&p, &a), 4096);
	profile_add_location(&p, profile_add_object(&p, &b), 4096);
	struct symbols *s = symbols_new(&options);
	symbols_fill(s, &p);
	symbols_free(s);
	assert_true(breaths >= 2);
	profile_release(&p);
	struct work work = { .breathe = count_breath,
			     .context = &breaths,
			     .left_ns = UINT64_MAX,
			     .breathed_ns = clock_monotonic_ns() };
	uint64_t end = clock_monotonic_ns() + 210000000;
	breaths = 0;
	while (clock_monotonic_ns() < end)
		assert_true(work_on(&work, 1));
	assert_true(breaths >= 2);
	assert_true(breaths <= 10);
}

/* Each would be passed over again and again. */
static void a_map_of_empty_lines_is_read_to_its_end(void **state)
{
	(void)state;
	size_t size = 1 << 20;
	char *text = xmalloc(size + 1);
	memset(text, '\n', size);
	memcpy(text + size - 12, "10 8 at_last", 13);
	struct jit_map j = { 0 };
	jit_parse(&j, text);
	assert_int_equal(j.table.list.count, 1);
	jit_release(&j);
	xfree(text);
}

/* ---- maps of others ---- */

#define SECOND INT64_C(1000000000)

static size_t believed(uint32_t pid, int64_t changed_ns, int64_t began_ns, int64_t session_ns)
{
	char path[64];
	struct jit_map j = { 0 };
	const struct jit_times times = { began_ns, session_ns };
	const struct timespec at[2] = { { changed_ns / SECOND, 0 }, { changed_ns / SECOND, 0 } };
	snprintf(path, sizeof path, "/tmp/perf-%u.map", pid);
	assert_int_equal(file_write(path, "1000 20 f\n", 10, NULL), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, at, 0), 0);
	CLOSED int fd = jit_open(&j, pid, &times);
	if (fd >= 0)
		jit_read(&j, fd);
	size_t count = j.table.list.count;
	jit_release(&j);
	unlink(path);
	return count;
}

static void a_map_older_than_its_process_is_not_believed(void **state)
{
	(void)state;
	int64_t now = clock_realtime_ns(), hour = 3600 * SECOND;
	uint32_t own = (uint32_t)getpid();
	assert_int_equal(believed(own, now, 0, 0), 1);
	assert_int_equal(believed(own, now - hour, 0, 0), 0);
	assert_int_equal(believed(own, now - hour, 0, now - 2 * hour), 0); /* it lives: /proc */
	assert_int_equal(believed(own, now - hour, now - 2 * hour, 0), 1);
	assert_int_equal(believed(own, now - 2 * hour, now - hour, 0), 0);
	/* the pid was another's an hour ago, and the map is ours */
	assert_int_equal(believed(own, now + SECOND, now - hour, 0), 0);
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	assert_true(child > 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(believed((uint32_t)child, now, 0, 0), 0);
	assert_int_equal(believed((uint32_t)child, now, 0, now - hour), 1);
	assert_int_equal(believed((uint32_t)child, now - 2 * hour, 0, now - hour), 0);
	assert_int_equal(believed((uint32_t)child, now - hour, now - 2 * hour, now), 1);
}

/* ---- functions with an object of their own ---- */

static const struct profile_object *object_at(const struct profile *p, uint32_t location)
{
	return &p->objects.items[profile_location_object(p, location)];
}

static void functions_of_kernel_modules_belong_to_their_modules(void **state)
{
	(void)state;
	char path[] = "[kernel]";
	const struct profile_object o = { .path = path, .kind = OBJECT_KERNEL };
	struct kernel_symbols kernel = { .kcore = -1, .read = true };
	kernel_parse(&kernel, "ffffffff81000000 T inside\nffffffff81000100 T end\n"
			      "ffffffffc0000000 t ext4_read\t[ext4]\n"
			      "ffffffffc0001000 t bpf_prog_1\t[bpf]\n"
			      "ffffffffc0002000 t ext4_write\t[ext4]\n");
	assert_int_equal(kernel.modules.count, 2);
	struct symbols *s = symbols_new_with_kernel(NULL, &kernel);
	struct profile p = { 0 };
	uint32_t object = profile_add_object(&p, &o);
	uint32_t core = profile_add_location(&p, object, 0xffffffff81000010u);
	uint32_t reads = profile_add_location(&p, object, 0xffffffffc0000010u);
	uint32_t writes = profile_add_location(&p, object, 0xffffffffc0002010u);
	uint32_t program = profile_add_location(&p, object, 0xffffffffc0001010u);
	uint32_t nothing = profile_add_location(&p, object, 4096);
	symbols_fill(s, &p);
	assert_string_equal(object_at(&p, core)->path, "[kernel]");
	assert_int_equal(object_at(&p, core)->kind, OBJECT_KERNEL);
	assert_string_equal(object_at(&p, reads)->path, "[ext4]");
	assert_int_equal(object_at(&p, reads)->kind, OBJECT_MODULE);
	assert_ptr_equal(object_at(&p, writes), object_at(&p, reads));
	assert_string_equal(object_at(&p, program)->path, "[bpf]");
	assert_string_equal(object_at(&p, nothing)->path, "[kernel]");
	assert_int_equal(p.locations.items[reads].object, object);
	assert_int_equal(p.objects.count, 3);
	symbols_free(s);
	profile_release(&p);
}

static void functions_of_perf_maps_belong_to_the_jit(void **state)
{
	(void)state;
	char path[64], memory[] = "[anon]";
	const struct profile_object o = { .path = memory,
					  .kind = OBJECT_MEMORY,
					  .pid = (uint32_t)getpid() };
	snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
	assert_int_equal(file_write(path, "1000 20 f\n", 10, NULL), 0);
	struct profile p = { 0 };
	uint32_t named = profile_add_location(&p, profile_add_object(&p, &o), 0x1010);
	uint32_t other = profile_add_location(&p, profile_add_object(&p, &o), 0x9000);
	struct symbols *s = symbols_new(NULL);
	symbols_fill(s, &p);
	unlink(path);
	assert_string_equal(object_at(&p, named)->path, "[jit]");
	assert_int_equal(object_at(&p, named)->kind, OBJECT_JIT);
	assert_int_equal(object_at(&p, named)->pid, getpid());
	assert_string_equal(object_at(&p, other)->path, "[anon]");
	symbols_free(s);
	profile_release(&p);
}

/* ---- elsewhere ---- */

struct server {
	const char *file; /* NULL: has none */
	unsigned asked;
};

static int ask(void *context, const uint8_t *id, size_t size, char **path)
{
	struct server *server = context;
	(void)id;
	(void)size;
	server->asked++;
	*path = server->file ? xstrdup(server->file) : NULL;
	return server->file ? file_open_regular(server->file) : -1;
}

static void a_server_is_asked_once(void **state)
{
	(void)state;
	struct elf_image image;
	struct debug_file d;
	struct absent absent = { 0 };
	struct server server = { 0 };
	const struct debug_search search = {
		.directories = "/nowhere", .absent = &absent, .ask = ask, .context = &server
	};
	assert_true(elf_image_open(&image, file_open_regular(SUBJECT("bare"))));
	assert_true(image.build_id_size > 0);
	for (int i = 0; i < 3; i++)
		assert_false(debug_file_find(&d, &image, SUBJECT("bare"), &search));
	assert_int_equal(server.asked, 1);
	for (unsigned i = 0; i < 10000; i++) { /* others push it out: the list has an end */
		memcpy(image.build_id, &i, sizeof i);
		assert_false(debug_file_find(&d, &image, SUBJECT("bare"), &search));
	}
	assert_int_equal(server.asked, 10001);
	assert_true(absent.ids.count < 5000);
	array_release(&absent.ids);
	elf_image_close(&image);
}

/* What lies at the name of a build-id may be anything: the search goes on. */
static void a_wrong_file_at_a_build_id_does_not_end_the_search(void **state)
{
	(void)state;
	char root[] = "/tmp/tare-wrong-XXXXXX", path[256];
	struct elf_image image;
	struct debug_file d;
	struct server server = { .file = SUBJECT("linked.debug") };
	struct debug_search search = { .directories = root, .ask = ask, .context = &server };
	assert_non_null(mkdtemp(root));
	assert_true(elf_image_open(&image, file_open_regular(SUBJECT("linked"))));
	int length = snprintf(path, sizeof path, "%s/.build-id", root);
	assert_int_equal(mkdir(path, 0755), 0);
	length += snprintf(path + length, sizeof path - (size_t)length, "/%02x", image.build_id[0]);
	assert_int_equal(mkdir(path, 0755), 0);
	for (size_t i = 1; i < image.build_id_size; i++)
		length += snprintf(path + length, sizeof path - (size_t)length,
				   i == 1 ? "/%02x" : "%02x", image.build_id[i]);
	snprintf(path + length, sizeof path - (size_t)length, ".debug");
	assert_int_equal(symlink(SUBJECT("no-id"), path), 0);
	assert_true(debug_file_find(&d, &image, SUBJECT("linked"), &search)); /* by its link */
	assert_int_equal(server.asked, 0);
	debug_file_close(&d);
	assert_true(debug_file_find(&d, &image, "/nowhere/linked", &search)); /* by the server */
	assert_int_equal(server.asked, 1);
	debug_file_close(&d);
	elf_image_close(&image);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(root);
}

/* The demangler hands over an empty part of such a name as no text at all; UBSan sees it. */
static void a_mangled_name_with_an_empty_part_is_read(void **state)
{
	(void)state;
	char name[64] = "";
	if (!demangle("_RNvC7mycrate3foo", name, sizeof name))
		skip(); /* built without a demangler */
	assert_string_equal(name, "mycrate::foo");
	demangle("_RNRNVCs_0c2ate3foo", name, sizeof name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_within_names_take_bounded_memory),
		cmocka_unit_test(names_that_share_their_ends_are_all_kept),
		cmocka_unit_test(a_table_stops_growing_when_no_time_is_left),
		cmocka_unit_test(it_breathes_between_objects_and_within_them),
		cmocka_unit_test(a_map_of_empty_lines_is_read_to_its_end),
		cmocka_unit_test(a_map_older_than_its_process_is_not_believed),
		cmocka_unit_test(functions_of_kernel_modules_belong_to_their_modules),
		cmocka_unit_test(functions_of_perf_maps_belong_to_the_jit),
		cmocka_unit_test(a_mangled_name_with_an_empty_part_is_read),
		cmocka_unit_test(a_server_is_asked_once),
		cmocka_unit_test(a_wrong_file_at_a_build_id_does_not_end_the_search),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
