#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../fixtures/near.h"
#include "stats/random.h"
#include "stats/sequential.h"

static double normal(struct random *r)
{
	double u = 1 - random_unit(r);
	return sqrt(-2 * log(u)) * cos(6.283185307179586 * random_unit(r));
}

static double tail(double z)
{
	return erfc(z / sqrt(2)) / 2;
}

/* The two-sided level, as the normal quantile that tables print. */
static double z_of(double level)
{
	double low = 0, high = 9;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;
		*(2 * tail(middle) > level ? &low : &high) = middle;
	}
	return low;
}

static void levels_of_five_looks_are_those_of_lan_and_demets(void **state)
{
	(void)state;
	/* Lan & DeMets 1983; Jennison & Turnbull 2000, chapter 7; as WinLD and gsDesign print them
	 */
	static const double obrien[] = { 4.8769, 3.3569, 2.6803, 2.2898, 2.0310 };
	static const double pocock[] = { 2.4380, 2.4268, 2.4101, 2.3966, 2.3859 };
	struct sequential a, b;
	sequential_begin(&a, 0.05);
	sequential_begin(&b, 0.05);
	for (int k = 0; k < 5; k++) {
		double t = (k + 1) / 5.0;
		double spent = 4 * tail(2.241402727604947 / sqrt(t)) / 0.05;
		assert_near(z_of(sequential_look(&a, t, spent)), obrien[k], 2e-4);
		double level = sequential_look(&b, 30.0 * t, log(1 + (exp(1) - 1) * t));
		assert_near(z_of(level), pocock[k], 2e-4);
	}
}

/* Pocock 1977, Biometrika 64, 191, table 1: at 2.413 five looks use 5 %. */
static void pococks_constant_spends_five_percent_in_five_looks(void **state)
{
	(void)state;
	struct sequential s;
	sequential_begin(&s, 0.1); /* more than enough */
	double spent = 0;
	for (int k = 1; k <= 5; k++) {
		double low = spent, high = 1;
		for (int i = 0; i < 16; i++) {
			struct sequential tried = s;
			spent = (low + high) / 2;
			double z = z_of(sequential_look(&tried, k, spent));
			*(z > 2.413 ? &low : &high) = spent;
		}
		(void)sequential_look(&s, k, spent);
	}
	assert_near(spent, 0.5, 1e-3);
}

static void a_look_that_may_spend_nothing_has_level_zero(void **state)
{
	(void)state;
	struct sequential s;
	sequential_begin(&s, 0.05);
	assert_near(sequential_look(&s, 10, 0), 0, 0);
	assert_near(sequential_look(&s, 20, 0.5), 0.025, 1e-6);
	assert_near(sequential_look(&s, 25, 0.5), 0, 0);
	double level = sequential_look(&s, 40, 1);
	assert_true(level > 0.025 && level < 0.05);
	/* too near the last look, or not after it: left out */
	assert_near(sequential_look(&s, 40.0001, 1), 0, 0);
	assert_near(sequential_look(&s, 30, 1), 0, 0);
	sequential_begin(&s, 0.05);
	assert_near(sequential_look(&s, 7, 1), 0.05, 1e-9);
}

/* A look after each observation: the most that anybody does. */
static void many_looks_miss_the_mean_in_alpha_of_the_runs(void **state)
{
	(void)state;
	enum { FIRST = 5, LAST = 120, RUNS = 4000 };
	static double z[LAST + 1];
	struct sequential s;
	sequential_begin(&s, 0.05);
	for (int n = FIRST; n <= LAST; n++)
		z[n] = z_of(sequential_look(&s, n, log((double)n / 4) / log((double)LAST / 4)));
	struct random r = { 5 };
	int missed = 0;
	for (int i = 0; i < RUNS; i++) {
		double sum = 0;
		bool ever = false;
		for (int n = 1; n <= LAST; n++) {
			sum += normal(&r);
			ever = ever || (n >= FIRST && fabs(sum) > z[n] * sqrt(n));
		}
		missed += ever;
	}
	/* 0.05 +- 3 standard errors */
	assert_near((double)missed / (double)RUNS, 0.05, 0.0104);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_of_five_looks_are_those_of_lan_and_demets),
		cmocka_unit_test(pococks_constant_spends_five_percent_in_five_looks),
		cmocka_unit_test(a_look_that_may_spend_nothing_has_level_zero),
		cmocka_unit_test(many_looks_miss_the_mean_in_alpha_of_the_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
