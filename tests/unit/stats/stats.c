#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "../fixtures/near.h"
#include "stats/dip.h"
#include "stats/random.h"
#include "stats/summary.h"
#include "stats/tests.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

enum shape { NORMAL, UNIFORM, EXPONENTIAL, LOG_NORMAL, SHAPES };

static double normal(struct random *r)
{
	double u = 1 - random_unit(r);
	return sqrt(-2 * log(u)) * cos(6.283185307179586 * random_unit(r));
}

static void fill(struct random *r, enum shape shape, double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = shape == NORMAL	      ? 10 + normal(r)
		       : shape == UNIFORM     ? random_unit(r)
		       : shape == EXPONENTIAL ? -log(1 - random_unit(r))
					      : exp(0.5 * normal(r));
}

static double cpu_ms(void)
{
	return (double)clock() * 1e3 / CLOCKS_PER_SEC;
}

static void a_summary_of_known_numbers_has_known_figures(void **state)
{
	(void)state;
	const double x[] = { 9, 2, 4, 5, 4, 7, 5, 4 };
	struct summary s;
	summarise(x, COUNT(x), &s);
	assert_int_equal(s.n, 8);
	assert_near(s.mean, 5, 1e-12);
	assert_near(s.stddev, 2.1380899352993947, 1e-12);
	assert_near(s.relative_error, 0.42761798705987894, 1e-12);
	assert_near(s.median, 4.5, 1e-12);
	assert_near(s.mad, 0.5, 1e-12);
	assert_near(s.min, 2, 0);
	assert_near(s.max, 9, 0);
	assert_true(s.ci_low > 3 && s.ci_low < 4);
	/* the long side is the upper one: the interval follows the skew */
	assert_true(s.ci_high - s.mean > s.mean - s.ci_low);
}

static void a_summary_of_few_equal_or_huge_numbers_is_still_right(void **state)
{
	(void)state;
	struct summary s;
	summarise(NULL, 0, &s);
	assert_int_equal(s.n, 0);
	assert_near(s.mean, 0, 0);
	const double one[] = { 7 };
	summarise(one, 1, &s);
	assert_near(s.stddev, 0, 0);
	assert_near(s.ci_low, 7, 0);
	assert_near(s.ci_high, 7, 0);
	const double two[] = { 1, 3 };
	summarise(two, 2, &s);
	assert_near(s.stddev, 1.4142135623730951, 1e-12);
	/* t of one degree of freedom: two numbers tell little, and the interval says so */
	assert_near(s.ci_high, 2 + 12.7062047362, 1e-6);
	assert_near(s.ci_low, 0, 0); /* and no duration is negative */
	const double equal[] = { 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1 };
	summarise(equal, 7, &s);
	assert_near(s.stddev, 0, 0);
	assert_near(s.ci_high, s.mean, 0);
	const double zero[] = { 0, 0 };
	summarise(zero, 2, &s);
	assert_near(s.relative_error, 0, 0);
	const double huge[] = { 1e18, 1e18 + 4096, 1e18 + 8192 };
	summarise(huge, 3, &s);
	assert_near(s.mean, 1e18 + 4096, 256);
	assert_near(s.stddev, 4096, 1);
}

static void the_order_of_numbers_changes_nothing_but_the_interval(void **state)
{
	(void)state;
	struct random r = { 1 };
	double x[50], turned[50];
	fill(&r, LOG_NORMAL, x, 50);
	for (size_t i = 0; i < 50; i++)
		turned[i] = x[(i * 7 + 3) % 50];
	struct summary a, b;
	summarise(x, 50, &a);
	summarise(turned, 50, &b);
	assert_memory_equal(&a, &b, offsetof(struct summary, ci_low));
	summarise_unordered(x, 50, &a);
	summarise_unordered(turned, 50, &b);
	assert_near(a.ci_low, b.ci_low, 1e-12);
	assert_near(a.ci_high, b.ci_high, 1e-12);
}

static void the_interval_of_a_duration_is_never_negative(void **state)
{
	(void)state;
	const double x[] = { 1, 0, 40, 0, 2 };
	struct summary s;
	summarise(x, 5, &s);
	assert_near(s.ci_low, 0, 0);
	assert_true(s.ci_high > s.mean);
}

static void a_large_summary_is_quick(void **state)
{
	(void)state;
	static double x[100000];
	struct summary s;
	struct random r = { 3 };
	fill(&r, NORMAL, x, 100000);
	double begun = cpu_ms();
	summarise(x, 100000, &s);
	assert_true(cpu_ms() - begun < 100);
	assert_near(s.ci_high - s.mean, 1.96 / sqrt(100000), 0.001);
	assert_true(s.error.effective > 50000);
}

static void mann_whitney_agrees_with_published_examples(void **state)
{
	(void)state;
	struct mann_whitney t;
	const double low[] = { 1, 2, 3, 4 }, high[] = { 5, 6, 7, 8 };
	mann_whitney(low, 4, high, 4, &t);
	assert_true(t.exact);
	assert_near(t.u, 16, 0);
	assert_near(t.p, 2.0 / 70, 1e-12);
	/* R's example(wilcox.test), after Hollander & Wolfe: W = 35, one-sided p = 0.1272 */
	const double x[] = { 0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46 };
	const double y[] = { 1.15, 0.88, 0.90, 0.74, 1.21 };
	mann_whitney(y, 5, x, 10, &t);
	assert_near(t.u, 35, 0);
	assert_near(t.p, 2 * 0.1272, 1e-4);
	mann_whitney(x, 10, y, 5, &t);
	assert_near(t.u, 15, 0);
	assert_near(t.p, 2 * 0.1272, 1e-4);
	const double tied_a[] = { 1, 2, 2, 3 }, tied_b[] = { 2, 3, 3, 4 };
	mann_whitney(tied_a, 4, tied_b, 4, &t);
	assert_false(t.exact);
	assert_near(t.u, 13, 0);
	assert_near(t.p, 0.17203370892182296, 1e-9);
	double a[40], b[40];
	for (size_t i = 0; i < 40; i++) {
		a[i] = (double)i;
		b[i] = (double)i + 10.5;
	}
	mann_whitney(a, 40, b, 40, &t);
	assert_false(t.exact);
	assert_near(t.p, 0.00045250348643015396, 1e-9);
	mann_whitney(a, 0, b, 3, &t);
	assert_near(t.p, 1, 0);
	const double equal[] = { 2, 2, 2 };
	mann_whitney(equal, 3, equal, 3, &t);
	assert_near(t.p, 1, 0);
	mann_whitney(low, 1, high, 1, &t);
	assert_near(t.p, 1, 1e-12);
}

/* Every way to deal 9 ranks to 4 and 5: the exact p against counting. */
static void the_exact_p_of_mann_whitney_is_what_counting_all_orders_gives(void **state)
{
	(void)state;
	unsigned counts[21] = { 0 }, total = 0;
	for (unsigned set = 0; set < 512; set++) {
		if (__builtin_popcount(set) != 4)
			continue;
		unsigned u = 0;
		for (unsigned i = 0; i < 9; i++)
			if (!(set >> i & 1)) /* b's; how many of a's are below it */
				u += (unsigned)__builtin_popcount(set & ((1u << i) - 1));
		counts[u]++;
		total++;
	}
	for (unsigned set = 0; set < 512; set++) {
		if (__builtin_popcount(set) != 4)
			continue;
		double a[4], b[5];
		size_t n_a = 0, n_b = 0;
		for (unsigned i = 0; i < 9; i++)
			if (set >> i & 1)
				a[n_a++] = i;
			else
				b[n_b++] = i;
		struct mann_whitney t;
		mann_whitney(a, 4, b, 5, &t);
		unsigned u = (unsigned)t.u, below = 0;
		for (unsigned k = 0; k <= (u < 20 - u ? u : 20 - u); k++)
			below += counts[k];
		assert_near(t.p, fmin(1, 2.0 * below / total), 1e-12);
	}
}

/* Where exact gives way to the normal approximation the two agree. */
static void the_exact_and_the_approximate_p_of_mann_whitney_agree(void **state)
{
	(void)state;
	struct random r = { 4 };
	double a[30], b[30];
	for (size_t k = 0; k < 20; k++) {
		fill(&r, NORMAL, a, 30);
		fill(&r, NORMAL, b, 30);
		struct mann_whitney exact, approximate;
		mann_whitney(a, 30, b, 30, &exact);
		assert_true(exact.exact);
		/* a tie far out changes U by nothing and p by next to nothing */
		a[0] = b[0] = 100;
		mann_whitney(a, 30, b, 30, &approximate);
		a[0] = 100.5;
		mann_whitney(a, 30, b, 30, &exact);
		assert_false(approximate.exact);
		assert_near(exact.p, approximate.p, 0.015);
	}
}

static void the_interval_of_a_ratio_of_means_holds_the_true_ratio(void **state)
{
	(void)state;
	struct random r = { 5 };
	double a[200], b[200];
	size_t held = 0, samples = 300;
	for (size_t k = 0; k < samples; k++) {
		struct ratio q;
		fill(&r, NORMAL, a, 20);
		fill(&r, NORMAL, b, 25);
		for (size_t i = 0; i < 25; i++)
			b[i] *= 1.5;
		ratio_of_means(a, 20, b, 25, &q);
		held += q.low <= 1.5 && 1.5 <= q.high;
		assert_true(q.low < q.ratio && q.ratio < q.high);
	}
	assert_true(held >= samples * 90 / 100 && held < samples);

	/* the delta method takes over without a jump */
	static double many[2000];
	struct ratio small, large;
	fill(&r, NORMAL, many, 500);
	for (size_t i = 500; i < 2000; i++)
		many[i] = many[i % 500];
	ratio_of_means(many, 500, many, 500, &small);
	ratio_of_means(many, 500, many, 501, &large);
	assert_near((small.high - small.low) / (large.high - large.low), 1, 0.1);

	const double zero[] = { 0, 0 }, one[] = { 1, 1 };
	struct ratio q;
	ratio_of_means(one, 2, zero, 2, &q);
	assert_near(q.ratio, 0, 0);
	ratio_of_means(zero, 2, one, 2, &q);
	assert_true(isinf(q.ratio) && isinf(q.low));
	ratio_of_means(zero, 2, zero, 2, &q);
	assert_near(q.ratio, 1, 0);
	ratio_of_means(one, 0, one, 2, &q);
	assert_true(isnan(q.ratio) && isnan(q.low) && isnan(q.high));
}

static void a_trend_has_known_tau_p_and_change(void **state)
{
	(void)state;
	struct trend t;
	const double up[] = { 1, 3, 5, 7 };
	trend_test(up, 4, &t);
	assert_near(t.tau, 1, 1e-12);
	assert_near(t.p, 2.0 / 24, 1e-12);
	assert_near(t.change, 6, 1e-12);
	const double nearly[] = { 5, 4, 3, 1, 2 }; /* 5 of 120 orders have at most one rise */
	trend_test(nearly, 5, &t);
	assert_near(t.p, 2 * 5.0 / 120, 1e-12);
	assert_near(t.tau, -0.8, 1e-12);
	const double tied[] = { 3, 1, 2, 2, 5, 4, 4, 6, 7, 7, 7, 9 };
	trend_test(tied, 12, &t);
	assert_near(t.p, 0.0005103960469226414, 1e-9);
	assert_near(t.tau, 0.8037727730153806, 1e-9);
	assert_near(t.change, 7.038461538461539, 1e-9);
	const double equal[] = { 4, 4, 4, 4, 4 };
	trend_test(equal, 5, &t);
	assert_near(t.p, 1, 0);
	assert_near(t.change, 0, 0);
	trend_test(up, 2, &t);
	assert_near(t.p, 1, 0);
}

/* Puts the k-th order of 0..5 into x. */
static void order(size_t k, double x[6])
{
	double left[6] = { 0, 1, 2, 3, 4, 5 };
	for (size_t n = 6; n > 0; n--, k /= n + 1) {
		size_t pick = k % n;
		x[6 - n] = left[pick];
		memmove(left + pick, left + pick + 1, (n - 1 - pick) * sizeof *left);
	}
}

/* All 720 orders of six: the exact p against counting. */
static void the_exact_p_of_a_trend_is_what_counting_all_orders_gives(void **state)
{
	(void)state;
	unsigned counts[16] = { 0 }, falling[720];
	double x[6];
	for (size_t k = 0; k < 720; k++) {
		order(k, x);
		falling[k] = 0;
		for (size_t j = 0; j < 6; j++)
			for (size_t i = 0; i < j; i++)
				falling[k] += x[i] > x[j];
		counts[falling[k]]++;
	}
	assert_int_equal(counts[0], 1); /* so each order came once */
	for (size_t k = 0; k < 720; k++) {
		unsigned fewer = falling[k] < 15 - falling[k] ? falling[k] : 15 - falling[k];
		unsigned below = 0;
		for (unsigned i = 0; i <= fewer; i++)
			below += counts[i];
		struct trend t;
		order(k, x);
		trend_test(x, 6, &t);
		assert_near(t.p, fmin(1, 2.0 * below / 720), 1e-12);
		assert_near(t.tau, (15 - 2.0 * falling[k]) / 15, 1e-12);
	}
}

static void autocorrelations_of_known_series_are_known(void **state)
{
	(void)state;
	struct autocorrelation a;
	const double up[] = { 1, 2, 3, 4, 5 };
	autocorrelation_lag1(up, 5, 0.05, &a);
	assert_near(a.r1, 0.4, 1e-12);
	const double x[] = { 4, 7, 1, 9, 3, 6 };
	autocorrelation_lag1(x, 6, 0.05, &a);
	assert_near(a.r1, -36.0 / 42, 1e-9);
	double alternating[100];
	for (size_t i = 0; i < 100; i++)
		alternating[i] = i % 2 ? 1 : -1;
	autocorrelation_lag1(alternating, 100, 0.05, &a);
	assert_near(a.r1, -0.99, 1e-12);
	assert_near(a.low, -0.01 - 0.1959964, 1e-6);
	assert_near(a.high, -0.01 + 0.1959964, 1e-6);
	const double equal[] = { 4, 4, 4 };
	autocorrelation_lag1(equal, 3, 0.05, &a);
	assert_near(a.r1, 0, 0);
}

static void a_dip_lies_between_its_bounds_and_ignores_scale_and_sign(void **state)
{
	(void)state;
	struct dip d;
	const double grid[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	dip_test(grid, 8, &d);
	assert_near(d.dip, 1.0 / 16, 1e-12); /* the least there is */
	assert_near(d.p, 1, 1e-9);
	const double two[] = { 0, 1, 1, 0 };
	dip_test(two, 4, &d);
	assert_near(d.dip, 0.25, 1e-12); /* the most there is; R's dip(c(0,0,1,1)) */
	assert_near(d.p, 0.001, 1e-12);
	const double equal[] = { 3, 3, 3, 3 };
	dip_test(equal, 4, &d);
	assert_near(d.p, 1, 0);
	dip_test(grid, 3, &d);
	assert_near(d.p, 1, 0);
	dip_test(NULL, 0, &d);
	assert_near(d.p, 1, 0);

	struct random r = { 6 };
	for (size_t k = 0; k < 50; k++) {
		double x[40], turned[40];
		fill(&r, (enum shape)(k % SHAPES), x, 40);
		for (size_t i = 0; i < 40; i++)
			turned[i] = 5 - 3 * x[i];
		struct dip e;
		dip_test(x, 40, &d);
		dip_test(turned, 40, &e);
		assert_near(d.dip, e.dip, 1e-9);
		assert_true(d.dip >= 1.0 / 80 && d.dip <= 0.25);
	}
}

/* The dip of samples against the quantiles of R's diptest (qDiptab, a million samples each). */
static void dips_of_uniform_samples_have_the_published_quantiles(void **state)
{
	(void)state;
	static const struct {
		size_t n;
		double median, tenth, twentieth, fiftieth;
	} published[] = { { 10, .09778, .13046, .13961, .15096 },
			  { 30, .06145, .08148, .08817, .09606 },
			  { 100, .03546, .04715, .05113, .05580 } };
	struct random r = { 9 };
	for (size_t k = 0; k < COUNT(published); k++) {
		size_t above[4] = { 0 }, samples = 10000;
		size_t below[2] = { 0 };
		for (size_t i = 0; i < samples; i++) {
			double x[100];
			struct dip d;
			fill(&r, UNIFORM, x, published[k].n);
			dip_test(x, published[k].n, &d);
			above[0] += d.dip > published[k].median;
			above[1] += d.dip > published[k].tenth;
			above[2] += d.dip > published[k].twentieth;
			above[3] += d.dip > published[k].fiftieth;
			below[0] += d.p < .2;
			below[1] += d.p < .01;
		}
		double n = (double)samples;
		assert_near((double)above[0] / n, .50, .020);
		assert_near((double)above[1] / n, .10, .012);
		assert_near((double)above[2] / n, .05, .009);
		assert_near((double)above[3] / n, .02, .006);
		assert_near((double)below[0] / n, .20, .02);
		assert_near((double)below[1] / n, .01, .004);
	}
}

static void the_dip_test_finds_two_peaks_and_seldom_raises_false_alarms(void **state)
{
	(void)state;
	static const size_t sizes[] = { 10, 30, 100 };
	struct random r = { 8 };
	for (size_t s = 0; s < COUNT(sizes); s++) {
		double x[100];
		struct dip d;
		for (enum shape shape = 0; shape < SHAPES; shape++) {
			size_t alarms = 0;
			for (size_t i = 0; i < 1000; i++) {
				fill(&r, shape, x, sizes[s]);
				dip_test(x, sizes[s], &d);
				alarms += d.p < 0.01;
			}
			assert_true(alarms <= 20);
		}
		size_t found = 0;
		for (size_t i = 0; i < 100; i++) {
			for (size_t j = 0; j < sizes[s]; j++)
				x[j] = normal(&r) + (j % 2 ? 10 : 0);
			dip_test(x, sizes[s], &d);
			found += d.p < 0.01;
		}
		assert_true(found >= 90);
	}
}

static void two_groups_are_split_where_they_differ_most(void **state)
{
	(void)state;
	struct groups g;
	const double x[] = { 10, 1, 2, 11, 3, 12, 1.5 };
	two_groups(x, 7, &g);
	assert_int_equal(g.n_low, 4);
	assert_int_equal(g.n_high, 3);
	assert_near(g.mean_low, 1.875, 1e-12);
	assert_near(g.mean_high, 11, 1e-12);
	const double equal[] = { 5, 5, 5 };
	two_groups(equal, 3, &g);
	assert_int_equal(g.n_high, 0);
	two_groups(NULL, 0, &g);
	assert_int_equal(g.n_low, 0);
}

/* The 15 p of Benjamini & Hochberg's example (1995): p times 15 / rank, and never more than that of
 * a larger p. They reject four at 0.05. */
static void adjusted_p_are_those_of_benjamini_and_hochberg(void **state)
{
	(void)state;
	double p[] = { 0.0298, 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0344,
		       0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000 };
	const double want[] = { 0.06385714285714286,
				0.0015,
				0.003,
				0.0095,
				0.035625,
				0.0603,
				0.06385714285714286,
				0.0645,
				0.0765,
				0.486,
				0.5811818181818181,
				0.714875,
				0.7532307692307693,
				0.8132142857142857,
				1 };
	adjust_p(p, COUNT(p));
	for (size_t i = 0; i < COUNT(p); i++)
		assert_near(p[i], want[i], 1e-12);
	double equal[] = { 0.04, 0.04, 0.04 };
	adjust_p(equal, 3);
	assert_near(equal[0], 0.04, 1e-15);
	adjust_p(NULL, 0);
}

static void the_p_of_a_permutation_test_is_a_probability(void **state)
{
	(void)state;
	double a[40], b[40];
	struct random r = { 5 };
	int below = 0;
	/* p is a probability: without a difference it is below 0.1 a tenth of the time */
	for (int trial = 0; trial < 200; trial++) {
		for (size_t i = 0; i < 40; i++) {
			a[i] = random_unit(&r);
			b[i] = random_unit(&r);
		}
		below += permutation_test(a, 40, b, 25) < 0.1;
	}
	assert_true(below > 8 && below < 36);
	for (size_t i = 0; i < 40; i++)
		b[i] = a[i] + 1;
	assert_true(permutation_test(a, 40, b, 40) < 0.001);
	assert_true(permutation_test(a, 40, b, 40) == permutation_test(a, 40, b, 40));
	for (size_t i = 0; i < 40; i++)
		a[i] = b[i] = 3;
	assert_true(permutation_test(a, 40, b, 40) == 1);
	assert_true(permutation_test(a, 0, b, 40) == 1);
	/* exactly: of the 20 ways to choose 3 of 1..6, two are this far apart */
	const double low[] = { 1, 2, 3 }, high[] = { 4, 5, 6 };
	double p = permutation_test(low, 3, high, 3);
	assert_true(p > 0.085 && p < 0.115);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_summary_of_known_numbers_has_known_figures),
		cmocka_unit_test(a_summary_of_few_equal_or_huge_numbers_is_still_right),
		cmocka_unit_test(the_order_of_numbers_changes_nothing_but_the_interval),
		cmocka_unit_test(the_interval_of_a_duration_is_never_negative),
		cmocka_unit_test(a_large_summary_is_quick),
		cmocka_unit_test(mann_whitney_agrees_with_published_examples),
		cmocka_unit_test(the_exact_p_of_mann_whitney_is_what_counting_all_orders_gives),
		cmocka_unit_test(the_exact_and_the_approximate_p_of_mann_whitney_agree),
		cmocka_unit_test(the_interval_of_a_ratio_of_means_holds_the_true_ratio),
		cmocka_unit_test(adjusted_p_are_those_of_benjamini_and_hochberg),
		cmocka_unit_test(a_trend_has_known_tau_p_and_change),
		cmocka_unit_test(the_exact_p_of_a_trend_is_what_counting_all_orders_gives),
		cmocka_unit_test(autocorrelations_of_known_series_are_known),
		cmocka_unit_test(a_dip_lies_between_its_bounds_and_ignores_scale_and_sign),
		cmocka_unit_test(dips_of_uniform_samples_have_the_published_quantiles),
		cmocka_unit_test(the_dip_test_finds_two_peaks_and_seldom_raises_false_alarms),
		cmocka_unit_test(two_groups_are_split_where_they_differ_most),
		cmocka_unit_test(the_p_of_a_permutation_test_is_a_probability),
	};
	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
