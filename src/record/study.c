#include "record/study.h"

#include <string.h>

const char *const study_source_names[] = { "active", "watch", "runs" };

const char *const study_length_names[] = { "short", "long" };

const char *const study_shape_names[] = { "symmetric", "L", "corner" };

bool number_list_has(const number_list *list, uint32_t number)
{
	for (size_t low = 0, high = list->count; low < high;) {
		size_t middle = low + (high - low) / 2;
		if (list->items[middle] == number)
			return true;
		if (list->items[middle] < number)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

void study_release(struct study *s)
{
	for (int i = 0; i < STUDY_LENGTHS; i++) {
		array_release(&s->runs[i].levels);
		array_release(&s->runs[i].l_samples);
		array_release(&s->runs[i].dropped);
	}
	for (size_t i = 0; i < s->daemons.count; i++)
		for (int k = 0; k < STUDY_LENGTHS; k++)
			array_release(&s->daemons.items[i].seen[k].samples);
	array_release(&s->daemons);
	array_release(&s->cutoffs);
	*s = (struct study){ 0 };
}

const struct cutoff *cutoff_find(const struct cutoff *list, size_t count, const char *daemon,
				 uint64_t et_ns)
{
	for (size_t i = 0; i < count; i++) {
		const struct cutoff *c = &list[i];
		if (strcmp(c->daemon, daemon) == 0 && et_ns >= c->from_ns &&
		    (!c->below_ns || et_ns < c->below_ns))
			return c;
	}
	return NULL;
}

bool study_is_undecided(const struct study *s, const struct study_daemon *d)
{
	/* the short run's holds from 0 on, the long run's up to any length */
	bool given[STUDY_LENGTHS] = { 0 };
	for (size_t i = 0; i < s->cutoffs.count; i++) {
		const struct cutoff *c = &s->cutoffs.items[i];
		if (strcmp(c->daemon, d->name) != 0)
			continue;
		given[STUDY_SHORT] |= c->from_ns == 0;
		given[STUDY_LONG] |= c->below_ns == 0;
	}
	for (int l = 0; l < STUDY_LENGTHS; l++)
		if (d->seen[l].has_cutoff && !given[l])
			return true;
	return false;
}

/* ---- the catalogue ---- */

#define X(member, ...) FACT(struct study_level, member, __VA_ARGS__)
const struct field study_level_fields[] = {
	X(low_ns, "low_ns", FIELD_U64, "The window of ET."),
	X(high_ns, "high_ns", FIELD_U64, NULL),
	X(cut_ns, "cut_ns", FIELD_U64, "Longer ones are slow."),
	X(neither, "neither", FIELD_U32,
	  "Pairs of an odd and an even sample, both within the window, by which of them is slow."),
	X(first, "first", FIELD_U32, NULL),
	X(second, "second", FIELD_U32, NULL),
	X(both, "both", FIELD_U32, NULL),
	X(both_expected, "both_expected", FIELD_REAL,
	  "If slow samples were independent of each other.", .flags = FIELD_ALWAYS,
	  .more = "\"minimum\": 0"),
	X(shape, "shape", FIELD_ENUM,
	  "symmetric: nothing stands out, the central cluster. L: infrequent daemons. corner: a "
	  "frequent one, or two bands.",
	  .limit = STUDY_SHAPES, .names = study_shape_names),
	{ 0 },
};
const struct shape study_level_shape = { "study_level", NULL, study_level_fields };

#undef X
#define X(member, ...) FACT(struct study_period, member, __VA_ARGS__)
static const struct field period_fields[] = {
	X(ns, "ns", FIELD_U64, "From one occurrence to the next."),
	X(error_ns, "error_ns", FIELD_U64, "+-, a standard error."),
	X(samples, "samples", FIELD_REAL, "The same, in samples.", .flags = FIELD_ALWAYS,
	  .more = "\"minimum\": 0"),
	X(uncertain, "uncertain", FIELD_BOOL, "Rests on two occurrences."),
	{ 0 },
};
const struct shape study_period_shape = { "study_period", NULL, period_fields };

/* In JSON an object, in SQL columns. */
#define PERIOD                                                                                  \
	X(period, "period", FIELD_OBJECT, "null: it has none.", .shape = &study_period_shape,   \
	  .flags = FIELD_ONLY_JSON | FIELD_GIVEN, .bits = PERIOD_FOUND),                        \
		X(period.found, "period_found", FIELD_BOOL, NULL, .flags = FIELD_ONLY_SQL),     \
		X(period.uncertain, "period_uncertain", FIELD_BOOL, NULL,                       \
		  .flags = FIELD_ONLY_SQL),                                                     \
		X(period.samples, "period_samples", FIELD_REAL, NULL, .flags = FIELD_ONLY_SQL), \
		X(period.ns, "period_ns", FIELD_U64, NULL, .flags = FIELD_ONLY_SQL),            \
		X(period.error_ns, "period_error_ns", FIELD_U64, NULL, .flags = FIELD_ONLY_SQL)
/* Numbers of samples: in SQL a text, "[1,2]". */
#define NUMBERS(member, name, meaning)                                                     \
	X(member, name, FIELD_LIST, meaning, .item = FIELD_U32, .limit = sizeof(uint32_t), \
	  .more = "\"uniqueItems\": true, \"items\": {\"type\": \"integer\", \"minimum\": 1}")

#undef X
#define X(member, ...) FACT(struct study_run, member, __VA_ARGS__)
const struct field study_run_fields[] = {
	X(run, "run", FIELD_ID, "Its number in the lab; null: none, or not stored.",
	  .more = "\"minimum\": 1"),
	X(length_ns, "length_ns", FIELD_U64, "What was aimed at, or the median ET."),
	X(samples, "samples", FIELD_U32, NULL),
	X(cluster, "cluster", FIELD_U32, "Samples in the central cluster."),
	X(cluster_low_ns, "cluster_low_ns", FIELD_NS, "ET of those; null: there are none."),
	X(cluster_high_ns, "cluster_high_ns", FIELD_NS, NULL),
	X(steadied, "steadied", FIELD_BOOL,
	  "Samples were compared by an ET without the variation of the program's own process "
	  "time: cluster_low_ns, cluster_high_ns and levels are of that."),
	X(levels, "levels", FIELD_LIST,
	  "The zooms, outermost first; the last is the cluster. Empty: too few samples.",
	  .shape = &study_level_shape, .limit = sizeof(struct study_level),
	  .flags = FIELD_ONLY_JSON),
	NUMBERS(l_samples, "l_samples", "Samples outside of the cluster, by number."),
	NUMBERS(dropped, "dropped",
		"Samples with an execution of a daemon above the cutoff that holds for "
		"length_ns."),
	X(mean_ns, "mean_ns", FIELD_REAL, "Of ET.", .more = "\"minimum\": 0"),
	X(mean_kept_ns, "mean_kept_ns", FIELD_REAL, "Without the dropped ones.",
	  .more = "\"minimum\": 0"),
	X(sigma_ns, "sigma_ns", FIELD_REAL, "Of ET; null: fewer than two.",
	  .more = "\"minimum\": 0"),
	X(sigma_kept_ns, "sigma_kept_ns", FIELD_REAL, "Without the dropped ones.",
	  .more = "\"minimum\": 0"),
	{ "sigma_ratio", FIELD_REAL, .flags = FIELD_ONLY_JSON | FIELD_MAYBE,
	  .meaning = "sigma_kept_ns / sigma_ns; null: there is no spread.",
	  .more = "\"minimum\": 0" },
	X(steady_sigma_ns, "steady_sigma_ns", FIELD_REAL, "Of that ET; null: not steadied.",
	  .more = "\"minimum\": 0"),
	X(steady_sigma_kept_ns, "steady_sigma_kept_ns", FIELD_REAL, "Without the dropped ones.",
	  .more = "\"minimum\": 0"),
	{ 0 },
};
const struct shape study_run_shape = { "study_run", NULL, study_run_fields };

#undef X
#define X(member, ...) FACT(struct study_seen, member, __VA_ARGS__)
#define PERIOD_FOUND offsetof(struct study_seen, period.found)
const struct field study_seen_fields[] = {
	X(cluster_executions, "cluster_executions", FIELD_U32, "In samples of the cluster."),
	X(cluster_max_ns, "cluster_max_ns", FIELD_NS,
	  "Their largest process time; null: it does not occur there."),
	X(cluster_sigma_ns, "cluster_sigma_ns", FIELD_REAL, NULL, .more = "\"minimum\": 0"),
	X(long_executions, "long_executions", FIELD_U32, "Long-running ones, in L-samples."),
	X(long_least_ns, "long_least_ns", FIELD_NS,
	  "The smallest process time of those; null: there are none."),
	X(long_most_ns, "long_most_ns", FIELD_NS, NULL),
	NUMBERS(samples, "samples", "That hold long-running ones, by number."),
	PERIOD,
	X(has_cutoff, "has_cutoff", FIELD_BOOL, NULL, .flags = FIELD_ONLY_SQL),
	X(cutoff_ns, "cutoff_ns", FIELD_U64, "Of this run alone; null: it gives none.",
	  .flags = FIELD_GIVEN, .bits = offsetof(struct study_seen, has_cutoff)),
	{ 0 },
};
const struct shape study_seen_shape = { "study_seen", NULL, study_seen_fields };

#undef X
#define X(member, ...) FACT(struct cutoff, member, __VA_ARGS__)
#define RANGE                                                                                \
	X(from_ns, "from_ns", FIELD_U64, "Holds for programs whose ET is from this on."),    \
		X(below_ns, "below_ns", FIELD_ID, "And below this; null: without end.",      \
		  .more = "\"minimum\": 1"),                                                 \
		X(cutoff_ns, "cutoff_ns", FIELD_U64, "Executions above it spoil a sample."), \
		X(edited, "edited", FIELD_BOOL, "By hand.")
static const struct field cutoff_range_fields[] = { RANGE, { 0 } };
const struct field cutoff_fields[] = {
	X(id, "id", FIELD_ID, "In the lab; null: not stored.", .flags = FIELD_ONLY_JSON,
	  .more = "\"minimum\": 1"),
	X(daemon, "daemon", FIELD_NAME, NULL, .limit = DAEMON_NAME, .more = "\"maxLength\": 16"),
	RANGE,
	{ 0 },
};
const struct shape cutoff_range_shape = { "cutoff_range", NULL, cutoff_range_fields };
const struct shape cutoff_shape = { "cutoff", NULL, cutoff_fields };

#undef X
#undef PERIOD_FOUND
#define X(member, ...) FACT(struct study_daemon, member, __VA_ARGS__)
#define PERIOD_FOUND offsetof(struct study_daemon, period.found)
const struct field study_daemon_fields[] = {
	X(name, "name", FIELD_NAME, NULL, .limit = DAEMON_NAME, .more = "\"maxLength\": 16"),
	{ "long_running", FIELD_BOOL, .flags = FIELD_ONLY_JSON | FIELD_BY_HAND,
	  .meaning = "In one of the runs." },
	PERIOD,
	{ "cutoffs", FIELD_LIST, .shape = &cutoff_range_shape,
	  .flags = FIELD_ONLY_JSON | FIELD_BY_HAND,
	  .meaning = "By range of program length, the shortest first." },
	{ "undecided", FIELD_BOOL, .flags = FIELD_ONLY_JSON | FIELD_BY_HAND,
	  .meaning =
		  "A run gives it a cutoff, which would be below what it usually takes in a run and is therefore not used." },
	{ "runs.short", FIELD_OBJECT, .shape = &study_seen_shape,
	  .flags = FIELD_ONLY_JSON | FIELD_MAYBE, .meaning = "What each run says of it." },
	{ "runs.long", FIELD_OBJECT, .shape = &study_seen_shape,
	  .flags = FIELD_ONLY_JSON | FIELD_MAYBE },
	{ 0 },
};
const struct shape study_daemon_shape = { "study_daemon", NULL, study_daemon_fields };

#undef X
#define X(member, ...) FACT(struct study, member, __VA_ARGS__)
const struct field study_fields[] = {
	X(id, "id", FIELD_ID, "In the lab; null: not stored.", .flags = FIELD_ONLY_JSON,
	  .more = "\"minimum\": 1"),
	X(source, "source", FIELD_ENUM, "Executions of inc, windows of a watch, or stored runs.",
	  .limit = STUDY_SOURCES, .names = study_source_names),
	X(made_at_ns, "made_at_ns", FIELD_DATE, NULL, .json = "made_at"),
	X(machine, "machine", FIELD_U64, "In the lab.", .json = "machine_id",
	  .flags = FIELD_ZERO_ABSENT, .more = "\"minimum\": 1"),
	{ 0 },
};

#undef X
#define X(member, ...) FACT(struct watch_row, member, __VA_ARGS__)
const struct field watch_row_fields[] = {
	X(id, "watch", FIELD_I64, NULL, .more = "\"minimum\": 1"),
	X(machine, "machine", FIELD_I64, NULL, .flags = FIELD_NOT_JSON),
	X(begun_at_ns, "begun_at", FIELD_DATE, NULL),
	X(ended_at_ns, "ended_at", FIELD_DATE, NULL),
	X(covered_ns, "covered_ns", FIELD_U64, NULL),
	X(bursts, "bursts", FIELD_U64, NULL),
	X(lost, "lost", FIELD_U64, NULL),
	X(bytes, "bytes", FIELD_U64, NULL),
	X(going, "going", FIELD_BOOL, NULL),
	{ 0 },
};
const struct shape watch_row_shape = { "watch_row", NULL, watch_row_fields };
