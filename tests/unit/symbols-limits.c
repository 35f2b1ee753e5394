/* Files that ask for too much, that are not to be believed, that are searched for elsewhere. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "binary/symbols.h"
#include "binary/symbols_private.h"

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

static void names_within_names(void **state)
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
static void names_that_share_their_ends(void **state)
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

static void no_time_left(void **state)
{
	(void)state;
	unsigned breaths = 0;
	struct work work = { .breathe = count_breath, .context = &breaths, .left_ns = 1000000 };
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

static void breathes_between_objects_and_within(void **state)
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
	assert_true(breaths >= 4);
	assert_true(breaths <= 10);
}

/* Each would be passed over again and again. */
static void a_map_of_empty_lines(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_within_names),
		cmocka_unit_test(names_that_share_their_ends),
		cmocka_unit_test(no_time_left),
		cmocka_unit_test(breathes_between_objects_and_within),
		cmocka_unit_test(a_map_of_empty_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
