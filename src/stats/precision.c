#include "stats/precision.h"

#include <math.h>

#include "stats/interval.h"

#define ALPHA 0.05
#define GROWTH 1.25

void precision_begin(struct precision *p, double wanted, size_t first, size_t most)
{
	first = first > PRECISION_LEAST ? first : PRECISION_LEAST;
	*p = (struct precision){
		.wanted = wanted, .first = first, .most = most > first ? most : first, .next = first
	};
	sequential_begin(&p->levels, ALPHA);
}

/* Evenly over the looks: they follow the logarithm of n. */
static double spent_by(const struct precision *p, size_t n)
{
	double looks = floor(log((double)p->most / (double)p->first) / log(GROWTH)) + 1;
	return n >= p->most ? 1 : fmin((double)p->looks / looks, 1);
}

bool precision_reached(struct precision *p, const double *x, size_t n)
{
	if (n < p->next)
		return false;
	p->looks++;
	double level = sequential_look(&p->levels, (double)n, spent_by(p, n));
	size_t next = (size_t)ceil((double)n * GROWTH);
	p->next = n < p->most && next > p->most ? p->most : next;
	struct mean_error e;
	double mean = 0, low, high;
	for (size_t i = 0; i < n; i++)
		mean += x[i] / (double)n;
	mean_error_of(x, n, SAMPLE_IN_ORDER, &e);
	mean_interval(mean, &e, level, &low, &high);
	/* not half the width: a skewed interval reaches farther to one side */
	return mean > 0 && fmax(high - mean, mean - low) <= p->wanted * mean;
}
