/* Do slow samples come at even distances? Few of them do not come closely after each other by
 * chance, too, so that the corner alone tells nothing; but chance does not make distances alike. */
#include <math.h>

#include "protocol/sedona/private.h"

#define LEAST_PLACES 4
#define MOST_PLACES 64 /* more show in the corner, and their counts would not fit a double */
#define MOST_TOTAL 4096

struct ways {
	size_t total;	       /* places there are */
	double *sums, *longer; /* [d]: ways to come so far with the gaps so far */
};

/* Of setting `gaps` + 1 marks with every gap from low to high. */
static double count_ways(struct ways *w, size_t gaps, size_t low, size_t high)
{
	for (size_t d = 0; d < w->total; d++)
		w->sums[d] = d == 0;
	for (size_t g = 0; g < gaps; g++) {
		double sum = 0; /* over those from which one gap leads to d */
		for (size_t d = 0; d < w->total; d++) {
			if (d >= low)
				sum += w->sums[d - low];
			if (d > high)
				sum -= w->sums[d - high - 1];
			w->longer[d] = sum > 0 ? sum : 0;
		}
		double *swap = w->sums;
		w->sums = w->longer;
		w->longer = swap;
	}
	double ways = 0;
	for (size_t d = 0; d < w->total; d++)
		ways += w->sums[d] * (double)(w->total - d);
	return ways;
}

static double log_choose(double n, double k)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

double sedona_p_even(const uint32_t *numbers, size_t count, size_t total)
{
	size_t marks = 0, shortest = SIZE_MAX, longest = 0, last = 0, taken = 0;
	if (count < LEAST_PLACES || count > MOST_PLACES || total > MOST_TOTAL)
		return 1;
	/* a row of samples is one place: what disturbed one reached into the next */
	for (size_t i = 0; i < count; i++) {
		if (i && numbers[i] == numbers[i - 1] + 1) {
			taken++;
			continue;
		}
		size_t at = numbers[i] - taken;
		if (marks++) {
			shortest = at - last < shortest ? at - last : shortest;
			longest = at - last > longest ? at - last : longest;
		}
		last = at;
	}
	total -= taken;
	if (marks < LEAST_PLACES || (longest - shortest) * marks > total)
		return 1;
	struct ways w = { total, xcalloc(total, sizeof *w.sums), xcalloc(total, sizeof *w.longer) };
	double ways = 0, n = (double)total, k = (double)marks;
	size_t differ = longest - shortest;
	/* by their shortest gap; where rows were made one, none are neighbours */
	for (size_t low = taken ? 2 : 1; low * (marks - 1) < total; low++) {
		ways += count_ways(&w, marks - 1, low, low + differ);
		if (differ)
			ways -= count_ways(&w, marks - 1, low + 1, low + differ);
	}
	xfree(w.sums);
	xfree(w.longer);
	if (!(ways > 0))
		return 1;
	return fmin(1, exp(log(ways) - (taken ? log_choose(n - k + 1, k) : log_choose(n, k))));
}
