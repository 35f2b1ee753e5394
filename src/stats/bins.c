#include "stats/bins.h"

#include <math.h>

size_t bins_of(const double *sorted, size_t n, double low, double high, size_t most)
{
	if (!n || !(high > low))
		return 1;
	double iqr = sorted[n * 3 / 4] - sorted[n / 4], count = ceil(2 * sqrt((double)n)) + 4;
	if (iqr > 0)
		count = fmax(count, ceil((high - low) / (2 * iqr / cbrt((double)n))));
	return (size_t)fmin(count, (double)most);
}

void bins_count(const double *values, size_t n, double low, double high, size_t bins,
		size_t *counts)
{
	for (size_t i = 0; i < n; i++) {
		double at = high > low ? (values[i] - low) / (high - low) * (double)bins : 0;
		counts[(size_t)fmin(fmax(at, 0), (double)bins - 1)]++;
	}
}
