#include <stdio.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/view.h"

struct show_options {
	const char *lab;
	bool json, processes, executions, study, facts;
	int unit;
};

static void print_table(struct table *t)
{
	cmd_print_table(t, TABLE_TEXT);
	table_free(t);
}

static void print_facts(const struct machine *m)
{
	for (size_t i = 0; i < m->facts.count; i++)
		printf("%s = %s\n", m->facts.items[i].key, m->facts.items[i].value);
}

static void show(const loaded_list *list, const struct show_options *o)
{
	struct run_view *views = loaded_views(list);
	struct time_style style = { .width = (size_t)cmd_columns(),
				    .colour = cmd_colour(),
				    .unit = (enum time_unit)o->unit };
	struct strbuf out = { 0 };
	if (o->json) {
		time_json(views, list->count, &style, &out);
	} else if (o->processes) {
		for (size_t i = 0; i < list->count; i++)
			print_table(time_processes(&views[i]));
	} else if (o->executions) {
		for (size_t i = 0; i < list->count; i++)
			print_table(time_executions_brief(&views[i]));
	} else if (o->facts) {
		print_facts(&list->items[0].machine);
	} else {
		time_text(views, list->count, &style, &out);
	}
	fputs(strbuf_text(&out), stdout);
	strbuf_release(&out);
	free(views);
}

int cmd_show(int argc, char **argv)
{
	struct show_options o = { 0 };
	struct option_spec specs[] = {
		{ 0, "study", OPTION_FLAG, &o.study, NULL,
		  "all runs of the same command line, compared" },
		{ 'p', "processes", OPTION_FLAG, &o.processes, NULL,
		  "every process that ran meanwhile, with its CPU time" },
		{ 'x', "executions", OPTION_FLAG, &o.executions, NULL, "a row for each execution" },
		{ 0, "machine", OPTION_FLAG, &o.facts, NULL, "the facts of the machine it ran on" },
		{ 0, "json", OPTION_FLAG, &o.json, NULL, "everything, as JSON" },
		{ 'u', "time-unit", OPTION_CHOICE, &o.unit, TIME_UNIT_CHOICES,
		  "unit of the times" },
		{ 0, "lab", OPTION_TEXT, &o.lab, "FILE", "the lab to read (default: your own)" },
		{ 0 }
	};
	text_list names = { 0 };
	loaded_list list = { 0 };
	int code = EXIT_DONE;
	if (cmd_options(
		    "tare show [OPTIONS] [RUN...]",
		    "The result of a stored run: a number, a name, 'last' (the default) or @1, @2 ...\n",
		    specs, argc, argv, &names, &code)) {
		struct error err = ERROR_INIT;
		if (o.json + o.processes + o.executions + o.facts > 1) {
			error_set(
				&err, EXIT_USAGE,
				"show: --json, --processes, --executions and --machine exclude each other");
			code = cmd_fail(&err);
		} else if (cmd_load_runs(o.lab, &names, LAB_PROCESSES, o.study, &list, &err)) {
			code = cmd_fail(&err);
		} else {
			show(&list, &o);
		}
	}
	loaded_release(&list);
	array_release(&names);
	return code;
}
