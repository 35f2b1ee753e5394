#include <stdio.h>

#include "cmd/cmd.h"
#include "lab/lab.h"
#include "report/core/table.h"

struct list_options {
	struct lab_access *lab;
	long most;
	bool json;
};

static void add_count(struct table *t, int64_t count, bool known)
{
	if (known)
		table_add_count(t, count);
	else
		table_add_absent(t);
}

static void add_date(struct table *t, int64_t realtime_ns)
{
	if (realtime_ns)
		table_add_date(t, realtime_ns);
	else
		table_add_absent(t);
}

/* "12/20", "query 12", "duet 12", "noise" */
static void add_progress(struct table *t, const struct run *run, uint32_t executions)
{
	char text[48];
	int n = snprintf(text, sizeof text, "%s%u",
			 run->kind == SUBJECT_QUERY  ? "query "
			 : run->kind == SUBJECT_DUET ? "duet "
						     : "",
			 executions);
	if (run->planned)
		snprintf(text + n, sizeof text - (size_t)n, "/%u", run->planned);
	table_add_text(t, run->kind == SUBJECT_CPU	? "noise"
			  : run->kind == SUBJECT_SYSTEM ? "profile"
							: text);
}

/* For people what tells runs apart, for programs all. */
static struct table *runs_table(const run_list *runs, const run_count_list *counts)
{
	static const struct column columns[] = {
		{ "id", "Run", COLUMN_COUNT, .right = true },
		{ "started_at", "Started", COLUMN_DATE, FOR_PEOPLE },
		{ "name", "Name", COLUMN_TEXT },
		{ "command", "", COLUMN_TEXT, FOR_DATA },
		{ "executions", "Executions", COLUMN_TEXT, FOR_PEOPLE, .right = true, .spare = 5 },
		{ "status", "Status", COLUMN_TEXT, .spare = 1 },
		{ "started_at", "", COLUMN_DATE, FOR_DATA },
		{ "ended_at", "", COLUMN_DATE, FOR_DATA },
		{ "executions", "", COLUMN_COUNT, FOR_DATA },
		{ "warmups", "", COLUMN_COUNT, FOR_DATA },
		{ "planned", "", COLUMN_COUNT, FOR_DATA },
		{ "mean_et_of_all", "ET of all", COLUMN_DURATION, .spare = 4 },
		{ "mean_pt_exec_of_all", "PT of all", COLUMN_DURATION, .spare = 2 },
		{ "backend", "", COLUMN_TEXT, FOR_DATA },
		{ "study", "", COLUMN_COUNT, FOR_DATA },
		{ "kind", "", COLUMN_TEXT, FOR_DATA },
		{ "tags", "", COLUMN_TEXT, FOR_DATA },
		{ "tags", "Tags", COLUMN_TEXT, FOR_PEOPLE, .if_any = true, .spare = 3 },
	};
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < runs->count; i++) {
		const struct run *run = &runs->items[i];
		const struct run_summary_row *count = &counts->items[i];
		const bool executes = run->kind == SUBJECT_COMMAND || run->kind == SUBJECT_QUERY ||
				      run->kind == SUBJECT_DUET;
		table_add_count(t, run->id);
		add_date(t, run->started_at_ns);
		table_add_text(t, run->name);
		table_add_text(t, run->command);
		add_progress(t, run, count->executions);
		table_add_text(t, run_status_names[run->status]);
		add_date(t, run->started_at_ns);
		add_date(t, run->ended_at_ns);
		add_count(t, count->executions, executes);
		add_count(t, count->warmups, executes);
		add_count(t, run->planned, executes && run->planned);
		table_add_number(t, count->mean_et_ns);
		table_add_number(t, count->mean_pt_exec_ns);
		table_add_text(t, backend_name(run->backend));
		add_count(t, run->invocation, run->invocation);
		table_add_text(t, subject_kind_names[run->kind]);
		table_add_text(t, run->tags);
		table_add_text(t, run->tags ? run->tags : "");
	}
	return t;
}

static int list(void *options, const struct cmd_args *args, struct error *err)
{
	const struct list_options *o = options;
	const text_list *words = &args->operands;
	run_list runs = { 0 };
	run_count_list counts = { 0 };
	if (words->count > 1) {
		error_set(err, EXIT_USAGE, "list: more than one PATTERN");
		return error_hint(err, "put a pattern of several words in quotes");
	}
	struct lab *lab = lab_access_open(o->lab, err);
	int failed = !lab || lab_list_runs(lab, words->count ? words->items[0] : NULL,
					   (uint32_t)o->most, &runs, &counts, err);
	if (!failed && lab_stranger(lab))
		cmd_notice("the lab has %s, which is not tare's: it is ignored", lab_stranger(lab));
	if (!failed && (o->json || runs.count)) {
		struct table *t = runs_table(&runs, &counts);
		cmd_print_table(t, o->json ? TABLE_JSON : TABLE_TEXT);
		table_free(t);
	} else if (!failed) {
		fputs("no runs\n", stderr);
	}
	for (size_t i = 0; i < runs.count; i++)
		run_release(&runs.items[i]);
	array_release(&runs);
	array_release(&counts);
	return failed ? -1 : EXIT_DONE;
}

int cmd_list(struct lab_access *lab, int argc, char **argv)
{
	struct list_options o = { .lab = lab };
	struct option_spec specs[] = { { 'n', "number", OPTION_INTEGER, &o.most, "NUM",
					 "only the newest NUM", .min = 1, .max = INT32_MAX },
				       { 0, "json", OPTION_FLAG, &o.json, NULL, "as JSON" },
				       LAB_OPTION(lab, "the lab to read"),
				       { 0 } };
	return cmd_run(
		"tare list [OPTIONS] [PATTERN]",
		"The runs in the lab, newest first; with PATTERN those with it in their name,\n"
		"command or tags. Means are over all executions but warm-ups; 'tare show' has\n"
		"those of the kept ones.\n",
		specs, argc, argv, list, &o);
}
