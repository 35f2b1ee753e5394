#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/kinds.h"
#include "cmd/query/query.h"
#include "cmd/view.h"
#include "run/find.h"

struct show_options {
	struct lab_access *lab;
	const char *execution; /* NULL: all of them */
	bool json, processes, executions, all, together, facts, ledger, counters, no_cutoffs;
	int unit, measure;
};

typedef void (*plot_fn)(const struct run_view *v, const struct style *s, struct strbuf *out);

/* On a screen that it does not fit into, the plot in its place. */
static void print_table(struct table *t, const struct run_view *v, plot_fn plot, bool all)
{
	const struct style style = cmd_plot_style();
	struct strbuf out = { 0 };
	if (all || !plot_wanted(&style, table_rows(t) + 1))
		cmd_print_table(t, TABLE_TEXT);
	else
		plot(v, &style, &out);
	cmd_print(&out);
	table_free(t);
}

static void print_pairs(const struct loaded_run *l, bool all)
{
	const struct duet_view v = loaded_duet(l);
	const struct style style = cmd_plot_style();
	struct strbuf out = { 0 };
	struct table *t = duet_pairs_table(&v);
	if (all || !plot_wanted(&style, table_rows(t) + 1))
		cmd_print_table(t, TABLE_TEXT);
	else
		plot_pairs(&v, &style, &out);
	cmd_print(&out);
	table_free(t);
}

/* Every process that ran while queries did. */
static int print_query_processes(struct lab *lab, int64_t id, bool all, struct error *err)
{
	SCOPED(loaded_run_release) struct loaded_run l = { 0 };
	SCOPED(query_executions_release) struct query_executions x = { 0 };
	if (run_load(&l, lab, id, NULL, err) || query_executions_load(lab, &l, NULL, &x, err))
		return -1;
	const struct run_view view = query_executions_view(&x);
	print_table(time_processes(&view), &view, plot_processes, all);
	return EXIT_DONE;
}

/* What of a run is more than its report. */
static int show_details(const loaded_list *list, const struct show_options *o, struct error *err)
{
	int failed = 0;
	FREED struct run_view *views = loaded_views(list);
	const struct style style = cmd_style(o->unit);
	struct strbuf out = { 0 };
	if (o->ledger) {
		for (size_t i = 0; i < list->count && !failed; i++) {
			if (i)
				strbuf_putc(&out, '\n');
			const struct loaded_run *l = &list->items[i];
			size_t only = LEDGER_OF_KEPT;
			failed = o->execution ? loaded_find_execution(l, "show", o->execution,
								      &only, err)
					      : 0;
			if (!failed && !time_ledger(&views[i], only, &style, &out))
				failed = loaded_no_ledger(l, only, err);
		}
	} else if (o->counters) {
		size_t first = 0, counted = 0;
		for (size_t i = 0; i < list->count; i++) {
			if (i)
				strbuf_putc(&out, '\n');
			if (!time_counters(&views[i], &views[first], &style, &out)) {
				strbuf_printf(&out, "run %lld: nothing was counted\n",
					      (long long)list->items[i].run.id);
				first += !counted;
				continue;
			}
			counted++;
		}
		if (!counted)
			failed = error_set(err, EXIT_ENVIRONMENT, "nothing was counted in run %lld",
					   (long long)list->items[0].run.id);
	} else if (o->processes) {
		for (size_t i = 0; i < list->count; i++)
			print_table(time_processes(&views[i]), &views[i], plot_processes, o->all);
	} else if (o->executions) {
		for (size_t i = 0; i < list->count; i++)
			print_table(time_executions_brief(&views[i]), &views[i], plot_executions,
				    o->all);
	} else {
		const struct machine *m = &list->items[0].machine;
		for (size_t i = 0; i < m->facts.count; i++)
			strbuf_printf(&out, "%s = %s\n", m->facts.items[i].key,
				      m->facts.items[i].value);
	}
	if (failed)
		strbuf_clear(&out);
	cmd_print(&out);
	return failed;
}

/* The run or runs, of whatever kind. */
static int show(void *options, const struct cmd_args *args, struct error *err)
{
	const struct show_options *o = options;
	const text_list *names = &args->operands;
	/* no option that is about executions */
	const bool plain = !o->processes && !o->executions && !o->together && !o->ledger &&
			   !o->counters && !o->facts && !o->no_cutoffs && !o->measure;
	const struct load_options how = { .detail = o->ledger ? LAB_THREADS : LAB_PROCESSES,
					  .cutoffs = o->no_cutoffs ? CUTOFFS_NONE : CUTOFFS_OF_RUN,
					  .measure = compared_words[o->measure] };
	/* a duet has pairs */
	const bool pairs = o->executions && !o->together && !o->no_cutoffs && !o->measure;
	const struct run_form form = { .as = o->json ? RUN_JSON : RUN_TEXT, .unit = o->unit };
	enum subject_kind kind = SUBJECT_COMMAND;
	/* the JSON has the ledger, with its threads when it is asked for */
	if ((o->json || o->ledger) + o->processes + o->executions + o->facts + o->counters > 1)
		return error_set(err, EXIT_USAGE,
				 "show: --json or --ledger, --counters, --processes, --executions "
				 "and --machine exclude each other");
	if (o->all && !o->processes && !o->executions)
		return error_set(err, EXIT_USAGE,
				 "show: --all goes with --processes or --executions");
	if (o->execution && (!o->ledger || o->json))
		return error_set(err, EXIT_USAGE,
				 "show: --execution goes with --ledger, and not with --json");
	struct lab *lab = lab_access_open(o->lab, err);
	SCOPED(loaded_release) loaded_list list = { 0 };
	struct strbuf out = { 0 };
	int64_t id = 0;
	int failed = lab ? 0 : -1;
	if (!failed && names->count <= 1)
		failed = run_find_any(lab, names->count ? names->items[0] : "last",
				      plain   ? LAB_ALL_KINDS
				      : pairs ? LAB_OF(SUBJECT_COMMAND) | LAB_OF(SUBJECT_DUET)
				      : o->processes && !o->together && !o->no_cutoffs
					      ? LAB_OF(SUBJECT_COMMAND) | LAB_OF(SUBJECT_QUERY)
					      : LAB_OF(SUBJECT_COMMAND),
				      &id, &kind, err);
	const struct run_kind *k = &run_kinds[kind];
	if (!failed && kind == SUBJECT_QUERY && names->count <= 1 && o->processes && !o->together &&
	    !o->no_cutoffs)
		return print_query_processes(lab, id, o->all, err);
	if (!failed && kind != SUBJECT_COMMAND && !plain && !(pairs && kind == SUBJECT_DUET)) {
		failed = error_set(
			err, EXIT_USAGE,
			"run %lld is %s: of show's options, only %s--json and --lab go with it",
			(long long)id, run_kind_words(kind),
			kind == SUBJECT_DUET	? "--executions, "
			: kind == SUBJECT_QUERY ? "--processes, "
						: "");
		if (kind != SUBJECT_DUET)
			error_hint(err, "'tare %s %lld' has options of its own",
				   run_kind_shower(kind), (long long)id);
	} else if (!failed && names->count > 1) {
		failed = cmd_load_runs(o->lab, names, o->together, &how, &list, err);
	} else if (!failed) {
		if (k->prepare)
			k->prepare(lab, id);
		failed = cmd_add_run(&list, lab, id, o->together, &how, err);
	}
	if (!failed && kind == SUBJECT_DUET && pairs)
		print_pairs(&list.items[0], o->all);
	else if (!failed && !o->json &&
		 (o->ledger || o->counters || o->processes || o->executions || o->facts))
		failed = show_details(&list, o, err);
	else if (!failed)
		k->render(&list, &form, &out);
	cmd_print(&out);
	return failed ? -1 : EXIT_DONE;
}

int cmd_show(struct lab_access *lab, int argc, char **argv)
{
	struct show_options o = { .lab = lab };
	struct option_spec specs[] = {
		{ 0, "study", OPTION_FLAG, &o.together, NULL,
		  "all runs of the same command line, compared" },
		{ 'p', "processes", OPTION_FLAG, &o.processes, NULL,
		  "every process that ran meanwhile, with its CPU time" },
		{ 'x', "executions", OPTION_FLAG, &o.executions, NULL,
		  "a row for each execution, or pair of a duet" },
		{ 'a', "all", OPTION_FLAG, &o.all, NULL,
		  "of these, every row, also where a plot would fit the screen" },
		{ 0, "ledger", OPTION_FLAG, &o.ledger, NULL,
		  "where every ns went, cause by cause" },
		{ 0, "counters", OPTION_FLAG, &o.counters, NULL,
		  "cycles, instructions, misses ..., of several runs with the difference" },
		{ 'e', "execution", OPTION_TEXT, &o.execution, "NUM",
		  "with --ledger: of this execution, with its threads" },
		{ 0, "no-cutoffs", OPTION_FLAG, &o.no_cutoffs, NULL, "do not apply rule (I)" },
		{ 0, "measure", OPTION_CHOICE, &o.measure, COMPARED_MEASURES,
		  "what to judge by (default: as it was made; see 'tare time --help')" },
		{ 0, "machine", OPTION_FLAG, &o.facts, NULL, "the facts of the machine it ran on" },
		{ 0, "json", OPTION_FLAG, &o.json, NULL, "everything, as JSON" },
		UNIT_OPTION(&o.unit, "unit of the times"),
		LAB_OPTION(lab, "the lab to read"),
		{ 0 }
	};
	return cmd_run(
		"tare show [OPTIONS] [RUN...]",
		"The result of a stored run: a number, a name, 'last' (the default), or @1 for\n"
		"the run before the last, @2 for the one before that ...\n",
		specs, argc, argv, show, &o);
}
