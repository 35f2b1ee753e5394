#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cmd/cmd.h"
#include "cmd/kinds.h"
#include "cmd/view.h"
#include "report/export/perfetto.h"
#include "run/find.h"

#define NOT_GIVEN (-1)

static const enum run_form_as forms[] = { RUN_JSON,	RUN_CSV,     RUN_MARKDOWN,
					  RUN_ASCIIDOC, RUN_ORGMODE, RUN_TSV };
#define EXPORT_FORMATS "json|csv|markdown|asciidoc|orgmode|tsv"

struct export_options {
	struct lab_access *lab;
	const char *output;
	int format, unit; /* NOT_GIVEN */
	int measure;
	bool executions, together, perfetto;
};

static int check_perfetto(const struct export_options *o, const text_list *operands,
			  struct error *err)
{
	if (o->format != NOT_GIVEN || o->unit != NOT_GIVEN || o->executions || o->together ||
	    o->measure) {
		error_set(err, EXIT_USAGE, "--perfetto has one format, and is of one execution");
		return error_hint(err, "of the other options, only --output and --lab go with it");
	}
	if (operands->count > 2) {
		error_set(err, EXIT_USAGE, "--perfetto takes one run and one execution");
		return error_hint(err, "tare export --perfetto [RUN [EXECUTION]]");
	}
	if (strcmp(o->output, "-") == 0 && isatty(STDOUT_FILENO)) {
		error_set(err, EXIT_USAGE, "a trace is nothing for a terminal");
		return error_hint(err, "'--output FILE' writes it to a file");
	}
	return 0;
}

static void execution_title(const struct execution *x, char *out, size_t size)
{
	snprintf(out, size, "%s %" PRIu32, x->warmup ? "warm-up" : "execution", x->number);
}

/* An execution that has no trace; "": none of the run has. */
static void no_trace(const struct run *run, const char *execution, struct error *err)
{
	error_set(err, EXIT_USAGE, "%s%srun %lld has no trace", execution, *execution ? " of " : "",
		  (long long)run->id);
	error_hint(err, "'tare time --trace' records one");
}

/* The execution named, with its trace; or else the first that has one, measured ones first. NULL:
 * an error. */
static const struct execution *find_trace(struct lab *lab, const struct loaded_run *l,
					  const char *named, struct trace *t, struct error *err)
{
	char shown[64];
	size_t index;
	if (named) {
		if (loaded_find_execution(l, "export", named, &index, err))
			return NULL;
		const struct execution *x = &l->executions.items[index];
		if (lab_get_trace(lab, x->id, t, err))
			return NULL;
		if (t->present)
			return x;
		execution_title(x, shown, sizeof shown);
		no_trace(&l->run, shown, err);
		return NULL;
	}
	for (int warmup = 0; warmup < 2; warmup++)
		for (size_t i = 0; i < l->executions.count; i++) {
			const struct execution *x = &l->executions.items[i];
			if (x->warmup != warmup)
				continue;
			if (lab_get_trace(lab, x->id, t, err))
				return NULL;
			if (t->present)
				return x;
		}
	no_trace(&l->run, "", err);
	return NULL;
}

static int write_trace(const struct export_options *o, const struct run *run,
		       const struct execution *x, const struct trace *t, bool chosen,
		       struct error *err)
{
	char execution[32];
	SCOPED(strbuf_release) struct strbuf out = { 0 };
	execution_title(x, execution, sizeof execution);
	struct perfetto_title title = { .run = run->name ? run->name : run->command,
					.execution = execution,
					.started_at_ns = x->started_at_ns };
	if (x->ledger.present) {
		title.begin_ns = x->ledger.begin_ns;
		title.end_ns = x->ledger.end_ns;
	}
	perfetto_render(t, &title, &out);
	int failed = file_write(o->output, strbuf_text(&out), out.length, err);
	if (failed)
		return -1;
	if (!chosen)
		fprintf(stderr, "tare: this is %s of run %lld\n", execution, (long long)run->id);
	if (t->lost)
		fprintf(stderr, "tare: %" PRIu64 " events were lost: the trace has gaps\n",
			t->lost);
	return 0;
}

static int export_trace(const struct export_options *o, struct lab *lab, const char *run,
			const char *named, struct error *err)
{
	const struct load_options how = { .detail = LAB_PROCESSES };
	SCOPED(loaded_run_release) struct loaded_run l = { 0 };
	SCOPED(trace_release) struct trace t = { 0 };
	const struct execution *x = NULL;
	int64_t id;
	return run_find(lab, run, LAB_OF(SUBJECT_COMMAND), &id, err) ||
	       run_load(&l, lab, id, &how, err) || !(x = find_trace(lab, &l, named, &t, err)) ||
	       write_trace(o, &l.run, x, &t, named, err);
}

/* Whether what was asked for is among what its kind has; err NULL: only asked. */
static int check_kind(const struct export_options *o, const struct run_form *form,
		      enum subject_kind kind, int64_t id, struct error *err)
{
	const struct run_kind *k = &run_kinds[kind];
	unsigned has = o->executions ? k->of_executions : k->exports;
	bool of_commands = o->unit != NOT_GIVEN || o->together || o->measure;
	if (kind == SUBJECT_COMMAND || (has & (1u << form->as) && !of_commands))
		return 0;
	if (!err)
		return -1;
	error_set(err, EXIT_USAGE, "run %lld is %s: it goes out %s", (long long)id,
		  run_kind_words(kind), k->goes_out);
	if (kind == SUBJECT_CPU || kind == SUBJECT_DUET)
		return error_hint(err, "of the other options, only --output and --lab go with it");
	return error_hint(err, "'tare %s %lld' has %s of its own",
			  kind == SUBJECT_SYSTEM ? "profile export" : run_kind_shower(kind),
			  (long long)id, kind == SUBJECT_SYSTEM ? "formats" : "options");
}

static int export_runs(void *options, const struct cmd_args *args, struct error *err)
{
	const struct export_options *o = options;
	const text_list *operands = &args->operands;
	const struct run_form form = { .as = o->perfetto	      ? RUN_PERFETTO
					     : o->format == NOT_GIVEN ? RUN_JSON
								      : forms[o->format],
				       .executions = o->executions,
				       .exported = true,
				       .unit = o->unit == NOT_GIVEN ? 0 : o->unit };
	const struct load_options how = { .detail = LAB_PROCESSES,
					  .measure = compared_words[o->measure] };
	const char *first = operands->count ? operands->items[0] : "last";
	enum subject_kind kind = SUBJECT_COMMAND;
	unsigned kinds = 0;
	int64_t id = 0;
	for (int k = 0; k < SUBJECT_KINDS; k++)
		if (!check_kind(o, &form, (enum subject_kind)k, 0, NULL))
			kinds |= LAB_OF(k);
	if (o->perfetto && check_perfetto(o, operands, err))
		return -1;
	struct lab *lab = lab_access_open(o->lab, err);
	if (!lab || (operands->count <= 1 && (run_find_any(lab, first, kinds, &id, &kind, err) ||
					      check_kind(o, &form, kind, id, err))))
		return -1;
	if (o->perfetto && kind == SUBJECT_COMMAND)
		return export_trace(o, lab, first, operands->count > 1 ? operands->items[1] : NULL,
				    err)
			       ? -1
			       : EXIT_DONE;
	SCOPED(loaded_release) loaded_list list = { 0 };
	SCOPED(strbuf_release) struct strbuf out = { 0 };
	if (run_kinds[kind].prepare)
		run_kinds[kind].prepare(lab, id);
	int failed = operands->count > 1
			     ? cmd_load_runs(o->lab, operands, o->together, &how, &list, err)
			     : cmd_add_run(&list, lab, id, o->together, &how, err);
	if (!failed) {
		run_kinds[kind].render(&list, &form, &out);
		failed = file_write(o->output, strbuf_text(&out), out.length, err);
	}
	return failed ? -1 : EXIT_DONE;
}

int cmd_export(struct lab_access *lab, int argc, char **argv)
{
	struct export_options o = {
		.lab = lab, .output = "-", .format = NOT_GIVEN, .unit = NOT_GIVEN
	};
	struct option_spec specs[] = {
		{ 'f', "format", OPTION_CHOICE, &o.format, EXPORT_FORMATS,
		  "the format (default: json)" },
		{ 'o', "output", OPTION_TEXT, &o.output, "FILE",
		  "where to (default: standard output)" },
		{ 'x', "executions", OPTION_FLAG, &o.executions, NULL,
		  "a row for each execution instead of one for each run" },
		{ 0, "study", OPTION_FLAG, &o.together, NULL, "all runs of the same command line" },
		{ 'u', "time-unit", OPTION_CHOICE, &o.unit, TIME_UNIT_CHOICES,
		  "unit of the times in tables", .also = TIME_UNIT_SHORT },
		{ 0, "measure", OPTION_CHOICE, &o.measure, COMPARED_TIMES,
		  "what to judge by (default: as it was made)" },
		{ 0, "perfetto", OPTION_FLAG, &o.perfetto, NULL,
		  "the trace of one execution, for ui.perfetto.dev" },
		LAB_OPTION(lab, "the lab to read"),
		{ 0 }
	};
	return cmd_run(
		"tare export [OPTIONS] [RUN...]\n"
		"       tare export --perfetto [-o FILE] [RUN [EXECUTION]]",
		"Stored runs for other programs; JSON and CSV are supersets of hyperfine's.\n",
		specs, argc, argv, export_runs, &o);
}
