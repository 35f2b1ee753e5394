/* PT(steady), the means of probes, and the grade of a machine's speed, on made-up data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "protocol/doctor/speed.h"
#include "protocol/emp/steady.h"
#include "record/field.h"

static uint64_t state;

/* Roughly normal, of sigma 1. */
static double noise(void)
{
	double sum = 0;
	for (int i = 0; i < 12; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		sum += (double)(state >> 11) / 9007199254740992.0;
	}
	return sum - 6;
}

/* PT of 100 ms at full speed, where each kind's slowness is 0 at best and exponent b. */
static void make(struct steady_input *in, size_t n, const double b[SPEED_KINDS], double own)
{
	state = 42;
	for (size_t i = 0; i < n; i++) {
		double y = log(100e6) + own * noise();
		for (size_t k = 0; k < SPEED_KINDS; k++) {
			double slow = fabs(0.1 * noise());
			in[i].speed_ns[k] = 1000 * exp(slow + 0.002 * noise());
			y += b[k] * slow;
		}
		in[i].pt_ns = exp(y);
	}
}

static const double best[SPEED_KINDS] = { 1000, 1000, 1000, 1000 };

static void a_known_coefficient_is_recovered(void **unused)
{
	(void)unused;
	struct steady_input in[40];
	struct steady_fit f;
	make(in, 40, (double[]){ [SPEED_PORTS] = 0.8, [SPEED_KINDS - 1] = 0 }, 0.003);
	steady_fit(in, 40, best, &f);
	assert_true(f.helps && f.better);
	assert_true(fabs(f.coefficient[SPEED_PORTS] - 0.8) < 0.05);
	assert_int_equal(f.most, SPEED_PORTS);
	assert_true(f.explained > 0.8);
	double mean = 0;
	for (size_t i = 0; i < 40; i++)
		mean += steady_value(&f, &in[i]) / 40;
	/* at the reference, within the interval that it claims */
	assert_true(fabs(mean / 100e6 - 1) < 0.005 + steady_reach(&f));
	assert_true(steady_reach(&f) > 0 && steady_reach(&f) < 0.02);
}

static void two_kinds_are_told_apart(void **unused)
{
	(void)unused;
	struct steady_input in[60];
	struct steady_fit f;
	make(in, 60, (double[]){ [SPEED_PORTS] = 0.5, [SPEED_LOADS] = 0.4 }, 0.003);
	steady_fit(in, 60, best, &f);
	assert_true(fabs(f.coefficient[SPEED_PORTS] - 0.5) < 0.05);
	assert_true(fabs(f.coefficient[SPEED_LOADS] - 0.4) < 0.05);
	assert_true(f.coefficient[SPEED_CHAIN] < 0.05 && f.coefficient[SPEED_TURNS] < 0.05);
}

static void a_speed_that_explains_nothing_does_not_lead(void **unused)
{
	(void)unused;
	struct steady_input in[30];
	struct steady_fit f;
	make(in, 30, (double[SPEED_KINDS]){ 0 }, 0.05);
	steady_fit(in, 30, best, &f);
	assert_false(f.better);
	assert_true(f.explained < 0.2);
}

static void ten_executions_are_enough_and_four_are_not(void **unused)
{
	(void)unused;
	struct steady_input in[10];
	struct steady_fit f;
	make(in, 10, (double[]){ [SPEED_PORTS] = 0.8, [SPEED_KINDS - 1] = 0 }, 0.003);
	steady_fit(in, 10, best, &f);
	assert_true(f.better && fabs(f.coefficient[SPEED_PORTS] - 0.8) < 0.15);
	steady_fit(in, 4, best, &f);
	assert_false(f.helps || f.better);
	steady_fit(in, 1, best, &f);
	assert_false(f.helps);
	steady_fit(in, 0, NULL, &f);
	assert_int_equal(f.n, 0);
}

static void a_kind_that_was_not_seen_is_not_used(void **unused)
{
	(void)unused;
	struct steady_input in[20];
	struct steady_fit f;
	make(in, 20, (double[]){ [SPEED_PORTS] = 0.8, [SPEED_KINDS - 1] = 0 }, 0.003);
	for (size_t i = 0; i < 20; i++)
		in[i].speed_ns[SPEED_PORTS] = NAN;
	steady_fit(in, 20, best, &f);
	assert_true(f.coefficient[SPEED_PORTS] == 0);
	assert_false(isnan(steady_value(&f, &in[0])));
}

static void a_mean_leaves_out_what_was_interrupted(void **unused)
{
	(void)unused;
	struct speed_sample s[100];
	struct speed_means m;
	for (size_t i = 0; i < 100; i++) {
		s[i] = (struct speed_sample){ .at_ns = i };
		for (size_t k = 0; k < SPEED_KINDS; k++)
			s[i].ns[k] = i % 2 ? 1000 : 2000; /* half the speed, half of the time */
	}
	s[3].ns[SPEED_PORTS] = 20000;
	s[4].flags = SPEED_INTERRUPTED;
	s[6].flags = SPEED_ELSEWHERE;
	s[7].flags = SPEED_ELSEWHERE;
	speed_mean(s, 100, &m);
	assert_int_equal(m.used, 96);
	assert_int_equal(m.left_out, 2);
	assert_true(s[3].flags & SPEED_INTERRUPTED);
	/* the mean speed is 0.75 of the better one */
	assert_true(fabs(m.ns[SPEED_CHAIN] - 1000 / 0.75) < 1);
	speed_mean(s, 0, &m);
	assert_int_equal(m.used, 0);
	assert_true(isnan(m.ns[SPEED_CHAIN]));
	m = speed_unknown();
	assert_true(m.used == -1 && m.self_ns == ABSENT_NS);
}

static enum speed_grade grade(double clock, double ports)
{
	static struct speed_sample s[2000];
	struct speed_cpu c = { .cpu = 3 };
	for (size_t i = 0; i < 2000; i++) {
		double phase = i / 200 % 2 ? 1 : 0;
		s[i] = (struct speed_sample){ .at_ns = i * 1000000 };
		for (size_t k = 0; k < SPEED_KINDS; k++)
			s[i].ns[k] = (float)(1000 * (1 + phase * clock));
		s[i].ns[SPEED_PORTS] *= (float)(1 + phase * ports);
	}
	speed_judge(s, 2000, &c);
	assert_int_equal(c.cpu, 3);
	assert_int_equal(c.windows, 20);
	return c.grade;
}

static void machines_are_graded(void **unused)
{
	(void)unused;
	assert_int_equal(grade(0, 0), SPEED_GRADE_STEADY);
	assert_int_equal(grade(0, 0.3), SPEED_GRADE_SHARED);
	assert_int_equal(grade(0.2, 0), SPEED_GRADE_THROTTLED);
	struct speed_cpu c = { 0 };
	speed_judge(NULL, 0, &c);
	assert_int_equal(c.grade, SPEED_GRADE_UNKNOWN);
	assert_true(isnan(c.of[SPEED_PORTS].best));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_known_coefficient_is_recovered),
		cmocka_unit_test(two_kinds_are_told_apart),
		cmocka_unit_test(a_speed_that_explains_nothing_does_not_lead),
		cmocka_unit_test(ten_executions_are_enough_and_four_are_not),
		cmocka_unit_test(a_kind_that_was_not_seen_is_not_used),
		cmocka_unit_test(a_mean_leaves_out_what_was_interrupted),
		cmocka_unit_test(machines_are_graded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
