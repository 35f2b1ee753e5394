/* A program that takes longer by itself at times (a clock frequency, a host that shares its cores)
 * hides what daemons take from it. Its own process time tells the two apart. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/sedona_private.h"

#define LEAST_SAMPLES 6
#define NARROWER 2 /* times: else ET itself is asked, as in the papers */

static int by_value(const void *a, const void *b)
{
	double p = *(const double *)a, q = *(const double *)b;
	return p < q ? -1 : p > q;
}

static double median(double *x, size_t n)
{
	qsort(x, n, sizeof *x, by_value);
	return (x[(n - 1) / 2] + x[n / 2]) / 2;
}

/* The median distance from the median. Leaves nothing of x. */
static double spread(double *x, size_t n)
{
	double middle = median(x, n);
	for (size_t i = 0; i < n; i++)
		x[i] = fabs(x[i] - middle);
	return median(x, n);
}

bool sedona_steady(const struct sedona_run *r, struct sedona_run *out)
{
	size_t n = r->samples.count;
	double *pt = xcalloc(n + 1, sizeof *pt), *et = xcalloc(n + 1, sizeof *et),
	       *rest = xcalloc(n + 1, sizeof *rest);
	bool known = n >= LEAST_SAMPLES;
	for (size_t i = 0; i < n && known; i++) {
		const struct sedona_sample *s = &r->samples.items[i];
		known = s->pt_ns != 0;
		pt[i] = (double)s->pt_ns;
		et[i] = (double)s->et_ns;
		rest[i] = et[i] - pt[i];
	}
	double usual = known ? median(pt, n) : 0;
	bool steadier = known && spread(rest, n) * NARROWER < spread(et, n);
	if (steadier) {
		*out = *r;
		memset(&out->samples, 0, sizeof out->samples);
		for (size_t i = 0; i < n; i++) {
			struct sedona_sample s = r->samples.items[i];
			double steady = usual + (double)s.et_ns - (double)s.pt_ns;
			s.et_ns = steady > 0 ? (uint64_t)llround(steady) : 0;
			array_push(&out->samples, s);
		}
	}
	xfree(pt);
	xfree(et);
	xfree(rest);
	return steadier;
}
