/* What the documents of this folder are made of: docs/schema/ comes from it. */
#include "report/core/shapes.h"
#include "protocol/duet/pool.h"
#include "record/study.h"
#include "report/page/profile_parts.h"
#include "report/page/time_parts.h"
#include "report/time/execution_json.h"

static const char *const kind_names[] = { "time" };
static const char *const study_section_kind_names[] = { "study" };
static const char *const noise_section_kind_names[] = { "noise" };
static const char *const profile_section_kind_names[] = { "profile" };
static const char *const query_section_kind_names[] = { "query" };
static const char *const duet_section_kind_names[] = { "duet" };
static const char *const type_names[] = { "page" };

static const struct field colour_fields[] = {
	{ "light", FIELD_TEXT, .flags = FIELD_ALWAYS, .more = "\"pattern\": \"^#[0-9a-f]{6}$\"" },
	{ "dark", FIELD_TEXT, .flags = FIELD_ALWAYS, .more = "\"pattern\": \"^#[0-9a-f]{6}$\"" },
	{ "meaning", FIELD_TEXT, .flags = FIELD_OPTIONAL | FIELD_ALWAYS },
	{ 0 },
};
static const struct shape colour_shape = { "colour", NULL, colour_fields };

static const struct field colours_fields[] = {
	{ "causes", FIELD_MAP, .shape = &colour_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Of the ledger." },
	{ "classes", FIELD_MAP, .shape = &colour_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Of noise." },
	{ 0 },
};
static const struct shape colours_shape = {
	"colours", "One colour for each cause and class, wherever it is drawn.", colours_fields
};

static const struct field page_machine_fields[] = {
	{ "", FIELD_SPLICE, .shape = &machine_shape },
	{ "name", FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS },
	{ "findings", FIELD_LIST, .shape = &finding_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Of doctor, worst first, all of them." },
	{ 0 },
};
static const struct shape page_machine_shape = { "page_machine", NULL, page_machine_fields };

static const struct field axis_fields[] = {
	{ "name", FIELD_TEXT },
	{ "log", FIELD_BOOL },
	{ "low", FIELD_REAL },
	{ "high", FIELD_REAL },
	{ 0 },
};
static const struct shape axis_shape = { "axis", NULL, axis_fields };

static const struct field chart_fields[] = {
	{ "x", FIELD_OBJECT, .shape = &axis_shape, .flags = FIELD_BY_HAND },
	{ "y", FIELD_OBJECT, .shape = &axis_shape, .flags = FIELD_BY_HAND },
	{ "bandwidth", FIELD_REAL, .meaning = "Of densities; of lengths of detours in decades." },
	{ "blocks", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .more = "\"items\": {\"type\": \"object\", \"additionalProperties\": {\"type\": \"array\", \"items\": {\"type\": [\"number\", \"string\", \"null\"]}}, \"description\": \"Columns by their name, as in the data of 'tare plot'.\"}" },
	{ 0 },
};
const struct shape chart_shape = { "chart", "A chart as 'tare plot' draws it.", chart_fields };

static const struct field parameter_fields[] = {
	FACT(struct parameter, name, "name", FIELD_TEXT, NULL, .flags = FIELD_ALWAYS),
	FACT(struct parameter, value, "value", FIELD_TEXT, NULL, .flags = FIELD_ALWAYS),
	{ 0 },
};
static const struct shape parameter_shape = { "parameter", NULL, parameter_fields };

static const struct field bounds_fields[] = {
	FACT(struct emp_bounds, low_ns, "low_ns", FIELD_REAL, NULL, .flags = FIELD_ALWAYS),
	FACT(struct emp_bounds, high_ns, "high_ns", FIELD_REAL, NULL, .flags = FIELD_ALWAYS),
	{ 0 },
};
static const struct shape bounds_shape = {
	"bounds", "What rule (II) keeps, of the lead; null: it was not applied.", bounds_fields
};

static const char *const unit_names[] = { "none",  "ns", "bytes", "count",
					  "ticks", "id", "share", "per_s" };
#define X(member, ...) FACT(struct page_measure, member, __VA_ARGS__)
static const struct field page_measure_fields[] = {
	X(column, "column", FIELD_TEXT, "Its name in columns.", .flags = FIELD_ALWAYS),
	X(name, "name", FIELD_TEXT, "In the lab and in CSV.", .flags = FIELD_ALWAYS),
	X(title, "title", FIELD_TEXT, "A heading for people.", .flags = FIELD_ALWAYS),
	X(unit, "unit", FIELD_ENUM, "share: a fraction of 1.", .limit = UNIT_PER_S + 1,
	  .names = unit_names),
	X(meaning, "meaning", FIELD_TEXT, NULL, .flags = FIELD_ALWAYS),
	{ 0 },
};
#undef X
const struct shape page_measure_shape = { "page_measure", NULL, page_measure_fields };

static const struct field columns_fields[] = {
	{ "number", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .meaning = "From 1 within the run; warm-ups count on their own.",
	  .more = "\"items\": {\"type\": \"integer\", \"minimum\": 1}" },
	{ "at_us", FIELD_LIST, .item = FIELD_I64, .flags = FIELD_BY_HAND,
	  .meaning =
		  "When it began, in us since the run did; where that is not known, one follows the other." },
	{ "et", FIELD_LIST, .item = FIELD_U64, .flags = FIELD_BY_HAND,
	  .meaning = "Like the others: less the shell, as the protocol sees it." },
	{ "net", FIELD_LIST, .item = FIELD_KNOWN, .flags = FIELD_MAYBE,
	  .meaning = "A column that nobody has is null." },
	{ "exec", FIELD_LIST, .item = FIELD_KNOWN, .flags = FIELD_MAYBE, .meaning = "As net." },
	{ "tick", FIELD_LIST, .item = FIELD_KNOWN, .flags = FIELD_MAYBE, .meaning = "As net." },
	{ "steady", FIELD_LIST, .item = FIELD_KNOWN, .flags = FIELD_MAYBE,
	  .meaning = "PT(steady), estimated; null: the speed of the CPUs does not help." },
	{ "rss", FIELD_LIST, .item = FIELD_KNOWN, .flags = FIELD_MAYBE,
	  .meaning = "Peak memory, bytes." },
	{ "rule", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .meaning = "0 kept, 1 warm-up, 2 failed, 3 dropped by rule (I), 4 by rule (II).",
	  .more = "\"items\": {\"enum\": [0, 1, 2, 3, 4]}" },
	{ 0 },
};
static const struct shape columns_shape = {
	"columns",
	"Parallel: a row for each execution, in order. Further ones are those that `measures` names.",
	columns_fields,
	"\"additionalProperties\": {\"type\": [\"array\", \"null\"], \"items\": {\"type\": [\"number\", \"null\"]}}"
};

#define X(member, ...) FACT(struct emp_verdict, member, __VA_ARGS__)
static const struct field reason_fields[] = {
	X(daemon, "daemon", FIELD_NAME, NULL, .flags = FIELD_ZERO_ABSENT),
	X(value_ns, "value_ns", FIELD_REAL, NULL),
	X(low_ns, "low_ns", FIELD_REAL, NULL),
	X(high_ns, "high_ns", FIELD_REAL, NULL),
	X(reason, "text", FIELD_NAME, NULL),
	{ 0 },
};
const struct shape reason_shape = { "reason", NULL, reason_fields };
#undef X

static const struct field ledger_columns_fields[] = {
	{ "index", FIELD_LIST, .item = FIELD_U64, .flags = FIELD_MAYBE,
	  .meaning = "The executions (positions in the columns) that have one here; null: all." },
	{ "causes", FIELD_LIST, .item = FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning = "Those that occur, in the order of the catalogue in tare(1)." },
	{ "wall", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .meaning =
		  "By cause, then execution: adds up to the execution's ET, the shell's share included.",
	  .more = "\"items\": {\"type\": \"array\", \"items\": {\"type\": \"integer\", \"minimum\": 0}}" },
	{ "mean", FIELD_LIST, .flags = FIELD_MAYBE,
	  .meaning = "By cause, over all kept executions; null: none of them has a ledger.",
	  .more = "\"items\": {\"type\": \"number\", \"minimum\": 0}" },
	{ 0 },
};
const struct shape ledger_columns_shape = { "ledger_columns", NULL, ledger_columns_fields };

static const struct field dual_fields[] = {
	FACT(struct study_run, levels, "levels", FIELD_LIST, NULL, .shape = &study_level_shape,
	     .limit = sizeof(struct study_level)),
	{ "outside", FIELD_LIST, .item = FIELD_U64, .flags = FIELD_BY_HAND,
	  .meaning = "Positions of executions beyond the central cluster." },
	{ 0 },
};
const struct shape dual_shape = { "dual", NULL, dual_fields };

static const struct field trace_fields[] = {
	FACT(struct execution, et_ns, "et_ns", FIELD_U64, NULL),
	{ "cpus", FIELD_LIST, .item = FIELD_U64, .flags = FIELD_BY_HAND,
	  .meaning = "Their numbers." },
	{ "slices", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .meaning =
		  "Who had each CPU, by begin. Idle is left out; interrupts lie above what they interrupt.",
	  .more = "\"items\": {\"type\": \"array\", \"prefixItems\": [{\"type\": \"integer\", \"minimum\": 0, \"description\": \"Index of cpus.\"}, {\"type\": \"integer\", \"minimum\": 0, \"description\": \"Begin, since the execution's.\"}, {\"type\": \"integer\", \"minimum\": 1, \"description\": \"Length.\"}, {\"enum\": [0, 1, 2, 3, 4, 5, 6], \"description\": \"0 subject, 1 another process, 2 tare, 3 kernel thread, 4 hard interrupt, 5 soft interrupt, 6 NMI.\"}, {\"type\": \"integer\", \"minimum\": 0, \"description\": \"Index of names.\"}], \"minItems\": 5, \"maxItems\": 5}" },
	{ "waits", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .meaning = "Of the subject's threads, while off the CPU.",
	  .more = "\"items\": {\"type\": \"array\", \"prefixItems\": [{\"type\": \"integer\", \"minimum\": 0, \"description\": \"Index of threads.\"}, {\"type\": \"integer\", \"minimum\": 0, \"description\": \"Begin.\"}, {\"type\": \"integer\", \"minimum\": 1, \"description\": \"Length.\"}, {\"type\": \"integer\", \"minimum\": 0, \"description\": \"Index of names: the cause.\"}], \"minItems\": 4, \"maxItems\": 4}" },
	{ "threads", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .more = "\"items\": {\"type\": \"array\", \"prefixItems\": [{\"type\": \"integer\", \"minimum\": 0, \"description\": \"Index of names.\"}, {\"type\": \"integer\", \"description\": \"tid.\"}], \"minItems\": 2, \"maxItems\": 2}" },
	{ "cut", FIELD_U64, .flags = FIELD_BY_HAND,
	  .meaning = "Slices and waits that were left out, the shortest first." },
	{ 0 },
};
const struct shape trace_shape = { "trace", NULL, trace_fields };

static const struct
	field
		detail_fields
			[] = {
				{ "processes", FIELD_LIST, .flags = FIELD_BY_HAND,
				  .meaning = "By time, at most 10 of each role.",
				  .more = "\"items\": {\"type\": \"array\", \"prefixItems\": [{\"type\": \"integer\", \"minimum\": 0, \"description\": \"Index of names.\"}, {\"enum\": [0, 1, 2], \"description\": \"0 subject, 1 daemon, 2 tare.\"}, {\"type\": \"integer\", \"description\": \"pid.\"}, {\"type\": [\"integer\", \"null\"], \"minimum\": 0, \"description\": \"PT.\"}], \"minItems\": 4, \"maxItems\": 4}" },
				{ "entries", FIELD_LIST, .flags = FIELD_BY_HAND,
				  .meaning =
					  "The subject's account by cause and name, the largest first.",
				  .more = "\"items\": {\"type\": \"array\", \"prefixItems\": [{\"type\": \"integer\", \"minimum\": 0, \"description\": \"Index of the ledger's causes.\"}, {\"type\": \"integer\", \"minimum\": 0, \"description\": \"Index of names.\"}, {\"type\": \"integer\", \"description\": \"pid; 0: none or several.\"}, {\"type\": \"integer\", \"minimum\": 0, \"description\": \"ns.\"}, {\"type\": \"integer\", \"minimum\": 0, \"description\": \"Count.\"}], \"minItems\": 5, \"maxItems\": 5}" },
				{ "others", FIELD_LIST, .flags = FIELD_BY_HAND, .meaning = "Processes outside of the subject.", .more = "\"items\": {\"type\": \"array\", \"prefixItems\": [{\"type\": \"integer\", \"minimum\": 0, \"description\": \"Index of names.\"}, {\"type\": \"integer\", \"description\": \"pid.\"}, {\"type\": \"integer\", \"minimum\": 0, \"description\": \"ns on a CPU.\"}, {\"type\": \"integer\", \"minimum\": 0, \"description\": \"Bursts.\"}, {\"type\": \"integer\", \"minimum\": 0, \"description\": \"The longest.\"}, {\"type\": \"integer\", \"minimum\": 0, \"description\": \"ns that it delayed the subject.\"}, {\"type\": \"integer\", \"minimum\": 0, \"description\": \"The same at a device.\"}], \"minItems\": 7, \"maxItems\": 7}" },
				{ "interrupts", FIELD_LIST, .flags = FIELD_BY_HAND,
				  .more = "\"items\": {\"type\": \"array\", \"prefixItems\": [{\"type\": \"integer\", \"minimum\": 0, \"description\": \"Index of the ledger's causes.\"}, {\"type\": \"integer\", \"minimum\": 0, \"description\": \"Index of names.\"}, {\"type\": \"integer\", \"minimum\": 0, \"description\": \"Count.\"}, {\"type\": \"integer\", \"minimum\": 0, \"description\": \"ns.\"}, {\"type\": \"integer\", \"minimum\": 0, \"description\": \"Of those, on a CPU that the subject had.\"}], \"minItems\": 5, \"maxItems\": 5}" },
				{ "trace", FIELD_OBJECT, .shape = &trace_shape,
				  .flags = FIELD_MAYBE },
				{ 0 },
			};
const struct shape detail_shape = { "detail", NULL, detail_fields };

/* What every section begins with; of a study its run has but a number and when it was made. */
#define X(member, ...) FACT(struct run, member, __VA_ARGS__)
static const struct field head_fields[] = {
	{ "anchor", FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning = "Unique within the document.",
	  .more = "\"pattern\": \"^(run|study|section)-[0-9]+$\"" },
	{ "title", FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning = "Its name; any text." },
	{ "subtitle", FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning = "One line: the command, what was sampled; any text." },
	X(status, "status", FIELD_ENUM, NULL, .limit = RUN_FAILED + 1, .names = run_status_names),
	{ "machine", FIELD_KNOWN, .flags = FIELD_MAYBE,
	  .meaning = "Index of machines; null: not known." },
	{ "notes", FIELD_LIST, .item = FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning = "What was not seen, what was left out of the page and why: sentences." },
	{ "charts", FIELD_MAP, .shape = &chart_shape, .flags = FIELD_BY_HAND,
	  .meaning =
		  "Time: density_et and those of the headline and the lead: value_ns, ascending, coarser outside of what was kept; all_per_ns, kept_per_ns. Noise: length_ns, and detours per s of a CPU and decade: seen, told, baseline; where there are several CPUs, a block of seen and told for each of them follows. Query: split: means of each Q@C; in the second block where CPU time or I/O is not known." },
	X(id, "number", FIELD_ID, "In the lab; null: not stored.", .more = "\"minimum\": 1"),
	X(started_at_ns, "started_at", FIELD_DATE, "Of a study: when it was made."),
	X(ended_at_ns, "ended_at", FIELD_DATE, NULL),
	X(tags, "tags", FIELD_TEXT, NULL),
	X(version, "version", FIELD_TEXT, "Of the tare that measured."),
	X(conditions.all, "conditions", FIELD_MAP, "Every option that shaped the run.",
	  .flags = FIELD_ZERO_ABSENT),
	{ 0 },
};
static const struct shape head_shape = { "head", NULL, head_fields };
#undef X

#define X(member, ...) FACT(struct judged_run, member, __VA_ARGS__)
#define SUMMARY(list, m, name)                                                            \
	X(result.list[m], #list "." name, FIELD_OBJECT, "null: not seen, or of nothing.", \
	  .shape = &summary_shape, .flags = FIELD_ZERO_ABSENT)
#define SUMMARIES(list)                                                                       \
	SUMMARY(list, EMP_ET, "et"), SUMMARY(list, EMP_PT_NET, "pt_net"),                     \
		SUMMARY(list, EMP_PT_EXEC, "pt_exec"), SUMMARY(list, EMP_PT_TICK, "pt_tick"), \
		SUMMARY(list, EMP_USER, "user"), SUMMARY(list, EMP_SYSTEM, "system"),         \
		SUMMARY(list, EMP_PT_STEADY, "pt_steady")
static const struct field time_section_fields[] = {
	{ "kind", FIELD_ENUM, .limit = 1, .names = kind_names },
	X(run, "", FIELD_SPLICE, NULL, .shape = &head_shape),
	X(run.command, "command", FIELD_TEXT, NULL, .flags = FIELD_ALWAYS),
	X(run.parameters, "parameters", FIELD_LIST, NULL, .shape = &parameter_shape,
	  .limit = sizeof(struct parameter)),
	X(run.backend, "backend", FIELD_ENUM, NULL, .limit = BACKENDS, .names = backend_names),
	X(result.shown, "headline", FIELD_ENUM,
	  "What the run is about: asked for by --measure, et if it sleeps or does I/O, or else the lead.",
	  .limit = EMP_TIMES, .names = emp_measure_names),
	X(result.lead, "lead", FIELD_ENUM,
	  "What rule (II) judges by: what --measure asked for, pt_steady where that is shown to be better, or else the best process time.",
	  .limit = EMP_TIMES, .names = emp_measure_names),
	X(result.steady, "steady", FIELD_OBJECT,
	  "How PT(steady) was estimated; null: the CPUs' speed was not watched.",
	  .shape = &steady_shape, .flags = FIELD_ZERO_ABSENT),
	{ "counters", FIELD_LIST, .shape = &mean_counter_shape,
	  .flags = FIELD_BY_HAND | FIELD_OPTIONAL,
	  .meaning = "Over the kept executions; not there without counters." },
	X(run.shell_et_ns, "shell_ns", FIELD_NS, "Taken off each ET; 0: no shell.",
	  .flags = FIELD_ALWAYS),
	X(run.planned, "planned", FIELD_U32,
	  "Executions asked for, without warm-ups; null: as many as it takes.",
	  .flags = FIELD_ZERO_ABSENT, .more = "\"minimum\": 1"),
	SUMMARIES(kept),
	SUMMARIES(unfiltered),
	X(result.outside, "rule2", FIELD_OBJECT,
	  "What rule (II) keeps, of the lead; null: it was not applied.", .shape = &bounds_shape,
	  .flags = FIELD_GIVEN, .bits = offsetof(struct judged_run, result.outside.applied)),
	X(result.warnings, "warnings", FIELD_LIST, NULL, .shape = &warning_shape,
	  .limit = sizeof(struct emp_warning)),
	{ "measures", FIELD_LIST, .shape = &page_measure_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Those of the columns that people are shown, as the catalogue has them." },
	{ "columns", FIELD_OBJECT, .shape = &columns_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Parallel: a row for each execution, in order; further ones by measures." },
	{ "reasons", FIELD_MAP, .shape = &reason_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Of dropped executions, by position in the columns." },
	{ "ledger", FIELD_OBJECT, .shape = &ledger_columns_shape, .flags = FIELD_MAYBE,
	  .meaning = "null: no execution has one." },
	{ "dual", FIELD_OBJECT, .shape = &dual_shape, .flags = FIELD_MAYBE,
	  .meaning = "Pairs of successive measured executions; null: there are fewer than two." },
	{ "details", FIELD_MAP, .shape = &detail_shape, .flags = FIELD_BY_HAND,
	  .meaning = "By position; of many executions only the remarkable ones have one." },
	{ "names", FIELD_LIST, .item = FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning = "What details refer to; any text." },
	{ 0 },
};
const struct shape time_section_shape = { "time_section", NULL, time_section_fields };
#undef X

static const struct field page_samples_fields[] = {
	{ "number", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .more = "\"items\": {\"type\": \"integer\", \"minimum\": 1}" },
	{ "at_us", FIELD_LIST, .item = FIELD_I64, .flags = FIELD_MAYBE,
	  .meaning = "Since the first; null: not known." },
	{ "et", FIELD_LIST, .item = FIELD_U64, .flags = FIELD_BY_HAND },
	{ "l", FIELD_LIST, .item = FIELD_U64, .flags = FIELD_BY_HAND,
	  .meaning = "Positions outside of the cluster." },
	{ "dropped", FIELD_LIST, .item = FIELD_U64, .flags = FIELD_BY_HAND,
	  .meaning = "Positions." },
	{ 0 },
};
const struct shape page_samples_shape = { "page_samples", NULL, page_samples_fields };

static const struct field samples_fields[] = {
	{ "short", FIELD_OBJECT, .shape = &page_samples_shape, .flags = FIELD_MAYBE,
	  .meaning = "null: the run is gone, or was cut from a watch." },
	{ "long", FIELD_OBJECT, .shape = &page_samples_shape, .flags = FIELD_MAYBE,
	  .meaning = "null: the run is gone, or was cut from a watch." },
	{ 0 },
};
static const struct shape samples_shape = { "samples", NULL, samples_fields };

static const struct field phases_fields[] = {
	{ "short", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .meaning =
		  "Of each daemon of the study: its period in this run is expected at the phase, and every so many samples after it, by number; null: it has none.",
	  .more = "\"items\": {\"type\": [\"number\", \"null\"], \"minimum\": 0}" },
	{ "long", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .meaning =
		  "Of each daemon of the study: its period in this run is expected at the phase, and every so many samples after it, by number; null: it has none.",
	  .more = "\"items\": {\"type\": [\"number\", \"null\"], \"minimum\": 0}" },
	{ 0 },
};
static const struct shape phases_shape = { "phases", NULL, phases_fields };

static const struct field study_section_fields[] = {
	{ "kind", FIELD_ENUM, .limit = 1, .names = study_section_kind_names },
	{ "", FIELD_SPLICE, .shape = &head_shape },
	{ "study", FIELD_ANY, .more = "\"$ref\": \"study.schema.json\"" },
	{ "samples", FIELD_OBJECT, .shape = &samples_shape, .flags = FIELD_BY_HAND },
	{ "phases", FIELD_OBJECT, .shape = &phases_shape, .flags = FIELD_BY_HAND },
	{ 0 },
};
const struct shape study_section_shape = { "study_section", NULL, study_section_fields };

static const struct field baseline_fields[] = {
	FACT(struct run, id, "number", FIELD_I64, NULL, .more = "\"minimum\": 1"),
	{ "name", FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS },
	{ "diff", FIELD_ANY, .more = "\"$ref\": \"noise-diff.schema.json\"" },
	{ 0 },
};
const struct shape baseline_shape = { "baseline", NULL, baseline_fields };

static const struct field noise_section_fields[] = {
	{ "kind", FIELD_ENUM, .limit = 1, .names = noise_section_kind_names },
	{ "", FIELD_SPLICE, .shape = &head_shape },
	{ "noise", FIELD_ANY, .flags = FIELD_MAYBE,
	  .meaning = "null: nothing of the run is stored yet.",
	  .more = "\"$ref\": \"noise.schema.json\"" },
	{ "baseline", FIELD_OBJECT, .shape = &baseline_shape, .flags = FIELD_MAYBE,
	  .meaning = "This against the machine's baseline." },
	{ 0 },
};
const struct shape noise_section_shape = { "noise_section", NULL, noise_section_fields };

static const struct field stack_tree_fields[] = {
	FACT(struct call_tree, names.items, "names", FIELD_LIST, "Of functions and apps; any text.",
	     .item = FIELD_TEXT, .limit = sizeof(char *), .flags = FIELD_ALWAYS),
	FACT(struct call_tree, where.items, "where", FIELD_LIST, "Objects.", .item = FIELD_TEXT,
	     .limit = sizeof(char *), .flags = FIELD_ALWAYS),
	{ "name", FIELD_LIST, .item = FIELD_U64, .flags = FIELD_BY_HAND,
	  .meaning = "Of each node, index of names." },
	{ "object", FIELD_LIST, .flags = FIELD_BY_HAND, .meaning = "Index of where; -1: none.",
	  .more = "\"items\": {\"type\": \"integer\", \"minimum\": -1}" },
	{ "parent", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .meaning = "-1: of the root. Parents come before children.",
	  .more = "\"items\": {\"type\": \"integer\", \"minimum\": -1}" },
	{ "self", FIELD_LIST, .item = FIELD_U64, .flags = FIELD_BY_HAND,
	  .meaning = "Samples that end here." },
	{ "kind", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .meaning = "0 root, 1 app, 2 user, 3 kernel, 4 inlined, 5 unknown.",
	  .more = "\"items\": {\"enum\": [0, 1, 2, 3, 4, 5]}" },
	{ 0 },
};
const struct shape stack_tree_shape = {
	"tree",
	"Calls: node 0 is everything, its children the apps, then outermost function to innermost.",
	stack_tree_fields
};

static const struct field slices_fields[] = {
	{ "at_ms", FIELD_LIST, .item = FIELD_REAL, .flags = FIELD_BY_HAND | FIELD_ALWAYS },
	{ "ms", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .more = "\"items\": {\"type\": \"number\", \"minimum\": 0}" },
	{ "user", FIELD_LIST, .item = FIELD_U64, .flags = FIELD_BY_HAND },
	{ "kernel", FIELD_LIST, .item = FIELD_U64, .flags = FIELD_BY_HAND },
	{ "idle", FIELD_LIST, .item = FIELD_U64, .flags = FIELD_BY_HAND },
	{ 0 },
};
const struct shape slices_shape = { "slices", "Samples over time.", slices_fields };

static const struct field profile_section_fields[] = {
	{ "kind", FIELD_ENUM, .limit = 1, .names = profile_section_kind_names },
	{ "", FIELD_SPLICE, .shape = &head_shape },
	{ "profile", FIELD_ANY, .more = "\"$ref\": \"profile.schema.json\"" },
	{ "tree", FIELD_OBJECT, .shape = &stack_tree_shape, .flags = FIELD_BY_HAND,
	  .meaning =
		  "Calls: node 0 is everything, its children the apps, then outermost function to innermost." },
	{ "slices", FIELD_OBJECT, .shape = &slices_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Samples over time." },
	{ "listings", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .meaning = "Of the functions with the most samples.",
	  .more = "\"items\": {\"$ref\": \"profile-listing.schema.json\"}" },
	{ 0 },
};
const struct shape profile_section_shape = { "profile_section", NULL, profile_section_fields };

static const struct field matrix_fields[] = {
	{ "measures", FIELD_LIST, .item = FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS },
	{ "r", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .more = "\"items\": {\"type\": \"array\", \"items\": {\"type\": [\"number\", \"null\"]}}" },
	{ 0 },
};
const struct shape matrix_shape = { "matrix", NULL, matrix_fields };

static const struct field query_ledger_fields[] = {
	FACT(struct ttp_ledger, query, "query", FIELD_U32, NULL),
	FACT(struct ttp_ledger, cardinality, "cardinality", FIELD_U64, NULL,
	     .flags = FIELD_ZERO_ABSENT),
	FACT(struct ttp_ledger, et_ns, "elapsed_ns", FIELD_U64,
	     "In the query itself: the ledger begins before it is asked and ends after it."),
	{ "causes", FIELD_LIST, .item = FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS },
	{ "mean", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .more = "\"items\": {\"type\": \"number\", \"minimum\": 0}" },
	{ 0 },
};
const struct shape query_ledger_shape = { "query_ledger", NULL, query_ledger_fields };

static const struct field query_section_fields[] = {
	{ "kind", FIELD_ENUM, .limit = 1, .names = query_section_kind_names },
	{ "", FIELD_SPLICE, .shape = &head_shape },
	{ "query", FIELD_ANY, .flags = FIELD_MAYBE,
	  .meaning = "null: nothing of the run is stored yet.",
	  .more = "\"$ref\": \"query.schema.json\"" },
	{ "matrix", FIELD_OBJECT, .shape = &matrix_shape, .flags = FIELD_MAYBE,
	  .meaning = "Every pair of the model's measures." },
	{ "ledgers", FIELD_LIST, .shape = &query_ledger_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Wall view, mean over executions kept." },
	{ 0 },
};
const struct shape query_section_shape = { "query_section", NULL, query_section_fields };

static const struct field duet_section_fields[] = {
	{ "kind", FIELD_ENUM, .limit = 1, .names = duet_section_kind_names },
	{ "", FIELD_SPLICE, .shape = &head_shape },
	{ "duet", FIELD_ANY, .flags = FIELD_MAYBE,
	  .meaning = "null: nothing of the run is stored yet.",
	  .more = "\"$ref\": \"duet.schema.json\"" },
	{ 0 },
};
const struct shape duet_section_shape = { "duet_section", NULL, duet_section_fields };

#define X(member, ...) FACT(struct duet_pool, member, __VA_ARGS__)
static const struct field duet_comparison_fields[] = {
	{ "kind", FIELD_ENUM, .limit = 1, .names = duet_section_kind_names,
	  .flags = FIELD_BY_HAND },
	{ "sections", FIELD_LIST, .item = FIELD_U64, .flags = FIELD_BY_HAND,
	  .meaning = "Of the duets, in the order given." },
	{ "sentence", FIELD_TEXT, .flags = FIELD_MAYBE,
	  .meaning = "The pooled answer; null: they do not compare the same two." },
	X(runs, "runs", FIELD_U64, "Pooled ones; 0: they do not compare the same two."),
	X(ratio, "ratio", FIELD_REAL, "Over all runs, other / reference.",
	  .more = "\"minimum\": 0"),
	X(low, "ratio_low", FIELD_REAL, "With the variation between runs.",
	  .more = "\"minimum\": 0"),
	X(high, "ratio_high", FIELD_REAL, NULL, .more = "\"minimum\": 0"),
	X(between, "sigma_between_runs", FIELD_REAL, "Of the log ratio; null: one run.",
	  .more = "\"minimum\": 0"),
	X(share, "share_between_runs", FIELD_REAL,
	  "Of the variation seen between runs, what is not within them (I²).",
	  .more = "\"minimum\": 0, \"maximum\": 1"),
	{ 0 },
};
#undef X
const struct shape duet_comparison_shape = { "duet_comparison", NULL, duet_comparison_fields };

static const struct field time_comparison_row_fields[] = {
	FACT(struct page_time_comparison, section, "section", FIELD_U64, NULL),
	FACT(struct page_time_comparison, result, "", FIELD_SPLICE, NULL, .shape = &ratio_shape),
	FACT(struct page_time_comparison, sentence, "sentence", FIELD_TEXT, NULL,
	     .flags = FIELD_ALWAYS),
	{ 0 },
};
const struct shape time_comparison_row_shape = { "time_comparison_row", NULL,
						 time_comparison_row_fields };

static const struct field time_comparison_fields[] = {
	{ "kind", FIELD_ENUM, .limit = 1, .names = kind_names },
	{ "sections", FIELD_LIST, .item = FIELD_U64, .flags = FIELD_BY_HAND,
	  .meaning = "Those compared, the reference included." },
	{ "reference", FIELD_U64 },
	{ "measure", FIELD_ENUM, .limit = EMP_TIMES, .names = emp_measure_names },
	{ "why", FIELD_TEXT, .flags = FIELD_ALWAYS,
	  .meaning = "Why by this measure, in words; empty: there is nothing to say." },
	{ "rows", FIELD_LIST, .shape = &time_comparison_row_shape, .flags = FIELD_BY_HAND },
	{ 0 },
};
static const struct shape time_comparison_shape = { "time_comparison", NULL,
						    time_comparison_fields };

static const struct field noise_comparison_fields[] = {
	{ "kind", FIELD_ENUM, .limit = 1, .names = noise_section_kind_names },
	{ "base", FIELD_U64 },
	{ "run", FIELD_U64 },
	{ "diff", FIELD_ANY, .more = "\"$ref\": \"noise-diff.schema.json\"" },
	{ 0 },
};
static const struct shape noise_comparison_shape = { "noise_comparison", NULL,
						     noise_comparison_fields };

static const struct field profile_comparison_side_fields[] = {
	{ "here", FIELD_LIST, .item = FIELD_U64, .flags = FIELD_BY_HAND,
	  .meaning = "Samples of this path of names in this profile." },
	{ "other", FIELD_LIST, .item = FIELD_U64, .flags = FIELD_BY_HAND,
	  .meaning = "Samples of this path of names in the other profile." },
	{ "sure", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .meaning =
		  "1: the shares differ by more than how samples fall: p < 0.05, adjusted for the number of paths.",
	  .more = "\"items\": {\"type\": \"integer\", \"minimum\": 0, \"maximum\": 1}" },
	{ 0 },
};
const struct shape profile_comparison_side_shape = { "profile_comparison_side",
						     "Columns by node of the tree before.",
						     profile_comparison_side_fields };

static const struct field places_fields[] = {
	{ "before", FIELD_OBJECT, .shape = &profile_comparison_side_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Columns by node of the tree before." },
	{ "after", FIELD_OBJECT, .shape = &profile_comparison_side_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Columns by node of the tree after." },
	{ 0 },
};
static const struct shape places_shape = { "places", "What changed, by path of names.",
					   places_fields };

static const struct field profile_comparison_fields[] = {
	{ "kind", FIELD_ENUM, .limit = 1, .names = profile_section_kind_names },
	{ "before", FIELD_U64 },
	{ "after", FIELD_U64 },
	{ "diff", FIELD_ANY, .more = "\"$ref\": \"profile-diff.schema.json\"" },
	{ "places", FIELD_OBJECT, .shape = &places_shape, .flags = FIELD_BY_HAND,
	  .meaning = "What changed, by path of names." },
	{ 0 },
};
static const struct shape profile_comparison_shape = { "profile_comparison", NULL,
						       profile_comparison_fields };

static const struct field query_comparison_fields[] = {
	{ "kind", FIELD_ENUM, .limit = 1, .names = query_section_kind_names },
	{ "base", FIELD_U64 },
	{ "other", FIELD_U64 },
	{ "diff", FIELD_ANY, .more = "\"$ref\": \"query-compare.schema.json\"" },
	{ 0 },
};
static const struct shape query_comparison_shape = { "query_comparison", NULL,
						     query_comparison_fields };

static const struct shape *const doc_sections_either[] = { &time_section_shape,
							   &study_section_shape,
							   &noise_section_shape,
							   &profile_section_shape,
							   &query_section_shape,
							   &duet_section_shape,
							   NULL };
static const struct shape *const doc_comparisons_either[] = {
	&time_comparison_shape,	 &noise_comparison_shape, &profile_comparison_shape,
	&query_comparison_shape, &duet_comparison_shape,  NULL
};
static const struct field doc_fields[] = {
	{ "type", FIELD_ENUM, .limit = 1, .names = type_names },
	{ "format", FIELD_U64, .meaning = "Raised when a field changes its meaning.",
	  .more = "\"const\": 1" },
	{ "tare", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "The version that made it." },
	{ "made_at", FIELD_TEXT, .flags = FIELD_ALWAYS,
	  .more = "\"pattern\": \"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$\"" },
	{ "title", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "served", FIELD_BOOL, .meaning = "By 'tare serve': there is a lab to go back to." },
	{ "colours", FIELD_OBJECT, .shape = &colours_shape, .flags = FIELD_BY_HAND,
	  .meaning = "One colour for each cause and class, wherever it is drawn." },
	{ "machines", FIELD_LIST, .shape = &page_machine_shape, .flags = FIELD_BY_HAND },
	{ "sections", FIELD_LIST, .either = doc_sections_either, .flags = FIELD_BY_HAND },
	{ "comparisons", FIELD_LIST, .either = doc_comparisons_either, .flags = FIELD_BY_HAND },
	{ 0 },
};
const struct shape doc_shape = {
	"doc",
	"What a page shows: 'tare report --json', and the JSON within its HTML. Times are in ns unless a name says otherwise. null: not known, never the same as 0. Columns are parallel arrays.",
	doc_fields
};
