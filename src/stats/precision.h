/* When to stop measuring: as soon as the mean is known to within a share of itself. The values are
 * looked at again and again, each time at a level that keeps the error of all looks together
 * (stats/sequential.h), so the promise holds at whatever look it stops: with a probability of 95 %
 * the true mean is within that share of the mean. */
#ifndef TARE_STATS_PRECISION_H
#define TARE_STATS_PRECISION_H

#include <stdbool.h>
#include <stddef.h>

#include "stats/sequential.h"

struct precision {
	double wanted; /* half the interval, as a share of the mean */
	size_t first, most, next;
	size_t looks;
	struct sequential levels;
};

/* Looks after `first` values (at least PRECISION_LEAST are waited for), then each time there is a
 * quarter more, up to `most`. */
#define PRECISION_LEAST 5
void precision_begin(struct precision *p, double wanted, size_t first, size_t most);

/* Call it after each value, with all of them in the order in which they were measured. True: the
 * mean is known well enough. It does not say that `most` is reached. */
bool precision_reached(struct precision *p, const double *x, size_t n);

#endif
