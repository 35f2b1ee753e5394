/* Tests of significance. All functions are pure and deterministic; values must not be NaN. */
#ifndef TARE_STATS_TESTS_H
#define TARE_STATS_TESTS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a and b tend to be equally large. Two-sided. */
struct mann_whitney {
	double u; /* pairs in which b is larger; a tie counts a half */
	double p; /* 1 if one of them is empty */
	bool exact;
};
void mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b,
		  struct mann_whitney *out);

/* How often a shuffle of the two sets' members makes means at least as far apart: two-sided, from
 * SHUFFLES shuffles, never 0. The same numbers always give the same p. 1 if one set is empty. */
#define SHUFFLES 4999
double permutation_test(const double *a, size_t n_a, const double *b, size_t n_b);

/* mean(b) / mean(a) with a 95 % interval: bootstrap percentiles, or the delta method for large
 * samples. Both must be non-negative. Everything is NaN if one of them is empty; the ratio is
 * infinite if only mean(a) is 0, and 1 if both are. */
struct ratio {
	double ratio, low, high;
};
void ratio_of_means(const double *a, size_t n_a, const double *b, size_t n_b, struct ratio *out);

/* The factor by which b is larger than a: Hodges and Lehmann's estimate on logarithms, with the 95
 * % interval of the Mann-Whitney test. All values must be above 0. The interval is NaN if there are
 * too few values, and everything is NaN if one set is empty. */
void ratio_of_shift(const double *a, size_t n_a, const double *b, size_t n_b, struct ratio *out);

/* For several tests at once: replaces p by Holm's adjusted p (1979, Scand. J. Stat. 6, 65-70). The
 * probability that any is below alpha by chance alone is then at most alpha. */
void adjust_p_holm(double *p, size_t n);

/* For several tests at once: replaces p by Benjamini and Hochberg's adjusted p (1995, JRSS B 57,
 * 289-300). Of those below alpha, an expected share of alpha is then there by chance. */
void adjust_p(double *p, size_t n);

/* Whether x grows or falls along its order. Mann-Kendall, two-sided. */
struct trend {
	double tau;    /* -1 to 1: Kendall's tau-b against the order */
	double p;      /* 1 for n < 3 */
	double change; /* from the first to the last on the fitted straight line, in x's unit */
};
void trend_test(const double *x, size_t n, struct trend *out);

/* Whether a value predicts the next one. Independent values give an r1 outside low..high with
 * probability alpha. r1 is 0 for n < 3 and for equal numbers. */
struct autocorrelation {
	double r1, low, high;
};
void autocorrelation_lag1(const double *x, size_t n, double alpha, struct autocorrelation *out);

#endif
