#include "record/noise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *noise_class_name(enum noise_class class)
{
	static const char *const names[] = {
		[NOISE_IRQ] = "irq",
		[NOISE_SOFTIRQ] = "softirq",
		[NOISE_NMI] = "nmi",
		[NOISE_THREAD] = "thread",
		[NOISE_WORK] = "work",
		[NOISE_FAULT] = "fault",
		[NOISE_THROTTLED] = "throttled",
		[NOISE_DELIVERY] = "delivery",
		[NOISE_STEAL] = "steal",
		[NOISE_HOST] = "host-periodic",
		[NOISE_UNEXPLAINED] = "unexplained",
	};
	return names[class];
}

/* ---- buckets ---- */

#define FIRST_NS 10
/* Buckets from 1 to 2, 2 to 5 and 5 to 10 of a decade, as so many per unit. */
#define LOW_PER_UNIT 50
#define MIDDLE_PER_UNIT 20
#define HIGH_PER_UNIT 10
#define MIDDLE_FIRST 50
#define HIGH_FIRST 110

unsigned noise_bucket_of(uint64_t ns)
{
	uint64_t unit = FIRST_NS;
	unsigned decade = 0;
	if (ns < FIRST_NS)
		return 0;
	for (; ns >= 10 * unit; unit *= 10)
		if (++decade == NOISE_DECADES)
			return NOISE_BUCKETS - 1;
	uint64_t in = ns < 2 * unit   ? (ns - unit) * LOW_PER_UNIT / unit
		      : ns < 5 * unit ? MIDDLE_FIRST + (ns - 2 * unit) * MIDDLE_PER_UNIT / unit
				      : HIGH_FIRST + (ns - 5 * unit) * HIGH_PER_UNIT / unit;
	return decade * NOISE_DECADE_BUCKETS + (unsigned)in;
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

uint64_t noise_bucket_low(unsigned bucket)
{
	uint64_t unit = FIRST_NS;
	if (!bucket)
		return 0;
	for (unsigned i = bucket / NOISE_DECADE_BUCKETS; i; i--)
		unit *= 10;
	uint64_t in = bucket % NOISE_DECADE_BUCKETS;
	if (in < MIDDLE_FIRST)
		return unit + divide_up(in * unit, LOW_PER_UNIT);
	if (in < HIGH_FIRST)
		return 2 * unit + divide_up((in - MIDDLE_FIRST) * unit, MIDDLE_PER_UNIT);
	return 5 * unit + divide_up((in - HIGH_FIRST) * unit, HIGH_PER_UNIT);
}

void noise_histogram_add(struct noise_histogram *h, unsigned bucket, uint64_t count, uint64_t ns)
{
	struct noise_bucket **chunk = &h->chunks[bucket / NOISE_CHUNK_BUCKETS];
	if (!*chunk)
		*chunk = xcalloc(NOISE_CHUNK_BUCKETS, sizeof **chunk);
	struct noise_bucket *b = &(*chunk)[bucket % NOISE_CHUNK_BUCKETS];
	b->count += count;
	b->ns += ns;
}

struct noise_bucket noise_histogram_at(const struct noise_histogram *h, unsigned bucket)
{
	const struct noise_bucket *chunk = h->chunks[bucket / NOISE_CHUNK_BUCKETS];
	return chunk ? chunk[bucket % NOISE_CHUNK_BUCKETS] : (struct noise_bucket){ 0 };
}

void noise_histogram_merge(struct noise_histogram *into, const struct noise_histogram *from)
{
	for (unsigned i = 0; i < NOISE_BUCKETS; i++) {
		struct noise_bucket b = noise_histogram_at(from, i);
		if (b.count)
			noise_histogram_add(into, i, b.count, b.ns);
	}
}

void noise_histogram_release(struct noise_histogram *h)
{
	for (size_t i = 0; i < NOISE_CHUNKS; i++)
		xfree(h->chunks[i]);
	memset(h, 0, sizeof *h);
}

/* ---- spreads ---- */

void noise_spread_add(struct noise_spread *s, uint64_t ns)
{
	if (!s->count || ns < s->min_ns)
		s->min_ns = ns;
	if (ns > s->max_ns)
		s->max_ns = ns;
	s->count++;
	s->ns += ns;
	s->squares += (double)ns * (double)ns;
}

void noise_spread_merge(struct noise_spread *into, const struct noise_spread *from)
{
	if (!from->count)
		return;
	if (!into->count || from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
	if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
	into->count += from->count;
	into->ns += from->ns;
	into->squares += from->squares;
}

double noise_spread_mean(const struct noise_spread *s)
{
	return s->count ? (double)s->ns / (double)s->count : 0;
}

double noise_spread_sigma(const struct noise_spread *s)
{
	if (s->count < 2)
		return 0;
	double mean = noise_spread_mean(s), variance = s->squares / (double)s->count - mean * mean;
	return variance > 0 ? sqrt(variance) : 0;
}

/* ---- sources, by an open hash of their names ---- */

#define INDEX_SIZE 2048 /* a power of two, more than twice as many as there may be */
_Static_assert(INDEX_SIZE > 2 * (NOISE_SOURCES_MAX + NOISE_CLASSES), "room in the index");
_Static_assert(INDEX_SIZE > 2 * (NOISE_COMBINATIONS_MAX + 1), "room in the index");

static unsigned hash(const char *name, unsigned seed)
{
	uint32_t h = 2166136261u ^ seed;
	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return h ^ h >> 15;
}

/* The name, or as much of it as there is room for. */
static const char *fitted(const char *name, char *cut, size_t size)
{
	if (strlen(name) < size)
		return name;
	memcpy(cut, name, size - 1);
	cut[size - 1] = '\0';
	return cut;
}

static uint16_t *slot_of_source(const struct noise_cpu *c, enum noise_class class, const char *name)
{
	for (unsigned at = hash(name, class);; at++) {
		uint16_t *slot = &c->source_index[at & (INDEX_SIZE - 1)];
		const struct noise_source *s = *slot ? &c->sources.items[*slot - 1] : NULL;
		if (!s || (s->class == class && strcmp(s->name, name) == 0))
			return slot;
	}
}

struct noise_source *noise_source_get(struct noise_cpu *c, enum noise_class class, const char *name)
{
	char cut[NOISE_NAME_SIZE];
	if (!c->source_index)
		c->source_index = xcalloc(INDEX_SIZE, sizeof *c->source_index);
	name = fitted(name, cut, sizeof cut);
	uint16_t *slot = slot_of_source(c, class, name);
	if (!*slot && c->sources.count >= NOISE_SOURCES_MAX && class < NOISE_DELIVERY) {
		name = "others";
		slot = slot_of_source(c, class, name);
	}
	if (!*slot) {
		struct noise_source s = { .class = class };
		snprintf(s.name, sizeof s.name, "%s", name);
		array_push(&c->sources, s);
		*slot = (uint16_t)c->sources.count;
	}
	return &c->sources.items[*slot - 1];
}

static uint16_t *slot_of_combination(const struct noise_cpu *c, const char *name)
{
	for (unsigned at = hash(name, 0);; at++) {
		uint16_t *slot = &c->combination_index[at & (INDEX_SIZE - 1)];
		if (!*slot || strcmp(c->combinations.items[*slot - 1].name, name) == 0)
			return slot;
	}
}

struct noise_combination *noise_combination_get(struct noise_cpu *c, const char *name)
{
	char cut[NOISE_COMBINED_SIZE];
	if (!c->combination_index)
		c->combination_index = xcalloc(INDEX_SIZE, sizeof *c->combination_index);
	name = fitted(name, cut, sizeof cut);
	uint16_t *slot = slot_of_combination(c, name);
	if (!*slot && c->combinations.count >= NOISE_COMBINATIONS_MAX) {
		name = "others";
		slot = slot_of_combination(c, name);
	}
	if (!*slot) {
		struct noise_combination x = { 0 };
		snprintf(x.name, sizeof x.name, "%s", name);
		array_push(&c->combinations, x);
		*slot = (uint16_t)c->combinations.count;
	}
	return &c->combinations.items[*slot - 1];
}

/* ---- a run ---- */

void noise_init(struct noise *n, const uint32_t *cpus, size_t count)
{
	*n = (struct noise){ .part_rounds = 1, .worst_max = NOISE_WORST_DEFAULT };
	for (size_t i = 0; i < count; i++) {
		struct noise_cpu c = { .cpu = cpus[i] };
		c.buckets = xcalloc(NOISE_BUCKETS, sizeof *c.buckets);
		array_push(&n->cpus, c);
	}
}

void noise_cpu_release(struct noise_cpu *c)
{
	for (size_t i = 0; i < c->sources.count; i++) {
		noise_histogram_release(&c->sources.items[i].lengths);
		noise_histogram_release(&c->sources.items[i].intervals);
	}
	for (size_t i = 0; i < c->combinations.count; i++) {
		noise_histogram_release(&c->combinations.items[i].seen_lengths);
		noise_histogram_release(&c->combinations.items[i].told_lengths);
	}
	array_release(&c->sources);
	array_release(&c->combinations);
	array_release(&c->untold);
	noise_histogram_release(&c->master);
	xfree(c->buckets);
	xfree(c->source_index);
	xfree(c->combination_index);
	*c = (struct noise_cpu){ 0 };
}

void noise_release(struct noise *n)
{
	for (size_t i = 0; i < n->cpus.count; i++)
		noise_cpu_release(&n->cpus.items[i]);
	for (size_t i = 0; i < n->parts.count; i++)
		array_release(&n->parts.items[i].shares);
	for (size_t i = 0; i < n->worst.count; i++)
		trace_release(&n->worst.items[i].trace);
	array_release(&n->cpus);
	array_release(&n->parts);
	array_release(&n->worst);
}

/* ---- all CPUs as one ---- */

static void add_detours(struct noise_detours *into, const struct noise_detours *from)
{
	into->count += from->count;
	into->ns += from->ns;
	into->overlap_ns += from->overlap_ns;
	for (size_t i = 0; i < NOISE_CLASSES; i++)
		into->class_ns[i] += from->class_ns[i];
}

static void add_untold(struct noise_cpu *into, const struct noise_untold *u)
{
	for (size_t i = 0; i < into->untold.count; i++)
		if (strcmp(into->untold.items[i].name, u->name) == 0) {
			into->untold.items[i].count += u->count;
			return;
		}
	array_push(&into->untold, *u);
}

/* Means are weighted by the rounds with a fit. */
static void add_host(struct noise_host *into, const struct noise_host *from)
{
	double had = into->fitted, has = from->fitted, all = had + has;
	if (all > 0) {
		into->period_ns = (into->period_ns * had + from->period_ns * has) / all;
		into->width_ns = (into->width_ns * had + from->width_ns * has) / all;
		into->chance = (into->chance * had + from->chance * has) / all;
	}
	into->rounds += from->rounds;
	into->fitted += from->fitted;
	into->in_phase += from->in_phase;
	into->looked_at += from->looked_at;
}

static void add_named(struct noise_cpu *into, const struct noise_cpu *from)
{
	for (size_t i = 0; i < from->sources.count; i++) {
		const struct noise_source *s = &from->sources.items[i];
		struct noise_source *sum = noise_source_get(into, s->class, s->name);
		noise_spread_merge(&sum->spread, &s->spread);
		noise_histogram_merge(&sum->lengths, &s->lengths);
		noise_histogram_merge(&sum->intervals, &s->intervals);
	}
	for (size_t i = 0; i < from->combinations.count; i++) {
		const struct noise_combination *x = &from->combinations.items[i];
		struct noise_combination *sum = noise_combination_get(into, x->name);
		noise_spread_merge(&sum->seen, &x->seen);
		noise_spread_merge(&sum->told, &x->told);
		noise_histogram_merge(&sum->seen_lengths, &x->seen_lengths);
		noise_histogram_merge(&sum->told_lengths, &x->told_lengths);
	}
	for (size_t i = 0; i < from->untold.count; i++)
		add_untold(into, &from->untold.items[i]);
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

void noise_together(const struct noise *n, struct noise_cpu *into)
{
	*into = (struct noise_cpu){ .cpu = UINT32_MAX };
	into->buckets = xcalloc(NOISE_BUCKETS, sizeof *into->buckets);
	for (size_t i = 0; i < n->cpus.count; i++) {
		const struct noise_cpu *c = &n->cpus.items[i];
		into->rounds += c->rounds;
		into->window_ns += c->window_ns;
		into->unwatched_ns += c->unwatched_ns;
		into->turns += c->turns;
		into->events += c->events;
		into->lost += c->lost;
		into->outside += c->outside;
		into->outside_ns += c->outside_ns;
		if (c->threshold_ns > into->threshold_ns)
			into->threshold_ns = c->threshold_ns;

		into->step_ns = larger(into->step_ns, c->step_ns);
		into->turn_ns = larger(into->turn_ns, c->turn_ns);
		into->turn_p999_ns = larger(into->turn_p999_ns, c->turn_p999_ns);
		add_detours(&into->total, &c->total);
		for (size_t b = 0; b < NOISE_BUCKETS; b++)
			add_detours(&into->buckets[b], &c->buckets[b]);
		noise_histogram_merge(&into->master, &c->master);
		add_host(&into->host, &c->host);
		add_named(into, c);
	}
}
