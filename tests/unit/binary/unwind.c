/* Rows against libdw, which interprets the same .eh_frame in its own way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "unwind-objects.h"

enum { RBP = 6, RSP = 7, RIP = 16 };

struct counts {
	size_t compared, equal, gaps, unknown; /* unknown: by us alone */
};

static struct counts total;

/* register + offset, in the forms that libdw gives */
static bool is_based(const Dwarf_Op *op, Dwarf_Word reg, int64_t *offset)
{
	if (op->atom == DW_OP_bregx && op->number == reg) {
		*offset = (int64_t)op->number2;
		return true;
	}
	*offset = (int64_t)op->number;
	return op->atom == DW_OP_breg0 + reg;
}

static uint8_t expect_cfa(Dwarf_Frame *frame, int64_t *offset)
{
	Dwarf_Op *op;
	size_t n;
	*offset = 0;
	if (dwarf_frame_cfa(frame, &op, &n) != 0 || !n)
		return UNWIND_NONE;
	if (n == 1)
		return is_based(op, RSP, offset)   ? UNWIND_SP
		       : is_based(op, RBP, offset) ? UNWIND_BP
						   : UNWIND_NONE;
	if (n == 2 && op[1].atom == DW_OP_deref)
		return is_based(op, RSP, offset)   ? UNWIND_SP_AT
		       : is_based(op, RBP, offset) ? UNWIND_BP_AT
						   : UNWIND_NONE;
	if (n == 3 && op[1].atom == DW_OP_deref && op[2].atom == DW_OP_plus_uconst &&
	    op[2].number == 8 && is_based(op, RSP, offset))
		return UNWIND_SP_AT_8;
	if (n == 9 && op[0].atom == DW_OP_breg7 && op[0].number == 8 &&
	    op[1].atom == DW_OP_breg16 && op[8].atom == DW_OP_plus) {
		*offset = op[4].atom - DW_OP_lit0;
		return UNWIND_PLT;
	}
	return UNWIND_NONE;
}

static bool is_at_cfa(const Dwarf_Op *op, size_t n, int64_t *offset)
{
	*offset = n == 2 ? (int64_t)op[1].number : 0;
	return n >= 1 && n <= 2 && op[0].atom == DW_OP_call_frame_cfa &&
	       (n == 1 || op[1].atom == DW_OP_plus_uconst);
}

/* The address of a value: libdw puts the CFA on the stack first, as DWARF has it. */
static bool is_stored(const Dwarf_Op *op, size_t n, Dwarf_Word reg, int64_t *offset)
{
	return n == 2 && op[0].atom == DW_OP_call_frame_cfa && is_based(&op[1], reg, offset);
}

static struct unwind_row expect_row(Dwarf_Frame *frame)
{
	struct unwind_row row = { .how = UNWIND_NONE }, none = row;
	Dwarf_Op memory[3], *op;
	size_t n;
	int64_t offset, ra, bp;
	uint8_t cfa = expect_cfa(frame, &offset);
	assert_int_equal(dwarf_frame_register(frame, RIP, memory, &op, &n), 0);
	if (!n && op == memory)
		return (struct unwind_row){ .how = UNWIND_END };
	if (cfa == UNWIND_SP_AT && offset == 160 && is_stored(op, n, RSP, &ra) && ra == 168)
		return (struct unwind_row){ .how = UNWIND_SIGNAL };
	if (cfa == UNWIND_NONE || !is_at_cfa(op, n, &ra) || ra != -8 || offset > INT16_MAX ||
	    offset < INT16_MIN)
		return none;
	row.offset = (int16_t)offset;
	assert_int_equal(dwarf_frame_register(frame, RBP, memory, &op, &n), 0);
	uint8_t how = UNWIND_BP_LOST;
	if (!n && !op) {
		how = UNWIND_BP_SAME;
	} else if (is_at_cfa(op, n, &bp) && bp % 8 == 0 && bp >= -1024 && bp < 1024) {
		how = UNWIND_BP_SAVED;
		row.bp = (int8_t)(bp / 8);
	} else if (is_stored(op, n, RBP, &bp) && bp == 0) {
		how = UNWIND_BP_AT_BP;
	}
	row.how = (uint8_t)(cfa | how << 4);
	return row;
}

/* Where a program starts nobody called it, told or not. */
static bool is_start(uint64_t entry, uint64_t address)
{
	return address >= entry && address < entry + 64;
}

static void compare_at(Dwarf_CFI *cfi, uint64_t entry, uint64_t address,
		       const struct unwind_row *row, struct counts *c)
{
	Dwarf_Frame *frame;
	c->compared++;
	if (dwarf_cfi_addrframe(cfi, address, &frame) != 0) {
		c->gaps++;
		bool fits = row->how == (is_start(entry, address) ? UNWIND_END : UNWIND_NONE);
		c->equal += fits;
		if (!fits)
			print_message("%lx: not known to libdw: %s\n", address, dwarf_errmsg(-1));
		return;
	}
	struct unwind_row want = expect_row(frame);
	c->unknown += row->how == UNWIND_NONE;
	bool same = row->how == want.how && row->offset == want.offset && row->bp == want.bp;
	c->equal += same;
	if (!same)
		print_message("%lx: how %x offset %d bp %d, libdw: %x %d %d\n", address, row->how,
			      row->offset, row->bp, want.how, want.offset, want.bp);
	free(frame);
}

static double ms_since(const struct timespec *from)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - from->tv_sec) * 1e3 +
	       (double)(now.tv_nsec - from->tv_nsec) / 1e6;
}

static void check_sorted(const struct unwind_table *t)
{
	assert_true(t->count >= 2);
	for (size_t i = 1; i < t->count; i++) {
		const struct unwind_row *a = &t->rows[i - 1], *b = &t->rows[i];
		assert_true(a->pc < b->pc);
		assert_true(a->how != b->how || a->offset != b->offset || a->bp != b->bp);
	}
	assert_int_equal(t->rows[t->count - 1].how, UNWIND_NONE);
}

/* Both ends of at most about `most` rows. */
static void compare_image(const char *name, const struct mapped *m, size_t most)
{
	struct unwind_table t;
	struct counts c = { 0 };
	struct timespec begun;
	clock_gettime(CLOCK_MONOTONIC, &begun);
	unwind_read(&t, m->bytes, m->size);
	double ms = ms_since(&begun);
	check_sorted(&t);
	Elf *elf = elf_memory((char *)m->bytes, m->size);
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
	assert_non_null(cfi);
	uint64_t entry = ((const Elf64_Ehdr *)(const void *)m->bytes)->e_entry;
	Dwarf_Frame *told;
	if (dwarf_cfi_addrframe(cfi, entry, &told) == 0) {
		free(told);
		entry = UINT64_MAX - 64;
	}
	for (size_t i = 0; i + 1 < t.count; i += 1 + t.count / most) {
		uint64_t last = t.base + t.rows[i + 1].pc - 1;
		assert_ptr_equal(unwind_find(&t, t.base + t.rows[i].pc), &t.rows[i]);
		assert_ptr_equal(unwind_find(&t, last), &t.rows[i]);
		compare_at(cfi, entry, t.base + t.rows[i].pc, &t.rows[i], &c);
		compare_at(cfi, entry, last, &t.rows[i], &c);
	}
	assert_null(unwind_find(&t, t.base - 1));
	print_message("%s: %zu rows in %.1f ms; compared %zu, equal %zu, gaps %zu, no form %zu\n",
		      name, t.count, ms, c.compared, c.equal, c.gaps, c.unknown);
	assert_int_equal(c.equal, c.compared);
	total.compared += c.compared;
	total.unknown += c.unknown;
	dwarf_cfi_end(cfi);
	elf_end(elf);
	unwind_release(&t);
}

static void compare_file(const char *path, size_t most)
{
	struct mapped m = map_file(path);
	if (m.bytes)
		compare_image(path, &m, most);
	unmap_file(&m);
}

static int compare_object(struct dl_phdr_info *info, size_t size, void *context)
{
	size_t *files = context;
	(void)size;
	if (info->dlpi_name && info->dlpi_name[0] == '/') {
		compare_file(info->dlpi_name, SIZE_MAX);
		++*files;
	}
	return 0;
}

/* libc, ld.so and the rest of what this program loads, and itself. */
static void rows_of_loaded_objects_agree_with_libdw(void **state)
{
	size_t files = 0;
	struct mapped m = vdso();
	(void)state;
	dl_iterate_phdr(compare_object, &files);
	assert_true(files >= 2);
	compare_file("/proc/self/exe", SIZE_MAX);
	if (m.bytes)
		compare_image("vdso", &m, SIZE_MAX);
}

/* The file that a command prints the name of. */
static void compare_named(const char *command)
{
	char path[4096];
	FILE *output = popen(command, "r");
	assert_non_null(output);
	if (fgets(path, sizeof path, output)) {
		path[strcspn(path, "\n")] = '\0';
		compare_file(path, 20000);
	}
	pclose(output);
}

static void rows_of_large_programs_agree_with_libdw(void **state)
{
	(void)state;
	compare_named("gcc -print-prog-name=cc1 2>/dev/null");
	compare_named("python3 -c 'import sys; print(sys.executable)' 2>/dev/null");
}

static void all_but_one_in_200_rows_have_a_form(void **state)
{
	(void)state;
	assert_true(total.compared > 1000);
	assert_true((double)total.unknown < 0.005 * (double)total.compared);
}

int main(void)
{
#ifndef __x86_64__
	puts("needs x86-64: there are rows of no other machine");
	return 77;
#endif
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_loaded_objects_agree_with_libdw),
		cmocka_unit_test(rows_of_large_programs_agree_with_libdw),
		cmocka_unit_test(all_but_one_in_200_rows_have_a_form),
	};
	elf_version(EV_CURRENT);
	return cmocka_run_group_tests_name("unwind", tests, NULL, NULL);
}
