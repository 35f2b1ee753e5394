/* The bins of a histogram: one rule for the terminal, for figures and for the page, which has a
 * copy in web/src/parts/bins.ts. tests/golden/bins.csv keeps the two equal. */
#ifndef TARE_STATS_BINS_H
#define TARE_STATS_BINS_H

#include <stddef.h>

#define BINS_MOST 60

/* How many equal bins from low to high to use for these sorted values, from 1 to `most`: with the
 * width of Freedman and Diaconis (1981), 2 IQR / cbrt(n), but at least 2 sqrt(n) + 4 bins. Their
 * rule is for smooth densities; times have gaps and second modes, which it would hide in ten or a
 * hundred values. */
size_t bins_of(const double *sorted, size_t n, double low, double high, size_t most);

/* Adds the values to their bins; those outside count in the first or the last bin. */
void bins_count(const double *values, size_t n, double low, double high, size_t bins,
		size_t *counts);

#endif
