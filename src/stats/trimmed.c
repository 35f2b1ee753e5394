#include "stats/trimmed.h"

#include <math.h>

void trimmed_mean_of(const double *x, size_t n, double share, struct trimmed_mean *out)
{
	const size_t cut = (size_t)(share * (double)n), kept = n - 2 * cut;
	double sum = 0, squares = 0;
	*out = (struct trimmed_mean){ .mean = NAN, .error = NAN, .cut = cut };
	if (kept < 2)
		return;
	for (size_t i = cut; i < n - cut; i++)
		sum += x[i];
	/* winsorised: what is cut off counts as the outermost value that is kept */
	const double low = x[cut], high = x[n - cut - 1];
	const double mean = (sum + (double)cut * (low + high)) / (double)n;
	for (size_t i = 0; i < n; i++) {
		double off = fmin(fmax(x[i], low), high) - mean;
		squares += off * off;
	}
	out->mean = sum / (double)kept;
	out->df = (double)kept - 1;
	out->error = sqrt(squares / ((double)kept * out->df));
}
