/* What the documents of this folder are made of: docs/schema/ comes from it. */
#include "report/core/shapes.h"

static const char *const type_names[] = { "study" };
static const char *const source_names[] = { "active", "watch", "runs" };
static const char *const kind_names[] = { "cutoffs" };

static const struct field study_run_fields[] = {
	{ "run", FIELD_ID, .meaning = "Its number in the lab; null: none, or not stored.",
	  .more = "\"minimum\": 1" },
	{ "length_ns", FIELD_U64, .meaning = "What was aimed at, or the median ET." },
	{ "samples", FIELD_U64 },
	{ "cluster", FIELD_U64, .meaning = "Samples in the central cluster." },
	{ "cluster_low_ns", FIELD_NS, .meaning = "ET of those; null: there are none." },
	{ "cluster_high_ns", FIELD_NS },
	{ "levels", FIELD_LIST, .shape = &level_shape, .flags = FIELD_BY_HAND,
	  .meaning =
		  "The zooms, outermost first; the last is the cluster. Empty: too few samples." },
	{ "l_samples", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .meaning = "Samples outside of the cluster, by number.",
	  .more = "\"uniqueItems\": true, \"items\": {\"type\": \"integer\", \"minimum\": 1}" },
	{ "dropped", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .meaning =
		  "Samples with an execution of a daemon above the cutoff that holds for length_ns.",
	  .more = "\"uniqueItems\": true, \"items\": {\"type\": \"integer\", \"minimum\": 1}" },
	{ "mean_ns", FIELD_REAL, .meaning = "Of ET.", .more = "\"minimum\": 0" },
	{ "mean_kept_ns", FIELD_REAL, .meaning = "Without the dropped ones.",
	  .more = "\"minimum\": 0" },
	{ "sigma_ns", FIELD_REAL, .meaning = "Of ET; null: fewer than two.",
	  .more = "\"minimum\": 0" },
	{ "sigma_kept_ns", FIELD_REAL, .meaning = "Without the dropped ones.",
	  .more = "\"minimum\": 0" },
	{ "sigma_ratio", FIELD_REAL,
	  .meaning = "sigma_kept_ns / sigma_ns; null: there is no spread.",
	  .more = "\"minimum\": 0" },
	{ "steadied", FIELD_BOOL,
	  .meaning =
		  "Samples were compared by an ET without the variation of the program's own process time: cluster_low_ns, cluster_high_ns and levels are of that." },
	{ "steady_sigma_ns", FIELD_REAL, .meaning = "Of that ET; null: not steadied.",
	  .more = "\"minimum\": 0" },
	{ "steady_sigma_kept_ns", FIELD_REAL, .meaning = "Without the dropped ones.",
	  .more = "\"minimum\": 0" },
	{ 0 },
};
const struct shape study_run_shape = { "study_run", NULL, study_run_fields };

static const struct field runs_fields[] = {
	{ "short", FIELD_OBJECT, .shape = &study_run_shape, .flags = FIELD_MAYBE },
	{ "long", FIELD_OBJECT, .shape = &study_run_shape, .flags = FIELD_MAYBE },
	{ 0 },
};
const struct shape runs_shape = { "runs", "null: there was none.", runs_fields };

static const struct field period_fields[] = {
	{ "ns", FIELD_U64, .meaning = "From one occurrence to the next." },
	{ "error_ns", FIELD_U64, .meaning = "+-, a standard error." },
	{ "samples", FIELD_REAL, .flags = FIELD_ALWAYS, .meaning = "The same, in samples.",
	  .more = "\"minimum\": 0" },
	{ "uncertain", FIELD_BOOL, .meaning = "Rests on two occurrences." },
	{ 0 },
};
const struct shape period_shape = { "period", NULL, period_fields };

static const struct field cutoff_fields[] = {
	{ "from_ns", FIELD_U64, .meaning = "Holds for programs whose ET is from this on." },
	{ "below_ns", FIELD_ID, .meaning = "And below this; null: without end.",
	  .more = "\"minimum\": 1" },
	{ "cutoff_ns", FIELD_U64, .meaning = "Executions above it spoil a sample." },
	{ "edited", FIELD_BOOL, .meaning = "By hand." },
	{ 0 },
};
const struct shape cutoff_shape = { "cutoff", NULL, cutoff_fields };

static const struct field seen_fields[] = {
	{ "cluster_executions", FIELD_U64, .meaning = "In samples of the cluster." },
	{ "cluster_max_ns", FIELD_NS,
	  .meaning = "Their largest process time; null: it does not occur there." },
	{ "cluster_sigma_ns", FIELD_REAL, .more = "\"minimum\": 0" },
	{ "long_executions", FIELD_U64, .meaning = "Long-running ones, in L-samples." },
	{ "long_least_ns", FIELD_NS,
	  .meaning = "The smallest process time of those; null: there are none." },
	{ "long_most_ns", FIELD_NS },
	{ "samples", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .meaning = "That hold long-running ones, by number.",
	  .more = "\"uniqueItems\": true, \"items\": {\"type\": \"integer\", \"minimum\": 1}" },
	{ "period", FIELD_OBJECT, .shape = &period_shape, .flags = FIELD_MAYBE,
	  .meaning = "null: it has none." },
	{ "cutoff_ns", FIELD_NS, .meaning = "Of this run alone; null: it gives none." },
	{ 0 },
};
const struct shape seen_shape = { "seen", NULL, seen_fields };

static const struct field study_runs_fields[] = {
	{ "short", FIELD_OBJECT, .shape = &seen_shape, .flags = FIELD_MAYBE },
	{ "long", FIELD_OBJECT, .shape = &seen_shape, .flags = FIELD_MAYBE },
	{ 0 },
};
const struct shape study_runs_shape = { "study_runs", "What each run says of it.",
					study_runs_fields };

static const struct field daemon_fields[] = {
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS, .more = "\"maxLength\": 16" },
	{ "long_running", FIELD_BOOL, .meaning = "In one of the runs." },
	{ "period", FIELD_OBJECT, .shape = &period_shape, .flags = FIELD_MAYBE,
	  .meaning = "null: it has none." },
	{ "cutoffs", FIELD_LIST, .shape = &cutoff_shape, .flags = FIELD_BY_HAND,
	  .meaning = "By range of program length, the shortest first." },
	{ "runs", FIELD_OBJECT, .shape = &study_runs_shape, .flags = FIELD_BY_HAND,
	  .meaning = "What each run says of it." },
	{ 0 },
};
const struct shape daemon_shape = { "daemon", NULL, daemon_fields };

static const struct field study_cutoff_fields[] = {
	{ "id", FIELD_ID, .meaning = "In the lab; null: not stored.", .more = "\"minimum\": 1" },
	{ "daemon", FIELD_TEXT, .flags = FIELD_ALWAYS, .more = "\"maxLength\": 16" },
	{ "from_ns", FIELD_U64, .meaning = "Holds for programs whose ET is from this on." },
	{ "below_ns", FIELD_ID, .meaning = "And below this; null: without end.",
	  .more = "\"minimum\": 1" },
	{ "cutoff_ns", FIELD_U64, .meaning = "Executions above it spoil a sample." },
	{ "edited", FIELD_BOOL, .meaning = "By hand." },
	{ 0 },
};
const struct shape study_cutoff_shape = { "study_cutoff", NULL, study_cutoff_fields };

static const struct field study_fields[] = {
	{ "type", FIELD_ENUM, .limit = 1, .names = type_names },
	{ "format", FIELD_U64, .meaning = "Raised when a field changes its meaning.",
	  .more = "\"const\": 1" },
	{ "id", FIELD_ID, .meaning = "In the lab; null: not stored.", .more = "\"minimum\": 1" },
	{ "source", FIELD_ENUM, .limit = 3, .names = source_names,
	  .meaning = "Executions of inc, windows of a watch, or stored runs." },
	{ "made_at", FIELD_TEXT,
	  .more = "\"pattern\": \"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$\"" },
	{ "machine_id", FIELD_ID, .meaning = "In the lab.", .more = "\"minimum\": 1" },
	{ "machine", FIELD_OBJECT, .shape = &machine_shape, .flags = FIELD_MAYBE },
	{ "runs", FIELD_OBJECT, .shape = &runs_shape, .flags = FIELD_BY_HAND,
	  .meaning = "null: there was none." },
	{ "daemons", FIELD_LIST, .shape = &daemon_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Long-running ones first, then by name." },
	{ "cutoffs", FIELD_LIST, .shape = &study_cutoff_shape, .flags = FIELD_BY_HAND,
	  .meaning = "All of them, by daemon and from_ns." },
	{ 0 },
};
const struct shape study_shape = {
	"study",
	"A daemon study (SEDONA): which daemons spoil samples, how often, and the cutoffs that follow. Times are in ns. null: not known, or there is none; never the same as 0.",
	study_fields
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
const struct shape cutoffs_machine_shape = { "cutoffs_machine", NULL, cutoffs_machine_fields };

static const struct field changed_fields[] = {
	{ "fact", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "then", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "now", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ 0 },
};
const struct shape changed_shape = { "changed", NULL, changed_fields };

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
const struct shape cutoffs_cutoff_shape = { "cutoffs_cutoff", NULL, cutoffs_cutoff_fields };

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
	"cutoffs_cutoffs",
	"What `tare cutoffs --json` and `tare cutoffs export` write and `tare cutoffs import` reads: the cutoffs in force on a machine. Times are in ns.",
	cutoffs_cutoffs_fields
};

static const struct field record_fields[] = {
	{ "watch", FIELD_I64, .more = "\"minimum\": 1" },
	{ "begun_at", FIELD_TEXT,
	  .more = "\"pattern\": \"^\\\\d{4}-\\\\d{2}-\\\\d{2}T\\\\d{2}:\\\\d{2}:\\\\d{2}\\\\.\\\\d{3}Z$\"" },
	{ "ended_at", FIELD_TEXT,
	  .more = "\"pattern\": \"^\\\\d{4}-\\\\d{2}-\\\\d{2}T\\\\d{2}:\\\\d{2}:\\\\d{2}\\\\.\\\\d{3}Z$\"" },
	{ "covered_ns", FIELD_U64 },
	{ "bursts", FIELD_U64 },
	{ "lost", FIELD_U64 },
	{ "bytes", FIELD_U64 },
	{ "going", FIELD_BOOL },
	{ 0 },
};
const struct shape record_shape = { "record", NULL, record_fields };

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
	{ "record", FIELD_LIST, .shape = &record_shape, .flags = FIELD_BY_HAND,
	  .meaning = "The watches in the lab." },
	{ 0 },
};
const struct shape watch_status_shape = {
	"watch_status",
	"What `tare calibrate --watch-status --json` writes: the watch that is running, and what is on record.",
	watch_status_fields,
	"\"if\": {\"properties\": {\"running\": {\"const\": true}}}, \"then\": {\"required\": [\"pid\", \"watch\", \"since\", \"until\", \"bursts\", \"held\", \"dropped\", \"lost\", \"keep_bytes\", \"lab\", \"error\"]}"
};
