#include "stats/histogram.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

#include "base/array.h"

/* Freedman & Diaconis 1981, "On the histogram as a density estimator": 2 IQR n^(-1/3). Where half
 * of the numbers are equal the IQR is 0: then Sturges 1926, 1 + log2 n bins. */
static double wanted_bins(const double *sorted, size_t n)
{
	double iqr = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.75) -
		     gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.25);
	double width = 2 * iqr / cbrt((double)n);
	if (width > 0)
		return ceil((sorted[n - 1] - sorted[0]) / width);
	return ceil(1 + log2((double)n));
}

void histogram_make(const double *x, size_t n, size_t most, struct histogram *out)
{
	*out = (struct histogram){ 0 };
	if (!n)
		return;
	double *sorted = xmalloc(n * sizeof *sorted);
	memcpy(sorted, x, n * sizeof *sorted);
	gsl_sort(sorted, 1, n);
	double spread = sorted[n - 1] - sorted[0];
	out->low = sorted[0];
	out->bins = 1;
	if (spread > 0) {
		double wanted = wanted_bins(sorted, n);
		out->bins = wanted < (double)most ? (size_t)wanted : most;
		if (!out->bins)
			out->bins = 1;
		out->width = spread / (double)out->bins;
	}
	out->counts = xcalloc(out->bins, sizeof *out->counts);
	/* against the edges as they are told, so that no rounding puts a number beside its bin */
	for (size_t i = 0, bin = 0; i < n; i++) {
		while (bin + 1 < out->bins && sorted[i] >= histogram_edge(out, bin + 1))
			bin++;
		out->counts[bin]++;
	}
	xfree(sorted);
}

void histogram_release(struct histogram *h)
{
	xfree(h->counts);
	*h = (struct histogram){ 0 };
}

double histogram_edge(const struct histogram *h, size_t i)
{
	return h->low + (double)i * h->width;
}
