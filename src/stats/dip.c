#include "stats/dip.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"

/* After Hartigan & Hartigan 1985, "The dip test of unimodality", Ann. Stat. 13, 70-84, section 5.
 * Heights are counts: the empirical distribution steps from i to i+1 at x[i], so a hull through
 * (x[i], i) is right for the convex minorant and is one too low for the concave majorant. The dip
 * is half the largest difference, over n. */
struct hull {
	size_t *next;  /* of each point, the one it is joined to: minorant down, majorant up */
	size_t *knots; /* of the present interval, ascending */
	size_t count;
};

struct search {
	const double *x;
	struct hull minorant, majorant;
	size_t low, high; /* the present interval holds the mode */
};

/* Whether the way from a over b to c bends upwards, strictly. */
static bool bends_up(const double *x, size_t a, size_t b, size_t c)
{
	return (double)(b - a) * (x[c] - x[b]) < (double)(c - b) * (x[b] - x[a]);
}

static bool bends_down(const double *x, size_t a, size_t b, size_t c)
{
	return (double)(b - a) * (x[c] - x[b]) > (double)(c - b) * (x[b] - x[a]);
}

static void join(const double *x, size_t n, size_t *down, size_t *up)
{
	down[0] = 0;
	for (size_t j = 1; j < n; j++) {
		down[j] = j - 1;
		while (down[j] && !bends_up(x, down[down[j]], down[j], j))
			down[j] = down[down[j]];
	}
	up[n - 1] = n - 1;
	for (size_t j = n - 1; j-- > 0;) {
		up[j] = j + 1;
		while (up[j] < n - 1 && !bends_down(x, j, up[j], up[up[j]]))
			up[j] = up[up[j]];
	}
}

static void take_knots(struct search *s)
{
	struct hull *g = &s->minorant, *c = &s->majorant;
	g->count = c->count = 0;
	for (size_t k = s->high; k > s->low; k = g->next[k])
		g->knots[g->count++] = k;
	g->knots[g->count++] = s->low;
	for (size_t i = 0; i < g->count / 2; i++) {
		size_t swap = g->knots[i];
		g->knots[i] = g->knots[g->count - 1 - i];
		g->knots[g->count - 1 - i] = swap;
	}
	for (size_t k = s->low; k < s->high; k = c->next[k])
		c->knots[c->count++] = k;
	c->knots[c->count++] = s->high;
}

/* Height above point a of the straight line from a to b, at point k between them. */
static double rise(const double *x, size_t a, size_t b, size_t k)
{
	double width = x[b] - x[a];
	return width > 0 ? (double)(b - a) * ((x[k] - x[a]) / width) : 0;
}

/* The largest distance of the two hulls. It is at a knot of one of them; *from and *to become the
 * places, among the minorant's and the majorant's knots, of the narrowest interval around it. */
static double widest(const struct search *s, size_t *from, size_t *to)
{
	const size_t *g = s->minorant.knots, *c = s->majorant.knots;
	size_t i = 1, j = 1;
	double most = 1;
	*from = 0;
	*to = s->majorant.count - 1;
	while (i < s->minorant.count && j < s->majorant.count) {
		double gap;
		size_t at_from, at_to;
		if (g[i] > c[j]) {
			gap = (double)(c[j] + 1 - g[i - 1]) - rise(s->x, g[i - 1], g[i], c[j]);
			at_from = i - 1;
			at_to = j++;
		} else {
			gap = rise(s->x, c[j - 1], c[j], g[i]) + 1 - (double)(g[i] - c[j - 1]);
			at_to = j;
			at_from = i++;
		}
		if (gap >= most && at_from + 1 < s->minorant.count && at_to > 0) {
			most = gap;
			*from = at_from;
			*to = at_to;
		}
	}
	return most;
}

/* How far the steps stand out from the hull between two of its knots. */
static double departure(const struct search *s, const struct hull *h, size_t first, size_t last)
{
	bool below = h == &s->minorant;
	double most = 1;
	for (size_t j = first; j < last; j++) {
		size_t a = h->knots[j], b = h->knots[j + 1];
		if (s->x[b] <= s->x[a])
			continue;
		for (size_t k = a; k <= b; k++) {
			double line = rise(s->x, a, b, k), height = (double)(k - a);
			most = fmax(most, below ? height + 1 - line : line + 1 - height);
		}
	}
	return most;
}

static double dip_of_sorted(const double *x, size_t n)
{
	if (x[n - 1] <= x[0])
		return 0.5 / (double)n;
	size_t *memory = xmalloc(4 * n * sizeof *memory);
	struct search s = {
		x, { memory, memory + 2 * n, 0 }, { memory + n, memory + 3 * n, 0 }, 0, n - 1
	};
	join(x, n, s.minorant.next, s.majorant.next);
	double dip = 1;
	for (;;) {
		size_t from, to;
		take_knots(&s);
		if (widest(&s, &from, &to) <= dip)
			break;
		dip = fmax(dip, departure(&s, &s.minorant, 0, from));
		dip = fmax(dip, departure(&s, &s.majorant, to, s.majorant.count - 1));
		size_t low = s.minorant.knots[from], high = s.majorant.knots[to];
		if (low == s.low && high == s.high)
			break;
		s.low = low;
		s.high = high;
	}
	xfree(memory);
	return dip / (2 * (double)n);
}

/* sqrt(n) dip of uniform samples, exceeded with these probabilities: simulated with this code,
 * 400,000 samples per row (200,000 from 500 on, 50,000 at 2,000). Interpolated between rows and
 * columns as in Maechler's diptest. */
#define LEVELS 9
static const double levels[LEVELS] = { .5, .2, .1, .05, .02, .01, .005, .002, .001 };
static const struct {
	double n, exceeded[LEVELS];
} quantiles[] = {
	{ 4, { .2500, .3152, .3750, .4147, .4477, .4635, .4751, .4846, .4891 } },
	{ 5, { .2722, .3603, .3953, .4166, .4326, .4394, .4432, .4456, .4464 } },
	{ 6, { .3018, .3660, .3897, .4036, .4393, .4708, .4958, .5228, .5372 } },
	{ 7, { .3116, .3616, .3822, .4235, .4643, .4870, .5056, .5243, .5353 } },
	{ 8, { .3140, .3549, .4010, .4357, .4697, .4898, .5054, .5252, .5468 } },
	{ 9, { .3124, .3686, .4089, .4391, .4704, .4917, .5172, .5468, .5639 } },
	{ 10, { .3092, .3755, .4125, .4414, .4763, .5037, .5277, .5531, .5710 } },
	{ 12, { .3155, .3812, .4162, .4506, .4902, .5151, .5374, .5666, .5870 } },
	{ 15, { .3237, .3858, .4263, .4598, .4996, .5266, .5511, .5810, .6015 } },
	{ 20, { .3278, .3951, .4347, .4700, .5114, .5400, .5661, .5964, .6174 } },
	{ 30, { .3367, .4051, .4464, .4829, .5262, .5570, .5849, .6177, .6403 } },
	{ 50, { .3455, .4159, .4587, .4966, .5417, .5725, .6018, .6376, .6626 } },
	{ 70, { .3505, .4218, .4652, .5044, .5501, .5830, .6122, .6504, .6744 } },
	{ 100, { .3549, .4270, .4710, .5108, .5582, .5906, .6224, .6598, .6871 } },
	{ 200, { .3618, .4354, .4804, .5208, .5688, .6024, .6341, .6717, .6985 } },
	{ 500, { .3686, .4435, .4895, .5303, .5802, .6134, .6470, .6842, .7128 } },
	{ 1000, { .3710, .4469, .4931, .5342, .5848, .6183, .6515, .6946, .7244 } },
	{ 2000, { .3737, .4491, .4963, .5365, .5874, .6217, .6547, .6945, .7287 } },
};
#define ROWS (sizeof quantiles / sizeof *quantiles)

static double dip_p(double dip, double n)
{
	size_t row = 0;
	while (row + 2 < ROWS && quantiles[row + 1].n < n)
		row++;
	double from = quantiles[row].n, to = quantiles[row + 1].n;
	double part = fmin(1, log(n / from) / log(to / from));
	double scaled = sqrt(n) * dip, q = 0.5 / sqrt(n), p = 1;
	for (size_t k = 0; k < LEVELS; k++) {
		double a = quantiles[row].exceeded[k], b = quantiles[row + 1].exceeded[k];
		double next = a + part * (b - a);
		if (scaled <= q)
			return p;
		if (scaled < next)
			return p + (levels[k] - p) * (scaled - q) / (next - q);
		q = next;
		p = levels[k];
	}
	return p;
}

static double *sorted_copy(const double *x, size_t n)
{
	double *sorted = xmalloc(n * sizeof *sorted);
	memcpy(sorted, x, n * sizeof *sorted);
	gsl_sort(sorted, 1, n);
	return sorted;
}

void dip_test(const double *x, size_t n, struct dip *out)
{
	*out = (struct dip){ .dip = n ? 0.5 / (double)n : 0, .p = 1 };
	if (n < 4)
		return;
	double *sorted = sorted_copy(x, n);
	out->dip = dip_of_sorted(sorted, n);
	out->p = dip_p(out->dip, (double)n);
	xfree(sorted);
}

/* The cut with the largest n_low n_high (mean_high - mean_low)^2: Otsu 1979, exact in one dimension
 * since groups of least variance do not interleave (Fisher 1958, JASA 53, 789-798). */
void two_groups(const double *x, size_t n, struct groups *out)
{
	*out = (struct groups){ .n_low = n };
	if (!n)
		return;
	double mean = gsl_stats_mean(x, 1, n), below = 0, best = 0;
	out->mean_low = mean;
	double *sorted = sorted_copy(x, n);
	for (size_t i = 1; i < n; i++) {
		/* about the mean, so that the two sums are each other's negative */
		below += sorted[i - 1] - mean;
		double low = below / (double)i, high = -below / (double)(n - i);
		double between = (double)i * (double)(n - i) * (high - low) * (high - low);
		if (sorted[i] > sorted[i - 1] && between > best) {
			best = between;
			*out = (struct groups){ i, n - i, mean + low, mean + high };
		}
	}
	xfree(sorted);
}
