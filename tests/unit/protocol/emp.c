#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "../fixtures/near.h"
#include "emp-fixture.h"
#include "protocol/emp/choice.h"
#include "stats/random.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct emp_options plain = { 0 };

static void measures_and_rules_have_their_names(void **state)
{
	(void)state;
	assert_string_equal(emp_measure_names[EMP_ET], "et");
	assert_string_equal(emp_measure_names[EMP_PT_TICK], "pt_tick");
	assert_string_equal(emp_measure_names[EMP_SYSTEM], "system");
	assert_string_equal(emp_rule_names[EMP_KEPT], "kept");
	assert_string_equal(emp_rule_names[EMP_OUTSIDE], "II");
}

static void warmups_and_failed_executions_are_not_kept(void **state)
{
	(void)state;
	struct run run = { 0 };
	struct execution x[6];
	for (size_t i = 0; i < 6; i++)
		x[i] = execution(100 * MS, 90 * MS);
	x[0].warmup = true;
	x[0].status = 1; /* a warm-up whatever its end */
	x[1].status = 3;
	x[2].status = 7;
	x[3].outcome = OUTCOME_SIGNALLED;
	x[3].status = SIGSEGV;
	x[4].outcome = OUTCOME_TIMED_OUT;
	struct emp_result r;
	emp_judge(&run, x, 6, &plain, &r);
	static const enum emp_rule expected[] = { EMP_WARMUP, EMP_FAILED, EMP_FAILED,
						  EMP_FAILED, EMP_FAILED, EMP_KEPT };
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(r.verdicts[i].rule, expected[i]);
	assert_string_equal(r.verdicts[1].reason, "exit status 3");
	assert_string_equal(r.verdicts[3].reason, "killed by signal 11 (SIGSEGV)");
	assert_string_equal(r.verdicts[5].reason, "");
	assert_int_equal(r.dropped[EMP_WARMUP], 1);
	assert_int_equal(r.dropped[EMP_FAILED], 4);
	assert_int_equal(r.dropped[EMP_OUTSIDE], 0);
	assert_int_equal(r.kept[EMP_ET].n, 1);
	assert_text(&r, "failures",
		    "4 of 5 executions failed: 2 with an exit status other than 0, 1 killed by "
		    "SIGSEGV, 1 ended by tare at the time limit; they are not in the result");
	emp_result_release(&r);

	const int codes[] = { 5, 7 };
	emp_judge(&run, x, 6, &(struct emp_options){ .expected_codes = codes, .expected_count = 2 },
		  &r);
	assert_int_equal(r.verdicts[1].rule, EMP_FAILED);
	assert_int_equal(r.verdicts[2].rule, EMP_KEPT);
	emp_result_release(&r);

	emp_judge(&run, x, 6, &(struct emp_options){ .ignore_failure = true }, &r);
	assert_int_equal(r.dropped[EMP_FAILED], 1);
	assert_int_equal(r.verdicts[4].rule, EMP_FAILED);
	assert_int_equal(r.kept[EMP_ET].n, 4);
	assert_text(&r, "failures",
		    "those at the time limit are not in the result, the others are "
		    "(--ignore-failure)");
	emp_result_release(&r);

	x[2].status = 3;
	emp_judge(&run, x, 3, &plain, &r);
	assert_text(&r, "failures",
		    "2 of 2 executions failed: exit status 3; they are not in the result");
	assert_null(find(&r, "few")); /* not for want of executions */
	emp_result_release(&r);
	emp_judge(&run, x + 3, 1, &(struct emp_options){ .ignore_failure = true }, &r);
	assert_text(&r, "failures",
		    "1 of 1 execution failed: killed by SIGSEGV; it counts as measured");
	emp_result_release(&r);

	emp_judge(&run, x, 1, &plain, &r);
	assert_null(find(&r, "failures")); /* the run went on */
	emp_result_release(&r);
	run.status = RUN_FAILED;
	x[0].number = 1;
	emp_judge(&run, x, 1, &plain, &r);
	assert_text(&r, "failures", "warm-up 1 failed: exit status 1; nothing was measured");
	emp_result_release(&r);
}

static void a_run_without_executions_is_judged_without_harm(void **state)
{
	(void)state;
	struct run run = { 0 };
	struct emp_result r;
	emp_judge(&run, NULL, 0, &plain, &r);
	assert_int_equal(r.headline, EMP_ET);
	assert_int_equal(r.kept[EMP_ET].n, 0);
	for (size_t m = 0; m < EMP_MEASURES; m++)
		assert_false(r.present[m]);
	assert_true(isnan(r.user_share));
	size_t n = 9;
	free(emp_values(&run, NULL, &r, EMP_ET, &n));
	assert_int_equal(n, 0);
	assert_int_equal(r.warnings.count, 1);
	assert_text(&r, "few", "no execution");
	emp_result_release(&r);
	emp_result_release(&r); /* twice does no harm */
	run.status = RUN_INTERRUPTED;
	emp_judge(&run, NULL, 0, &plain, &r);
	assert_int_equal(r.warnings.count, 0);
	emp_result_release(&r);
}

static void the_headline_is_the_best_grade_that_all_have(void **state)
{
	(void)state;
	struct run run = { 0 };
	struct execution x[4];
	for (size_t i = 0; i < 4; i++) {
		x[i] = execution((100 + (double)i) * MS, (90 + (double)i) * MS);
		x[i].pt_ns[GRADE_NET] = 80000000;
		x[i].pt_ns[GRADE_TICK] = 88000000;
		x[i].user_ns = 60000000;
		x[i].system_ns = 30000000;
	}
	struct emp_result r;
	emp_judge(&run, x, 4, &plain, &r);
	assert_int_equal(r.headline, EMP_PT_NET);
	/* neither its CPU's speed was watched, nor was it counted */
	for (enum emp_measure m = 0; m < EMP_MEASURES; m++)
		assert_true(r.present[m] == (m != EMP_PT_STEADY && !emp_is_count(m)));
	assert_int_equal(r.lead, EMP_PT_NET);
	assert_near(r.user_share, 2.0 / 3, 1e-12);
	assert_near(r.kept[EMP_USER].mean, 80 * MS * 2 / 3, 1e-3); /* of net, which is shown */
	assert_near(r.kept[EMP_SYSTEM].mean, 80 * MS / 3, 1e-3);
	emp_result_release(&r);

	/* one that counts lacks it: not present, and the next grade leads */
	x[2].pt_ns[GRADE_NET] = ABSENT_NS;
	x[2].user_ns = ABSENT_NS; /* which the others' split makes up for */
	emp_judge(&run, x, 4, &plain, &r);
	assert_int_equal(r.headline, EMP_PT_EXEC);
	assert_false(r.present[EMP_PT_NET]);
	assert_true(r.present[EMP_USER] && r.present[EMP_SYSTEM]);
	assert_near(r.user_share, 2.0 / 3, 1e-12);
	assert_near(r.kept[EMP_USER].mean, 61 * MS, 1e-3); /* of a mean exec of 91.5 ms */
	assert_int_equal(r.kept[EMP_PT_NET].n, 0);
	size_t n;
	double *values = emp_values(&run, x, &r, EMP_PT_NET, &n);
	assert_int_equal(n, 0);
	free(values);
	values = emp_values(&run, x, &r, EMP_PT_EXEC, &n);
	assert_int_equal(n, 4);
	assert_near(values[3], 93 * MS, 0);
	free(values);
	emp_result_release(&r);

	/* one that does not count may lack it */
	x[2].warmup = true;
	emp_judge(&run, x, 4, &plain, &r);
	assert_int_equal(r.headline, EMP_PT_NET);
	emp_result_release(&r);

	/* what is shown is divided; without any there is nothing to divide */
	x[1].pt_ns[GRADE_EXEC] = ABSENT_NS;
	emp_judge(&run, x, 4, &plain, &r);
	assert_near(r.kept[EMP_USER].mean, r.kept[EMP_PT_NET].mean * 2 / 3, 1e-3);
	emp_result_release(&r);
	x[1].pt_ns[GRADE_NET] = x[1].pt_ns[GRADE_TICK] = ABSENT_NS;
	emp_judge(&run, x, 4, &plain, &r);
	assert_near(r.user_share, 2.0 / 3, 1e-12);
	assert_false(r.present[EMP_USER] || r.present[EMP_SYSTEM]);
	assert_int_equal(r.kept[EMP_USER].n, 0);
	emp_result_release(&r);
}

/* n executions of 1 ms, each hit by no tick. */
static void make_unhit(struct execution *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		x[i] = execution(1.2 * MS, 1 * MS);
		x[i].number = (uint32_t)i + 1;
	}
}

static void hit(struct execution *x, bool user)
{
	x->user_ns = user ? x->pt_ns[GRADE_EXEC] : 0;
	x->system_ns = user ? 0 : x->pt_ns[GRADE_EXEC];
}

static void the_share_of_user_time_is_that_of_all_executions(void **state)
{
	(void)state;
	struct run run = { 0 };
	struct execution x[13];
	make_unhit(x, 13);
	for (size_t i = 4; i < 10; i++) /* what no tick fell on counts as well, and evenly */
		x[i].pt_ns[GRADE_EXEC] += i % 2 ? 50000 : 70000;
	hit(&x[1], true);
	hit(&x[2], true);
	hit(&x[3], false);
	struct emp_result r;
	emp_judge(&run, x, 10, &plain, &r);
	assert_int_equal(r.dropped[EMP_OUTSIDE], 0);
	assert_near(r.user_share, 2.0 / 3, 1e-12);
	assert_true(r.present[EMP_USER] && r.present[EMP_SYSTEM]);
	assert_int_equal(r.kept[EMP_USER].n, 10);
	assert_near(r.kept[EMP_PT_EXEC].mean, 1.036 * MS, 1e-3);
	assert_near(r.kept[EMP_USER].mean, 1.036 * MS * 2 / 3, 1e-3);
	assert_near(r.kept[EMP_SYSTEM].mean, 1.036 * MS / 3, 1e-3);
	size_t n;
	double *user = emp_values(&run, x, &r, EMP_USER, &n);
	assert_int_equal(n, 10);
	assert_near(user[0], 1 * MS * 2 / 3, 1e-3); /* hit by no tick */
	assert_near(user[3], 1 * MS * 2 / 3, 1e-3); /* by one in the kernel */
	assert_near(user[4], 1.07 * MS * 2 / 3, 1e-3);
	free(user);
	emp_result_release(&r);

	/* neither warm-ups nor failures have a say */
	x[10].warmup = true;
	hit(&x[10], false);
	x[11].status = 1;
	hit(&x[11], false);
	x[12].outcome = OUTCOME_TIMED_OUT;
	hit(&x[12], false);
	emp_judge(&run, x, 13, &plain, &r);
	assert_near(r.user_share, 2.0 / 3, 1e-12);
	assert_int_equal(r.kept[EMP_USER].n, 10);
	emp_result_release(&r);
	emp_judge(&run, x, 13, &(struct emp_options){ .ignore_failure = true }, &r);
	assert_near(r.user_share, 0.5, 1e-12); /* x[11] counts now */
	emp_result_release(&r);

	/* what rule (II) drops was hit like any other */
	x[3].pt_ns[GRADE_EXEC] = 6000000;
	hit(&x[3], false);
	emp_judge(&run, x, 10, &plain, &r);
	assert_int_equal(r.verdicts[3].rule, EMP_OUTSIDE);
	assert_near(r.user_share, 0.25, 1e-12);
	assert_near(r.kept[EMP_USER].mean, r.kept[EMP_PT_EXEC].mean / 4, 1e-3);
	assert_near(r.unfiltered[EMP_USER].mean, r.unfiltered[EMP_PT_EXEC].mean / 4, 1e-3);
	emp_result_release(&r);
}

static void without_a_tick_the_share_of_user_time_is_unknown(void **state)
{
	(void)state;
	struct run run = { 0 };
	struct execution x[10];
	make_unhit(x, 10);
	struct emp_result r;
	emp_judge(&run, x, 10, &plain, &r);
	assert_true(isnan(r.user_share));
	assert_true(r.present[EMP_PT_EXEC]);
	assert_false(r.present[EMP_USER] || r.present[EMP_SYSTEM]);
	assert_int_equal(r.kept[EMP_USER].n, 0);
	emp_result_release(&r);
	x[9].user_ns = x[9].system_ns = 0; /* no time, no share */
	emp_judge(&run, x, 10, &plain, &r);
	assert_true(isnan(r.user_share));
	assert_false(r.present[EMP_USER]);
	emp_result_release(&r);
	hit(&x[0], false);
	emp_judge(&run, x, 10, &plain, &r);
	assert_near(r.user_share, 0, 0); /* known to be nothing */
	assert_true(r.present[EMP_USER]);
	assert_near(r.kept[EMP_USER].mean, 0, 0);
	assert_near(r.kept[EMP_SYSTEM].mean, 1 * MS, 0);
	emp_result_release(&r);
}

static void the_shells_time_is_taken_off_but_never_below_zero(void **state)
{
	(void)state;
	struct run run = { .shell = (char *)"sh",
			   .shell_et_ns = 2000000,
			   .shell_pt_ns = { 0, 1000000, 0 } };
	struct execution x[2] = { execution(10 * MS, 8 * MS), execution(1 * MS, 0.5 * MS) };
	x[0].user_ns = 6000000;
	x[0].system_ns = 2000000;
	struct emp_result r;
	emp_judge(&run, x, 2, &plain, &r);
	assert_near(r.kept[EMP_ET].max, 8 * MS, 0);
	assert_near(r.kept[EMP_ET].min, 0, 0); /* not below 0 */
	assert_near(r.kept[EMP_PT_EXEC].max, 7 * MS, 0);
	assert_near(r.kept[EMP_PT_EXEC].min, 0, 0);
	assert_near(r.kept[EMP_USER].max, 5.25 * MS, 0); /* 3/4 of what is left */
	assert_near(r.kept[EMP_SYSTEM].max, 1.75 * MS, 0);
	assert_near(r.kept[EMP_USER].min, 0, 0);
	assert_remedy(&r, "too_short", "-N");
	emp_result_release(&r);
}

static void rule_two_drops_what_is_two_sigmas_off_and_names_a_daemon(void **state)
{
	(void)state;
	struct run run = { 0 };
	/* mean 1.01 s, sigma 0.1 s / sqrt(10): the bounds are 0.9468 s and 1.0732 s */
	double et[10], pt[10];
	for (size_t i = 0; i < 10; i++) {
		et[i] = 1200 * MS;
		pt[i] = i == 6 ? 1100 * MS : 1000 * MS;
	}
	struct execution x[10];
	make(x, 10, et, pt);
	array_push(&x[6].processes, (struct process){ .role = ROLE_SUBJECT,
						      .present = 1 << TASK_EXEC,
						      .value[TASK_EXEC] = 1100000000,
						      .name = "prog" });
	array_push(&x[6].processes, (struct process){ .role = ROLE_DAEMON,
						      .present = 1 << TASK_EXEC,
						      .value[TASK_EXEC] = 2000000,
						      .name = "sshd" });
	array_push(&x[6].processes, (struct process){ .role = ROLE_DAEMON,
						      .present = 1 << TASK_EXEC,
						      .value[TASK_EXEC] = 61000000,
						      .name = "postgres" });
	array_push(&x[6].processes, (struct process){ .role = ROLE_SELF,
						      .present = 1 << TASK_EXEC,
						      .value[TASK_EXEC] = 99000000,
						      .name = "tare" });
	struct emp_result r;
	emp_judge(&run, x, 10, &plain, &r);
	assert_int_equal(r.dropped[EMP_OUTSIDE], 1);
	assert_int_equal(r.verdicts[6].rule, EMP_OUTSIDE);
	assert_near(r.verdicts[6].value_ns, 1100 * MS, 0);
	assert_near(r.verdicts[6].high_ns, 1010 * MS + 2 * 100 * MS / sqrt(10), 1);
	assert_near(r.verdicts[6].low_ns, 1010 * MS - 2 * 100 * MS / sqrt(10), 1);
	assert_string_equal(
		r.verdicts[6].reason,
		"PT 1.100 s is above 1.073 s (mean + 2 σ); postgres ran 61 ms meanwhile");
	assert_int_equal(r.kept[EMP_PT_EXEC].n, 9);
	assert_near(r.kept[EMP_PT_EXEC].mean, 1000 * MS, 0);
	assert_int_equal(r.kept[EMP_ET].n, 9); /* the same executions for every measure */
	assert_int_equal(r.unfiltered[EMP_PT_EXEC].n, 10);
	assert_near(r.unfiltered[EMP_PT_EXEC].mean, 1010 * MS, 1);
	size_t n;
	free(emp_values(&run, x, &r, EMP_ET, &n));
	assert_int_equal(n, 9);
	emp_result_release(&r);

	/* a daemon that hardly ran is no culprit; none known is none named */
	x[6].processes.items[2].value[TASK_EXEC] = 900000;
	x[6].processes.items[1].value[TASK_EXEC] = 0;
	emp_judge(&run, x, 10, &plain, &r);
	assert_string_equal(r.verdicts[6].reason, "PT 1.100 s is above 1.073 s (mean + 2 σ)");
	emp_result_release(&r);
	array_release(&x[6].processes);

	emp_judge(&run, x, 10, &(struct emp_options){ .keep_outside = true }, &r);
	assert_int_equal(r.dropped[EMP_OUTSIDE], 0);
	assert_false(r.outside.applied);
	assert_int_equal(r.kept[EMP_PT_EXEC].n, 10);
	emp_result_release(&r);

	/* below, and so close that four digits would not tell */
	x[6].pt_ns[GRADE_EXEC] = 999990000;
	emp_judge(&run, x, 10, &plain, &r);
	assert_int_equal(r.verdicts[6].rule, EMP_OUTSIDE);
	assert_true(r.outside.applied);
	assert_true(r.outside.low_ns == r.verdicts[6].low_ns);
	assert_true(r.outside.high_ns == r.verdicts[6].high_ns);
	assert_string_equal(r.verdicts[6].reason, "PT 999.990 ms is below 999.993 ms (mean − 2 σ)");
	emp_result_release(&r);

	/* ET where there is no PT */
	make(x, 10, pt, NULL);
	emp_judge(&run, x, 10, &plain, &r);
	assert_int_equal(r.headline, EMP_ET);
	assert_holds(r.verdicts[6].reason, "ET 1.100 s is above 1.073 s");
	emp_result_release(&r);
}

static void rule_two_leaves_what_is_too_close_or_too_few(void **state)
{
	(void)state;
	struct run run = { 0 };
	struct execution x[20];
	double et[20];
	struct emp_result r;
	/* too close to tell: under 1 us, then under a millionth */
	static const struct {
		double base, off;
		size_t dropped;
	} cases[] = { { 1e6, 999, 0 }, { 1e6, 1001, 1 }, { 1e13, 9e6, 0 }, { 1e13, 2e7, 1 } };
	for (size_t k = 0; k < COUNT(cases); k++) {
		for (size_t i = 0; i < 20; i++)
			et[i] = cases[k].base + (i == 3 ? cases[k].off : 0);
		make(x, 20, et, NULL);
		emp_judge(&run, x, 20, &plain, &r);
		assert_int_equal(r.dropped[EMP_OUTSIDE], cases[k].dropped);
		emp_result_release(&r);
	}
	/* n of 1 and 2, and all equal */
	for (size_t n = 1; n <= 3; n++) {
		et[0] = 1e9;
		et[1] = n == 2 ? 9e9 : 1e9;
		et[2] = 1e9;
		make(x, n, et, NULL);
		emp_judge(&run, x, n, &plain, &r);
		assert_int_equal(r.kept[EMP_ET].n, n);
		assert_non_null(find(&r, "few"));
		emp_result_release(&r);
	}
	/* as long as a clock can tell: 292 years */
	for (size_t i = 0; i < 20; i++)
		et[i] = 9.2e18;
	make(x, 20, et, et);
	emp_judge(&run, x, 20, &plain, &r);
	assert_near(r.kept[EMP_PT_EXEC].mean, 9.2e18, 1e4);
	assert_int_equal(r.kept[EMP_ET].n, 20);
	assert_int_equal(r.warnings.count, 0);
	emp_result_release(&r);
}

/* The ids a sound sample must not raise, and how often the sample raised them. */
static const char *const tested[] = { "drift",	    "bimodal",	"autocorrelated",
				      "slow_first", "outliers", "noisy_et" };

static void count_alarms(int shape, size_t n, size_t samples, struct random *r, size_t *alarms)
{
	struct run run = { 0 };
	for (size_t k = 0; k < samples; k++) {
		double et[100], pt[100];
		for (size_t i = 0; i < n; i++) {
			double noise = shape == 0   ? 0.03 * normal(r)
				       : shape == 1 ? 0.2 * random_unit(r)
						    : exp(0.5 * normal(r)) - 1;
			pt[i] = 100 * MS * (1 + noise);
			et[i] = pt[i] + 10 * MS * exp(0.5 * normal(r));
		}
		struct execution x[100];
		make(x, n, et, pt);
		struct emp_result result;
		emp_judge(&run, x, n, &plain, &result);
		for (size_t w = 0; w < COUNT(tested); w++)
			alarms[w] += find(&result, tested[w]) != NULL;
		emp_result_release(&result);
	}
}

static void warnings_are_false_in_at_most_two_of_a_hundred_runs(void **state)
{
	(void)state;
	static const size_t sizes[] = { 10, 30, 100 };
	struct random r = { 11 };
	const size_t samples = 300;
	size_t all[COUNT(tested)] = { 0 };
	for (size_t s = 0; s < COUNT(sizes); s++)
		for (int shape = 0; shape < 3; shape++) {
			size_t alarms[COUNT(tested)] = { 0 };
			count_alarms(shape, sizes[s], samples, &r, alarms);
			for (size_t w = 0; w < COUNT(tested); w++) {
				/* 2 %, and what chance adds in 300 */
				if (alarms[w] > 10)
					fail_msg("%s: %zu of %zu at n = %zu, shape %d", tested[w],
						 alarms[w], samples, sizes[s], shape);
				all[w] += alarms[w];
			}
		}
	for (size_t w = 0; w < COUNT(tested); w++)
		if (all[w] > samples * 9 / 50)
			fail_msg("%s: %zu of %zu", tested[w], all[w], samples * 9);
}

static const struct emp_warning *judged(const double *et, const double *pt, size_t n,
					const char *id, struct emp_result *r)
{
	struct run run = { .id = 12 };
	struct execution *x = calloc(n, sizeof *x);
	make(x, n, et, pt);
	emp_judge(&run, x, n, &plain, r);
	free(x);
	const struct emp_warning *w = find(r, id);
	if (w)
		assert_true(*w->text && *w->remedy && strlen(w->text) < 250 &&
			    strlen(w->remedy) < 250);
	return w;
}

static void drift_two_modes_and_correlation_are_found(void **state)
{
	(void)state;
	struct random r = { 12 };
	struct emp_result result;
	double et[100], pt[100];

	for (size_t i = 0; i < 100; i++)
		pt[i] = (100 + 0.05 * (double)i + 0.2 * normal(&r)) * MS;
	const struct emp_warning *w = judged(pt, NULL, 100, "drift", &result);
	assert_non_null(w);
	assert_holds(w->text, "ET rose by 4.9");
	assert_null(find(&result, "autocorrelated")); /* the same thing twice */
	emp_result_release(&result);
	for (size_t i = 0; i < 100; i++) /* significant, but of no weight */
		pt[i] = (100 + 0.005 * (double)i + 0.02 * normal(&r)) * MS;
	assert_null(judged(pt, NULL, 100, "drift", &result));
	emp_result_release(&result);

	for (size_t i = 0; i < 100; i++)
		pt[i] = ((random_next(&r) & 1 ? 100 : 130) + normal(&r)) * MS;
	w = judged(pt, NULL, 100, "bimodal", &result);
	assert_non_null(w);
	assert_holds(w->text, "around 100");
	assert_holds(w->text, "around 130 ms");
	assert_holds(w->remedy, "tare show 12 --processes");
	emp_result_release(&result);

	double wave = 0;
	for (size_t i = 0; i < 100; i++) {
		wave = 0.6 * wave + normal(&r);
		pt[i] = (100 + 2 * wave) * MS;
	}
	assert_non_null(judged(pt, NULL, 100, "autocorrelated", &result));
	emp_result_release(&result);

	/* EMP's ten are enough to see it, and not enough for an interval */
	for (size_t i = 0; i < 10; i++)
		pt[i] = (100 + 5 * sin((double)i * 0.7)) * MS;
	w = judged(pt, NULL, 10, "autocorrelated", &result);
	assert_non_null(w);
	assert_holds(w->text, "are needed");
	assert_true(isnan(result.kept[EMP_ET].ci_low));
	emp_result_release(&result);
	/* a drift of one measure does not silence the other */
	for (size_t i = 0; i < 100; i++) {
		pt[i] = (100 + 0.05 * (double)i + 0.2 * normal(&r)) * MS;
		et[i] = (150 + 5 * sin((double)i * 0.6) + normal(&r)) * MS;
	}
	assert_non_null(judged(et, pt, 100, "drift", &result));
	assert_non_null(find(&result, "autocorrelated"));
	emp_result_release(&result);

	for (size_t i = 0; i < 10; i++) {
		pt[i] = (100 + 0.1 * normal(&r)) * MS;
		et[i] = (i ? 101 + 0.5 * normal(&r) : 150) * MS;
	}
	w = judged(et, pt, 10, "slow_first", &result);
	assert_non_null(w);
	assert_holds(w->text, "the first execution took 150 ms");
	assert_holds(w->remedy, "--warmup");
	assert_null(find(&result, "outliers"));
	emp_result_release(&result);
	et[0] = et[1];
	et[7] = 180 * MS;
	w = judged(et, pt, 10, "outliers", &result);
	assert_non_null(w);
	assert_holds(w->text, "1 of 10 executions lies far from the rest: ET 180 ms");
	assert_null(find(&result, "slow_first"));
	emp_result_release(&result);

	for (size_t i = 0; i < 30; i++) {
		pt[i] = (100 + 0.05 * normal(&r)) * MS;
		et[i] = (120 + 5 * normal(&r)) * MS;
	}
	assert_non_null(judged(et, pt, 30, "noisy_et", &result));
	emp_result_release(&result);
}

static void a_steady_run_of_ten_has_no_warning(void **state)
{
	(void)state;
	struct random r = { 13 };
	double et[10], pt[10];
	for (size_t i = 0; i < 10; i++) {
		pt[i] = (100 + 0.1 * normal(&r)) * MS;
		et[i] = pt[i] + MS;
	}
	struct emp_result result;
	judged(et, pt, 10, "few", &result);
	assert_int_equal(result.warnings.count, 0);
	emp_result_release(&result);
	judged(et, pt, 9, "few", &result);
	assert_remedy(&result, "few", "--runs 10");
	emp_result_release(&result);
}

static void a_command_that_mostly_waits_is_warned_of(void **state)
{
	(void)state;
	double et[10], pt[10];
	struct emp_result r;
	for (size_t i = 0; i < 10; i++) {
		et[i] = 100 * MS;
		pt[i] = 2 * MS;
	}
	judged(et, pt, 10, "waiting", &r);
	assert_text(&r, "waiting",
		    "the command was off the CPU 98 % of its time: process time says little");
	assert_remedy(&r, "waiting", "as root, tare tells them apart");
	emp_result_release(&r);
	for (size_t i = 0; i < 10; i++)
		pt[i] = 0.1 * MS;
	judged(et, pt, 10, "waiting", &r);
	assert_text(&r, "waiting", "off the CPU over 99 % of");
	emp_result_release(&r);
	for (size_t i = 0; i < 10; i++)
		pt[i] = 50 * MS;
	assert_null(judged(et, pt, 10, "waiting", &r));
	emp_result_release(&r);
	/* a tick may miss what is shorter */
	struct run run = { 0 };
	struct execution x[10];
	for (size_t i = 0; i < 10; i++) {
		x[i] = execution(3 * MS, -1);
		x[i].pt_ns[GRADE_TICK] = 0;
	}
	emp_judge(&run, x, 10, &plain, &r);
	assert_int_equal(r.headline, EMP_PT_TICK);
	assert_null(find(&r, "waiting"));
	emp_result_release(&r);
}

/* Ten executions of 100 ms with a ledger: these ms of it slept and queued, and the rest ran on as
 * many CPUs. */
struct spending {
	struct run run;
	struct execution x[10];
	struct emp_result r;
};

static void spend(struct spending *s, const char *name, double slept, double queued, double cpus)
{
	static char names[4][16];
	static size_t next;
	char *copy = names[next++ % 4];
	snprintf(copy, sizeof names[0], "%s", name);
	*s = (struct spending){ .run.name = copy };
	double ran = 100 - slept - queued;
	for (size_t i = 0; i < 10; i++) {
		s->x[i] = execution(100 * MS, ran * cpus * MS);
		struct ledger *l = &s->x[i].ledger;
		l->present = true;
		l->wall_ns[LEDGER_TIMER] = (uint64_t)(slept * MS);
		l->wall_ns[LEDGER_QUEUED] = (uint64_t)(queued * MS);
		l->wall_ns[LEDGER_RUN] = (uint64_t)(ran * MS);
		l->subject.ns[LEDGER_RUN] = (uint64_t)(ran * cpus * MS);
		s->x[i].pt_ns[GRADE_NET] = l->subject.ns[LEDGER_RUN];
		array_push(&l->entries,
			   ((struct ledger_entry){ .cause = LEDGER_QUEUED,
						   .name = "postgres",
						   .ns = 1 + (uint64_t)(queued * MS) }));
	}
	emp_judge(&s->run, s->x, 10, &plain, &s->r);
}

static void forget(struct spending *s)
{
	for (size_t i = 0; i < 10; i++)
		array_release(&s->x[i].ledger.entries);
	emp_result_release(&s->r);
}

static void assert_choice(const struct spending *a, const struct spending *b,
			  enum emp_measure asked, enum emp_measure measure, enum emp_why why,
			  const char *words)
{
	const struct emp_judged runs[] = { { &a->run, a->x, &a->r, false },
					   { &b->run, b->x, &b->r, true } };
	struct emp_choice c;
	struct strbuf said = { 0 };
	emp_choose(runs, 2, asked, &c);
	emp_choice_words(&c, runs, &said);
	assert_int_equal(c.measure, measure);
	assert_int_equal(c.why, why);
	assert_string_equal(strbuf_text(&said), words);
	strbuf_release(&said);
}

static void what_sleeps_is_judged_by_elapsed_time_and_what_queues_by_process_time(void **state)
{
	(void)state;
	struct spending busy, sleepy, queued, parallel;
	spend(&busy, "busy", 2, 0, 1);
	spend(&sleepy, "sleepy", 90, 0, 1);
	spend(&queued, "queued", 1, 51, 1);
	spend(&parallel, "parallel", 0, 0, 2);
	assert_choice(&busy, &busy, EMP_MEASURES, EMP_PT_NET, EMP_WHY_RAN, "");
	assert_choice(&busy, &sleepy, EMP_MEASURES, EMP_ET, EMP_WHY_WAITS,
		      "'sleepy' slept or did I/O 90 % of its time");
	assert_choice(&queued, &busy, EMP_MEASURES, EMP_PT_NET, EMP_WHY_QUEUED,
		      "'queued' only queued for a CPU, 51 % of its time");
	assert_choice(&queued, &sleepy, EMP_MEASURES, EMP_ET, EMP_WHY_WAITS,
		      "'sleepy' slept or did I/O 90 % of its time");
	assert_choice(&busy, &parallel, EMP_MEASURES, EMP_ET, EMP_WHY_PARALLEL,
		      "'parallel' used 2.0 CPUs at once, others fewer");
	assert_choice(&parallel, &parallel, EMP_MEASURES, EMP_PT_NET, EMP_WHY_RAN, "");
	/* what is asked for rules; what not all have cannot */
	assert_choice(&busy, &busy, EMP_ET, EMP_ET, EMP_WHY_ASKED, "");
	assert_choice(&sleepy, &busy, EMP_PT_EXEC, EMP_PT_EXEC, EMP_WHY_ASKED, "");
	assert_choice(&busy, &busy, EMP_PT_TICK, EMP_PT_NET, EMP_WHY_RAN,
		      "not every run has process time (tick)");
	busy.run.conditions.measure = queued.run.conditions.measure = "et";
	assert_choice(&busy, &queued, EMP_MEASURES, EMP_ET, EMP_WHY_ASKED, "");
	assert_choice(&busy, &parallel, EMP_MEASURES, EMP_ET, EMP_WHY_PARALLEL,
		      "'parallel' used 2.0 CPUs at once, others fewer");

	assert_int_equal(sleepy.r.shown, EMP_ET);
	assert_int_equal(queued.r.shown, EMP_PT_NET);
	assert_text(&sleepy.r, "waiting", "slept or did I/O 90 % of its time");
	assert_null(find(&sleepy.r, "contended"));
	/* contention is called contention */
	assert_null(find(&queued.r, "waiting"));
	assert_text(&queued.r, "contended",
		    "the command queued for a CPU 51 % of its time: postgres had it most");
	assert_remedy(&queued.r, "contended", "it is the figure to use");
	emp_result_release(&queued.r);
	emp_judge(&queued.run, queued.x, 10, &plain, &queued.r);
	assert_int_equal(queued.r.shown, EMP_ET); /* as it was made for */
	forget(&busy);
	forget(&sleepy);
	forget(&queued);
	forget(&parallel);
}

/* The scheduler's count of its time on run queues tells, if there is no ledger. */
static void without_a_ledger_the_time_on_run_queues_tells_contention(void **state)
{
	(void)state;
	struct run run = { 0 };
	struct execution x[10];
	struct emp_result r;
	for (size_t i = 0; i < 10; i++) {
		x[i] = execution(100 * MS, 49 * MS);
		x[i].totals.present = 1u << TASK_EXEC | 1u << TASK_RUN_DELAY;
		x[i].totals.value[TASK_EXEC] = 49000000;
		x[i].totals.value[TASK_RUN_DELAY] = 51000000;
	}
	emp_judge(&run, x, 10, &plain, &r);
	assert_int_equal(r.shown, EMP_PT_EXEC);
	assert_null(find(&r, "waiting"));
	assert_text(&r, "contended", "the command queued for a CPU 51 % of its time");
	emp_result_release(&r);
	/* of an ordinary user's run only the root is seen */
	for (size_t i = 0; i < 10; i++) {
		x[i].totals.present = 1u << TASK_EXEC;
		add_process(&x[i], ROLE_SUBJECT, "prog", 48 * MS);
		x[i].processes.items[0].present |= 1u << TASK_RUN_DELAY;
		x[i].processes.items[0].value[TASK_RUN_DELAY] = 51000000;
	}
	emp_judge(&run, x, 10, &plain, &r);
	assert_int_equal(r.shown, EMP_PT_EXEC);
	emp_result_release(&r);
	/* which says nothing if its children did the work */
	for (size_t i = 0; i < 10; i++)
		x[i].processes.items[0].value[TASK_EXEC] = 1000000;
	emp_judge(&run, x, 10, &plain, &r);
	assert_int_equal(r.shown, EMP_ET);
	assert_text(&r, "waiting", "was off the CPU 51 % of its time");
	emp_result_release(&r);
	release_executions(x, 10);
}

static void what_was_left_behind_or_lost_is_warned_of(void **state)
{
	(void)state;
	struct run run = { 0 };
	double et[12];
	for (size_t i = 0; i < 12; i++)
		et[i] = 50 * MS;
	struct execution x[12];
	make(x, 12, et, NULL);
	for (size_t i = 0; i < 12; i++)
		x[i].ephemeral = -1; /* not known is none */
	x[0].warmup = true;
	x[0].left_behind = 7;
	x[0].lost = 7;
	struct emp_result r;
	emp_judge(&run, x, 12, &plain, &r);
	assert_int_equal(r.warnings.count, 0);
	emp_result_release(&r);
	x[1].left_behind = 3;
	x[2].left_behind = 1;
	x[2].ended = 1;
	x[3].lost = 5;
	x[4].ephemeral = 2;
	emp_judge(&run, x, 12, &plain, &r);
	assert_text(&r, "left_behind",
		    "2 of 11 executions left processes behind (4 in all, 1 ended by tare)");
	assert_remedy(&r, "left_behind", "tare show RUN --processes");
	assert_text(&r, "lost", "5 events");
	assert_text(&r, "ephemeral",
		    "2 tasks came and went without being listed; their time is in PT if they were "
		    "the subject's threads or children that were waited for");
	emp_result_release(&r);
	run.backend = BACKEND_NETLINK;
	x[3].lost = 1;
	emp_judge(&run, x, 12, &plain, &r);
	assert_text(&r, "lost", "1 event was lost");
	assert_text(&r, "ephemeral", "2 tasks came and went unseen: their time is in no PT");
	emp_result_release(&r);
	/* BPF has the subject's whole tree: nobody is told to run it as root with BPF */
	run.backend = BACKEND_BPF;
	emp_judge(&run, x, 12, &plain, &r);
	assert_null(find(&r, "ephemeral"));
	emp_result_release(&r);
}

static void a_command_too_short_to_measure_gets_a_remedy(void **state)
{
	(void)state;
	static const struct {
		double et_ns, tick_ns;
		bool shell;
		const char *remedy;
	} cases[] = {
		{ 4 * MS, -1, true, "-N" },	      { 4 * MS, -1, false, NULL },
		{ 6 * MS, -1, true, NULL },	      { 90e3, -1, false, "many times" },
		{ 6 * MS, 4 * MS, false, "as root" }, { 600 * MS, 500 * MS, false, NULL },
	};
	for (size_t k = 0; k < COUNT(cases); k++) {
		struct run run = { .shell = cases[k].shell ? (char *)"sh" : NULL };
		struct execution x[10];
		for (size_t i = 0; i < 10; i++) {
			x[i] = execution(cases[k].et_ns, -1);
			if (cases[k].tick_ns > 0)
				x[i].pt_ns[GRADE_TICK] = (uint64_t)cases[k].tick_ns;
		}
		struct emp_result r;
		emp_judge(&run, x, 10, &plain, &r);
		const struct emp_warning *w = find(&r, "too_short");
		if (cases[k].remedy)
			assert_holds(w ? w->remedy : "no warning", cases[k].remedy);
		else
			assert_null(w);
		emp_result_release(&r);
	}
}

/* Steps of a coarse clock are no modes. */
static void steps_of_a_coarse_clock_are_not_taken_for_two_modes(void **state)
{
	(void)state;
	struct run run = { 0 };
	struct random r = { 14 };
	struct execution x[60];
	for (size_t i = 0; i < 60; i++) {
		x[i] = execution((101 + normal(&r)) * MS, -1);
		x[i].pt_ns[GRADE_TICK] = random_next(&r) & 1 ? 100000000 : 104000000;
	}
	struct emp_result result;
	emp_judge(&run, x, 60, &plain, &result);
	assert_int_equal(result.headline, EMP_PT_TICK);
	assert_null(find(&result, "bimodal"));
	emp_result_release(&result);
}

static void compare(const double *a, size_t n_a, const double *b, size_t n_b,
		    struct emp_comparison *c)
{
	struct summary of_a, of_b;
	summarise(a, n_a, &of_a);
	summarise(b, n_b, &of_b);
	emp_compare_with(&of_a, &of_b, 0, 1, c);
}

static void a_comparison_says_ratio_and_whether_it_is_significant(void **state)
{
	(void)state;
	const double a[] = { 103, 101, 105, 100, 104, 102 };
	const double b[] = { 154.5, 150, 152.5, 155.5, 151.5, 153.5 };
	struct emp_comparison c;
	compare(a, 6, b, 6, &c);
	assert_near(c.ratio, 917.5 / 615, 1e-12);
	assert_true(c.ratio_low > 1.4 && c.ratio_low < c.ratio && c.ratio < c.ratio_high);
	assert_true(c.p < 1e-4 && c.needed == 0);
	assert_true(c.significant);
	compare(b, 6, a, 6, &c);
	assert_true(c.significant && c.ratio_high < 1);
	compare(a, 6, a, 6, &c);
	assert_false(c.significant);
	assert_near(c.p, 1, 0);
	assert_near(c.ratio, 1, 0);
	compare(a, 1, b, 1, &c); /* one each can show nothing */
	assert_true(!c.significant && isnan(c.p) && isnan(c.ratio_low));
	compare(a, 0, b, 6, &c);
	assert_true(isnan(c.ratio) && !c.significant);
}

static void a_comparison_of_too_few_that_depend_on_each_other_says_so(void **state)
{
	(void)state;
	const double rising[] = { 100, 101, 102, 103, 104, 105, 106, 107, 108, 109 };
	const double mixed[] = { 114, 110, 112, 115, 111, 113, 112, 110, 114, 111 };
	double many[10];
	struct emp_comparison c;
	compare(rising, 10, mixed, 10, &c);
	assert_true(c.needed > 20);
	assert_true(isnan(c.p) && isnan(c.ratio_low) && !c.significant);
	assert_true(c.ratio > 1.05);
	/* no dependence explains a factor of a hundred */
	for (size_t i = 0; i < 10; i++)
		many[i] = 100 * mixed[i];
	compare(rising, 10, many, 10, &c);
	assert_true(c.significant && c.needed == 0 && c.ratio_low > 1);
}

/* Equal runs differ "significantly" at most about once in twenty, and exactly where the interval
 * does not contain 1. */
static void equal_runs_differ_at_most_once_in_twenty(void **state)
{
	(void)state;
	const double dependences[] = { 0, 0.5, 0.8 };
	struct random r = { 15 };
	for (size_t d = 0; d < 3; d++)
		for (size_t n = 10; n <= 100; n *= 3) {
			size_t alarms = 0;
			for (size_t k = 0; k < 400; k++) {
				double x[100], y[100], a = dependences[d];
				double u = normal(&r), v = normal(&r);
				for (size_t i = 0; i < n; i++) {
					x[i] = 100 + u;
					y[i] = 100 + v;
					u = a * u + sqrt(1 - a * a) * normal(&r);
					v = a * v + sqrt(1 - a * a) * normal(&r);
				}
				struct emp_comparison c;
				compare(x, n, y, n, &c);
				alarms += c.significant;
				assert_int_equal(c.significant,
						 c.ratio_low > 1 || c.ratio_high < 1);
			}
			assert_true(alarms <= 30);
		}
}

static void ten_thousand_executions_are_judged_within_100_ms(void **state)
{
	(void)state;
	struct run run = { 0 };
	struct random r = { 16 };
	const size_t n = 10000;
	struct execution *x = calloc(n, sizeof *x);
	for (size_t i = 0; i < n; i++) {
		x[i] = execution((110 + normal(&r)) * MS, (100 + normal(&r)) * MS);
		x[i].pt_ns[GRADE_NET] = x[i].pt_ns[GRADE_EXEC] - 1000;
		x[i].pt_ns[GRADE_TICK] = 100000000;
		x[i].user_ns = x[i].pt_ns[GRADE_EXEC] / 2;
		x[i].system_ns = x[i].pt_ns[GRADE_EXEC] / 2;
	}
	struct emp_result result;
	clock_t begun = clock();
	emp_judge(&run, x, n, &plain, &result);
	double ms = (double)(clock() - begun) * 1e3 / CLOCKS_PER_SEC;
	print_message("judging %zu executions took %.1f ms\n", n, ms);
	assert_true(ms < 100);
	assert_true(result.dropped[EMP_OUTSIDE] > 350 && result.dropped[EMP_OUTSIDE] < 560);
	emp_result_release(&result);
	free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(measures_and_rules_have_their_names),
		cmocka_unit_test(warmups_and_failed_executions_are_not_kept),
		cmocka_unit_test(a_run_without_executions_is_judged_without_harm),
		cmocka_unit_test(the_headline_is_the_best_grade_that_all_have),
		cmocka_unit_test(the_share_of_user_time_is_that_of_all_executions),
		cmocka_unit_test(without_a_tick_the_share_of_user_time_is_unknown),
		cmocka_unit_test(the_shells_time_is_taken_off_but_never_below_zero),
		cmocka_unit_test(rule_two_drops_what_is_two_sigmas_off_and_names_a_daemon),
		cmocka_unit_test(rule_two_leaves_what_is_too_close_or_too_few),
		cmocka_unit_test(warnings_are_false_in_at_most_two_of_a_hundred_runs),
		cmocka_unit_test(drift_two_modes_and_correlation_are_found),
		cmocka_unit_test(a_steady_run_of_ten_has_no_warning),
		cmocka_unit_test(a_command_that_mostly_waits_is_warned_of),
		cmocka_unit_test(
			what_sleeps_is_judged_by_elapsed_time_and_what_queues_by_process_time),
		cmocka_unit_test(without_a_ledger_the_time_on_run_queues_tells_contention),
		cmocka_unit_test(what_was_left_behind_or_lost_is_warned_of),
		cmocka_unit_test(a_command_too_short_to_measure_gets_a_remedy),
		cmocka_unit_test(steps_of_a_coarse_clock_are_not_taken_for_two_modes),
		cmocka_unit_test(a_comparison_says_ratio_and_whether_it_is_significant),
		cmocka_unit_test(a_comparison_of_too_few_that_depend_on_each_other_says_so),
		cmocka_unit_test(equal_runs_differ_at_most_once_in_twenty),
		cmocka_unit_test(ten_thousand_executions_are_judged_within_100_ms),
	};
	return cmocka_run_group_tests_name("emp", tests, NULL, NULL);
}
