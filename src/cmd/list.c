#include <stdio.h>

#include "cmd/cmd.h"
#include "lab/lab.h"
#include "report/core/table.h"

struct list_options {
	struct lab_access *lab;
	long most;
	bool json;
};

static bool has_tags(const run_list *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		if (runs->items[i].tags && *runs->items[i].tags)
			return true;
	return false;
}

/* For people: what tells runs apart. */
static struct table *text_table(const run_list *runs, const run_count_list *counts)
{
	static const struct column columns[] = {
		{ "id", "Run", COLUMN_COUNT, .right = true },
		{ "started_at", "Started", COLUMN_DATE },
		{ "name", "Name", COLUMN_TEXT },
		{ "executions", "Executions", COLUMN_TEXT, .right = true, .spare = 5 },
		{ "status", "Status", COLUMN_TEXT, .spare = 1 },
		{ "mean_et_of_all", "ET of all", COLUMN_DURATION, .spare = 4 },
		{ "mean_pt_exec_of_all", "PT of all", COLUMN_DURATION, .spare = 2 },
		{ "tags", "Tags", COLUMN_TEXT, .spare = 3 },
	};
	bool tags = has_tags(runs);
	struct table *t = table_new(columns, sizeof columns / sizeof *columns - !tags);
	for (size_t i = 0; i < runs->count; i++) {
		const struct run *run = &runs->items[i];
		const struct run_summary_row *count = &counts->items[i];
		char progress[32];
		const char *of = run->kind == SUBJECT_QUERY ? "query " : "";
		if (run->kind == SUBJECT_CPU || run->kind == SUBJECT_SYSTEM)
			snprintf(progress, sizeof progress, "%s",
				 run->kind == SUBJECT_CPU ? "noise" : "profile");
		else if (run->planned)
			snprintf(progress, sizeof progress, "%s%u/%u", of, count->executions,
				 run->planned);
		else
			snprintf(progress, sizeof progress, "%s%u", of, count->executions);
		table_add_count(t, run->id);
		table_add_date(t, run->started_at_ns);
		table_add_text(t, run->name);
		table_add_text(t, progress);
		table_add_text(t, run_status_name(run->status));
		table_add_number(t, count->mean_et_ns);
		table_add_number(t, count->mean_pt_exec_ns);
		if (tags)
			table_add_text(t, run->tags ? run->tags : "");
	}
	return t;
}

static void add_date(struct table *t, int64_t realtime_ns)
{
	if (realtime_ns)
		table_add_date(t, realtime_ns);
	else
		table_add_absent(t);
}

static void add_count(struct table *t, int64_t count, bool known)
{
	if (known)
		table_add_count(t, count);
	else
		table_add_absent(t);
}

static struct table *json_table(const run_list *runs, const run_count_list *counts)
{
	static const struct column columns[] = {
		{ "id", "", COLUMN_COUNT },
		{ "name", "", COLUMN_TEXT },
		{ "command", "", COLUMN_TEXT },
		{ "status", "", COLUMN_TEXT },
		{ "started_at", "", COLUMN_DATE },
		{ "ended_at", "", COLUMN_DATE },
		{ "executions", "", COLUMN_COUNT },
		{ "warmups", "", COLUMN_COUNT },
		{ "planned", "", COLUMN_COUNT },
		{ "mean_et_of_all", "", COLUMN_DURATION },
		{ "mean_pt_exec_of_all", "", COLUMN_DURATION },
		{ "backend", "", COLUMN_TEXT },
		{ "study", "", COLUMN_COUNT },
		{ "kind", "", COLUMN_TEXT },
		{ "tags", "", COLUMN_TEXT },
	};
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < runs->count; i++) {
		const struct run *run = &runs->items[i];
		const struct run_summary_row *count = &counts->items[i];
		table_add_count(t, run->id);
		table_add_text(t, run->name);
		table_add_text(t, run->command);
		table_add_text(t, run_status_name(run->status));
		add_date(t, run->started_at_ns);
		add_date(t, run->ended_at_ns);
		bool executes = run->kind == SUBJECT_COMMAND || run->kind == SUBJECT_QUERY;
		add_count(t, count->executions, executes);
		add_count(t, count->warmups, executes);
		add_count(t, run->planned, executes && run->planned);
		table_add_number(t, count->mean_et_ns);
		table_add_number(t, count->mean_pt_exec_ns);
		table_add_text(t, backend_name(run->backend));
		add_count(t, run->invocation, run->invocation);
		table_add_text(t, subject_kind_name(run->kind));
		table_add_text(t, run->tags);
	}
	return t;
}

static void print_runs(const run_list *runs, const run_count_list *counts, bool json)
{
	struct table *t = json ? json_table(runs, counts) : text_table(runs, counts);
	if (json || runs->count)
		cmd_print_table(t, json ? TABLE_JSON : TABLE_TEXT);
	else
		fputs("no runs\n", stderr);
	table_free(t);
}

static int list(const struct list_options *o, const char *pattern)
{
	struct error err = ERROR_INIT;
	struct lab *lab = lab_access_open(o->lab, &err);
	if (!lab)
		return cmd_fail(&err);
	run_list runs = { 0 };
	run_count_list counts = { 0 };
	int failed = lab_list_runs(lab, pattern, (uint32_t)o->most, &runs, &counts, &err);
	if (!failed)
		print_runs(&runs, &counts, o->json);
	for (size_t i = 0; i < runs.count; i++)
		run_release(&runs.items[i]);
	array_release(&runs);
	array_release(&counts);
	return failed ? cmd_fail(&err) : EXIT_DONE;
}

int cmd_list(struct lab_access *lab, int argc, char **argv)
{
	struct list_options o = { .lab = lab };
	struct option_spec specs[] = { { 'n', "number", OPTION_INTEGER, &o.most, "NUM",
					 "only the newest NUM", .min = 1, .max = INT32_MAX },
				       { 0, "json", OPTION_FLAG, &o.json, NULL, "as JSON" },
				       { 0, "lab", OPTION_TEXT, &lab->file, "FILE",
					 "the lab to read (default: your own)" },
				       { 0 } };
	text_list operands = { 0 };
	int code = EXIT_DONE;
	if (cmd_options(
		    "tare list [OPTIONS] [PATTERN]",
		    "The runs in the lab, newest first; with PATTERN those with it in their name,\n"
		    "command or tags. Means are over all executions but warm-ups; 'tare show' has\n"
		    "those of the kept ones.\n",
		    specs, argc, argv, &operands, &code)) {
		struct error err = ERROR_INIT;
		if (operands.count > 1) {
			error_set(&err, EXIT_USAGE, "list: more than one PATTERN");
			error_hint(&err, "put a pattern of several words in quotes");
			code = cmd_fail(&err);
		} else {
			code = list(&o, operands.count ? operands.items[0] : NULL);
		}
	}
	array_release(&operands);
	return code;
}
