/* What the documents of this folder are made of: docs/schema/ comes from it. What is stored as it
 * is has its rows in record/profile.c. */
#include "report/core/shapes.h"

#include "report/profile/rows.h"

static const char *const profile_type[] = { "profile" };
static const char *const diff_type[] = { "profile-diff" };
static const char *const listing_type[] = { "profile-listing" };

#define SHARE "\"minimum\": 0, \"maximum\": 1"
#define NOT_NEGATIVE "\"minimum\": 0"
#define CHANGE "\"minimum\": -1, \"maximum\": 1"
#define FORMAT                                                                                  \
	{                                                                                       \
		"format", FIELD_CONST, 1, .more = "\"const\": 1",                               \
					  .meaning = "Raised when a field changes its meaning." \
	}
#define RUN                                                                           \
	{                                                                             \
		"run", FIELD_OBJECT, .shape = &stored_run_shape, .flags = FIELD_MAYBE \
	}
#define ENDS "Samples with a part in user space, by how their stacks ended."

/* ---- rows of a view ---- */

#define X(member, ...) FACT(struct profile_row, member, __VA_ARGS__)
#define CPU_NS                                                                                     \
	X(cpu_ns, "cpu_ns", FIELD_REAL,                                                            \
	  "CPU time that the samples stand for: samples / hz; null by an event.", .unit = UNIT_NS, \
	  .more = NOT_NEGATIVE, .title = "CPU time")
#define FIGURES                                                                                    \
	X(name, "name", FIELD_TEXT, "What it is called in one line.", .flags = FIELD_ALWAYS,       \
	  .title = "Name"),                                                                        \
		X(samples, "samples", FIELD_U64, "With it as the innermost.", .title = "Samples"), \
		X(share, "share", FIELD_REAL, "Of the view's samples.", .unit = UNIT_SHARE,        \
		  .more = SHARE, .title = "Share"),                                                \
		X(share_low, "share_low", FIELD_REAL, "95 % interval (Wilson).",                   \
		  .unit = UNIT_SHARE, .more = SHARE, .title = "From"),                             \
		X(share_high, "share_high", FIELD_REAL, NULL, .unit = UNIT_SHARE, .more = SHARE,   \
		  .title = "To"),                                                                  \
		CPU_NS
#define TOTALS                                                                                     \
	X(total_samples, "total_samples", FIELD_U64, "With it anywhere in the stack, once each.",  \
	  .title = "Total samples"),                                                               \
		X(total_share, "total_share", FIELD_REAL, NULL, .unit = UNIT_SHARE, .more = SHARE, \
		  .title = "Total")
#define SPACES_AND_APP                                                   \
	X(user, "user", FIELD_U64, "Of samples.", .title = "User"),      \
		X(kernel, "kernel", FIELD_U64, NULL, .title = "Kernel"), \
		X(app, "app", FIELD_TEXT, "null: several, or not known.", .title = "App")
#define PROCESS(meaning_)                                                  \
	X(instance, "instance", FIELD_U32, meaning_, .title = "Instance"), \
		X(pid, "pid", FIELD_U32, NULL, .title = "PID")
#define COMM X(comm, "comm", FIELD_TEXT, NULL, .flags = FIELD_ALWAYS, .title = "Command")
#define CONTAINER(meaning_) X(container, "container", FIELD_TEXT, meaning_, .title = "Container")
#define FUNCTION(meaning_) \
	X(function, "function", FIELD_TEXT, meaning_, .flags = FIELD_CODE, .title = "Function")
#define INLINED                                                                                 \
	X(inlined, "inlined", FIELD_BOOL,                                                       \
	  "It has no code of its own there; null: no function is known.", .flags = FIELD_GIVEN, \
	  .bits = offsetof(struct profile_row, known), .title = "Inlined")
#define ADDRESS(meaning_) X(address, "address", FIELD_ADDRESS, meaning_, .title = "Address")
#define BUILD_ID(meaning_)                                                           \
	X(build_id, "build_id", FIELD_NAME, meaning_, .limit = 2 * BUILD_ID_MAX + 1, \
	  .flags = FIELD_ZERO_ABSENT, .title = "Build id")
#define OBJECT                                                                              \
	X(object, "object", FIELD_TEXT,                                                     \
	  "Path of what the code was mapped from; [kernel], [vdso], [jit], ...",            \
	  .title = "Object"),                                                               \
		X(object_kind, "object_kind", FIELD_ENUM, NULL, .limit = OBJECT_KINDS,      \
		  .names = object_kind_names, .flags = FIELD_ZERO_ABSENT, .title = "Kind"), \
		BUILD_ID("In hex.")
#define SOURCE(file_meaning, line_meaning)                                           \
	X(file, "file", FIELD_TEXT, file_meaning, .title = "File"),                  \
		X(line, "line", FIELD_U32, line_meaning, .flags = FIELD_ZERO_ABSENT, \
		  .title = "Line")

static const struct field system_fields[] = {
	X(name, "name", FIELD_TEXT,
	  "not sampled: what is missing at CPUs * elapsed time, where that is more than 3 %.",
	  .flags = FIELD_ALWAYS, .title = "Name",
	  .more = "\"enum\": [\"user\", \"kernel\", \"idle\", \"others\", \"lost\", "
		  "\"not sampled\"]"),
	X(samples, "samples", FIELD_U64, NULL, .title = "Samples"),
	CPU_NS,
	X(cpu_share, "cpu_share", FIELD_REAL, "Of CPUs * elapsed time.", .unit = UNIT_SHARE,
	  .more = NOT_NEGATIVE, .title = "Of CPU time"),
	{ 0 },
};
static const struct field app_fields[] = {
	FIGURES,
	SPACES_AND_APP,
	X(object, "object", FIELD_TEXT, "Its executable; null: a kernel thread.",
	  .title = "Object"),
	BUILD_ID(NULL),
	{ 0 },
};
static const struct field instance_fields[] = {
	FIGURES,
	SPACES_AND_APP,
	PROCESS("Number of this app, from 0 in order of appearance: name is app#instance."),
	COMM,
	X(start_boottime_ns, "start_boottime_ns", FIELD_REAL,
	  "Start of the process on CLOCK_BOOTTIME.", .unit = UNIT_NS, .more = NOT_NEGATIVE,
	  .title = "Started"),
	X(first_sample_at, "first_sample", FIELD_DATE, NULL, .title = "First sample"),
	CONTAINER(NULL),
	X(cgroup, "cgroup", FIELD_TEXT, NULL, .title = "Cgroup"),
	{ 0 },
};
static const struct field thread_fields[] = {
	FIGURES, SPACES_AND_APP, PROCESS(NULL), X(tid, "tid", FIELD_U32, NULL, .title = "TID"),
	COMM,	 { 0 },
};
static const struct field object_fields[] = {
	FIGURES, TOTALS, SPACES_AND_APP, OBJECT, { 0 },
};
static const struct field function_fields[] = {
	FIGURES,	TOTALS,
	SPACES_AND_APP, FUNCTION("null: not known; then name is object+offset in the file."),
	INLINED,	ADDRESS(NULL),
	OBJECT,		SOURCE("Where it is declared.", NULL),
	{ 0 },
};
static const struct field line_fields[] = {
	FIGURES,
	TOTALS,
	SPACES_AND_APP,
	FUNCTION(NULL),
	INLINED,
	OBJECT,
	SOURCE(NULL, "null: not known."),
	{ 0 },
};
static const struct field instruction_fields[] = {
	FIGURES,
	SPACES_AND_APP,
	FUNCTION(NULL),
	X(offset, "offset", FIELD_ADDRESS, "From the function's first address.", .title = "Offset"),
	ADDRESS("What nm and objdump show. The instruction that would have come next: the cost is "
		"mostly of the one before."),
	OBJECT,
	{ 0 },
};
static const struct field container_fields[] = {
	FIGURES,
	SPACES_AND_APP,
	CONTAINER("Its id, or the cgroup's path; null: not known."),
	{ 0 },
};
#undef X

const struct shape *const profile_row_shapes[SLEEPY_VIEWS + 1] = {
	[SLEEPY_SYSTEM] = &(const struct shape){ "profile_system", NULL, system_fields },
	[SLEEPY_APP] = &(const struct shape){ "profile_app", NULL, app_fields },
	[SLEEPY_INSTANCE] = &(const struct shape){ "profile_instance", NULL, instance_fields },
	[SLEEPY_THREAD] = &(const struct shape){ "profile_thread", NULL, thread_fields },
	[SLEEPY_OBJECT] = &(const struct shape){ "profile_object", NULL, object_fields },
	[SLEEPY_FUNCTION] = &(const struct shape){ "profile_function", NULL, function_fields },
	[SLEEPY_LINE] = &(const struct shape){ "profile_line", NULL, line_fields },
	[SLEEPY_INSTRUCTION] =
		&(const struct shape){ "profile_instruction", NULL, instruction_fields },
	[SLEEPY_CONTAINER] = &(const struct shape){ "profile_container", NULL, container_fields },
};

#define ROWS_OF(view, shape)                                                            \
	"{\"if\": {\"properties\": {\"by\": {\"const\": \"" view                        \
	"\"}}, \"additionalProperties\": true, \"required\": [\"by\"]}, "               \
	"\"then\": {\"properties\": {\"rows\": {\"items\": {\"$ref\": \"#/$defs/" shape \
	"\"}}}, \"additionalProperties\": true}}"
#define X(member, ...) FACT(struct sleepy_view, member, __VA_ARGS__)
static const struct field view_fields[] = {
	X(by, "by", FIELD_ENUM, NULL, .limit = SLEEPY_VIEWS, .names = sleepy_by_names),
	X(samples, "samples", FIELD_U64, "That passed the filter: shares are of these."),
	X(all, "all", FIELD_U64, "Of the profile."),
	X(elapsed_ns, "elapsed_ns", FIELD_U64, NULL),
	X(no_function, "without_function", FIELD_U64,
	  "Of samples: no function is known for the innermost location."),
	X(ends, "stack_ends", FIELD_OBJECT, ENDS, .shape = &stack_ends_shape),
	X(rows.count, "row_count", FIELD_U64,
	  "Before those that are small, or not among the most, were left out."),
	{ "rows", FIELD_LIST, .either = profile_row_shapes, .flags = FIELD_BY_HAND,
	  .meaning = "By samples; with totals asked for by total_samples. system: always all "
		     "five." },
	{ 0 },
};
#undef X
const struct shape profile_view_shape = {
	"profile_view", NULL, view_fields,
	"\"allOf\": [" ROWS_OF("system", "profile_system") ", " ROWS_OF("app", "profile_app") ", " ROWS_OF("instance", "profile_instance") ", " ROWS_OF("thread", "profile_thread") ", " ROWS_OF(
		"object",
		"profile_object") ", " ROWS_OF("function",
					       "profile_function") ", " ROWS_OF("line",
										"profile_line") ", " ROWS_OF("instruction",
													     "profile_instruction") ", " ROWS_OF("container",
																		 "profile_container") "]"
};

/* ---- a profile ---- */

#define X(member, ...) FACT(struct profile_totals, member, __VA_ARGS__)
static const struct field totals_fields[] = {
	X(slice, "", FIELD_SPLICE, NULL, .shape = &profile_slice_shape),
	X(self_share, "self_share", FIELD_REAL, "Of CPUs * elapsed time.", .more = NOT_NEGATIVE),
	X(sampled_ns, "cpu_ns", FIELD_REAL,
	  "CPU time that the samples stand for; null by an event.", .more = NOT_NEGATIVE),
	X(ends, "stack_ends", FIELD_OBJECT, ENDS, .shape = &stack_ends_shape),
	{ 0 },
};
const struct shape profile_totals_shape = { "profile_totals",
					    "Over all slices, whatever the filter.",
					    totals_fields };
#undef X

static const struct field profile_fields[] = {
	{ "type", FIELD_ENUM, 1, .names = profile_type },
	FORMAT,
	RUN,
	{ "machine", FIELD_OBJECT, .shape = &machine_shape, .flags = FIELD_MAYBE },
	{ "subject", FIELD_TEXT, .flags = FIELD_BY_HAND | FIELD_ALWAYS,
	  .meaning = "What was sampled, in words." },
	{ "settings", FIELD_OBJECT, .shape = &profile_settings_shape },
	{ "begun_at", FIELD_DATE, .flags = FIELD_MAYBE, .meaning = "Of the first slice." },
	{ "elapsed_ns", FIELD_U64, .flags = FIELD_BY_HAND,
	  .meaning = "Gaps between slices are not in it." },
	FACT(struct profile, slices.count, "slices", FIELD_U64, "How many windows of time."),
	{ "totals", FIELD_OBJECT, .shape = &profile_totals_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Over all slices, whatever the filter." },
	{ "views", FIELD_LIST, .shape = &profile_view_shape, .flags = FIELD_BY_HAND },
	{ 0 },
};
const struct shape profile_shape = {
	"profile",
	"What `tare profile report --json` writes: where CPUs spent their time, or where an event occurred, by sampling. Times "
	"are in ns. null: not known or not defined; never the same as 0.",
	profile_fields
};

/* ---- a comparison ---- */

#define CPU_PER_S "CPU seconds for each second that passed."
#define X(member, ...) FACT(struct profile_side, member, __VA_ARGS__)
static const struct field side_fields[] = {
	RUN,
	X(mode, "mode", FIELD_ENUM,
	  "What made a CPU look: the kernel's own tick, a timer, the cycle counter at a rate, or "
	  "so many of an event.",
	  .limit = PROFILE_MODES, .names = profile_mode_names),
	X(hz, "hz", FIELD_REAL, NULL, .more = NOT_NEGATIVE),
	X(event, "event", FIELD_TEXT, "mode event: which one."),
	X(period, "period", FIELD_U64, "mode event: each sample stands for so many.",
	  .flags = FIELD_ZERO_ABSENT),
	X(cpus, "cpus", FIELD_U32, NULL),
	X(samples, "samples", FIELD_U64, NULL),
	X(elapsed_ns, "elapsed_ns", FIELD_U64, NULL),
	X(cpu_per_s, "cpu_per_s", FIELD_REAL, CPU_PER_S, .more = NOT_NEGATIVE),
	{ 0 },
};
static const struct shape side_shape = { "profile_side", NULL, side_fields };
#undef X

/* CSV has the CPU time at its end. */
#define X(member, ...) FACT(struct profile_change, member, __VA_ARGS__)
/* NOLINTBEGIN(bugprone-macro-parentheses): initialisers */
#define LOADS(flags_)                                                                    \
	X(before_cpu_per_s, "before_cpu_per_s", FIELD_REAL, CPU_PER_S, .flags = flags_,  \
	  .more = NOT_NEGATIVE, .title = "CPU s/s before"),                              \
		X(after_cpu_per_s, "after_cpu_per_s", FIELD_REAL, NULL, .flags = flags_, \
		  .more = NOT_NEGATIVE, .title = "CPU s/s after")
/* NOLINTEND(bugprone-macro-parentheses) */
static const struct field change_fields[] = {
	X(of.name, "name", FIELD_TEXT, NULL, .flags = FIELD_ALWAYS, .title = "Name"),
	X(of.where, "object", FIELD_TEXT, "Last part of its path; null in views by owner.",
	  .title = "Object"),
	X(of.kernel, "kernel", FIELD_BOOL, "All of it.", .title = "Kernel"),
	X(of.before, "before", FIELD_U64, "Samples.", .title = "Before"),
	X(of.after, "after", FIELD_U64, NULL, .title = "After"),
	X(of.before_share, "before_share", FIELD_REAL, "Of all samples.", .unit = UNIT_SHARE,
	  .more = SHARE, .title = "Before"),
	X(of.after_share, "after_share", FIELD_REAL, NULL, .unit = UNIT_SHARE, .more = SHARE,
	  .title = "After"),
	LOADS(FIELD_ONLY_JSON),
	X(of.change, "change", FIELD_REAL, "Of the share: after - before.", .unit = UNIT_SHARE,
	  .more = CHANGE, .title = "Change"),
	X(of.low, "change_low", FIELD_REAL, "95 % interval (Newcombe).", .unit = UNIT_SHARE,
	  .more = CHANGE, .title = "From"),
	X(of.high, "change_high", FIELD_REAL, NULL, .unit = UNIT_SHARE, .more = CHANGE,
	  .title = "To"),
	X(of.p, "p", FIELD_REAL,
	  "That two equal shares differ so much by how the samples fell: Fisher's exact or the "
	  "z-test, adjusted over all rows by Benjamini and Hochberg. null: too few samples to tell "
	  "anything.",
	  .more = SHARE, .title = "p"),
	X(sure, "sure", FIELD_BOOL, "p < 0.05.", .flags = FIELD_ONLY_JSON),
	LOADS(FIELD_NOT_SQL | FIELD_NOT_JSON),
	{ 0 },
};
const struct shape profile_change_shape = { "profile_change", NULL, change_fields };
#undef X

#define X(member, ...) FACT(struct profile_changes, member, __VA_ARGS__)
static const struct field profile_diff_fields[] = {
	{ "type", FIELD_ENUM, 1, .names = diff_type },
	FORMAT,
	X(by, "by", FIELD_ENUM, NULL, .limit = SLEEPY_VIEWS, .names = sleepy_by_names),
	X(before, "before", FIELD_OBJECT, NULL, .shape = &side_shape),
	X(after, "after", FIELD_OBJECT, NULL, .shape = &side_shape),
	X(rows, "rows", FIELD_LIST, "By the size of the change.",
	  .limit = sizeof(struct profile_change), .shape = &profile_change_shape),
	{ 0 },
};
#undef X
const struct shape profile_diff_shape = {
	"profile_diff",
	"What `tare profile report --diff A B --json` writes: two profiles row by row, matched by "
	"name and object. null: not known, or too few samples; never the same as 0.",
	profile_diff_fields
};

/* ---- a listing ---- */

#define X(member, ...) FACT(struct listing_line, member, __VA_ARGS__)
#define ONLY_CSV (FIELD_NOT_SQL | FIELD_NOT_JSON)
static const struct field listing_line_fields[] = {
	X(function, "function", FIELD_TEXT, NULL, .flags = ONLY_CSV | FIELD_CODE,
	  .title = "Function"),
	X(address, "address", FIELD_ADDRESS, NULL, .flags = FIELD_ALWAYS, .title = "Address"),
	X(size, "size", FIELD_U64, NULL, .flags = FIELD_ONLY_JSON),
	X(text, "text", FIELD_TEXT, "As objdump has it.", .flags = FIELD_ONLY_JSON | FIELD_ALWAYS),
	X(self, "samples", FIELD_U64, NULL, .title = "Samples"),
	X(share, "share", FIELD_REAL, NULL, .unit = UNIT_SHARE, .more = SHARE, .title = "Share"),
	X(text, "instruction", FIELD_TEXT, NULL, .flags = ONLY_CSV | FIELD_CODE,
	  .title = "Instruction"),
	X(file, "file", FIELD_TEXT, NULL, .title = "File"),
	X(line, "line", FIELD_U32, NULL, .flags = FIELD_ZERO_ABSENT, .title = "Line"),
	X(source, "source", FIELD_TEXT, "The text of the line; null: it could not be read.",
	  .flags = FIELD_ONLY_JSON),
	{ 0 },
};
const struct shape listing_line_shape = { "profile_listing_instruction", NULL,
					  listing_line_fields };
#undef X

#define X(member, ...) FACT(struct listing, member, __VA_ARGS__)
static const struct field profile_listing_fields[] = {
	{ "type", FIELD_ENUM, 1, .names = listing_type },
	FORMAT,
	RUN,
	{ "settings", FIELD_OBJECT, .shape = &profile_settings_shape, .flags = FIELD_BY_HAND },
	{ "function", FIELD_OBJECT, .shape = &profile_function_shape, .flags = FIELD_BY_HAND },
	X(samples, "samples", FIELD_U64, "Shares are of these."),
	X(self, "self", FIELD_U64, "All samples of the function."),
	X(elsewhere, "elsewhere", FIELD_U64,
	  "Of self: at addresses where no instruction of the list begins."),
	X(list, "instructions", FIELD_LIST, NULL, .limit = sizeof(struct listing_line),
	  .shape = &listing_line_shape),
	{ 0 },
};
#undef X
const struct shape profile_listing_shape = {
	"profile_listing",
	"What `tare profile report --json` writes for one function by instruction. The address of "
	"a sample is the instruction that would have come next: its cost is mostly of the one "
	"before.",
	profile_listing_fields
};
