#include <math.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/duets.h"
#include "cmd/view.h"
#include "run/find.h"

struct compare_options {
	struct lab_access *lab;
	int format, measure;
	double slower;
};

static const enum table_format formats[] = { TABLE_TEXT, TABLE_JSON, TABLE_CSV, TABLE_MARKDOWN };

static void add_row(struct table *t, const struct loaded_run *l, enum emp_measure m,
		    const struct emp_comparison *c)
{
	table_add_count(t, l->run.id);
	table_add_text(t, l->run.name);
	table_add_text(t, emp_measure_names[m]);
	table_add_count(t, (int64_t)l->result.kept[m].n);
	table_add_number(t, l->result.kept[m].mean);
	table_add_number(t, c ? c->ratio : 1);
	table_add_number(t, c ? c->ratio_low : NAN);
	table_add_number(t, c ? c->ratio_high : NAN);
	table_add_number(t, c ? c->p : NAN);
}

/* The exit code, or -1. */
static int compare(const loaded_list *list, const struct compare_options *o, struct error *err)
{
	static const struct column columns[] = {
		{ "run", "Run", COLUMN_COUNT },
		{ "name", "Name", COLUMN_TEXT, .code = true },
		{ "measure", "Measure", COLUMN_TEXT, .spare = 2 },
		{ "executions", "n", COLUMN_COUNT, .spare = 3 },
		{ "mean", "Mean", COLUMN_DURATION },
		{ "ratio", "Ratio", COLUMN_RATIO },
		{ "ratio_low", "95% low", COLUMN_RATIO },
		{ "ratio_high", "high", COLUMN_RATIO },
		{ "p", "p", COLUMN_REAL, .spare = 1 },
	};
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);
	SCOPED(strbuf_release) struct strbuf words = { 0 };
	int code = EXIT_DONE;
	const struct loaded_run *base = &list->items[0];
	for (size_t i = 1; i < list->count && code >= 0; i++) {
		struct run_comparison c;
		if (loaded_compare(base, &list->items[i], compared_measures[o->measure], &c, err)) {
			code = -1;
			break;
		}
		if (i == 1)
			add_row(t, base, c.measure, NULL);
		add_row(t, &list->items[i], c.measure, &c.result);
		put_comparison(base, &list->items[i], &c, &words);
		if (o->slower >= 0 && cmd_judge_slower(&c, o->slower))
			code = EXIT_CHECK;
	}
	if (code >= 0) {
		cmd_print_table(t, formats[o->format]);
		if (formats[o->format] == TABLE_TEXT)
			printf("\n%s", strbuf_text(&words));
	}
	table_free(t);
	return code;
}

/* Loads the runs if the first one is a duet; then the others must be, too. */
static int load_duets(const struct compare_options *o, const text_list *names, loaded_list *list,
		      bool *duets, struct error *err)
{
	enum subject_kind kind;
	int64_t id;
	struct lab *lab = lab_access_open(o->lab, err);
	if (!lab || run_find_any(lab, names->items[0],
				 LAB_OF(SUBJECT_COMMAND) | LAB_OF(SUBJECT_DUET), &id, &kind, err))
		return -1;
	*duets = kind == SUBJECT_DUET;
	if (*duets && o->measure)
		return error_set(err, EXIT_USAGE, "compare: --measure is not for duets");
	for (size_t i = 0; *duets && i < names->count; i++)
		if (run_find(lab, names->items[i], LAB_OF(SUBJECT_DUET), &id, err) ||
		    loaded_add(list, lab, id, NULL, err))
			return -1;
	return 0;
}

static int run(void *options, const struct cmd_args *args, struct error *err)
{
	const struct compare_options *o = options;
	loaded_list list = { 0 };
	if (args->operands.count < 2) {
		error_set(err, EXIT_USAGE, "compare: needs two runs or more");
		return error_hint(err, "'tare list' shows them");
	}
	bool duets = false;
	int code = load_duets(o, &args->operands, &list, &duets, err);
	if (!code && duets)
		code = compare_duets(&list, formats[o->format], o->slower);
	else if (!code)
		code = cmd_load_runs(o->lab, &args->operands, false, NULL, &list, err)
			       ? -1
			       : compare(&list, o, err);
	loaded_release(&list);
	return code;
}

int cmd_compare(struct lab_access *lab, int argc, char **argv)
{
	struct compare_options o = { .lab = lab, .slower = -1 };
	struct option_spec specs[] = {
		{ 'm', "measure", OPTION_CHOICE, &o.measure, COMPARED_MEASURES,
		  "what to compare (default: the best grade of process time both have)" },
		{ 0, "fail-if-slower", OPTION_FRACTION, &o.slower, "SHARE",
		  "exit with 1 if a run is significantly slower than the first by more than this" },
		{ 'f', "format", OPTION_CHOICE, &o.format, "text|json|csv|markdown",
		  "output format" },
		LAB_OPTION(lab, "the lab to read"),
		{ 0 }
	};
	return cmd_run(
		"tare compare [OPTIONS] BASE RUN...",
		"Ratio of the means with an interval, and a p-value, against the first run.\n",
		specs, argc, argv, run, &o);
}
