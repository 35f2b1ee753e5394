/* The speed of a CPU over the time of a run of noise, in a bounded number of points. */
#include <math.h>

#include "record/noise.h"

#define X(member, ...) FACT(struct noise_speed_point, member, __VA_ARGS__)
#define WORK(kind, name, meaning_) \
	X(ns[kind], name, FIELD_REAL, meaning_, .unit = UNIT_NS, .more = "\"minimum\": 0")
const struct field noise_speed_fields[] = {
	X(begin_ns, "begin_ns", FIELD_U64, "Since the begin of the run."),
	X(length_ns, "length_ns", FIELD_U64, NULL),
	X(probes, "probes", FIELD_U64, "In these means."),
	X(left_out, "left_out", FIELD_U64, "Probes that were interrupted."),
	WORK(SPEED_CHAIN, "chain_ns",
	     "What a probe's dependent multiplications took at the mean speed: the clock. null: "
	     "all probes were left out."),
	WORK(SPEED_PORTS, "ports_ns", "Likewise its additions that fill all ports of the core."),
	WORK(SPEED_TURNS, "turns_ns", "Likewise its turns of a tight loop."),
	WORK(SPEED_LOADS, "loads_ns", "Likewise its dependent loads from 4 MiB."),
	{ 0 },
};
const struct shape noise_speed_point_shape = { "noise_speed_point", NULL, noise_speed_fields };
#undef X

/* Means are of speeds: time at half the speed counts for half the work. */
static void merge(struct noise_speed_point *into, const struct noise_speed_point *from)
{
	double had = (double)into->probes, has = (double)from->probes;
	for (enum speed_kind k = 0; k < SPEED_KINDS && from->probes; k++)
		into->ns[k] = into->probes ? (had + has) / (had / into->ns[k] + has / from->ns[k])
					   : from->ns[k];
	into->probes += from->probes;
	into->left_out += from->left_out;
}

/* Points of twice the length. */
static void coarsen(noise_speed_list *points)
{
	size_t kept = 0;
	array_each(from, points) {
		struct noise_speed_point p = *from;
		p.length_ns *= 2;
		p.begin_ns -= p.begin_ns % p.length_ns;
		if (kept && points->items[kept - 1].begin_ns == p.begin_ns)
			merge(&points->items[kept - 1], &p);
		else
			points->items[kept++] = p;
	}
	points->count = kept;
}

void noise_speed_add(noise_speed_list *points, uint64_t at_ns, const struct speed_sample *s)
{
	struct noise_speed_point one = { .ns = { NAN, NAN, NAN, NAN },
					 .probes = !s->flags,
					 .left_out = s->flags != 0 };
	for (enum speed_kind k = 0; k < SPEED_KINDS && !s->flags; k++)
		one.ns[k] = (double)s->ns[k];
	for (;;) {
		const struct noise_speed_point *last =
			points->count ? &points->items[points->count - 1] : NULL;
		one.length_ns = last ? last->length_ns : NOISE_SPEED_POINT_NS;
		one.begin_ns = at_ns - at_ns % one.length_ns;
		if (last && one.begin_ns <= last->begin_ns) {
			merge(&points->items[points->count - 1], &one);
			return;
		}
		if (points->count < NOISE_SPEED_POINTS_MAX) {
			array_push(points, one);
			return;
		}
		coarsen(points);
	}
}
