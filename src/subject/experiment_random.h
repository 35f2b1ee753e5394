/* Random numbers by seed that never change between versions. Rows, generated queries and a shuffled
 * order are made from them, and only the seed is stored. splitmix64: Steele, Lea & Flood, "Fast
 * splittable pseudorandom number generators", OOPSLA 2014. */
#ifndef TARE_SUBJECT_EXPERIMENT_RANDOM_H
#define TARE_SUBJECT_EXPERIMENT_RANDOM_H

#include <stdint.h>

#include "base/text.h"

/* The n-th number of the sequence that begins with key. */
static inline uint64_t draw(uint64_t key, uint64_t n)
{
	uint64_t z = key + (n + 1) * 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* 0 to n - 1; the bias is n / 2^64. */
static inline uint64_t draw_below(uint64_t number, uint64_t n)
{
	return (uint64_t)((unsigned __int128)number * n >> 64);
}

/* A separate key for each name. */
static inline uint64_t draw_key(uint64_t seed, const char *name)
{
	return draw(seed ^ text_hash(name), 0);
}

#endif
