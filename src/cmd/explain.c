#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/view.h"
#include "report/explain.h"

#define MOST_TOLD 5

struct explain_options {
	const char *lab;
	bool json, all;
	int unit;
};

/* "7", or "w1" for a warm-up, to an index of the executions. */
static int find_execution(const struct loaded_run *l, const char *text, size_t *index,
			  struct error *err)
{
	bool warmup = *text == 'w';
	char shown[64];
	long number;
	uint32_t last = 0;
	text_display(text, shown, sizeof shown);
	if (!integer_parse(text + warmup, 1, INT_MAX, &number)) {
		error_set(err, EXIT_USAGE, "explain: '%s' is not the number of an execution",
			  shown);
		return error_hint(err, "give 1, 2, ..., or w1 for the first warm-up");
	}
	for (size_t i = 0; i < l->executions.count; i++) {
		const struct execution *x = &l->executions.items[i];
		if (x->warmup != warmup)
			continue;
		last = x->number > last ? x->number : last;
		if (x->number == (uint32_t)number) {
			*index = i;
			return 0;
		}
	}
	error_set(err, EXIT_USAGE, "run %lld has no %s %ld", (long long)l->run.id,
		  warmup ? "warm-up" : "execution", number);
	if (last)
		return error_hint(err, "it has 1 to %u; 'tare show --executions %lld' lists them",
				  last, (long long)l->run.id);
	return -1;
}

static int explain(const struct loaded_run *l, const struct run_view *view, const char *execution,
		   const struct explain_options *o, struct strbuf *out, struct error *err)
{
	size_t asked = EXPLAIN_SLOW_ONES;
	struct explanation e;
	if (execution && find_execution(l, execution, &asked, err))
		return -1;
	if (explain_run(l->executions.items, l->executions.count, &l->result, asked, &e, err))
		return error_prefix(err, "run %lld", (long long)l->run.id);
	struct time_style style = { .width = (size_t)cmd_columns(),
				    .colour = cmd_colour(),
				    .unit = (enum time_unit)o->unit };
	if (o->json)
		explain_json(view, &e, out);
	else
		explain_text(view, &e, o->all ? 0 : MOST_TOLD, &style, out);
	explanation_release(&e);
	return 0;
}

int cmd_explain(int argc, char **argv)
{
	struct explain_options o = { 0 };
	struct option_spec specs[] = {
		{ 'a', "all", OPTION_FLAG, &o.all, NULL,
		  "every slow execution, not only the slowest 5" },
		{ 0, "json", OPTION_FLAG, &o.json, NULL, "everything, as JSON" },
		{ 'u', "time-unit", OPTION_CHOICE, &o.unit, TIME_UNIT_CHOICES,
		  "unit of the times" },
		{ 0, "lab", OPTION_TEXT, &o.lab, "FILE", "the lab to read (default: your own)" },
		{ 0 }
	};
	text_list operands = { 0 }, names = { 0 };
	loaded_list list = { 0 };
	struct strbuf out = { 0 };
	struct error err = ERROR_INIT;
	int code = EXIT_DONE;
	if (cmd_options(
		    "tare explain [OPTIONS] [RUN [EXECUTION]]",
		    "Why the slow executions of a run (default: the newest) took longer than its\n"
		    "median one, or why EXECUTION did, by its number.\n",
		    specs, argc, argv, &operands, &code)) {
		if (operands.count)
			array_push(&names, operands.items[0]);
		int failed = 0;
		if (operands.count > 2)
			failed = error_set(&err, EXIT_USAGE,
					   "explain: at most a run and an execution, not %zu words",
					   operands.count);
		if (!failed)
			failed = cmd_load_runs(o.lab, &names, LAB_PROCESSES, false, &list, &err);
		if (!failed) {
			struct run_view *views = loaded_views(&list);
			failed = explain(&list.items[0], &views[0],
					 operands.count > 1 ? operands.items[1] : NULL, &o, &out,
					 &err);
			free(views);
		}
		if (failed)
			code = cmd_fail(&err);
		else
			fputs(strbuf_text(&out), stdout);
	}
	strbuf_release(&out);
	loaded_release(&list);
	array_release(&names);
	array_release(&operands);
	return code;
}
