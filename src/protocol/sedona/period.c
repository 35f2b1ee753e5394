/* Step 7: does a daemon come back at even distances, all through the run? */
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

#include "protocol/sedona/private.h"

#define TOLERANCE 0.05 /* of the median gap */
#define TOLERANCE_SAMPLES 2.0

struct gap {
	double samples;
	double ns;    /* as the clock had it; 0: not known */
	double width; /* what is compared: by the clock where it is known, in usual samples */
};

static int by_width(const void *a, const void *b)
{
	const struct gap *p = a, *q = b;
	return ORDER(p->width, q->width);
}

static double tolerance(double gap)
{
	return fmax(TOLERANCE * gap, fmin(TOLERANCE_SAMPLES, gap / 2));
}

static size_t gaps_of(const struct sedona_occurrence *seen, size_t count, double spacing_ns,
		      struct gap *out)
{
	size_t gaps = 0;
	for (size_t i = 1; i < count; i++) {
		struct gap g = { .samples = (double)seen[i].number - seen[i - 1].number };
		g.width = g.samples;
		if (seen[i].at_ns && seen[i - 1].at_ns && spacing_ns > 0) {
			g.ns = (double)(seen[i].at_ns - seen[i - 1].at_ns);
			g.width = g.ns / spacing_ns;
			/* disturbed samples are longer, but not by that much together */
			if (fabs(g.width - g.samples) > fmax(TOLERANCE_SAMPLES, g.samples / 4))
				continue;
		}
		out[gaps++] = g;
	}
	return gaps;
}

/* The gaps are even. */
static void describe(const struct gap *gaps, size_t count, double spacing_ns,
		     struct study_period *out)
{
	double n = (double)count, samples = 0, width = 0, ns = 0, squares = 0;
	for (size_t i = 0; i < count; i++) {
		samples += gaps[i].samples / n;
		width += gaps[i].width / n;
		ns += (gaps[i].ns > 0 ? gaps[i].ns : gaps[i].samples * spacing_ns) / n;
	}
	for (size_t i = 0; i < count; i++)
		squares += (gaps[i].width - width) * (gaps[i].width - width);
	/* where in its sample an occurrence lies is not known: sigma is 1/sqrt(12) of one */
	double error = sqrt(2 / 12.) / n;
	if (count > 1)
		error = fmax(error, sqrt(squares / (n - 1) / n));
	*out = (struct study_period){
		.found = true,
		.uncertain = count == 1,
		.samples = samples,
		.ns = (uint64_t)llround(ns),
		.error_ns = (uint64_t)llround(error * ns / width),
	};
}

void sedona_period(const struct sedona_occurrence *seen, size_t count, uint32_t total,
		   uint64_t spacing_ns, struct study_period *out)
{
	*out = (struct study_period){ 0 };
	if (count < 2)
		return;
	struct sedona_occurrence *rows = xcalloc(count, sizeof *rows);
	struct gap *gaps = xcalloc(count, sizeof *gaps);
	/* the first sample of each row of samples; a daemon in all of them is in a row of its own
	 */
	size_t merged = 0;
	for (size_t i = 0; i < count; i++)
		if (!i || seen[i].number > seen[i - 1].number + 1)
			rows[merged++] = seen[i];
	size_t n = gaps_of(merged > 1 ? rows : seen, merged > 1 ? merged : count,
			   (double)spacing_ns, gaps);
	if (n) {
		qsort(gaps, n, sizeof *gaps, by_width);
		double median = (gaps[(n - 1) / 2].width + gaps[n / 2].width) / 2;
		bool even = median - gaps[0].width <= tolerance(median) &&
			    gaps[n - 1].width - median <= tolerance(median);
		struct study_period p;
		describe(gaps, n, (double)spacing_ns, &p);
		/* by the clock a period is not the same number of samples all through the run */
		double most = p.samples + (gaps[0].ns > 0 ? tolerance(p.samples) : 0);
		if (even && seen[0].number - 1 <= most &&
		    (double)total - seen[count - 1].number <= most)
			*out = p;
	}
	xfree(rows);
	xfree(gaps);
}

uint64_t sedona_spacing(const struct sedona_run *r)
{
	size_t n = 0;
	double *steps = xcalloc(r->samples.count + 1, sizeof *steps);
	for (size_t i = 1; i < r->samples.count; i++) {
		const struct sedona_sample *a = &r->samples.items[i - 1], *b = a + 1;
		if (a->at_ns && b->at_ns > a->at_ns && b->number > a->number)
			steps[n++] = (double)(b->at_ns - a->at_ns) / (b->number - a->number);
	}
	gsl_sort(steps, 1, n);
	uint64_t median = n ? (uint64_t)llround(steps[n / 2]) : 0;
	xfree(steps);
	return median;
}
