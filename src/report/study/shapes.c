/* What the documents of this folder are made of: docs/schema/ comes from it. */
#include "report/core/shapes.h"
#include "record/study.h"
#include "report/study/style.h"

static const char *const type_names[] = { "study" };
static const char *const kind_names[] = { "cutoffs" };

static const struct shape facts_shape = { "study_facts", NULL, study_fields };

#define X(member, ...) FACT(struct study_head, member, __VA_ARGS__)
static const struct field document_fields[] = {
	X(type, "type", FIELD_ENUM, NULL, .limit = 1, .names = type_names),
	X(format, "format", FIELD_U64, "Raised when a field changes its meaning.",
	  .more = "\"const\": 1"),
	X(study, "", FIELD_SPLICE, NULL, .shape = &facts_shape),
	{ "machine", FIELD_OBJECT, .shape = &machine_shape, .flags = FIELD_MAYBE },
	{ "runs.short", FIELD_OBJECT, .shape = &study_run_shape, .flags = FIELD_MAYBE,
	  .meaning = "null: there was none." },
	{ "runs.long", FIELD_OBJECT, .shape = &study_run_shape, .flags = FIELD_MAYBE },
	{ "daemons", FIELD_LIST, .shape = &study_daemon_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Long-running ones first, then by name." },
	X(study.cutoffs, "cutoffs", FIELD_LIST, "All of them, by daemon and from_ns.",
	  .shape = &cutoff_shape, .limit = sizeof(struct cutoff)),
	{ 0 },
};
#undef X
const struct shape study_shape = {
	"study",
	"A daemon study (SEDONA): which daemons spoil samples, how often, and the cutoffs that follow. Times are in ns. null: not known, or there is none; never the same as 0.",
	document_fields
};

static const struct field cutoffs_machine_fields[] = {
	{ "identity", FIELD_HASH, .flags = FIELD_ALWAYS,
	  .meaning =
		  "Of the machine; stays when its kernel is updated or a setting changed. What is imported must have it." },
	{ "fingerprint", FIELD_HASH, .flags = FIELD_ALWAYS,
	  .meaning = "Of the machine as it was at the study." },
	{ "host", FIELD_TEXT },
	{ "cpu", FIELD_TEXT, .meaning = "Model of the CPU." },
	{ "kernel", FIELD_TEXT, .meaning = "Release of the kernel at the study." },
	{ 0 },
};
static const struct shape cutoffs_machine_shape = { "cutoffs_machine", NULL,
						    cutoffs_machine_fields };

static const struct field changed_fields[] = {
	{ "fact", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "then", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "now", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ 0 },
};
static const struct shape changed_shape = { "changed_fact", NULL, changed_fields };

static const struct field cutoffs_cutoff_fields[] = {
	{ "id", FIELD_U64, .flags = FIELD_OPTIONAL, .meaning = "In the lab it comes from." },
	{ "daemon", FIELD_TEXT, .flags = FIELD_ALWAYS,
	  .more = "\"minLength\": 1, \"maxLength\": 15" },
	{ "from_ns", FIELD_U64, .meaning = "Holds for programs that take so long or longer," },
	{ "below_ns", FIELD_ID, .meaning = "and less than this; null: without end.",
	  .more = "\"minimum\": 1" },
	{ "cutoff_ns", FIELD_U64,
	  .meaning = "An execution in which the daemon used more CPU time is dropped." },
	{ "edited", FIELD_BOOL, .flags = FIELD_OPTIONAL, .meaning = "By hand, or imported." },
	{ 0 },
};
static const struct shape cutoffs_cutoff_shape = { "cutoff_in_force", NULL, cutoffs_cutoff_fields };

static const struct field cutoffs_cutoffs_fields[] = {
	{ "format", FIELD_U64, .meaning = "Raised when a field changes its meaning.",
	  .more = "\"const\": 1" },
	{ "kind", FIELD_ENUM, .limit = 1, .names = kind_names },
	{ "machine", FIELD_OBJECT, .shape = &cutoffs_machine_shape, .flags = FIELD_BY_HAND },
	{ "study", FIELD_ID, .meaning = "Its id in the lab; null: all by hand or imported.",
	  .more = "\"minimum\": 1" },
	{ "made_at", FIELD_TEXT,
	  .meaning =
		  "When the study was made; without one, the oldest of the cutoffs: set by hand, or as the file said that it was imported from; UTC.",
	  .more = "\"pattern\": \"^\\\\d{4}-\\\\d{2}-\\\\d{2}T\\\\d{2}:\\\\d{2}:\\\\d{2}\\\\.\\\\d{3}Z$\"" },
	{ "valid", FIELD_BOOL,
	  .meaning =
		  "There are some, none of the facts below has changed, and they are not older than 90 days." },
	{ "changed", FIELD_LIST, .shape = &changed_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Facts of the machine that are not what they were at the study." },
	{ "cutoffs", FIELD_LIST, .shape = &cutoffs_cutoff_shape, .flags = FIELD_BY_HAND },
	{ 0 },
};
const struct shape cutoffs_cutoffs_shape = {
	"cutoffs_in_force",
	"What `tare cutoffs --json` and `tare cutoffs export` write and `tare cutoffs import` reads: the cutoffs in force on a machine. Times are in ns.",
	cutoffs_cutoffs_fields
};

static const struct field watch_status_fields[] = {
	{ "format", FIELD_U64, .meaning = "Raised when a field changes its meaning.",
	  .more = "\"const\": 1" },
	{ "running", FIELD_BOOL, .meaning = "false: of the rest only record is there." },
	{ "pid", FIELD_I64, .flags = FIELD_OPTIONAL, .more = "\"minimum\": 1" },
	{ "watch", FIELD_I64, .flags = FIELD_OPTIONAL, .meaning = "Its id in the lab.",
	  .more = "\"minimum\": 1" },
	{ "since", FIELD_TEXT, .flags = FIELD_OPTIONAL, .meaning = "UTC.",
	  .more = "\"pattern\": \"^\\\\d{4}-\\\\d{2}-\\\\d{2}T\\\\d{2}:\\\\d{2}:\\\\d{2}\\\\.\\\\d{3}Z$\"" },
	{ "until", FIELD_TEXT, .flags = FIELD_OPTIONAL,
	  .meaning = "When it will end by itself; null: not.",
	  .more = "\"pattern\": \"^\\\\d{4}-\\\\d{2}-\\\\d{2}T\\\\d{2}:\\\\d{2}:\\\\d{2}\\\\.\\\\d{3}Z$\"" },
	{ "bursts", FIELD_U64, .flags = FIELD_OPTIONAL, .meaning = "Stored." },
	{ "held", FIELD_U64, .flags = FIELD_OPTIONAL,
	  .meaning = "Bursts that wait for a lab that cannot take them." },
	{ "dropped", FIELD_U64, .flags = FIELD_OPTIONAL,
	  .meaning = "Bursts given up because it could not for too long." },
	{ "lost", FIELD_U64, .flags = FIELD_OPTIONAL,
	  .meaning = "Bursts that the kernel had no room for." },
	{ "keep_bytes", FIELD_U64, .flags = FIELD_OPTIONAL, .meaning = "0: all is kept." },
	{ "lab", FIELD_TEXT, .flags = FIELD_OPTIONAL | FIELD_ALWAYS },
	{ "error", FIELD_TEXT, .flags = FIELD_OPTIONAL,
	  .meaning = "Why the last attempt to store failed; null: it did not." },
	{ "record", FIELD_LIST, .shape = &watch_row_shape, .flags = FIELD_BY_HAND,
	  .meaning = "The watches in the lab." },
	{ 0 },
};
const struct shape watch_status_shape = {
	"watch_status",
	"What `tare calibrate --watch-status --json` writes: the watch that is running, and what is on record.",
	watch_status_fields,
	"\"if\": {\"properties\": {\"running\": {\"const\": true}}}, \"then\": {\"required\": [\"pid\", \"watch\", \"since\", \"until\", \"bursts\", \"held\", \"dropped\", \"lost\", \"keep_bytes\", \"lab\", \"error\"]}"
};
