/* Counters of a subject's whole tree, on the live kernel: events of software, which every machine
 * has, and those of the CPU where there are any. In QEMU with a fixed -icount and one CPU set
 * TARE_TEST_ICOUNT=1: there instructions are exact. With several CPUs each of QEMU's counters has
 * the instructions of all of them. On a real CPU an interrupt may add one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/strbuf.h"
#include "measure/execute.h"

#define PAGES 400
#define SLEEPS 20

static const char *count;
static struct collector *collector;

static enum orphans orphans;

static void run(const char *events, const char *turns, const char *threads, const char *pages,
		const char *sleeps, const char *unreaped, struct execution *x)
{
	struct error err = ERROR_INIT;
	struct launch launch = { .iteration = -1, .no_aslr = true };
	struct launcher *l = NULL;
	struct execute_options how = { .grace_ns = 2000000000u, .orphans = orphans };
	char *argv[] = { (char *)count, (char *)turns,	(char *)threads,
			 (char *)pages, (char *)sleeps, (char *)unreaped,
			 NULL };
	if (counters_open(&how.counters, events, &err) || launcher_new(&l, &launch, &err) ||
	    execute(collector, l, &launch, argv, &how, x, &err))
		fail_msg("%s (%s)", err.text, err.hint);
	assert_int_equal(x->status, 0);
	launcher_free(l);
	counters_close(how.counters);
}

static int64_t value_of(const struct execution *x, const char *name)
{
	const struct counter *c = counter_find(&x->counters, name);
	assert_non_null(c);
	return c->value;
}

static void faults_of_threads_and_of_an_unreaped_child_are_counted(void **unused)
{
	(void)unused;
	struct execution x = execution_unknown(), none = execution_unknown();
	run("page-faults", "1000000", "8", "0", "0", "unreaped", &none);
	run("page-faults", "1000000", "8", "400", "0", "unreaped", &x);
	assert_int_equal(x.left_behind, 1);
	int64_t more = value_of(&x, "page-faults") - value_of(&none, "page-faults");
	/* pages of the kernel's own, such as a stack's, differ by a few */
	assert_in_range(more, 9 * PAGES - 20, 9 * PAGES + 60);
	execution_release(&x);
	execution_release(&none);
}

static void faults_of_a_child_that_still_lives_are_counted(void **unused)
{
	(void)unused;
	struct execution x = execution_unknown(), none = execution_unknown();
	orphans = ORPHANS_LEAVE;
	run("page-faults", "1000000", "0", "0", "0", "lingering", &none);
	run("page-faults", "1000000", "0", "400", "0", "lingering", &x);
	orphans = ORPHANS_END;
	assert_int_equal(x.left_behind, 1);
	int64_t more = value_of(&x, "page-faults") - value_of(&none, "page-faults");
	assert_in_range(more, 2 * PAGES - 20, 2 * PAGES + 60);
	execution_release(&x);
	execution_release(&none);
}

static void switches_and_time_of_the_tree_are_counted(void **unused)
{
	(void)unused;
	struct execution x = execution_unknown();
	if (geteuid() != 0)
		skip(); /* the kernel's own events take privileges */
	run("task-clock,context-switches", "1000000", "8", "0", "20", "unreaped", &x);
	assert_int_equal(x.counters.count, 2);
	assert_true(value_of(&x, "context-switches") >= 9 * SLEEPS);
	assert_true(value_of(&x, "context-switches") <= 9 * SLEEPS * 3);
	double ratio = (double)value_of(&x, "task-clock") / (double)x.pt_ns[GRADE_EXEC];
	if (ratio < 0.6 || ratio > 1.3)
		fail_msg("task-clock is %.3f of the process time", ratio);
	assert_false(counter_is_scaled(&x.counters.items[0]));
	execution_release(&x);
}

static void counting_begins_at_the_exec(void **unused)
{
	(void)unused;
	struct execution x = execution_unknown();
	run("page-faults", "1000000", "0", "0", "0", NULL, &x);
	/* a small program's own: fork and gate of tare would add some hundreds */
	assert_in_range(value_of(&x, "page-faults"), 20, 400);
	execution_release(&x);
}

static void what_cannot_be_counted_is_said(void **unused)
{
	(void)unused;
	struct counters *c;
	struct error err = ERROR_INIT;
	if (!counters_hardware(NULL)) {
		assert_int_equal(counters_open(&c, "page-faults,cycles", &err), -1);
		assert_int_equal(err.code, EXIT_ENVIRONMENT);
		assert_non_null(strstr(err.text, "'cycles'"));
	}
	/* the usual ones need a CPU that counts; without one there is nothing to do */
	assert_int_equal(counters_open(&c, NULL, &err), 0);
	assert_true((c != NULL) == counters_hardware(NULL));
	counters_close(c);
}

/* The PMU msr counts by task, and children inherit it: its clock runs as long as they do. */
static void the_tsc_of_the_msr_pmu_runs_while_the_tree_does(void **unused)
{
	(void)unused;
	struct execution x[2] = { execution_unknown(), execution_unknown() };
	double ghz[2];
	if (geteuid() != 0 || access("/sys/bus/event_source/devices/msr/events/tsc", F_OK) != 0)
		skip();
	for (size_t i = 0; i < 2; i++) {
		run("msr/tsc/,task-clock", "20000000", i ? "8" : "0", "0", "0",
		    i ? "unreaped" : NULL, &x[i]);
		ghz[i] =
			(double)value_of(&x[i], "msr/tsc/") / (double)value_of(&x[i], "task-clock");
		assert_true(ghz[i] > 0.5 && ghz[i] < 10);
		assert_false(counter_is_scaled(&x[i].counters.items[0]));
	}
	if (fabs(ghz[0] / ghz[1] - 1) > 0.05)
		fail_msg("%.3f GHz alone, %.3f GHz with threads and a child", ghz[0], ghz[1]);
	assert_true(value_of(&x[1], "msr/tsc/") > 4 * value_of(&x[0], "msr/tsc/"));
	execution_release(&x[0]);
	execution_release(&x[1]);
}

/* ---- with hardware counters ---- */

static void assert_near(int64_t value, int64_t truth, double share)
{
	const char *icount = getenv("TARE_TEST_ICOUNT");
	if (share < 1e-3 && icount && strcmp(icount, "1") == 0)
		share = 0;
	if (fabs((double)(value - truth)) > share * (double)truth)
		fail_msg("%lld instead of %lld", (long long)value, (long long)truth);
}

static int64_t instructions_of(const char *turns, const char *threads, const char *unreaped)
{
	struct execution x = execution_unknown();
	run("instructions:u", turns, threads, "0", "0", unreaped, &x);
	int64_t value = value_of(&x, "instructions:u");
	execution_release(&x);
	return value;
}

static void instructions_of_a_loop_are_exact_and_equal_over_ten_runs(void **unused)
{
	(void)unused;
	instructions_of("1000000", "0", NULL); /* pages that are not in memory yet fault */
	int64_t first = instructions_of("1000000", "0", NULL);
	for (int i = 1; i < 10; i++)
		assert_near(instructions_of("1000000", "0", NULL), first, 1e-4);
	assert_near(instructions_of("3000000", "0", NULL) - first, 4000000, 1e-4);
}

static void instructions_of_threads_and_of_an_unreaped_child_are_counted(void **unused)
{
	(void)unused;
	int64_t few = instructions_of("1000", "8", "unreaped");
	assert_near(instructions_of("5001000", "8", "unreaped") - few, 90000000, 2e-3);
}

static void multiplexed_events_are_scaled_and_instructions_stay_exact(void **unused)
{
	(void)unused;
#if defined(__aarch64__)
	static const char event[] = "8:u"; /* instructions retired */
#else
	static const char event[] = "c0:u";
#endif
	/* more than any CPU has counters */
	SCOPED(strbuf_release) struct strbuf list = { 0 };
	strbuf_puts(&list, "instructions:u");
	for (int zeros = 0; zeros < 14; zeros++)
		strbuf_printf(&list, ",r%0*d%s", zeros + 1, 0, event);
	struct execution x = execution_unknown();
	run(strbuf_text(&list), "200000000", "0", "0", "0", NULL, &x);
	int64_t exact = value_of(&x, "instructions:u");
	bool scaled = false;
	assert_false(counter_is_scaled(&x.counters.items[0]));
	assert_near(exact, 400000000, 5e-3);
	array_each(c, &x.counters) {
		assert_near(c->value, exact, 0.02);
		scaled |= counter_is_scaled(c);
	}
	assert_true(scaled);
	execution_release(&x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_of_threads_and_of_an_unreaped_child_are_counted),
		cmocka_unit_test(faults_of_a_child_that_still_lives_are_counted),
		cmocka_unit_test(switches_and_time_of_the_tree_are_counted),
		cmocka_unit_test(counting_begins_at_the_exec),
		cmocka_unit_test(the_tsc_of_the_msr_pmu_runs_while_the_tree_does),
		cmocka_unit_test(what_cannot_be_counted_is_said),
	};
	const struct CMUnitTest hardware[] = {
		cmocka_unit_test(instructions_of_a_loop_are_exact_and_equal_over_ten_runs),
		cmocka_unit_test(instructions_of_threads_and_of_an_unreaped_child_are_counted),
		cmocka_unit_test(multiplexed_events_are_scaled_and_instructions_stay_exact),
	};
	struct error err = ERROR_INIT;
	if (argc < 2)
		return 1;
	count = argv[1];
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (collector_open(&collector, BACKEND_PLAIN, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 77;
	}
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	if (counters_hardware(NULL))
		failed += cmocka_run_group_tests(hardware, NULL, NULL);
	collector_close(collector);
	return failed;
}
