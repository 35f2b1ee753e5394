/* The interval of a mean of numbers that may depend on each other, may be skewed, and may be few.
 * docs/decisions/029 says how it was chosen; docs/coverage.md says how often it holds. */
#ifndef TARE_STATS_INTERVAL_H
#define TARE_STATS_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>

enum sample_order {
	SAMPLE_IN_ORDER,  /* each value may depend on those before it */
	SAMPLE_UNORDERED, /* independent by design, or their order is not known */
};

/* How far a mean may be off. */
struct mean_error {
	double error;	   /* the standard error of the mean, dependence included; 0 for n < 2. If
			      too_few, a cautious guess, or infinite */
	double df;	   /* the degrees of freedom of `error` */
	double effective;  /* as many independent values would tell as much; at most n */
	double dependence; /* of a value on the one before it, -1 to 1, corrected for its bias */
	double skewness;   /* of the values */
	bool too_few;	   /* for the dependence seen: no interval can be given */
	size_t needed;	   /* if too_few: about this many values would do; else 0 */
};

/* x in the order in which it was measured. Values must not be NaN. */
void mean_error_of(const double *x, size_t n, enum sample_order order, struct mean_error *out);

/* The interval of the mean with confidence 1 - level. Both are NaN if there are too few, infinite
 * if the level is 0, and equal the mean if there is no error. */
void mean_interval(double mean, const struct mean_error *e, double level, double *low,
		   double *high);

/* What each of n values adds to the mean of x over those with low <= judged <= high, where the
 * bounds are mean +- 2 sigma of `judged` itself (rule II of EMP): the influence function. out[i] is
 * that mean plus the influence of value i, in the same order, so the error of the mean of `out` is
 * the error of the mean of the kept ones, the uncertainty of the bounds included. x may be
 * `judged`. At least one value must be kept. */
void trimmed_influence(const double *judged, const double *x, size_t n, double low, double high,
		       double *out);

/* Whether what rule II keeps hangs on chance: it dropped a group that stands apart, close together,
 * and may in truth be frequent enough to be kept. The rule keeps a group from a share of one in
 * five on. A single value is an outlier, not a group. */
bool trimming_is_undecided(const double *judged, size_t n, double low, double high);

/* Whether rule II dropped a single value that stands apart, but not far, where there are so few
 * that it may well be the first of a second peak. Its absence from the mean is then uncertain. */
bool trimmed_one_may_be_frequent(const double *judged, size_t n, double low, double high);

#endif
