/* Shares and their differences, against published figures. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../fixtures/near.h"
#include "stats/proportions.h"

/* Newcombe 1998 (Statist. Med. 17, 857-872), table I, method 3. */
static void intervals_of_a_proportion_are_those_of_newcombes_table(void **state)
{
	(void)state;
	struct proportion p;
	proportion_of(81, 263, &p);
	assert_near(p.share, 0.3080, 5e-5);
	assert_near(p.low, 0.2553, 5e-5);
	assert_near(p.high, 0.3662, 5e-5);
	proportion_of(15, 148, &p);
	assert_near(p.low, 0.0624, 5e-5);
	assert_near(p.high, 0.1605, 5e-5);
	proportion_of(0, 20, &p);
	assert_near(p.low, 0, 0);
	assert_near(p.high, 0.1611, 5e-5);
	proportion_of(29, 29, &p);
	assert_near(p.low, 0.8830, 5e-5);
	assert_near(p.high, 1, 0);
	proportion_of(0, 0, &p);
	assert_true(isnan(p.share));
}

/* Newcombe 1998 (Statist. Med. 17, 873-890), table II, method 10. */
static void intervals_of_a_difference_are_those_of_newcombes_table(void **state)
{
	(void)state;
	struct proportions d;
	proportions_compare(48, 80, 56, 70, &d);
	assert_near(d.change, 0.2, 1e-12);
	assert_near(d.low, 0.0524, 5e-5);
	assert_near(d.high, 0.3339, 5e-5);
	proportions_compare(3, 10, 9, 10, &d);
	assert_near(d.low, 0.1705, 5e-5);
	assert_near(d.high, 0.8090, 5e-5);
	proportions_compare(0, 10, 10, 10, &d);
	assert_near(d.low, 0.6075, 5e-5);
	assert_near(d.high, 1, 0);
}

static void p_is_exact_for_small_counts_and_that_of_the_z_test_for_large_ones(void **state)
{
	(void)state;
	struct proportions d, back;
	/* the tea-tasting lady: 34/70 */
	proportions_compare(3, 4, 1, 4, &d);
	assert_near(d.p, 34.0 / 70, 1e-9);
	/* 2 C(10,3) C(10,9) + 2 C(10,2) C(10,10) of C(20,12) */
	proportions_compare(3, 10, 9, 10, &d);
	assert_near(d.p, (2 * (120.0 * 10 + 45.0)) / 125970, 1e-9);
	/* the pooled z-test: z = 0.2 / sqrt(104/150 * 46/150 * (1/70 + 1/80)) */
	proportions_compare(48, 80, 56, 70, &d);
	assert_near(d.p, erfc(0.2 / sqrt(104.0 / 150 * 46 / 150 * (1.0 / 70 + 1.0 / 80)) / sqrt(2)),
		    1e-9);
	proportions_compare(56, 70, 48, 80, &back);
	assert_near(back.p, d.p, 1e-12);
	assert_near(back.change, -d.change, 1e-12);
	assert_near(back.low, -d.high, 1e-12);
	/* a large profile against a handful of samples does not take long */
	proportions_compare(40000000, 80000000, 3, 4, &d);
	assert_true(d.p > 0.3 && d.p <= 1);
}

static void proportions_of_nothing_are_not_a_number_and_equal_ones_have_p_one(void **state)
{
	(void)state;
	struct proportions d;
	proportions_compare(0, 0, 3, 4, &d);
	assert_true(isnan(d.change) && isnan(d.p));
	proportions_compare(0, 100, 0, 100, &d);
	assert_near(d.p, 1, 0);
	assert_near(d.change, 0, 0);
	proportions_compare(100, 100, 50, 50, &d);
	assert_near(d.p, 1, 0);
	/* of three samples none can tell a halving of chances: 1/8 */
	proportions_compare(3, 1000, 0, 1000, &d);
	assert_near(d.least_p, 0.125, 1e-9);
	assert_true(d.p >= d.least_p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_of_a_proportion_are_those_of_newcombes_table),
		cmocka_unit_test(intervals_of_a_difference_are_those_of_newcombes_table),
		cmocka_unit_test(p_is_exact_for_small_counts_and_that_of_the_z_test_for_large_ones),
		cmocka_unit_test(proportions_of_nothing_are_not_a_number_and_equal_ones_have_p_one),
	};
	return cmocka_run_group_tests_name("proportions", tests, NULL, NULL);
}
