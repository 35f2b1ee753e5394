/* What the documents of this folder are made of: docs/schema/ comes from it. */
#include "report/core/shapes.h"
#include "record/execution.h"

static const char *const rule_names[] = { "kept", "warmup", "failed", "I", "II" };
static const char *const name_names[] = { "emp" };
static const char *const headline_names[] = { "et", "pt_net", "pt_exec", "pt_tick" };
static const char *const status_names[] = { "going", "complete", "interrupted", "failed" };
static const char *const backend_names[] = { "plain", "netlink", "bpf" };
static const char *const grade_names[] = { "net", "exec", "tick" };
static const char *const version_names[] = { "v0", "v1", "v2", "v3", "v4", "v5", "v6" };
static const char *const why_names[] = { "asked", "slow", "slowest" };

static const struct field grades_fields[] = {
	{ "net", FIELD_KNOWN },
	{ "exec", FIELD_KNOWN },
	{ "tick", FIELD_KNOWN },
	{ 0 },
};
const struct shape grades_shape = { "grades",
				    "Process time at each grade in ns; null where not seen.",
				    grades_fields };

static const struct field shell_fields[] = {
	{ "command", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "et_ns", FIELD_NS },
	{ "pt_ns", FIELD_OBJECT, .shape = &grades_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Process time at each grade in ns; null where not seen." },
	{ 0 },
};
const struct shape shell_shape = { "shell", NULL, shell_fields };

static const struct field summary_fields[] = {
	{ "n", FIELD_I64, .more = "\"minimum\": 1" },
	{ "mean_ns", FIELD_REAL, .flags = FIELD_ALWAYS },
	{ "median_ns", FIELD_REAL, .flags = FIELD_ALWAYS },
	{ "min_ns", FIELD_REAL, .flags = FIELD_ALWAYS },
	{ "max_ns", FIELD_REAL, .flags = FIELD_ALWAYS },
	{ "stddev_ns", FIELD_REAL },
	{ "relative_error", FIELD_REAL },
	{ "mad_ns", FIELD_REAL },
	{ "ci_low_ns", FIELD_REAL },
	{ "ci_high_ns", FIELD_REAL },
	{ 0 },
};
const struct shape summary_shape = { "summary", NULL, summary_fields };

static const struct field et_fields[] = {
	{ "kept", FIELD_OBJECT, .shape = &summary_shape, .flags = FIELD_MAYBE },
	{ "unfiltered", FIELD_OBJECT, .shape = &summary_shape, .flags = FIELD_MAYBE },
	{ 0 },
};
const struct shape et_shape = { "et", NULL, et_fields };

static const struct field measures_fields[] = {
	{ "et", FIELD_OBJECT, .shape = &et_shape, .flags = FIELD_BY_HAND },
	{ "pt_net", FIELD_OBJECT, .shape = &et_shape, .flags = FIELD_BY_HAND },
	{ "pt_exec", FIELD_OBJECT, .shape = &et_shape, .flags = FIELD_BY_HAND },
	{ "pt_tick", FIELD_OBJECT, .shape = &et_shape, .flags = FIELD_BY_HAND },
	{ "user", FIELD_OBJECT, .shape = &et_shape, .flags = FIELD_BY_HAND },
	{ "system", FIELD_OBJECT, .shape = &et_shape, .flags = FIELD_BY_HAND },
	{ 0 },
};
const struct shape measures_shape = { "measures", NULL, measures_fields };

static const struct field cutoffs_fields[] = {
	{ "study", FIELD_ID,
	  .meaning = "The daemon study they come from; null: set by hand or imported." },
	{ "made_at", FIELD_DATE },
	{ "count", FIELD_I64, .meaning = "Cutoffs of the machine, for programs of every length.",
	  .more = "\"minimum\": 1" },
	{ "hold", FIELD_U64, .meaning = "Of those, for a program of this length." },
	{ "program_ns", FIELD_REAL, .flags = FIELD_ALWAYS,
	  .meaning = "Its length: the median elapsed time of what counts.",
	  .more = "\"minimum\": 0" },
	{ "daemons_seen", FIELD_BOOL,
	  .meaning = "false: this back end saw no daemon, so that nothing could be dropped." },
	{ 0 },
};
const struct shape cutoffs_shape = { "cutoffs", NULL, cutoffs_fields };

static const struct field drop_fields[] = {
	{ "rule", FIELD_ENUM, .limit = 5, .names = rule_names },
	{ "reason", FIELD_TEXT },
	{ "daemon", FIELD_TEXT, .meaning = "Rule I: whose execution was above its cutoff." },
	{ "value_ns", FIELD_REAL,
	  .meaning =
		  "What was judged. Rule I: the daemon's process time; rule II: PT, or ET where there is no PT." },
	{ "low_ns", FIELD_REAL },
	{ "high_ns", FIELD_REAL, .meaning = "Rule I: the cutoff; rule II: mean + 2 sigma." },
	{ "number", FIELD_I64, .more = "\"minimum\": 1" },
	{ 0 },
};
const struct shape drop_shape = { "drop", NULL, drop_fields };

static const struct field protocol_fields[] = {
	{ "name", FIELD_ENUM, .limit = 1, .names = name_names },
	{ "headline", FIELD_ENUM, .limit = 4, .names = headline_names,
	  .meaning = "The measure the result is about." },
	{ "user_share", FIELD_REAL,
	  .meaning =
		  "User time's share of user and system time, pooled over the executions that neither are warm-ups nor failed: the ticks it is sampled by are too few in one. `user` and `system` are the process time of the grade shown (`grade`) divided by it. null: not one tick was seen.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "measures", FIELD_OBJECT, .shape = &measures_shape, .flags = FIELD_BY_HAND },
	{ "cutoffs", FIELD_OBJECT, .shape = &cutoffs_shape, .flags = FIELD_MAYBE,
	  .meaning =
		  "What rule I went by; null: this machine has no cutoffs, or they were not to be applied." },
	{ "drops", FIELD_LIST, .shape = &drop_shape, .flags = FIELD_BY_HAND },
	{ "warnings", FIELD_LIST, .shape = &warning_shape, .flags = FIELD_BY_HAND },
	{ 0 },
};
const struct shape protocol_shape = { "protocol", NULL, protocol_fields };

static const struct field entrie_fields[] = {
	{ "cause", FIELD_ENUM, .limit = LEDGER_CAUSES, .names = ledger_cause_names,
	  .meaning = "See THE LEDGER in tare(1)." },
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "pid", FIELD_ID, .meaning = "null: none, or several." },
	{ "mean_ns", FIELD_REAL, .flags = FIELD_ALWAYS, .more = "\"minimum\": 0" },
	{ "worst_ns", FIELD_U64 },
	{ "worst", FIELD_KNOWN, .meaning = "The execution it was largest in." },
	{ "count", FIELD_REAL, .flags = FIELD_ALWAYS, .more = "\"minimum\": 0" },
	{ 0 },
};
const struct shape entrie_shape = { "entrie", NULL, entrie_fields };

static const struct field other_fields[] = {
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "pid", FIELD_ID, .meaning = "null: none, or several." },
	{ "mean_ns", FIELD_REAL, .flags = FIELD_ALWAYS, .more = "\"minimum\": 0" },
	{ "worst_ns", FIELD_U64 },
	{ "worst", FIELD_KNOWN },
	{ "self", FIELD_BOOL },
	{ "kernel", FIELD_BOOL },
	{ "bursts", FIELD_REAL, .flags = FIELD_ALWAYS, .more = "\"minimum\": 0" },
	{ "longest_ns", FIELD_U64 },
	{ "delayed_ns", FIELD_REAL, .flags = FIELD_ALWAYS, .more = "\"minimum\": 0" },
	{ "io_delayed_ns", FIELD_REAL, .flags = FIELD_ALWAYS, .more = "\"minimum\": 0" },
	{ 0 },
};
const struct shape other_shape = { "other", NULL, other_fields };

static const struct field cost_fields[] = {
	{ "ns", FIELD_REAL, .more = "\"minimum\": 0" },
	{ "subject_ns", FIELD_REAL, .more = "\"minimum\": 0" },
	{ "self_ns", FIELD_REAL, .meaning = "CPU time of tare within the timed window.",
	  .more = "\"minimum\": 0" },
	{ 0 },
};
const struct shape cost_shape = { "cost", NULL, cost_fields };

static const struct field mean_ledger_fields[] = {
	{ "executions", FIELD_I64, .more = "\"minimum\": 1" },
	{ "wall_ns", FIELD_OBJECT, .shape = &ledger_mean_causes_shape, .flags = FIELD_BY_HAND },
	{ "account_ns", FIELD_OBJECT, .shape = &ledger_mean_causes_shape, .flags = FIELD_BY_HAND },
	{ "account_count", FIELD_OBJECT, .shape = &ledger_mean_causes_shape,
	  .flags = FIELD_BY_HAND },
	{ "run_user_ns", FIELD_REAL,
	  .meaning =
		  "The part of account_ns.run in user mode, sampled by ticks; null: not one was seen.",
	  .more = "\"minimum\": 0" },
	{ "entries", FIELD_LIST, .shape = &entrie_shape, .flags = FIELD_BY_HAND },
	{ "others", FIELD_LIST, .shape = &other_shape, .flags = FIELD_BY_HAND },
	{ "cost", FIELD_OBJECT, .shape = &cost_shape, .flags = FIELD_BY_HAND },
	{ "lost", FIELD_U64, .meaning = "In all of them." },
	{ "unlisted", FIELD_U64 },
	{ "not_seen", FIELD_TEXT },
	{ 0 },
};
const struct shape mean_ledger_shape = { "mean_ledger", NULL, mean_ledger_fields };

static const struct field verdict_fields[] = {
	{ "rule", FIELD_ENUM, .limit = 5, .names = rule_names },
	{ "reason", FIELD_TEXT },
	{ "daemon", FIELD_TEXT, .meaning = "Rule I: whose execution was above its cutoff." },
	{ "value_ns", FIELD_REAL,
	  .meaning =
		  "What was judged. Rule I: the daemon's process time; rule II: PT, or ET where there is no PT." },
	{ "low_ns", FIELD_REAL },
	{ "high_ns", FIELD_REAL, .meaning = "Rule I: the cutoff; rule II: mean + 2 sigma." },
	{ 0 },
};
const struct shape verdict_shape = { "verdict", NULL, verdict_fields };

static const struct field judged_fields[] = {
	{ "", FIELD_SPLICE, .shape = &execution_shape },
	{ "ledger", FIELD_OBJECT, .shape = &ledger_shape, .flags = FIELD_MAYBE,
	  .meaning = "null: none was kept." },
	{ "verdict", FIELD_OBJECT, .shape = &verdict_shape, .flags = FIELD_MAYBE },
	{ 0 },
};
const struct shape judged_shape = { "execution", NULL, judged_fields };

static const struct field run_fields[] = {
	{ "version", FIELD_TEXT },
	{ "run", FIELD_ID, .meaning = "Its id in the lab." },
	{ "study", FIELD_ID },
	{ "status", FIELD_ENUM, .limit = 4, .names = status_names },
	{ "command_line", FIELD_TEXT },
	{ "directory", FIELD_TEXT },
	{ "tags", FIELD_TEXT },
	{ "conditions", FIELD_MAP, .flags = FIELD_MAYBE,
	  .meaning = "Every option that shaped the run." },
	{ "backend", FIELD_ENUM, .limit = 3, .names = backend_names },
	{ "not_seen", FIELD_TEXT, .meaning = "What this back end could not see." },
	{ "grade", FIELD_ENUM, .limit = 3, .names = grade_names, .flags = FIELD_MAYBE,
	  .meaning = "Of the process time the result uses." },
	{ "machine", FIELD_OBJECT, .shape = &machine_shape, .flags = FIELD_MAYBE },
	{ "started_at", FIELD_DATE },
	{ "ended_at", FIELD_DATE },
	{ "planned", FIELD_KNOWN },
	{ "shell", FIELD_OBJECT, .shape = &shell_shape, .flags = FIELD_MAYBE,
	  .meaning =
		  "Taken off every time in `results` and `protocol`; not off those in `executions`." },
	{ "protocol", FIELD_OBJECT, .shape = &protocol_shape, .flags = FIELD_BY_HAND },
	{ "ledger", FIELD_OBJECT, .shape = &mean_ledger_shape, .flags = FIELD_MAYBE,
	  .meaning = "Means over the kept executions that have a ledger; null: none has." },
	{ "executions", FIELD_LIST, .shape = &judged_shape, .flags = FIELD_BY_HAND },
	{ 0 },
};
const struct shape run_shape = { "run", NULL, run_fields };

static const struct field result_fields[] = {
	{ "command", FIELD_TEXT, .flags = FIELD_ALWAYS,
	  .meaning = "The name given to the command, or the command." },
	{ "mean", FIELD_REAL },
	{ "stddev", FIELD_REAL, .meaning = "null for fewer than two executions." },
	{ "median", FIELD_REAL },
	{ "user", FIELD_REAL,
	  .meaning =
		  "Mean process time (exec) times the run's user_share; null where either is not known." },
	{ "system", FIELD_REAL, .meaning = "The rest of that mean." },
	{ "min", FIELD_REAL },
	{ "max", FIELD_REAL },
	{ "times", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .more = "\"items\": {\"type\": \"number\", \"minimum\": 0}" },
	{ "memory_usage_byte", FIELD_LIST, .item = FIELD_KNOWN, .flags = FIELD_BY_HAND,
	  .meaning = "Highest resident memory of the subject's largest process." },
	{ "exit_codes", FIELD_LIST, .item = FIELD_ID, .flags = FIELD_BY_HAND,
	  .meaning =
		  "128 + signal for a subject killed by one, as a shell has it; null when tare ended it at its time limit." },
	{ "process_times", FIELD_LIST, .flags = FIELD_BY_HAND,
	  .meaning = "tare's: process time in seconds at the run's grade, beside times.",
	  .more = "\"items\": {\"type\": [\"number\", \"null\"], \"minimum\": 0}" },
	{ "parameters", FIELD_MAP, .item = FIELD_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning = "As in hyperfine, absent without parameters." },
	{ "tare", FIELD_OBJECT, .shape = &run_shape, .flags = FIELD_BY_HAND },
	{ 0 },
};
const struct shape result_shape = { "result", NULL, result_fields };

static const struct field comparison_fields[] = {
	{ "reference", FIELD_U64, .meaning = "Index in results." },
	{ "result", FIELD_U64, .meaning = "Index in results." },
	{ "measure", FIELD_ENUM, .limit = 4, .names = headline_names },
	{ "ratio", FIELD_REAL, .meaning = "Mean of result by mean of reference." },
	{ "ratio_low", FIELD_REAL },
	{ "ratio_high", FIELD_REAL },
	{ "p", FIELD_REAL, .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "test", FIELD_TEXT },
	{ "significant", FIELD_BOOL },
	{ 0 },
};
const struct shape comparison_shape = { "comparison", NULL, comparison_fields };

static const struct field tare_fields[] = {
	{ "format", FIELD_U64, .meaning = "Raised when a field changes its meaning.",
	  .more = "\"const\": 1" },
	{ "comparisons", FIELD_LIST, .shape = &comparison_shape, .flags = FIELD_BY_HAND },
	{ "failed_runs", FIELD_LIST, .shape = &result_shape, .flags = FIELD_BY_HAND,
	  .meaning =
		  "Runs without any measured execution: failed or interrupted before the first. They are not in results, so that every mean there is a number." },
	{ 0 },
};
const struct shape tare_shape = { "tare", NULL, tare_fields };

static const struct field time_fields[] = {
	{ "results", FIELD_LIST, .shape = &result_shape, .flags = FIELD_BY_HAND },
	{ "tare", FIELD_OBJECT, .shape = &tare_shape, .flags = FIELD_BY_HAND },
	{ 0 },
};
const struct shape time_shape = {
	"time",
	"What `tare time --export-json` and `tare show --json` write: hyperfine's export, with what tare knows beside it. hyperfine's fields are in seconds of elapsed time, over every measured execution (warm-ups excluded, dropped ones included), the shell's own time taken off. tare's are in ns. null: not seen, or not defined for so few executions; never the same as 0.",
	time_fields
};

static const struct field version_fields[] = {
	{ "version", FIELD_ENUM, .limit = 7, .names = version_names },
	{ "adds", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "What it adds to the one before." },
	{ "held", FIELD_BOOL,
	  .meaning = "Its conditions, and those of the versions before it, were met in this run." },
	{ "why", FIELD_TEXT, .meaning = "What was not met, or how its own condition was." },
	{ "measure", FIELD_ENUM, .limit = 4, .names = headline_names,
	  .meaning = "What value is of." },
	{ "n", FIELD_U64, .meaning = "Samples kept." },
	{ "dropped_cutoff", FIELD_U64, .meaning = "Samples dropped by rule I." },
	{ "dropped_outside", FIELD_U64, .meaning = "Samples dropped by rule II." },
	{ "value", FIELD_OBJECT, .shape = &summary_shape, .flags = FIELD_MAYBE },
	{ "et", FIELD_OBJECT, .shape = &summary_shape, .flags = FIELD_MAYBE },
	{ 0 },
};
const struct shape version_shape = { "version", NULL, version_fields };

static const struct field size_fields[] = {
	{ "n", FIELD_I64,
	  .meaning = "Samples looked at: the first n that are neither warm-ups nor failed.",
	  .more = "\"minimum\": 1" },
	{ "recommended", FIELD_BOOL,
	  .meaning =
		  "The smallest n of at least 10 whose sigma and share of outliers are near those of the whole." },
	{ "dropped_cutoff", FIELD_U64 },
	{ "dropped_outside", FIELD_U64 },
	{ "value", FIELD_OBJECT, .shape = &summary_shape, .flags = FIELD_MAYBE },
	{ "et", FIELD_OBJECT, .shape = &summary_shape, .flags = FIELD_MAYBE },
	{ 0 },
};
const struct shape size_shape = { "size", NULL, size_fields };

static const struct field emp_fields[] = {
	{ "format", FIELD_U64, .meaning = "Raised when a field changes its meaning.",
	  .more = "\"const\": 1" },
	{ "type", FIELD_ENUM, .limit = 1, .names = name_names },
	{ "run", FIELD_ID, .meaning = "Its id in the lab." },
	{ "command", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "versions", FIELD_LIST, .shape = &version_shape, .flags = FIELD_BY_HAND,
	  .meaning = "v0 to v6, each with what those before it have.",
	  .more = "\"minItems\": 7, \"maxItems\": 7" },
	{ "sizes", FIELD_LIST, .shape = &size_shape, .flags = FIELD_MAYBE,
	  .meaning =
		  "v5 applied to the first n samples, the whole first; null: not asked for (--sizes)." },
	{ 0 },
};
const struct shape emp_shape = {
	"emp",
	"What `tare emp --json` writes: a stored run as each version of EMP would have it. Times are in ns, the shell's own time taken off. null: not seen, or not defined for so few samples; never the same as 0.",
	emp_fields
};

static const struct field median_fields[] = {
	{ "number", FIELD_I64, .more = "\"minimum\": 1" },
	{ "et_ns", FIELD_U64 },
	{ 0 },
};
const struct shape median_shape = {
	"median", "The one in the middle by elapsed time, of those the protocol keeps.",
	median_fields
};

static const struct field name_fields[] = {
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS,
	  .meaning =
		  "\"\": what no name accounts for. Of run: who had more of the CPUs while the subject's threads were queued behind one another." },
	{ "pid", FIELD_ID, .meaning = "null: none, or several." },
	{ "ns", FIELD_I64, .meaning = "Its part of the cause's difference; they add up to it." },
	{ "count", FIELD_U64, .meaning = "How often, over every thread." },
	{ "median_count", FIELD_U64 },
	{ 0 },
};
const struct shape name_shape = { "name", NULL, name_fields };

static const struct field contribution_fields[] = {
	{ "cause", FIELD_ENUM, .limit = LEDGER_CAUSES, .names = ledger_cause_names },
	{ "ns", FIELD_I64, .meaning = "This execution less the median one." },
	{ "share", FIELD_REAL, .meaning = "Of the whole difference; null when that is 0." },
	{ "had_ns", FIELD_U64 },
	{ "median_ns", FIELD_U64 },
	{ "parallel_ns", FIELD_I64,
	  .meaning =
		  "Within ns, beyond had_ns - median_ns: the subject ran for longer because it ran less in parallel while this cause held a thread up; of run, what the others got. 0 for one thread." },
	{ "names", FIELD_LIST, .shape = &name_shape, .flags = FIELD_BY_HAND },
	{ "text", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "The same as a sentence." },
	{ 0 },
};
const struct shape contribution_shape = { "contribution", NULL, contribution_fields };

static const struct field explain_thread_fields[] = {
	{ "cause", FIELD_ENUM, .limit = LEDGER_CAUSES, .names = ledger_cause_names },
	{ "ns", FIELD_I64, .meaning = "This execution less the median one." },
	{ "share", FIELD_REAL, .meaning = "Of the whole difference; null when that is 0." },
	{ "had_ns", FIELD_U64 },
	{ "median_ns", FIELD_U64 },
	{ "parallel_ns", FIELD_I64,
	  .meaning =
		  "Within ns, beyond had_ns - median_ns: the subject ran for longer because it ran less in parallel while this cause held a thread up; of run, what the others got. 0 for one thread." },
	{ "names", FIELD_LIST, .shape = &name_shape, .flags = FIELD_BY_HAND },
	{ 0 },
};
const struct shape explain_thread_shape = { "explain_thread", NULL, explain_thread_fields };

static const struct field explained_fields[] = {
	{ "number", FIELD_I64, .more = "\"minimum\": 1" },
	{ "warmup", FIELD_BOOL },
	{ "why", FIELD_ENUM, .limit = 3, .names = why_names, .meaning = "slowest: none is slow." },
	{ "et_ns", FIELD_U64 },
	{ "difference_ns", FIELD_I64, .meaning = "Of the elapsed times." },
	{ "text", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "contributions", FIELD_LIST, .shape = &contribution_shape, .flags = FIELD_BY_HAND,
	  .meaning =
		  "By elapsed time, the largest in the direction of the difference first. With remainder_ns they add up to difference_ns." },
	{ "remainder_ns", FIELD_I64, .meaning = "Of the elapsed times, but in neither ledger." },
	{ "threads", FIELD_LIST, .shape = &explain_thread_shape, .flags = FIELD_MAYBE,
	  .meaning = "The same summed over the threads; null for a subject of one." },
	{ "lacks", FIELD_TEXT, .meaning = "What the ledgers could not see." },
	{ 0 },
};
const struct shape explained_shape = { "explained", NULL, explained_fields };

static const struct field explain_fields[] = {
	{ "format", FIELD_U64, .meaning = "Raised when a field changes its meaning.",
	  .more = "\"const\": 1" },
	{ "run", FIELD_ID, .meaning = "Its id in the lab." },
	{ "command", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "compared", FIELD_I64,
	  .meaning = "Executions with a ledger that are neither warm-ups nor failed.",
	  .more = "\"minimum\": 1" },
	{ "median", FIELD_OBJECT, .shape = &median_shape, .flags = FIELD_BY_HAND,
	  .meaning = "The one in the middle by elapsed time, of those the protocol keeps." },
	{ "limit_ns", FIELD_REAL, .flags = FIELD_ALWAYS,
	  .meaning =
		  "An elapsed time above it is slow: the median and the larger of 3 sigma (by the MAD) and 2 %.",
	  .more = "\"minimum\": 0" },
	{ "shell_et_ns", FIELD_NS, .meaning = "0 without a shell." },
	{ "explained", FIELD_LIST, .shape = &explained_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Slowest first. Empty when the median execution itself was asked for." },
	{ 0 },
};
const struct shape explain_shape = {
	"explain",
	"What `tare explain --json` writes: executions of a run against its median one. Times are in ns, as recorded; text has the shell's own time (shell_et_ns) taken off.",
	explain_fields
};
