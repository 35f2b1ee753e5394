#include "sedona-machine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

double machine_gaussian(struct random *r)
{
	double u = 1 - random_unit(r), v = random_unit(r);
	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static double between(struct random *r, double low, double high)
{
	return low + (high - low) * random_unit(r);
}

/* Evenly over the orders of magnitude. */
static double of_magnitudes(struct random *r, double low, double high)
{
	return low * pow(high / low, random_unit(r));
}

void machine_random(struct random *r, double least_delay, struct machine *out)
{
	*out = (struct machine){
		.samples = 10 + random_below(r, 1991),
		.length_ns = of_magnitudes(r, 1e8, 1e13),
		.noise = (enum machine_noise)random_below(r, NOISES),
		.daemon_count = random_below(r, 5),
	};
	out->sigma_ns = out->length_ns * of_magnitudes(r, 1e-5, 1e-2);
	double disturbed = between(r, 0, 0.3), weights = 0, weight[4];
	for (size_t i = 0; i < out->daemon_count; i++)
		weights += weight[i] = between(r, 0.2, 1);
	for (size_t i = 0; i < out->daemon_count; i++) {
		double period = weights / (disturbed * weight[i]);
		out->daemons[i] = (struct machine_daemon){
			.period = period,
			.phase = between(r, 0, period),
			.jitter = between(r, 0, 0.05),
			.delay = of_magnitudes(r, least_delay, 2000),
			.variation = between(r, 0, 0.2),
		};
	}
}

void machine_add(struct sedona_run *run, double et_ns)
{
	uint32_t number = (uint32_t)run->samples.count + 1;
	array_push(&run->samples,
		   (struct sedona_sample){ .number = number, .et_ns = (uint64_t)et_ns });
}

static double noise_of(const struct machine *m, struct random *r)
{
	double z = machine_gaussian(r), relative = m->sigma_ns / m->length_ns;
	switch (m->noise) {
	case NOISE_LOGNORMAL:
		return m->length_ns * (exp(relative * z) - 1);
	default:
		return m->sigma_ns * z;
	}
}

void machine_run(const struct machine *m, struct random *r, struct sedona_run *out, bool *disturbed)
{
	double next[4];
	for (size_t d = 0; d < m->daemon_count; d++)
		next[d] = m->daemons[d].phase;
	for (size_t i = 0; i < m->samples; i++) {
		double et = m->length_ns + noise_of(m, r);
		disturbed[i] = false;
		for (size_t d = 0; d < m->daemon_count; d++) {
			const struct machine_daemon *daemon = &m->daemons[d];
			if (next[d] >= (double)i + 1)
				continue;
			et += daemon->delay * m->sigma_ns *
			      (1 + daemon->variation * random_unit(r));
			disturbed[i] = true;
			next[d] += daemon->period * (1 + daemon->jitter * between(r, -1, 1));
		}
		if (m->noise == NOISE_COARSE)
			et = round(et / (0.4 * m->sigma_ns)) * 0.4 * m->sigma_ns;
		machine_add(out, et);
	}
}

const struct study_daemon *daemon_named(const struct study *s, const char *name)
{
	for (size_t i = 0; i < s->daemons.count; i++)
		if (strcmp(s->daemons.items[i].name, name) == 0)
			return &s->daemons.items[i];
	fail_msg("no daemon %s", name);
	return NULL;
}
