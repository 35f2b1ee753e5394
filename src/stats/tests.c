#include "stats/tests.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "stats/random.h"

#define EXACT_MAX 30 /* beyond it the normal approximation is right to three digits */
#define RESAMPLES 2000
#define RESAMPLED_MAX 1000 /* a bound on the cost: RESAMPLES * (n_a + n_b) draws */

struct pooled {
	double value;
	bool from_b;
};

static int compare_pooled(const void *a, const void *b)
{
	const struct pooled *x = a, *y = b;
	return ORDER(x->value, y->value);
}

/* P(U <= u) for every u from the counts of Mann & Whitney 1947 (Ann. Math. Stat. 18, 50-60): the
 * largest of all is either a's, and lies above all j of b, or it is b's:
 * f(i, j, u) = f(i-1, j, u-j) + f(i, j-1, u). The caller frees n_a * n_b + 1 of them. */
static double *mann_whitney_below(size_t n_a, size_t n_b)
{
	size_t stride = n_a * n_b + 1;
	double *f = xcalloc((n_b + 1) * stride, sizeof *f);
	for (size_t j = 0; j <= n_b; j++)
		f[j * stride] = 1;
	for (size_t i = 1; i <= n_a; i++)
		for (size_t j = 1; j <= n_b; j++) {
			double *row = f + j * stride, *before = row - stride;
			for (size_t k = stride; k-- > 0;)
				row[k] = (k >= j ? row[k - j] : 0) + before[k];
		}
	double total = 0;
	for (size_t k = 0; k < stride; k++)
		f[k] = total += f[n_b * stride + k];
	for (size_t k = 0; k < stride; k++)
		f[k] /= total;
	return f;
}

/* U by mid-ranks; *ties becomes the sum of t^3 - t over groups of t equal numbers. */
static double mann_whitney_u(const double *a, size_t n_a, const double *b, size_t n_b, double *ties)
{
	size_t n = n_a + n_b;
	struct pooled *all = xmalloc(n * sizeof *all);
	for (size_t i = 0; i < n; i++)
		all[i] = (struct pooled){ i < n_a ? a[i] : b[i - n_a], i >= n_a };
	qsort(all, n, sizeof *all, compare_pooled);
	double ranks_b = 0;
	*ties = 0;
	for (size_t i = 0, j; i < n; i = j) {
		size_t of_b = 0;
		for (j = i; j < n && all[j].value <= all[i].value; j++)
			of_b += all[j].from_b;
		double t = (double)(j - i);
		*ties += t * t * t - t;
		ranks_b += (double)of_b * ((double)(i + j + 1) / 2);
	}
	xfree(all);
	return ranks_b - (double)n_b * (double)(n_b + 1) / 2;
}

void mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b,
		  struct mann_whitney *out)
{
	*out = (struct mann_whitney){ .p = 1 };
	if (!n_a || !n_b)
		return;
	double ties, pairs = (double)n_a * (double)n_b, n = (double)(n_a + n_b);
	out->u = mann_whitney_u(a, n_a, b, n_b, &ties);
	out->exact = ties <= 0 && n_a <= EXACT_MAX && n_b <= EXACT_MAX;
	if (out->exact) {
		double smaller = fmin(out->u, pairs - out->u);
		double *below = mann_whitney_below(n_a, n_b);
		out->p = fmin(1, 2 * below[(size_t)smaller]);
		xfree(below);
		return;
	}
	/* Hollander & Wolfe, Nonparametric Statistical Methods, 4.1: variance with ties, and the
	 * continuity correction */
	double variance = pairs / 12 * (n + 1 - ties / (n * (n - 1)));
	if (variance <= 0)
		return;
	double z = fmax(0, fabs(out->u - pairs / 2) - 0.5) / sqrt(variance);
	out->p = fmin(1, 2 * gsl_cdf_ugaussian_Q(z));
}

double permutation_test(const double *a, size_t n_a, const double *b, size_t n_b)
{
	size_t n = n_a + n_b, hits = 0;
	if (!n_a || !n_b)
		return 1;
	double *all = xmalloc(n * sizeof *all), sum = 0, part = 0;
	struct random r = { n };
	memcpy(all, a, n_a * sizeof *a);
	memcpy(all + n_a, b, n_b * sizeof *b);
	random_stir(&r, all, n);
	for (size_t i = 0; i < n; i++)
		sum += all[i];
	for (size_t i = 0; i < n_a; i++)
		part += a[i];
	/* with the sum fixed, the difference of the means moves with one part's sum alone */
	double expected = sum * (double)n_a / (double)n, seen = fabs(part - expected);
	double rounding = 1e-9 * (fabs(sum) + seen);
	for (int turn = 0; turn < SHUFFLES; turn++) {
		part = 0;
		for (size_t i = 0; i < n_a; i++) {
			size_t other = i + random_below(&r, n - i);
			double drawn = all[other];
			all[other] = all[i];
			all[i] = drawn;
			part += drawn;
		}
		hits += fabs(part - expected) >= seen - rounding;
	}
	xfree(all);
	return (double)(hits + 1) / (SHUFFLES + 1);
}

static double quotient(double b, double a)
{
	if (a > 0)
		return b / a;
	return b > 0 ? INFINITY : 1;
}

void ratio_of_means(const double *a, size_t n_a, const double *b, size_t n_b, struct ratio *out)
{
	*out = (struct ratio){ NAN, NAN, NAN };
	if (!n_a || !n_b)
		return;
	double of_a = gsl_stats_mean(a, 1, n_a), of_b = gsl_stats_mean(b, 1, n_b);
	out->ratio = quotient(of_b, of_a);
	out->low = out->high = out->ratio;
	if (n_a + n_b > RESAMPLED_MAX && n_a > 1 && n_b > 1) {
		if (of_a <= 0 || of_b <= 0)
			return;
		/* the variance of its logarithm by the delta method (Casella & Berger, 5.5.4) */
		double variance =
			gsl_stats_variance_m(a, 1, n_a, of_a) / (double)n_a / of_a / of_a +
			gsl_stats_variance_m(b, 1, n_b, of_b) / (double)n_b / of_b / of_b;
		double factor = exp(gsl_cdf_ugaussian_Pinv(0.975) * sqrt(variance));
		out->low = out->ratio / factor;
		out->high = out->ratio * factor;
		return;
	}
	/* Efron & Tibshirani, An Introduction to the Bootstrap, ch. 13: percentiles */
	double ratios[RESAMPLES];
	struct random r = { n_a };
	random_stir(&r, a, n_a);
	random_stir(&r, b, n_b);
	for (size_t i = 0; i < RESAMPLES; i++) {
		double mean_a = random_mean(&r, a, n_a);
		ratios[i] = quotient(random_mean(&r, b, n_b), mean_a);
	}
	gsl_sort(ratios, 1, RESAMPLES);
	out->low = ratios[RESAMPLES / 40];
	out->high = ratios[RESAMPLES - 1 - RESAMPLES / 40];
}

/* How many of the smallest pairs are below a 95 % interval. */
static size_t pairs_below(size_t n_a, size_t n_b)
{
	if (n_a <= EXACT_MAX && n_b <= EXACT_MAX) {
		double *below = mann_whitney_below(n_a, n_b);
		size_t k = 0;
		while (below[k] <= 0.025)
			k++;
		xfree(below);
		return k;
	}
	double pairs = (double)n_a * (double)n_b;
	double deviation = sqrt(pairs * (double)(n_a + n_b + 1) / 12);
	return (size_t)fmax(0, pairs / 2 - gsl_cdf_ugaussian_Pinv(0.975) * deviation);
}

void ratio_of_shift(const double *a, size_t n_a, const double *b, size_t n_b, struct ratio *out)
{
	*out = (struct ratio){ NAN, NAN, NAN };
	if (!n_a || !n_b)
		return;
	if (n_a + n_b > RESAMPLED_MAX) { /* too many pairs; the two estimates are one by then */
		ratio_of_means(a, n_a, b, n_b, out);
		return;
	}
	/* Hollander & Wolfe, 4.2 and 4.3 */
	size_t pairs = n_a * n_b, k = pairs_below(n_a, n_b);
	double *ratios = xmalloc(pairs * sizeof *ratios);
	for (size_t i = 0; i < n_a; i++)
		for (size_t j = 0; j < n_b; j++)
			ratios[i * n_b + j] = b[j] / a[i];
	gsl_sort(ratios, 1, pairs);
	out->ratio = sqrt(ratios[(pairs - 1) / 2] * ratios[pairs / 2]);
	if (k) {
		out->low = ratios[k - 1];
		out->high = ratios[pairs - k];
	}
	xfree(ratios);
}

void adjust_p_holm(double *p, size_t n)
{
	size_t *order = xmalloc((n ? n : 1) * sizeof *order);
	double most = 0;
	if (n)
		gsl_sort_index(order, p, 1, n);
	for (size_t rank = 0; rank < n; rank++) {
		double *at = &p[order[rank]];
		most = fmax(most, fmin(1, *at * (double)(n - rank)));
		*at = most;
	}
	xfree(order);
}

void adjust_p(double *p, size_t n)
{
	size_t *order = xmalloc((n ? n : 1) * sizeof *order);
	double least = 1;
	if (n)
		gsl_sort_index(order, p, 1, n);
	for (size_t rank = n; rank > 0; rank--) {
		double *at = &p[order[rank - 1]];
		least = fmin(least, *at * (double)n / (double)rank);
		*at = least;
	}
	xfree(order);
}

/* Sorts x by merging and returns in how many pairs the earlier one was the larger (Knight 1966,
 * JASA 61, 436-439: Kendall's tau in n log n). */
static double sort_counting(double *x, double *work, size_t n)
{
	if (n < 2)
		return 0;
	size_t half = n / 2, i = 0, j = half;
	double swaps = sort_counting(x, work, half) + sort_counting(x + half, work, n - half);
	for (size_t k = 0; k < n; k++) {
		if (j >= n || (i < half && x[i] <= x[j])) {
			work[k] = x[i++];
		} else {
			swaps += (double)(half - i);
			work[k] = x[j++];
		}
	}
	memcpy(x, work, n * sizeof *x);
	return swaps;
}

/* P(at most this many inversions) of a random order: the n-th item adds 0 to n-1 of them, each as
 * likely (Kendall 1938, Biometrika 30, 81-93). */
static double inversions_below(size_t n, size_t inversions)
{
	size_t most = n * (n - 1) / 2;
	double *p = xcalloc(most + 1, sizeof *p), *next = xcalloc(most + 1, sizeof *next);
	p[0] = 1;
	for (size_t i = 2; i <= n; i++) {
		double window = 0;
		for (size_t k = 0; k <= i * (i - 1) / 2; k++) {
			window += p[k] - (k >= i ? p[k - i] : 0);
			next[k] = window / (double)i;
		}
		memcpy(p, next, (most + 1) * sizeof *p);
	}
	double below = 0;
	for (size_t k = 0; k <= inversions && k <= most; k++)
		below += p[k];
	xfree(p);
	xfree(next);
	return fmin(1, fmax(0, below));
}

void trend_test(const double *x, size_t n, struct trend *out)
{
	*out = (struct trend){ .p = 1 };
	if (n < 3)
		return;
	double *sorted = xmalloc(n * sizeof *sorted), *work = xmalloc(n * sizeof *work);
	memcpy(sorted, x, n * sizeof *sorted);
	double falling = sort_counting(sorted, work, n);
	double tied = 0, ties = 0;
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && sorted[j] <= sorted[i]; j++)
			;
		double t = (double)(j - i);
		tied += t * (t - 1) / 2;
		ties += t * (t - 1) * (2 * t + 5);
	}
	xfree(sorted);
	xfree(work);
	double count = (double)n, pairs = count * (count - 1) / 2;
	double s = pairs - tied - 2 * falling;
	if (tied >= pairs)
		return;
	out->tau = s / sqrt(pairs * (pairs - tied));
	/* from the first to the last by least squares */
	double mean = gsl_stats_mean(x, 1, n), product = 0;
	for (size_t i = 0; i < n; i++)
		product += ((double)i - (count - 1) / 2) * (x[i] - mean);
	out->change = product / (count * (count * count - 1) / 12) * (count - 1);
	if (tied <= 0 && n <= EXACT_MAX) {
		double fewer = fmin(falling, pairs - falling);
		out->p = fmin(1, 2 * inversions_below(n, (size_t)fewer));
		return;
	}
	/* Kendall, Rank Correlation Methods, 4.9: variance with ties, continuity correction */
	double variance = (count * (count - 1) * (2 * count + 5) - ties) / 18;
	out->p = fmin(1, 2 * gsl_cdf_ugaussian_Q(fmax(0, fabs(s) - 1) / sqrt(variance)));
}

void autocorrelation_lag1(const double *x, size_t n, double alpha, struct autocorrelation *out)
{
	*out = (struct autocorrelation){ 0, -1, 1 };
	if (n < 3)
		return;
	/* Chatfield, The Analysis of Time Series, 4.1: about normal, mean -1/n, variance 1/n */
	double count = (double)n, z = gsl_cdf_ugaussian_Qinv(alpha / 2);
	out->low = -1 / count - z / sqrt(count);
	out->high = -1 / count + z / sqrt(count);
	double mean = gsl_stats_mean(x, 1, n), squares = 0, products = 0;
	for (size_t i = 0; i < n; i++) {
		squares += (x[i] - mean) * (x[i] - mean);
		products += i ? (x[i] - mean) * (x[i - 1] - mean) : 0;
	}
	if (squares > 0)
		out->r1 = products / squares;
}
