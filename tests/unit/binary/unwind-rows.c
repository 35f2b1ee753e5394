/* Programs of .eh_frame that no compiler at hand writes, single steps, and images that are cut or
 * wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/array.h"
#include "unwind-image.h"
#include "unwind-objects.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define UDATA4 DW_EH_PE_udata4
/* The usual start: CFA is rsp + 8, the return address below it. */
#define START DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1
#define SP_SAME (UNWIND_SP | UNWIND_BP_SAME << 4)
#define SP_SAVED (UNWIND_SP | UNWIND_BP_SAVED << 4)
#define BP_SAVED (UNWIND_BP | UNWIND_BP_SAVED << 4)

static const uint8_t start[] = { START };

static void read_frames(struct unwind_table *t, const struct frames *f)
{
	size_t size;
	uint8_t *image = image_make(f->bytes, f->size, &size);
	unwind_read(t, image, size);
	xfree(image);
}

static void check_rows(const struct frames *f, const struct unwind_row *rows, size_t count)
{
	struct unwind_table t;
	read_frames(&t, f);
	assert_int_equal(t.count, count);
	assert_int_equal(t.base, IMAGE_CODE);
	for (size_t i = 0; i < count; i++) {
		if (t.rows[i].pc != rows[i].pc || t.rows[i].how != rows[i].how ||
		    t.rows[i].offset != rows[i].offset || t.rows[i].bp != rows[i].bp)
			fail_msg("row %zu: %x: %d %d %x", i, t.rows[i].pc, t.rows[i].offset,
				 t.rows[i].bp, t.rows[i].how);
	}
	unwind_release(&t);
}

/* One entry over 0x100 bytes. */
#define CHECK_PROGRAM(rows, ...)                                                      \
	do {                                                                          \
		const uint8_t program[] = { __VA_ARGS__ };                            \
		struct frames f = { .size = 0 };                                      \
		frames_common(&f, 1, "zR", UDATA4, start, sizeof start);              \
		frames_entry(&f, UDATA4, IMAGE_CODE, 0x100, program, sizeof program); \
		check_rows(&f, rows, COUNT(rows));                                    \
	} while (0)

static void pointers_of_every_encoding_are_read(void **state)
{
	static const uint8_t encodings[] = {
		DW_EH_PE_absptr,
		DW_EH_PE_udata4,
		DW_EH_PE_sdata4,
		DW_EH_PE_udata8,
		DW_EH_PE_sdata8,
		DW_EH_PE_udata2,
		DW_EH_PE_sdata2,
		DW_EH_PE_uleb128,
		DW_EH_PE_sleb128,
		DW_EH_PE_pcrel | DW_EH_PE_sdata4,
		DW_EH_PE_pcrel | DW_EH_PE_sdata8,
		DW_EH_PE_pcrel,
	};
	static const char *const letters[] = { "zR", "zPLR", "zRS" };
	static const struct unwind_row rows[] = {
		{ 0x20, 8, 0, SP_SAME },
		{ 0x24, 16, 0, SP_SAME },
		{ 0x60, 0, 0, UNWIND_NONE },
	};
	static const uint8_t program[] = { DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 16 };
	(void)state;
	for (size_t i = 0; i < COUNT(encodings) * COUNT(letters) * 2; i++) {
		uint8_t encoding = encodings[i / 2 / COUNT(letters)];
		struct frames f = { .size = 0 };
		frames_common(&f, i & 1 ? 1 : 3, letters[i / 2 % COUNT(letters)], encoding, start,
			      sizeof start);
		frames_entry(&f, encoding, IMAGE_CODE + 0x20, 0x40, program, sizeof program);
		check_rows(&f, rows, COUNT(rows));
	}
	struct frames plain = { .size = 0 };
	frames_common(&plain, 1, "", 0, start, sizeof start);
	frames_entry(&plain, 0, IMAGE_CODE + 0x20, 0x40, program, sizeof program);
	check_rows(&plain, rows, COUNT(rows));
}

static void entries_are_sorted_and_overlaps_cut(void **state)
{
	static const uint8_t sixteen[] = { DW_CFA_def_cfa_offset, 16 };
	static const uint8_t steps[] = {
		DW_CFA_advance_loc | 8, DW_CFA_def_cfa_offset, 32,
		DW_CFA_advance_loc | 8, DW_CFA_def_cfa_offset, 40,
	};
	static const struct unwind_row rows[] = {
		{ 0x10, 8, 0, SP_SAME },     { 0x20, 0, 0, UNWIND_NONE }, { 0x3f, 16, 0, SP_SAME },
		{ 0x4c, 32, 0, SP_SAME },    { 0x50, 40, 0, SP_SAME },	  { 0x60, 8, 0, SP_SAME },
		{ 0x80, 0, 0, UNWIND_NONE },
	};
	struct frames f = { .size = 0 };
	(void)state;
	frames_common(&f, 1, "zR", UDATA4, start, sizeof start);
	frames_entry(&f, UDATA4, IMAGE_CODE + 0x60, 0x20, NULL, 0);
	/* begins within the next: its first row and a part of its second are covered */
	frames_entry(&f, UDATA4, IMAGE_CODE + 0x40, 0x20, steps, sizeof steps);
	frames_entry(&f, UDATA4, IMAGE_CODE + 0x3f, 0x0d, sixteen, sizeof sixteen);
	frames_entry(&f, UDATA4, IMAGE_CODE + 0x10, 0x10, NULL, 0);
	/* wholly covered, out of the code, and of no size: left out */
	frames_entry(&f, UDATA4, IMAGE_CODE + 0x12, 0x04, sixteen, sizeof sixteen);
	frames_entry(&f, UDATA4, IMAGE_CODE - 0x10, 0x10, NULL, 0);
	frames_entry(&f, UDATA4, IMAGE_CODE + IMAGE_CODE_SIZE, 0x10, NULL, 0);
	frames_entry(&f, UDATA4, IMAGE_CODE + 0x30, 0, NULL, 0);
	check_rows(&f, rows, COUNT(rows));
}

static void saved_and_restored_registers_become_rows(void **state)
{
	static const struct unwind_row frame[] = {
		{ 0, 8, 0, SP_SAME },	 { 1, 16, -2, SP_SAVED },    { 4, 16, -2, BP_SAVED },
		{ 0x80, 8, 0, SP_SAME }, { 0x81, 16, -2, BP_SAVED }, { 0x100, 0, 0, UNWIND_NONE },
	};
	static const struct unwind_row others[] = { { 0, 8, 0, SP_SAME },
						    { 0x100, 0, 0, UNWIND_NONE } };
	static const struct unwind_row restored[] = {
		{ 0, 8, -3, SP_SAVED },	 { 2, 8, 0, SP_SAME },	       { 4, 8, -4, SP_SAVED },
		{ 6, 8, 0, SP_SAME },	 { 8, 8, 2, SP_SAVED },	       { 10, 8, 0, SP_SAME },
		{ 12, 8, -5, SP_SAVED }, { 0x100, 0, 0, UNWIND_NONE },
	};
	(void)state;
	CHECK_PROGRAM(frame, DW_CFA_advance_loc1, 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6,
		      2, DW_CFA_advance_loc2, 3, 0, DW_CFA_def_cfa_register, 6, DW_CFA_advance_loc4,
		      0x7c, 0, 0, 0, DW_CFA_remember_state, DW_CFA_def_cfa, 7, 8,
		      DW_CFA_restore | 6, DW_CFA_set_loc, 0x81, 0x10, 0, 0, DW_CFA_restore_state);
	/* nobody asks for these registers */
	CHECK_PROGRAM(others, DW_CFA_GNU_args_size, 0x80, 1, DW_CFA_offset | 3, 2,
		      DW_CFA_advance_loc | 1, DW_CFA_expression, 12, 2, DW_OP_breg7, 0, DW_CFA_nop,
		      DW_CFA_advance_loc | 1, DW_CFA_val_expression, 13, 1, DW_OP_lit0,
		      DW_CFA_register, 3, 5, DW_CFA_undefined, 0, DW_CFA_same_value, 12,
		      DW_CFA_val_offset, 3, 1, DW_CFA_advance_loc | 1, DW_CFA_val_offset, 7, 0);
	CHECK_PROGRAM(restored, DW_CFA_offset_extended, 6, 3, DW_CFA_advance_loc | 2,
		      DW_CFA_restore_extended, 6, DW_CFA_advance_loc | 2, DW_CFA_offset_extended_sf,
		      6, 4, DW_CFA_advance_loc | 2, DW_CFA_same_value, 6, DW_CFA_advance_loc | 2,
		      DW_CFA_GNU_negative_offset_extended, 6, 2, DW_CFA_advance_loc | 2,
		      DW_CFA_restore | 6, DW_CFA_advance_loc | 2, DW_CFA_offset | 6, 5);
}

static void offsets_and_known_expressions_of_the_cfa_become_rows(void **state)
{
	static const struct unwind_row offsets[] = {
		{ 0, 24, 0, UNWIND_BP | UNWIND_BP_SAME << 4 },
		{ 1, 32, 0, UNWIND_BP | UNWIND_BP_SAME << 4 },
		{ 2, 0, 0, UNWIND_NONE }, /* r10 */
		{ 3, 32767, 0, SP_SAME },
		{ 4, 0, 0, UNWIND_NONE }, /* 32768, and then no code */
	};
	static const struct unwind_row expressions[] = {
		{ 0, 11, 0, UNWIND_PLT | UNWIND_BP_SAME << 4 },
		{ 1, -8, 0, UNWIND_BP_AT | UNWIND_BP_AT_BP << 4 },
		{ 2, 40, 0, UNWIND_SP_AT | UNWIND_BP_AT_BP << 4 },
		{ 3, 152, 0, UNWIND_SP_AT_8 | UNWIND_BP_AT_BP << 4 },
		/* back to a register, with the offset there was */
		{ 4, 8, 0, UNWIND_SP | UNWIND_BP_AT_BP << 4 },
		{ 5, 0, 0, UNWIND_NONE },
	};
	static const struct unwind_row signal[] = { { 0, 0, 0, UNWIND_SIGNAL },
						    { 0x100, 0, 0, UNWIND_NONE } };
	(void)state;
	CHECK_PROGRAM(offsets, DW_CFA_def_cfa_sf, 6, 0x7d, DW_CFA_advance_loc | 1,
		      DW_CFA_def_cfa_offset_sf, 0x7c, DW_CFA_advance_loc | 1, DW_CFA_def_cfa, 10, 0,
		      DW_CFA_advance_loc | 1, DW_CFA_def_cfa, 7, 0xff, 0xff, 1,
		      DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 0x80, 0x80, 2);
	CHECK_PROGRAM(expressions, DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0,
		      DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl,
		      DW_OP_plus, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_expression, 3, DW_OP_breg6,
		      0x78, DW_OP_deref, DW_CFA_expression, 6, 2, DW_OP_breg6, 0,
		      DW_CFA_advance_loc | 1, DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 40,
		      DW_OP_deref, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_expression, 6,
		      DW_OP_breg7, 0x98, 1, DW_OP_deref, DW_OP_plus_uconst, 8,
		      DW_CFA_advance_loc | 1, DW_CFA_def_cfa_register, 7, DW_CFA_advance_loc | 1,
		      DW_CFA_def_cfa_expression, 2, DW_OP_breg6, 8);
	CHECK_PROGRAM(signal, DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0xa0, 1, DW_OP_deref,
		      DW_CFA_expression, 6, 3, DW_OP_breg7, 0xf8, 0, DW_CFA_expression, 7, 3,
		      DW_OP_breg7, 0xa0, 1, DW_CFA_expression, 16, 3, DW_OP_breg7, 0xa8, 1);
}

static void rules_without_a_form_are_unknown(void **state)
{
	static const struct unwind_row lost[] = {
		{ 0, 8, 0, UNWIND_SP | UNWIND_BP_LOST << 4 },
		{ 1, 8, -128, SP_SAVED },
		{ 2, 8, 0, UNWIND_SP | UNWIND_BP_LOST << 4 },
		{ 3, 0, 0, UNWIND_END },
		{ 4, 0, 0, UNWIND_NONE },
	};
	static const struct unwind_row sp[] = { { 0, 8, 0, SP_SAME }, { 1, 0, 0, UNWIND_NONE } };
	(void)state;
	/* 129 words away; undefined; the return address undefined, and elsewhere */
	CHECK_PROGRAM(lost, DW_CFA_offset_extended, 6, 0x81, 1, DW_CFA_advance_loc | 1,
		      DW_CFA_offset_extended, 6, 0x80, 1, DW_CFA_advance_loc | 1, DW_CFA_undefined,
		      6, DW_CFA_advance_loc | 1, DW_CFA_undefined, 16, DW_CFA_advance_loc | 1,
		      DW_CFA_offset | 16, 2);
	CHECK_PROGRAM(sp, DW_CFA_advance_loc | 1, DW_CFA_offset | 7, 2);
	/* what cannot be read makes the rest unknown */
	CHECK_PROGRAM(sp, DW_CFA_advance_loc | 1, DW_CFA_restore_state);
	CHECK_PROGRAM(sp, DW_CFA_advance_loc | 1, 0x3f, DW_CFA_def_cfa_offset, 32);
	CHECK_PROGRAM(sp, DW_CFA_advance_loc | 1, DW_CFA_set_loc, 0, 0x10, 0, 0);
	CHECK_PROGRAM(sp, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_expression, 100);
	uint8_t remember[70];
	memset(remember, DW_CFA_remember_state, sizeof remember);
	remember[0] = DW_CFA_advance_loc | 1;
	struct frames f = { .size = 0 };
	frames_common(&f, 1, "zR", UDATA4, start, sizeof start);
	frames_entry(&f, UDATA4, IMAGE_CODE, 0x100, remember, sizeof remember);
	check_rows(&f, sp, COUNT(sp));
}

#define STACK 0x7ff000

static void a_step_goes_to_the_caller_that_its_row_says(void **state)
{
	uint64_t words[32];
	struct unwind_memory stack = { STACK, (const uint8_t *)words, sizeof words };
	static const struct {
		struct unwind_row row;
		struct unwind_state from;
		uint64_t in_16;
		enum unwind_result result;
		uint64_t ip_word, sp, bp; /* of the caller */
	} cases[] = {
		{ { 0, 16, 0, SP_SAME }, { 1, STACK, 5 }, 0, UNWIND_CALLER, 1, STACK + 16, 5 },
		{ { 0, 24, -2, SP_SAVED }, { 1, STACK, 5 }, 0, UNWIND_CALLER, 2, STACK + 24, 1001 },
		/* popped already */
		{ { 0, 8, -2, SP_SAVED }, { 1, STACK, 5 }, 0, UNWIND_CALLER, 0, STACK + 8, 5 },
		{ { 0, 8, 0, UNWIND_SP | UNWIND_BP_LOST << 4 },
		  { 1, STACK, 5 },
		  0,
		  UNWIND_CALLER,
		  0,
		  STACK + 8,
		  0 },
		{ { 0, 16, -2, BP_SAVED },
		  { 1, STACK, STACK + 32 },
		  0,
		  UNWIND_CALLER,
		  5,
		  STACK + 48,
		  1004 },
		{ { 0, -8, 0, UNWIND_BP_AT | UNWIND_BP_AT_BP << 4 },
		  { 1, STACK, STACK + 88 },
		  0,
		  UNWIND_CALLER,
		  29,
		  STACK + 240,
		  1011 },
		{ { 0, 80, 0, UNWIND_SP_AT },
		  { 1, STACK, 5 },
		  0,
		  UNWIND_CALLER,
		  29,
		  STACK + 240,
		  5 },
		{ { 0, 80, 0, UNWIND_SP_AT_8 },
		  { 1, STACK, 5 },
		  0,
		  UNWIND_CALLER,
		  30,
		  STACK + 248,
		  5 },
		{ { 0, 256, 0, UNWIND_SP_AT_8 }, { 1, STACK, 5 }, 0, UNWIND_BEYOND },
		{ { 0, 11, 0, UNWIND_PLT }, { 1, STACK, 5 }, 10, UNWIND_CALLER, 0, STACK + 8, 5 },
		{ { 0, 11, 0, UNWIND_PLT }, { 1, STACK, 5 }, 11, UNWIND_CALLER, 1, STACK + 16, 5 },
		/* ip from word 21, sp and bp from 20 and 15; sp may go down */
		{ { 0, 0, 0, UNWIND_SIGNAL }, { 1, STACK, 5 }, 0, UNWIND_CALLER, 21, 1020, 1015 },
		{ { 0, 0, 0, UNWIND_END }, { 1, STACK, 5 }, 0, UNWIND_DONE },
		{ { 0, 0, 0, UNWIND_NONE }, { 1, STACK, 5 }, 0, UNWIND_STUCK },
		{ { 0, 0, 0, 0x0e }, { 1, STACK, 5 }, 0, UNWIND_STUCK },
		{ { 0, 16, 0, UNWIND_BP }, { 1, STACK, 0 }, 0, UNWIND_STUCK },
		{ { 0, 16, 0, UNWIND_BP }, { 1, STACK, STACK - 16 }, 0, UNWIND_STUCK },
		{ { 0, 16, 0, UNWIND_BP }, { 1, STACK, STACK + 33 }, 0, UNWIND_STUCK },
		{ { 0, -8, 0, UNWIND_BP_AT }, { 1, STACK, STACK }, 0, UNWIND_STUCK },
		{ { 0, 0, 0, UNWIND_SP }, { 1, STACK, 5 }, 0, UNWIND_STUCK },
		{ { 0, 256, 0, UNWIND_SP }, { 1, STACK + 8, 5 }, 0, UNWIND_BEYOND },
		{ { 0, 16, 0, UNWIND_BP }, { 1, STACK, UINT64_MAX - 23 }, 0, UNWIND_BEYOND },
		{ { 0, 16, 0, UNWIND_SP }, { 1, STACK - 16, 5 }, 0, UNWIND_BEYOND },
		{ { 0, 16, 1, SP_SAVED }, { 1, STACK + 232, 5 }, 0, UNWIND_BEYOND },
		{ { 0, 0, 0, UNWIND_SIGNAL }, { 1, STACK + 96, 5 }, 0, UNWIND_BEYOND },
		/* a return address of 0 */
		{ { 0, 32, 0, SP_SAME }, { 1, STACK, 5 }, 0, UNWIND_DONE },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(words); i++)
		words[i] = 1000 + i;
	words[3] = 0;
	words[10] = STACK + 240;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct unwind_state at = cases[i].from, want = at;
		if (cases[i].result == UNWIND_CALLER)
			want = (struct unwind_state){ 1000 + cases[i].ip_word, cases[i].sp,
						      cases[i].bp };
		enum unwind_result result = unwind_step(&cases[i].row, &at, cases[i].in_16, &stack);
		if (result != cases[i].result || at.ip != want.ip || at.sp != want.sp ||
		    at.bp != want.bp)
			fail_msg("case %zu: result %d, ip %lu, sp %lx, bp %lu", i, result, at.ip,
				 at.sp, at.bp);
	}
	struct unwind_state none = { 1, STACK, 5 };
	assert_int_equal(unwind_step(NULL, &none, 0, &stack), UNWIND_STUCK);
}

static void check_sound(const struct unwind_table *t, size_t size)
{
	assert_true(t->count <= size / 2);
	for (size_t i = 1; i < t->count; i++)
		assert_true(t->rows[i - 1].pc < t->rows[i].pc);
	if (t->count)
		assert_int_equal(t->rows[t->count - 1].how, UNWIND_NONE);
}

/* A copy of the exact size, so that a sanitizer sees what is read behind it. */
static size_t read_copy(const uint8_t *bytes, size_t size)
{
	struct unwind_table t;
	uint8_t *copy = xmalloc(size ? size : 1);
	memcpy(copy, bytes, size);
	unwind_read(&t, copy, size);
	check_sound(&t, size);
	size_t count = t.count;
	unwind_release(&t);
	xfree(copy);
	return count;
}

static void tables_are_the_same_by_section_and_by_segment(void **state)
{
	struct mapped m = vdso();
	struct unwind_table by_section, by_segment;
	(void)state;
	if (!m.bytes)
		skip();
	uint8_t *image = xmalloc(m.size);
	memcpy(image, m.bytes, m.size);
	unwind_read(&by_section, image, m.size);
	assert_true(by_section.count > 10);
	((Elf64_Ehdr *)image)->e_shnum = 0;
	unwind_read(&by_segment, image, m.size);
	assert_int_equal(by_section.count, by_segment.count);
	assert_memory_equal(by_section.rows, by_segment.rows,
			    by_section.count * sizeof *by_section.rows);
	((Elf64_Ehdr *)image)->e_machine = EM_AARCH64;
	assert_int_equal(read_copy(image, m.size), 0);
	unwind_release(&by_section);
	unwind_release(&by_segment);
	xfree(image);
}

static void damaged_tables_are_read_without_harm(void **state)
{
	struct mapped m = vdso();
	(void)state;
	if (!m.bytes)
		skip();
	for (size_t size = 0; size < m.size; size += 3)
		read_copy(m.bytes, size);
	uint8_t *image = xmalloc(m.size);
	unsigned seed = 5;
	size_t changed = 0, whole = read_copy(m.bytes, m.size);
	for (int round = 0; round < 2000; round++) {
		memcpy(image, m.bytes, m.size);
		for (int i = 0; i < 1 + round % 64; i++)
			image[(size_t)rand_r(&seed) % (round & 1 ? m.size : 64)] =
				(uint8_t)rand_r(&seed);
		changed += read_copy(image, m.size) != whole;
	}
	assert_true(changed > 100);
	xfree(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pointers_of_every_encoding_are_read),
		cmocka_unit_test(entries_are_sorted_and_overlaps_cut),
		cmocka_unit_test(saved_and_restored_registers_become_rows),
		cmocka_unit_test(offsets_and_known_expressions_of_the_cfa_become_rows),
		cmocka_unit_test(rules_without_a_form_are_unknown),
		cmocka_unit_test(a_step_goes_to_the_caller_that_its_row_says),
		cmocka_unit_test(tables_are_the_same_by_section_and_by_segment),
		cmocka_unit_test(damaged_tables_are_read_without_harm),
	};
	return cmocka_run_group_tests_name("unwind-rows", tests, NULL, NULL);
}
