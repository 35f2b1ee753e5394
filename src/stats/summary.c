#include "stats/summary.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "stats/random.h"

#define RESAMPLES 2000
/* Above this the t interval: the central limit theorem holds well enough, and the cost of
 * resampling, RESAMPLES * n, would be felt. */
#define RESAMPLED_MAX 500
/* Below this the t interval, too: what can be drawn again from a handful lies between its extremes,
 * and covers the mean far less often than 95 % of the time. */
#define RESAMPLED_MIN 8

/* The order statistic that BCa puts in place of the z quantile (Efron 1987, JASA 82, eq. 2.3). */
static size_t bca_index(double z, double bias, double acceleration)
{
	double shifted = bias + z;
	double slack = 1 - acceleration * shifted;
	double adjusted = slack > 0 ? bias + shifted / slack : z;
	double index = floor(gsl_cdf_ugaussian_P(adjusted) * RESAMPLES);
	return (size_t)fmin(fmax(index, 0), RESAMPLES - 1);
}

static void bootstrap_interval(const double *sorted, struct summary *s)
{
	double means[RESAMPLES], below = 0, squares = 0, cubes = 0;
	struct random r = { s->n };
	random_stir(&r, sorted, s->n);
	for (size_t i = 0; i < RESAMPLES; i++)
		means[i] = random_mean(&r, sorted, s->n);
	gsl_sort(means, 1, RESAMPLES);
	/* how far the resampled means lie to one side of the mean, as a normal quantile */
	for (size_t i = 0; i < RESAMPLES; i++)
		below += means[i] < s->mean ? 1 : means[i] > s->mean ? 0 : 0.5;
	double share = fmin(fmax(below / RESAMPLES, 0.5 / RESAMPLES), 1 - 0.5 / RESAMPLES);
	double bias = gsl_cdf_ugaussian_Pinv(share), z = gsl_cdf_ugaussian_Pinv(0.975);
	/* for a mean the jackknife's acceleration has this closed form (Efron 1987, eq. 6.6) */
	for (size_t i = 0; i < s->n; i++) {
		double d = sorted[i] - s->mean;
		squares += d * d;
		cubes += d * d * d;
	}
	double acceleration = cubes / (6 * pow(squares, 1.5));
	s->ci_low = means[bca_index(-z, bias, acceleration)];
	s->ci_high = means[bca_index(z, bias, acceleration)];
}

void summarise(const double *x, size_t n, struct summary *out)
{
	*out = (struct summary){ .n = n };
	if (!n)
		return;
	double *sorted = xmalloc(n * sizeof *sorted), *work = xmalloc(n * sizeof *work);
	memcpy(sorted, x, n * sizeof *sorted);
	gsl_sort(sorted, 1, n);
	out->min = sorted[0];
	out->max = sorted[n - 1];
	out->median = gsl_stats_median_from_sorted_data(sorted, 1, n);
	out->mad = gsl_stats_mad0(sorted, 1, n, work);
	/* of the sorted numbers, so that their order changes no last digit */
	out->mean = gsl_stats_mean(sorted, 1, n);
	out->ci_low = out->ci_high = out->mean;
	if (n > 1 && out->max > out->min) {
		out->stddev = gsl_stats_sd_m(sorted, 1, n, out->mean);
		double t = gsl_cdf_tdist_Pinv(0.975, (double)n - 1);
		out->ci_low -= t * out->stddev / sqrt((double)n);
		out->ci_high += t * out->stddev / sqrt((double)n);
		if (n <= RESAMPLED_MAX && n >= RESAMPLED_MIN)
			bootstrap_interval(sorted, out);
	}
	if (out->mean != 0)
		out->relative_error = out->stddev / out->mean;
	xfree(sorted);
	xfree(work);
}
