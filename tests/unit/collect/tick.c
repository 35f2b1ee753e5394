/* When the tick comes, from the kernel's list of timers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/speed/tick.h"

#define PERIOD 4000000u

static void each_cpu_has_the_phase_of_its_tick(void **unused)
{
	(void)unused;
	char text[] =
		"Timer List Version: v0.10\n"
		"now at 1876887095476 nsecs\n\n"
		"cpu: 0\n clock 0:\nactive timers:\n"
		" #0: <0000000031128f04>, hrtimer_wakeup, S:01\n"
		" # expires at 1876888111111-1876888161111 nsecs [in 9 to 59 nsecs]\n"
		" #1: <0000000080937e33>, tick_nohz_handler, S:01\n"
		" # expires at 1876888000000-1876888000000 nsecs [in 904524 to 904524 nsecs]\n"
		" #2: <0000000031128f05>, hrtimer_wakeup, S:01\n"
		" # expires at 1876889111111-1876889161111 nsecs [in 9 to 59 nsecs]\n"
		"cpu: 2\n clock 0:\nactive timers:\n"
		" #0: <000000004bd0fee1>, tick_sched_timer, S:01\n"
		" # expires at 1876888750000-1876888750000 nsecs [in 1654524 to 1654524 nsecs]\n"
		"cpu: 77\n #0: <0>, tick_nohz_handler, S:01\n # expires at 3-3 nsecs\n";
	uint64_t phase[3] = { 1, 1, 1 };
	tick_phases_of(text, PERIOD, phase, 3);
	assert_int_equal(phase[0], 0);
	assert_int_equal(phase[1], 0);
	assert_int_equal(phase[2], 750000);
}

static void no_list_means_whole_periods(void **unused)
{
	(void)unused;
	char text[] = "";
	uint64_t phase[2] = { 1, 1 };
	tick_phases_of(text, PERIOD, phase, 2);
	assert_int_equal(phase[0], 0);
	assert_int_equal(phase[1], 0);
}

static void the_tick_has_a_period(void **unused)
{
	(void)unused;
	assert_in_range(tick_period_ns(), 500000, 20000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_cpu_has_the_phase_of_its_tick),
		cmocka_unit_test(no_list_means_whole_periods),
		cmocka_unit_test(the_tick_has_a_period),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
