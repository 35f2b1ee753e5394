/* Yuen's trimmed mean. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "stats/trimmed.h"

static void without_trimming_it_is_students(void **state)
{
	(void)state;
	const double x[] = { 1, 2, 3, 4 };
	struct trimmed_mean m;
	trimmed_mean_of(x, 4, 0, &m);
	assert_int_equal(m.cut, 0);
	assert_float_equal(m.mean, 2.5, 1e-12);
	assert_float_equal(m.df, 3, 0);
	assert_float_equal(m.error, sqrt(5. / 3 / 4), 1e-12);
}

static void the_outermost_tenth_does_not_count(void **state)
{
	(void)state;
	const double x[] = { -900, 1, 2, 3, 4, 5, 6, 7, 8, 5000 };
	struct trimmed_mean m;
	trimmed_mean_of(x, 10, .1, &m);
	assert_int_equal(m.cut, 1);
	assert_float_equal(m.mean, 4.5, 1e-12);
	assert_float_equal(m.df, 7, 0);
	/* by hand: winsorised to 1 1 2 3 4 5 6 7 8 8, squares 66.5 about 4.5, over 8 * 7 */
	assert_float_equal(m.error, sqrt(66.5 / 56), 1e-12);
}

static void too_few_have_no_mean(void **state)
{
	(void)state;
	const double x[] = { 1, 2 };
	struct trimmed_mean m;
	trimmed_mean_of(x, 1, 0, &m);
	assert_true(isnan(m.mean) && isnan(m.error));
	trimmed_mean_of(x, 0, .1, &m);
	assert_true(isnan(m.mean) && isnan(m.error));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_trimming_it_is_students),
		cmocka_unit_test(the_outermost_tenth_does_not_count),
		cmocka_unit_test(too_few_have_no_mean),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
