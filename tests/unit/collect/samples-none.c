/* Samples in a build without BPF, whatever this one has: meson.build compiles samples.c and
 * samples_perf.c for it once more. Nobody is told to be root who may be it already. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "collect/samples/samples.h"

static void says_what_is_missing(const struct error *err)
{
	assert_int_equal(err->code, EXIT_ENVIRONMENT);
	assert_non_null(strstr(err->text, "this build has no BPF programs"));
	assert_non_null(strstr(err->hint, "'make' in the source tree"));
	assert_null(strstr(err->text, "root"));
	assert_null(strstr(err->hint, "root"));
}

static void a_build_without_bpf_cannot_sample_a_cgroup_and_says_why(void **state)
{
	(void)state;
	struct samples_options o = { .mode = PROFILE_CLOCK, .hz = 99, .cgroup = "/" };
	struct error err = ERROR_INIT;
	struct samples *s = NULL;
	assert_int_equal(samples_open(&s, &o, &err), -1);
	says_what_is_missing(&err);
}

static void a_build_without_bpf_cannot_sample_the_system_and_says_why(void **state)
{
	(void)state;
	struct samples_options o = { .mode = PROFILE_CLOCK, .hz = 99 };
	struct error err = ERROR_INIT;
	struct samples *s = NULL;
	if (samples_open(&s, &o, &err))
		skip(); /* the kernel allows no events at all */
	assert_null(strstr(samples_not_seen(s), "root"));
	assert_int_equal(samples_start(s, &err), -1);
	says_what_is_missing(&err);
	samples_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_build_without_bpf_cannot_sample_a_cgroup_and_says_why),
		cmocka_unit_test(a_build_without_bpf_cannot_sample_the_system_and_says_why),
	};
	return cmocka_run_group_tests_name("samples-none", tests, NULL, NULL);
}
