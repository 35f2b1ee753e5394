#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cpus.h"
#include "measure/parameters.h"
#include "subject/command.h"

static void parameters_are_scanned_and_combined(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	parameter_space space = { 0 };
	assert_int_equal(parameter_scan(&space, "n", "0.3", "0.7", "0.2", &err), 0);
	assert_int_equal(parameter_combinations(&space), 3);
	assert_string_equal(parameter_value(&space, 0, 0), "0.3");
	assert_string_equal(parameter_value(&space, 2, 0), "0.7");
	assert_int_equal(parameter_list(&space, "cc", "gcc,clang\\,x", &err), 0);
	assert_int_equal(parameter_combinations(&space), 6);
	char *filled = parameter_fill(&space, 3, "{cc} -n {n} {other} {n");
	assert_string_equal(filled, "clang,x -n 0.3 {other} {n");
	free(filled);
	assert_null(parameter_fill(&space, 0, NULL));
	parameter_space_release(&space);

	assert_int_equal(parameter_scan(&space, "down", "8", "2", "-3", &err), 0);
	assert_int_equal(parameter_combinations(&space), 3);
	assert_string_equal(parameter_value(&space, 2, 0), "2");
	parameter_space_release(&space);
	assert_int_equal(parameter_combinations(&space), 1);
}

static void impossible_scans_are_refused(void **state)
{
	(void)state;
	static const char *const bad[][4] = { { "n", "1", "x", NULL },	{ "n", "5", "1", NULL },
					      { "n", "1", "2", "0" },	{ "n", "0", "1e9", "1e-3" },
					      { "", "1", "2", NULL },	{ "a{b", "1", "2", NULL },
					      { "n", "nan", "2", NULL } };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct error err = ERROR_INIT;
		parameter_space space = { 0 };
		assert_int_equal(
			parameter_scan(&space, bad[i][0], bad[i][1], bad[i][2], bad[i][3], &err),
			-1);
		assert_int_equal(err.code, EXIT_USAGE);
		parameter_space_release(&space);
	}
	struct error err = ERROR_INIT;
	parameter_space space = { 0 };
	assert_int_equal(parameter_list(&space, "a", "1,2", &err), 0);
	assert_int_equal(parameter_list(&space, "a", "1,2", &err), -1);
	parameter_space_release(&space);
}

static void lists_of_cpus_are_read_and_bad_ones_refused(void **state)
{
	(void)state;
	cpu_set_t set;
	assert_true(cpus_parse("0,2-4", &set));
	assert_int_equal(CPU_COUNT(&set), 4);
	assert_true(CPU_ISSET(3, &set) && !CPU_ISSET(1, &set));
	static const char *const bad[] = {
		"", "a", "1-", "-1", "3-1", "1,", "1,,2", "99999", "1 2"
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(cpus_parse(bad[i], &set));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_are_scanned_and_combined),
		cmocka_unit_test(impossible_scans_are_refused),
		cmocka_unit_test(lists_of_cpus_are_read_and_bad_ones_refused),
	};
	return cmocka_run_group_tests_name("measure", tests, NULL, NULL);
}
