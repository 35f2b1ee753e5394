/* Step 7: does a daemon come back at even distances, all through the run? */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

#include "protocol/sedona/private.h"

#define TOLERANCE 0.05 /* of the median gap */
#define TOLERANCE_SAMPLES 2.0
/* Where some occurrences are missing or too many. */
#define LEAST_LINKS 3
#define MANY 7		  /* occurrences: then the period itself may vary, */
#define LOOSE 0.12	  /* by so much of it from one to the next */
#define MOST_PERIODS 3	  /* from one occurrence to the next */
#define MOST_SKIPPED 3	  /* in a row */
#define MOST_ODD (1 / 3.) /* of the occurrences are missing or too many */
#define FOLLOWED 0.3	  /* of each gap: the period may drift */
#define ALPHA 2e-3	  /* that occurrences at random seem to have a period */

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

/* Even gaps, all through the run: nothing is missing, nothing too many. left: samples after the
 * last. */
static void find_even(const struct sedona_occurrence *seen, size_t count, uint32_t left,
		      double spacing_ns, struct study_period *out)
{
	struct gap *gaps = xcalloc(count, sizeof *gaps);
	size_t n = gaps_of(seen, count, spacing_ns, gaps);
	if (n) {
		qsort(gaps, n, sizeof *gaps, by_width);
		double median = (gaps[(n - 1) / 2].width + gaps[n / 2].width) / 2;
		bool even = median - gaps[0].width <= tolerance(median) &&
			    gaps[n - 1].width - median <= tolerance(median);
		struct study_period p;
		describe(gaps, n, spacing_ns, &p);
		/* by the clock a period is not the same number of samples all through the run */
		double most = p.samples + (gaps[0].ns > 0 ? tolerance(p.samples) : 0);
		if (even && seen[0].number - 1 <= most && left <= most)
			*out = p;
	}
	xfree(gaps);
}

/* ---- with occurrences that are missing or too many ---- */

/* An occurrence as the end of a chain of those that follow each other after one period, or two or
 * three where some are missing. */
struct chained {
	struct gap to;	/* from the occurrence before; width 0: no telling, the clock jumped */
	size_t before;	/* the one it follows; its own index: it is the first */
	double periods; /* between the two */
	double period;	/* as it is here: it may drift */
	double score;	/* links, less those that are missing or too many */
};

/* The gap from one occurrence to a later one. False: time stood still or jumped between them. */
static bool gap_between(const struct chained *c, size_t from, size_t to, struct gap *out)
{
	*out = (struct gap){ 0 };
	for (size_t i = from + 1; i <= to; i++) {
		if (!(c[i].to.width > 0))
			return false;
		out->samples += c[i].to.samples;
		out->width += c[i].to.width;
		out->ns += c[i].to.ns;
	}
	return true;
}

/* How far an occurrence may be from where it is expected. */
static double reach(double period, size_t count)
{
	return count < MANY ? tolerance(period) : fmax(tolerance(period), LOOSE * period);
}

/* The best chain up to each occurrence, beginning with a guess of the period. */
static void chain(struct chained *c, size_t count, double guess)
{
	for (size_t i = 0; i < count; i++) {
		c[i].before = i;
		c[i].period = guess;
		c[i].score = -(double)i;
		for (size_t k = 1; k <= MOST_SKIPPED + 1 && k <= i; k++) {
			const struct chained *b = &c[i - k];
			struct gap g;
			bool told = gap_between(c, i - k, i, &g);
			double periods = told ? round(g.width / b->period) : 0;
			double score = b->score - (double)(k - 1) + (told ? 3 - periods : 0);
			if ((told &&
			     (periods < 1 || periods > MOST_PERIODS ||
			      fabs(g.width - periods * b->period) > reach(b->period, count))) ||
			    score <= c[i].score)
				continue;
			c[i].before = i - k;
			c[i].periods = periods;
			c[i].score = score;
			c[i].period = told ? b->period + FOLLOWED * (g.width / periods - b->period)
					   : b->period;
		}
	}
}

/* The chain's links as gaps of one period each; returns how many. *odd: occurrences that are
 * missing or too many. */
static size_t links_of(const struct chained *c, size_t count, struct gap *out, double *odd,
		       size_t *first, size_t *last)
{
	size_t links = 0, members = 1;
	*last = 0;
	*odd = 0;
	for (size_t i = 1; i < count; i++)
		if (c[i].score - (double)(count - 1 - i) >
		    c[*last].score - (double)(count - 1 - *last))
			*last = i;
	for (*first = *last; c[*first].before != *first; *first = c[*first].before, members++) {
		double periods = c[*first].periods;
		struct gap g;
		if (!gap_between(c, c[*first].before, *first, &g))
			continue;
		*odd += periods - 1;
		out[links++] =
			(struct gap){ g.samples / periods, g.ns / periods, g.width / periods };
	}
	*odd += (double)(count - members);
	return links;
}

/* Would occurrences at random make so many links? places: the share of a period in which a link may
 * end. */
static bool is_chance(size_t links, double odd, double places, size_t guesses)
{
	double p = 1 - exp(-places * (exp(-1) + exp(-2) + exp(-3)));
	unsigned trials = (unsigned)((double)links + odd);
	return gsl_cdf_binomial_Q((unsigned)links - 1, p, trials) * (double)guesses >= ALPHA;
}

static void find_chain(const struct sedona_occurrence *seen, size_t count, uint32_t total,
		       double spacing_ns, struct study_period *out)
{
	struct chained *c = xcalloc(count, sizeof *c);
	struct gap *gaps = xcalloc(count, sizeof *gaps);
	double *widths = xcalloc(count, sizeof *widths), best = MOST_ODD * (double)count;
	size_t told = 0;
	for (size_t i = 1; i < count; i++)
		if (gaps_of(&seen[i - 1], 2, spacing_ns, &c[i].to))
			widths[told++] = c[i].to.width;
	gsl_sort(widths, 1, told);
	for (size_t guess = 1; guess <= 3 && told > LEAST_LINKS - 1; guess++) {
		size_t first, last;
		double odd;
		chain(c, count, widths[guess * (told - 1) / 4]);
		size_t links = links_of(c, count, gaps, &odd, &first, &last);
		if (links < LEAST_LINKS)
			continue;
		struct study_period p;
		describe(gaps, links, spacing_ns, &p);
		double most = p.samples + tolerance(p.samples);
		odd += floor((seen[first].number - 1) / most) +
		       floor((double)(total - seen[last].number) / most);
		double width = (double)p.ns / spacing_ns;
		if (odd > best || is_chance(links, odd, 2 * reach(width, count) / width, 3))
			continue;
		best = odd;
		*out = p;
	}
	xfree(c);
	xfree(gaps);
	xfree(widths);
}

void sedona_period(const struct sedona_occurrence *seen, size_t count, uint32_t total,
		   uint64_t spacing_ns, struct study_period *out)
{
	*out = (struct study_period){ 0 };
	if (count < 2)
		return;
	struct sedona_occurrence *rows = xcalloc(count, sizeof *rows);
	/* the first sample of each row of samples; a daemon in all of them is in a row of its own
	 */
	size_t merged = 0;
	for (size_t i = 0; i < count; i++)
		if (!i || seen[i].number > seen[i - 1].number + 1)
			rows[merged++] = seen[i];
	bool apart = merged > 1;
	find_even(apart ? rows : seen, apart ? merged : count, total - seen[count - 1].number,
		  (double)spacing_ns, out);
	if (!out->found && apart)
		find_chain(rows, merged, total, (double)spacing_ns, out);
	xfree(rows);
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
