/* A small generator for resampling: fast, and the same on every machine and GSL version.
 * splitmix64: Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA
 * 2014. */
#ifndef TARE_STATS_RANDOM_H
#define TARE_STATS_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct random {
	uint64_t state;
};

static inline uint64_t random_next(struct random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* 0..n-1, for n < 2^32; the bias of at most n / 2^32 is far too small to affect resampling. */
static inline size_t random_below(struct random *r, size_t n)
{
	return (size_t)((random_next(r) >> 32) * n >> 32);
}

/* 0 <= u < 1 */
static inline double random_unit(struct random *r)
{
	return (double)(random_next(r) >> 11) * 0x1p-53;
}

/* Stirs these numbers into the state; their values and order both matter. */
static inline void random_stir(struct random *r, const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t bits;
		memcpy(&bits, &x[i], sizeof bits);
		r->state ^= bits;
		r->state = random_next(r);
	}
}

/* The mean of n draws with replacement. */
static inline double random_mean(struct random *r, const double *x, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += x[random_below(r, n)];
	return sum / (double)n;
}

#endif
