/* What the documents of this folder are made of: docs/schema/ comes from it. */
#include "report/core/shapes.h"
#include "protocol/emp/counters.h"
#include "report/time/emp.h"
#include "report/time/execution_json.h"
#include "report/time/explain.h"
#include "report/time/several.h"

static const char *const name_names[] = { "emp" };

#define FORMAT                                                                                \
	{                                                                                     \
		"format", FIELD_CONST, .limit = 1,                                            \
				       .meaning = "Raised when a field changes its meaning.", \
				       .more = "\"const\": 1"                                 \
	}
#define SUMMARY FIELD_OBJECT, NULL, .shape = &summary_shape, .flags = FIELD_ZERO_ABSENT

#define X(member, ...) FACT(struct run, member, __VA_ARGS__)
static const struct field shell_fields[] = {
	X(shell, "command", FIELD_TEXT, NULL, .flags = FIELD_ALWAYS),
	X(shell_et_ns, "et_ns", FIELD_NS, NULL),
	X(shell_pt_ns, "", FIELD_EACH, "Process time at each grade; null where not seen.",
	  .json = "pt_ns.", .limit = GRADES, .names = grade_names, .item = FIELD_NS),
	{ 0 },
};
static const struct shape shell_shape = { "shell", NULL, shell_fields };
#undef X

/* A place of emp_result.kept; the same place of unfiltered is as far from it for every measure. */
static const struct field measure_fields[] = {
	{ "kept", FIELD_OBJECT, .shape = &summary_shape, .flags = FIELD_ZERO_ABSENT },
	{ "unfiltered", FIELD_OBJECT, .shape = &summary_shape, .flags = FIELD_ZERO_ABSENT,
	  .offset = offsetof(struct emp_result, unfiltered) - offsetof(struct emp_result, kept) },
	{ 0 },
};
static const struct shape measure_shape = { "measure", NULL, measure_fields };

#define X(member, ...) FACT(struct emp_cutoffs, member, __VA_ARGS__)
static const struct field cutoffs_fields[] = {
	X(study, "study", FIELD_ID,
	  "The daemon study they come from; null: set by hand or imported."),
	X(made_at_ns, "made_at", FIELD_DATE, NULL),
	X(count, "count", FIELD_U64, "Cutoffs of the machine, for programs of every length.",
	  .more = "\"minimum\": 1"),
	X(hold, "hold", FIELD_U64, "Of those, for a program of this length."),
	X(program_ns, "program_ns", FIELD_REAL,
	  "Its length: the median elapsed time of what counts.", .flags = FIELD_ALWAYS,
	  .more = "\"minimum\": 0"),
	X(seen, "daemons_seen", FIELD_BOOL,
	  "false: this back end saw no daemon, so that nothing could be dropped."),
	{ 0 },
};
const struct shape cutoffs_shape = { "cutoffs", NULL, cutoffs_fields };
#undef X

#define X(member, ...) FACT(struct emp_verdict, member, __VA_ARGS__)
static const struct field verdict_fields[] = {
	X(rule, "rule", FIELD_ENUM, NULL, .limit = EMP_OUTSIDE + 1, .names = emp_rule_names),
	X(reason, "reason", FIELD_NAME, NULL, .flags = FIELD_ZERO_ABSENT),
	X(daemon, "daemon", FIELD_NAME, "Rule I: whose execution was above its cutoff.",
	  .flags = FIELD_ZERO_ABSENT),
	X(value_ns, "value_ns", FIELD_REAL,
	  "What was judged. Rule I: the daemon's process time; rule II: PT, or ET where there is no PT."),
	X(low_ns, "low_ns", FIELD_REAL, NULL),
	X(high_ns, "high_ns", FIELD_REAL, "Rule I: the cutoff; rule II: mean + 2 sigma."),
	{ 0 },
};
const struct shape verdict_shape = { "verdict", NULL, verdict_fields };
#undef X

static const struct field drop_fields[] = {
	{ "", FIELD_SPLICE, .shape = &verdict_shape },
	{ "number", FIELD_I64, .flags = FIELD_BY_HAND, .more = "\"minimum\": 1" },
	{ 0 },
};
const struct shape drop_shape = { "drop", NULL, drop_fields };

#define X(member, ...) FACT(struct steady_fit, member, __VA_ARGS__)
#define KIND(kind, name)                                                                 \
	X(coefficient[kind], "coefficients." name, FIELD_REAL,                           \
	  "By how many per cent PT is longer if this work takes 1 % longer; 0: unused.", \
	  .flags = FIELD_ALWAYS),                                                        \
		X(reference_ns[kind], "reference." name "_ns", FIELD_REAL,               \
		  "This work at the speed that PT(steady) is at: the best seen of the machine.")
static const struct field steady_fields[] = {
	X(n, "executions", FIELD_U64, "Executions that it is from."),
	X(helps, "helps", FIELD_BOOL, "Whether the speed explains anything of sigma."),
	X(better, "better", FIELD_BOOL, "Whether PT(steady) is the figure to trust."),
	X(varied, "varied", FIELD_REAL, "sigma of the speed, as a share.", .flags = FIELD_ALWAYS),
	X(explained, "explained", FIELD_REAL,
	  "The share of PT(net)'s sigma that is gone, by leaving each execution out in turn.",
	  .flags = FIELD_ALWAYS),
	KIND(SPEED_CHAIN, "chain"),
	KIND(SPEED_PORTS, "ports"),
	KIND(SPEED_TURNS, "turns"),
	KIND(SPEED_LOADS, "loads"),
	{ 0 },
};
const struct shape steady_shape = { "steady", NULL, steady_fields };
#undef KIND
#undef X

#define X(member, ...) FACT(struct emp_result, member, __VA_ARGS__)
#define MEASURE(m, name) X(kept[m], "measures." name, FIELD_OBJECT, NULL, .shape = &measure_shape)
static const struct field protocol_fields[] = {
	{ "name", FIELD_ENUM, .limit = 1, .names = name_names },
	X(shown, "headline", FIELD_ENUM,
	  "The measure the result is about: a time asked for by --measure, et if the command sleeps or does I/O, or else the lead.",
	  .limit = EMP_TIMES, .names = emp_measure_names),
	X(user_share, "user_share", FIELD_REAL,
	  "User time's share of user and system time, pooled over the executions that neither are warm-ups nor failed: the ticks it is sampled by are too few in one. `user` and `system` are the process time of the grade shown (`grade`) divided by it. null: not one tick was seen.",
	  .more = "\"minimum\": 0, \"maximum\": 1"),
	MEASURE(EMP_ET, "et"),
	MEASURE(EMP_PT_NET, "pt_net"),
	MEASURE(EMP_PT_EXEC, "pt_exec"),
	MEASURE(EMP_PT_TICK, "pt_tick"),
	MEASURE(EMP_USER, "user"),
	MEASURE(EMP_SYSTEM, "system"),
	MEASURE(EMP_PT_STEADY, "pt_steady"),
	X(lead, "lead", FIELD_ENUM,
	  "What rule II judges by: the time that --measure asked for, pt_steady where that is shown to be better, or else the best process time.",
	  .limit = EMP_TIMES, .names = emp_measure_names),
	X(steady, "steady", FIELD_OBJECT,
	  "How PT(steady) was estimated; null: the CPUs' speed was not watched.",
	  .shape = &steady_shape, .flags = FIELD_ZERO_ABSENT),
	{ "cutoffs", FIELD_OBJECT, .shape = &cutoffs_shape, .flags = FIELD_MAYBE,
	  .meaning =
		  "What rule I went by; null: this machine has no cutoffs, or they were not to be applied." },
	{ "drops", FIELD_LIST, .shape = &drop_shape, .flags = FIELD_BY_HAND },
	X(warnings, "warnings", FIELD_LIST, NULL, .shape = &warning_shape,
	  .limit = sizeof(struct emp_warning)),
	{ 0 },
};
static const struct shape protocol_shape = { "protocol", NULL, protocol_fields };
#undef MEASURE
#undef X

#define X(member, ...) FACT(struct ledger_mean, member, __VA_ARGS__)
#define MEAN(member, name) \
	X(member, name, FIELD_REAL, NULL, .flags = FIELD_ALWAYS, .more = "\"minimum\": 0")
static const struct field named_mean_fields[] = {
	X(name, "name", FIELD_TEXT, NULL, .flags = FIELD_ALWAYS),
	X(pid, "pid", FIELD_I32, "null: none, or several.", .flags = FIELD_ZERO_ABSENT),
	MEAN(mean_ns, "mean_ns"),
	X(worst_ns, "worst_ns", FIELD_U64, NULL),
	X(worst, "worst", FIELD_U32, "The execution it was largest in.",
	  .flags = FIELD_ZERO_ABSENT),
	{ 0 },
};
static const struct shape named_mean_shape = { "named_mean", NULL, named_mean_fields };

static const struct field mean_entry_fields[] = {
	X(cause, "cause", FIELD_ENUM, "See THE LEDGER in tare(1).", .limit = LEDGER_CAUSES,
	  .names = ledger_cause_names),
	{ "", FIELD_SPLICE, .shape = &named_mean_shape },
	MEAN(count, "count"),
	{ 0 },
};
static const struct shape mean_entry_shape = { "mean_entry", NULL, mean_entry_fields };

static const struct field mean_other_fields[] = {
	{ "", FIELD_SPLICE, .shape = &named_mean_shape },
	X(self, "self", FIELD_BOOL, NULL),
	X(kernel, "kernel", FIELD_BOOL, NULL),
	MEAN(count, "bursts"),
	X(longest_ns, "longest_ns", FIELD_U64, NULL),
	MEAN(delayed_ns, "delayed_ns"),
	MEAN(io_delayed_ns, "io_delayed_ns"),
	{ 0 },
};
static const struct shape mean_other_shape = { "mean_other", NULL, mean_other_fields };
#undef X

#define X(member, ...) FACT(struct ledger_means, member, __VA_ARGS__)
#define CAUSES(member) X(member, #member, FIELD_OBJECT, NULL, .shape = &ledger_mean_causes_shape)
static const struct field mean_ledger_fields[] = {
	X(executions, "executions", FIELD_U64, NULL, .more = "\"minimum\": 1"),
	CAUSES(wall_ns),
	CAUSES(account_ns),
	CAUSES(account_count),
	X(run_user_ns, "run_user_ns", FIELD_REAL,
	  "The part of account_ns.run in user mode, sampled by ticks; null: not one was seen.",
	  .more = "\"minimum\": 0"),
	X(entries, "entries", FIELD_LIST, NULL, .shape = &mean_entry_shape,
	  .limit = sizeof(struct ledger_mean)),
	X(others, "others", FIELD_LIST, NULL, .shape = &mean_other_shape,
	  .limit = sizeof(struct ledger_mean)),
	X(cost_ns, "cost.ns", FIELD_REAL, NULL, .more = "\"minimum\": 0"),
	X(subject_cost_ns, "cost.subject_ns", FIELD_REAL, NULL, .more = "\"minimum\": 0"),
	X(self_ns, "cost.self_ns", FIELD_REAL, "CPU time of tare within the timed window.",
	  .more = "\"minimum\": 0"),
	X(lost, "lost", FIELD_U64, "In all of them."),
	X(unlisted, "unlisted", FIELD_U64, NULL),
	X(not_seen, "not_seen", FIELD_TEXT, NULL),
	{ 0 },
};
const struct shape mean_ledger_shape = { "mean_ledger", NULL, mean_ledger_fields };
#undef CAUSES
#undef MEAN
#undef X

#define X(member, ...) FACT(struct emp_counter, member, __VA_ARGS__)
#define FIGURE(member, name, meaning, ...) \
	X(kept.member, name, FIELD_REAL, meaning, .flags = FIELD_ALWAYS, __VA_ARGS__)
#define SPREAD(member, name, meaning)                                        \
	X(kept.member, name, FIELD_REAL, meaning, .flags = FIELD_OF_SEVERAL, \
	  .bits = offsetof(struct emp_counter, kept.n))
static const struct field mean_counter_fields[] = {
	X(name, "name", FIELD_TEXT, "As perf calls the event.", .flags = FIELD_ALWAYS),
	X(kind, "kind", FIELD_ENUM,
	  "count, or what is derived: instructions per_cycle, ghz (cycles by process time), clock (cycles by ref-cycles), effective_clock (aperf by mperf), slots (a share of them) or per_1000_instructions.",
	  .limit = EMP_COUNTER_KINDS, .names = emp_counter_kind_names),
	X(scaled, "scaled", FIELD_BOOL, "The CPU had too few counters for all of them at once."),
	X(user_only, "user_only", FIELD_BOOL, "The kernel's part was not allowed to be counted."),
	X(user, "user", FIELD_REAL, "Mean of the part in user mode; null: not counted apart."),
	X(kernel, "kernel", FIELD_REAL, "Mean of the part in the kernel, likewise."),
	X(kept.n, "n", FIELD_U64, "Kept executions that have it.", .more = "\"minimum\": 1"),
	FIGURE(mean, "mean", NULL),
	SPREAD(stddev, "stddev", "null: of one value."),
	FIGURE(median, "median", NULL),
	FIGURE(min, "min", NULL),
	FIGURE(max, "max", NULL),
	SPREAD(ci_low, "ci_low", "95 % interval of the mean."),
	SPREAD(ci_high, "ci_high", NULL),
	X(unknown, "unknown", FIELD_U64, "Kept executions that lack it."),
	X(outliers, "outliers", FIELD_U64,
	  "Kept ones beyond 1.5 times the distance between the quartiles."),
	{ 0 },
};
const struct shape mean_counter_shape = { "mean_counter", NULL, mean_counter_fields };
#undef FIGURE
#undef SPREAD
#undef X

static const struct field judged_fields[] = {
	{ "", FIELD_SPLICE, .shape = &execution_shape },
	{ "ledger", FIELD_OBJECT, .shape = &ledger_shape, .flags = FIELD_MAYBE,
	  .meaning = "null: none was kept." },
	{ "verdict", FIELD_OBJECT, .shape = &verdict_shape, .flags = FIELD_MAYBE },
	{ 0 },
};
const struct shape judged_shape = { "execution", NULL, judged_fields };

#define X(member, ...) FACT(struct judged_run, member, __VA_ARGS__)
static const struct field run_fields[] = {
	X(run.version, "version", FIELD_TEXT, NULL),
	X(run.id, "run", FIELD_ID, "Its id in the lab."),
	X(run.invocation, "study", FIELD_ID,
	  "The invocation: the runs of one command line share it."),
	X(run.status, "status", FIELD_ENUM, NULL, .limit = RUN_FAILED + 1,
	  .names = run_status_names),
	X(run.command, "command_line", FIELD_TEXT, NULL),
	X(run.directory, "directory", FIELD_TEXT, NULL),
	X(run.tags, "tags", FIELD_TEXT, NULL),
	X(run.conditions.all, "conditions", FIELD_MAP, "Every option that shaped the run.",
	  .flags = FIELD_ZERO_ABSENT),
	X(run.backend, "backend", FIELD_ENUM, NULL, .limit = BACKENDS, .names = backend_names),
	X(run.not_seen, "not_seen", FIELD_TEXT, "What this back end could not see."),
	{ "grade", FIELD_ENUM, .limit = GRADES, .names = grade_names, .flags = FIELD_MAYBE,
	  .meaning = "Of the process time the result uses." },
	{ "machine", FIELD_OBJECT, .shape = &machine_shape, .flags = FIELD_MAYBE },
	X(run.started_at_ns, "started_at", FIELD_DATE, NULL),
	X(run.ended_at_ns, "ended_at", FIELD_DATE, NULL),
	X(run.planned, "planned", FIELD_U32, NULL, .flags = FIELD_ZERO_ABSENT),
	X(run, "shell", FIELD_OBJECT,
	  "Taken off every time in `results` and `protocol`; not off those in `executions`.",
	  .shape = &shell_shape, .flags = FIELD_ZERO_ABSENT),
	X(result, "protocol", FIELD_OBJECT, NULL, .shape = &protocol_shape),
	{ "ledger", FIELD_OBJECT, .shape = &mean_ledger_shape, .flags = FIELD_MAYBE,
	  .meaning = "Means over the kept executions that have a ledger; null: none has." },
	{ "counters", FIELD_LIST, .shape = &mean_counter_shape,
	  .flags = FIELD_BY_HAND | FIELD_OPTIONAL,
	  .meaning = "Over the kept executions; not there without counters." },
	{ "executions", FIELD_LIST, .shape = &judged_shape, .flags = FIELD_BY_HAND },
	{ 0 },
};
const struct shape run_shape = { "run", NULL, run_fields };
#undef X

#define X(member, ...) FACT(struct hyperfine, member, __VA_ARGS__)
const struct field hyperfine_fields[] = {
	X(command, "command", FIELD_TEXT, "The name given to the command, or the command.",
	  .flags = FIELD_ALWAYS),
	X(mean, "mean", FIELD_REAL,
	  "As in hyperfine: elapsed time in s over every measured execution, dropped ones included. The mean that tare shows is of the kept ones: tare.protocol.measures.et.mean_ns. stddev, median, min and max likewise."),
	X(stddev, "stddev", FIELD_REAL, "null for fewer than two executions."),
	X(median, "median", FIELD_REAL, NULL),
	X(user, "user", FIELD_REAL,
	  "Mean process time (of the run's grade, over every measured execution) times the run's user_share; null where either is not known."),
	X(system, "system", FIELD_REAL, "The rest of that mean."),
	X(min, "min", FIELD_REAL, NULL),
	X(max, "max", FIELD_REAL, NULL),
	{ 0 },
};
#undef X
const struct shape hyperfine_shape = { "hyperfine", NULL, hyperfine_fields };

static const struct field parameters_fields[] = {
	FACT(struct run, parameters, "parameters", FIELD_MAP,
	     "As in hyperfine, absent without parameters.", .item = FIELD_TEXT,
	     .flags = FIELD_ALWAYS),
	{ 0 },
};
const struct shape parameters_shape = { "parameters", NULL, parameters_fields };

static const struct field result_fields[] = {
	{ "", FIELD_SPLICE, .shape = &hyperfine_shape },
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
static const struct shape result_shape = { "result", NULL, result_fields };

#define X(member, ...) FACT(struct emp_comparison, member, __VA_ARGS__)
static const struct field ratio_fields[] = {
	X(ratio, "ratio", FIELD_REAL, "Mean of result by mean of reference.",
	  .more = "\"minimum\": 0"),
	X(ratio_low, "ratio_low", FIELD_REAL,
	  "95 % interval. null: one side has one execution, or too few (needed_n).",
	  .more = "\"minimum\": 0"),
	X(ratio_high, "ratio_high", FIELD_REAL, NULL, .more = "\"minimum\": 0"),
	X(p, "p", FIELD_REAL, "Below 0.05 exactly if the interval does not contain 1.",
	  .more = "\"minimum\": 0, \"maximum\": 1"),
	X(test, "test", FIELD_TEXT, NULL, .flags = FIELD_ALWAYS),
	X(significant, "significant", FIELD_BOOL, NULL),
	X(needed, "needed_n", FIELD_U64,
	  "One side has too few executions for the dependence between them, and needs about as many; 0: no."),
	{ 0 },
};
const struct shape ratio_shape = { "ratio", NULL, ratio_fields };
#undef X

static const struct field comparison_fields[] = {
	{ "reference", FIELD_U64, .flags = FIELD_BY_HAND, .meaning = "Index in results." },
	{ "result", FIELD_U64, .flags = FIELD_BY_HAND, .meaning = "Index in results." },
	{ "measure", FIELD_ENUM, .limit = EMP_MEASURES, .names = emp_measure_names,
	  .flags = FIELD_BY_HAND, .meaning = "What they are compared by, of the kept executions." },
	{ "why", FIELD_ENUM, .limit = EMP_WHY_RAN + 1, .names = emp_why_names,
	  .flags = FIELD_BY_HAND,
	  .meaning =
		  "Why by this measure. asked: by --measure. no_process_time: not all have one. Elapsed time: waits: one sleeps or does I/O; off_cpu: one was off the CPU and nobody saw why; parallel: one used more CPUs at once than another. Process time: queued: others had the CPU of one; ran: they hardly did anything but run." },
	{ "", FIELD_SPLICE, .shape = &ratio_shape },
	{ 0 },
};
const struct shape comparison_shape = { "comparison", NULL, comparison_fields };

static const struct field tare_fields[] = {
	FORMAT,
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

#define X(member, ...) FACT(struct emp_version_row, member, __VA_ARGS__)
static const struct field version_fields[] = {
	X(version, "version", FIELD_ENUM, NULL, .limit = EMP_VERSIONS, .names = emp_version_names),
	{ "adds", FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning = "What it adds to the one before." },
	{ "held", FIELD_BOOL, .flags = FIELD_MAYBE,
	  .meaning =
		  "Its conditions, and those of the versions before it, were met in this run; null: it cannot be said." },
	X(why, "why", FIELD_NAME,
	  "What was not met or cannot be said, or how its own condition was met.",
	  .flags = FIELD_ZERO_ABSENT),
	X(measure, "measure", FIELD_ENUM, "What value is of.", .limit = EMP_TIMES,
	  .names = emp_measure_names),
	X(n, "n", FIELD_U64, "Samples kept."),
	X(dropped_cutoff, "dropped_cutoff", FIELD_U64, "Samples dropped by rule I."),
	X(dropped_outside, "dropped_outside", FIELD_U64, "Samples dropped by rule II."),
	X(value, "value", SUMMARY),
	X(et, "et", SUMMARY),
	{ 0 },
};
const struct shape version_shape = { "emp_version", NULL, version_fields };
#undef X

#define X(member, ...) FACT(struct emp_size_row, member, __VA_ARGS__)
static const struct field size_fields[] = {
	X(n, "n", FIELD_U64, "Samples looked at: the first n that are neither warm-ups nor failed.",
	  .more = "\"minimum\": 1"),
	X(recommended, "recommended", FIELD_BOOL,
	  "The smallest n of at least 10 from which on sigma and the share of outliers are near those of the whole, or not shown to differ."),
	X(sigma_low, "sigma_low_ns", FIELD_REAL,
	  "If sigma is within these, it differs from that of the whole by no more than chance, at 99 %.",
	  .more = "\"minimum\": 0"),
	X(sigma_high, "sigma_high_ns", FIELD_REAL, NULL, .more = "\"minimum\": 0"),
	X(dropped_cutoff, "dropped_cutoff", FIELD_U64, NULL),
	X(dropped_outside, "dropped_outside", FIELD_U64, NULL),
	X(value, "value", SUMMARY),
	X(et, "et", SUMMARY),
	{ 0 },
};
const struct shape size_shape = { "emp_size", NULL, size_fields };
#undef X

static const struct field emp_fields[] = {
	FORMAT,
	{ "type", FIELD_ENUM, .limit = 1, .names = name_names },
	FACT(struct run, id, "run", FIELD_ID, "Its id in the lab."),
	{ "command", FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS },
	{ "versions", FIELD_LIST, .shape = &version_shape, .flags = FIELD_BY_HAND,
	  .meaning =
		  "v0 to v6, each with what those before it have; v6+steady is tare's own step, where the CPUs' speed was watched.",
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

#define X(member, ...) FACT(struct difference_name, member, __VA_ARGS__)
static const struct field name_fields[] = {
	X(name, "name", FIELD_NAME,
	  "\"\": what no name accounts for. Of run: who had more of the CPUs while the subject's threads were queued behind one another."),
	X(pid, "pid", FIELD_I32, "null: none, or several.", .flags = FIELD_ZERO_ABSENT),
	X(ns, "ns", FIELD_I64, "Its part of the cause's difference; they add up to it."),
	X(count, "count", FIELD_U64, "How often, over every thread."),
	X(base_count, "median_count", FIELD_U64, NULL),
	{ 0 },
};
static const struct shape name_shape = { "difference_name", NULL, name_fields };
#undef X

#define X(member, ...) FACT(struct difference_cause, member, __VA_ARGS__)
static const struct field explain_thread_fields[] = {
	X(cause, "cause", FIELD_ENUM, NULL, .limit = LEDGER_CAUSES, .names = ledger_cause_names),
	X(ns, "ns", FIELD_I64, "This execution less the median one."),
	{ "share", FIELD_REAL, .flags = FIELD_BY_HAND,
	  .meaning = "Of the whole difference; null when that is 0." },
	X(had_ns, "had_ns", FIELD_U64, NULL),
	X(base_ns, "median_ns", FIELD_U64, NULL),
	X(parallel_ns, "parallel_ns", FIELD_I64,
	  "Within ns, beyond had_ns - median_ns: the subject ran for longer because it ran less in parallel while this cause held a thread up; of run, what the others got. 0 for one thread."),
	X(names, "names", FIELD_LIST, NULL, .shape = &name_shape,
	  .limit = sizeof(struct difference_name)),
	{ 0 },
};
const struct shape explain_thread_shape = { "difference_cause", NULL, explain_thread_fields };
#undef X

static const struct field contribution_fields[] = {
	{ "", FIELD_SPLICE, .shape = &explain_thread_shape },
	{ "text", FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning = "The same as a sentence." },
	{ 0 },
};
static const struct shape contribution_shape = { "contribution", NULL, contribution_fields };

#define X(member, ...) FACT(struct explained, member, __VA_ARGS__)
static const struct field explained_fields[] = {
	{ "number", FIELD_I64, .flags = FIELD_BY_HAND, .more = "\"minimum\": 1" },
	{ "warmup", FIELD_BOOL, .flags = FIELD_BY_HAND },
	X(why, "why", FIELD_ENUM, "slowest: none is slow.", .limit = EXPLAIN_SLOWEST + 1,
	  .names = explain_why_names),
	{ "et_ns", FIELD_U64, .flags = FIELD_BY_HAND },
	X(wall.ns, "difference_ns", FIELD_I64, "Of the elapsed times."),
	{ "text", FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS },
	{ "contributions", FIELD_LIST, .shape = &contribution_shape, .flags = FIELD_BY_HAND,
	  .meaning =
		  "By elapsed time, the largest in the direction of the difference first. With remainder_ns they add up to difference_ns." },
	X(wall.rest_ns, "remainder_ns", FIELD_I64, "Of the elapsed times, but in neither ledger."),
	{ "threads", FIELD_LIST, .shape = &explain_thread_shape, .flags = FIELD_MAYBE,
	  .meaning = "The same summed over the threads; null for a subject of one." },
	{ "lacks", FIELD_TEXT, .flags = FIELD_BY_HAND,
	  .meaning = "What the ledgers could not see." },
	{ 0 },
};
const struct shape explained_shape = { "explained", NULL, explained_fields };
#undef X

#define X(member, ...) FACT(struct explain_head, member, __VA_ARGS__)
static const struct field explain_fields[] = {
	FORMAT,
	X(run.id, "run", FIELD_ID, "Its id in the lab."),
	{ "command", FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS },
	X(explanation.compared, "compared", FIELD_U64,
	  "Executions with a ledger that are neither warm-ups nor failed.",
	  .more = "\"minimum\": 1"),
	X(median.number, "median.number", FIELD_U32,
	  "Of the one in the middle by elapsed time, of those the protocol keeps.",
	  .more = "\"minimum\": 1"),
	X(median.et_ns, "median.et_ns", FIELD_NS, NULL, .flags = FIELD_ALWAYS),
	X(explanation.limit_ns, "limit_ns", FIELD_REAL,
	  "An elapsed time above it is slow: the median and the larger of 3 sigma (by the MAD) and 2 %.",
	  .flags = FIELD_ALWAYS, .more = "\"minimum\": 0"),
	X(run.shell_et_ns, "shell_et_ns", FIELD_NS, "0 without a shell."),
	{ "explained", FIELD_LIST, .shape = &explained_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Slowest first. Empty when the median execution itself was asked for." },
	{ 0 },
};
#undef X
const struct shape explain_shape = {
	"explain",
	"What `tare explain --json` writes: executions of a run against its median one. Times are in ns, as recorded; text has the shell's own time (shell_et_ns) taken off.",
	explain_fields
};
