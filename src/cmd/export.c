#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/noise/noise.h"
#include "cmd/profile/profile.h"
#include "cmd/query/query.h"
#include "cmd/view.h"
#include "report/export/perfetto.h"

#define NOT_GIVEN (-1)

enum export_format { AS_JSON, AS_CSV, AS_MARKDOWN, AS_ASCIIDOC, AS_ORGMODE, AS_TSV };
#define EXPORT_FORMATS "json|csv|markdown|asciidoc|orgmode|tsv"

struct export_options {
	struct lab_access *lab;
	const char *output;
	int format, unit; /* NOT_GIVEN */
	bool executions, study, perfetto;
};

static void render(const loaded_list *list, const struct export_options *o, struct strbuf *out)
{
	static const enum table_format formats[] = { TABLE_JSON,     TABLE_CSV,	    TABLE_MARKDOWN,
						     TABLE_ASCIIDOC, TABLE_ORGMODE, TABLE_TSV };
	struct run_view *views = loaded_views(list);
	struct style style = { .unit = o->unit == NOT_GIVEN ? 0 : (enum time_unit)o->unit };
	int format = o->format == NOT_GIVEN ? AS_JSON : o->format;
	if (o->executions) {
		struct table *t = time_executions(views, list->count);
		table_render(t, formats[format], NULL, out);
		table_free(t);
	} else if (format == AS_JSON) {
		time_json(views, list->count, 0, out);
	} else if (format == AS_CSV) {
		time_csv(views, list->count, out);
	} else {
		time_markup(views, list->count, 0, &style, formats[format], out);
	}
	free(views);
}

static int export_runs(const struct export_options *o, const text_list *names, struct error *err)
{
	loaded_list list = { 0 };
	struct strbuf out = { 0 };
	int failed = cmd_load_runs(o->lab, names, LAB_PROCESSES, o->study, &list, err);
	if (!failed) {
		render(&list, o, &out);
		failed = file_write(o->output, strbuf_text(&out), out.length, err);
	}
	strbuf_release(&out);
	loaded_release(&list);
	return failed;
}

static int check_perfetto(const struct export_options *o, const text_list *operands,
			  struct error *err)
{
	if (o->format != NOT_GIVEN || o->unit != NOT_GIVEN || o->executions || o->study) {
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

/* "3", or "w1" for a warm-up. */
static const struct execution *find_execution(const execution_list *list, const char *text)
{
	bool warmup = *text == 'w';
	char *end;
	const char *digits = text + warmup;
	unsigned long number = *digits >= '0' && *digits <= '9' ? strtoul(digits, &end, 10) : 0;
	for (size_t i = 0; number && !*end && i < list->count; i++)
		if (list->items[i].number == number && list->items[i].warmup == warmup)
			return &list->items[i];
	return NULL;
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
static const struct execution *find_trace(struct lab *lab, const struct run *run,
					  const execution_list *list, const char *named,
					  struct trace *t, struct error *err)
{
	char shown[64];
	if (named) {
		const struct execution *x = find_execution(list, named);
		if (!x) {
			text_display(named, shown, sizeof shown);
			error_set(err, EXIT_USAGE, "run %lld has no execution '%s'",
				  (long long)run->id, shown);
			error_hint(err, "'tare show --executions %lld' lists them",
				   (long long)run->id);
			return NULL;
		}
		if (lab_get_trace(lab, x->id, t, err))
			return NULL;
		if (t->present)
			return x;
		execution_title(x, shown, sizeof shown);
		no_trace(run, shown, err);
		return NULL;
	}
	for (int warmup = 0; warmup < 2; warmup++)
		for (size_t i = 0; i < list->count; i++) {
			const struct execution *x = &list->items[i];
			if (x->warmup != warmup)
				continue;
			if (lab_get_trace(lab, x->id, t, err))
				return NULL;
			if (t->present)
				return x;
		}
	no_trace(run, "", err);
	return NULL;
}

static int write_trace(const struct export_options *o, const struct run *run,
		       const struct execution *x, const struct trace *t, bool chosen,
		       struct error *err)
{
	char execution[32];
	struct strbuf out = { 0 };
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
	strbuf_release(&out);
	if (failed)
		return -1;
	if (!chosen)
		fprintf(stderr, "tare: this is %s of run %lld\n", execution, (long long)run->id);
	if (t->lost)
		fprintf(stderr, "tare: %" PRIu64 " events were lost: the trace has gaps\n",
			t->lost);
	return 0;
}

static int export_trace(const struct export_options *o, const text_list *operands,
			struct error *err)
{
	struct lab *lab = NULL;
	struct run run = { 0 };
	struct trace t = { 0 };
	execution_list list = { 0 };
	const struct execution *x = NULL;
	int64_t id;
	const char *named = operands->count > 1 ? operands->items[1] : NULL;
	int failed = check_perfetto(o, operands, err) || !(lab = lab_access_open(o->lab, err)) ||
		     cmd_find_run(lab, operands->count ? operands->items[0] : "last", &id, err) ||
		     lab_get_run(lab, id, &run, err) ||
		     lab_get_executions(lab, id, LAB_PROCESSES, &list, err) ||
		     !(x = find_trace(lab, &run, &list, named, &t, err)) ||
		     write_trace(o, &run, x, &t, named, err);
	for (size_t i = 0; i < list.count; i++)
		execution_release(&list.items[i]);
	array_release(&list);
	trace_release(&t);
	run_release(&run);
	return failed;
}

/* A run of `tare noise`: its own JSON, its sources as CSV, its longest detours as a trace. */
static int export_noise(const struct export_options *o, const text_list *operands, int64_t run,
			struct error *err)
{
	bool json = o->format == AS_JSON || o->format == NOT_GIVEN;
	if (o->perfetto && check_perfetto(o, operands, err))
		return -1;
	if ((!json && o->format != AS_CSV) || o->unit != NOT_GIVEN || o->executions || o->study) {
		error_set(
			err, EXIT_USAGE,
			"run %lld is one of 'tare noise': it goes out as JSON, as CSV or with --perfetto",
			(long long)run);
		return error_hint(err, "of the other options, only --output and --lab go with it");
	}
	return noise_export(o->lab->open, run,
			    o->perfetto ? NOISE_AS_PERFETTO
			    : json	? NOISE_AS_JSON
					: NOISE_AS_CSV,
			    o->output, err);
}

/* A profile: its own JSON, or its functions as CSV. */
static int export_profile(const struct export_options *o, int64_t run, struct error *err)
{
	bool json = o->format == AS_JSON || o->format == NOT_GIVEN;
	if (o->perfetto || (!json && o->format != AS_CSV) || o->unit != NOT_GIVEN ||
	    o->executions || o->study) {
		error_set(err, EXIT_USAGE, "run %lld is a profile: it goes out as JSON or as CSV",
			  (long long)run);
		return error_hint(err, "'tare profile export %lld' has formats of its own",
				  (long long)run);
	}
	return profile_export_stored(o->lab->open, run, json, o->output, err);
}

/* Queries: their own JSON, or a row per Q@C (or execution) as CSV. */
static int export_query(const struct export_options *o, int64_t run, struct error *err)
{
	bool json = o->format == AS_JSON || o->format == NOT_GIVEN, csv = o->format == AS_CSV;
	bool markdown = o->format == AS_MARKDOWN;
	const struct query_display d = {
		.silent = true,
		.export_json = json ? o->output : NULL,
		.export_csv = csv && !o->executions ? o->output : NULL,
		.export_executions = csv && o->executions ? o->output : NULL,
		.export_markdown = markdown ? o->output : NULL,
	};
	if (!o->perfetto && (json || csv || markdown) && o->unit == NOT_GIVEN && !o->study &&
	    (!o->executions || csv))
		return query_show_stored(o->lab->open, run, &d, err);
	error_set(err, EXIT_USAGE,
		  "run %lld is one of 'tare query': it goes out as JSON, CSV or Markdown",
		  (long long)run);
	return error_hint(err, "'tare query report %lld' has options of its own", (long long)run);
}

int cmd_export(struct lab_access *lab, int argc, char **argv)
{
	struct export_options o = {
		.lab = lab, .output = "-", .format = NOT_GIVEN, .unit = NOT_GIVEN
	};
	struct option_spec specs[] = { { 'f', "format", OPTION_CHOICE, &o.format, EXPORT_FORMATS,
					 "the format (default: json)" },
				       { 'o', "output", OPTION_TEXT, &o.output, "FILE",
					 "where to (default: standard output)" },
				       { 'x', "executions", OPTION_FLAG, &o.executions, NULL,
					 "a row for each execution instead of one for each run" },
				       { 0, "study", OPTION_FLAG, &o.study, NULL,
					 "all runs of the same command line" },
				       { 'u', "time-unit", OPTION_CHOICE, &o.unit,
					 TIME_UNIT_CHOICES, "unit of the times in tables" },
				       { 0, "perfetto", OPTION_FLAG, &o.perfetto, NULL,
					 "the trace of one execution, for ui.perfetto.dev" },
				       { 0, "lab", OPTION_TEXT, &lab->file, "FILE",
					 "the lab to read (default: your own)" },
				       { 0 } };
	text_list operands = { 0 };
	int code = EXIT_DONE;
	if (cmd_options(
		    "tare export [OPTIONS] [RUN...]\n"
		    "       tare export --perfetto [-o FILE] [RUN [EXECUTION]]",
		    "Stored runs for other programs; JSON and CSV are supersets of hyperfine's.\n",
		    specs, argc, argv, &operands, &code)) {
		struct error err = ERROR_INIT;
		int64_t noise, profile, query;
		if (!lab_access_open(lab, &err) ||
		    (cmd_run_is_of(SUBJECT_CPU, lab->open, &operands, &noise)
			     ? export_noise(&o, &operands, noise, &err)
		     : cmd_run_is_of(SUBJECT_SYSTEM, lab->open, &operands, &profile)
			     ? export_profile(&o, profile, &err)
		     : cmd_run_is_of(SUBJECT_QUERY, lab->open, &operands, &query)
			     ? export_query(&o, query, &err)
		     : o.perfetto ? export_trace(&o, &operands, &err)
				  : export_runs(&o, &operands, &err)))
			code = cmd_fail(&err);
	}
	array_release(&operands);
	return code;
}
