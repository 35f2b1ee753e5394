#include "stats/proportions.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>
#include <stdbool.h>

#define Z 1.959963984540054 /* 97.5 % of the normal distribution */
#define EXPECTED_LEAST 5

void proportion_of(uint64_t hits, uint64_t n, struct proportion *out)
{
	*out = (struct proportion){ NAN, 0, 1 };
	if (!n)
		return;
	double count = (double)n, share = (double)hits / count, zz = Z * Z;
	double middle = (share + zz / (2 * count)) / (1 + zz / count);
	double half =
		Z * sqrt(share * (1 - share) / count + zz / (4 * count * count)) / (1 + zz / count);
	out->share = share;
	out->low = hits ? fmax(0, middle - half) : 0;
	out->high = hits < n ? fmin(1, middle + half) : 1;
}

static double log_choose(double n, double k)
{
	return gsl_sf_lngamma(n + 1) - gsl_sf_lngamma(k + 1) - gsl_sf_lngamma(n - k + 1);
}

/* That `drawn`, taken blindly out of n_a and n_b, has k of a. */
static double log_chance(double k, double n_a, double n_b, double drawn)
{
	return log_choose(n_a, k) + log_choose(n_b, drawn - k) - log_choose(n_a + n_b, drawn);
}

/* Over all splits that are not likelier than the one seen. Where few are expected they are at most
 * the root of 5 (n_a + n_b). */
static double fisher(double k, double n_a, double n_b, double drawn)
{
	double seen = log_chance(k, n_a, n_b, drawn), p = 0;
	uint64_t first = (uint64_t)fmax(0, drawn - n_b), last = (uint64_t)fmin(drawn, n_a);
	for (uint64_t i = first; i <= last; i++) {
		double chance = log_chance((double)i, n_a, n_b, drawn);
		if (chance <= seen + 1e-7)
			p += exp(chance);
	}
	return fmin(1, p);
}

/* What is rarer, hits or misses, decides how much can be known. */
static double p_of(double a, double n_a, double b, double n_b, double *least)
{
	double all = n_a + n_b, hits = a + b;
	bool misses = hits > all / 2;
	double k = misses ? n_a - a : a, drawn = misses ? all - hits : hits;
	double smaller = fmin(n_a, n_b);
	*least = exp(drawn * log(smaller / all));
	if (!(drawn > 0)) {
		*least = 1;
		return 1;
	}
	if (drawn * smaller / all < EXPECTED_LEAST)
		return fisher(k, n_a, n_b, drawn);
	double pooled = hits / all;
	double z = (b / n_b - a / n_a) / sqrt(pooled * (1 - pooled) * (1 / n_a + 1 / n_b));
	return fmin(1, 2 * gsl_cdf_ugaussian_Q(fabs(z)));
}

void proportions_compare(uint64_t hits_a, uint64_t n_a, uint64_t hits_b, uint64_t n_b,
			 struct proportions *out)
{
	struct proportion a, b;
	*out = (struct proportions){ NAN, NAN, NAN, NAN, NAN };
	if (!n_a || !n_b)
		return;
	proportion_of(hits_a, n_a, &a);
	proportion_of(hits_b, n_b, &b);
	out->change = b.share - a.share;
	out->low = out->change - hypot(b.share - b.low, a.high - a.share);
	out->high = out->change + hypot(b.high - b.share, a.share - a.low);
	out->p = p_of((double)hits_a, (double)n_a, (double)hits_b, (double)n_b, &out->least_p);
}
