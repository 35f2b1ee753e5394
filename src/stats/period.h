/* Finds a period in the times of events. */
#ifndef TARE_STATS_PERIOD_H
#define TARE_STATS_PERIOD_H

#include <stdbool.h>
#include <stddef.h>

struct period {
	bool found;
	double period;	 /* in the unit of the times */
	double phase;	 /* 0 <= phase < period: events are expected at phase + k period */
	double strength; /* mean resultant length, 0 to 1 */
	double p;	 /* that times without a period reach this strength in the search */
};

/* Searches near each of `nominal` (periods), within `tolerance` (a share, such as 2e-4), for the
 * one that fits the ascending times best: Rayleigh's test, with p corrected for all periods tried.
 * found: p < alpha. Among a period and its fractions, which fit equally well, the longest is
 * taken. */
void period_fit(const double *times, size_t n, const double *nominal, size_t nominal_count,
		double tolerance, double alpha, struct period *out);

/* The phase of a period, 0 <= phase < period: the mean direction of the times. */
double period_phase(const double *times, size_t n, double period);

/* The distance of t from the nearest expected event: -period/2 to period/2. */
double period_distance(const struct period *p, double t);

#endif
