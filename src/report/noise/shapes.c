/* What the documents of this folder are made of: docs/schema/ comes from it. What is stored as it
 * is has its rows in record/noise.c. */
#include "report/core/shapes.h"

#include "report/noise/rows.h"

static const char *const type_names[] = { "noise" };

#define SHARE "\"minimum\": 0, \"maximum\": 1"
#define NOT_NEGATIVE "\"minimum\": 0"

/* ---- a source, a combination ---- */

#define FIGURES(type, member)                                                                  \
	FACT(type, member count, "count", FIELD_U64, NULL),                                    \
		FACT(type, member ns, "ns", FIELD_U64, "Their sum."),                          \
		FACT(type, member min_ns, "min_ns", FIELD_NS, NULL),                           \
		FACT(type, member max_ns, "max_ns", FIELD_NS, NULL),                           \
		FACT(type, member mean_ns, "mean_ns", FIELD_REAL, NULL, .more = NOT_NEGATIVE), \
		FACT(type, member sigma_ns, "sigma_ns", FIELD_REAL,                            \
		     "Of the population; null for fewer than two.", .more = NOT_NEGATIVE)
#define LENGTHS                                                                                 \
	{                                                                                       \
		"lengths", FIELD_LIST, .shape = &noise_length_shape, .flags = FIELD_BY_HAND,    \
				       .meaning = "Buckets 1 to 2 % wide, empty ones left out." \
	}
#define X(member, ...) FACT(struct noise_row, member, __VA_ARGS__)

static const struct field source_fields[] = {
	X(class, "class", FIELD_ENUM,
	  "irq to throttled: inside what the kernel told of (strict). delivery, steal, "
	  "host-periodic: named, but inferred.",
	  .limit = NOISE_CLASSES, .names = noise_class_names),
	X(name, "name", FIELD_TEXT, NULL, .flags = FIELD_ALWAYS),
	FIGURES(struct noise_row, seen.),
	X(share, "share", FIELD_REAL, "Of all time lost on this CPU.", .more = SHARE),
	X(period_ns, "period_ns", FIELD_REAL,
	  "From one occurrence to the next; null: none that holds.", .more = NOT_NEGATIVE),
	X(period_share, "period_share", FIELD_REAL,
	  "Of its intervals, those within 5 % of it or of a multiple up to 4.", .more = SHARE),
	LENGTHS,
	{ 0 },
};
const struct shape noise_source_shape = {
	"noise_source",
	"One sample for each occurrence, nested ones taken off; of a class that is inferred, one "
	"for each detour.",
	source_fields
};

static const struct field told_fields[] = {
	FIGURES(struct noise_figures, ),
	LENGTHS,
	{ 0 },
};
const struct shape noise_told_shape = { "noise_told", NULL, told_fields };

static const struct field combination_fields[] = {
	X(name, "name", FIELD_TEXT, "Sources that followed each other in a detour, joined by '_'.",
	  .flags = FIELD_ALWAYS),
	FIGURES(struct noise_row, seen.),
	X(share, "share", FIELD_REAL, "Of all time lost on this CPU.", .more = SHARE),
	LENGTHS,
	{ "told", FIELD_OBJECT, .shape = &noise_told_shape, .flags = FIELD_MAYBE,
	  .meaning = "Strict time in these detours, where there was any; null: the kernel's side "
		     "was not seen." },
	{ 0 },
};
const struct shape noise_combination_shape = {
	"noise_combination",
	"Every detour is in exactly one; ns, min_ns and so on are the detours', as the loop saw "
	"them.",
	combination_fields
};
#undef X

/* ---- the speed ---- */

#define X(member, ...) FACT(struct noise_speed_report, member, __VA_ARGS__)
#define WORK(kind, name, meaning) \
	X(figures.of[kind], "work." name, FIELD_OBJECT, meaning, .shape = &speed_figures_shape)
static const struct field speed_fields[] = {
	X(figures.length_ns, "point_ns", FIELD_U64, "The length of a point."),
	X(figures.probes, "probes", FIELD_U64, "That count."),
	X(figures.left_out, "left_out", FIELD_U64, "That were interrupted."),
	X(figures.least, "least", FIELD_REAL,
	  "The speed at its worst, as a share of its best, of the work that varied most, loads "
	  "excepted. null: fewer than two points.",
	  .more = SHARE),
	WORK(SPEED_CHAIN, "chain", "Dependent multiplications: the clock."),
	WORK(SPEED_PORTS, "ports", "Additions that fill the ports, which a sibling shares."),
	WORK(SPEED_TURNS, "turns", "A tight loop: the front end."),
	WORK(SPEED_LOADS, "loads", "Dependent loads from 4 MiB."),
	X(points, "points", FIELD_LIST, "In order of time. Stretches without a probe have none.",
	  .limit = sizeof(struct noise_speed_point), .shape = &noise_speed_point_shape),
	{ 0 },
};
#undef WORK
#undef X
const struct shape noise_speed_shape = {
	"noise_speed", "How fast the CPU did known work, between the loop's turns.", speed_fields
};

/* ---- a run ---- */

static const struct field cpu_fields[] = {
	{ "", FIELD_SPLICE, .shape = &noise_cpu_shape },
	{ "speed", FIELD_OBJECT, .shape = &noise_speed_shape, .flags = FIELD_MAYBE,
	  .meaning = "null: it was not watched, or these are all CPUs together." },
	{ "sources", FIELD_LIST, .shape = &noise_source_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Empty where nobody could be named: settings.kernel is false." },
	{ "combinations", FIELD_LIST, .shape = &noise_combination_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Likewise." },
	{ "buckets", FIELD_LIST, .shape = &noise_bucket_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Empty ones left out." },
	{ 0 },
};
const struct shape noise_cpu_report_shape = { "noise_cpu", NULL, cpu_fields };

static const struct field noise_fields[] = {
	{ "type", FIELD_ENUM, 1, .names = type_names },
	{ "format", FIELD_CONST, 1, .meaning = "Raised when a field changes its meaning.",
	  .more = "\"const\": 1" },
	{ "run", FIELD_OBJECT, .shape = &stored_run_shape, .flags = FIELD_MAYBE },
	{ "machine", FIELD_OBJECT, .shape = &machine_shape, .flags = FIELD_MAYBE },
	{ "settings", FIELD_OBJECT, .shape = &noise_settings_shape },
	FACT(struct noise, elapsed_ns, "elapsed_ns", FIELD_U64,
	     "From the first round to the last, pauses included."),
	{ "together", FIELD_OBJECT, .shape = &noise_cpu_report_shape, .flags = FIELD_BY_HAND },
	{ "cpus", FIELD_LIST, .shape = &noise_cpu_report_shape, .flags = FIELD_BY_HAND },
	FACT(struct noise, parts, "parts", FIELD_LIST,
	     "The run in parts of so many rounds: pauses make them of unequal length.",
	     .limit = sizeof(struct noise_part), .shape = &noise_part_shape),
	{ "worst", FIELD_LIST, .shape = &noise_worst_shape, .flags = FIELD_BY_HAND,
	  .meaning = "The longest detours, longest first." },
	{ 0 },
};
const struct shape noise_shape = {
	"noise",
	"What `tare noise --json` writes: who took the CPU away from a loop, how often and for how "
	"long. Times are in ns. null: not seen, or not defined for so few; never the same as 0.",
	noise_fields
};

/* ---- a comparison ---- */

#define RATIO(type, p_meaning)                                                                  \
	FACT(type, ratio, "ratio", FIELD_REAL,                                                  \
	     "Of the time lost: run / base. null: one of them lacks it, has too few parts, "    \
	     "or lost none.",                                                                   \
	     .more = NOT_NEGATIVE),                                                             \
		FACT(type, ratio_low, "ratio_low", FIELD_REAL, "95 % interval over the parts.", \
		     .more = NOT_NEGATIVE),                                                     \
		FACT(type, ratio_high, "ratio_high", FIELD_REAL, NULL, .more = NOT_NEGATIVE),   \
		FACT(type, p, "p", FIELD_REAL, p_meaning, .more = SHARE)
/* Two figures that are always there, before and now. */
#define BOTH(type, base_, run_, meaning_)                                        \
	FACT(type, base_, #base_, FIELD_REAL, meaning_, .flags = FIELD_ALWAYS,   \
	     .more = NOT_NEGATIVE),                                              \
		FACT(type, run_, #run_, FIELD_REAL, NULL, .flags = FIELD_ALWAYS, \
		     .more = NOT_NEGATIVE)

#define X(member, ...) FACT(struct noise_side, member, __VA_ARGS__)
static const struct field side_fields[] = {
	X(run, "run", FIELD_ID, "Its number in the lab; null: not stored.",
	  .more = "\"minimum\": 1"),
	X(name, "name", FIELD_TEXT, NULL, .flags = FIELD_ALWAYS),
	X(noise.cpus, "cpus", FIELD_LIST, NULL, .item = FIELD_U32,
	  .limit = sizeof(struct noise_cpu)),
	X(window_ns, "window_ns", FIELD_U64, "Looked at, summed over the CPUs."),
	X(noise.parts.count, "parts", FIELD_U64,
	  "Of the run, over which intervals and tests are taken; fewer than 4 give none."),
	X(threshold_ns, "threshold_ns", FIELD_U64,
	  "Shortest detour told; the largest of the CPUs."),
	X(noise.kernel, "kernel", FIELD_BOOL, "Sources have names."),
	X(noise.steal_told, "steal_told", FIELD_BOOL, "The hypervisor's steal is known."),
	X(noise.realtime, "realtime", FIELD_BOOL, "The loop was of the real-time class."),
	{ 0 },
};
static const struct shape side_shape = { "noise_diff_side", "The baseline.", side_fields };
#undef X

static const struct field total_fields[] = {
	BOTH(struct jitter_diff, base_share, run_share, "Time lost per time, all sources."),
	RATIO(struct jitter_diff, "Of a permutation test over the parts; not adjusted."),
	{ 0 },
};
static const struct shape total_shape = { "noise_diff_total", NULL, total_fields };

static const struct field counts_fields[] = {
	{ "", FIELD_EACH, JITTER_CHANGES, .names = jitter_change_names, .item = FIELD_U64 },
	{ 0 },
};
static const struct shape counts_shape = { "noise_diff_counts", "Sources by change.",
					   counts_fields };

#define X(member, ...) FACT(struct jitter_source_diff, member, __VA_ARGS__)
static const struct field source_diff_fields[] = {
	X(class, "class", FIELD_ENUM, NULL, .limit = NOISE_CLASSES, .names = noise_class_names),
	X(name, "name", FIELD_NAME, NULL, .limit = NOISE_NAME_SIZE),
	X(change, "change", FIELD_ENUM,
	  "Unsure: p is 0.05 or more, or null. Otherwise, new and gone: one of the two lacks it; grown "
	  "and shrunk: by 1.1 times at least, with an interval that excludes 1; same: less than that.",
	  .limit = JITTER_CHANGES, .names = jitter_change_names),
	BOTH(struct jitter_source_diff, base_rate, run_rate, "Occurrences per s of a CPU."),
	BOTH(struct jitter_source_diff, base_share, run_share, "Time lost to it per time."),
	X(base_mean_ns, "base_mean_ns", FIELD_REAL, "Of an occurrence; null: there is none.",
	  .more = NOT_NEGATIVE),
	X(run_mean_ns, "run_mean_ns", FIELD_REAL, NULL, .more = NOT_NEGATIVE),
	X(base_max_ns, "base_max_ns", FIELD_NS, NULL),
	X(run_max_ns, "run_max_ns", FIELD_NS, NULL),
	RATIO(struct jitter_source_diff,
	      "In one of the two only: that all appearances fell into one by chance; else of a "
	      "permutation test over the parts. Adjusted over all sources by Benjamini and "
	      "Hochberg. null: too few parts, for how one depends on the one before."),
	{ 0 },
};
static const struct shape source_diff_shape = { "noise_diff_source", NULL, source_diff_fields };
#undef X

#define X(member, ...) FACT(struct jitter_peak, member, __VA_ARGS__)
static const struct field peak_fields[] = {
	X(low_ns, "low_ns", FIELD_U64, NULL),
	X(high_ns, "high_ns", FIELD_U64, "Not included."),
	BOTH(struct jitter_peak, base_rate, run_rate, "Detours of these lengths per s of a CPU."),
	X(name, "name", FIELD_NAME,
	  "The combination of sources that changed most there; \"\": none is known.",
	  .limit = NOISE_COMBINED_SIZE),
	{ 0 },
};
static const struct shape peak_shape = { "noise_diff_peak", NULL, peak_fields };
#undef X

#define X(member, ...) FACT(struct noise_diff_report, member, __VA_ARGS__)
#define OF_REALS                                                            \
	.item = FIELD_REAL, .limit = sizeof(double), .flags = FIELD_ALWAYS, \
	.more = "\"items\": {\"type\": \"number\", \"minimum\": 0}"
static const struct field density_fields[] = {
	X(diff.bandwidth, "bandwidth", FIELD_REAL, "Decades, the same for both.",
	  .flags = FIELD_ALWAYS, .more = NOT_NEGATIVE),
	X(diff.distance, "distance", FIELD_REAL,
	  "Half of the integral of |run - base|, both normalised.", .flags = FIELD_ALWAYS,
	  .more = SHARE),
	X(grid_ns, "ns", FIELD_LIST, "Lengths.", OF_REALS),
	X(base_density, "base", FIELD_LIST, "Detours per s and decade of length.", OF_REALS),
	X(run_density, "run", FIELD_LIST, NULL, OF_REALS),
	{ 0 },
};
#define DENSITY "By Parzen's method over log10 of the lengths, with a Gaussian kernel."
static const struct shape density_shape = { "noise_diff_density", DENSITY, density_fields };

static const struct field noise_diff_fields[] = {
	{ "format", FIELD_CONST, 2,
	  .meaning = "Raised when a field changes its meaning. 2: new and gone are sure.",
	  .more = "\"const\": 2" },
	X(text, "text", FIELD_TEXT, "The verdict as a sentence.", .flags = FIELD_ALWAYS),
	X(notes, "notes", FIELD_LIST,
	  "What makes a difference that no source made: other CPUs, thresholds, no names.",
	  .item = FIELD_TEXT, .limit = sizeof(char *), .flags = FIELD_ALWAYS),
	X(base, "base", FIELD_OBJECT, "The baseline.", .shape = &side_shape),
	X(run, "run", FIELD_OBJECT, "What is compared with it.", .shape = &side_shape),
	X(diff, "total", FIELD_OBJECT, NULL, .shape = &total_shape),
	X(counts, "counts", FIELD_OBJECT, "Sources by change.", .shape = &counts_shape),
	X(diff.sources, "sources", FIELD_LIST,
	  "All CPUs together. New first, then grown, shrunk, gone, same, unsure; each by the larger "
	  "share. Empty where one of the two has no names.",
	  .limit = sizeof(struct jitter_source_diff), .shape = &source_diff_shape),
	X(peaks, "peaks", FIELD_LIST,
	  "Lengths that became more or less frequent, by the time lost; none where no change of a "
	  "source or of all is sure.",
	  .limit = sizeof(struct jitter_peak), .shape = &peak_shape, .more = "\"maxItems\": 5"),
	{ "density", FIELD_OBJECT, .shape = &density_shape, .meaning = DENSITY },
	{ 0 },
};
#undef X
const struct shape noise_diff_shape = {
	"noise_diff",
	"A run of `tare noise` against a baseline. Rates are per s of one CPU, times in ns, shares "
	"ns lost per ns.",
	noise_diff_fields
};
