/* Private to protocol/jitter/. A round of one CPU goes through them in this order:
 * match.c (what happened in each detour), split.c (what of the rest is delivery,
 * steal, the host's), jitter.c (into the sums), keep.c (the worst, the parts). */
#ifndef TARE_PROTOCOL_JITTER_PRIVATE_H
#define TARE_PROTOCOL_JITTER_PRIVATE_H

#include "base/array.h"
#include "protocol/jitter/jitter.h"

/* Time of a detour in which nothing was told. */
enum gap_kind {
	GAP_LEAD,    /* before the first source */
	GAP_BETWEEN, /* two sources */
	GAP_TAIL,    /* after the last */
	GAP_KINDS,
	GAP_ALONE = GAP_KINDS, /* there is no source */
};

struct jitter_tuning {
	uint64_t slack_ns; /* so far outside a detour an event still belongs to it */
	/* Of a gap so much is delivery: cap_medians times the median of such gaps, but not less
	 * than floor_ns; unlearnt_ns while fewer than learnt_from are known. */
	uint64_t floor_ns[GAP_KINDS], unlearnt_ns[GAP_KINDS];
	double cap_medians;
	uint64_t learnt_from;
	uint64_t residue_ns; /* what is left and shorter is not looked at for a period */
	double periods_ns[4], period_tolerance, period_alpha;
	size_t period_times; /* at most so many are fitted */
	/* Half the window around the phase: so many robust sigmas, within bounds. */
	double width_sigmas, width_least_ns, width_most_share;
	double longest_share;  /* of the period: what is longer is no tick */
	unsigned names_max;    /* in the name of a combination */
	double name_share;     /* of a detour: then steal and host are in its name */
	uint64_t worst_around; /* ns before and after one of the worst */
	size_t worst_events;
};
extern const struct jitter_tuning jitter_tuning;

/* One interrupt, one turn of a task, one work item. */
struct jitter_occurrence {
	uint32_t source; /* index in noise_cpu.sources */
	bool top;	 /* not nested in another */
	uint64_t begin_ns, ns;
};

struct jitter_gap {
	uint64_t begin_ns, ns;
	enum gap_kind kind;
	bool host;
	/* ns is the sum of these and of what steal took */
	uint64_t delivery_ns, residue_ns;
};

/* Of a detour with steal: a part of an occurrence without anything nested in it. */
struct jitter_segment {
	size_t occurrence;
	uint64_t ns;
};

/* Its occurrences, gaps and segments are those up to these indices, from the last detour's. */
struct jitter_detour {
	uint64_t begin_ns, end_ns, steal_ns;
	size_t occurrences, gaps, segments;
	uint64_t strict_ns, delivery_ns;
};

struct jitter_piece {
	uint64_t ns;
	size_t index;
};

/* Names are looked up once per round. */
#define JITTER_CACHE 1024
struct jitter_cached {
	uint64_t key[2];
	uint32_t class;
	uint32_t source; /* index + 1; 0: empty */
};

/* A round of one CPU at work; the memory is kept for the next. */
struct jitter_work {
	const struct detour_round *round;
	const struct trace_event *events; /* in order */
	size_t event_count;
	struct noise_cpu *into;
	struct trace sorted;
	ARRAY(struct jitter_detour) detours;
	ARRAY(struct jitter_occurrence) occurrences;
	ARRAY(struct jitter_gap) gaps;
	ARRAY(struct jitter_segment) segments;
	ARRAY(struct jitter_piece) pieces;
	ARRAY(double) times;
	uint32_t unexplained, alone; /* that source and combination; UINT32_MAX: not yet known */
	ARRAY(struct noise_bucket) shares; /* by source: what this round adds to it */
	struct jitter_cached cache[JITTER_CACHE];
	unsigned cached;
};

/* What is known of a CPU from the rounds so far. */
struct jitter_learnt {
	struct noise_histogram gaps[GAP_KINDS];
	uint64_t counts[GAP_KINDS];
};

/* Times that a ring made up must not wrap. */
static inline uint64_t jitter_sooner(uint64_t t, uint64_t by)
{
	return t > by ? t - by : 0;
}
static inline uint64_t jitter_later(uint64_t t, uint64_t by)
{
	return t < UINT64_MAX - by ? t + by : UINT64_MAX;
}

/* Fills in detours, occurrences, gaps and segments; counts what is in no detour. */
void jitter_match(struct jitter_work *w);
/* The class of every ns that no source has. */
void jitter_split(struct jitter_work *w, struct jitter_learnt *learnt);
void jitter_find_host(struct jitter_work *w);
/* The combination's name, when class_ns of the detour is known. */
void jitter_name(const struct jitter_work *w, size_t detour, const uint64_t *class_ns,
		 char out[NOISE_COMBINED_SIZE]);

void jitter_keep_worst(struct noise *n, const struct jitter_work *w, size_t detour,
		       const uint64_t *class_ns, const char *name);
/* Adds a round to the parts: the sums in `round`, whose shares are copied. filled: rounds in the
 * last part. */
void jitter_keep_part(struct noise *n, const struct noise_part *round, uint32_t *filled);

#endif
