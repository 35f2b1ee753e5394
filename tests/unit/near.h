/* cmocka 1.1 compares floats as float; times in ns need every bit of a double. */
#ifndef TARE_TESTS_NEAR_H
#define TARE_TESTS_NEAR_H

#include <math.h>

#define assert_near(value, expected, within)                                                   \
	do {                                                                                   \
		double near_value = (value), near_expected = (expected);                       \
		if (!(fabs(near_value - near_expected) <= (within)))                           \
			fail_msg("%s is %.17g, not %.17g", #value, near_value, near_expected); \
	} while (0)

#endif
