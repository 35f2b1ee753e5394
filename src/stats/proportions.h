/* Shares of counts and their uncertainty. All functions are pure. */
#ifndef TARE_STATS_PROPORTIONS_H
#define TARE_STATS_PROPORTIONS_H

#include <stdint.h>

/* hits of n with Wilson's 95 % interval (1927, JASA 22, 209-212), which stays within 0 to 1 and
 * also holds for small n. n 0: share NaN, 0 to 1. */
struct proportion {
	double share, low, high;
};
void proportion_of(uint64_t hits, uint64_t n, struct proportion *out);

/* Compares two shares. The 95 % interval of b - a is Newcombe's hybrid of two scores (1998,
 * Statist. Med. 17, 873-890, method 10). p is two-sided: Fisher's exact test if a count below 5 is
 * expected, otherwise the pooled z-test. If one n is 0, everything is NaN. */
struct proportions {
	double change, low, high, p;
	double least_p; /* approximately the smallest p that these sums allow */
};
void proportions_compare(uint64_t hits_a, uint64_t n_a, uint64_t hits_b, uint64_t n_b,
			 struct proportions *out);

#endif
