#include "protocol/duet/pool.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "base/array.h"

#define LEVEL 0.05

/* An estimate of exactly 0 would have all the weight. */
#define LEAST_ERROR 1e-9

struct estimate {
	double log_ratio, variance;
};

static double weighted_mean(const struct estimate *e, size_t n, double between, double *weights)
{
	double sum = 0;
	*weights = 0;
	for (size_t i = 0; i < n; i++) {
		double w = 1 / (e[i].variance + between);
		sum += w * e[i].log_ratio;
		*weights += w;
	}
	return sum / *weights;
}

void duet_pool(const struct duet_verdict *const *verdicts, size_t count, struct duet_pool *out)
{
	*out = (struct duet_pool){
		.ratio = NAN, .low = NAN, .high = NAN, .between = NAN, .share = NAN
	};
	FREED struct estimate *e = xcalloc(count + 1, sizeof *e);
	size_t n = 0, only = 0;
	for (size_t i = 0; i < count; i++) {
		const struct duet_verdict *v = verdicts[i];
		if (isnan(v->ratio))
			continue;
		double error = fmax(v->sigma / sqrt((double)v->judged), LEAST_ERROR);
		e[n++] = (struct estimate){ log(v->ratio), error * error };
		only = i;
	}
	out->runs = n;
	if (n == 1) {
		out->ratio = verdicts[only]->ratio;
		out->low = verdicts[only]->low;
		out->high = verdicts[only]->high;
	}
	if (n < 2)
		return;
	double weights, squares = 0, q = 0, scaled = 0;
	double mean = weighted_mean(e, n, 0, &weights);
	for (size_t i = 0; i < n; i++) {
		double w = 1 / e[i].variance;
		squares += w * w;
		q += w * pow(e[i].log_ratio - mean, 2);
	}
	const double df = (double)n - 1;
	double between = fmax((q - df) / (weights - squares / weights), 0);
	mean = weighted_mean(e, n, between, &weights);
	for (size_t i = 0; i < n; i++)
		scaled += pow(e[i].log_ratio - mean, 2) / (e[i].variance + between);
	double error = sqrt(fmax(scaled / df, 1) / weights);
	double t = gsl_cdf_tdist_Qinv(LEVEL / 2, df);
	out->ratio = exp(mean);
	out->low = exp(mean - t * error);
	out->high = exp(mean + t * error);
	out->between = sqrt(between);
	out->share = q > 0 ? fmax(1 - df / q, 0) : 0;
}
