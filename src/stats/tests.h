/* Tests of significance. All functions are pure and deterministic; NaN never comes in. */
#ifndef TARE_STATS_TESTS_H
#define TARE_STATS_TESTS_H

#include <stdbool.h>
#include <stddef.h>

/* Do a and b tend to the same size? Two-sided. */
struct mann_whitney {
	double u; /* pairs in which b is the larger; a tie counts a half */
	double p; /* 1 when one of them is empty */
	bool exact;
};
void mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b,
		  struct mann_whitney *out);

/* How often a shuffle of the two sets' members makes means at least as far apart: two-sided, from
 * SHUFFLES of them, never 0; the same numbers always give the same p. 1 when one is empty. */
#define SHUFFLES 4999
double permutation_test(const double *a, size_t n_a, const double *b, size_t n_b);

/* mean(b) / mean(a) with a 95 % interval: bootstrap percentiles, for large samples the delta
 * method. Both must be non-negative. NaN throughout when one of them is empty; infinite when only
 * mean(a) is 0, 1 when both are. */
struct ratio {
	double ratio, low, high;
};
void ratio_of_means(const double *a, size_t n_a, const double *b, size_t n_b, struct ratio *out);

/* By which factor b is larger than a: Hodges and Lehmann's estimate on logarithms, with the 95 %
 * interval that belongs to Mann-Whitney's test. Both must be above 0. The interval is NaN where
 * there are too few of them for any, and all of it when one is empty. */
void ratio_of_shift(const double *a, size_t n_a, const double *b, size_t n_b, struct ratio *out);

/* Several tests at once: p becomes Holm's adjusted p (1979, Scand. J. Stat. 6, 65-70). That
 * anything is below alpha then by chance alone has a probability of at most alpha. */
void adjust_p_holm(double *p, size_t n);

/* Several tests at once: p becomes Benjamini and Hochberg's adjusted p (1995, JRSS B 57, 289-300).
 * Of what is below alpha then, a share of alpha is expected to be there by chance. */
void adjust_p(double *p, size_t n);

/* Does x grow or fall along its order? Mann-Kendall, two-sided. */
struct trend {
	double tau;    /* -1 to 1: Kendall's tau-b against the order */
	double p;      /* 1 for n < 3 */
	double change; /* from the first to the last by the fitted straight line, in x's unit */
};
void trend_test(const double *x, size_t n, struct trend *out);

/* Does a value tell about the next one? Independent values give an r1 outside low..high with
 * probability alpha. r1 is 0 for n < 3 and for equal numbers. */
struct autocorrelation {
	double r1, low, high;
};
void autocorrelation_lag1(const double *x, size_t n, double alpha, struct autocorrelation *out);

#endif
