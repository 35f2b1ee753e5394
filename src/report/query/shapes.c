/* What the documents of this folder are made of: docs/schema/ comes from it. */
#include "report/core/shapes.h"

static const char *const form_names[] = { "adapted", "paper" };
static const char *const kind_names[] = { "restarted", "backed off", "paused", "resumed",
					  "same plan", "made table", "gave up" };
static const char *const dropped_by_names[] = { "excessive variation", "possible result cache",
						"another query process", "too short to measure",
						"fewer than 6 executions left" };
static const char *const name_names[] = { "missing queries",	 "unique plan",
					  "underlying measure",	 "derived measure",
					  "steal time",		 "guest time",
					  "other query process", "other utility process" };
static const char *const query_execution2_name_names[] = { "ephemeral process",
							   "DBMS time",
							   "zero query time",
							   "query time",
							   "query user tick",
							   "overall computation time",
							   "computation time",
							   "BlockIO delay time",
							   "IOWait time",
							   "context switch",
							   "ambiguous query process",
							   "no query process",
							   "timed-out",
							   "lost events" };
static const char *const query_at_name_names[] = { "excessive variation in query computation time",
						   "possible query result cache",
						   "strict monotonicity", "relaxed monotonicity" };
static const char *const predicted_names[] = { "low", "med", "high" };
static const char *const type_names[] = { "query" };
static const char *const time_names[] = { "measured", "calculated", "cpu_blocked", "cpu_device" };
static const char *const change_names[] = { "same", "slower", "faster", "only_base", "only_other" };
static const char *const query_compare_type_names[] = { "query-compare" };

static const struct field experiment_fields[] = {
	{ "name", FIELD_TEXT },
	{ "text", FIELD_TEXT, .meaning = "Of its file." },
	{ "scenario", FIELD_TEXT },
	{ "queries", FIELD_U64, .meaning = "That were to be executed." },
	{ "executions", FIELD_ID, .meaning = "Of each Q@C.", .more = "\"minimum\": 1" },
	{ "cold", FIELD_BOOL },
	{ "imported", FIELD_BOOL, .meaning = "Measured elsewhere." },
	{ "time_limit_ns", FIELD_ID, .more = "\"minimum\": 1" },
	{ "seed", FIELD_TEXT, .meaning = "Of 64 bits, more than a number holds everywhere.",
	  .more = "\"pattern\": \"^[0-9]+$\"" },
	{ 0 },
};
const struct shape experiment_shape = { "experiment", NULL, experiment_fields };

static const struct field server_fields[] = {
	{ "dbms", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "version", FIELD_TEXT },
	{ "settings", FIELD_MAP, .flags = FIELD_MAYBE },
	{ "io_by_process", FIELD_BOOL,
	  .meaning =
		  "It reads in threads other than the query's: what rests on the query's blocked time is refused." },
	{ 0 },
};
const struct shape server_shape = { "server", NULL, server_fields };

static const struct field options_fields[] = {
	{ "form", FIELD_ENUM, .limit = 2, .names = form_names },
	{ "tick_ns", FIELD_ID, .more = "\"minimum\": 1" },
	{ "floor_ns", FIELD_U64, .meaning = "What is shorter cannot be measured." },
	{ 0 },
};
const struct shape options_shape = { "options", NULL, options_fields };

static const struct field text_fields[] = {
	{ "query", FIELD_I64, .more = "\"minimum\": 1" },
	{ "name", FIELD_TEXT },
	{ "sql", FIELD_TEXT },
	{ 0 },
};
const struct shape text_shape = { "text", NULL, text_fields };

static const struct field plan_fields[] = {
	{ "hash", FIELD_HASH, .flags = FIELD_ALWAYS },
	{ "plan", FIELD_MAP, .flags = FIELD_MAYBE,
	  .meaning =
		  "A tree of nodes: node, relation, alias, index, join, conditions, details, children." },
	{ 0 },
};
const struct shape plan_shape = { "plan", NULL, plan_fields };

static const struct field event_fields[] = {
	{ "kind", FIELD_ENUM, .limit = 7, .names = kind_names },
	{ "at", FIELD_TEXT, .more = "\"pattern\": \"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$\"" },
	{ "query", FIELD_ID, .more = "\"minimum\": 1" },
	{ "cardinality", FIELD_ID, .more = "\"minimum\": 1" },
	{ "plan", FIELD_HASH },
	{ "before", FIELD_HASH },
	{ "text", FIELD_TEXT },
	{ 0 },
};
const struct shape event_shape = { "event", NULL, event_fields };

static const struct field measured_fields[] = {
	{ "median_ns", FIELD_REAL, .flags = FIELD_ALWAYS },
	{ "mean_ns", FIELD_REAL, .flags = FIELD_ALWAYS },
	{ "sigma_ns", FIELD_REAL, .flags = FIELD_ALWAYS, .more = "\"minimum\": 0" },
	{ 0 },
};
const struct shape measured_shape = { "measured", NULL, measured_fields };

static const struct field times_fields[] = {
	{ "measured", FIELD_OBJECT, .shape = &measured_shape, .flags = FIELD_MAYBE },
	{ "calculated", FIELD_OBJECT, .shape = &measured_shape, .flags = FIELD_MAYBE },
	{ "cpu_blocked", FIELD_OBJECT, .shape = &measured_shape, .flags = FIELD_MAYBE },
	{ "cpu_device", FIELD_OBJECT, .shape = &measured_shape, .flags = FIELD_MAYBE },
	{ 0 },
};
const struct shape times_shape = {
	"times",
	"Over the executions kept. null: not known of each of them, or it means nothing with this server.",
	times_fields
};

static const struct field times_ns_fields[] = {
	{ "measured", FIELD_REAL },
	{ "calculated", FIELD_REAL },
	{ "cpu_blocked", FIELD_REAL },
	{ "cpu_device", FIELD_REAL },
	{ 0 },
};
const struct shape times_ns_shape = { "times_ns", NULL, times_ns_fields };

static const struct field query_execution_fields[] = {
	{ "number", FIELD_I64, .more = "\"minimum\": 1" },
	{ "timed_out", FIELD_BOOL },
	{ "started_at", FIELD_TEXT,
	  .more = "\"pattern\": \"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$\"" },
	{ "measured_ns", FIELD_U64, .meaning = "From asking to the last row." },
	{ "cpu_ns", FIELD_NS,
	  .meaning = "User + system of the query's processes; null: one of them was not seen." },
	{ "own_device_ns", FIELD_NS, .meaning = "The time that devices served it." },
	{ "others_device_ns", FIELD_NS },
	{ "run_delay_ns", FIELD_NS, .meaning = "It waited so long for a CPU." },
	{ "read_bytes", FIELD_KNOWN },
	{ "rows", FIELD_U64 },
	{ "plan", FIELD_HASH },
	{ "times_ns", FIELD_OBJECT, .shape = &times_ns_shape, .flags = FIELD_BY_HAND },
	{ "dropped_by", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .meaning = "Sanity checks that it did not pass; empty: it is kept.",
	  .more = "\"items\": {\"enum\": [\"ephemeral process\", \"DBMS time\", \"zero query time\", \"query time\", \"query user tick\", \"overall computation time\", \"computation time\", \"BlockIO delay time\", \"IOWait time\", \"context switch\", \"ambiguous query process\", \"no query process\", \"timed-out\", \"lost events\"]}" },
	{ 0 },
};
const struct shape query_execution_shape = { "query_execution", NULL, query_execution_fields };

static const struct field at_fields[] = {
	{ "query", FIELD_I64, .more = "\"minimum\": 1" },
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "cardinality", FIELD_ID, .meaning = "Of the table that varies; null: none does.",
	  .more = "\"minimum\": 1" },
	{ "table_bytes", FIELD_ID, .more = "\"minimum\": 1" },
	{ "plan", FIELD_TEXT,
	  .meaning = "Lettered within the query, from the highest cardinality down.",
	  .more = "\"pattern\": \"^[A-Z]+$\"" },
	{ "plan_hash", FIELD_HASH },
	{ "several_plans", FIELD_BOOL },
	{ "made", FIELD_U64 },
	{ "kept", FIELD_U64, .meaning = "Executions." },
	{ "dropped_by", FIELD_ENUM, .limit = 5, .names = dropped_by_names, .flags = FIELD_MAYBE,
	  .meaning = "Step 3; null: it is kept." },
	{ "fired", FIELD_LIST, .flags = FIELD_BY_HAND, .meaning = "Step 1.",
	  .more = "\"items\": {\"enum\": [\"excessive variation in query computation time\", \"possible query result cache\", \"strict monotonicity\", \"relaxed monotonicity\"]}" },
	{ "fired_afterwards", FIELD_LIST, .flags = FIELD_BY_HAND, .meaning = "Step 5.",
	  .more = "\"items\": {\"enum\": [\"excessive variation in query computation time\", \"possible query result cache\", \"strict monotonicity\", \"relaxed monotonicity\"]}" },
	{ "times", FIELD_OBJECT, .shape = &times_shape, .flags = FIELD_BY_HAND,
	  .meaning =
		  "Over the executions kept. null: not known of each of them, or it means nothing with this server." },
	{ "unfiltered", FIELD_OBJECT, .shape = &times_shape, .flags = FIELD_BY_HAND,
	  .meaning = "The same of all executions that ended, dropped or not." },
	{ "cpu", FIELD_OBJECT, .shape = &measured_shape, .flags = FIELD_MAYBE },
	{ "own_device", FIELD_OBJECT, .shape = &measured_shape, .flags = FIELD_MAYBE },
	{ "blocked", FIELD_OBJECT, .shape = &measured_shape, .flags = FIELD_MAYBE },
	{ "read_share", FIELD_REAL,
	  .meaning =
		  "Mean of bytes read by executions that ended, dropped or not, of those of its tables.",
	  .more = "\"minimum\": 0" },
	{ "executions", FIELD_LIST, .shape = &query_execution_shape, .flags = FIELD_BY_HAND },
	{ 0 },
};
const struct shape at_shape = { "at", NULL, at_fields };

static const struct field query_experiment_fields[] = {
	{ "name", FIELD_ENUM, .limit = 8, .names = name_names },
	{ "fired", FIELD_U64 },
	{ "of", FIELD_U64 },
	{ 0 },
};
const struct shape query_experiment_shape = { "query_experiment", NULL, query_experiment_fields };

static const struct field query_execution2_fields[] = {
	{ "name", FIELD_ENUM, .limit = 14, .names = query_execution2_name_names },
	{ "fired", FIELD_U64 },
	{ "of", FIELD_U64 },
	{ 0 },
};
const struct shape query_execution2_shape = { "query_execution2", NULL, query_execution2_fields };

static const struct field query_at_fields[] = {
	{ "name", FIELD_ENUM, .limit = 4, .names = query_at_name_names },
	{ "fired", FIELD_U64 },
	{ "of", FIELD_U64 },
	{ 0 },
};
const struct shape query_at_shape = { "query_at", NULL, query_at_fields };

static const struct field checks_fields[] = {
	{ "missing", FIELD_LIST, .item = FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning =
		  "What the check of underlying measures did not find in one execution or another: columns of the executions' CSV." },
	{ "experiment", FIELD_LIST, .shape = &query_experiment_shape, .flags = FIELD_BY_HAND },
	{ "execution", FIELD_LIST, .shape = &query_execution2_shape, .flags = FIELD_BY_HAND },
	{ "at", FIELD_LIST, .shape = &query_at_shape, .flags = FIELD_BY_HAND },
	{ 0 },
};
const struct shape checks_shape = { "checks",
				    "Step 1: how often each fired, of how often it was asked.",
				    checks_fields };

static const struct field post_fields[] = {
	{ "checks", FIELD_LIST, .shape = &query_at_shape, .flags = FIELD_BY_HAND },
	{ "kept_difference", FIELD_REAL,
	  .meaning = "Of measured and calculated time, relative to measured: the Q@Cs kept.",
	  .more = "\"minimum\": 0" },
	{ "dropped_difference", FIELD_REAL, .more = "\"minimum\": 0" },
	{ "relative_error", FIELD_REAL, .meaning = "Of calculated times.",
	  .more = "\"minimum\": 0" },
	{ "constant", FIELD_LIST, .item = FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning = "Measures of the model that never vary." },
	{ 0 },
};
const struct shape post_shape = { "post", "Step 5, on calculated times; null: refused.",
				  post_fields };

static const struct field reading_fields[] = {
	{ "known", FIELD_I64, .more = "\"minimum\": 1" },
	{ "whole", FIELD_U64, .meaning = "Read what their tables have, within 3 %." },
	{ "less", FIELD_U64 },
	{ "more", FIELD_U64 },
	{ "warm", FIELD_U64, .meaning = "Read less than 1 % of that." },
	{ 0 },
};
const struct shape reading_shape = { "reading", "How many Q@Cs; null: bytes are not known.",
				     reading_fields };

static const struct field surroundings_fields[] = {
	{ "run_delay_share", FIELD_REAL,
	  .meaning =
		  "That each of the query's threads waited for a CPU, of the time between the snapshots.",
	  .more = "\"minimum\": 0" },
	{ "steal_share", FIELD_REAL, .meaning = "Of the CPUs' time.", .more = "\"minimum\": 0" },
	{ "lost", FIELD_U64, .meaning = "Executions, of all, in which events were lost." },
	{ 0 },
};
const struct shape surroundings_shape = { "surroundings", "Shares are over the executions kept.",
					  surroundings_fields };

static const struct field model_fields[] = {
	{ "id", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "left", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "right", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "predicted", FIELD_ENUM, .limit = 3, .names = predicted_names },
	{ "papers_r", FIELD_REAL, .flags = FIELD_ALWAYS },
	{ "r", FIELD_REAL, .more = "\"minimum\": -1, \"maximum\": 1" },
	{ "p", FIELD_REAL, .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "observed", FIELD_ENUM, .limit = 3, .names = predicted_names, .flags = FIELD_MAYBE },
	{ "off", FIELD_KNOWN, .meaning = "Levels from what was predicted.",
	  .more = "\"maximum\": 2" },
	{ 0 },
};
const struct shape model_shape = { "model", NULL, model_fields };

static const struct field item_fields[] = {
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "text", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ 0 },
};
const struct shape item_shape = { "item", NULL, item_fields };

static const struct field query_fields[] = {
	{ "type", FIELD_ENUM, .limit = 1, .names = type_names },
	{ "format", FIELD_U64, .meaning = "Raised when a field changes its meaning.",
	  .more = "\"const\": 1" },
	{ "run", FIELD_OBJECT, .shape = &noise_run_shape, .flags = FIELD_MAYBE },
	{ "machine", FIELD_OBJECT, .shape = &machine_shape, .flags = FIELD_MAYBE },
	{ "cpus", FIELD_ID, .meaning = "Online.", .more = "\"minimum\": 1" },
	{ "experiment", FIELD_OBJECT, .shape = &experiment_shape, .flags = FIELD_BY_HAND },
	{ "server", FIELD_OBJECT, .shape = &server_shape, .flags = FIELD_BY_HAND },
	{ "options", FIELD_OBJECT, .shape = &options_shape, .flags = FIELD_BY_HAND },
	{ "texts", FIELD_LIST, .shape = &text_shape, .flags = FIELD_BY_HAND },
	{ "plans", FIELD_LIST, .shape = &plan_shape, .flags = FIELD_BY_HAND },
	{ "events", FIELD_LIST, .shape = &event_shape, .flags = FIELD_BY_HAND },
	{ "at_made", FIELD_U64 },
	{ "at_kept", FIELD_U64 },
	{ "executions_made", FIELD_U64 },
	{ "executions_kept", FIELD_U64 },
	{ "time", FIELD_ENUM, .limit = 4, .names = time_names,
	  .meaning = "The best that every Q@C has: of the headline." },
	{ "relative_error", FIELD_REAL,
	  .meaning = "Of the headline: mean of sigma / mean over the Q@Cs kept.",
	  .more = "\"minimum\": 0" },
	{ "at", FIELD_LIST, .shape = &at_shape, .flags = FIELD_BY_HAND,
	  .meaning = "By query, then cardinality." },
	{ "checks", FIELD_OBJECT, .shape = &checks_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Step 1: how often each fired, of how often it was asked." },
	{ "post", FIELD_OBJECT, .shape = &post_shape, .flags = FIELD_MAYBE,
	  .meaning = "Step 5, on calculated times; null: refused." },
	{ "reading", FIELD_OBJECT, .shape = &reading_shape, .flags = FIELD_MAYBE,
	  .meaning = "How many Q@Cs; null: bytes are not known." },
	{ "surroundings", FIELD_OBJECT, .shape = &surroundings_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Shares are over the executions kept." },
	{ "model", FIELD_LIST, .shape = &model_shape, .flags = FIELD_BY_HAND,
	  .meaning = "The causal model's correlations.",
	  .more = "\"minItems\": 73, \"maxItems\": 73" },
	{ "deviations", FIELD_LIST, .item = FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning = "From the protocol as printed." },
	{ "items", FIELD_LIST, .shape = &item_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Section 9 of the paper.", .more = "\"minItems\": 9, \"maxItems\": 9" },
	{ "paragraphs", FIELD_LIST, .item = FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning = "The same, ready to paste; none where no_paragraphs says why.",
	  .more = "\"oneOf\": [{\"minItems\": 2, \"maxItems\": 2}, {\"maxItems\": 0}]" },
	{ "no_paragraphs", FIELD_TEXT,
	  .meaning =
		  "Why the run is not fit for a paper: \"the run is not complete\", \"nothing was kept\"." },
	{ 0 },
};
const struct shape query_shape = {
	"query",
	"A run of queries against a database, judged by the Tucson Timing Protocol (TTPv2). A Q@C is a query at a cardinality. Times are in ns, shares from 0 to 1. null: not known, or there is none; never the same as 0.",
	query_fields
};

static const struct field query_compare_base_fields[] = {
	{ "run", FIELD_ID, .more = "\"minimum\": 1" },
	{ "name", FIELD_TEXT },
	{ "dbms", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "version", FIELD_TEXT },
	{ "cold", FIELD_BOOL },
	{ "kept", FIELD_U64, .meaning = "Q@Cs." },
	{ 0 },
};
const struct shape query_compare_base_shape = { "query_compare_base", NULL,
						query_compare_base_fields };

static const struct field pair_fields[] = {
	{ "query", FIELD_I64, .meaning = "The base's number, or where it has none, the other's.",
	  .more = "\"minimum\": 1" },
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "cardinality", FIELD_ID, .more = "\"minimum\": 1" },
	{ "change", FIELD_ENUM, .limit = 5, .names = change_names,
	  .meaning =
		  "slower and faster: the other, significantly. only_: it is there, or was kept, in one of them alone." },
	{ "same_plan", FIELD_BOOL, .meaning = "Or that is not known, or they are of two DBMSs." },
	{ "base_plan", FIELD_HASH },
	{ "other_plan", FIELD_HASH },
	{ "plan_change", FIELD_TEXT, .meaning = "In words." },
	{ "base_ns", FIELD_REAL, .meaning = "Median." },
	{ "other_ns", FIELD_REAL },
	{ "ratio", FIELD_REAL, .meaning = "Other / base.", .more = "\"minimum\": 0" },
	{ "ratio_low", FIELD_REAL, .more = "\"minimum\": 0" },
	{ "ratio_high", FIELD_REAL, .more = "\"minimum\": 0" },
	{ "p", FIELD_REAL, .meaning = "Mann-Whitney, corrected by Holm.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ 0 },
};
const struct shape pair_shape = { "pair", NULL, pair_fields };

static const struct field query_compare_fields[] = {
	{ "type", FIELD_ENUM, .limit = 1, .names = query_compare_type_names },
	{ "format", FIELD_U64, .meaning = "Raised when a field changes its meaning.",
	  .more = "\"const\": 1" },
	{ "base", FIELD_OBJECT, .shape = &query_compare_base_shape, .flags = FIELD_BY_HAND },
	{ "other", FIELD_OBJECT, .shape = &query_compare_base_shape, .flags = FIELD_BY_HAND },
	{ "time", FIELD_ENUM, .limit = 4, .names = time_names,
	  .meaning = "What is compared: the best that both have." },
	{ "compared", FIELD_U64, .meaning = "Q@Cs kept in both." },
	{ "plan_changes", FIELD_U64 },
	{ "slower", FIELD_U64 },
	{ "faster", FIELD_U64 },
	{ "ratio", FIELD_REAL, .meaning = "Other / base: geometric mean over the Q@Cs compared.",
	  .more = "\"minimum\": 0" },
	{ "ratio_low", FIELD_REAL, .more = "\"minimum\": 0" },
	{ "ratio_high", FIELD_REAL, .more = "\"minimum\": 0" },
	{ "pairs", FIELD_LIST, .shape = &pair_shape, .flags = FIELD_BY_HAND },
	{ 0 },
};
const struct shape query_compare_shape = {
	"query_compare",
	"Two runs of queries against each other, by query and cardinality. Intervals are of 95 %. null: not known.",
	query_compare_fields
};
