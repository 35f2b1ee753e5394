/* What the documents of this folder are made of: docs/schema/ comes from it. */
#include "report/core/shapes.h"

static const char *const mode_names[] = { "tick", "cpu-clock", "cycles" };
static const char *const stacks_names[] = { "none", "fp", "eh_frame" };
static const char *const name_names[] = {
	"user", "kernel", "idle", "others", "lost", "not sampled"
};
static const char *const object_kind_names[] = { "file", "kernel", "module", "vdso",
						 "jit",	 "memory", "unknown" };
static const char *const by_names[] = { "system",   "app",  "instance",	   "thread",   "object",
					"function", "line", "instruction", "container" };
static const char *const type_names[] = { "profile" };
static const char *const profile_diff_type_names[] = { "profile-diff" };
static const char *const profile_listing_type_names[] = { "profile-listing" };

static const struct field profile_settings_fields[] = {
	{ "mode", FIELD_ENUM, .limit = 3, .names = mode_names,
	  .meaning = "What made a CPU look: the kernel's own tick, a timer, the cycle counter." },
	{ "stacks", FIELD_ENUM, .limit = 3, .names = stacks_names,
	  .meaning = "How user stacks were followed." },
	{ "hz", FIELD_REAL, .meaning = "Samples per second of a busy CPU.",
	  .more = "\"minimum\": 0" },
	{ "cpus", FIELD_U64, .meaning = "Sampled." },
	{ 0 },
};
const struct shape profile_settings_shape = { "profile_settings", NULL, profile_settings_fields };

static const struct field stack_ends_fields[] = {
	{ "leaf", FIELD_U64, .meaning = "Not followed: only the instruction is known." },
	{ "complete", FIELD_U64, .meaning = "Up to where the thread started." },
	{ "limit", FIELD_U64, .meaning = "The rest found no room." },
	{ "broken", FIELD_U64, .meaning = "Something told no way on." },
	{ 0 },
};
const struct shape stack_ends_shape = {
	"stack_ends", "Samples with a part in user space, by how their stacks ended.",
	stack_ends_fields
};

static const struct field profile_totals_fields[] = {
	{ "samples", FIELD_U64, .meaning = "user + kernel." },
	{ "user", FIELD_U64 },
	{ "kernel", FIELD_U64 },
	{ "idle", FIELD_U64,
	  .meaning = "Measured by the kernel's own account of idle time, in samples." },
	{ "others", FIELD_U64, .meaning = "Taken, but not of what was asked for." },
	{ "lost", FIELD_U64, .meaning = "Taken, but no room." },
	{ "throttled", FIELD_U64, .meaning = "Times the kernel held sampling back." },
	{ "untold", FIELD_U64,
	  .meaning = "Mappings, forks and ends that the kernel had no room to tell." },
	{ "peak_used", FIELD_U64, .meaning = "Entries of the fullest buffer." },
	{ "peak_room", FIELD_U64 },
	{ "self_ns", FIELD_U64, .meaning = "CPU time of tare." },
	{ "self_share", FIELD_REAL, .meaning = "Of CPUs * elapsed time.",
	  .more = "\"minimum\": 0" },
	{ "cpu_ns", FIELD_REAL, .meaning = "CPU time that the samples stand for.",
	  .more = "\"minimum\": 0" },
	{ "stack_ends", FIELD_OBJECT, .shape = &stack_ends_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Samples with a part in user space, by how their stacks ended." },
	{ 0 },
};
const struct shape profile_totals_shape = { "profile_totals",
					    "Over all slices, whatever the filter.",
					    profile_totals_fields };

static const struct field system_fields[] = {
	{ "name", FIELD_ENUM, .limit = 6, .names = name_names,
	  .meaning =
		  "not sampled: what is missing at CPUs * elapsed time, where that is more than 3 %." },
	{ "samples", FIELD_U64 },
	{ "cpu_ns", FIELD_REAL, .more = "\"minimum\": 0" },
	{ "cpu_share", FIELD_REAL, .meaning = "Of CPUs * elapsed time.", .more = "\"minimum\": 0" },
	{ 0 },
};
const struct shape system_shape = { "system", NULL, system_fields };

static const struct field app_fields[] = {
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "What it is called in one line." },
	{ "samples", FIELD_U64, .meaning = "With it as the innermost." },
	{ "share", FIELD_REAL, .meaning = "Of the view's samples.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "share_low", FIELD_REAL, .meaning = "95 % interval (Wilson).",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "share_high", FIELD_REAL, .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "cpu_ns", FIELD_REAL, .meaning = "CPU time that the samples stand for: samples / hz.",
	  .more = "\"minimum\": 0" },
	{ "user", FIELD_U64, .meaning = "Of samples." },
	{ "kernel", FIELD_U64 },
	{ "app", FIELD_TEXT, .meaning = "null: several, or not known." },
	{ "object", FIELD_TEXT, .meaning = "Its executable; null: a kernel thread." },
	{ "build_id", FIELD_TEXT },
	{ 0 },
};
const struct shape app_shape = { "app", NULL, app_fields };

static const struct field instance_fields[] = {
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "What it is called in one line." },
	{ "samples", FIELD_U64, .meaning = "With it as the innermost." },
	{ "share", FIELD_REAL, .meaning = "Of the view's samples.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "share_low", FIELD_REAL, .meaning = "95 % interval (Wilson).",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "share_high", FIELD_REAL, .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "cpu_ns", FIELD_REAL, .meaning = "CPU time that the samples stand for: samples / hz.",
	  .more = "\"minimum\": 0" },
	{ "user", FIELD_U64, .meaning = "Of samples." },
	{ "kernel", FIELD_U64 },
	{ "app", FIELD_TEXT, .meaning = "null: several, or not known." },
	{ "instance", FIELD_U64,
	  .meaning = "Number of this app, from 0 in order of appearance: name is app#instance." },
	{ "pid", FIELD_U64 },
	{ "comm", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "start_boottime_ns", FIELD_REAL, .meaning = "Start of the process on CLOCK_BOOTTIME.",
	  .more = "\"minimum\": 0" },
	{ "first_sample", FIELD_DATE },
	{ "container", FIELD_TEXT },
	{ "cgroup", FIELD_TEXT },
	{ 0 },
};
const struct shape instance_shape = { "instance", NULL, instance_fields };

static const struct field profile_thread_fields[] = {
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "What it is called in one line." },
	{ "samples", FIELD_U64, .meaning = "With it as the innermost." },
	{ "share", FIELD_REAL, .meaning = "Of the view's samples.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "share_low", FIELD_REAL, .meaning = "95 % interval (Wilson).",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "share_high", FIELD_REAL, .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "cpu_ns", FIELD_REAL, .meaning = "CPU time that the samples stand for: samples / hz.",
	  .more = "\"minimum\": 0" },
	{ "user", FIELD_U64, .meaning = "Of samples." },
	{ "kernel", FIELD_U64 },
	{ "app", FIELD_TEXT, .meaning = "null: several, or not known." },
	{ "instance", FIELD_U64 },
	{ "pid", FIELD_U64 },
	{ "tid", FIELD_U64 },
	{ "comm", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ 0 },
};
const struct shape profile_thread_shape = { "profile_thread", NULL, profile_thread_fields };

static const struct field object_fields[] = {
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "What it is called in one line." },
	{ "samples", FIELD_U64, .meaning = "With it as the innermost." },
	{ "share", FIELD_REAL, .meaning = "Of the view's samples.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "share_low", FIELD_REAL, .meaning = "95 % interval (Wilson).",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "share_high", FIELD_REAL, .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "cpu_ns", FIELD_REAL, .meaning = "CPU time that the samples stand for: samples / hz.",
	  .more = "\"minimum\": 0" },
	{ "total_samples", FIELD_U64, .meaning = "With it anywhere in the stack, once each." },
	{ "total_share", FIELD_REAL, .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "user", FIELD_U64, .meaning = "Of samples." },
	{ "kernel", FIELD_U64 },
	{ "app", FIELD_TEXT, .meaning = "null: several, or not known." },
	{ "object", FIELD_TEXT,
	  .meaning = "Path of what the code was mapped from; [kernel], [vdso], [jit], ..." },
	{ "object_kind", FIELD_ENUM, .limit = 7, .names = object_kind_names, .flags = FIELD_MAYBE },
	{ "build_id", FIELD_TEXT, .meaning = "In hex." },
	{ 0 },
};
const struct shape object_shape = { "object", NULL, object_fields };

static const struct field function_fields[] = {
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "What it is called in one line." },
	{ "samples", FIELD_U64, .meaning = "With it as the innermost." },
	{ "share", FIELD_REAL, .meaning = "Of the view's samples.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "share_low", FIELD_REAL, .meaning = "95 % interval (Wilson).",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "share_high", FIELD_REAL, .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "cpu_ns", FIELD_REAL, .meaning = "CPU time that the samples stand for: samples / hz.",
	  .more = "\"minimum\": 0" },
	{ "total_samples", FIELD_U64, .meaning = "With it anywhere in the stack, once each." },
	{ "total_share", FIELD_REAL, .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "user", FIELD_U64, .meaning = "Of samples." },
	{ "kernel", FIELD_U64 },
	{ "app", FIELD_TEXT, .meaning = "null: several, or not known." },
	{ "function", FIELD_TEXT,
	  .meaning = "null: not known; then name is object+offset in the file." },
	{ "inlined", FIELD_BOOL, .flags = FIELD_MAYBE,
	  .meaning = "It has no code of its own there; null: no function is known." },
	{ "address", FIELD_TEXT, .more = "\"pattern\": \"^0x[0-9a-f]+$\"" },
	{ "object", FIELD_TEXT,
	  .meaning = "Path of what the code was mapped from; [kernel], [vdso], [jit], ..." },
	{ "object_kind", FIELD_ENUM, .limit = 7, .names = object_kind_names, .flags = FIELD_MAYBE },
	{ "build_id", FIELD_TEXT, .meaning = "In hex." },
	{ "file", FIELD_TEXT, .meaning = "Where it is declared." },
	{ "line", FIELD_KNOWN },
	{ 0 },
};
const struct shape function_shape = { "function", NULL, function_fields };

static const struct field line_fields[] = {
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "What it is called in one line." },
	{ "samples", FIELD_U64, .meaning = "With it as the innermost." },
	{ "share", FIELD_REAL, .meaning = "Of the view's samples.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "share_low", FIELD_REAL, .meaning = "95 % interval (Wilson).",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "share_high", FIELD_REAL, .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "cpu_ns", FIELD_REAL, .meaning = "CPU time that the samples stand for: samples / hz.",
	  .more = "\"minimum\": 0" },
	{ "total_samples", FIELD_U64, .meaning = "With it anywhere in the stack, once each." },
	{ "total_share", FIELD_REAL, .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "user", FIELD_U64, .meaning = "Of samples." },
	{ "kernel", FIELD_U64 },
	{ "app", FIELD_TEXT, .meaning = "null: several, or not known." },
	{ "function", FIELD_TEXT },
	{ "inlined", FIELD_BOOL, .flags = FIELD_MAYBE,
	  .meaning = "It has no code of its own there; null: no function is known." },
	{ "object", FIELD_TEXT,
	  .meaning = "Path of what the code was mapped from; [kernel], [vdso], [jit], ..." },
	{ "object_kind", FIELD_ENUM, .limit = 7, .names = object_kind_names, .flags = FIELD_MAYBE },
	{ "build_id", FIELD_TEXT, .meaning = "In hex." },
	{ "file", FIELD_TEXT },
	{ "line", FIELD_KNOWN, .meaning = "null: not known." },
	{ 0 },
};
const struct shape line_shape = { "line", NULL, line_fields };

static const struct field instruction_fields[] = {
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "What it is called in one line." },
	{ "samples", FIELD_U64, .meaning = "With it as the innermost." },
	{ "share", FIELD_REAL, .meaning = "Of the view's samples.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "share_low", FIELD_REAL, .meaning = "95 % interval (Wilson).",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "share_high", FIELD_REAL, .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "cpu_ns", FIELD_REAL, .meaning = "CPU time that the samples stand for: samples / hz.",
	  .more = "\"minimum\": 0" },
	{ "user", FIELD_U64, .meaning = "Of samples." },
	{ "kernel", FIELD_U64 },
	{ "app", FIELD_TEXT, .meaning = "null: several, or not known." },
	{ "function", FIELD_TEXT },
	{ "offset", FIELD_TEXT, .meaning = "From the function's first address.",
	  .more = "\"pattern\": \"^0x[0-9a-f]+$\"" },
	{ "address", FIELD_TEXT,
	  .meaning =
		  "What nm and objdump show. The instruction that would have come next: the cost is mostly of the one before.",
	  .more = "\"pattern\": \"^0x[0-9a-f]+$\"" },
	{ "object", FIELD_TEXT,
	  .meaning = "Path of what the code was mapped from; [kernel], [vdso], [jit], ..." },
	{ "object_kind", FIELD_ENUM, .limit = 7, .names = object_kind_names, .flags = FIELD_MAYBE },
	{ "build_id", FIELD_TEXT, .meaning = "In hex." },
	{ 0 },
};
const struct shape instruction_shape = { "instruction", NULL, instruction_fields };

static const struct field container_fields[] = {
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "What it is called in one line." },
	{ "samples", FIELD_U64, .meaning = "With it as the innermost." },
	{ "share", FIELD_REAL, .meaning = "Of the view's samples.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "share_low", FIELD_REAL, .meaning = "95 % interval (Wilson).",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "share_high", FIELD_REAL, .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "cpu_ns", FIELD_REAL, .meaning = "CPU time that the samples stand for: samples / hz.",
	  .more = "\"minimum\": 0" },
	{ "user", FIELD_U64, .meaning = "Of samples." },
	{ "kernel", FIELD_U64 },
	{ "app", FIELD_TEXT, .meaning = "null: several, or not known." },
	{ "container", FIELD_TEXT, .meaning = "Its id, or the cgroup's path; null: not known." },
	{ 0 },
};
const struct shape container_shape = { "container", NULL, container_fields };

static const struct shape *const view_rows_either[] = {
	&system_shape,	 &app_shape,  &instance_shape,	  &profile_thread_shape, &object_shape,
	&function_shape, &line_shape, &instruction_shape, &container_shape,	 NULL
};
static const struct field view_fields[] = {
	{ "by", FIELD_ENUM, .limit = 9, .names = by_names },
	{ "samples", FIELD_U64, .meaning = "That passed the filter: shares are of these." },
	{ "all", FIELD_U64, .meaning = "Of the profile." },
	{ "elapsed_ns", FIELD_U64 },
	{ "without_function", FIELD_U64,
	  .meaning = "Of samples: no function is known for the innermost location." },
	{ "stack_ends", FIELD_OBJECT, .shape = &stack_ends_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Samples with a part in user space, by how their stacks ended." },
	{ "row_count", FIELD_U64,
	  .meaning = "Before those that are small, or not among the most, were left out." },
	{ "rows", FIELD_LIST, .either = view_rows_either, .flags = FIELD_BY_HAND,
	  .meaning =
		  "By samples; with totals asked for by total_samples. system: always all five." },
	{ 0 },
};
const struct shape view_shape = {
	"view", NULL, view_fields,
	"\"allOf\": [{\"if\": {\"properties\": {\"by\": {\"const\": \"system\"}}, \"additionalProperties\": true, \"required\": [\"by\"]}, \"then\": {\"properties\": {\"rows\": {\"items\": {\"$ref\": \"#/$defs/system\"}}}, \"additionalProperties\": true}}, {\"if\": {\"properties\": {\"by\": {\"const\": \"app\"}}, \"additionalProperties\": true, \"required\": [\"by\"]}, \"then\": {\"properties\": {\"rows\": {\"items\": {\"$ref\": \"#/$defs/app\"}}}, \"additionalProperties\": true}}, {\"if\": {\"properties\": {\"by\": {\"const\": \"instance\"}}, \"additionalProperties\": true, \"required\": [\"by\"]}, \"then\": {\"properties\": {\"rows\": {\"items\": {\"$ref\": \"#/$defs/instance\"}}}, \"additionalProperties\": true}}, {\"if\": {\"properties\": {\"by\": {\"const\": \"thread\"}}, \"additionalProperties\": true, \"required\": [\"by\"]}, \"then\": {\"properties\": {\"rows\": {\"items\": {\"$ref\": \"#/$defs/profile_thread\"}}}, \"additionalProperties\": true}}, {\"if\": {\"properties\": {\"by\": {\"const\": \"object\"}}, \"additionalProperties\": true, \"required\": [\"by\"]}, \"then\": {\"properties\": {\"rows\": {\"items\": {\"$ref\": \"#/$defs/object\"}}}, \"additionalProperties\": true}}, {\"if\": {\"properties\": {\"by\": {\"const\": \"function\"}}, \"additionalProperties\": true, \"required\": [\"by\"]}, \"then\": {\"properties\": {\"rows\": {\"items\": {\"$ref\": \"#/$defs/function\"}}}, \"additionalProperties\": true}}, {\"if\": {\"properties\": {\"by\": {\"const\": \"line\"}}, \"additionalProperties\": true, \"required\": [\"by\"]}, \"then\": {\"properties\": {\"rows\": {\"items\": {\"$ref\": \"#/$defs/line\"}}}, \"additionalProperties\": true}}, {\"if\": {\"properties\": {\"by\": {\"const\": \"instruction\"}}, \"additionalProperties\": true, \"required\": [\"by\"]}, \"then\": {\"properties\": {\"rows\": {\"items\": {\"$ref\": \"#/$defs/instruction\"}}}, \"additionalProperties\": true}}, {\"if\": {\"properties\": {\"by\": {\"const\": \"container\"}}, \"additionalProperties\": true, \"required\": [\"by\"]}, \"then\": {\"properties\": {\"rows\": {\"items\": {\"$ref\": \"#/$defs/container\"}}}, \"additionalProperties\": true}}]"
};

static const struct field profile_fields[] = {
	{ "type", FIELD_ENUM, .limit = 1, .names = type_names },
	{ "format", FIELD_U64, .meaning = "Raised when a field changes its meaning.",
	  .more = "\"const\": 1" },
	{ "run", FIELD_OBJECT, .shape = &noise_run_shape, .flags = FIELD_MAYBE },
	{ "machine", FIELD_OBJECT, .shape = &machine_shape, .flags = FIELD_MAYBE },
	{ "subject", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "What was sampled, in words." },
	{ "settings", FIELD_OBJECT, .shape = &profile_settings_shape, .flags = FIELD_BY_HAND },
	{ "begun_at", FIELD_DATE, .meaning = "Of the first slice." },
	{ "elapsed_ns", FIELD_U64, .meaning = "Gaps between slices are not in it." },
	{ "slices", FIELD_U64, .meaning = "How many windows of time." },
	{ "totals", FIELD_OBJECT, .shape = &profile_totals_shape, .flags = FIELD_BY_HAND,
	  .meaning = "Over all slices, whatever the filter." },
	{ "views", FIELD_LIST, .shape = &view_shape, .flags = FIELD_BY_HAND },
	{ 0 },
};
const struct shape profile_shape = {
	"profile",
	"What `tare profile report --json` writes: where CPUs spent their time, by sampling. Times are in ns. null: not known or not defined; never the same as 0.",
	profile_fields
};

static const struct field side_fields[] = {
	{ "run", FIELD_OBJECT, .shape = &noise_run_shape, .flags = FIELD_MAYBE },
	{ "mode", FIELD_ENUM, .limit = 3, .names = mode_names,
	  .meaning = "What made a CPU look: the kernel's own tick, a timer, the cycle counter." },
	{ "hz", FIELD_REAL, .more = "\"minimum\": 0" },
	{ "cpus", FIELD_U64 },
	{ "samples", FIELD_U64 },
	{ "elapsed_ns", FIELD_U64 },
	{ "cpu_per_s", FIELD_REAL, .meaning = "CPU seconds for each second that passed.",
	  .more = "\"minimum\": 0" },
	{ 0 },
};
const struct shape side_shape = { "side", NULL, side_fields };

static const struct field row_fields[] = {
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "object", FIELD_TEXT, .meaning = "Last part of its path; null in views by owner." },
	{ "kernel", FIELD_BOOL, .meaning = "All of it." },
	{ "before", FIELD_U64, .meaning = "Samples." },
	{ "after", FIELD_U64 },
	{ "before_share", FIELD_REAL, .meaning = "Of all samples.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "after_share", FIELD_REAL, .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "before_cpu_per_s", FIELD_REAL, .meaning = "CPU seconds for each second that passed.",
	  .more = "\"minimum\": 0" },
	{ "after_cpu_per_s", FIELD_REAL, .more = "\"minimum\": 0" },
	{ "change", FIELD_REAL, .meaning = "Of the share: after - before.",
	  .more = "\"minimum\": -1, \"maximum\": 1" },
	{ "change_low", FIELD_REAL, .meaning = "95 % interval (Newcombe).",
	  .more = "\"minimum\": -1, \"maximum\": 1" },
	{ "change_high", FIELD_REAL, .more = "\"minimum\": -1, \"maximum\": 1" },
	{ "p", FIELD_REAL,
	  .meaning =
		  "That two equal shares differ so much by how the samples fell: Fisher's exact or the z-test, adjusted over all rows by Benjamini and Hochberg. null: too few samples to tell anything.",
	  .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "sure", FIELD_BOOL, .meaning = "p < 0.05." },
	{ 0 },
};
const struct shape row_shape = { "row", NULL, row_fields };

static const struct field profile_diff_fields[] = {
	{ "type", FIELD_ENUM, .limit = 1, .names = profile_diff_type_names },
	{ "format", FIELD_U64, .meaning = "Raised when a field changes its meaning.",
	  .more = "\"const\": 1" },
	{ "by", FIELD_ENUM, .limit = 9, .names = by_names },
	{ "before", FIELD_OBJECT, .shape = &side_shape, .flags = FIELD_BY_HAND },
	{ "after", FIELD_OBJECT, .shape = &side_shape, .flags = FIELD_BY_HAND },
	{ "rows", FIELD_LIST, .shape = &row_shape, .flags = FIELD_BY_HAND,
	  .meaning = "By the size of the change." },
	{ 0 },
};
const struct shape profile_diff_shape = {
	"profile_diff",
	"What `tare profile report --diff A B --json` writes: two profiles row by row, matched by name and object. null: not known, or too few samples; never the same as 0.",
	profile_diff_fields
};

static const struct field profile_listing_function_fields[] = {
	{ "name", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "object", FIELD_TEXT, .flags = FIELD_ALWAYS },
	{ "object_kind", FIELD_ENUM, .limit = 7, .names = object_kind_names },
	{ "build_id", FIELD_TEXT },
	{ "address", FIELD_TEXT, .flags = FIELD_ALWAYS, .more = "\"pattern\": \"^0x[0-9a-f]+$\"" },
	{ "size", FIELD_U64 },
	{ "file", FIELD_TEXT },
	{ "line", FIELD_KNOWN },
	{ 0 },
};
const struct shape profile_listing_function_shape = { "profile_listing_function", NULL,
						      profile_listing_function_fields };

static const struct field profile_listing_instruction_fields[] = {
	{ "address", FIELD_TEXT, .flags = FIELD_ALWAYS, .more = "\"pattern\": \"^0x[0-9a-f]+$\"" },
	{ "size", FIELD_U64 },
	{ "text", FIELD_TEXT, .flags = FIELD_ALWAYS, .meaning = "As objdump has it." },
	{ "samples", FIELD_U64 },
	{ "share", FIELD_REAL, .more = "\"minimum\": 0, \"maximum\": 1" },
	{ "file", FIELD_TEXT },
	{ "line", FIELD_KNOWN },
	{ "source", FIELD_TEXT, .meaning = "The text of the line; null: it could not be read." },
	{ 0 },
};
const struct shape profile_listing_instruction_shape = { "profile_listing_instruction", NULL,
							 profile_listing_instruction_fields };

static const struct field profile_listing_fields[] = {
	{ "type", FIELD_ENUM, .limit = 1, .names = profile_listing_type_names },
	{ "format", FIELD_U64, .meaning = "Raised when a field changes its meaning.",
	  .more = "\"const\": 1" },
	{ "run", FIELD_OBJECT, .shape = &noise_run_shape, .flags = FIELD_MAYBE },
	{ "settings", FIELD_OBJECT, .shape = &profile_settings_shape, .flags = FIELD_BY_HAND },
	{ "function", FIELD_OBJECT, .shape = &profile_listing_function_shape,
	  .flags = FIELD_BY_HAND },
	{ "samples", FIELD_U64, .meaning = "Shares are of these." },
	{ "self", FIELD_U64, .meaning = "All samples of the function." },
	{ "elsewhere", FIELD_U64,
	  .meaning = "Of self: at addresses where no instruction of the list begins." },
	{ "instructions", FIELD_LIST, .shape = &profile_listing_instruction_shape,
	  .flags = FIELD_BY_HAND },
	{ 0 },
};
const struct shape profile_listing_shape = {
	"profile_listing",
	"What `tare profile report --json` writes for one function by instruction. The address of a sample is the instruction that would have come next: its cost is mostly of the one before.",
	profile_listing_fields
};
