#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/query/query.h"
#include "cmd/view.h"
#include "report/core/format.h"
#include "report/time/explain.h"
#include "run/find.h"

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

/* Which Q@C it is, and whatever used the CPUs meanwhile. */
static void put_at(const struct query_executions *x, bool chosen, struct strbuf *out)
{
	const struct query_run *q = &x->of->queries;
	const struct paragraph p = { .width = (size_t)cmd_columns(), .first = "", .indent = 2 };
	SCOPED(strbuf_release) struct strbuf text = { 0 }, others = { 0 };
	const struct run_view view = query_executions_view(x);
	char count[WORDS];
	strbuf_printf(&text, "Query %u", x->at->query);
	if (x->at->cardinality) {
		format_count(x->at->cardinality, count);
		strbuf_printf(&text, " at %s", count);
	}
	if (!chosen && q->at.count > 1)
		strbuf_printf(&text, ", whose executions differ most of %zu Q@Cs", q->at.count);
	strbuf_putc(&text, '.');
	put_query_others(&view, &others);
	if (others.length)
		strbuf_printf(&text, " CPU time that others used beside it, in the mean: %s.",
			      strbuf_text(&others));
	put_paragraph(out, &p, strbuf_text(&text));
}

/* As explain(), of one Q@C: its dropped executions count as slow. */
static int explain_query(struct lab *lab, int64_t id, const char *which,
			 const struct explain_options *o, struct error *err)
{
	SCOPED(loaded_run_release) struct loaded_run l = { 0 };
	SCOPED(query_executions_release) struct query_executions x = { 0 };
	struct strbuf out = { 0 };
	struct explanation e;
	const struct query_at *at = NULL;
	if (run_load(&l, lab, id, NULL, err) ||
	    (which && query_find_at(&l.queries, which, &at, err)))
		return -1;
	if (!which && !(at = query_most_varied(&l)))
		return error_set(err, EXIT_USAGE, "run %lld has no execution that ended",
				 (long long)id);
	if (query_executions_load(lab, &l, at, &x, err))
		return -1;
	if (explain_run(x.list.items, x.list.count, &x.result, EXPLAIN_SLOW_ONES, &e, err)) {
		if (err->code == EXIT_ENVIRONMENT)
			error_hint(err, "measure again as root, where the bpf back end keeps one");
		return error_prefix(err, "run %lld", (long long)id);
	}
	const struct style style = cmd_style(o->unit);
	const struct run_view view = query_executions_view(&x);
	if (o->json) {
		explain_json(&view, &e, &out);
	} else {
		put_at(&x, which != NULL, &out);
		explain_text(&view, &e, o->all ? 0 : MOST_TOLD, &style, &out);
	}
	explanation_release(&e);
	cmd_print(&out);
	return EXIT_DONE;
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
	enum subject_kind kind = SUBJECT_COMMAND;
	int64_t id;
	struct error ignored = ERROR_INIT;
	struct lab *lab = lab_access_open(o->lab, err);
	if (!lab)
		return -1;
	if (!run_find_any(lab, words->count ? words->items[0] : "last",
			  LAB_OF(SUBJECT_COMMAND) | LAB_OF(SUBJECT_QUERY), &id, &kind, &ignored) &&
	    kind == SUBJECT_QUERY)
		return explain_query(lab, id, words->count > 1 ? words->items[1] : NULL, o, err);
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
		"median one, or why EXECUTION did, by its number. Of 'tare query': of the Q@C\n"
		"that varied most, or of the one named instead of EXECUTION, as 3 or 3@20000.\n",
		specs, argc, argv, run, &o);
}
