/* A program that takes longer by itself at times (a clock frequency, a host that shares its cores)
 * hides what daemons take from it. Its own process time tells the two apart. */
#include <math.h>
#include <string.h>

#include "protocol/sedona/private.h"
#include "stats/summary.h"

#define LEAST_SAMPLES 6
#define NARROWER 2 /* times: else ET itself is asked, as in the papers */
/* Of the median: the median distance from it. On the papers' machine it is about a tenth of this.
 */
#define UNEVEN 1.5e-3

static bool has_process_times(const struct sedona_run *r)
{
	bool known = r->samples.count >= LEAST_SAMPLES;
	for (size_t i = 0; i < r->samples.count && known; i++)
		known = r->samples.items[i].pt_ns != 0;
	return known;
}

bool sedona_is_uneven(const struct sedona_run *r)
{
	size_t n = r->samples.count;
	if (!has_process_times(r))
		return false;
	double *pt = xcalloc(n, sizeof *pt), *et = xcalloc(n, sizeof *et),
	       *rest = xcalloc(n, sizeof *rest);
	for (size_t i = 0; i < n; i++) {
		pt[i] = (double)r->samples.items[i].pt_ns;
		et[i] = (double)r->samples.items[i].et_ns;
		rest[i] = et[i] - pt[i];
	}
	struct summary own, as_it_is, of_rest;
	summarise_unordered(pt, n, &own);
	summarise_unordered(et, n, &as_it_is);
	summarise_unordered(rest, n, &of_rest);
	xfree(pt);
	xfree(et);
	xfree(rest);
	return of_rest.mad * NARROWER < as_it_is.mad && own.mad > UNEVEN * own.median;
}

bool sedona_steady(const struct sedona_run *r, struct sedona_run *out)
{
	size_t n = r->samples.count;
	if (!has_process_times(r))
		return false;
	double *pt = xcalloc(n, sizeof *pt);
	for (size_t i = 0; i < n; i++)
		pt[i] = (double)r->samples.items[i].pt_ns;
	struct summary own;
	summarise_unordered(pt, n, &own);
	xfree(pt);
	*out = *r;
	memset(&out->samples, 0, sizeof out->samples);
	for (size_t i = 0; i < n; i++) {
		struct sedona_sample s = r->samples.items[i];
		double steady = own.median + (double)s.et_ns - (double)s.pt_ns;
		s.et_ns = steady > 0 ? (uint64_t)llround(steady) : 0;
		array_push(&out->samples, s);
	}
	return true;
}
