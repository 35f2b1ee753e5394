/* Rounds made by hand for the jitter analyser, and what must hold of whatever it makes of them. */
#ifndef TARE_TESTS_JITTER_SCENE_H
#define TARE_TESTS_JITTER_SCENE_H

#include "protocol/jitter/jitter.h"

#define LOOP 100 /* tid */

/* One CPU, one round at a time. */
struct scene {
	struct detour_round round;
	detour_list detours;
	struct trace trace; /* events and names */
	struct noise noise;
	struct jitter *jitter;
};

/* Names: irq 1 to 9 are "irq1"..., softirq 1 to 9 "softirq:s1"..., work 1 to 9 "work:w1"... */
void scene_init(struct scene *s);
void scene_release(struct scene *s);

void scene_detour(struct scene *s, uint64_t begin_ns, uint64_t end_ns);
struct trace_event *scene_event(struct scene *s, uint64_t at_ns, enum trace_kind kind, uint32_t a,
				uint32_t b);
void scene_irq(struct scene *s, uint64_t begin_ns, uint64_t end_ns, uint32_t number);
void scene_softirq(struct scene *s, uint64_t begin_ns, uint64_t end_ns, uint32_t number);
void scene_switch(struct scene *s, uint64_t at_ns, int32_t from, int32_t to, const char *comm);
/* Analyses what is there as one round, 1 s long, and empties it. */
void scene_play(struct scene *s);

/* NULL where there is none. */
const struct noise_source *scene_source(const struct noise_cpu *c, enum noise_class class,
					const char *name);
const struct noise_combination *scene_combination(const struct noise_cpu *c, const char *name);

/* Sums that must agree, per CPU and over the parts: NULL when they do, else which does not. */
const char *noise_sums_wrong(const struct noise *n);

#endif
