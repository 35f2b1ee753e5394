#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cmd/cmd.h"
#include "cmd/view.h"

enum export_format { AS_JSON, AS_CSV, AS_MARKDOWN, AS_ASCIIDOC, AS_ORGMODE, AS_TSV };
#define EXPORT_FORMATS "json|csv|markdown|asciidoc|orgmode|tsv"

struct export_options {
	const char *lab, *output;
	int format, unit;
	bool executions, study;
};

static void render(const loaded_list *list, const struct export_options *o, struct strbuf *out)
{
	static const enum table_format formats[] = { TABLE_JSON,     TABLE_CSV,	    TABLE_MARKDOWN,
						     TABLE_ASCIIDOC, TABLE_ORGMODE, TABLE_TSV };
	struct run_view *views = loaded_views(list);
	struct time_style style = { .unit = (enum time_unit)o->unit };
	if (o->executions) {
		struct table *t = time_executions(views, list->count);
		table_render(t, formats[o->format], NULL, out);
		table_free(t);
	} else if (o->format == AS_JSON) {
		time_json(views, list->count, &style, out);
	} else if (o->format == AS_CSV) {
		time_csv(views, list->count, out);
	} else {
		time_markup(views, list->count, &style, formats[o->format], out);
	}
	free(views);
}

int cmd_export(int argc, char **argv)
{
	struct export_options o = { .output = "-" };
	struct option_spec specs[] = {
		{ 'f', "format", OPTION_CHOICE, &o.format, EXPORT_FORMATS,
		  "the format (default: json)" },
		{ 'o', "output", OPTION_TEXT, &o.output, "FILE",
		  "where to (default: standard output)" },
		{ 'x', "executions", OPTION_FLAG, &o.executions, NULL,
		  "a row for each execution instead of one for each run" },
		{ 0, "study", OPTION_FLAG, &o.study, NULL, "all runs of the same command line" },
		{ 'u', "time-unit", OPTION_CHOICE, &o.unit, TIME_UNIT_CHOICES,
		  "unit of the times in tables" },
		{ 0, "lab", OPTION_TEXT, &o.lab, "FILE", "the lab to read (default: your own)" },
		{ 0 }
	};
	text_list names = { 0 };
	loaded_list list = { 0 };
	struct strbuf out = { 0 };
	int code = EXIT_DONE;
	if (cmd_options(
		    "tare export [OPTIONS] [RUN...]",
		    "Stored runs for other programs; JSON and CSV are supersets of hyperfine's.\n",
		    specs, argc, argv, &names, &code)) {
		struct error err = ERROR_INIT;
		if (cmd_load_runs(o.lab, &names, LAB_PROCESSES, o.study, &list, &err)) {
			code = cmd_fail(&err);
		} else {
			render(&list, &o, &out);
			if (file_write(o.output, strbuf_text(&out), out.length, &err))
				code = cmd_fail(&err);
		}
	}
	strbuf_release(&out);
	loaded_release(&list);
	array_release(&names);
	return code;
}
