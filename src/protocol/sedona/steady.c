/* A program that takes longer by itself at times (a clock frequency, a host that shares its cores)
 * hides what daemons take from it. Its own process time tells the two apart. */
#include <math.h>
#include <string.h>

#include "protocol/sedona/private.h"
#include "stats/summary.h"

#define LEAST_SAMPLES 6
#define NARROWER 2 /* times: else ET itself is asked, as in the papers */

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
	struct summary own = { 0 }, as_it_is = { 0 }, of_rest = { 0 };
	if (known) {
		summarise_unordered(pt, n, &own);
		summarise_unordered(et, n, &as_it_is);
		summarise_unordered(rest, n, &of_rest);
	}
	bool steadier = known && of_rest.mad * NARROWER < as_it_is.mad;
	if (steadier) {
		*out = *r;
		memset(&out->samples, 0, sizeof out->samples);
		for (size_t i = 0; i < n; i++) {
			struct sedona_sample s = r->samples.items[i];
			double steady = own.median + (double)s.et_ns - (double)s.pt_ns;
			s.et_ns = steady > 0 ? (uint64_t)llround(steady) : 0;
			array_push(&out->samples, s);
		}
	}
	xfree(pt);
	xfree(et);
	xfree(rest);
	return steadier;
}
