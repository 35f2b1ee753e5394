/* Looks at data that are still growing, without more error than was agreed. An interval of 95 %
 * that is looked at again and again, until it is narrow or does not contain 1, misses the truth far
 * more often than 5 % of the time. Here each look gets its own level, such that all looks together
 * miss it with probability alpha: alpha spending (Lan & DeMets 1983, Biometrika 70, 659), with the
 * boundaries from the recursion of Armitage, McPherson & Rowe (1969, JRSS A 132, 235). Intervals at
 * these levels are repeated confidence intervals (Jennison & Turnbull 1989, JRSS B 51, 305): they
 * hold whatever the reason to stop. */
#ifndef TARE_STATS_SEQUENTIAL_H
#define TARE_STATS_SEQUENTIAL_H

#include <stddef.h>

#define SEQUENTIAL_POINTS 513 /* odd, for Simpson's rule */

/* The density of the score over the paths that no look has ended yet; zeroed before the first. A
 * plain value: a copy can try what another look would give. */
struct sequential {
	double alpha;
	double information, spent; /* at the last look */
	double bound;		   /* the grid is [-bound, bound]; 0 before the first look */
	double density[SEQUENTIAL_POINTS];
};

void sequential_begin(struct sequential *s, double alpha);

/* The next look, at `information` (for example the number of observations; it must grow), by which
 * the share `spent` (0..1, not decreasing) of alpha may have been used. Returns the nominal
 * two-sided level of this look: if the interval at each look has confidence 1 - that level, all of
 * them together contain the truth with probability 1 - alpha. The level is 0, so the interval is
 * infinite, if `spent` did not grow. It is 0, too, if the information grew by less than about one
 * part in 2000 since the last look that counted: such a look is left out, and the next one may
 * spend its share. */
double sequential_look(struct sequential *s, double information, double spent);

#endif
