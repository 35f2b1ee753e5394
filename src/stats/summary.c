#include "stats/summary.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

#include "base/array.h"

#define LEVEL 0.05

static void put_interval(struct summary *s, double least)
{
	mean_interval(s->mean, &s->error, LEVEL, &s->ci_low, &s->ci_high);
	if (least >= 0 && s->ci_low < 0)
		s->ci_low = 0;
}

/* All but the interval. */
static void describe(const double *x, size_t n, struct summary *out)
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
	if (n > 1 && out->max > out->min)
		out->stddev = gsl_stats_sd_m(sorted, 1, n, out->mean);
	if (out->mean != 0)
		out->relative_error = out->stddev / out->mean;
	xfree(sorted);
	xfree(work);
}

/* `series` holds what the error of the mean is taken from. */
static void summarise_by(const double *x, size_t n, const double *series, size_t length,
			 enum sample_order order, struct summary *out)
{
	describe(x, n, out);
	mean_error_of(series, length, order, &out->error);
	put_interval(out, out->min);
}

void summarise(const double *x, size_t n, struct summary *out)
{
	summarise_by(x, n, x, n, SAMPLE_IN_ORDER, out);
}

void summarise_unordered(const double *x, size_t n, struct summary *out)
{
	summarise_by(x, n, x, n, SAMPLE_UNORDERED, out);
}

void summarise_kept(const double *kept, size_t n, const double *influence, size_t n_all,
		    struct summary *out)
{
	summarise_by(kept, n, influence, n_all, SAMPLE_IN_ORDER, out);
	out->error.effective = fmin(out->error.effective, (double)n);
}

void summary_allow_for_all(struct summary *s, const double *x, size_t n)
{
	struct summary all;
	summarise(x, n, &all);
	if (s->error.too_few || all.error.too_few)
		return;
	s->error.error = fmax(s->error.error, hypot(all.error.error, all.mean - s->mean));
	s->error.df = fmin(s->error.df, all.error.df);
	s->error.skewness = 0; /* the error is not that of skewed values, but of two means */
	double low = s->ci_low, high = s->ci_high;
	put_interval(s, s->min);
	s->ci_low = fmin(s->ci_low, low);
	s->ci_high = fmax(s->ci_high, high);
}

void summary_refuse(struct summary *s, size_t needed, double reach)
{
	s->error.too_few = true;
	s->error.error = fmax(s->error.error, reach);
	s->error.needed = needed > s->error.needed ? needed : s->error.needed;
	s->ci_low = s->ci_high = NAN;
}

void summarise_runs(const struct summary *runs, size_t count, struct summary *out)
{
	if (count == 1) {
		*out = runs[0];
		return;
	}
	double within = 0, between = 0, number = (double)count;
	*out = (struct summary){ 0 };
	for (size_t i = 0; i < count; i++) {
		out->n += runs[i].n;
		out->mean += runs[i].mean / number;
		within += runs[i].error.error * runs[i].error.error / number;
	}
	for (size_t i = 0; i < count; i++)
		between += (runs[i].mean - out->mean) * (runs[i].mean - out->mean) / (number - 1);
	/* two runs may agree by chance, but not more closely than their executions allow */
	out->error = (struct mean_error){ .error = sqrt(fmax(between, within) / number),
					  .df = number - 1,
					  .effective = number };
	put_interval(out, 0);
}

void ratio_of_summaries(const struct summary *a, const struct summary *b, struct mean_ratio *out)
{
	ratio_of_summaries_with(a, b, 0, 1, out);
}

void ratio_of_summaries_with(const struct summary *a, const struct summary *b, double more_error,
			     double more_df, struct mean_ratio *out)
{
	*out = (struct mean_ratio){ NAN, NAN, NAN, NAN };
	if (!a->n || !b->n)
		return;
	out->ratio = a->mean > 0 ? b->mean / a->mean : b->mean > 0 ? INFINITY : 1;
	double of_a = pow(a->error.error / a->mean, 2), of_b = pow(b->error.error / b->mean, 2);
	bool nothing = !(a->mean > 0) || !(b->mean > 0);
	if (a->n < 2 || b->n < 2 || (!nothing && !isfinite(of_a + of_b)))
		return;
	out->low = out->high = out->ratio;
	out->p = nothing || a->mean == b->mean ? 1 : 0;
	double sum = of_a + of_b;
	if (nothing || (sum <= 0 && !(more_error > 0)))
		return;
	/* Welch and Satterthwaite */
	double df = sum > 0 ? sum * sum /
				      ((of_a > 0 ? of_a * of_a / a->error.df : 0) +
				       (of_b > 0 ? of_b * of_b / b->error.df : 0))
			    : more_df;
	double t = gsl_cdf_tdist_Pinv(1 - LEVEL / 2, df), error = sqrt(sum);
	if (more_error > 0)
		error = hypot(t * error, gsl_cdf_tdist_Pinv(1 - LEVEL / 2, more_df) * more_error) /
			t;
	out->low = out->ratio * exp(-t * error);
	out->high = out->ratio * exp(t * error);
	out->p = fmin(2 * gsl_cdf_tdist_Q(fabs(log(out->ratio)) / error, df), 1);
	/* with too few the error is a cautious guess: it can show a difference, but not that there
	 * is none */
	if ((a->error.too_few || b->error.too_few) && !(out->p < LEVEL))
		out->low = out->high = out->p = NAN;
}
