/* The speed of the watched CPUs over the time of a run of noise. */
#ifndef TARE_PROTOCOL_JITTER_SPEED_H
#define TARE_PROTOCOL_JITTER_SPEED_H

#include "protocol/doctor/speed.h"
#include "record/noise.h"

struct jitter_speed {
	uint64_t length_ns; /* of a point; 0: the speed was not watched */
	uint64_t probes, left_out;
	struct speed_figures of[SPEED_KINDS]; /* over the points; NaN: not seen */
	/* Of the kinds that the core alone decides, the one that varied most; SPEED_KINDS: none. */
	enum speed_kind most;
	double least; /* its speed at the worst, as a share of its best; NaN: fewer than 2 points */
};
void jitter_speed_of(const struct noise_cpu *c, struct jitter_speed *out);

#endif
