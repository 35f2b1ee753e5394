#include "record/noise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const noise_class_names[] = {
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
	[NOISE_SMI] = "smi",
};

/* ---- the catalogue ---- */

static const char *const class_columns[] = { "irq",   "softirq", "nmi",		"thread",
					     "work",  "fault",	 "throttled",	"delivery",
					     "steal", "host",	 "unexplained", "smi" };
_Static_assert(sizeof class_columns / sizeof *class_columns == NOISE_CLASSES,
	       "a new class is a new row of noise_class and new columns");

#define SHARE "\"minimum\": 0, \"maximum\": 1"
#define NOT_NEGATIVE "\"minimum\": 0"

static const struct field class_ns_fields[] = {
	{ "", FIELD_EACH, NOISE_CLASSES, .names = noise_class_names, .item = FIELD_NS },
	{ 0 },
};
static const struct shape class_ns_shape = { "noise_class_ns",
					     "They add up to ns. null: this run could not know.",
					     class_ns_fields };
/* Time by class: columns in the lab, an object in JSON. */
/* NOLINTBEGIN(bugprone-macro-parentheses): initialisers */
#define CLASSES(type, member, path)                                                               \
	FACT(type, member, "_ns", FIELD_EACH, "", .limit = NOISE_CLASSES, .names = class_columns, \
	     .item = FIELD_NS, .flags = FIELD_ONLY_SQL),                                          \
		FACT(type, member, "class_ns", FIELD_OBJECT,                                      \
		     "They add up to ns. null: this run could not know.", .json = path,           \
		     .shape = &class_ns_shape, .flags = FIELD_ONLY_JSON)
/* NOLINTEND(bugprone-macro-parentheses) */
#define OVERLAP "Whole detours in which the kernel told of anything."

#define X(member, ...) FACT(struct noise, member, __VA_ARGS__)
const struct field noise_settings_fields[] = {
	/* the number is what a noise_cpu begins with */
	X(cpus, "cpus", FIELD_LIST, NULL, .item = FIELD_U32, .limit = sizeof(struct noise_cpu),
	  .flags = FIELD_ONLY_JSON),
	X(realtime, "realtime", FIELD_BOOL, "The loop ran under SCHED_FIFO."),
	X(priority, "priority", FIELD_I32, NULL, .flags = FIELD_ZERO_ABSENT,
	  .more = "\"minimum\": 1, \"maximum\": 99"),
	X(kernel, "kernel", FIELD_BOOL, "The kernel's side was seen: sources have names."),
	X(steal_told, "steal_told", FIELD_BOOL, NULL),
	X(part_rounds, "part_rounds", FIELD_U32, "Rounds in a part.", .more = "\"minimum\": 1"),
	X(begin_ns, "begin_ns", FIELD_U64, NULL, .flags = FIELD_ONLY_SQL),
	X(elapsed_ns, "elapsed_ns", FIELD_U64, NULL, .flags = FIELD_ONLY_SQL),
	X(worst_max, "worst_max", FIELD_U32, NULL, .flags = FIELD_ONLY_SQL),
	{ 0 },
};
const struct shape noise_settings_shape = { "noise_settings", NULL, noise_settings_fields };
#undef X

#define X(member, ...) FACT(struct noise_coverage, member, __VA_ARGS__)
static const struct field coverage_fields[] = {
	X(from_ns, "from_ns", FIELD_U64, "Of detours this long or longer."),
	X(count, "count", FIELD_U64, NULL),
	X(ns, "ns", FIELD_U64,
	  "Their time but that in class throttled: it is the price of the real-time class, and in "
	  "none of these."),
	X(named, "named", FIELD_REAL, "Of their time, in any class but unexplained.",
	  .more = SHARE),
	X(strict, "strict", FIELD_REAL, "Inside what the kernel told of.", .more = SHARE),
	X(overlap, "overlap", FIELD_REAL, "In detours in which it told of anything.",
	  .more = SHARE),
	{ 0 },
};
const struct shape noise_coverage_shape = { "noise_coverage", NULL, coverage_fields };
#undef X

#define X(member, ...) FACT(struct noise_untold, member, __VA_ARGS__)
const struct field noise_untold_fields[] = {
	X(name, "name", FIELD_NAME, NULL, .limit = NOISE_NAME_SIZE),
	X(count, "count", FIELD_U64, NULL),
	{ 0 },
};
static const struct shape untold_shape = { "noise_untold", NULL, noise_untold_fields };
#undef X

#define X(member, ...) FACT(struct noise_cpu, member, __VA_ARGS__)
/* Members of "detours" that are derived; cpu and these are filled in by hand. */
#define DERIVED(name_, kind_, ...)                                                    \
	{                                                                             \
		.name = name_, .kind = kind_, .flags = FIELD_ONLY_JSON | FIELD_MAYBE, \
		.json = "detours." name_, __VA_ARGS__                                 \
	}
const struct field noise_cpu_fields[] = {
	X(cpu, "cpu", FIELD_U32,
	  "null: all of them together. Then times are sums; thresholds, steps and turns the "
	  "largest.",
	  .flags = FIELD_MAYBE),
	X(rounds, "rounds", FIELD_U32, NULL),
	X(window_ns, "window_ns", FIELD_U64, "Looked at, in all rounds."),
	X(unwatched_ns, "unwatched_ns", FIELD_U64, "Of it, the loop's own notes and probes."),
	{ "duty_cycle", FIELD_REAL, .flags = FIELD_ONLY_JSON | FIELD_MAYBE, .more = SHARE,
	  .meaning = "(window_ns - unwatched_ns) of the time that passed, pauses between rounds "
		     "included." },
	X(turns, "turns", FIELD_U64, "Of the loop."),
	X(threshold_ns, "threshold_ns", FIELD_U64, "A gap above it is a detour."),
	X(step_ns, "step_ns", FIELD_REAL, "Of the clock.", .flags = FIELD_ALWAYS,
	  .more = NOT_NEGATIVE),
	X(turn_ns, "turn_ns", FIELD_REAL, "Of the loop, median.", .flags = FIELD_ALWAYS,
	  .more = NOT_NEGATIVE),
	X(turn_p999_ns, "turn_p999_ns", FIELD_REAL, NULL, .flags = FIELD_ALWAYS,
	  .more = NOT_NEGATIVE),
	X(total.count, "count", FIELD_U64, NULL, .json = "detours.count"),
	X(total.ns, "ns", FIELD_U64, NULL, .json = "detours.ns"),
	DERIVED("min_ns", FIELD_NS),
	DERIVED("max_ns", FIELD_NS),
	DERIVED("per_s", FIELD_REAL, .meaning = "And CPU, of the time looked at: window_ns.",
		.more = NOT_NEGATIVE),
	DERIVED("lost_share", FIELD_REAL, .meaning = "ns, of the time looked at: window_ns.",
		.more = SHARE),
	CLASSES(struct noise_cpu, total.class_ns, "detours.class_ns"),
	X(total.overlap_ns, "overlap_ns", FIELD_NS, OVERLAP, .json = "detours.overlap_ns"),
	{ "coverage", FIELD_LIST, .shape = &noise_coverage_shape,
	  .flags = FIELD_ONLY_JSON | FIELD_BY_HAND },
	X(host.rounds, "host_rounds", FIELD_U32, "Looked at.", .json = "host.rounds"),
	X(host.fitted, "host_fitted", FIELD_U32, "In which a period was found.",
	  .json = "host.fitted"),
	X(host.period_ns, "host_period_ns", FIELD_REAL,
	  "Of the host, in what is otherwise unexplained: an inference.", .json = "host.period_ns",
	  .more = NOT_NEGATIVE),
	X(host.width_ns, "host_width_ns", FIELD_REAL,
	  "Half the width of the window around the phase.", .json = "host.width_ns",
	  .more = NOT_NEGATIVE),
	X(host.chance, "host_chance", FIELD_REAL,
	  "Of detours at random times, those that would fall into it.", .json = "host.chance",
	  .more = SHARE),
	X(host.in_phase, "host_in_phase", FIELD_U64, NULL, .json = "host.in_phase"),
	X(host.looked_at, "host_looked_at", FIELD_U64, "Detours with something left to explain.",
	  .json = "host.looked_at"),
	X(untold, "untold", FIELD_LIST,
	  "Vectors that /proc/interrupts counts and no tracepoint tells.",
	  .limit = sizeof(struct noise_untold), .shape = &untold_shape, .flags = FIELD_ONLY_JSON),
	X(events, "events", FIELD_KNOWN, "Told by the kernel."),
	X(lost, "lost", FIELD_KNOWN, "That found no room."),
	X(outside, "outside", FIELD_KNOWN, "Occurrences in no detour."),
	X(outside_ns, "outside_ns", FIELD_NS, NULL),
	X(smi_count, "smi_count", FIELD_KNOWN,
	  "SMIs that the CPU counted in all rounds, also while the loop saw nothing. null: it does "
	  "not count them.",
	  .json = "smi.count"),
	X(smi_explained, "smi_explained", FIELD_KNOWN,
	  "Of these, those in detours with time in class smi.", .json = "smi.explained"),
	{ 0 },
};
const struct shape noise_cpu_shape = { "noise_cpu_sums", NULL, noise_cpu_fields };
#undef X

#define EDGES(type)                                    \
	FACT(type, low_ns, "low_ns", FIELD_U64, NULL), \
		FACT(type, high_ns, "high_ns", FIELD_U64, "Not in it.")
#define X(member, ...) FACT(struct noise_bucket_row, member, __VA_ARGS__)
const struct field noise_bucket_fields[] = {
	X(bucket, "bucket", FIELD_U32, NULL, .flags = FIELD_ONLY_SQL),
	EDGES(struct noise_bucket_row),
	X(detours.count, "count", FIELD_U64, "Detours of this length: the user-level histogram."),
	X(detours.ns, "ns", FIELD_U64, NULL),
	CLASSES(struct noise_bucket_row, detours.class_ns, "class_ns"),
	X(detours.overlap_ns, "overlap_ns", FIELD_NS, OVERLAP),
	X(master.count, "master_count", FIELD_KNOWN,
	  "Detours with so much strict time: the master histogram."),
	X(master.ns, "master_ns", FIELD_NS, NULL),
	{ 0 },
};
const struct shape noise_bucket_shape = { "noise_bucket", NULL, noise_bucket_fields };
#undef X

#define X(member, ...) FACT(struct noise_length_row, member, __VA_ARGS__)
const struct field noise_length_fields[] = {
	EDGES(struct noise_length_row),
	X(in.count, "count", FIELD_U64, NULL, .more = "\"minimum\": 1"),
	X(in.ns, "ns", FIELD_U64, NULL),
	{ 0 },
};
const struct shape noise_length_shape = { "noise_length", NULL, noise_length_fields };
#undef X

/* As they are stored; reports derive figures of them. */
/* NOLINTBEGIN(bugprone-macro-parentheses): members */
#define SPREAD(type, member, prefix)                                         \
	FACT(type, member.count, prefix "count", FIELD_U64, NULL),           \
		FACT(type, member.ns, prefix "ns", FIELD_U64, NULL),         \
		FACT(type, member.min_ns, prefix "min_ns", FIELD_U64, NULL), \
		FACT(type, member.max_ns, prefix "max_ns", FIELD_U64, NULL), \
		FACT(type, member.squares, prefix "squares", FIELD_REAL, NULL)
/* NOLINTEND(bugprone-macro-parentheses) */
const struct field noise_source_fields[] = {
	FACT(struct noise_source, class, "class", FIELD_ENUM, NULL, .limit = NOISE_CLASSES,
	     .names = noise_class_names),
	FACT(struct noise_source, name, "name", FIELD_NAME, NULL, .limit = NOISE_NAME_SIZE),
	SPREAD(struct noise_source, spread, ""),
	FACT(struct noise_source, last_ns, "last_ns", FIELD_U64, NULL),
	{ 0 },
};
const struct field noise_combination_fields[] = {
	FACT(struct noise_combination, name, "name", FIELD_NAME, NULL,
	     .limit = NOISE_COMBINED_SIZE),
	SPREAD(struct noise_combination, seen, "seen_"),
	SPREAD(struct noise_combination, told, "told_"),
	{ 0 },
};

#define X(member, ...) FACT(struct noise_share, member, __VA_ARGS__)
const struct field noise_share_fields[] = {
	X(cpu, "cpu", FIELD_U32, "Index in cpus."),
	X(source, "source", FIELD_U32, "Index in its sources."),
	X(count, "count", FIELD_U64, NULL),
	X(ns, "ns", FIELD_U64, NULL),
	{ 0 },
};
static const struct shape share_shape = { "noise_share", NULL, noise_share_fields };
#undef X

#define X(member, ...) FACT(struct noise_part, member, __VA_ARGS__)
const struct field noise_part_fields[] = {
	X(begin_ns, "begin_ns", FIELD_U64, "Since the begin of the run."),
	X(window_ns, "window_ns", FIELD_U64, "Summed over the CPUs."),
	X(count, "count", FIELD_U64, "Detours of all CPUs."),
	X(ns, "ns", FIELD_U64, NULL),
	X(shares, "shares", FIELD_LIST, NULL, .limit = sizeof(struct noise_share),
	  .shape = &share_shape, .flags = FIELD_ONLY_JSON),
	{ 0 },
};
const struct shape noise_part_shape = { "noise_part", NULL, noise_part_fields };
#undef X

#define X(member, ...) FACT(struct noise_worst, member, __VA_ARGS__)
const struct field noise_worst_fields[] = {
	X(cpu, "cpu", FIELD_U32, NULL),
	X(begin_ns, "begin_ns", FIELD_U64, "Since the begin of the run; in the lab, of the clock."),
	X(ns, "ns", FIELD_U64, NULL),
	X(name, "name", FIELD_NAME, "Its combination.", .limit = NOISE_COMBINED_SIZE),
	CLASSES(struct noise_worst, class_ns, "class_ns"),
	{ 0 },
};
const struct shape noise_worst_shape = { "noise_worst", NULL, noise_worst_fields };
#undef X

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

bool noise_length_row_of(const struct noise_histogram *h, unsigned bucket,
			 struct noise_length_row *row)
{
	*row = (struct noise_length_row){ .low_ns = noise_bucket_low(bucket),
					  .high_ns = noise_bucket_low(bucket + 1),
					  .in = noise_histogram_at(h, bucket) };
	return row->in.count || row->in.ns;
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
		struct noise_cpu c = { .cpu = cpus[i],
				       .smi_count = ABSENT_NS,
				       .smi_explained = ABSENT_NS };
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
	array_release(&c->speeds);
	noise_histogram_release(&c->master);
	xfree(c->buckets);
	xfree(c->source_index);
	xfree(c->combination_index);
	*c = (struct noise_cpu){ 0 };
}

void noise_bucket_row_of(const struct noise_cpu *c, unsigned bucket, struct noise_bucket_row *row)
{
	*row = (struct noise_bucket_row){ .bucket = bucket,
					  .low_ns = noise_bucket_low(bucket),
					  .high_ns = noise_bucket_low(bucket + 1),
					  .master = noise_histogram_at(&c->master, bucket) };
	if (c->buckets)
		row->detours = c->buckets[bucket];
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

bool noise_smis_told(const struct noise *n)
{
	for (size_t i = 0; i < n->cpus.count; i++)
		if (n->cpus.items[i].smi_count != ABSENT_NS)
			return true;
	return false;
}

/* ---- all CPUs as one ---- */

static void add_known(uint64_t *into, uint64_t count)
{
	if (count != ABSENT_NS)
		*into = (*into == ABSENT_NS ? 0 : *into) + count;
}

static void add_detours(struct noise_detours *into, const struct noise_detours *from)
{
	into->count += from->count;
	into->ns += from->ns;
	into->overlap_ns += from->overlap_ns;
	for (size_t i = 0; i < NOISE_CLASSES; i++)
		into->class_ns[i] += from->class_ns[i];
}

static void add_named(struct noise_cpu *into, const struct noise_cpu *from)
{
	array_each(s, &from->sources) {
		struct noise_source *sum = noise_source_get(into, s->class, s->name);
		noise_spread_merge(&sum->spread, &s->spread);
		noise_histogram_merge(&sum->lengths, &s->lengths);
		noise_histogram_merge(&sum->intervals, &s->intervals);
	}
	array_each(x, &from->combinations) {
		struct noise_combination *sum = noise_combination_get(into, x->name);
		noise_spread_merge(&sum->seen, &x->seen);
		noise_spread_merge(&sum->told, &x->told);
		noise_histogram_merge(&sum->seen_lengths, &x->seen_lengths);
		noise_histogram_merge(&sum->told_lengths, &x->told_lengths);
	}
	array_each(u, &from->untold) {
		size_t at = 0;
		while (at < into->untold.count && strcmp(into->untold.items[at].name, u->name) != 0)
			at++;
		if (at < into->untold.count)
			into->untold.items[at].count += u->count;
		else
			array_push(&into->untold, *u);
	}
}

void noise_together(const struct noise *n, struct noise_cpu *into)
{
	*into = (struct noise_cpu){ .cpu = UINT32_MAX,
				    .smi_count = ABSENT_NS,
				    .smi_explained = ABSENT_NS };
	into->buckets = xcalloc(NOISE_BUCKETS, sizeof *into->buckets);
	array_each(c, &n->cpus) {
		into->rounds += c->rounds;
		into->window_ns += c->window_ns;
		into->unwatched_ns += c->unwatched_ns;
		into->turns += c->turns;
		into->events += c->events;
		into->lost += c->lost;
		into->outside += c->outside;
		into->outside_ns += c->outside_ns;
		add_known(&into->smi_count, c->smi_count);
		add_known(&into->smi_explained, c->smi_explained);
		if (c->threshold_ns > into->threshold_ns)
			into->threshold_ns = c->threshold_ns;
		into->step_ns = fmax(into->step_ns, c->step_ns);
		into->turn_ns = fmax(into->turn_ns, c->turn_ns);
		into->turn_p999_ns = fmax(into->turn_p999_ns, c->turn_p999_ns);
		add_detours(&into->total, &c->total);
		for (size_t b = 0; b < NOISE_BUCKETS; b++)
			add_detours(&into->buckets[b], &c->buckets[b]);
		noise_histogram_merge(&into->master, &c->master);
		struct noise_host *host = &into->host;
		double had = host->fitted, has = c->host.fitted, all = had + has;
		if (all > 0) { /* means are weighted by the rounds with a fit */
			host->period_ns = (host->period_ns * had + c->host.period_ns * has) / all;
			host->width_ns = (host->width_ns * had + c->host.width_ns * has) / all;
			host->chance = (host->chance * had + c->host.chance * has) / all;
		}
		host->rounds += c->host.rounds;
		host->fitted += c->host.fitted;
		host->in_phase += c->host.in_phase;
		host->looked_at += c->host.looked_at;
		add_named(into, c);
	}
}
