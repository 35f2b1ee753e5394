/* Where do sorted times break into the main mass and what lies beyond it?
 *
 * Disturbance only adds time. So the lower side of the main mass shows the spread that the machine
 * has by itself, and its upper end how fast its own tail thins out. With i values above it, the
 * spacing of two neighbours of a tail has a mean of scale / i, and that scale changes slowly along
 * every common tail (the normalised spacings of Pyke, 1965, JRSS B 27, 395-449). A spacing that is
 * far larger than the ones right below it promise is a break. Logarithms are asked, too, so that
 * the tail of a skewed distribution, whose scale grows outwards, is not taken for one. */
#include <math.h>

#include "protocol/sedona/private.h"

#define MOST_NEIGHBOURS 40 /* spacings that tell the scale */
#define ALPHA 2e-3	   /* that a sample without a break seems to have one */
#define LOG_ORIGIN 3	   /* sigmas below the middle */
#define PLAIN 4		   /* times as wide as either side */
#define PLAIN_BANDS 2.5	   /* where there is much on both */
#define DWARFED 8	   /* times as wide as the main mass alone, of this many at least */
#define DWARFED_LEAST 8
#define FEW 10.		    /* values tell half of their spread */
#define LEAST_SIGMAS 3	    /* from the middle to the first value beyond a break */
#define LEAST_STEPS 2.5	    /* of a coarse clock */
#define LEAST_SHARE 0.4	    /* of the values are in the main mass */
#define LEAST_BAND (1 / 8.) /* of the values make a band */

struct sorted {
	double *x; /* ascending, ties spread */
	size_t n;
	double *sums; /* [p]: of the normalised spacings up to the one below x[p] */
	double *step; /* [p]: the least difference among the first p + 1, as they were given */
};

static void sorted_make(const double *x, size_t n, struct sorted *s)
{
	*s = (struct sorted){ xcalloc(n, sizeof *s->x), n, xcalloc(n, sizeof *s->sums),
			      xcalloc(n, sizeof *s->step) };
	/* what a coarse clock made equal was within half a step of it */
	for (size_t first = 0, next; first < n; first = next) {
		for (next = first + 1; next < n && x[next] == x[first]; next++)
			;
		double left = first ? x[first] - x[first - 1] : INFINITY;
		double right = next < n ? x[next] - x[first] : INFINITY;
		double step = fmin(left, right), count = (double)(next - first);
		for (size_t i = first; i < next; i++)
			s->x[i] = isinf(step) ? x[i]
					      : x[i] + step * (((double)(i - first) + 0.5) / count -
							       0.5);
	}
	double least = INFINITY;
	for (size_t p = 1; p < n; p++) {
		s->sums[p] = s->sums[p - 1] + (double)(n - p) * (s->x[p] - s->x[p - 1]);
		if (x[p] > x[p - 1])
			least = fmin(least, x[p] - x[p - 1]);
		s->step[p] = isinf(least) ? 0 : least;
	}
}

static void sorted_release(struct sorted *s)
{
	xfree(s->x);
	xfree(s->sums);
	xfree(s->step);
}

static double middle(const struct sorted *s, size_t below)
{
	return s->x[below / 2];
}

/* One sigma below the middle are 15.9 % of a Gaussian. */
static double lower_sigma(const struct sorted *s, size_t below)
{
	return middle(s, below) - s->x[(size_t)((double)(below - 1) * 0.1587)];
}

static size_t neighbours(size_t below)
{
	return below / 2 < MOST_NEIGHBOURS ? below / 2 : MOST_NEIGHBOURS;
}

/* A ratio of an exponential to the mean of `among` others exceeds this with the probability that
 * falls to a break with `above` values beyond: those sum up to ALPHA. */
static double threshold(size_t above, size_t among)
{
	double j = (double)above, k = (double)among;
	return k * (pow(ALPHA / (j * (j + 1)), -1 / k) - 1);
}

static double ratio(double spacing, double promised)
{
	return promised > 0 ? spacing / promised : spacing > 0 ? INFINITY : 0;
}

static bool far_in_logarithms(const struct sorted *s, size_t below, double limit)
{
	double sigma = lower_sigma(s, below);
	double origin = middle(s, below) - LOG_ORIGIN * sigma;
	size_t above = s->n - below, among = neighbours(below);
	if (!(sigma > 0))
		return true;
	double sum = 0, upper = log(s->x[below - 1] - origin);
	double spacing = log(s->x[below] - origin) - upper;
	for (size_t i = 1; i <= among; i++) {
		double lower = log(s->x[below - 1 - i] - origin);
		sum += (double)(above + i) * (upper - lower);
		upper = lower;
	}
	return ratio((double)above * spacing, sum / (double)among) > limit;
}

static bool far(const struct sorted *s, size_t below, double limit)
{
	size_t above = s->n - below, among = neighbours(below);
	double spacing = s->x[below] - s->x[below - 1];
	double promised = (s->sums[below - 1] - s->sums[below - 1 - among]) / (double)among;
	return ratio((double)above * spacing, promised) > limit &&
	       spacing > LEAST_STEPS * s->step[below - 1] &&
	       s->x[below] - middle(s, below) > LEAST_SIGMAS * lower_sigma(s, below);
}

/* Few values tell no scale; but then a spacing that dwarfs all on either side of it is plain. */
static bool plain(const struct sorted *s, size_t below)
{
	double spacing = s->x[below] - s->x[below - 1];
	double lower = s->x[below - 1] - s->x[0], upper = s->x[s->n - 1] - s->x[below];
	double share = (double)(s->n - below) / (double)s->n;
	bool bands = share >= LEAST_BAND && share <= 1 - LEAST_BAND;
	return spacing > (bands ? PLAIN_BANDS : PLAIN) * fmax(lower, upper) && lower > 0;
}

/* Of a main mass that is dwarfed it does not matter how far what is beyond spreads. */
static bool dwarfed(const struct sorted *s, size_t below)
{
	double lower = s->x[below - 1] - s->x[0], spacing = s->x[below] - s->x[below - 1];
	return below >= DWARFED_LEAST && (double)(s->n - below) >= LEAST_BAND * (double)s->n &&
	       lower > 0 && spacing > DWARFED * lower;
}

/* The main mass: what is below the lowest break that leaves a minority beyond. */
static size_t main_mass(const struct sorted *s)
{
	size_t first = (size_t)ceil((double)s->n * LEAST_SHARE);
	for (size_t below = first > 4 ? first : 4; below < s->n; below++) {
		double limit = threshold(s->n - below, neighbours(below));
		if (plain(s, below) || dwarfed(s, below) ||
		    (far(s, below, limit) && far_in_logarithms(s, below, limit)))
			return below;
	}
	return s->n;
}

/* A band below the larger part. */
static size_t low_band(const struct sorted *s)
{
	size_t end = (size_t)ceil((double)s->n * LEAST_SHARE);
	for (size_t below = (size_t)ceil((double)s->n * LEAST_BAND); below < end; below++)
		if (below >= 2 &&
		    (plain(s, below) || far(s, below, threshold(s->n - below, neighbours(below)))))
			return below;
	return 0;
}

void sedona_find_breaks(const double *x, size_t n, struct sedona_breaks *out)
{
	struct sorted s;
	sorted_make(x, n, &s);
	*out = (struct sedona_breaks){ .cluster = main_mass(&s) };
	sorted_release(&s);
	sorted_make(x, out->cluster, &s);
	out->low_band = low_band(&s);
	/* of few values the quantile may be far too small */
	out->sigma = lower_sigma(&s, s.n) * (1 + FEW / (double)s.n);
	sorted_release(&s);
}
