#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "../fixtures/near.h"
#include "stats/period.h"
#include "stats/random.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define SECOND 1e9
#define MOST 4096

static const double nominal[] = { 1e6, 4e6, 1e7, 1e7 / 3 };

static double times[MOST];

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double normal(struct random *r)
{
	return sqrt(-2 * log(1 - random_unit(r))) * cos(6.283185307179586 * random_unit(r));
}

/* A comb over a second from `origin` and so many times at random, in order. */
static size_t make(struct random *r, double origin, double period, double phase, double sigma,
		   size_t random)
{
	size_t n = 0;
	if (period > 0)
		for (double t = phase; t < SECOND && n < MOST; t += period)
			times[n++] = origin + t + sigma * normal(r);
	for (size_t i = 0; i < random && n < MOST; i++)
		times[n++] = origin + random_unit(r) * SECOND;
	qsort(times, n, sizeof *times, ascending);
	return n;
}

static void fit(size_t n, struct period *p)
{
	period_fit(times, n, nominal, COUNT(nominal), 3e-4, 1e-6, p);
}

static void a_comb_is_found(void **state)
{
	(void)state;
	static const double drifts[] = { 0, 40e-6, -40e-6, 250e-6, -290e-6 };
	struct random r = { 1 };
	for (size_t d = 0; d < COUNT(drifts); d++)
		for (size_t k = 0; k < COUNT(nominal); k++) {
			double period = nominal[k] * (1 + drifts[d]);
			struct period p;
			size_t n = make(&r, 7e9, period, 123456, 3000, 0);
			fit(n, &p);
			assert_true(p.found);
			assert_true(p.strength > 0.97 && p.p < 1e-6);
			assert_near(p.period / period, 1, 2e-6);
			assert_true(p.phase >= 0 && p.phase < p.period);
			/* at both ends of the span, so the phase is good all over it */
			assert_near(period_distance(&p, 7e9 + 123456), 0, 1500);
			double last = floor((SECOND - 123456) / period);
			assert_near(period_distance(&p, 7e9 + 123456 + last * period), 0, 1500);
		}
}

/* As on the development machine: a host's tick among other gaps. The times at random must not move
 * it. */
static void a_comb_is_found_among_times_at_random(void **state)
{
	(void)state;
	struct random r = { 2 };
	for (int i = 0; i < 20; i++) {
		double period = 1e6 * (1 + 40e-6);
		struct period p;
		size_t n = make(&r, 0, period, 300e3, 2000, 1500);
		fit(n, &p);
		assert_true(p.found);
		assert_near(p.strength, 0.4, 0.06);
		assert_near(p.period / period, 1, 2e-6);
		assert_near(period_distance(&p, 300e3), 0, 1500);
		assert_near(period_distance(&p, 300e3 + 999 * period), 0, 1500);
	}
}

static void a_distance_is_signed(void **state)
{
	(void)state;
	const struct period p = { .found = true, .period = 1000, .phase = 100 };
	assert_near(period_distance(&p, 100), 0, 0);
	assert_near(period_distance(&p, 5130), 30, 0);
	assert_near(period_distance(&p, 5070), -30, 0);
	assert_near(period_distance(&p, 1599), 499, 0);
	assert_near(period_distance(&p, 1601), -499, 0);
}

/* p is a probability: times without a period reach it at most that often. */
static void random_times_have_no_period(void **state)
{
	(void)state;
	struct random r = { 3 };
	static const size_t counts[] = { 20, 200, 1500 };
	for (size_t k = 0; k < COUNT(counts); k++) {
		int trials = counts[k] > 1000 ? 100 : 400, below = 0, most = 0;
		for (int i = 0; i < trials; i++) {
			struct period p;
			fit(make(&r, 0, 0, 0, 0, counts[k]), &p);
			assert_false(p.found);
			below += p.p < 0.1;
			most += p.p < 0.9;
		}
		assert_true(below <= trials * 0.15);
		assert_true(most > trials * 0.2);
	}
}

static void few_times_and_bursts_have_no_period(void **state)
{
	(void)state;
	struct period p;
	fit(0, &p);
	assert_false(p.found);
	times[0] = 1, times[1] = 1e6 + 1;
	fit(2, &p);
	assert_false(p.found);
	/* all in one burst: in phase with everything */
	for (size_t i = 0; i < 100; i++)
		times[i] = 5e8 + (double)i * 100;
	fit(100, &p);
	assert_false(p.found);
	/* a burst and some at random: many times, but few events */
	struct random b = { 8 };
	size_t n = 0;
	for (size_t i = 0; i < 20; i++)
		times[n++] = random_unit(&b) * 1e9;
	for (size_t i = 0; i < 60; i++)
		times[n++] = 4.2e8 + (double)i * 2000;
	qsort(times, n, sizeof *times, ascending);
	fit(n, &p);
	assert_false(p.found);
	/* too long a span to search */
	for (size_t i = 0; i < 100; i++)
		times[i] = (double)i * 1e15;
	fit(100, &p);
	assert_false(p.found);
	/* out of tolerance */
	struct random r = { 4 };
	fit(make(&r, 0, 1e6 * 1.01, 0, 1000, 0), &p);
	assert_false(p.found);
}

static void a_phase_is_where_the_times_lie(void **state)
{
	(void)state;
	static const double samples[] = { 7, 27, 47, 67 }, around[] = { 19.5, 40.5, 59.5, 80.5 };
	assert_near(period_phase(samples, COUNT(samples), 20), 7, 1e-9);
	/* about 0: a whole period is none */
	double phase = period_phase(around, COUNT(around), 20);
	assert_true(phase >= 0 && phase < 20);
	assert_near(remainder(phase, 20), 0, 1e-9);
}

static void a_period_is_fitted_fast(void **state)
{
	(void)state;
	struct random r = { 5 };
	struct period p;
	size_t n = make(&r, 0, 1e6, 0, 2000, 500);
	clock_t before = clock();
	for (int i = 0; i < 20; i++)
		fit(n, &p);
	double ms = (double)(clock() - before) * 1e3 / CLOCKS_PER_SEC / 20;
	print_message("%zu times: %.2f ms per fit\n", n, ms);
	/* a quarter of it without sanitizers on a slow machine */
	assert_true(ms < 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_comb_is_found),
		cmocka_unit_test(a_comb_is_found_among_times_at_random),
		cmocka_unit_test(a_distance_is_signed),
		cmocka_unit_test(random_times_have_no_period),
		cmocka_unit_test(few_times_and_bursts_have_no_period),
		cmocka_unit_test(a_phase_is_where_the_times_lie),
		cmocka_unit_test(a_period_is_fitted_fast),
	};
	return cmocka_run_group_tests_name("period", tests, NULL, NULL);
}
