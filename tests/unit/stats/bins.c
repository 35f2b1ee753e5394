/* Bins of histograms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats/bins.h"

/* The page's own test reads the same file. */
static void counts_are_those_of_the_golden_file(void **state)
{
	(void)state;
	FILE *file = fopen(TARE_GOLDEN "/bins.csv", "r");
	char *line = NULL;
	size_t size = 0, cases = 0;
	assert_non_null(file);
	while (getline(&line, &size, file) > 0) {
		double values[512];
		size_t n = 0;
		if (*line == '#')
			continue;
		for (char *rest = line, *word; (word = strsep(&rest, ",")); n++)
			values[n] = strtod(word, NULL);
		assert_int_equal(
			bins_of(values + 2, n - 2, values[2], values[n - 1], (size_t)values[1]),
			(size_t)values[0]);
		cases++;
	}
	assert_int_equal(cases, 10);
	free(line);
	fclose(file);
}

static void every_value_is_in_a_bin(void **state)
{
	(void)state;
	static const double values[] = { 0, 0.5, 1, 5, 9.99, 10, -3, 12 };
	size_t counts[10] = { 0 }, one = 0;
	bins_count(values, 8, 0, 10, 10, counts);
	static const size_t expected[10] = { 3, 1, 0, 0, 0, 1, 0, 0, 0, 3 };
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(counts[i], expected[i]);
	bins_count(values, 8, 4, 4, 1, &one);
	assert_int_equal(one, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_those_of_the_golden_file),
		cmocka_unit_test(every_value_is_in_a_bin),
	};
	return cmocka_run_group_tests_name("bins", tests, NULL, NULL);
}
