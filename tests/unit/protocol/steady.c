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

static uint64_t state, seed = 42;

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
	state = seed;
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

/* The one run meets a CPU that is 20 % slower, and hardly varies; the program is 3 % slower. */
static void sides_are_compared_at_equal_speed(void **unused)
{
	(void)unused;
	struct steady_input a[30], b[15], few[1];
	const double bound[SPEED_KINDS] = { [SPEED_PORTS] = 0.8 };
	struct steady_fit f;
	double mean[2] = { 0 };
	make(a, 30, bound, 0.003);
	make(b, 15, bound, 0.003);
	for (size_t i = 0; i < 15; i++) {
		for (size_t k = 0; k < SPEED_KINDS; k++)
			b[i].speed_ns[k] = 1200 * pow(b[i].speed_ns[k] / 1000, 0.1);
		b[i].pt_ns = 103e6 * pow(1.2, 0.8) * pow(b[i].pt_ns / 100e6, 0.1);
	}
	const struct steady_group groups[] = { { a, 30, false }, { b, 15, true } };
	steady_fit_sides(groups, 2, &f);
	assert_true(f.helps);
	assert_int_equal(f.n, 45);
	assert_true(fabs(f.coefficient[SPEED_PORTS] - 0.8) < 0.05);
	for (size_t i = 0; i < 30; i++)
		mean[0] += steady_value(&f, &a[i]) / 30;
	for (size_t i = 0; i < 15; i++)
		mean[1] += steady_value(&f, &b[i]) / 15;
	assert_true(fabs(mean[1] / mean[0] - 1.03) < 0.003 + steady_reach(&f));
	assert_true(steady_reach(&f) > 0 && steady_reach(&f) < 0.02);
	/* one execution tells nothing of the speed */
	memcpy(few, a, sizeof few);
	const struct steady_group short_of[] = { { a, 30, false }, { few, 1, true } };
	steady_fit_sides(short_of, 2, &f);
	assert_false(f.helps);
}

/* Which kinds were chosen hangs on chance, and the interval has that in it. */
static void the_interval_holds_although_the_kinds_were_chosen(void **unused)
{
	(void)unused;
	enum { RUNS = 400, N = 15 };
	int held = 0, helped = 0;
	for (seed = 1; seed <= RUNS; seed++) {
		struct steady_input in[N];
		struct steady_fit f;
		double sum = 0, squares = 0;
		make(in, N, (double[]){ [SPEED_PORTS] = 0.5, [SPEED_LOADS] = 0.4 }, 0.02);
		steady_fit(in, N, best, &f);
		if (!f.helps)
			continue;
		helped++;
		for (size_t i = 0; i < N; i++) {
			double x = log(steady_value(&f, &in[i]) / 100e6);
			sum += x;
			squares += x * x;
		}
		const double n = N, error = sqrt((squares - sum * sum / n) / (n - 1) / n);
		held += fabs(sum / n) <= hypot(2.145 * error, steady_reach(&f));
	}
	seed = 42;
	print_message("held in %d of %d\n", held, helped);
	assert_true(helped > RUNS / 2);
	assert_true(held >= 0.92 * helped && held <= 0.99 * helped);
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
		cmocka_unit_test(sides_are_compared_at_equal_speed),
		cmocka_unit_test(the_interval_holds_although_the_kinds_were_chosen),
		cmocka_unit_test(a_speed_that_explains_nothing_does_not_lead),
		cmocka_unit_test(ten_executions_are_enough_and_four_are_not),
		cmocka_unit_test(a_kind_that_was_not_seen_is_not_used),
		cmocka_unit_test(a_mean_leaves_out_what_was_interrupted),
		cmocka_unit_test(machines_are_graded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
