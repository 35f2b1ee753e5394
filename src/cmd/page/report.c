/* tare report: runs as one page for a browser. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cmd/calibrate/cutoffs.h"
#include "cmd/cmd.h"
#include "cmd/page/page.h"
#include "cmd/view.h"
#include "run/find.h"

struct report_options {
	const char *output; /* NULL: standard output */
	struct lab_access *lab;
	const char *reference;
	const char *daemons; /* NULL: none; "": the newest study of this machine */
	bool together, json, no_cutoffs;
	int measure;
};

static bool is_listed(const id_list *list, int64_t id)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == id)
			return true;
	return false;
}

/* Each run is on the page once. */
static void add_run(id_list *list, int64_t id)
{
	if (!is_listed(list, id))
		array_push(list, id);
}

static int add_named(struct lab *lab, const char *name, bool together, id_list *list,
		     struct error *err)
{
	SCOPED(run_release) struct run run = { 0 };
	run_list runs = { 0 };
	int64_t id;
	if (run_find(lab, name, LAB_ALL_KINDS, &id, err))
		return -1;
	int failed = together && (lab_get_run(lab, id, &run, err) ||
				  lab_invocation_runs(lab, run.invocation, &runs, err));
	if (!together)
		add_run(list, id);
	for (size_t i = 0; i < runs.count; i++) {
		add_run(list, runs.items[i].id);
		run_release(&runs.items[i]);
	}
	array_release(&runs);
	return failed;
}

static int make_request(struct lab *lab, const struct report_options *o, const text_list *names,
			struct page_request *request, struct error *err)
{
	int64_t study = 0;
	if (o->daemons && *o->daemons && cutoffs_parse_study(o->daemons, &study, err))
		return -1;
	if (o->daemons)
		array_push(&request->studies, study);
	if (!names->count && !o->daemons &&
	    add_named(lab, "last", o->together, &request->runs, err))
		return -1;
	for (size_t i = 0; i < names->count; i++)
		if (add_named(lab, names->items[i], o->together, &request->runs, err))
			return -1;
	request->cutoffs = o->no_cutoffs ? CUTOFFS_NONE : CUTOFFS_OF_RUN;
	request->measure = compared_words[o->measure];
	if (!o->reference)
		return 0;
	if (run_find(lab, o->reference, LAB_OF(SUBJECT_COMMAND), &request->reference, err))
		return -1;
	if (is_listed(&request->runs, request->reference))
		return 0;
	error_set(err, EXIT_USAGE, "report: run %lld, the reference, is none of the runs given",
		  (long long)request->reference);
	return error_hint(err, "give it as a RUN, too");
}

static int write_page(const struct report_options *o, const struct page *p, struct error *err)
{
	SCOPED(strbuf_release) struct strbuf out = { 0 };
	const char *to = o->output ? o->output : "-";
	if (o->json) {
		page_json(p, &out);
		strbuf_putc(&out, '\n');
	} else {
		page_html(p, &out);
	}
	int failed = file_write(to, strbuf_text(&out), out.length, err);
	if (!failed && strcmp(to, "-") != 0 && isatty(STDERR_FILENO)) {
		char size[64], *shown = text_shell_quoted(to);
		text_bytes((double)out.length, size, sizeof(size));
		fprintf(stderr, "tare: wrote %s, %s\n", shown, size);
		free(shown);
	}
	return failed;
}

static int report(void *options, const struct cmd_args *args, struct error *err)
{
	const struct report_options *o = options;
	struct lab *lab = NULL;
	struct page *p = NULL;
	struct page_request request = { 0 };
	bool on_terminal = !o->output || strcmp(o->output, "-") == 0;
	if (on_terminal && !o->json && isatty(STDOUT_FILENO)) {
		error_set(err, EXIT_USAGE, "report: a page is nothing for a terminal");
		return error_hint(err, "'--output FILE.html' writes it to a file");
	}
	int failed = !(lab = lab_access_open(o->lab, err)) ||
		     make_request(lab, o, &args->operands, &request, err) ||
		     cmd_make_page(lab, &request, &p, err) || write_page(o, p, err);
	page_free(p);
	array_release(&request.runs);
	array_release(&request.studies);
	return failed ? -1 : EXIT_DONE;
}

int cmd_report(struct lab_access *lab, int argc, char **argv)
{
	struct report_options o = { .lab = lab };
	struct option_spec specs[] = {
		{ 'o', "output", OPTION_TEXT, &o.output, "FILE",
		  "where to; '-': standard output, unless it is a terminal" },
		{ 0, "study", OPTION_FLAG, &o.together, NULL, "all runs of the same command line" },
		{ 0, "reference", OPTION_TEXT, &o.reference, "RUN",
		  "the run the others are compared with (default: the first)" },
		{ 0, "daemons", OPTION_OPTIONAL, &o.daemons, "STUDY",
		  "a study of 'tare calibrate', by its number (default: this machine's newest)" },
		{ 0, "no-cutoffs", OPTION_FLAG, &o.no_cutoffs, NULL, "do not apply rule (I)" },
		{ 0, "measure", OPTION_CHOICE, &o.measure, COMPARED_TIMES,
		  "what to judge by (default: as they were made)" },
		{ 0, "json", OPTION_FLAG, &o.json, NULL, "what the page shows, as JSON" },
		LAB_OPTION(lab, "the lab to read"),
		{ 0 }
	};
	return cmd_run("tare report [OPTIONS] -o FILE.html [RUN...]",
		       "Stored runs of any kind (default: the newest) as one page for a browser:\n"
		       "pictures, tables and data in one file that needs nothing else.\n",
		       specs, argc, argv, report, &o);
}
