#include "stats/interval.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/array.h"

/* The constants were chosen by simulation (docs/decisions/029). */
#define SEEN_FROM 8	  /* below, dependence cannot be seen */
#define CORRECTED_FROM 10 /* below, the corrections for small n stay those of ten */
#define BIAS 4.0	  /* the estimate of dependence is too small by about 4 / n of it */
#define CAUTION 2.2	  /* times sqrt(1 - dependence^2) / n, added to it */
#define DEPENDENCE_MIN (-0.3)
#define DEPENDENCE_MAX 0.99
#define LEAST_BLOCKS 16	  /* that a variance is taken from */
#define BLOCKS_MATTER 3.0 /* divided by sqrt(blocks): how much more variance convinces */
#define SKEW_USED 0.6	  /* of the sample's skewness */
#define SKEW_MOST 0.5	  /* of skewness times t / sqrt(n) */
#define KERNEL_WIDTH 0.86 /* times n^(-1/3) sigma: the width of what counts as near a bound */
/* (1 - p) d > 2 d sqrt(p (1 - p)): so far from the mean is a group with a share below p */
#define KEPT_FROM 0.2
/* If rule II would keep the group with at least this probability, no interval is given. */
#define MAY_BE_KEPT 0.025
#define ONE_MAY_BE_KEPT 0.1 /* for a single value; up to 14 values reach it */
#define ONE_NEARBY 0.2	    /* of the mean; a value farther away is taken for a disturbance */
#define EFFECTIVE_WANTED 10.0
#define NEEDED_DEPENDENCE_MAX 0.9 /* a handful cannot tell 0.9 from 0.99 */

/* A first-order autoregression, fitted to n values. */
struct fit {
	double dependence; /* corrected for bias */
	double cautious;   /* the one that is used */
	double variance;   /* n times the squared standard error of the mean */
	double effective;
};

static void fit(const double *x, size_t n, struct fit *out)
{
	double mean = 0, squares = 0, steps = 0, size = (double)n;
	for (size_t i = 0; i < n; i++)
		mean += x[i] / size;
	for (size_t i = 0; i < n; i++) {
		squares += (x[i] - mean) * (x[i] - mean);
		if (i)
			steps += (x[i] - x[i - 1]) * (x[i] - x[i - 1]);
	}
	*out = (struct fit){ .effective = size };
	if (!(squares > 0))
		return;
	if (n >= SEEN_FROM) {
		/* von Neumann's ratio: 0 on average for independent values, whatever n is */
		double ratio = 1 - steps / (2 * squares);
		double corrected = fmax(size, CORRECTED_FROM);
		double r = fmin(fmax(ratio / (1 - BIAS / corrected), -0.98), 0.98);
		out->dependence = r;
		out->cautious =
			fmin(fmax(r + CAUTION * sqrt(1 - r * r) / corrected, DEPENDENCE_MIN),
			     DEPENDENCE_MAX);
	}
	double r = out->cautious, rest = 1 - r;
	/* of the mean of n values, in units of that of independent ones */
	double inflation = (1 + r) / rest - 2 * r * (1 - pow(r, size)) / (size * rest * rest);
	/* the sample's own variance is too small by what its mean has followed */
	out->variance = squares / fmax(size - inflation, 0.5) * inflation;
	out->effective = fmin(size, size * rest / (1 + r));
}

/* A slow wave beneath much fast noise looks nearly independent from one value to the next. Its
 * variance shows in the means of blocks: Flyvbjerg & Petersen 1989, J. Chem. Phys. 91, 461. */
static void ask_blocks(const double *x, size_t n, double variance_of_one, struct fit *f)
{
	double *blocks = xmalloc(n / 2 * sizeof *blocks);
	for (size_t size = 2; n / size >= LEAST_BLOCKS; size *= 2) {
		size_t count = n / size, skipped = n - count * size;
		for (size_t i = 0; i < count; i++) {
			blocks[i] = 0;
			for (size_t j = 0; j < size; j++)
				blocks[i] += x[skipped + i * size + j] / (double)size;
		}
		struct fit b;
		fit(blocks, count, &b);
		b.variance *= (double)size;
		if (b.variance <= f->variance * (1 + BLOCKS_MATTER / sqrt((double)count)))
			continue;
		f->variance = b.variance;
		f->effective = fmin(f->effective,
				    fmin(b.effective, (double)n * variance_of_one / b.variance));
	}
	xfree(blocks);
}

void mean_error_of(const double *x, size_t n, enum sample_order order, struct mean_error *out)
{
	double mean = 0, squares = 0, cubes = 0, size = (double)n;
	bool differ = false;
	*out = (struct mean_error){ .effective = size, .df = n > 1 ? size - 1 : 0 };
	for (size_t i = 0; i < n; i++) {
		mean += x[i] / size;
		differ = differ || x[i] != x[0];
	}
	if (!differ) /* else what is left of rounding would be judged */
		return;
	for (size_t i = 0; i < n; i++) {
		double d = x[i] - mean;
		squares += d * d;
		cubes += d * d * d;
	}
	if (!(squares > 0))
		return;
	double variance = squares / (size - 1);
	out->skewness = cubes / size / pow(squares / size, 1.5);
	struct fit f = { .variance = variance, .effective = size };
	if (order == SAMPLE_IN_ORDER) {
		fit(x, n, &f);
		if (n / 2 >= LEAST_BLOCKS)
			ask_blocks(x, n, variance, &f);
	}
	out->error = sqrt(f.variance / size);
	out->dependence = f.dependence;
	out->effective = f.effective;
	out->df = fmax(f.effective - 1, 1);
	out->too_few = f.effective < 1;
	if (out->too_few) {
		double r = fmin(f.dependence, NEEDED_DEPENDENCE_MAX);
		double needed = fmax(EFFECTIVE_WANTED * (1 + r) / (1 - r), 2 * size);
		double unit = pow(10, floor(log10(needed)) - 1); /* two digits: it is a guess */
		out->needed = (size_t)(ceil(needed / unit) * unit);
	}
}

/* Hall's transformation: what the t quantile becomes for skewed values (1992, JRSS B 54, 221). */
static double unskewed(double t, double skewness, double effective)
{
	double scaled = t / sqrt(effective);
	/* beyond this the expansion that it rests on says nothing */
	double most = SKEW_MOST / fmax(fabs(scaled), SKEW_MOST);
	double a = fmin(fmax(SKEW_USED * skewness, -most), most);
	if (fabs(a) < 1e-6)
		return t;
	double inner = 1 + a * (scaled - a / (6 * effective));
	return sqrt(effective) * 3 / a * (cbrt(inner) - 1);
}

void mean_interval(double mean, const struct mean_error *e, double level, double *low, double *high)
{
	*low = *high = mean;
	if (e->too_few)
		*low = *high = NAN;
	if (e->too_few || !(e->error > 0))
		return;
	double t = level > 0 ? gsl_cdf_tdist_Pinv(1 - level / 2, e->df) : INFINITY;
	if (!isfinite(t)) {
		*low = -INFINITY;
		*high = INFINITY;
		return;
	}
	*low = mean - e->error * unskewed(t, e->skewness, e->effective);
	*high = mean - e->error * unskewed(-t, e->skewness, e->effective);
}

/* How many lie near a bound, per unit, times how far x is from `from` there. */
static double at_bound(const double *judged, const double *x, size_t n, double bound, double width,
		       double from)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++) {
		double z = (judged[i] - bound) / width;
		if (fabs(z) < 6)
			sum += exp(-z * z / 2) * (x[i] - from);
	}
	return sum / ((double)n * width * sqrt(2 * M_PI));
}

void trimmed_influence(const double *judged, const double *x, size_t n, double low, double high,
		       double *out)
{
	double mean = (low + high) / 2, sigma = (high - low) / 4, size = (double)n;
	double variance = 0, kept_mean = 0, kept = 0, off = 0;
	for (size_t i = 0; i < n; i++) {
		variance += (judged[i] - mean) * (judged[i] - mean) / size;
		if (judged[i] >= low && judged[i] <= high) {
			kept_mean += x[i];
			kept++;
		}
	}
	kept_mean /= kept;
	double width = KERNEL_WIDTH * sigma / cbrt(size);
	double at_low = at_bound(judged, x, n, low, width, kept_mean);
	double at_high = at_bound(judged, x, n, high, width, kept_mean);
	for (size_t i = 0; i < n; i++) {
		double d = judged[i] - mean;
		/* how value i moves 2 sigma */
		double wider = sigma > 0 ? (d * d - variance) / sigma : 0;
		bool in = judged[i] >= low && judged[i] <= high;
		out[i] = ((in ? x[i] - kept_mean : 0) + at_high * (d + wider) -
			  at_low * (d - wider)) *
			 size / kept;
		off += out[i] / size;
	}
	for (size_t i = 0; i < n; i++)
		out[i] += kept_mean - off;
}

/* What rule II drops on one side. */
struct beyond {
	size_t count;
	double nearest, farthest; /* from the bound, away from the mean */
	double gap;		  /* between the nearest and the kept ones */
};

/* side: 1 for what is above the bound, -1 for what is below. */
static struct beyond find_beyond(const double *judged, size_t n, double bound, int side)
{
	struct beyond out = { .nearest = INFINITY, .farthest = -INFINITY };
	double kept = -INFINITY;
	for (size_t i = 0; i < n; i++) {
		double distance = side * (judged[i] - bound);
		if (distance <= 0) {
			kept = fmax(kept, distance);
			continue;
		}
		out.nearest = fmin(out.nearest, distance);
		out.farthest = fmax(out.farthest, distance);
		out.count++;
	}
	out.gap = out.nearest - kept;
	return out;
}

/* The probability that `count` of n come from a group that the rule keeps, with Jeffreys' prior. */
static double kept_probability(size_t count, size_t n)
{
	return gsl_cdf_beta_Q(KEPT_FROM, (double)count + 0.5, (double)(n - count) + 0.5);
}

bool trimming_is_undecided(const double *judged, size_t n, double low, double high)
{
	double sigma = (high - low) / 4;
	for (int side = -1; side <= 1; side += 2) {
		struct beyond b = find_beyond(judged, n, side > 0 ? high : low, side);
		if (b.count >= 2 && b.gap >= sigma && b.gap >= b.farthest - b.nearest &&
		    kept_probability(b.count, n) > MAY_BE_KEPT)
			return true;
	}
	return false;
}

bool trimmed_one_may_be_frequent(const double *judged, size_t n, double low, double high)
{
	double sigma = (high - low) / 4, mean = (low + high) / 2;
	for (int side = -1; side <= 1; side += 2) {
		double bound = side > 0 ? high : low;
		struct beyond b = find_beyond(judged, n, bound, side);
		if (b.count == 1 && b.gap >= sigma &&
		    fabs(bound + side * b.nearest - mean) <= ONE_NEARBY * mean &&
		    kept_probability(1, n) > ONE_MAY_BE_KEPT)
			return true;
	}
	return false;
}
