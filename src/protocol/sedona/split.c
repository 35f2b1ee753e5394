/* Steps 3 and 4: successive zooms to the central cluster. Each takes the outermost band of times
 * away as L-samples, unless the pairs' corner shows that it is no infrequent disturbance. */
#include <math.h>
#include <stdlib.h>

#include "protocol/sedona/private.h"

#define LEAST_SAMPLES 6
#define BAND_SIGMAS 4	   /* an empty stretch of so many divides bands, */
#define BAND_SHARE 0.1	   /* if it is also so much of the delay: daemons vary in length */
#define NEIGHBOURS 20	   /* spacings on either side that it is compared with, */
#define LEAST_NEIGHBOURS 6 /* if there are as many in all, */
#define FAR 8		   /* and must be larger than by so many times */
#define FREQUENT (1 / 8.)  /* of the samples: chance alone makes pairs of them */
#define MOST_SLOW 0.4	   /* of all samples: more are not infrequent */
#define ALPHA 2e-3	   /* that bands in random order are taken for an L */
#define REACH 0.75	   /* of the mean distance of slow samples */
#define ZOOM 0.75	   /* a plot shows no more of the one before */

struct split {
	const struct sedona_run *r;
	uint64_t *by_et; /* by_length */
	double *x;	 /* the same above the least */
	size_t n;
	size_t within; /* that many are in the window */
	struct study_run *out;
};

static int by_length(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
	return ORDER(p, q);
}

/* P of at most `seen` where `mean` are expected (Poisson). */
static double p_at_most(double seen, double mean)
{
	double p = 0, log_mean = log(mean);
	for (size_t i = 0; i <= (size_t)seen; i++)
		p += exp((double)i * log_mean - mean - lgamma((double)i + 1));
	return p;
}

/* `usual` of those within are at or below the cut. */
static void add_level(struct split *s, size_t within, size_t usual, enum study_shape shape)
{
	struct study_level l = {
		.low_ns = s->by_et[0],
		.high_ns = s->by_et[within - 1],
		.cut_ns = s->by_et[usual - 1],
		.shape = shape,
	};
	/* the pairs of (odd, even) samples within the window, by which of them are above cut */
	for (size_t i = 0; i + 1 < s->r->samples.count; i++) {
		const struct sedona_sample *a = &s->r->samples.items[i], *b = a + 1;
		if (a->number % 2 == 0 || b->number != a->number + 1 || a->et_ns > l.high_ns ||
		    b->et_ns > l.high_ns)
			continue;
		bool first = a->et_ns > l.cut_ns, second = b->et_ns > l.cut_ns;
		++*(first ? second ? &l.both : &l.first : second ? &l.second : &l.neither);
	}
	double pairs = (double)l.neither + l.first + l.second + l.both;
	if (pairs > 0)
		l.both_expected = ((double)l.first + l.both) * ((double)l.second + l.both) / pairs;
	array_push(&s->out->levels, l);
}

/* Do those from `usual` to `within` come at distances as uneven as chance makes them? */
static bool is_uneven(const struct split *s, size_t usual)
{
	uint64_t high = s->by_et[s->within - 1], cut = s->by_et[usual - 1];
	const struct sedona_sample *x = s->r->samples.items;
	number_list slow = { 0 };
	for (size_t i = 0; i < s->n; i++)
		if (x[i].et_ns > cut && x[i].et_ns <= high)
			array_push(&slow, x[i].number);
	double p = sedona_p_even(slow.items, slow.count, x[s->n - 1].number - x[0].number + 1);
	array_release(&slow);
	return p >= ALPHA;
}

/* Do those from `usual` to `within` come as closely after each other as chance makes them? Besides
 * the pairs' two samples those are asked that lie a little less than their mean distance apart: a
 * daemon with a period is never there, and two of them with their own periods are half as often. */
static bool fills_corner(const struct split *s, size_t usual)
{
	if (s->within - usual < 2) /* one alone comes after none: chance expects no pair, too */
		return false;
	uint64_t high = s->by_et[s->within - 1], cut = s->by_et[usual - 1];
	size_t *places = xcalloc(s->within - usual, sizeof *places);
	size_t place = 0, slow = 0, oldest = 0;
	double n = (double)s->within, k = (double)(s->within - usual), seen = 0;
	size_t reach = (size_t)fmax(1, REACH * n / k);
	for (size_t i = 0; i < s->n; i++) {
		uint64_t et = s->r->samples.items[i].et_ns;
		if (et > high)
			continue;
		if (et > cut) {
			while (oldest < slow && places[oldest] + reach < place)
				oldest++;
			seen += (double)(slow - oldest);
			places[slow++] = place;
		}
		place++;
	}
	xfree(places);
	double chances = (double)reach * (n - ((double)reach + 1) / 2);
	return p_at_most(seen, chances * k / n * (k - 1) / (n - 1)) >= ALPHA && is_uneven(s, usual);
}

/* Whether an empty stretch below `at` divides two bands. Lengths of one daemon vary, too, and the
 * few longest ones are far apart; then spacings times the number of values beyond are about alike
 * (see breaks.c). A stretch as long as all that is below it divides in any case. */
static bool divides(const struct split *s, size_t at, size_t cluster, double sigma)
{
	double spacing = s->x[at] - s->x[at - 1], delay = s->x[at - 1] - s->x[cluster / 2];
	if (!(spacing > fmax(BAND_SIGMAS * sigma, BAND_SHARE * delay)))
		return false;
	size_t low = at > cluster + NEIGHBOURS ? at - NEIGHBOURS : cluster + 1;
	size_t high = at + NEIGHBOURS < s->within ? at + NEIGHBOURS : s->within - 1;
	double sum = 0, count = 0;
	for (size_t i = low; i <= high; i++)
		if (i != at) {
			sum += (double)(s->within - i) * (s->x[i] - s->x[i - 1]);
			count++;
		}
	return spacing > delay || count < LEAST_NEIGHBOURS ||
	       (double)(s->within - at) * spacing * count > FAR * sum;
}

/* How many are below the outermost band. */
static size_t below_band(const struct split *s, size_t cluster, double sigma)
{
	size_t usual = s->within - 1;
	while (usual > cluster && !divides(s, usual, cluster, sigma))
		usual--;
	return usual;
}

/* From all samples to the cluster. */
static void zoom(struct split *s)
{
	struct sedona_breaks breaks;
	sedona_find_breaks(s->x, s->n, &breaks);
	size_t shown = s->n; /* the window of the level that comes next */
	/* part of what has a period has none, so all that is slow is asked first */
	bool apart = breaks.cluster < s->n && !fills_corner(s, breaks.cluster);
	while (s->within > breaks.cluster) {
		size_t usual = below_band(s, breaks.cluster, breaks.sigma);
		bool frequent = (double)(s->within - usual) >= FREQUENT * (double)s->within;
		if ((double)(s->n - usual) > MOST_SLOW * (double)s->n ||
		    (!apart && frequent && fills_corner(s, usual))) {
			if (s->within < shown)
				add_level(s, shown, s->within, STUDY_L);
			add_level(s, s->within, usual, STUDY_CORNER);
			return;
		}
		s->within = usual;
		double range = s->x[shown - 1] - s->x[breaks.cluster - 1];
		if (usual == breaks.cluster ||
		    s->x[usual - 1] - s->x[breaks.cluster - 1] <= ZOOM * range) {
			add_level(s, shown, usual, STUDY_L);
			shown = usual;
		}
	}
	if (breaks.low_band)
		add_level(s, s->within, breaks.low_band, STUDY_CORNER);
	else /* nothing stands out: halves show how round it is */
		add_level(s, s->within, (s->within + 1) / 2, STUDY_SYMMETRIC);
}

static void fill_in(struct split *s, bool *is_l)
{
	const struct sedona_run *r = s->r;
	struct study_run *out = s->out;
	double sum = 0, squares = 0;
	for (size_t i = 0; i < s->n; i++)
		sum += s->x[i];
	double mean = sum / (double)s->n;
	for (size_t i = 0; i < s->n; i++)
		squares += (s->x[i] - mean) * (s->x[i] - mean);
	out->mean_ns = (double)s->by_et[0] + mean;
	out->sigma_ns = s->n > 1 ? sqrt(squares / (double)(s->n - 1)) : 0;
	out->cluster = (uint32_t)s->within;
	out->cluster_low_ns = s->by_et[0];
	out->cluster_high_ns = s->by_et[s->within - 1];
	if (!out->length_ns)
		out->length_ns = s->by_et[s->n / 2];
	for (size_t i = 0; i < s->n; i++) {
		is_l[i] = r->samples.items[i].et_ns > out->cluster_high_ns;
		if (is_l[i])
			array_push(&out->l_samples, r->samples.items[i].number);
	}
}

void sedona_split(const struct sedona_run *r, bool *is_l, struct study_run *out)
{
	size_t n = r->samples.count;
	out->samples = (uint32_t)n;
	out->length_ns = r->length_ns;
	out->cluster = 0;
	if (!n)
		return;
	struct split s = { .r = r, .n = n, .within = n, .out = out };
	s.by_et = xcalloc(n, sizeof *s.by_et);
	s.x = xcalloc(n, sizeof *s.x);
	for (size_t i = 0; i < n; i++)
		s.by_et[i] = r->samples.items[i].et_ns;
	qsort(s.by_et, n, sizeof *s.by_et, by_length);
	for (size_t i = 0; i < n; i++)
		s.x[i] = (double)(s.by_et[i] - s.by_et[0]);
	if (n >= LEAST_SAMPLES)
		zoom(&s);
	else
		add_level(&s, n, (n + 1) / 2, STUDY_SYMMETRIC);
	fill_in(&s, is_l);
	xfree(s.by_et);
	xfree(s.x);
}
