#include "stats/correlation.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

static double mean_of(const double *x, size_t n)
{
	double mean = 0;
	for (size_t i = 0; i < n; i++)
		mean += (x[i] - mean) / (double)(i + 1);
	return mean;
}

void correlate(const double *x, const double *y, size_t n, struct correlation *out)
{
	double mean_x = mean_of(x, n), mean_y = mean_of(y, n), xx = 0, yy = 0, xy = 0;
	*out = (struct correlation){ NAN, 1 };
	for (size_t i = 0; i < n; i++) {
		double a = x[i] - mean_x, b = y[i] - mean_y;
		xx += a * a;
		yy += b * b;
		xy += a * b;
	}
	if (n < 2 || !(xx > 0) || !(yy > 0))
		return;
	out->r = fmax(-1, fmin(1, xy / (sqrt(xx) * sqrt(yy))));
	if (n < 3)
		return;
	double left = (1 - out->r) * (1 + out->r), freedom = (double)n - 2;
	double t = left > 0 ? fabs(out->r) * sqrt(freedom / left) : INFINITY;
	out->p = isinf(t) ? 0 : 2 * gsl_cdf_tdist_Q(t, freedom);
}
