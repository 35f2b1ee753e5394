/* Simulated machines for the daemon study: what disturbed each sample is known. */
#ifndef TARE_TESTS_SEDONA_MACHINE_H
#define TARE_TESTS_SEDONA_MACHINE_H

#include "protocol/sedona/sedona.h"
#include "stats/random.h"

enum machine_noise { NOISE_GAUSSIAN, NOISE_LOGNORMAL, NOISE_COARSE, NOISES };

/* Runs every `period` samples (give or take a little), and then adds to the ET. */
struct machine_daemon {
	double period, phase, jitter; /* in samples; jitter a share of the period */
	double delay, variation;      /* in sigmas; variation a share of the delay */
};

struct machine {
	size_t samples;
	double length_ns, sigma_ns;
	enum machine_noise noise;
	struct machine_daemon daemons[4];
	size_t daemon_count;
};

double machine_gaussian(struct random *r);
/* Any machine that the study must understand; its daemons delay by least_delay sigmas or more. */
void machine_random(struct random *r, double least_delay, struct machine *out);
/* Its samples; disturbed (one per sample) says which a daemon ran in. */
void machine_run(const struct machine *m, struct random *r, struct sedona_run *out,
		 bool *disturbed);
void machine_add(struct sedona_run *run, double et_ns);

/* The test fails where there is none. */
const struct study_daemon *daemon_named(const struct study *s, const char *name);

#endif
