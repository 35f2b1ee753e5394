/* Summarises a set of numbers. All functions are pure; values must not be NaN. */
#ifndef TARE_STATS_SUMMARY_H
#define TARE_STATS_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

struct summary {
	size_t n;
	double mean, stddev;   /* n-1 in the denominator; 0 for n < 2 */
	double relative_error; /* stddev / mean; 0 if the mean is 0 */
	double median, mad;    /* median absolute deviation, not scaled */
	double min, max;
	/* 95 % interval of the mean: BCa bootstrap for n of 8 to 500, else t; the mean for n < 2 */
	double ci_low, ci_high;
};

/* The same numbers always give the same interval: the resampling is seeded from the data. */
void summarise(const double *x, size_t n, struct summary *out);

#endif
