/* What the documents of this folder are made of: docs/schema/ comes from it. */
#include "report/core/shapes.h"

static const char *const status_names[] = { "going", "complete", "interrupted", "failed" };
static const char *const severity_names[] = { "unknown", "ok", "note", "warn", "bad" };
static const char *const verdict_names[] = { "ok", "note", "warn", "bad" };
static const char *const state_names[] = { "would change", "changed",  "as wanted", "absent",
					   "refused",	   "restored", "left" };

static const struct field machine_fields[] = {
	{ "fingerprint", FIELD_HASH, .flags = FIELD_ALWAYS },
	{ "facts", FIELD_MAP, .item = FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS },
	{ 0 },
};
const struct shape machine_shape = { "machine", NULL, machine_fields };

static const struct field warning_fields[] = {
	{ "id", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "text", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "remedy", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ 0 },
};
const struct shape warning_shape = { "warning", NULL, warning_fields };

static const struct field noise_run_fields[] = {
	{ "id", FIELD_ID, .meaning = "In the lab; null: not stored." },
	{ "name", FIELD_TEXT },
	{ "command_line", FIELD_TEXT },
	{ "status", FIELD_ENUM, .limit = 4, .names = status_names },
	{ "started_at", FIELD_DATE },
	{ "ended_at", FIELD_DATE },
	{ "conditions", FIELD_MAP, .flags = FIELD_MAYBE,
	  .meaning = "Every option that shaped the run." },
	{ "tags", FIELD_TEXT },
	{ "not_seen", FIELD_TEXT, .meaning = "What could not be seen, a sentence." },
	{ "version", FIELD_TEXT, .meaning = "Of tare." },
	{ 0 },
};
const struct shape noise_run_shape = { "noise_run", NULL, noise_run_fields };

static const struct field doctor_counts_fields[] = {
	{ "unknown", FIELD_U64 }, { "ok", FIELD_U64 },	{ "note", FIELD_U64 },
	{ "warn", FIELD_U64 },	  { "bad", FIELD_U64 }, { 0 },
};
const struct shape doctor_counts_shape = {
	"doctor_counts", "checks by severity; all of them, whether listed in findings or not",
	doctor_counts_fields, "\"additionalProperties\": false"
};

static const struct field finding_fields[] = {
	{ "id", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "of the check; stable",
	  .more = "\"pattern\": \"^[a-z_]+$\"" },
	{ "severity", FIELD_ENUM, .limit = 5, .names = severity_names },
	{ "condition", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "what was found" },
	{ "effect", FIELD_TEXT, .flags = FIELD_ALWAYS,
	  .meaning = "what it does to a measurement; empty when ok or unknown" },
	{ "remedy", FIELD_TEXT, .flags = FIELD_ALWAYS,
	  .meaning = "what mends it; empty when ok or unknown" },
	{ "command", FIELD_BOOL, .meaning = "the remedy is a shell command, not a sentence" },
	{ "source", FIELD_TEXT, .flags = FIELD_ALWAYS,
	  .meaning = "who asks for it: EMP v3, TTP step 0 (b), pyperf, tuned, temci, tare" },
	{ 0 },
};
const struct shape finding_shape = { "finding", NULL, finding_fields,
				     "\"additionalProperties\": false" };

static const struct field doctor_fields[] = {
	{ "tare", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "version of tare" },
	{ "fingerprint", FIELD_HASH, .flags = FIELD_ALWAYS,
	  .meaning =
		  "over the facts that make two runs comparable: all but those beginning with 'now.'" },
	{ "verdict", FIELD_ENUM, .limit = 4, .names = verdict_names, .flags = FIELD_OPTIONAL,
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
const struct shape change_shape = { "change", NULL, change_fields,
				    "\"additionalProperties\": false" };

static const struct field knob_fields[] = {
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS, .more = "\"pattern\": \"^[a-z-]+$\"" },
	{ "default", FIELD_BOOL, .meaning = "changed unless excepted" },
	{ "isolates", FIELD_BOOL, .meaning = "only with --isolate" },
	{ "source", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "effect", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ 0 },
};
const struct shape knob_shape = { "knob", NULL, knob_fields, "\"additionalProperties\": false" };

static const struct field status_fields[] = {
	{ "quiet", FIELD_BOOL, .meaning = "something is to be put back" },
	{ "abandoned", FIELD_BOOL, .meaning = "whoever changed it is gone" },
	{ "stale", FIELD_BOOL, .meaning = "of before the machine was last started" },
	{ "owner", FIELD_U64, .meaning = "pid; 0: it stays until --restore" },
	{ "since_ns", FIELD_I64, .meaning = "CLOCK_REALTIME; 0 when not quiet" },
	{ "changes", FIELD_U64 },
	{ 0 },
};
const struct shape status_shape = { "status", NULL, status_fields,
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
