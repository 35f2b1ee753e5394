#include "stats/period.h"

#include <gsl/gsl_sort.h>
#include <math.h>

#include "base/array.h"

#define TURN 6.283185307179586
/* Over fewer periods than this even times at random are not spread evenly over the phase. */
#define LEAST_PERIODS 20
/* A longer period than the best "fits as well" with this share of its strength. */
#define AS_WELL 0.9
#define NARROWINGS 5
#define DEAD_SHARE 0.1 /* of a period: what follows sooner is of the same burst */
#define LEAST_TIMES 3
/* Of a grid: what would need more, many minutes of times, is not searched. */
#define MOST_STEPS 1000

struct wave {
	double c, s; /* sums of cos and sin */
};

/* Times are counted from `origin`, the middle of the span: with it a wrong frequency costs the
 * least. */
static struct wave wave_at(const double *times, size_t n, double origin, double frequency)
{
	struct wave w = { 0, 0 };
	for (size_t i = 0; i < n; i++) {
		double turns = (times[i] - origin) * frequency;
		double angle = (turns - floor(turns)) * TURN;
		w.c += cos(angle);
		w.s += sin(angle);
	}
	return w;
}

static double strength_at(const double *times, size_t n, double origin, double frequency)
{
	struct wave w = wave_at(times, n, origin, frequency);
	return sqrt(w.c * w.c + w.s * w.s) / (double)n;
}

struct fit {
	double frequency, strength;
	size_t n; /* times it rests on */
};

/* The strongest of a grid, then halved in on. *tried grows by the points of the grid, of which
 * there are two for each that is independent. */
static struct fit search(const double *times, size_t n, double nominal, double tolerance,
			 size_t *tried)
{
	double span = times[n - 1] - times[0], origin = times[0] + span / 2;
	double low = 1 / (nominal * (1 + tolerance)), high = 1 / (nominal * (1 - tolerance));
	/* half a step off is an eighth of a turn at each end of the span */
	double wanted = ceil((high - low) * span * 2) + 1;
	if (!(wanted <= MOST_STEPS))
		return (struct fit){ 0, 0, 0 };
	size_t steps = (size_t)wanted;
	double step = (high - low) / (double)steps;
	struct fit best = { 0, -1, n };
	for (size_t i = 0; i <= steps; i++) {
		double f = low + step * (double)i, strength = strength_at(times, n, origin, f);
		if (strength > best.strength)
			best = (struct fit){ f, strength, n };
	}
	*tried += steps + 1;
	for (double by = step / 2; by * span > 1. / 64; by /= 2)
		for (int side = -1; side <= 1; side += 2) {
			double f = best.frequency + side * by;
			if (f < low || f > high)
				continue;
			double strength = strength_at(times, n, origin, f);
			if (strength > best.strength)
				best = (struct fit){ f, strength, n };
		}
	return best;
}

/* Rayleigh's mean direction is pulled about by every time that is not of the comb. A straight line
 * through the distances of those that are near it, in a window that narrows to them, is not.
 * phase is relative to origin. */
static void narrow(const double *times, size_t n, double origin, double *period, double *phase)
{
	double window = *period / 8, *sizes = xcalloc(n, sizeof *sizes);
	for (int turn = 0; turn < NARROWINGS; turn++) {
		double sum = 0, cycles = 0, squares = 0, products = 0;
		size_t near = 0;
		for (size_t i = 0; i < n; i++) {
			double from = times[i] - origin - *phase, cycle = round(from / *period);
			double distance = from - cycle * *period;
			if (fabs(distance) > window)
				continue;
			sizes[near++] = distance;
			sum += distance;
			cycles += cycle;
			squares += cycle * cycle;
			products += cycle * distance;
		}
		if (near < 3)
			break;
		double count = (double)near, spread = squares - cycles * cycles / count;
		double slope = spread > 0 ? (products - cycles * sum / count) / spread : 0;
		*phase += sum / count - slope * cycles / count;
		*period += slope;
		double middle = sum / count;
		for (size_t i = 0; i < near; i++)
			sizes[i] = fabs(sizes[i] - middle);
		gsl_sort(sizes, 1, near);
		window = fmin(window, fmax(4 * 1.4826 * sizes[near / 2], window / 4));
	}
	xfree(sizes);
}

void period_fit(const double *times, size_t n, const double *nominal, size_t nominal_count,
		double tolerance, double alpha, struct period *out)
{
	*out = (struct period){ .p = 1 };
	if (n < LEAST_TIMES)
		return;
	double span = times[n - 1] - times[0], origin = times[0] + span / 2;
	size_t tried = 0, taken = nominal_count;
	struct fit *fits = xcalloc(nominal_count, sizeof *fits);
	double best = 0, *apart = xcalloc(n, sizeof *apart);
	for (size_t i = 0; i < nominal_count; i++) {
		/* times that follow each other closely are one event: a burst is no period */
		size_t kept = 0;
		for (size_t k = 0; k < n; k++)
			if (!kept || times[k] - apart[kept - 1] >= DEAD_SHARE * nominal[i])
				apart[kept++] = times[k];
		if (span < LEAST_PERIODS * nominal[i] || kept < LEAST_TIMES)
			continue;
		fits[i] = search(apart, kept, nominal[i], tolerance, &tried);
		best = fmax(best, fits[i].strength);
	}
	xfree(apart);
	for (size_t i = 0; i < nominal_count; i++)
		if (fits[i].frequency > 0 && fits[i].strength >= AS_WELL * best &&
		    (taken == nominal_count || fits[i].frequency < fits[taken].frequency))
			taken = i;
	if (taken < nominal_count) {
		struct fit fit = fits[taken];
		/* Zar, "Biostatistical Analysis", 27.1: good for few times, too */
		double count = (double)fit.n, length = count * fit.strength;
		double rayleigh = exp(sqrt(1 + 4 * count + 4 * (count * count - length * length)) -
				      (1 + 2 * count));
		double once = fmin(rayleigh, 1);
		out->strength = fit.strength;
		out->p = once < 1 ? -expm1((double)tried * log1p(-once)) : 1;
		out->found = out->p < alpha;
		struct wave w = wave_at(times, n, origin, fit.frequency);
		double period = 1 / fit.frequency, phase = atan2(w.s, w.c) / TURN * period;
		if (out->found)
			narrow(times, n, origin, &period, &phase);
		out->period = period;
		out->phase = fmod(origin + phase, period);
		if (out->phase < 0)
			out->phase += period;
		if (out->phase >= period)
			out->phase = 0;
	}
	xfree(fits);
}

double period_phase(const double *times, size_t n, double period)
{
	struct wave w = wave_at(times, n, 0, 1 / period);
	double phase = atan2(w.s, w.c) / TURN * period;
	phase += phase < 0 ? period : 0;
	return phase < period ? phase : 0;
}

double period_distance(const struct period *p, double t)
{
	return remainder(t - p->phase, p->period);
}
