/* Is there a period in the times of events? */
#ifndef TARE_STATS_PERIOD_H
#define TARE_STATS_PERIOD_H

#include <stdbool.h>
#include <stddef.h>

struct period {
	bool found;
	double period;	 /* in the unit of the times */
	double phase;	 /* 0 <= phase < period: events are expected at phase + k period */
	double strength; /* mean resultant length, 0 to 1 */
	double p; /* that times without a period reach this strength somewhere in the search */
};

/* Looks near each of `nominal` (periods), up to `tolerance` (a share, such as 2e-4) off, for the
 * one that the times (ascending) fit best: Rayleigh's test, its p corrected for all periods tried.
 * found: p < alpha. Of a period and its fractions, which fit as well, the longest is taken. */
void period_fit(const double *times, size_t n, const double *nominal, size_t nominal_count,
		double tolerance, double alpha, struct period *out);

/* Where the events of a period lie, 0 <= phase < period: the mean direction of the times. */
double period_phase(const double *times, size_t n, double period);

/* How far t is from the nearest expected event: -period/2 to period/2. */
double period_distance(const struct period *p, double t);

#endif
