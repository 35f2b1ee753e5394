/* What `tare noise` knows of a run: sums over all rounds, of bounded size however long it lasts.
 * Every ns of every detour is under exactly one source; so per CPU the sources' ns add up to the
 * detours'. */
#ifndef TARE_RECORD_NOISE_H
#define TARE_RECORD_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "record/field.h"
#include "record/trace.h"

/* What a source is. The first seven are named by the kernel: time inside an interval that it told
 * of ("strict"). The next three are named too, but inferred. */
enum noise_class {
	NOISE_IRQ,     /* a hard interrupt, by device or vector */
	NOISE_SOFTIRQ, /* by kind */
	NOISE_NMI,
	NOISE_THREAD,	 /* another task had the CPU, by name */
	NOISE_WORK,	 /* a work item on a kernel worker, by function */
	NOISE_FAULT,	 /* a page fault of the loop */
	NOISE_THROTTLED, /* a real-time loop had to let tasks of the fair class run, by name */
	NOISE_DELIVERY,	 /* on the way into and out of what the kernel told of */
	NOISE_STEAL,	 /* the hypervisor gave the CPU to another, by its steal clock */
	NOISE_HOST,	 /* in phase with a period of the host that fits the unexplained detours */
	NOISE_UNEXPLAINED,
	NOISE_CLASSES
};
extern const char *const noise_class_names[];
const char *noise_class_name(enum noise_class class); /* "irq", ..., "host-periodic", ... */
static inline bool noise_class_strict(enum noise_class class)
{
	return class <= NOISE_THROTTLED;
}

/* ---- lengths in buckets ---- */

/* Edges people can say: per decade 50 buckets from 1 to 2, 60 from 2 to 5, 50 from 5 to 10, so each
 * is 1 to 2.5 % wide and 1 µs, 8 µs, 100 µs, 110 µs are edges. From 10 ns; what is shorter is in
 * the first, what is longer than 1000 s in the last. */
#define NOISE_DECADE_BUCKETS 160
#define NOISE_DECADES 11
#define NOISE_BUCKETS (NOISE_DECADE_BUCKETS * NOISE_DECADES)
unsigned noise_bucket_of(uint64_t ns);
uint64_t noise_bucket_low(unsigned bucket); /* smallest length in it; of NOISE_BUCKETS: the end */

struct noise_bucket {
	uint64_t count, ns;
};

/* Buckets in chunks, made when something falls into one. NULL: all zero. */
#define NOISE_CHUNK_BUCKETS 20
#define NOISE_CHUNKS (NOISE_BUCKETS / NOISE_CHUNK_BUCKETS)
struct noise_histogram {
	struct noise_bucket *chunks[NOISE_CHUNKS];
};
void noise_histogram_add(struct noise_histogram *h, unsigned bucket, uint64_t count, uint64_t ns);
struct noise_bucket noise_histogram_at(const struct noise_histogram *h, unsigned bucket);
/* One of its rows, as the lab and reports have it; false: it is empty. */
struct noise_length_row {
	uint64_t low_ns, high_ns;
	struct noise_bucket in;
};
bool noise_length_row_of(const struct noise_histogram *h, unsigned bucket,
			 struct noise_length_row *row);
void noise_histogram_merge(struct noise_histogram *into, const struct noise_histogram *from);
void noise_histogram_release(struct noise_histogram *h);

struct noise_spread {
	uint64_t count, ns, min_ns, max_ns; /* min and max 0 while count is 0 */
	double squares;			    /* sum of ns^2 */
};
void noise_spread_add(struct noise_spread *s, uint64_t ns);
void noise_spread_merge(struct noise_spread *into, const struct noise_spread *from);
double noise_spread_mean(const struct noise_spread *s);	 /* 0 for none */
double noise_spread_sigma(const struct noise_spread *s); /* of the population; 0 for fewer than 2 */

/* ---- sources ---- */

#define NOISE_NAME_SIZE 48
#define NOISE_COMBINED_SIZE 192
/* Bounds: what comes after is one source "others" of its class, one combination "others". */
#define NOISE_SOURCES_MAX 512
#define NOISE_COMBINATIONS_MAX 512

/* Frequency-domain mode: one row per source, one sample per occurrence, nested ones taken off.
 * Classes that are inferred have one source each, called like the class; a sample is a detour's. */
struct noise_source {
	enum noise_class class;
	char name[NOISE_NAME_SIZE]; /* "timer", "softirq:sched", "work:vmstat_update", "sshd" */
	struct noise_spread spread;
	struct noise_histogram lengths;
	struct noise_histogram intervals; /* from the begin of one occurrence to that of the next:
					     what its period is read from */
	uint64_t last_ns;		  /* begin of the last occurrence; 0 none */
};

/* Time-domain mode: the sources that followed each other in a detour, joined by '_' in order, are
 * one. Interrupts nested in another source are in that one's time, not in the name. Every detour is
 * in exactly one. */
struct noise_combination {
	char name[NOISE_COMBINED_SIZE]; /* "timer_softirq:sched", "unexplained", "steal" */
	struct noise_spread seen;	/* lengths of the detours, as the loop saw them */
	struct noise_spread told;	/* strict time in them, as the kernel told it */
	struct noise_histogram seen_lengths, told_lengths; /* of these; told 0 is not in it */
};

/* ---- one CPU ---- */

/* The user-level histogram, with what is known of each bucket's detours. */
struct noise_detours {
	uint64_t count, ns;
	uint64_t class_ns[NOISE_CLASSES]; /* adds up to ns */
	uint64_t overlap_ns; /* whole detours in which the kernel told of anything: what a tool that
				asks for presence would call explained */
};

/* A vector that /proc/interrupts counts and no tracepoint tells: bounds what was missed. */
struct noise_untold {
	char name[NOISE_NAME_SIZE]; /* "HYP: Hypervisor callback interrupts" */
	uint64_t count;
};

/* The host's period: fitted anew in each round. Means over the rounds where one was found. */
struct noise_host {
	uint32_t rounds, fitted;      /* rounds looked at; in which a period was found */
	double period_ns;	      /* mean */
	double width_ns;	      /* half the width of the window around the phase, mean */
	double chance;		      /* share of detours at random times that would fall into it */
	uint64_t in_phase, looked_at; /* detours with something left to explain */
};

struct noise_cpu {
	uint32_t cpu;
	uint32_t rounds;
	uint64_t window_ns;    /* looked at, in all rounds */
	uint64_t unwatched_ns; /* of it: the loop's own notes */
	uint64_t turns;
	uint64_t threshold_ns;
	double step_ns; /* of the clock */
	double turn_ns; /* of the loop, median, before the run */
	double turn_p999_ns;
	struct noise_detours total;
	struct noise_detours *buckets; /* NOISE_BUCKETS of them: the user-level histogram */
	struct noise_histogram master; /* strict time per detour: the master histogram */
	ARRAY(struct noise_source) sources;
	ARRAY(struct noise_combination) combinations;
	ARRAY(struct noise_untold) untold;
	struct noise_host host;
	uint64_t events, lost; /* told by the kernel; that found no room */
	uint64_t outside;      /* occurrences in no detour: shorter than the threshold, or while the
				  loop made its notes */
	uint64_t outside_ns;
	uint16_t *source_index, *combination_index; /* by hash; private */
};

/* A row of its histograms. */
struct noise_bucket_row {
	uint32_t bucket;
	uint64_t low_ns, high_ns;
	struct noise_detours detours;
	struct noise_bucket master;
};
void noise_bucket_row_of(const struct noise_cpu *c, unsigned bucket, struct noise_bucket_row *row);

/* Of detours from from_ns on. Time in class throttled is the price of the real-time class, not
 * noise: it is in none of these. Shares of ns; NaN: there is none, or it was not told. */
struct noise_coverage {
	uint64_t from_ns, count, ns;
	double named;	/* in any class but unexplained */
	double strict;	/* in intervals that the kernel told of */
	double overlap; /* in detours in which it told of anything */
};

/* The source of this class and name, added where it is new; the others' one when there is no room.
 * The pointer is good until the next call. Fast: by a hash of the name. */
struct noise_source *noise_source_get(struct noise_cpu *c, enum noise_class class,
				      const char *name);
struct noise_combination *noise_combination_get(struct noise_cpu *c, const char *name);

/* ---- in time ---- */

/* The run in up to NOISE_PARTS_MAX parts, for the spread of a rate: one round each at first; when
 * there are too many, two and two become one. All but the last have as many rounds; pauses make
 * them of unequal length. Sums of all parts are the run's sums. */
#define NOISE_PARTS_MAX 128
struct noise_share {
	uint32_t cpu;	 /* index in noise.cpus */
	uint32_t source; /* index in its sources */
	uint64_t count, ns;
};
struct noise_part {
	uint64_t begin_ns;		  /* since the begin of the run */
	uint64_t window_ns;		  /* looked at, summed over the CPUs */
	uint64_t count, ns;		  /* detours of all CPUs */
	ARRAY(struct noise_share) shares; /* by cpu and source */
};

/* One of the longest detours, with what happened around it. */
#define NOISE_WORST_DEFAULT 20
struct noise_worst {
	uint32_t cpu;	       /* its number */
	struct trace trace;    /* names and events of this CPU from a bit before to a bit after */
	uint64_t begin_ns, ns; /* CLOCK_MONOTONIC */
	uint64_t class_ns[NOISE_CLASSES];
	char name[NOISE_COMBINED_SIZE]; /* its combination */
};

struct noise {
	bool realtime;
	int priority;	      /* of a real-time loop */
	bool kernel;	      /* sources have names */
	bool steal_told;      /* and steal is known */
	uint64_t begin_ns;    /* CLOCK_MONOTONIC, of the first round */
	uint64_t elapsed_ns;  /* until the end of the last, pauses included */
	uint32_t part_rounds; /* rounds in a part */
	ARRAY(struct noise_cpu) cpus;
	ARRAY(struct noise_part) parts;
	ARRAY(struct noise_worst) worst; /* longest first */
	uint32_t worst_max;
};

void noise_init(struct noise *n, const uint32_t *cpus, size_t count);
void noise_release(struct noise *n);
/* All CPUs as one (cpu UINT32_MAX): sums; of thresholds, steps and turns the largest; sources and
 * combinations by name. Released by the caller. */
void noise_together(const struct noise *n, struct noise_cpu *into);
void noise_cpu_release(struct noise_cpu *c);

/* ---- the catalogue ---- */

extern const struct field noise_settings_fields[], noise_cpu_fields[], noise_bucket_fields[],
	noise_source_fields[], noise_combination_fields[], noise_untold_fields[],
	noise_part_fields[], noise_worst_fields[], noise_share_fields[], noise_length_fields[];
extern const struct shape noise_settings_shape, noise_coverage_shape, noise_cpu_shape,
	noise_bucket_shape, noise_length_shape, noise_part_shape, noise_worst_shape;

#endif
