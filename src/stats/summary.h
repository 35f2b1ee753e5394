/* Summarises a set of numbers. All functions are pure; values must not be NaN. */
#ifndef TARE_STATS_SUMMARY_H
#define TARE_STATS_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include "stats/interval.h"

struct summary {
	size_t n;
	double mean, stddev;   /* n-1 in the denominator; 0 for n < 2 */
	double relative_error; /* stddev / mean; 0 if the mean is 0 */
	double median, mad;    /* median absolute deviation, not scaled */
	double min, max;
	/* 95 % interval of the mean; the mean for n < 2. Not below 0 if no number is. NaN if there
	 * are too few for the dependence between them (error.too_few). */
	double ci_low, ci_high;
	struct mean_error error; /* of the mean */
};

/* Of numbers in the order in which they were measured: a number may depend on those before it, and
 * the interval allows for that. */
void summarise(const double *x, size_t n, struct summary *out);

/* Of numbers without an order. The interval assumes that they are independent. */
void summarise_unordered(const double *x, size_t n, struct summary *out);

/* Of the numbers that rule II keeps. The interval is that of the mean of what the rule keeps in the
 * long run: if it were applied to infinitely many executions under the same conditions, bounds and
 * all. `influence` comes from trimmed_influence(). */
void summarise_kept(const double *kept, size_t n, const double *influence, size_t n_all,
		    struct summary *out);

/* Widens the interval of the kept ones until it also allows for the mean of all n values x: the
 * error of that mean and its distance. For when it is not known whether what was dropped belongs.
 */
void summary_allow_for_all(struct summary *s, const double *x, size_t n);

/* Takes the interval away, because about `needed` values would be needed for one. `reach` is how
 * far off the mean may be: a larger difference can still be shown. */
void summary_refuse(struct summary *s, size_t needed, double reach);

/* Of several runs of one thing: `mean` is the mean of their means, and its error comes from how
 * much these differ, so it has the variation between runs. Only n (the sum), mean, ci_* and error
 * are set. One run: as it is. */
void summarise_runs(const struct summary *runs, size_t count, struct summary *out);

/* mean(b) / mean(a) with its 95 % interval, from Welch's test of the logarithms of the means (the
 * delta method), whose error and degrees of freedom allow for dependence and trimming. p < 0.05
 * exactly if the interval does not contain 1. Both means must not be negative. Everything is NaN if
 * one is empty; low, high and p are NaN if one has a single value, or has too few for the
 * dependence seen and they do not differ by far more than that dependence could explain. The ratio
 * is infinite if only mean(a) is 0, and 1 if both are. */
struct mean_ratio {
	double ratio, low, high, p;
};
void ratio_of_summaries(const struct summary *a, const struct summary *b, struct mean_ratio *out);

/* The same, where the logarithm of the ratio has one more error, independent of the others: its
 * standard error and degrees of freedom. */
void ratio_of_summaries_with(const struct summary *a, const struct summary *b, double more_error,
			     double more_df, struct mean_ratio *out);

#endif
