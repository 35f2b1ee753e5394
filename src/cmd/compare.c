#include <stdio.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/view.h"

struct compare_options {
	int format, measure;
	double slower;
};

static const enum table_format formats[] = { TABLE_TEXT, TABLE_JSON, TABLE_CSV, TABLE_MARKDOWN };

static struct table *comparison_table(void)
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
	return table_new(columns, sizeof columns / sizeof *columns);
}

static void add_row(struct table *t, const struct loaded_run *l, enum emp_measure m,
		    const struct emp_comparison *c)
{
	table_add_count(t, l->run.id);
	table_add_text(t, l->run.name);
	table_add_text(t, emp_measure_name(m));
	table_add_count(t, (int64_t)l->result.kept[m].n);
	table_add_number(t, l->result.kept[m].mean);
	if (!c) {
		table_add_number(t, 1);
		for (int i = 0; i < 3; i++)
			table_add_absent(t);
		return;
	}
	table_add_number(t, c->ratio);
	table_add_number(t, c->ratio_low);
	table_add_number(t, c->ratio_high);
	table_add_number(t, c->p);
}

static int compare(const loaded_list *list, const struct compare_options *o)
{
	struct error err = ERROR_INIT;
	struct table *t = comparison_table();
	struct strbuf words = { 0 };
	bool slower = false;
	int code = EXIT_DONE;
	const struct loaded_run *base = &list->items[0];
	for (size_t i = 1; i < list->count && code == EXIT_DONE; i++) {
		struct run_comparison c;
		if (loaded_compare(base, &list->items[i], compared_measures[o->measure], &c,
				   &err)) {
			code = cmd_fail(&err);
			break;
		}
		if (i == 1)
			add_row(t, base, c.measure, NULL);
		add_row(t, &list->items[i], c.measure, &c.result);
		put_comparison(base, &list->items[i], &c, &words);
		if (o->slower >= 0 && cmd_judge_slower(&c, o->slower))
			slower = true;
	}
	if (code == EXIT_DONE) {
		cmd_print_table(t, formats[o->format]);
		if (formats[o->format] == TABLE_TEXT)
			printf("\n%s", strbuf_text(&words));
	}
	if (slower)
		code = EXIT_CHECK;
	table_free(t);
	strbuf_release(&words);
	return code;
}

int cmd_compare(struct lab_access *lab, int argc, char **argv)
{
	struct compare_options o = { .slower = -1 };
	struct option_spec specs[] = {
		{ 'm', "measure", OPTION_CHOICE, &o.measure, COMPARED_MEASURES,
		  "what to compare (default: the best grade of process time both have)" },
		{ 0, "fail-if-slower", OPTION_FRACTION, &o.slower, "SHARE",
		  "exit with 1 if a run is significantly slower than the first by more than this" },
		{ 'f', "format", OPTION_CHOICE, &o.format, "text|json|csv|markdown",
		  "output format" },
		{ 0, "lab", OPTION_TEXT, &lab->file, "FILE",
		  "the lab to read (default: your own)" },
		{ 0 }
	};
	text_list names = { 0 };
	loaded_list list = { 0 };
	int code = EXIT_DONE;
	if (cmd_options(
		    "tare compare [OPTIONS] BASE RUN...",
		    "Ratio of the means with an interval, and a p-value, against the first run.\n",
		    specs, argc, argv, &names, &code)) {
		struct error err = ERROR_INIT;
		if (names.count < 2) {
			error_set(&err, EXIT_USAGE, "compare: needs two runs or more");
			error_hint(&err, "'tare list' shows them");
			code = cmd_fail(&err);
		} else if (cmd_load_runs(lab, &names, false, NULL, &list, &err)) {
			code = cmd_fail(&err);
		} else {
			code = compare(&list, &o);
		}
	}
	loaded_release(&list);
	array_release(&names);
	return code;
}
