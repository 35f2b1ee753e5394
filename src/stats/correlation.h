/* How two measures go together. Pure; NaN never comes in. */
#ifndef TARE_STATS_CORRELATION_H
#define TARE_STATS_CORRELATION_H

#include <stddef.h>

struct correlation {
	double r; /* Pearson's; NaN: one of them does not vary, or n < 2 */
	double p; /* two-sided, that r is 0; 1 where r is NaN or n < 3 */
};
void correlate(const double *x, const double *y, size_t n, struct correlation *out);

#endif
