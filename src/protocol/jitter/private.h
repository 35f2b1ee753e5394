/* Private to protocol/jitter/. A round of one CPU goes through match.c (what happened in each
 * detour), split.c (how much of the rest is delivery, steal or the host), jitter.c (adds it up) and
 * keep.c (the worst detours, the parts), in this order. */
#ifndef TARE_PROTOCOL_JITTER_PRIVATE_H
#define TARE_PROTOCOL_JITTER_PRIVATE_H

#include "base/array.h"
#include "protocol/jitter/jitter.h"

/* Time in a detour that no event covers. */
enum gap_kind {
	GAP_LEAD,    /* before the first source */
	GAP_BETWEEN, /* between two sources */
	GAP_TAIL,    /* after the last */
	GAP_KINDS,
	GAP_ALONE = GAP_KINDS, /* the detour has no source */
};

struct jitter_tuning {
	uint64_t slack_ns; /* an event this far outside a detour still belongs to it */
	/* The part of a gap that counts as delivery: cap_medians times the median of such gaps, but
	 * at least floor_ns; unlearnt_ns while fewer than learnt_from are known. */
	uint64_t floor_ns[GAP_KINDS], unlearnt_ns[GAP_KINDS];
	double cap_medians;
	uint64_t learnt_from;
	uint64_t residue_ns; /* a shorter remainder is neither an SMI nor searched for a period */
	double periods_ns[4], period_tolerance, period_alpha;
	size_t period_times; /* at most this many are fitted */
	/* Half the window around the phase: this many robust sigmas, within bounds. */
	double width_sigmas, width_least_ns, width_most_share;
	double longest_share;  /* of the period: anything longer is not a tick */
	unsigned names_max;    /* in the name of a combination */
	double name_share;     /* of a detour: from this on, its name includes steal and host */
	uint64_t worst_around; /* ns kept before and after one of the worst */
	size_t worst_events;
};
extern const struct jitter_tuning jitter_tuning;

/* One interrupt, one time slice of a task, or one work item. */
struct jitter_occurrence {
	uint32_t source; /* index in noise_cpu.sources */
	bool top;	 /* not nested in another */
	uint64_t begin_ns, ns;
};

struct jitter_gap {
	uint64_t begin_ns, ns;
	enum gap_kind kind;
	bool host, smi;
	/* ns is the sum of these and of the stolen time */
	uint64_t delivery_ns, residue_ns;
};

/* For a detour with steal: a part of an occurrence with nothing nested in it. */
struct jitter_segment {
	size_t occurrence;
	uint64_t ns;
};

/* Its occurrences, gaps and segments are those between the previous detour's indices and these. */
struct jitter_detour {
	uint64_t begin_ns, end_ns, steal_ns, smis;
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

/* The state while a round of one CPU is analysed; its memory is reused. */
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
	uint64_t smis;		     /* in this round's detours that have time in class smi */
	uint32_t unexplained, alone; /* that source and combination; UINT32_MAX: not known yet */
	ARRAY(struct noise_bucket) shares; /* by source: what this round adds to it */
	ARRAY(struct speed_sample) speeds;
	struct jitter_cached cache[JITTER_CACHE];
	unsigned cached;
};

/* What earlier rounds taught about a CPU. */
struct jitter_learnt {
	struct noise_histogram gaps[GAP_KINDS];
	uint64_t counts[GAP_KINDS];
};

/* Times from a corrupt ring must not wrap around. */
static inline uint64_t jitter_sooner(uint64_t t, uint64_t by)
{
	return t > by ? t - by : 0;
}
static inline uint64_t jitter_later(uint64_t t, uint64_t by)
{
	return t < UINT64_MAX - by ? t + by : UINT64_MAX;
}

/* Fills in detours, occurrences, gaps and segments, and counts what lies outside detours. */
void jitter_match(struct jitter_work *w);
/* Finds the class of every ns that no source covers. */
void jitter_split(struct jitter_work *w, struct jitter_learnt *learnt);
void jitter_find_host(struct jitter_work *w);
/* The name of the combination, once class_ns of the detour is known. */
void jitter_name(const struct jitter_work *w, size_t detour, const uint64_t *class_ns,
		 char out[NOISE_COMBINED_SIZE]);

/* Adds the round's probes to the CPU's points, after jitter_match(). begin_ns: of the run. */
void jitter_add_speeds(struct jitter_work *w, uint64_t begin_ns);

void jitter_keep_worst(struct noise *n, const struct jitter_work *w, size_t detour,
		       const uint64_t *class_ns, const char *name);
/* Adds a round to the parts: its sums are in `round`, whose shares are copied. filled counts the
 * rounds in the last part. */
void jitter_keep_part(struct noise *n, const struct noise_part *round, uint32_t *filled);

#endif
