/* The parts of the detour loop that need no kernel: what readings say of the clock, how detours are
 * placed, which vectors go untold, which CPUs may be chosen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "collect/detours/loop.h"
#include "collect/detours/untold.h"
#include "collect/machine/cpus.h"
#include "record/execution.h"

static size_t fill(uint32_t *into, uint32_t value, size_t count)
{
	for (size_t i = 0; i < count; i++)
		into[i] = value;
	return count;
}

/* As on a guest whose counter moves in steps of 26 ticks, give or take one. */
static void the_turn_of_a_clock_that_jumps_is_its_step(void **state)
{
	(void)state;
	static uint32_t d[100000];
	size_t n = fill(d, 1, 5000);
	n += fill(d + n, 25, 5000);
	n += fill(d + n, 26, 89700);
	n += fill(d + n, 51, 100);
	n += fill(d + n, 52, 150);
	n += fill(d + n, 9000, 100000 - n);
	struct loop_turn t;
	loop_judge(d, n, &t);
	assert_true(t.step > 24 && t.step < 27);
	assert_int_equal(t.median, 26);
	assert_int_equal(t.p999, 52);
	assert_int_equal(t.least, 25); /* not 1, which is no turn of the loop */
}

static void a_clock_that_flows_has_no_step(void **state)
{
	(void)state;
	static uint32_t d[1000];
	for (size_t i = 0; i < 1000; i++)
		d[i] = (uint32_t)(18 + i / 250);
	struct loop_turn t;
	loop_judge(d, 1000, &t);
	assert_true(t.step == 1);
	assert_int_equal(t.least, 18);
	assert_int_equal(t.median, 20);
}

static void detours_are_placed_by_their_own_pairs(void **state)
{
	(void)state;
	/* 2 ticks a ns; the second pair's clock is 7 ns late, as after a drift */
	struct detour_note notes[] = {
		{ .before = 1000,
		  .after = 3000,
		  .paired = 3100,
		  .paired_ns = 501550,
		  .steal_ns = ABSENT_NS,
		  .resumed = 3200 },
		{ .before = 20000,
		  .after = 40000,
		  .paired = 40100,
		  .paired_ns = 520057,
		  .steal_ns = 5300,
		  .resumed = 40300,
		  .smis = 2 },
		{ .before = 50000,
		  .after = 50400,
		  .paired = 50500,
		  .paired_ns = 525257,
		  .steal_ns = 5300,
		  .resumed = 50600 },
	};
	detour_list list = { 0 };
	detours_place(notes, 3, 2.0, 5000, &list);
	assert_int_equal(list.count, 3);
	assert_int_equal(list.items[0].end_ns, 501500);
	assert_int_equal(list.items[0].begin_ns, 500500);
	assert_int_equal(list.items[0].steal_ns, 0);
	assert_int_equal(list.items[1].end_ns, 520007);
	assert_int_equal(list.items[1].begin_ns, 510007);
	assert_int_equal(list.items[1].steal_ns, 300);
	assert_int_equal(list.items[2].steal_ns, 0);
	assert_int_equal(list.items[0].smis, 0);
	assert_int_equal(list.items[1].smis, 2);
	/* pairs that disagree must not make detours overlap */
	notes[1].paired_ns = 501550 + 10050 - 20;
	list.count = 0;
	detours_place(notes, 2, 2.0, ABSENT_NS, &list);
	assert_true(list.items[1].begin_ns >= list.items[0].end_ns);
	assert_int_equal(list.items[1].end_ns - list.items[1].begin_ns, 10000);
	assert_int_equal(list.items[1].steal_ns, 0); /* the first reading tells of no difference */
	array_release(&list);
}

static const char before[] = "           CPU0       CPU2       \n"
			     " 26:          0         16  IO-APIC   4-edge      ttyS0\n"
			     "LOC:    3194593   14021066   Local timer interrupts\n"
			     "HYP:         53         99   Hypervisor callback interrupts\n"
			     "PIW:          0          0   Posted-interrupt wakeup event\n"
			     "ERR:          0\n";
static const char after[] = "           CPU0       CPU1       CPU2       \n"
			    " 26:          0         1         20  IO-APIC   4-edge      ttyS0\n"
			    "LOC:    3194600   1  14021099   Local timer interrupts\n"
			    "HYP:         60   7      101   Hypervisor callback interrupts\n"
			    "NEW:          0   0       5   A vector that came later\n"
			    "PIW:          0   0       0   Posted-interrupt wakeup event\n"
			    "ERR:          3\n"
			    "MIS:          0";

static void interrupts_that_no_tracepoint_tells_are_counted_by_difference(void **state)
{
	(void)state;
	struct noise_cpu c = { .cpu = 2 };
	untold_between(before, after, &c);
	assert_int_equal(c.untold.count, 2);
	assert_string_equal(c.untold.items[0].name, "HYP: Hypervisor callback interrupts");
	assert_int_equal(c.untold.items[0].count, 2);
	assert_string_equal(c.untold.items[1].name, "NEW: A vector that came later");
	assert_int_equal(c.untold.items[1].count, 5);
	c.untold.count = 0;
	c.cpu = 1; /* it came online meanwhile: nothing to compare with */
	untold_between(before, after, &c);
	untold_between("", after, &c);
	untold_between(before, "", &c);
	untold_between("\n", "CPU1\nX:", &c);
	assert_int_equal(c.untold.count, 0);
	array_release(&c.untold);
}

static void cpus_are_checked(void **state)
{
	(void)state;
	cpu_list list = { 0 };
	struct error err = ERROR_INIT;
	assert_int_equal(cpus_choose("all", &list, &err), 0);
	assert_true(list.count > 0);
	for (size_t i = 1; i < list.count; i++)
		assert_true(list.items[i] > list.items[i - 1]);
	array_release(&list);
	static const char *const bad[] = {
		"", "x", "1-", "-1", "3-1", "0,,1", "0x1", "1023", "9999"
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		err = (struct error)ERROR_INIT;
		assert_int_equal(cpus_choose(bad[i], &list, &err), -1);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_true(*err.text && *err.hint);
		assert_int_equal(list.count, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_turn_of_a_clock_that_jumps_is_its_step),
		cmocka_unit_test(a_clock_that_flows_has_no_step),
		cmocka_unit_test(detours_are_placed_by_their_own_pairs),
		cmocka_unit_test(interrupts_that_no_tracepoint_tells_are_counted_by_difference),
		cmocka_unit_test(cpus_are_checked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
