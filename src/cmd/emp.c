/* tare emp: what each version of EMP makes of a stored run. */
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/view.h"
#include "report/time/emp.h"

struct emp_command {
	struct lab_access *lab;
	bool sizes, json, csv, markdown, no_cutoffs;
	int unit, measure;
};

static int run(void *options, const struct cmd_args *args, struct error *err)
{
	const struct emp_command *o = options;
	const struct load_options how = { .detail = LAB_PROCESSES,
					  .cutoffs = o->no_cutoffs ? CUTOFFS_NONE : CUTOFFS_ALL };
	loaded_list list = { 0 };
	struct emp_versions versions;
	emp_size_list sizes = { 0 };
	struct strbuf out = { 0 };
	if (args->operands.count > 1)
		return error_set(err, EXIT_USAGE, "emp: one run at a time, not %zu",
				 args->operands.count);
	if (o->json + o->csv + o->markdown > 1)
		return error_set(err, EXIT_USAGE,
				 "emp: --json, --csv and --markdown exclude each other");
	if (cmd_load_runs(o->lab, &args->operands, false, &how, &list, err)) {
		loaded_release(&list);
		return -1;
	}
	const struct loaded_run *l = &list.items[0];
	struct emp_options judged = loaded_options(l);
	const struct style style = cmd_style(o->unit);
	FREED struct run_view *view = loaded_views(&list);
	judged.measure = compared_measures[o->measure];
	judged.by_measure = judged.measure != EMP_MEASURES;
	if (judged.by_measure && !l->result.present[judged.measure]) {
		error_set(err, EXIT_USAGE, "emp: not every execution of run %lld has %s",
			  (long long)l->run.id, emp_measure_names[judged.measure]);
		loaded_release(&list);
		return -1;
	}
	emp_versions(&l->run, view->executions, view->count, view->machine, &judged, &versions);
	if (o->sizes)
		emp_sizes(&l->run, view->executions, view->count, &judged, &sizes);
	if (o->csv || o->markdown) {
		enum emp_measure measure = versions.rows[EMP_V5].measure;
		struct table *t = o->sizes ? emp_sizes_table(&sizes, measure, NULL)
					   : emp_versions_table(&versions, NULL);
		cmd_print_table(t, o->csv ? TABLE_CSV : TABLE_MARKDOWN);
		table_free(t);
	} else if (o->json) {
		emp_json(view, &versions, o->sizes ? &sizes : NULL, &out);
	} else {
		emp_text(view, &versions, o->sizes ? &sizes : NULL, &style, &out);
	}
	cmd_print(&out);
	array_release(&sizes);
	loaded_release(&list);
	return EXIT_DONE;
}

int cmd_emp(struct lab_access *lab, int argc, char **argv)
{
	struct emp_command o = { .lab = lab };
	struct option_spec specs[] = {
		{ 's', "sizes", OPTION_FLAG, &o.sizes, NULL,
		  "how many samples it takes: v5 of the first half, quarter, ..." },
		{ 'm', "measure", OPTION_CHOICE, &o.measure, "best|et|net|exec|tick",
		  "judge rule (II) by this, and show it" },
		{ 0, "no-cutoffs", OPTION_FLAG, &o.no_cutoffs, NULL, "do not apply rule (I)" },
		{ 0, "json", OPTION_FLAG, &o.json, NULL, "print JSON (emp.schema.json)" },
		{ 0, "csv", OPTION_FLAG, &o.csv, NULL,
		  "print CSV: of the versions, or of the sizes" },
		{ 0, "markdown", OPTION_FLAG, &o.markdown, NULL, "the same as a Markdown table" },
		UNIT_OPTION(&o.unit, "unit of the times"),
		LAB_OPTION(lab, "the lab to read"),
		{ 0 }
	};
	return cmd_run(
		"tare emp [OPTIONS] [RUN]",
		"A stored run (default: the newest) as each version of the protocol EMP would\n"
		"have it: which samples are kept, their mean and its standard deviation.\n",
		specs, argc, argv, run, &o);
}
