#include "protocol/jitter/speed.h"

#include <math.h>
#include <stdlib.h>

#include "protocol/jitter/private.h"

/* The untimed work of a probe, at least: it lies before the timed work. */
#define WARM_UP_NS 1000

/* An event within a probe interrupted it. Both are by time. */
static void mark_interrupted(struct jitter_work *w)
{
	size_t event = 0;
	array_each(s, &w->speeds) {
		double ns = WARM_UP_NS;
		for (enum speed_kind k = 0; k < SPEED_KINDS; k++)
			ns += (double)s->ns[k];
		uint64_t end_ns = s->at_ns + (uint64_t)ns;
		while (event < w->event_count && w->events[event].at_ns < s->at_ns)
			event++;
		if (event < w->event_count && w->events[event].at_ns <= end_ns)
			s->flags |= SPEED_INTERRUPTED;
	}
}

void jitter_add_speeds(struct jitter_work *w, uint64_t begin_ns)
{
	const struct detour_round *r = w->round;
	struct speed_means means;
	w->speeds.count = 0;
	for (size_t i = 0; i < r->speed_count; i++)
		array_push(&w->speeds, r->speeds[i]);
	mark_interrupted(w);
	speed_mean(w->speeds.items, w->speeds.count, &means);
	array_each(s, &w->speeds)
		noise_speed_add(&w->into->speeds, jitter_sooner(s->at_ns, begin_ns), s);
}

void jitter_speed_of(const struct noise_cpu *c, struct jitter_speed *out)
{
	double *means = xcalloc(c->speeds.count + 1, sizeof *means);
	*out = (struct jitter_speed){ .most = SPEED_KINDS, .least = NAN };
	array_each(p, &c->speeds) {
		out->length_ns = p->length_ns;
		out->probes += p->probes;
		out->left_out += p->left_out;
	}
	for (enum speed_kind k = 0; k < SPEED_KINDS; k++) {
		size_t n = 0;
		array_each(p, &c->speeds)
			if (p->probes)
				means[n++] = p->ns[k];
		out->of[k] = speed_figures_of(means, n);
		/* what is in a shared cache changes by itself */
		if (n < 2 || k == SPEED_LOADS ||
		    (out->most < SPEED_KINDS && !(out->of[k].varied > out->of[out->most].varied)))
			continue;
		out->most = k;
		out->least = out->of[k].best / out->of[k].worst;
	}
	xfree(means);
}
