#include "protocol/doctor/speed.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"

#define WINDOW_NS 100000000u
#define FEWEST 10 /* windows */
#define CLOCK_STEADY 0.03
#define CORE_STEADY 0.05
#define LOADS_STEADY 0.25 /* what is in a shared cache changes by itself */

const char *const speed_grade_names[SPEED_GRADES] = { "unknown", "steady", "shared", "throttled" };

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return ORDER(x, y);
}

struct speed_figures speed_figures_of(double *means, size_t count)
{
	struct speed_figures f = { NAN, NAN, NAN, NAN };
	if (!count)
		return f;
	qsort(means, count, sizeof *means, by_size);
	f.best = means[(count - 1) / 20];
	f.median = means[(count - 1) / 2];
	f.worst = means[(count - 1) - (count - 1) / 20];
	f.varied = f.worst / f.best - 1;
	return f;
}

static enum speed_grade grade_of(const struct speed_cpu *c)
{
	if (c->windows < FEWEST)
		return SPEED_GRADE_UNKNOWN;
	/* a sibling slows a chain down a little as well, but others by more */
	double chain = c->of[SPEED_CHAIN].varied, ports = c->of[SPEED_PORTS].varied;
	if (chain > CLOCK_STEADY && chain > ports / 2)
		return SPEED_GRADE_THROTTLED;
	if (chain > CLOCK_STEADY || ports > CORE_STEADY ||
	    c->of[SPEED_TURNS].varied > CORE_STEADY || c->of[SPEED_LOADS].varied > LOADS_STEADY)
		return SPEED_GRADE_SHARED;
	return SPEED_GRADE_STEADY;
}

void speed_judge(struct speed_sample *samples, size_t count, struct speed_cpu *out)
{
	uint32_t cpu = out->cpu;
	double *means[SPEED_KINDS];
	*out = (struct speed_cpu){ .cpu = cpu };
	for (size_t k = 0; k < SPEED_KINDS; k++)
		means[k] = xcalloc(count, sizeof *means[k]);
	for (size_t i = 0, end; i < count; i = end) {
		struct speed_means m;
		for (end = i; end < count && samples[end].at_ns - samples[i].at_ns < WINDOW_NS;)
			end++;
		speed_mean(&samples[i], end - i, &m);
		out->probes += (uint64_t)m.used;
		out->left_out += (uint64_t)m.left_out;
		for (size_t k = 0; k < SPEED_KINDS && m.used; k++)
			means[k][out->windows] = m.ns[k];
		out->windows += m.used > 0;
	}
	for (size_t k = 0; k < SPEED_KINDS; k++) {
		out->of[k] = speed_figures_of(means[k], out->windows);
		xfree(means[k]);
	}
	out->grade = grade_of(out);
}

enum speed_grade speed_grade_of(const struct speed_cpu *cpus, size_t count)
{
	enum speed_grade worst = SPEED_GRADE_UNKNOWN;
	for (size_t i = 0; i < count; i++)
		worst = cpus[i].grade > worst ? cpus[i].grade : worst;
	return worst;
}

const char *speed_advice(enum speed_grade grade)
{
	static const char *const advice[SPEED_GRADES] = {
		[SPEED_GRADE_UNKNOWN] = "Watch for longer: too few probes came through.",
		[SPEED_GRADE_STEADY] = "Times of programs can be compared one after the other.",
		[SPEED_GRADE_SHARED] =
			"Compare programs with 'tare duet', or with 'tare time --order interleaved': "
			"others share these cores, and process time varies with them.",
		[SPEED_GRADE_THROTTLED] =
			"Fix the clock if you may ('tare quiet -- COMMAND'), or compare with 'tare "
			"duet': process time varies with it.",
	};
	return advice[grade];
}
