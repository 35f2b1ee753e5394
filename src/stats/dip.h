/* Tests for more than one mode with Hartigans' dip: how far the numbers are from every distribution
 * with a single mode. */
#ifndef TARE_STATS_DIP_H
#define TARE_STATS_DIP_H

#include <stddef.h>

struct dip {
	double dip; /* 1/2n to 1/4 */
	double p; /* under the uniform distribution, the unimodal one with the largest dips; coarse
		     above 0.5, not resolved below 0.001, and 1 for n < 4 */
};
/* Numbers that a coarse clock made equal look like modes, so pass unrounded ones. */
void dip_test(const double *x, size_t n, struct dip *out);

/* The cut into two groups with the least variance within them. */
struct groups {
	size_t n_low, n_high; /* n_high is 0 if there is nothing to cut */
	double mean_low, mean_high;
};
void two_groups(const double *x, size_t n, struct groups *out);

#endif
