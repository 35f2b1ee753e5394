#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "subject/inc.h"

static char home[64], kept[128];

/* A home of its own, and nobody who typed sudo. */
static int set_up(void **state)
{
	(void)state;
	snprintf(home, sizeof home, "/tmp/test-inc-XXXXXX");
	if (!mkdtemp(home))
		return -1;
	snprintf(kept, sizeof kept, "%s/tare/inc", home);
	setenv("XDG_CACHE_HOME", home, 1);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	char directory[80];
	snprintf(directory, sizeof directory, "%s/tare", home);
	unlink(kept);
	rmdir(directory);
	return rmdir(home);
}

static uint64_t turns_of(uint64_t ns, bool again)
{
	struct error err = ERROR_INIT;
	uint64_t turns = 0;
	assert_int_equal(inc_turns(ns, again, &turns, &err), 0);
	return turns;
}

static void write_kept(const char *text)
{
	struct error err = ERROR_INIT;
	assert_int_equal(file_write(kept, text, strlen(text), &err), 0);
}

static void inc_counts_what_it_is_told(void **state)
{
	(void)state;
	static const uint64_t turns[] = { 0, 1, 2, 12345, 1000000 };
	for (size_t i = 0; i < sizeof turns / sizeof *turns; i++)
		assert_int_equal(inc_run(turns[i]), turns[i]);
}

/* The fastest of some of each: a VM may lose a part of any one of them. */
static void twice_the_turns_take_twice_the_time(void **state)
{
	(void)state;
	double least[2] = { 1e18, 1e18 };
	uint64_t turns = (uint64_t)(inc_calibrate() / 200);
	for (int i = 0; i < 30; i++) {
		uint64_t begin = clock_cpu_ns();
		inc_run(turns << (i & 1));
		least[i & 1] = fmin(least[i & 1], (double)(clock_cpu_ns() - begin));
	}
	assert_in_range(least[1] / least[0] * 100, 150, 270);
	assert_in_range(least[0], 2000000, 20000000);
}

static void the_rate_is_measured_once(void **state)
{
	(void)state;
	uint64_t second = turns_of(1000000000, false);
	struct stat st;
	assert_int_equal(stat(kept, &st), 0);
	assert_int_equal(turns_of(1000000000, false), second);
	assert_in_range(turns_of(250000000, false), second / 4 - 1, second / 4 + 1);
	assert_int_equal(turns_of(1, false), second / 1000000000 ? second / 1000000000 : 1);
	assert_true(second > 10000000); /* ten million a second, on the slowest of machines */
}

static void a_kept_rate_is_used(void **state)
{
	(void)state;
	turns_of(1, false);
	char *line = file_read_line(kept), text[256];
	assert_non_null(line);
	const char *model = strchr(line, ' ');
	assert_non_null(model);
	snprintf(text, sizeof text, "1000%s\n", model);
	free(line);
	write_kept(text);
	assert_int_equal(turns_of(1000000000, false), 1000);
	assert_int_equal(turns_of(1, false), 1); /* never none */
	assert_true(turns_of(1000000000, true) > 10000000);
	assert_true(turns_of(1000000000, false) > 10000000);
}

static void what_is_no_rate_of_this_cpu_is_measured_anew(void **state)
{
	(void)state;
	static const char *const texts[] = { "", "1000 some other CPU\n", "1000\n", "nan unknown\n",
					     "1e300 unknown\n" };
	turns_of(1, false);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		write_kept(texts[i]);
		assert_true(turns_of(1000000000, false) > 10000000);
		char *line = file_read_line(kept);
		assert_non_null(line);
		assert_string_not_equal(line, texts[i]);
		free(line);
	}
}

static void without_a_place_it_works_as_well(void **state)
{
	(void)state;
	setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
	assert_true(turns_of(1000000000, false) > 10000000);
	setenv("XDG_CACHE_HOME", "relative", 1);
	setenv("HOME", "relative", 1);
	assert_true(turns_of(1000000000, false) > 10000000);
	assert_int_equal(access("relative", F_OK), -1);
}

static void what_cannot_be_counted_is_said(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	uint64_t turns = 7;
	turns_of(1, false);
	assert_int_equal(inc_turns(UINT64_MAX, false, &turns, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_int_equal(turns, 7);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(inc_counts_what_it_is_told),
		TEST(twice_the_turns_take_twice_the_time),
		TEST(the_rate_is_measured_once),
		TEST(a_kept_rate_is_used),
		TEST(what_is_no_rate_of_this_cpu_is_measured_anew),
		TEST(without_a_place_it_works_as_well),
		TEST(what_cannot_be_counted_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
