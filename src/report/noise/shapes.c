/* What the documents of this folder are made of: docs/schema/ comes from it. */
#include "report/core/shapes.h"

static const char *const class_names[] = { "irq",   "softirq",	     "nmi",	   "thread",
					   "work",  "fault",	     "throttled",  "delivery",
					   "steal", "host-periodic", "unexplained" };
static const char *const type_names[] = { "noise" };
static const char *const change_names[] = { "new", "grown", "shrunk", "gone", "same" };

static const struct field settings_fields[] = {
	{ "cpus", FIELD_LIST, .item = FIELD_U64, .flags = FIELD_BY_HAND },
	{ "realtime", FIELD_BOOL, .meaning = "The loop ran under SCHED_FIFO." },
	{ "priority", FIELD_ID, .more = "\"minimum\": 1, \"maximum\": 99" },
	{ "kernel", FIELD_BOOL, .meaning = "The kernel's side was seen: sources have names." },
	{ "steal_told", FIELD_BOOL },
	{ "part_rounds", FIELD_I64, .meaning = "Rounds in a part.", .more = "\"minimum\": 1" },
	{ 0 },
};
const struct shape settings_shape = { "settings", NULL, settings_fields };

static const struct field class_ns_fields[] = {
	{ "irq", FIELD_KNOWN },		  { "softirq", FIELD_KNOWN },	  { "nmi", FIELD_KNOWN },
	{ "thread", FIELD_KNOWN },	  { "work", FIELD_KNOWN },	  { "fault", FIELD_KNOWN },
	{ "throttled", FIELD_KNOWN },	  { "delivery", FIELD_KNOWN },	  { "steal", FIELD_KNOWN },
	{ "host-periodic", FIELD_KNOWN }, { "unexplained", FIELD_KNOWN }, { 0 },
};
const struct shape class_ns_shape = { "class_ns",
				      "They add up to ns. null: this run could not know.",
				      class_ns_fields };

static const struct field detours_fields[] = {
	{ "count", FIELD_U64 },
	{ "ns", FIELD_U64 },
	{ "min_ns", FIELD_NS },
	{ "max_ns", FIELD_NS },
	{ "per_s", FIELD_REAL, .meaning = "And CPU, of the time looked at: window_ns.",
	  .more = "\"minimum\": 0" },
	{ "lost_share", FIELD_REAL, .meaning = "ns, of the time looked at: window_ns.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "class_ns", FIELD_OBJECT, .shape = &class_ns_shape, .flags = FIELD_BY_HAND,
	  .meaning = "They add up to ns. null: this run could not know." },
	{ "overlap_ns", FIELD_NS,
	  .meaning = "Whole detours in which the kernel told of anything." },
	{ 0 },
};
const struct shape detours_shape = { "detours", NULL, detours_fields };

static const struct field coverage_fields[] = {
	{ "from_ns", FIELD_U64, .meaning = "Of detours this long or longer." },
	{ "count", FIELD_U64 },
	{ "ns", FIELD_U64,
	  .meaning =
		  "Their time but that in class throttled: it is the price of the real-time class, and in none of these." },
	{ "named", FIELD_REAL, .meaning = "Of their time, in any class but unexplained.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "strict", FIELD_REAL, .meaning = "Inside what the kernel told of.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "overlap", FIELD_REAL, .meaning = "In detours in which it told of anything.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ 0 },
};
const struct shape coverage_shape = { "coverage", NULL, coverage_fields };

static const struct field host_fields[] = {
	{ "rounds", FIELD_U64, .meaning = "Looked at." },
	{ "fitted", FIELD_U64, .meaning = "In which a period was found." },
	{ "period_ns", FIELD_REAL, .more = "\"minimum\": 0" },
	{ "width_ns", FIELD_REAL, .meaning = "Half the width of the window around the phase.",
	  .more = "\"minimum\": 0" },
	{ "chance", FIELD_REAL,
	  .meaning = "Of detours at random times, those that would fall into it.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "in_phase", FIELD_U64 },
	{ "looked_at", FIELD_U64, .meaning = "Detours with something left to explain." },
	{ 0 },
};
const struct shape host_shape = {
	"host", "A period of the host in what is otherwise unexplained: an inference.", host_fields
};

static const struct field untold_fields[] = {
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "count", FIELD_U64 },
	{ 0 },
};
const struct shape untold_shape = { "untold", NULL, untold_fields };

static const struct field length_fields[] = {
	{ "low_ns", FIELD_U64 },
	{ "high_ns", FIELD_U64, .meaning = "Not in it." },
	{ "count", FIELD_I64, .more = "\"minimum\": 1" },
	{ "ns", FIELD_U64 },
	{ 0 },
};
const struct shape length_shape = { "length", NULL, length_fields };

static const struct field source_fields[] = {
	{ "class", FIELD_ENUM, .limit = 11, .names = class_names,
	  .meaning =
		  "irq to throttled: inside what the kernel told of (strict). delivery, steal, host-periodic: named, but inferred." },
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "count", FIELD_U64 },
	{ "ns", FIELD_U64, .meaning = "Their sum." },
	{ "min_ns", FIELD_NS },
	{ "max_ns", FIELD_NS },
	{ "mean_ns", FIELD_REAL, .more = "\"minimum\": 0" },
	{ "sigma_ns", FIELD_REAL, .meaning = "Of the population; null for fewer than two.",
	  .more = "\"minimum\": 0" },
	{ "share", FIELD_REAL, .meaning = "Of all time lost on this CPU.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "period_ns", FIELD_REAL,
	  .meaning = "From one occurrence to the next; null: none that holds.",
	  .more = "\"minimum\": 0" },
	{ "period_share", FIELD_REAL,
	  .meaning = "Of its intervals, those within 5 % of it or of a multiple up to 4.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "lengths", FIELD_LIST, .shape = &length_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Buckets 1 to 2 % wide, empty ones left out." },
	{ 0 },
};
const struct shape source_shape = {
	"source",
	"One sample for each occurrence, nested ones taken off; of a class that is inferred, one for each detour.",
	source_fields
};

static const struct field told_fields[] = {
	{ "count", FIELD_U64 },
	{ "ns", FIELD_U64, .meaning = "Their sum." },
	{ "min_ns", FIELD_NS },
	{ "max_ns", FIELD_NS },
	{ "mean_ns", FIELD_REAL, .more = "\"minimum\": 0" },
	{ "sigma_ns", FIELD_REAL, .meaning = "Of the population; null for fewer than two.",
	  .more = "\"minimum\": 0" },
	{ "lengths", FIELD_LIST, .shape = &length_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Buckets 1 to 2 % wide, empty ones left out." },
	{ 0 },
};
const struct shape told_shape = { "told", NULL, told_fields };

static const struct field combination_fields[] = {
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS,
	  .meaning = "Sources that followed each other in a detour, joined by '_'." },
	{ "count", FIELD_U64 },
	{ "ns", FIELD_U64, .meaning = "Their sum." },
	{ "min_ns", FIELD_NS },
	{ "max_ns", FIELD_NS },
	{ "mean_ns", FIELD_REAL, .more = "\"minimum\": 0" },
	{ "sigma_ns", FIELD_REAL, .meaning = "Of the population; null for fewer than two.",
	  .more = "\"minimum\": 0" },
	{ "share", FIELD_REAL, .meaning = "Of all time lost on this CPU.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "lengths", FIELD_LIST, .shape = &length_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Buckets 1 to 2 % wide, empty ones left out." },
	{ "told", FIELD_OBJECT, .shape = &told_shape, .flags = FIELD_MAYBE,
	  .meaning =
		  "Strict time in these detours, where there was any; null: the kernel's side was not seen." },
	{ 0 },
};
const struct shape combination_shape = {
	"combination",
	"Every detour is in exactly one; ns, min_ns and so on are the detours', as the loop saw them.",
	combination_fields
};

static const struct field bucket_fields[] = {
	{ "low_ns", FIELD_U64 },
	{ "high_ns", FIELD_U64, .meaning = "Not in it." },
	{ "count", FIELD_U64, .meaning = "Detours of this length: the user-level histogram." },
	{ "ns", FIELD_U64 },
	{ "class_ns", FIELD_OBJECT, .shape = &class_ns_shape, .flags = FIELD_BY_HAND,
	  .meaning = "They add up to ns. null: this run could not know." },
	{ "overlap_ns", FIELD_NS,
	  .meaning = "Whole detours in which the kernel told of anything." },
	{ "master_count", FIELD_KNOWN,
	  .meaning = "Detours with so much strict time: the master histogram." },
	{ "master_ns", FIELD_NS },
	{ 0 },
};
const struct shape bucket_shape = { "bucket", NULL, bucket_fields };

static const struct field cpu_fields[] = {
	{ "cpu", FIELD_KNOWN,
	  .meaning =
		  "null: all of them together. Then times are sums; thresholds, steps and turns the largest." },
	{ "rounds", FIELD_U64 },
	{ "window_ns", FIELD_U64, .meaning = "Looked at, in all rounds." },
	{ "unwatched_ns", FIELD_U64, .meaning = "Of it, the loop's own notes." },
	{ "duty_cycle", FIELD_REAL,
	  .meaning =
		  "(window_ns - unwatched_ns) of the time that passed, pauses between rounds included.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "turns", FIELD_U64, .meaning = "Of the loop." },
	{ "threshold_ns", FIELD_U64, .meaning = "A gap above it is a detour." },
	{ "step_ns", FIELD_REAL, .flags = FIELD_ALWAYS, .meaning = "Of the clock.",
	  .more = "\"minimum\": 0" },
	{ "turn_ns", FIELD_REAL, .flags = FIELD_ALWAYS, .meaning = "Of the loop, median.",
	  .more = "\"minimum\": 0" },
	{ "turn_p999_ns", FIELD_REAL, .flags = FIELD_ALWAYS, .more = "\"minimum\": 0" },
	{ "detours", FIELD_OBJECT, .shape = &detours_shape, .flags = FIELD_BY_HAND },
	{ "coverage", FIELD_LIST, .shape = &coverage_shape, .flags = FIELD_BY_HAND },
	{ "host", FIELD_OBJECT, .shape = &host_shape, .flags = FIELD_BY_HAND,
	  .meaning = "A period of the host in what is otherwise unexplained: an inference." },
	{ "untold", FIELD_LIST, .shape = &untold_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Vectors that /proc/interrupts counts and no tracepoint tells." },
	{ "events", FIELD_KNOWN, .meaning = "Told by the kernel." },
	{ "lost", FIELD_KNOWN, .meaning = "That found no room." },
	{ "outside", FIELD_KNOWN, .meaning = "Occurrences in no detour." },
	{ "outside_ns", FIELD_NS },
	{ "sources", FIELD_LIST, .shape = &source_shape, .flags = FIELD_BY_HAND },
	{ "combinations", FIELD_LIST, .shape = &combination_shape, .flags = FIELD_BY_HAND },
	{ "buckets", FIELD_LIST, .shape = &bucket_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Empty ones left out." },
	{ 0 },
};
const struct shape cpu_shape = { "cpu", NULL, cpu_fields };

static const struct field share_fields[] = {
	{ "cpu", FIELD_U64, .meaning = "Index in cpus." },
	{ "source", FIELD_U64, .meaning = "Index in its sources." },
	{ "count", FIELD_U64 },
	{ "ns", FIELD_U64 },
	{ 0 },
};
const struct shape share_shape = { "share", NULL, share_fields };

static const struct field part_fields[] = {
	{ "begin_ns", FIELD_U64, .meaning = "Since the begin of the run." },
	{ "window_ns", FIELD_U64, .meaning = "Summed over the CPUs." },
	{ "count", FIELD_U64, .meaning = "Detours of all CPUs." },
	{ "ns", FIELD_U64 },
	{ "shares", FIELD_LIST, .shape = &share_shape, .flags = FIELD_BY_HAND },
	{ 0 },
};
const struct shape part_shape = { "part", NULL, part_fields };

static const struct field worst_fields[] = {
	{ "cpu", FIELD_U64 },
	{ "begin_ns", FIELD_U64, .meaning = "Since the begin of the run." },
	{ "ns", FIELD_U64 },
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "Its combination." },
	{ "class_ns", FIELD_OBJECT, .shape = &class_ns_shape, .flags = FIELD_BY_HAND,
	  .meaning = "They add up to ns. null: this run could not know." },
	{ 0 },
};
const struct shape worst_shape = { "worst", NULL, worst_fields };

static const struct field noise_fields[] = {
	{ "type", FIELD_ENUM, .limit = 1, .names = type_names },
	{ "format", FIELD_U64, .meaning = "Raised when a field changes its meaning.",
	  .more = "\"const\": 1" },
	{ "run", FIELD_OBJECT, .shape = &noise_run_shape, .flags = FIELD_MAYBE },
	{ "machine", FIELD_OBJECT, .shape = &machine_shape, .flags = FIELD_MAYBE },
	{ "settings", FIELD_OBJECT, .shape = &settings_shape, .flags = FIELD_BY_HAND },
	{ "elapsed_ns", FIELD_U64,
	  .meaning = "From the first round to the last, pauses included." },
	{ "together", FIELD_OBJECT, .shape = &cpu_shape, .flags = FIELD_BY_HAND },
	{ "cpus", FIELD_LIST, .shape = &cpu_shape, .flags = FIELD_BY_HAND },
	{ "parts", FIELD_LIST, .shape = &part_shape, .flags = FIELD_BY_HAND,
	  .meaning = "The run in parts of so many rounds: pauses make them of unequal length." },
	{ "worst", FIELD_LIST, .shape = &worst_shape, .flags = FIELD_BY_HAND,
	  .meaning = "The longest detours, longest first." },
	{ 0 },
};
const struct shape noise_shape = {
	"noise",
	"What `tare noise --json` writes: who took the CPU away from a loop, how often and for how long. Times are in ns. null: not seen, or not defined for so few; never the same as 0.",
	noise_fields
};

static const struct field base_fields[] = {
	{ "run", FIELD_ID, .meaning = "Its number in the lab; null: not stored.",
	  .more = "\"minimum\": 1" },
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "cpus", FIELD_LIST, .item = FIELD_U64, .flags = FIELD_BY_HAND },
	{ "window_ns", FIELD_U64, .meaning = "Looked at, summed over the CPUs." },
	{ "parts", FIELD_U64,
	  .meaning =
		  "Of the run, over which intervals and tests are taken; fewer than 4 give none." },
	{ "threshold_ns", FIELD_U64, .meaning = "Shortest detour told; the largest of the CPUs." },
	{ "kernel", FIELD_BOOL, .meaning = "Sources have names." },
	{ "steal_told", FIELD_BOOL, .meaning = "The hypervisor's steal is known." },
	{ "realtime", FIELD_BOOL, .meaning = "The loop was of the real-time class." },
	{ 0 },
};
const struct shape base_shape = { "base", "The baseline.", base_fields };

static const struct field total_fields[] = {
	{ "base_share", FIELD_REAL, .flags = FIELD_ALWAYS,
	  .meaning = "Time lost per time, all sources.", .more = "\"minimum\": 0" },
	{ "run_share", FIELD_REAL, .flags = FIELD_ALWAYS, .more = "\"minimum\": 0" },
	{ "ratio", FIELD_REAL,
	  .meaning =
		  "Of the time lost: run / base. null: one of them lacks it, has too few parts, or lost none.",
	  .more = "\"minimum\": 0" },
	{ "ratio_low", FIELD_REAL, .meaning = "95 % interval over the parts.",
	  .more = "\"minimum\": 0" },
	{ "ratio_high", FIELD_REAL, .more = "\"minimum\": 0" },
	{ "p", FIELD_REAL, .meaning = "Mann-Whitney's over the parts; not adjusted.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ 0 },
};
const struct shape total_shape = { "total", NULL, total_fields };

static const struct field counts_fields[] = {
	{ "same", FIELD_U64 },	{ "new", FIELD_U64 },	 { "gone", FIELD_U64 },
	{ "grown", FIELD_U64 }, { "shrunk", FIELD_U64 }, { 0 },
};
const struct shape counts_shape = { "counts", "Sources by change.", counts_fields };

static const struct field noise_diff_source_fields[] = {
	{ "class", FIELD_ENUM, .limit = 11, .names = class_names },
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "change", FIELD_ENUM, .limit = 5, .names = change_names,
	  .meaning =
		  "New and gone: one of the two lacks it, which is sure where p is below 0.05. Grown and shrunk have such a p, by 1.1 times at least, with an interval that excludes 1." },
	{ "base_rate", FIELD_REAL, .flags = FIELD_ALWAYS, .meaning = "Occurrences per s of a CPU.",
	  .more = "\"minimum\": 0" },
	{ "run_rate", FIELD_REAL, .flags = FIELD_ALWAYS, .more = "\"minimum\": 0" },
	{ "base_share", FIELD_REAL, .flags = FIELD_ALWAYS, .meaning = "Time lost to it per time.",
	  .more = "\"minimum\": 0" },
	{ "run_share", FIELD_REAL, .flags = FIELD_ALWAYS, .more = "\"minimum\": 0" },
	{ "base_mean_ns", FIELD_REAL, .meaning = "Of an occurrence; null: there is none.",
	  .more = "\"minimum\": 0" },
	{ "run_mean_ns", FIELD_REAL, .more = "\"minimum\": 0" },
	{ "base_max_ns", FIELD_NS },
	{ "run_max_ns", FIELD_NS },
	{ "ratio", FIELD_REAL,
	  .meaning =
		  "Of the time lost: run / base. null: one of them lacks it, has too few parts, or lost none.",
	  .more = "\"minimum\": 0" },
	{ "ratio_low", FIELD_REAL, .meaning = "95 % interval over the parts.",
	  .more = "\"minimum\": 0" },
	{ "ratio_high", FIELD_REAL, .more = "\"minimum\": 0" },
	{ "p", FIELD_REAL,
	  .meaning =
		  "In one of the two only: that all occurrences fell there by chance; else Mann-Whitney's over the parts. Adjusted over all sources by Benjamini and Hochberg. null: too few parts.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ 0 },
};
const struct shape noise_diff_source_shape = { "noise_diff_source", NULL,
					       noise_diff_source_fields };

static const struct field peak_fields[] = {
	{ "low_ns", FIELD_U64 },
	{ "high_ns", FIELD_U64, .meaning = "Not included." },
	{ "base_rate", FIELD_REAL, .flags = FIELD_ALWAYS,
	  .meaning = "Detours of these lengths per s of a CPU.", .more = "\"minimum\": 0" },
	{ "run_rate", FIELD_REAL, .flags = FIELD_ALWAYS, .more = "\"minimum\": 0" },
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS,
	  .meaning = "The combination of sources that changed most there; \"\": none is known." },
	{ 0 },
};
const struct shape peak_shape = { "peak", NULL, peak_fields };

static const struct field density_fields[] = {
	{ "bandwidth", FIELD_REAL, .flags = FIELD_ALWAYS, .meaning = "Decades, the same for both.",
	  .more = "\"minimum\": 0" },
	{ "distance", FIELD_REAL, .flags = FIELD_ALWAYS,
	  .meaning = "Half of the integral of |run - base|, both normalised.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "ns", FIELD_LIST, .flags = FIELD_BY_HAND, .meaning = "Lengths.",
	  .more = "\"items\": {\"type\": \"number\", \"minimum\": 0}" },
	{ "base", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .meaning = "Detours per s and decade of length.",
	  .more = "\"items\": {\"type\": \"number\", \"minimum\": 0}" },
	{ "run", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .more = "\"items\": {\"type\": \"number\", \"minimum\": 0}" },
	{ 0 },
};
const struct shape density_shape = {
	"density", "By Parzen's method over log10 of the lengths, with a Gaussian kernel.",
	density_fields
};

static const struct field noise_diff_fields[] = {
	{ "format", FIELD_U64, .meaning = "Raised when a field changes its meaning.",
	  .more = "\"const\": 1" },
	{ "text", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "The verdict as a sentence." },
	{ "notes", FIELD_LIST, .item = FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning =
		  "What makes a difference that no source made: other CPUs, thresholds, no names." },
	{ "base", FIELD_OBJECT, .shape = &base_shape, .flags = FIELD_BY_HAND,
	  .meaning = "The baseline." },
	{ "run", FIELD_OBJECT, .shape = &base_shape, .flags = FIELD_BY_HAND,
	  .meaning = "What is compared with it." },
	{ "total", FIELD_OBJECT, .shape = &total_shape, .flags = FIELD_BY_HAND },
	{ "counts", FIELD_OBJECT, .shape = &counts_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Sources by change." },
	{ "sources", FIELD_LIST, .shape = &noise_diff_source_shape, .flags = FIELD_BY_HAND,
	  .meaning =
		  "All CPUs together. New first, then grown, shrunk, gone, those in one only that are not sure, same; each by the larger share." },
	{ "peaks", FIELD_LIST, .shape = &peak_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Lengths that became more or less frequent, by the time lost.",
	  .more = "\"maxItems\": 5" },
	{ "density", FIELD_OBJECT, .shape = &density_shape, .flags = FIELD_BY_HAND,
	  .meaning = "By Parzen's method over log10 of the lengths, with a Gaussian kernel." },
	{ 0 },
};
const struct shape noise_diff_shape = {
	"noise_diff",
	"A run of `tare noise` against a baseline. Rates are per s of one CPU, times in ns, shares ns lost per ns.",
	noise_diff_fields
};
