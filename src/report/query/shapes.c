/* What the documents of this folder are made of: docs/schema/ comes from it. */
#include "report/core/shapes.h"
#include "report/query/rows.h"

static const char *const form_names[] = { [TTP_ADAPTED] = "adapted", [TTP_PAPER] = "paper" };
static const char *const query_type[] = { "query" };
static const char *const query_compare_type[] = { "query-compare" };

#define X(member, ...) FACT(struct ttp_options, member, __VA_ARGS__)
static const struct field options_fields[] = {
	X(form, "form", FIELD_ENUM, NULL, .limit = TTP_PAPER + 1, .names = form_names),
	X(tick_ns, "tick_ns", FIELD_U64, NULL, .flags = FIELD_ZERO_ABSENT,
	  .more = "\"minimum\": 1"),
	X(floor_ns, "floor_ns", FIELD_U64, "What is shorter cannot be measured."),
	{ 0 },
};
const struct shape query_options_shape = { "query_options", NULL, options_fields };

#undef X
#define X(member, ...) FACT(struct ttp_figure, member, __VA_ARGS__)
static const struct field figure_fields[] = {
	X(median_ns, "median_ns", FIELD_REAL, NULL, .flags = FIELD_ALWAYS),
	X(mean_ns, "mean_ns", FIELD_REAL, NULL, .flags = FIELD_ALWAYS),
	X(sigma_ns, "sigma_ns", FIELD_REAL, NULL, .flags = FIELD_ALWAYS, .more = "\"minimum\": 0"),
	{ 0 },
};
const struct shape query_figure_shape = { "query_figure", NULL, figure_fields };

static const struct shape facts_shape = { "query_execution_facts", NULL, query_execution_fields };

#undef X
#define X(member, ...) FACT(struct query_judged, member, __VA_ARGS__)
static const struct field judged_fields[] = {
	X(x, "", FIELD_SPLICE, NULL, .shape = &facts_shape),
	X(cpu_ns, "cpu_ns", FIELD_NS,
	  "User + system of the query's processes; null: one of them was not seen."),
	X(times[TTP_MEASURED], "times_ns.measured", FIELD_REAL, NULL),
	X(times[TTP_CALC], "times_ns.calculated", FIELD_REAL, NULL),
	X(times[TTP_BLOCKED], "times_ns.cpu_blocked", FIELD_REAL, NULL),
	X(times[TTP_DEVICE], "times_ns.cpu_device", FIELD_REAL, NULL),
	{ "dropped_by", FIELD_LIST, .flags = FIELD_BY_HAND, .item = FIELD_ENUM, .limit = TTP_CHECKS,
	  .names = ttp_check_names,
	  .meaning = "Sanity checks that it did not pass; empty: it is kept." },
	{ 0 },
};
const struct shape query_judged_shape = { "query_execution", NULL, judged_fields };

#undef X
#define X(member, ...) FACT(struct query_row, member, __VA_ARGS__)
/* NOLINTBEGIN(bugprone-macro-parentheses): members */
#define FIGURE(member, name, meaning)                                        \
	X(member, name, FIELD_OBJECT, meaning, .shape = &query_figure_shape, \
	  .flags = FIELD_ONLY_JSON | FIELD_GIVEN,                            \
	  .bits = offsetof(struct query_row, member.present))
/* One number of it, for the CSV. */
#define NUMBER(member, number, name, ...)                         \
	X(member.number, name, FIELD_REAL, NULL, .unit = UNIT_NS, \
	  .flags = FIELD_NOT_SQL | FIELD_NOT_JSON | FIELD_GIVEN,  \
	  .bits = offsetof(struct query_row, member.present), __VA_ARGS__)
#define TIME(member, name) NUMBER(member, median_ns, name), NUMBER(member, sigma_ns, name "_sigma")
#define TIMES(member, prefix)                                    \
	TIME(member[TTP_DEVICE], prefix "cpu_device"),           \
		TIME(member[TTP_BLOCKED], prefix "cpu_blocked"), \
		TIME(member[TTP_CALC], prefix "calculated"),     \
		TIME(member[TTP_MEASURED], prefix "measured")
/* NOLINTEND(bugprone-macro-parentheses) */

const struct field query_row_fields[] = {
	X(query, "query", FIELD_U32, NULL, .more = "\"minimum\": 1"),
	X(name, "name", FIELD_NAME, NULL, .limit = WORDS),
	X(cardinality, "cardinality", FIELD_U64, "Of the table that varies; null: none does.",
	  .flags = FIELD_ZERO_ABSENT, .more = "\"minimum\": 1"),
	X(table_bytes, "table_bytes", FIELD_U64, NULL, .flags = FIELD_ONLY_JSON | FIELD_ZERO_ABSENT,
	  .more = "\"minimum\": 1"),
	X(letter, "plan", FIELD_NAME,
	  "Lettered within the query, from the highest cardinality down.",
	  .flags = FIELD_ZERO_ABSENT, .limit = sizeof(((struct query_row *)NULL)->letter),
	  .more = "\"pattern\": \"^[A-Z]+$\""),
	X(hash, "plan_hash", FIELD_HASH, NULL),
	X(plans, "several_plans", FIELD_BOOL, NULL, .flags = FIELD_ONLY_JSON),
	X(kept, "kept", FIELD_U64, "Executions."),
	X(made, "made", FIELD_U64, NULL),
	X(dropped_by, "dropped_by", FIELD_TEXT, NULL, .flags = FIELD_NOT_JSON),
	{ "dropped_by", FIELD_ENUM, .limit = TTP_DROPS - 1, .names = ttp_drop_names + 1,
	  .flags = FIELD_ONLY_JSON | FIELD_MAYBE, .meaning = "Step 3; null: it is kept." },
	{ "fired", FIELD_LIST, .flags = FIELD_ONLY_JSON | FIELD_BY_HAND, .item = FIELD_ENUM,
	  .limit = TTP_AT_CHECKS, .names = ttp_at_check_names, .meaning = "Step 1." },
	{ "fired_afterwards", FIELD_LIST, .flags = FIELD_ONLY_JSON | FIELD_BY_HAND,
	  .item = FIELD_ENUM, .limit = TTP_AT_CHECKS, .names = ttp_at_check_names,
	  .meaning = "Step 5." },
	FIGURE(times[TTP_MEASURED], "times.measured",
	       "Over the executions kept. null: not known of each of them, or it means nothing "
	       "with this server."),
	FIGURE(times[TTP_CALC], "times.calculated", NULL),
	FIGURE(times[TTP_BLOCKED], "times.cpu_blocked", NULL),
	FIGURE(times[TTP_DEVICE], "times.cpu_device", NULL),
	TIMES(times, ""),
	FIGURE(unfiltered[TTP_MEASURED], "unfiltered.measured",
	       "The same of all executions that ended, dropped or not."),
	FIGURE(unfiltered[TTP_CALC], "unfiltered.calculated", NULL),
	FIGURE(unfiltered[TTP_BLOCKED], "unfiltered.cpu_blocked", NULL),
	FIGURE(unfiltered[TTP_DEVICE], "unfiltered.cpu_device", NULL),
	FIGURE(cpu, "cpu", NULL),
	FIGURE(device, "own_device", NULL),
	FIGURE(blocked, "blocked", NULL),
	X(read_share, "read_share", FIELD_REAL,
	  "Mean of bytes read by executions that ended, dropped or not, of those of its tables.",
	  .unit = UNIT_SHARE, .flags = FIELD_ONLY_JSON, .more = "\"minimum\": 0"),
	NUMBER(cpu, median_ns, "cpu"),
	NUMBER(device, median_ns, "own_device"),
	/* means nothing where the time that rests on it does not */
	X(blocked.median_ns, "blocked", FIELD_REAL, NULL, .unit = UNIT_NS,
	  .flags = FIELD_NOT_SQL | FIELD_NOT_JSON | FIELD_GIVEN,
	  .bits = offsetof(struct query_row, blocked_means)),
	X(read_share, "read", FIELD_REAL, NULL, .unit = UNIT_SHARE,
	  .flags = FIELD_NOT_SQL | FIELD_NOT_JSON),
	TIMES(unfiltered, "unfiltered_"),
	{ "executions", FIELD_LIST, .shape = &query_judged_shape,
	  .flags = FIELD_ONLY_JSON | FIELD_BY_HAND },
	{ 0 },
};
const struct shape query_row_shape = { "query_at", NULL, query_row_fields };

#undef X
#define X(member, ...) FACT(struct query_check, member, __VA_ARGS__)
#define CHECKS(name, words, most)                                                      \
	static const struct field name##_fields[] = {                                  \
		X(check, "name", FIELD_ENUM, NULL, .limit = (most), .names = (words)), \
		X(count.fired, "fired", FIELD_U64, NULL),                              \
		X(count.of, "of", FIELD_U64, NULL),                                    \
		{ 0 },                                                                 \
	};                                                                             \
	const struct shape query_##name##_shape = { "query_" #name, NULL, name##_fields }
CHECKS(wide_check, ttp_wide_check_names, TTP_WIDE_CHECKS);
CHECKS(check, ttp_check_names, TTP_CHECKS);
CHECKS(at_check, ttp_at_check_names, TTP_AT_CHECKS);

#undef X
#define X(member, ...) FACT(struct ttp_result, member, __VA_ARGS__)
static const struct field post_fields[] = {
	{ "checks", FIELD_LIST, .shape = &query_at_check_shape, .flags = FIELD_BY_HAND },
	X(post.kept_difference, "kept_difference", FIELD_REAL,
	  "Of measured and calculated time, relative to measured: the Q@Cs kept.",
	  .more = "\"minimum\": 0"),
	X(post.dropped_difference, "dropped_difference", FIELD_REAL, NULL,
	  .more = "\"minimum\": 0"),
	X(relative_error, "relative_error", FIELD_REAL, "Of calculated times.",
	  .more = "\"minimum\": 0"),
	{ "constant", FIELD_LIST, .item = FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning = "Measures of the model that never vary." },
	{ 0 },
};
const struct shape query_post_shape = { "query_post", NULL, post_fields };

#undef X
#define X(member, ...) FACT(struct query_reading, member, __VA_ARGS__)
static const struct field reading_fields[] = {
	X(known, "known", FIELD_U64, NULL, .more = "\"minimum\": 1"),
	X(whole, "whole", FIELD_U64, "Read what their tables have, within 3 %."),
	X(less, "less", FIELD_U64, NULL),
	X(more, "more", FIELD_U64, NULL),
	X(warm, "warm", FIELD_U64, "Read less than 1 % of that."),
	{ 0 },
};
const struct shape query_reading_shape = { "query_reading", NULL, reading_fields };

#undef X
#define X(member, ...) FACT(struct query_surroundings, member, __VA_ARGS__)
static const struct field surroundings_fields[] = {
	X(run_delay, "run_delay_share", FIELD_REAL,
	  "That each of the query's threads waited for a CPU, of the time between the snapshots.",
	  .more = "\"minimum\": 0"),
	X(steal, "steal_share", FIELD_REAL, "Of the CPUs' time.", .more = "\"minimum\": 0"),
	X(lost, "lost", FIELD_U64, "Executions, of all, in which events were lost."),
	{ 0 },
};
const struct shape query_surroundings_shape = { "query_surroundings", NULL, surroundings_fields };

#undef X
#define X(member, ...) FACT(struct query_relation, member, __VA_ARGS__)
static const struct field relation_fields[] = {
	X(id, "id", FIELD_TEXT, NULL, .flags = FIELD_ALWAYS),
	X(left, "left", FIELD_TEXT, NULL, .flags = FIELD_ALWAYS),
	X(right, "right", FIELD_TEXT, NULL, .flags = FIELD_ALWAYS),
	X(predicted, "predicted", FIELD_ENUM, NULL, .limit = TTP_LEVELS, .names = ttp_level_names),
	X(papers_r, "papers_r", FIELD_REAL, NULL, .flags = FIELD_ALWAYS),
	X(r, "r", FIELD_REAL, NULL, .more = "\"minimum\": -1, \"maximum\": 1"),
	X(p, "p", FIELD_REAL, NULL, .more = "\"minimum\": 0, \"maximum\": 1"),
	X(observed, "observed", FIELD_ENUM, NULL, .limit = TTP_LEVELS, .names = ttp_level_names,
	  .flags = FIELD_GIVEN, .bits = offsetof(struct query_relation, known)),
	X(off, "off", FIELD_KNOWN,
	  "Levels from what was predicted, which is always positive; 2: or more.",
	  .more = "\"maximum\": 2"),
	{ 0 },
};
const struct shape query_relation_shape = { "query_relation", NULL, relation_fields };

#undef X
#define X(member, ...) FACT(struct query_item, member, __VA_ARGS__)
static const struct field item_fields[] = {
	X(name, "name", FIELD_TEXT, NULL, .flags = FIELD_ALWAYS),
	X(text, "text", FIELD_TEXT, NULL, .flags = FIELD_ALWAYS),
	{ 0 },
};
const struct shape query_item_shape = { "query_item", NULL, item_fields };

#undef X
#define X(member, ...) FACT(struct query_head, member, __VA_ARGS__)
static const struct field query_fields[] = {
	X(type, "type", FIELD_ENUM, NULL, .limit = 1, .names = query_type),
	X(format, "format", FIELD_U64, "Raised when a field changes its meaning.",
	  .more = "\"const\": 1"),
	{ "run", FIELD_OBJECT, .shape = &stored_run_shape, .flags = FIELD_MAYBE },
	{ "machine", FIELD_OBJECT, .shape = &machine_shape, .flags = FIELD_MAYBE },
	X(data, "", FIELD_SPLICE, NULL, .shape = &query_run_shape),
	X(options, "options", FIELD_OBJECT, NULL, .shape = &query_options_shape),
	X(data.texts, "texts", FIELD_LIST, NULL, .shape = &query_text_shape,
	  .limit = sizeof(struct query_text)),
	X(data.plans, "plans", FIELD_LIST, NULL, .shape = &query_plan_shape,
	  .limit = sizeof(struct query_plan)),
	X(data.events, "events", FIELD_LIST, NULL, .shape = &query_event_shape,
	  .limit = sizeof(struct query_event)),
	X(result.at_count, "at_made", FIELD_U64, NULL),
	X(result.at_kept, "at_kept", FIELD_U64, NULL),
	X(result.executions, "executions_made", FIELD_U64, NULL),
	X(result.executions_kept, "executions_kept", FIELD_U64, NULL),
	X(time, "time", FIELD_ENUM, "The best that every Q@C has: of the headline.",
	  .limit = TTP_TIMES, .names = ttp_time_names),
	X(relative_error, "relative_error", FIELD_REAL,
	  "Of the headline: mean of sigma / mean over the Q@Cs kept.", .more = "\"minimum\": 0"),
	{ "checks.experiment", FIELD_LIST, .shape = &query_wide_check_shape, .flags = FIELD_BY_HAND,
	  .meaning =
		  "Step 1: how often each fired, of how often it was evaluated; 0: what it rests "
		  "on was not measured." },
	{ "checks.execution", FIELD_LIST, .shape = &query_check_shape, .flags = FIELD_BY_HAND },
	{ "checks.at", FIELD_LIST, .shape = &query_at_check_shape, .flags = FIELD_BY_HAND },
	{ "checks.missing", FIELD_LIST, .item = FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning = "What the check of underlying measures did not find in one execution or "
		     "another: columns of the executions' CSV." },
	X(result, "post", FIELD_OBJECT, "Step 5, on calculated times; null: refused.",
	  .shape = &query_post_shape, .flags = FIELD_GIVEN,
	  .bits = offsetof(struct query_head, has_post)),
	X(reading, "reading", FIELD_OBJECT, "How many Q@Cs; null: bytes are not known.",
	  .shape = &query_reading_shape, .flags = FIELD_GIVEN,
	  .bits = offsetof(struct query_head, has_reading)),
	X(surroundings, "surroundings", FIELD_OBJECT, "Shares are over the executions kept.",
	  .shape = &query_surroundings_shape),
	{ "model", FIELD_LIST, .shape = &query_relation_shape, .flags = FIELD_BY_HAND,
	  .meaning = "The causal model's correlations.",
	  .more = "\"minItems\": 73, \"maxItems\": 73" },
	{ "deviations", FIELD_LIST, .item = FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning = "From the protocol as printed." },
	{ "items", FIELD_LIST, .shape = &query_item_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Section 9 of the paper.", .more = "\"minItems\": 9, \"maxItems\": 9" },
	{ "paragraphs", FIELD_LIST, .item = FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning = "The same, ready to paste; none where no_paragraphs says why.",
	  .more = "\"oneOf\": [{\"minItems\": 2, \"maxItems\": 2}, {\"maxItems\": 0}]" },
	X(no_paragraphs, "no_paragraphs", FIELD_TEXT,
	  "Why the run is not fit for a paper: \"the run is not complete\", \"nothing was kept\"."),
	{ "at", FIELD_LIST, .shape = &query_row_shape, .flags = FIELD_BY_HAND,
	  .meaning = "By query, then cardinality." },
	{ 0 },
};
const struct shape query_shape = {
	"query",
	"A run of queries against a database, judged by the Tucson Timing Protocol (TTPv2). A Q@C is a query at a cardinality. Times are in ns, shares from 0 to 1. null: not known, or there is none; never the same as 0.",
	query_fields
};

#undef X
#define X(member, ...) FACT(struct query_side, member, __VA_ARGS__)
static const struct field side_fields[] = {
	X(run, "run", FIELD_ID, NULL, .more = "\"minimum\": 1"),
	X(name, "name", FIELD_TEXT, NULL),
	X(dbms, "dbms", FIELD_TEXT, NULL, .flags = FIELD_ALWAYS),
	X(version, "version", FIELD_TEXT, NULL),
	X(cold, "cold", FIELD_BOOL, NULL),
	X(kept, "kept", FIELD_U64, "Q@Cs."),
	{ 0 },
};
const struct shape query_side_shape = { "query_side", NULL, side_fields };

#undef X
#define X(member, ...) FACT(struct ttp_ratio, member, __VA_ARGS__)
static const struct field ratio_fields[] = {
	X(base_ns, "base_ns", FIELD_REAL, "Median."),
	X(other_ns, "other_ns", FIELD_REAL, NULL),
	X(ratio, "ratio", FIELD_REAL, "Other / base.", .more = "\"minimum\": 0"),
	X(low, "ratio_low", FIELD_REAL, NULL, .more = "\"minimum\": 0"),
	X(high, "ratio_high", FIELD_REAL, NULL, .more = "\"minimum\": 0"),
	X(p, "p", FIELD_REAL, "Mann-Whitney, corrected by Holm.",
	  .more = "\"minimum\": 0, \"maximum\": 1"),
	{ 0 },
};
const struct shape query_ratio_shape = { "query_ratio", NULL, ratio_fields };

#undef X
#define X(member, ...) FACT(struct query_pair, member, __VA_ARGS__)
static const struct field pair_fields[] = {
	X(pair.query, "query", FIELD_U32, "The base's number, or where it has none, the other's.",
	  .more = "\"minimum\": 1"),
	X(name, "name", FIELD_NAME, NULL, .limit = WORDS),
	X(pair.cardinality, "cardinality", FIELD_U64, NULL, .flags = FIELD_ZERO_ABSENT,
	  .more = "\"minimum\": 1"),
	X(pair.change, "change", FIELD_ENUM,
	  "slower and faster: the other, significantly, by the time of `by`. only_: it is there, "
	  "or was kept, in one of them alone.",
	  .limit = TTP_ONLY_OTHER + 1, .names = query_change_names),
	X(pair.by, "by", FIELD_ENUM,
	  "Which time decided: that of the comparison, unless none was asked for and elapsed time "
	  "changed the other way.",
	  .limit = TTP_TIMES, .names = ttp_time_names),
	X(pair.same_plan, "same_plan", FIELD_BOOL,
	  "Or that is not known, or they are of two DBMSs."),
	X(base_plan, "base_plan", FIELD_HASH, NULL),
	X(other_plan, "other_plan", FIELD_HASH, NULL),
	{ "plan_change", FIELD_TEXT, .flags = FIELD_MAYBE, .meaning = "In words." },
	X(pair.time, "", FIELD_SPLICE, NULL, .shape = &query_ratio_shape),
	X(pair.elapsed, "elapsed", FIELD_OBJECT, "The same of elapsed time.",
	  .shape = &query_ratio_shape),
	{ 0 },
};
const struct shape query_pair_shape = { "query_pair", NULL, pair_fields };

#undef X
#define X(member, ...) FACT(struct query_setting, member, __VA_ARGS__)
static const struct field setting_fields[] = {
	X(name, "name", FIELD_TEXT, NULL, .flags = FIELD_ALWAYS),
	X(base, "base", FIELD_TEXT, "null: it has none."),
	X(other, "other", FIELD_TEXT, NULL),
	{ 0 },
};
const struct shape query_setting_shape = { "query_setting", NULL, setting_fields };

#undef X
#define X(member, ...) FACT(struct query_compared, member, __VA_ARGS__)
static const struct field query_compare_fields[] = {
	X(type, "type", FIELD_ENUM, NULL, .limit = 1, .names = query_compare_type),
	X(format, "format", FIELD_U64, "Raised when a field changes its meaning.",
	  .more = "\"const\": 1"),
	X(base, "base", FIELD_OBJECT, NULL, .shape = &query_side_shape),
	X(other, "other", FIELD_OBJECT, NULL, .shape = &query_side_shape),
	X(c.time, "time", FIELD_ENUM, "What is compared: as asked for, or the best that both have.",
	  .limit = TTP_TIMES, .names = ttp_time_names),
	X(c.compared, "compared", FIELD_U64, "Q@Cs kept in both."),
	X(c.plan_changes, "plan_changes", FIELD_U64, NULL),
	X(c.slower, "slower", FIELD_U64, NULL),
	X(c.faster, "faster", FIELD_U64, NULL),
	X(c.contrary, "contrary", FIELD_U64,
	  "Of slower and faster, those decided by elapsed time, as `time` says the opposite."),
	X(c.ratio, "ratio", FIELD_REAL, "Other / base: geometric mean over the Q@Cs compared.",
	  .more = "\"minimum\": 0"),
	X(c.ratio_low, "ratio_low", FIELD_REAL, NULL, .more = "\"minimum\": 0"),
	X(c.ratio_high, "ratio_high", FIELD_REAL, NULL, .more = "\"minimum\": 0"),
	X(c.elapsed_ratio, "elapsed_ratio", FIELD_REAL, "The same of elapsed time.",
	  .more = "\"minimum\": 0"),
	X(c.elapsed_low, "elapsed_low", FIELD_REAL, NULL, .more = "\"minimum\": 0"),
	X(c.elapsed_high, "elapsed_high", FIELD_REAL, NULL, .more = "\"minimum\": 0"),
	{ "settings", FIELD_LIST, .shape = &query_setting_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Of the servers, those that differ." },
	{ "pairs", FIELD_LIST, .shape = &query_pair_shape, .flags = FIELD_BY_HAND },
	{ 0 },
};
const struct shape query_compare_shape = {
	"query_compare",
	"Two runs of queries against each other, by query and cardinality. Intervals are of 95 %. null: not known.",
	query_compare_fields
};
