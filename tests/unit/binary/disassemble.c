/* Instructions of bytes, against objdump. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "binary/disassemble.h"
#include "unwind-objects.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Skips the test in a build that has no disassembler. */
static void take(instruction_list *list, uint64_t address, const uint8_t *bytes, size_t size)
{
	struct error err = ERROR_INIT;
	if (disassemble(address, bytes, size, list, &err) != 0) {
		assert_int_equal(err.code, EXIT_ENVIRONMENT);
		assert_true(err.hint[0]);
		skip();
	}
	uint64_t at = address;
	for (size_t i = 0; i < list->count; i++) {
		assert_int_equal(list->items[i].address, at);
		assert_true(list->items[i].size > 0);
		assert_true(list->items[i].text[0]);
		at += list->items[i].size;
	}
	assert_int_equal(at, address + size);
}

#ifdef __x86_64__

static void instructions_have_the_text_of_att_syntax(void **state)
{
	static const struct {
		uint8_t bytes[12];
		uint8_t size;
		const char *text, *other; /* capstone's, libopcodes' */
	} cases[] = {
		{ { 0x48, 0x89, 0x03 }, 3, "movq %rax,(%rbx)", "mov %rax,(%rbx)" },
		{ { 0xf3, 0x0f, 0x1e, 0xfa }, 4, "endbr64", "endbr64" },
		{ { 0xe8, 0x0b, 0, 0, 0 }, 5, "callq 0x401010", "call 0x401010" },
		{ { 0xeb, 0xfe }, 2, "jmp 0x401000", "jmp 0x401000" },
		{ { 0x0f, 0x84, 0x10, 0, 0, 0 }, 6, "je 0x401016", "je 0x401016" },
		{ { 0xc3 }, 1, "retq", "ret" },
		{ { 0x48, 0xb8, 0x15, 0x7c, 0x4a, 0x7f, 0xb9, 0x79, 0x37, 0x9e },
		  10,
		  "movabsq $0x9e3779b97f4a7c15,%rax",
		  "movabs $0x9e3779b97f4a7c15,%rax" },
		{ { 0x83, 0xc0, 0x07 }, 3, "addl $7,%eax", "add $0x7,%eax" },
#ifdef TARE_OPCODES
		{ { 0xf3, 0x48, 0x0f, 0x1e, 0xc8 }, 5, "rdsspq %rax", "rdsspq %rax" },
#endif
		{ { 0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc1 },
		  6,
		  "vaddps %zmm1,%zmm0,%zmm0",
		  "vaddps %zmm1,%zmm0,%zmm0" },
		{ { 0xc5, 0xfd, 0xef, 0xc0 },
		  4,
		  "vpxor %ymm0,%ymm0,%ymm0",
		  "vpxor %ymm0,%ymm0,%ymm0" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		instruction_list list = { 0 };
		take(&list, 0x401000, cases[i].bytes, cases[i].size);
		const char *text = list.items[0].text;
		if (list.count != 1 ||
		    (strcmp(text, cases[i].text) != 0 && strcmp(text, cases[i].other) != 0))
			fail_msg("%zu: %zu instructions, '%s' for '%s'", i, list.count, text,
				 cases[i].text);
		array_release(&list);
	}
}

static void what_is_no_instruction_is_one_bad_byte(void **state)
{
	/* no instruction in 64-bit mode; one; one that is cut short */
	static const uint8_t bytes[] = { 0x06, 0x90, 0x48, 0x8b };
	instruction_list list = { 0 };
	(void)state;
	take(&list, 16, bytes, sizeof bytes);
	assert_true(list.count >= 3);
	assert_string_equal(list.items[0].text, "(bad)");
	assert_int_equal(list.items[0].size, 1);
	assert_string_equal(list.items[1].text, "nop");
	array_release(&list);
	take(&list, 16, bytes, 0);
	assert_int_equal(list.count, 0);
}

#endif

/* Whatever the bytes are, they are covered: take() asserts it. */
static void any_bytes_are_covered_by_instructions(void **state)
{
	uint8_t bytes[4096];
	unsigned seed = 3;
	(void)state;
	for (int round = 0; round < 30; round++) {
		instruction_list list = { 0 };
		for (size_t i = 0; i < sizeof bytes; i++)
			bytes[i] = (uint8_t)rand_r(&seed);
		take(&list, UINT64_MAX - 10000, bytes, sizeof bytes - (size_t)round);
		array_release(&list);
	}
}

static int find_loader(struct dl_phdr_info *info, size_t size, void *context)
{
	char *path = context;
	(void)size;
	if (info->dlpi_name && strstr(info->dlpi_name, "/ld-linux"))
		snprintf(path, 256, "%s", info->dlpi_name);
	return 0;
}

static Elf64_Shdr find_text(const struct mapped *m)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)m->bytes;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(m->bytes + header->e_shoff);
	const char *names = (const char *)m->bytes + sections[header->e_shstrndx].sh_offset;
	for (size_t i = 0; i < header->e_shnum; i++) {
		if (strcmp(names + sections[i].sh_name, ".text") == 0)
			return sections[i];
	}
	fail_msg("no .text");
	return sections[0];
}

/* How many begin at other addresses than objdump's, whose lines are "  1234:<tab>..."; SIZE_MAX:
 * there is no objdump. */
static size_t unlike_objdump(const char *path, const instruction_list *list)
{
	char command[512], line[1024];
	size_t at = 0, unlike = 0;
	snprintf(command, sizeof command,
		 "objdump -d -j .text --insn-width=16 --no-show-raw-insn '%s' 2>/dev/null", path);
	FILE *output = popen(command, "r");
	assert_non_null(output);
	while (fgets(line, sizeof line, output)) {
		unsigned long address;
		char colon;
		if (sscanf(line, " %lx%c", &address, &colon) != 2 || colon != ':')
			continue;
		for (; at < list->count && list->items[at].address < address; at++)
			unlike++;
		if (at < list->count && list->items[at].address == address)
			at++;
		else
			unlike++;
	}
	return pclose(output) == 0 ? unlike + list->count - at : SIZE_MAX;
}

static void a_real_library_is_read_as_objdump_reads_it(void **state)
{
	char path[256] = "";
	instruction_list list = { 0 };
	struct timespec begun, ended;
	(void)state;
	dl_iterate_phdr(find_loader, path);
	struct mapped m = map_file(path);
	if (!m.bytes)
		skip();
	Elf64_Shdr text = find_text(&m);
	clock_gettime(CLOCK_MONOTONIC, &begun);
	take(&list, text.sh_addr, m.bytes + text.sh_offset, text.sh_size);
	clock_gettime(CLOCK_MONOTONIC, &ended);
	size_t bad = 0;
	for (size_t i = 0; i < list.count; i++)
		bad += strstr(list.items[i].text, "(bad)") != NULL;
	size_t other = unlike_objdump(path, &list);
	print_message("%s: %zu bytes, %zu instructions in %.1f ms, %zu bad; %zd unlike objdump\n",
		      path, (size_t)text.sh_size, list.count,
		      (double)(ended.tv_sec - begun.tv_sec) * 1e3 +
			      (double)(ended.tv_nsec - begun.tv_nsec) / 1e6,
		      bad, (ssize_t)other);
#ifdef TARE_OPCODES
	assert_int_equal(bad, 0);
	if (other != SIZE_MAX)
		assert_int_equal(other, 0);
#else
	/* capstone alone leaves some of the newest out */
	assert_true(bad < list.count / 100);
	if (other != SIZE_MAX)
		assert_true(other < list.count / 50);
#endif
	array_release(&list);
	unmap_file(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef __x86_64__
		cmocka_unit_test(instructions_have_the_text_of_att_syntax),
		cmocka_unit_test(what_is_no_instruction_is_one_bad_byte),
#endif
		cmocka_unit_test(any_bytes_are_covered_by_instructions),
		cmocka_unit_test(a_real_library_is_read_as_objdump_reads_it),
	};
	return cmocka_run_group_tests_name("disassemble", tests, NULL, NULL);
}
