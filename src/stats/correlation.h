/* The correlation of two measures. Pure; values must not be NaN. */
#ifndef TARE_STATS_CORRELATION_H
#define TARE_STATS_CORRELATION_H

#include <stddef.h>

struct correlation {
	double r; /* Pearson's; NaN: one of them does not vary, or n < 2 */
	double p; /* two-sided, for r = 0; 1 if r is NaN or n < 3 */
};
void correlate(const double *x, const double *y, size_t n, struct correlation *out);

#endif
