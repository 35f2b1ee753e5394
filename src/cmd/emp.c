/* tare emp: what each version of EMP makes of a stored run. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/view.h"
#include "report/time/emp.h"

struct emp_command {
	bool sizes, json, csv, markdown, no_cutoffs;
	int unit;
};

static void print_table(struct table *t, enum table_format format)
{
	cmd_print_table(t, format);
	table_free(t);
}

static void print_report(const loaded_list *list, const struct emp_command *o,
			 const struct emp_versions *versions, const emp_size_list *sizes)
{
	struct run_view *views = loaded_views(list);
	struct style style = { .width = (size_t)cmd_columns(),
			       .colour = cmd_colour(),
			       .unit = (enum time_unit)o->unit };
	struct strbuf out = { 0 };
	if (o->json)
		emp_json(&views[0], versions, sizes, &out);
	else
		emp_text(&views[0], versions, sizes, &style, &out);
	fputs(strbuf_text(&out), stdout);
	strbuf_release(&out);
	free(views);
}

static void report(const loaded_list *list, const struct emp_command *o)
{
	const struct loaded_run *l = &list->items[0];
	struct emp_options options = loaded_options(l);
	struct emp_versions versions;
	emp_size_list sizes = { 0 };
	emp_versions(&l->run, l->executions.items, l->executions.count,
		     l->machine.facts.count ? &l->machine : NULL, &options, &versions);
	if (o->sizes)
		emp_sizes(&l->run, l->executions.items, l->executions.count, &options, &sizes);
	if (o->csv || o->markdown)
		print_table(o->sizes ? emp_sizes_table(&sizes) : emp_versions_table(&versions),
			    o->csv ? TABLE_CSV : TABLE_MARKDOWN);
	else
		print_report(list, o, &versions, o->sizes ? &sizes : NULL);
	array_release(&sizes);
}

int cmd_emp(struct lab_access *lab, int argc, char **argv)
{
	struct emp_command o = { 0 };
	struct option_spec specs[] = {
		{ 's', "sizes", OPTION_FLAG, &o.sizes, NULL,
		  "how many samples it takes: v5 of the first half, quarter, ..." },
		{ 0, "no-cutoffs", OPTION_FLAG, &o.no_cutoffs, NULL, "do not apply rule (I)" },
		{ 0, "json", OPTION_FLAG, &o.json, NULL, "print JSON (emp.schema.json)" },
		{ 0, "csv", OPTION_FLAG, &o.csv, NULL,
		  "print CSV: of the versions, or of the sizes" },
		{ 0, "markdown", OPTION_FLAG, &o.markdown, NULL, "the same as a Markdown table" },
		{ 'u', "time-unit", OPTION_CHOICE, &o.unit, TIME_UNIT_CHOICES,
		  "unit of the times" },
		{ 0, "lab", OPTION_TEXT, &lab->file, "FILE",
		  "the lab to read (default: your own)" },
		{ 0 }
	};
	text_list names = { 0 };
	loaded_list list = { 0 };
	int code = EXIT_DONE;
	if (cmd_options(
		    "tare emp [OPTIONS] [RUN]",
		    "A stored run (default: the newest) as each version of the protocol EMP would\n"
		    "have it: which samples are kept, their mean and its standard deviation.\n",
		    specs, argc, argv, &names, &code)) {
		struct error err = ERROR_INIT;
		if (names.count > 1)
			error_set(&err, EXIT_USAGE, "emp: one run at a time, not %zu", names.count);
		else if (o.json + o.csv + o.markdown > 1)
			error_set(&err, EXIT_USAGE,
				  "emp: --json, --csv and --markdown exclude each other");
		const struct load_options how = { .detail = LAB_PROCESSES,
						  .cutoffs = o.no_cutoffs ? CUTOFFS_NONE
									  : CUTOFFS_ALL };
		if (!*err.text && !cmd_load_runs(lab, &names, false, &how, &list, &err))
			report(&list, &o);
		if (*err.text)
			code = cmd_fail(&err);
	}
	loaded_release(&list);
	array_release(&names);
	return code;
}
