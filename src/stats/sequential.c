#include "stats/sequential.h"

#include <math.h>
#include <stdbool.h>

/* Where the grid ends after a look that cannot stop: 1e-15 of a normal distribution is outside. */
#define UNBOUNDED 8.0
/* Beyond this many standard deviations of a step nothing arrives. */
#define REACH 9.0
#define SQRT_2PI 2.5066282746310002

/* The least step, in spacings of the grid: below, the sums over it would no longer be integrals. */
#define LEAST_STEP 0.7

static double upper_tail(double z)
{
	return 0.5 * erfc(z / M_SQRT2);
}

void sequential_begin(struct sequential *s, double alpha)
{
	*s = (struct sequential){ .alpha = alpha };
}

static double spacing(const struct sequential *s)
{
	return 2 * s->bound / (SEQUENTIAL_POINTS - 1);
}

/* Simpson's weights, times the density */
static double mass(const struct sequential *s, size_t i)
{
	double weight = i == 0 || i == SEQUENTIAL_POINTS - 1 ? 1 : i % 2 ? 4 : 2;
	return weight * spacing(s) / 3 * s->density[i];
}

/* The probability that no look ended the path so far, and that this one finds it beyond +-bound. */
static double crossing(const struct sequential *s, double bound, double step)
{
	if (s->bound <= 0)
		return 2 * upper_tail(bound / step);
	double sum = 0;
	for (size_t i = 0; i < SEQUENTIAL_POINTS; i++) {
		double z = (bound - (-s->bound + spacing(s) * (double)i)) / step;
		if (z < REACH)
			sum += mass(s, i) * upper_tail(z);
	}
	return 2 * sum; /* the density is symmetric */
}

/* By false position on the logarithm, which is nearly straight (Dowell & Jarratt's Illinois). */
static double bound_that_crosses(const struct sequential *s, double share, double step,
				 double deviation)
{
	double low = 0, high = UNBOUNDED * deviation;
	double last = share > 0 ? crossing(s, high, step) : 1;
	if (share <= 0 || last >= share)
		return high;
	double at_low = log(crossing(s, low, step) / share);
	double at_high = log(fmax(last, 1e-300) / share);
	for (int i = 0; i < 60 && high - low > 1e-9 * deviation; i++) {
		double middle = low + (high - low) * at_low / (at_low - at_high);
		double at = log(fmax(crossing(s, middle, step), 1e-300) / share);
		if (fabs(at) < 1e-9)
			return middle;
		if (at > 0) {
			low = middle;
			at_low = at;
			at_high /= 2;
		} else {
			high = middle;
			at_high = at;
			at_low /= 2;
		}
	}
	return high;
}

/* Moves the density by one step, and cuts it at the new bound. */
static void advance(struct sequential *s, double bound, double step)
{
	struct sequential from = *s;
	double weighted[SEQUENTIAL_POINTS];
	for (size_t i = 0; i < SEQUENTIAL_POINTS; i++)
		weighted[i] = from.bound > 0 ? mass(&from, i) : 0;
	s->bound = bound;
	/* the density is symmetric */
	for (size_t i = 0; i <= SEQUENTIAL_POINTS / 2; i++) {
		double at = -bound + spacing(s) * (double)i, sum = 0;
		if (from.bound <= 0) {
			sum = exp(-at * at / (2 * step * step));
		} else {
			double width = spacing(&from);
			double first = ceil((at - REACH * step + from.bound) / width);
			double last = floor((at + REACH * step + from.bound) / width);
			size_t begin = first > 0 ? (size_t)first : 0;
			double z = (at - (-from.bound + width * (double)begin)) / step;
			/* exp(-z^2 / 2) at even distances: each is the one before times a ratio,
			 * which itself changes by a constant factor */
			double h = width / step, gauss = exp(-z * z / 2);
			double ratio = exp(z * h - h * h / 2), factor = exp(-h * h);
			for (size_t j = begin; j < SEQUENTIAL_POINTS && (double)j <= last; j++) {
				sum += weighted[j] * gauss;
				gauss *= ratio;
				ratio *= factor;
			}
		}
		s->density[i] = s->density[SEQUENTIAL_POINTS - 1 - i] = sum / (step * SQRT_2PI);
	}
}

double sequential_look(struct sequential *s, double information, double spent)
{
	double step = information > s->information ? sqrt(information - s->information) : 0;
	if (step <= LEAST_STEP * spacing(s))
		return 0;
	double deviation = sqrt(information);
	double bound =
		bound_that_crosses(s, s->alpha * (fmin(spent, 1) - s->spent), step, deviation);
	bool stops = spent > s->spent;
	advance(s, bound, step);
	s->information = information;
	if (!stops)
		return 0;
	s->spent = fmin(spent, 1);
	return 2 * upper_tail(bound / deviation);
}
