/* The bins of a histogram: one recipe for the terminal, for figures and for the page, which has it
 * once more in web/src/parts/bins.ts. tests/golden/bins.csv holds the two together. */
#ifndef TARE_STATS_BINS_H
#define TARE_STATS_BINS_H

#include <stddef.h>

#define BINS_MOST 60

/* How many equal bins from low to high show these sorted values: as wide as Freedman and Diaconis
 * (1981) say, 2 IQR / cbrt(n), but at least 2 sqrt(n) + 4 of them. Their rule is for smooth
 * densities; times have gaps and second modes, which it would hide in ten or a hundred values. From
 * 1 to `most`. */
size_t bins_of(const double *sorted, size_t n, double low, double high, size_t most);

/* Adds the values to their bins; those outside count in the first or the last one. */
void bins_count(const double *values, size_t n, double low, double high, size_t bins,
		size_t *counts);

#endif
