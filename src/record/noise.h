/* The data of a `tare noise` run: sums over all rounds, of bounded size however long it lasts.
 * Every ns of every detour belongs to exactly one source, so on each CPU the sources' ns add up to
 * the detours'. */
#ifndef TARE_RECORD_NOISE_H
#define TARE_RECORD_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "record/field.h"
#include "record/speed.h"
#include "record/trace.h"

/* The class of a source. The first seven are named by the kernel: time inside an interval that it
 * reported ("strict"). The others, except "unexplained", are also named, but inferred. The lab has
 * the numbers: a new class comes last. */
enum noise_class {
	NOISE_IRQ,     /* a hard interrupt, by device or vector */
	NOISE_SOFTIRQ, /* by kind */
	NOISE_NMI,
	NOISE_THREAD,	 /* another task had the CPU, by name */
	NOISE_WORK,	 /* a work item on a kernel worker, by function */
	NOISE_FAULT,	 /* a page fault of the loop */
	NOISE_THROTTLED, /* a real-time loop had to let tasks of the fair class run, by name */
	NOISE_DELIVERY,	 /* on the way into and out of what the kernel reported */
	NOISE_STEAL,	 /* the hypervisor gave the CPU to another, by its steal clock */
	NOISE_HOST,	 /* in phase with a period of the host that fits the unexplained detours */
	NOISE_UNEXPLAINED,
	NOISE_SMI, /* otherwise unexplained, in a detour in which the CPU counted an SMI: firmware
		      ran */
	NOISE_CLASSES
};
extern const char *const noise_class_names[]; /* "irq", ..., "host-periodic", ... */
static inline bool noise_class_strict(enum noise_class class)
{
	return class <= NOISE_THROTTLED;
}

/* ---- lengths in buckets ---- */

/* Edges are round numbers: per decade there are 50 buckets from 1 to 2, 60 from 2 to 5, and 50 from
 * 5 to 10, so each is 1 to 2.5 % wide, and 1 µs, 8 µs, 100 µs and 110 µs are edges. Lengths below
 * 10 ns are in the first bucket, those above 1000 s in the last. */
#define NOISE_DECADE_BUCKETS 160
#define NOISE_DECADES 11
#define NOISE_BUCKETS (NOISE_DECADE_BUCKETS * NOISE_DECADES)
unsigned noise_bucket_of(uint64_t ns);
uint64_t noise_bucket_low(
	unsigned bucket); /* smallest length in it; for NOISE_BUCKETS the end of the last */

struct noise_bucket {
	uint64_t count, ns;
};

/* Buckets in chunks, which are made when first used. NULL: all zero. */
#define NOISE_CHUNK_BUCKETS 20
#define NOISE_CHUNKS (NOISE_BUCKETS / NOISE_CHUNK_BUCKETS)
struct noise_histogram {
	struct noise_bucket *chunks[NOISE_CHUNKS];
};
void noise_histogram_add(struct noise_histogram *h, unsigned bucket, uint64_t count, uint64_t ns);
struct noise_bucket noise_histogram_at(const struct noise_histogram *h, unsigned bucket);
/* One of its rows, for the lab and reports; false: it is empty. */
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
/* Limits: further ones are one source "others" of their class, or one combination "others". */
#define NOISE_SOURCES_MAX 512
#define NOISE_COMBINATIONS_MAX 512

/* Frequency domain: one row per source, one sample per occurrence, without nested ones. Inferred
 * classes have one source each, named like the class, with one sample per detour. */
struct noise_source {
	enum noise_class class;
	char name[NOISE_NAME_SIZE]; /* "timer", "softirq:sched", "work:vmstat_update", "sshd" */
	struct noise_spread spread;
	struct noise_histogram lengths;
	struct noise_histogram intervals; /* from the begin of one occurrence to the next, for
					     finding its period */
	uint64_t last_ns;		  /* begin of the last occurrence; 0: none */
};

/* Time domain: the sources that followed each other in a detour, joined by '_' in order, are one
 * combination. Interrupts nested in another source count in its time, not in the name. Every detour
 * belongs to exactly one combination. */
struct noise_combination {
	char name[NOISE_COMBINED_SIZE]; /* "timer_softirq:sched", "unexplained", "steal" */
	struct noise_spread seen;	/* lengths of the detours, as the loop saw them */
	struct noise_spread told;	/* strict time in them, as the kernel reported it */
	struct noise_histogram seen_lengths, told_lengths; /* of these; without told times of 0 */
};

/* ---- the speed of a CPU ---- */

/* The probes of one CPU in points, in order of time: at first of 100 ms each; when there are too
 * many, pairs are merged. A point begins at a multiple of its length, so points of two CPUs with
 * the same length cover the same times. Stretches without a probe have no point. */
#define NOISE_SPEED_POINTS_MAX 512
#define NOISE_SPEED_POINT_NS 100000000u
struct noise_speed_point {
	uint64_t begin_ns;	/* since the begin of the run */
	uint64_t length_ns;	/* the same of all points of a CPU */
	double ns[SPEED_KINDS]; /* one probe's work at the mean speed; NaN: all were left out */
	uint64_t probes;	/* in these means */
	uint64_t left_out;	/* interrupted */
};
typedef ARRAY(struct noise_speed_point) noise_speed_list;
/* at_ns: since the begin of the run, not before that of the last one. A sample with a flag is left
 * out. */
void noise_speed_add(noise_speed_list *points, uint64_t at_ns, const struct speed_sample *s);

/* ---- one CPU ---- */

/* The user-level histogram, with the classes of each bucket's detours. */
struct noise_detours {
	uint64_t count, ns;
	uint64_t class_ns[NOISE_CLASSES]; /* adds up to ns */
	uint64_t overlap_ns; /* complete detours in which the kernel reported anything: what a tool
				that only checks for presence would call explained */
};

/* A vector that /proc/interrupts counts but no tracepoint reports: a limit of what was missed. */
struct noise_untold {
	char name[NOISE_NAME_SIZE]; /* "HYP: Hypervisor callback interrupts" */
	uint64_t count;
};

/* The host's period, fitted again in each round. Means are over the rounds with a period. */
struct noise_host {
	uint32_t rounds, fitted;      /* rounds examined; rounds with a period */
	double period_ns;	      /* mean */
	double width_ns;	      /* half the width of the window around the phase, mean */
	double chance;		      /* share of detours at random times that would fall into it */
	uint64_t in_phase, looked_at; /* detours with an unexplained part */
};

struct noise_cpu {
	uint32_t cpu;
	uint32_t rounds;
	uint64_t window_ns;    /* watched, in all rounds */
	uint64_t unwatched_ns; /* of that, while the loop wrote its notes or probed */
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
	noise_speed_list speeds; /* empty: the speed was not watched */
	struct noise_host host;
	uint64_t events, lost; /* reported by the kernel; without room */
	uint64_t outside; /* occurrences outside detours: shorter than the threshold, or while the
			     loop wrote its notes */
	uint64_t outside_ns;
	/* Counted by the CPU in all rounds, also while the loop saw nothing; and of these, those in
	 * detours with time in class smi. ABSENT_NS: this CPU does not count them. */
	uint64_t smi_count, smi_explained;
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

/* Coverage of detours from from_ns on. Time in class throttled is the price of the real-time class,
 * not noise, and is excluded. Shares of ns; NaN: there is none, or it was not reported. */
struct noise_coverage {
	uint64_t from_ns, count, ns;
	double named;	/* in any class except unexplained */
	double strict;	/* in intervals that the kernel reported */
	double overlap; /* in detours in which it reported anything */
};

/* The source of this class and name, which is added if new, or "others" if there is no room. The
 * pointer is valid until the next call. It is found quickly by a hash of the name. */
struct noise_source *noise_source_get(struct noise_cpu *c, enum noise_class class,
				      const char *name);
struct noise_combination *noise_combination_get(struct noise_cpu *c, const char *name);

/* ---- in time ---- */

/* The run in up to NOISE_PARTS_MAX parts, for the spread of a rate: at first one round each; when
 * there are too many, pairs are merged. All parts except the last have the same number of rounds;
 * pauses make their lengths differ. The parts add up to the run. */
#define NOISE_PARTS_MAX 128
struct noise_share {
	uint32_t cpu;	 /* index in noise.cpus */
	uint32_t source; /* index in its sources */
	uint64_t count, ns;
};
struct noise_part {
	uint64_t begin_ns;		  /* since the begin of the run */
	uint64_t window_ns;		  /* watched, summed over the CPUs */
	uint64_t count, ns;		  /* detours of all CPUs */
	ARRAY(struct noise_share) shares; /* by cpu and source */
};

/* One of the longest detours, with the events around it. */
#define NOISE_WORST_DEFAULT 20
struct noise_worst {
	uint32_t cpu;	    /* its number */
	struct trace trace; /* names and events of this CPU from shortly before to shortly after */
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
	uint64_t elapsed_ns;  /* until the end of the last, including pauses */
	uint32_t part_rounds; /* rounds in a part */
	ARRAY(struct noise_cpu) cpus;
	ARRAY(struct noise_part) parts;
	ARRAY(struct noise_worst) worst; /* longest first */
	uint32_t worst_max;
};

void noise_init(struct noise *n, const uint32_t *cpus, size_t count);
void noise_release(struct noise *n);
bool noise_smis_told(const struct noise *n); /* whether any of its CPUs counts SMIs */
/* All CPUs as one (cpu UINT32_MAX): sums, but the largest thresholds, steps and turns; sources and
 * combinations are matched by name. Speeds are not summed: it has none. The caller releases it. */
void noise_together(const struct noise *n, struct noise_cpu *into);
void noise_cpu_release(struct noise_cpu *c);

/* ---- the catalogue ---- */

extern const struct field noise_settings_fields[], noise_cpu_fields[], noise_bucket_fields[],
	noise_source_fields[], noise_combination_fields[], noise_untold_fields[],
	noise_part_fields[], noise_worst_fields[], noise_share_fields[], noise_length_fields[],
	noise_speed_fields[];
extern const struct shape noise_settings_shape, noise_coverage_shape, noise_cpu_shape,
	noise_bucket_shape, noise_length_shape, noise_part_shape, noise_worst_shape,
	noise_speed_point_shape;

#endif
