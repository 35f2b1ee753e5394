/* What the documents of this folder are made of: docs/schema/ comes from it. */
#include "report/core/shapes.h"

#include "protocol/doctor/doctor.h"
#include "protocol/doctor/speed.h"
#include "protocol/emp/emp.h"
#include "record/execution.h"

static const char *const state_names[] = { "would change", "changed",  "as wanted", "absent",
					   "refused",	   "restored", "left" };

#define X(member, ...) FACT(struct summary, member, __VA_ARGS__)
#define ALWAYS .flags = FIELD_ALWAYS
#define SPREAD .flags = FIELD_OF_SEVERAL, .bits = offsetof(struct summary, n)
#define POSITIVE .more = "\"minimum\": 0"
static const struct field summary_fields[] = {
	X(n, "n", FIELD_U64, NULL, .more = "\"minimum\": 1"),
	X(mean, "mean_ns", FIELD_REAL, NULL, ALWAYS, POSITIVE),
	X(stddev, "stddev_ns", FIELD_REAL, "null: of one value.", SPREAD, POSITIVE),
	X(relative_error, "relative_error", FIELD_REAL, NULL, SPREAD, POSITIVE),
	X(median, "median_ns", FIELD_REAL, NULL, ALWAYS, POSITIVE),
	X(mad, "mad_ns", FIELD_REAL, NULL, SPREAD, POSITIVE),
	X(min, "min_ns", FIELD_REAL, NULL, ALWAYS, POSITIVE),
	X(max, "max_ns", FIELD_REAL, NULL, ALWAYS, POSITIVE),
	X(ci_low, "ci_low_ns", FIELD_REAL,
	  "95 % interval of the mean. null: of one value, or too few for the dependence between them.",
	  SPREAD, POSITIVE),
	X(ci_high, "ci_high_ns", FIELD_REAL, NULL, SPREAD, POSITIVE),
	X(error.effective, "effective_n", FIELD_REAL,
	  "As many independent executions would tell as much about the mean.", SPREAD, POSITIVE),
	X(error.needed, "needed_n", FIELD_U64,
	  "About as many executions are needed for an interval; 0: these are enough."),
	{ 0 },
};
const struct shape summary_shape = { "summary", NULL, summary_fields };
#undef X

static const struct field machine_fields[] = {
	{ "fingerprint", FIELD_HASH, .flags = FIELD_BY_HAND | FIELD_ALWAYS },
	FACT(struct machine, facts, "facts", FIELD_MAP, NULL, .item = FIELD_TEXT,
	     .flags = FIELD_ALWAYS),
	{ 0 },
};
const struct shape machine_shape = { "machine", NULL, machine_fields };

#define X(member, ...) FACT(struct emp_warning, member, __VA_ARGS__)
static const struct field warning_fields[] = {
	X(id, "id", FIELD_TEXT, NULL, .flags = FIELD_ALWAYS),
	X(text, "text", FIELD_NAME, NULL),
	X(remedy, "remedy", FIELD_NAME, NULL),
	{ 0 },
};
const struct shape warning_shape = { "warning", NULL, warning_fields };
#undef X

#define X(member, ...) FACT(struct run, member, __VA_ARGS__)
static const struct field stored_run_fields[] = {
	X(id, "id", FIELD_ID, "In the lab; null: not stored."),
	X(name, "name", FIELD_TEXT, NULL),
	X(command, "command_line", FIELD_TEXT, NULL),
	X(status, "status", FIELD_ENUM, NULL, .limit = RUN_FAILED + 1, .names = run_status_names),
	X(started_at_ns, "started_at", FIELD_DATE, NULL),
	X(ended_at_ns, "ended_at", FIELD_DATE, NULL),
	X(conditions.all, "conditions", FIELD_MAP, "Every option that shaped the run.",
	  .flags = FIELD_ZERO_ABSENT),
	X(tags, "tags", FIELD_TEXT, NULL),
	X(not_seen, "not_seen", FIELD_TEXT, "What could not be seen, a sentence."),
	X(version, "version", FIELD_TEXT, "Of tare."),
	{ 0 },
};
const struct shape stored_run_shape = { "stored_run", NULL, stored_run_fields };
#undef X

static const struct field doctor_counts_fields[] = {
	{ "unknown", FIELD_U64 }, { "ok", FIELD_U64 },	{ "note", FIELD_U64 },
	{ "warn", FIELD_U64 },	  { "bad", FIELD_U64 }, { 0 },
};
static const struct shape doctor_counts_shape = {
	"doctor_counts", "checks by severity; all of them, whether listed in findings or not",
	doctor_counts_fields, "\"additionalProperties\": false"
};

#define X(member, ...) FACT(struct finding, member, __VA_ARGS__)
static const struct field finding_fields[] = {
	X(id, "id", FIELD_TEXT, "of the check; stable", .flags = FIELD_ALWAYS,
	  .more = "\"pattern\": \"^[a-z_]+$\""),
	X(severity, "severity", FIELD_ENUM, NULL, .limit = SEVERITY_BAD + 1,
	  .names = severity_names),
	X(condition, "condition", FIELD_NAME, "what was found"),
	X(effect, "effect", FIELD_NAME, "what it does to a measurement; empty when ok or unknown"),
	X(remedy, "remedy", FIELD_NAME, "what fixes it; empty when ok or unknown"),
	X(command, "command", FIELD_BOOL, "the remedy is a shell command, not a sentence"),
	X(source, "source", FIELD_TEXT,
	  "who asks for it: EMP v3, TTP step 0 (b), pyperf, tuned, temci, tare",
	  .flags = FIELD_ALWAYS),
	{ 0 },
};
#undef X
const struct shape finding_shape = { "finding", NULL, finding_fields,
				     "\"additionalProperties\": false" };

static const struct field doctor_fields[] = {
	{ "tare", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "version of tare" },
	{ "fingerprint", FIELD_HASH, .flags = FIELD_ALWAYS,
	  .meaning =
		  "over the facts that make two runs comparable: all but those beginning with 'now.'" },
	{ "verdict", FIELD_ENUM, .limit = 4, .names = &severity_names[1], .flags = FIELD_OPTIONAL,
	  .meaning = "the worst severity found" },
	{ "counts", FIELD_OBJECT, .shape = &doctor_counts_shape,
	  .flags = FIELD_OPTIONAL | FIELD_BY_HAND,
	  .meaning = "checks by severity; all of them, whether listed in findings or not" },
	{ "findings", FIELD_LIST, .shape = &finding_shape, .flags = FIELD_OPTIONAL | FIELD_BY_HAND,
	  .meaning = "worst first; 'ok' and 'unknown' only with --all" },
	{ "facts", FIELD_MAP, .item = FIELD_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning = "dotted keys; a fact that could not be read is not there" },
	{ 0 },
};
const struct shape doctor_shape = {
	"doctor",
	"The judgement of a machine. With --facts the object holds the facts instead of the judgement.",
	doctor_fields,
	"\"$id\": \"doctor.schema.json\", \"oneOf\": [{\"required\": [\"verdict\", \"counts\", \"findings\"]}, {\"required\": [\"facts\"]}], \"additionalProperties\": false"
};

#define X(member, ...) FACT(struct speed_figures, member, __VA_ARGS__)
static const struct field speed_figures_fields[] = {
	X(best, "best_ns", FIELD_REAL, "the 5 % quantile of means over time"),
	X(median, "median_ns", FIELD_REAL, NULL),
	X(worst, "worst_ns", FIELD_REAL, "the 95 % quantile"),
	X(varied, "varied", FIELD_REAL, "worst / best - 1"),
	{ 0 },
};
#undef X
const struct shape speed_figures_shape = { "speed_figures", "How long the work of a probe took.",
					   speed_figures_fields };

#define X(member, ...) FACT(struct speed_cpu, member, __VA_ARGS__)
#define KIND(kind, name, meaning) \
	X(of[kind], "work." name, FIELD_OBJECT, meaning, .shape = &speed_figures_shape)
static const struct field speed_cpu_fields[] = {
	X(cpu, "cpu", FIELD_U32, NULL),
	X(grade, "grade", FIELD_ENUM, NULL, .limit = SPEED_GRADES, .names = speed_grade_names),
	X(windows, "windows", FIELD_U64, "stretches of 100 ms with a probe"),
	X(probes, "probes", FIELD_U64, "that count"),
	X(left_out, "left_out", FIELD_U64, "that were interrupted"),
	KIND(SPEED_CHAIN, "chain", "dependent multiplications: the clock"),
	KIND(SPEED_PORTS, "ports", "additions that fill the ports, which a sibling shares"),
	KIND(SPEED_TURNS, "turns", "a tight loop: the front end"),
	KIND(SPEED_LOADS, "loads", "dependent loads from 4 MiB"),
	{ 0 },
};
#undef KIND
#undef X
const struct shape speed_cpu_shape = { "speed_cpu", NULL, speed_cpu_fields };

static const struct field doctor_speed_fields[] = {
	{ "tare", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "version of tare" },
	{ "watched_ns", FIELD_U64 },
	{ "grade", FIELD_ENUM, .limit = SPEED_GRADES, .names = speed_grade_names,
	  .meaning = "the worst of the CPUs" },
	{ "advice", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "not_seen", FIELD_TEXT, .meaning = "what is lost for want of privileges; null: nothing" },
	{ "cpus", FIELD_LIST, .shape = &speed_cpu_shape, .flags = FIELD_BY_HAND },
	{ 0 },
};
const struct shape doctor_speed_shape = { "doctor_speed", "How steady the speed of the CPUs was.",
					  doctor_speed_fields,
					  "\"$id\": \"doctor-speed.schema.json\"" };

static const struct field change_fields[] = {
	{ "knob", FIELD_TEXT, .flags = FIELD_ALWAYS, .more = "\"pattern\": \"^[a-z-]+$\"" },
	{ "what", FIELD_TEXT, .flags = FIELD_ALWAYS,
	  .meaning = "a file, 'service NAME', 'process NAME PID START', 'swap DEVICE'" },
	{ "before", FIELD_TEXT, .meaning = "before the machine was made quiet" },
	{ "after", FIELD_TEXT, .meaning = "while it is quiet: as read back, or as wanted" },
	{ "state", FIELD_ENUM, .limit = 7, .names = state_names },
	{ "why", FIELD_TEXT },
	{ 0 },
};
static const struct shape change_shape = { "change", NULL, change_fields,
					   "\"additionalProperties\": false" };

static const struct field knob_fields[] = {
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS, .more = "\"pattern\": \"^[a-z-]+$\"" },
	{ "default", FIELD_BOOL, .meaning = "changed unless excepted" },
	{ "isolates", FIELD_BOOL, .meaning = "only with --isolate" },
	{ "source", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "effect", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ 0 },
};
static const struct shape knob_shape = { "knob", NULL, knob_fields,
					 "\"additionalProperties\": false" };

static const struct field status_fields[] = {
	{ "quiet", FIELD_BOOL, .meaning = "something is to be put back" },
	{ "abandoned", FIELD_BOOL, .meaning = "whoever changed it is gone" },
	{ "stale", FIELD_BOOL, .meaning = "of before the machine was last started" },
	{ "owner", FIELD_U64, .meaning = "pid; 0: it stays until --restore" },
	{ "since_ns", FIELD_I64, .meaning = "CLOCK_REALTIME; 0 when not quiet" },
	{ "changes", FIELD_U64 },
	{ 0 },
};
static const struct shape status_shape = { "status", NULL, status_fields,
					   "\"additionalProperties\": false" };

static const struct field quiet_fields[] = {
	{ "tare", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "version of tare" },
	{ "changes", FIELD_LIST, .shape = &change_shape, .flags = FIELD_OPTIONAL | FIELD_BY_HAND,
	  .meaning =
		  "in the order in which they are made, or put back; those that need no change come first" },
	{ "knobs", FIELD_LIST, .shape = &knob_shape, .flags = FIELD_OPTIONAL | FIELD_BY_HAND },
	{ "status", FIELD_OBJECT, .shape = &status_shape, .flags = FIELD_OPTIONAL | FIELD_BY_HAND },
	{ 0 },
};
const struct shape quiet_shape = {
	"quiet",
	"What was or would be changed or put back (changes), the table of knobs (--list), or who holds the machine quiet (--status).",
	quiet_fields,
	"\"$id\": \"quiet.schema.json\", \"oneOf\": [{\"required\": [\"changes\"]}, {\"required\": [\"knobs\"]}, {\"required\": [\"status\"]}], \"additionalProperties\": false"
};
