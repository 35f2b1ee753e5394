#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/view.h"
#include "report/time/explain.h"

#define MOST_TOLD 5

struct explain_options {
	struct lab_access *lab;
	bool json, all;
	int unit;
};

static int explain(const struct loaded_run *l, const struct run_view *view, const char *execution,
		   const struct explain_options *o, struct strbuf *out, struct error *err)
{
	size_t asked = EXPLAIN_SLOW_ONES;
	struct explanation e;
	bool any = false;
	for (size_t i = 0; i < l->executions.count; i++)
		any |= l->executions.items[i].ledger.present;
	if (execution && loaded_find_execution(l, "explain", execution, &asked, err))
		return -1;
	if (!any)
		return loaded_no_ledger(l, LEDGER_OF_KEPT, err);
	if (explain_run(l->executions.items, l->executions.count, &l->result, asked, &e, err))
		return error_prefix(err, "run %lld", (long long)l->run.id);
	if (execution && !e.list.count) {
		explanation_release(&e);
		error_set(err, EXIT_USAGE,
			  "run %lld: execution %s is the median one, with which the others are "
			  "compared",
			  (long long)l->run.id, execution);
		return error_hint(err, "'tare show --ledger -e %s %lld' tells where its time went",
				  execution, (long long)l->run.id);
	}
	const struct style style = cmd_style(o->unit);
	if (o->json)
		explain_json(view, &e, out);
	else
		explain_text(view, &e, o->all ? 0 : MOST_TOLD, &style, out);
	explanation_release(&e);
	return 0;
}

static int run(void *options, const struct cmd_args *args, struct error *err)
{
	const struct explain_options *o = options;
	const struct load_options how = { .detail = LAB_PROCESSES };
	const text_list *words = &args->operands;
	text_list names = { 0 };
	SCOPED(loaded_release) loaded_list list = { 0 };
	struct strbuf out = { 0 };
	if (words->count > 2)
		return error_set(err, EXIT_USAGE,
				 "explain: at most a run and an execution, not %zu words",
				 words->count);
	if (words->count)
		array_push(&names, words->items[0]);
	int failed = cmd_load_runs(o->lab, &names, false, &how, &list, err);
	if (!failed) {
		FREED struct run_view *views = loaded_views(&list);
		failed = explain(&list.items[0], &views[0],
				 words->count > 1 ? words->items[1] : NULL, o, &out, err);
	}
	cmd_print(&out);
	array_release(&names);
	return failed ? -1 : EXIT_DONE;
}

int cmd_explain(struct lab_access *lab, int argc, char **argv)
{
	struct explain_options o = { .lab = lab };
	struct option_spec specs[] = { { 'a', "all", OPTION_FLAG, &o.all, NULL,
					 "every slow execution, not only the slowest 5" },
				       { 0, "json", OPTION_FLAG, &o.json, NULL,
					 "everything, as JSON" },
				       UNIT_OPTION(&o.unit, "unit of the times"),
				       LAB_OPTION(lab, "the lab to read"),
				       { 0 } };
	return cmd_run(
		"tare explain [OPTIONS] [RUN [EXECUTION]]",
		"Why the slow executions of a run (default: the newest) took longer than its\n"
		"median one, or why EXECUTION did, by its number.\n",
		specs, argc, argv, run, &o);
}
