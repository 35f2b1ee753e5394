/* Numbers counted into bins of equal width. */
#ifndef TARE_STATS_HISTOGRAM_H
#define TARE_STATS_HISTOGRAM_H

#include <stddef.h>

struct histogram {
	double low, width; /* bin i holds low + i*width <= x < low + (i+1)*width; the last one also
			      its upper edge */
	size_t bins;	   /* 0 only for no numbers */
	size_t *counts;	   /* owned; they add up to n */
};

/* As many bins as the rule of Freedman and Diaconis gives, 1 to most (at least 1). Numbers that
 * are all equal fill one bin, whose width is 0. */
void histogram_make(const double *x, size_t n, size_t most, struct histogram *out);
void histogram_release(struct histogram *h);

/* Edge i of 0..bins. */
double histogram_edge(const struct histogram *h, size_t i);

#endif
