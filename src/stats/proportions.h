/* Shares of counts, and how sure they are. All functions are pure. */
#ifndef TARE_STATS_PROPORTIONS_H
#define TARE_STATS_PROPORTIONS_H

#include <stdint.h>

/* hits of n with Wilson's 95 % interval (1927, JASA 22, 209-212): it stays within 0 to 1 and holds
 * for few, too. n 0: share NaN, 0 to 1. */
struct proportion {
	double share, low, high;
};
void proportion_of(uint64_t hits, uint64_t n, struct proportion *out);

/* Two shares. The 95 % interval of b - a is Newcombe's hybrid of two scores (1998, Statist. Med.
 * 17, 873-890, method 10). p, two-sided: Fisher's exact where a count of fewer than 5 is expected,
 * else the pooled z-test. One n 0: NaN throughout. */
struct proportions {
	double change, low, high, p;
	double least_p; /* how small p could have got with these sums, roughly */
};
void proportions_compare(uint64_t hits_a, uint64_t n_a, uint64_t hits_b, uint64_t n_b,
			 struct proportions *out);

#endif
