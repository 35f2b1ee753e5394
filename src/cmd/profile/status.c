/* tare profile status and stop: asking the collector in the background. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/profile/profile.h"
#include "run/control.h"

/* A run that is going although this user has no collector: another's, to whom it answers. */
static void hint_at_others(struct lab_access *in, struct error *err)
{
	struct error none = ERROR_INIT;
	struct lab *lab = lab_access_open(in, &none);
	FREED run_list runs = { 0 };
	if (lab)
		lab_list_runs(lab, NULL, 0, &runs, NULL, &none);
	for (size_t i = 0; i < runs.count; i++) {
		const struct run *run = &runs.items[i];
		if (run->kind == SUBJECT_SYSTEM && run->status == RUN_GOING && geteuid() != 0)
			error_hint(err,
				   "run %" PRId64 " is going: a collector that root started "
				   "answers root alone",
				   run->id);
		run_release(&runs.items[i]);
	}
}

/* "3 samples" */
static void print_count(long long count, const char *word)
{
	printf("%lld %s%s", count, word, count == 1 ? "" : "s");
}

static void print_status(const json_t *all)
{
	char rss[32], lab[32];
	text_bytes((double)control_number(all, "rss_bytes"), rss, sizeof rss);
	text_bytes((double)control_number(all, "lab_bytes"), lab, sizeof lab);
	printf("running: run %lld '%s', pid %lld, since %s\n", control_number(all, "run"),
	       DISPLAYED(control_text(all, "name"), 128), control_number(all, "pid"),
	       control_text(all, "since"));
	printf("  ");
	print_count(control_number(all, "samples"), "sample");
	printf(", %lld lost; ", control_number(all, "lost"));
	print_count(control_number(all, "stored"), "slice");
	printf(" stored");
	if (control_number(all, "held"))
		printf(", %lld held", control_number(all, "held"));
	if (control_number(all, "dropped"))
		printf(", %lld dropped", control_number(all, "dropped"));
	printf("\n  memory %s; lab %s, %s\n", rss, lab, DISPLAYED(control_text(all, "lab"), 256));
	if (*control_text(all, "error")) {
		char error[512];
		text_display(control_text(all, "error"), error, sizeof error);
		printf("  could not store: %s\n", error);
	}
}

struct ask_options {
	struct lab_access *lab;
	bool json, quiet;
};

/* NULL: an error. */
static json_t *ask(const struct ask_options *o, const char *word, const struct cmd_args *args,
		   struct error *err)
{
	if (args->operands.count) {
		error_set(err, EXIT_USAGE, "%s takes no operands, but was given '%s'",
			  args->argv[0], DISPLAYED(args->operands.items[0], 100));
		return NULL;
	}
	json_t *all = control_ask_lab(CONTROL_PROFILE, o->lab, word, err);
	if (!all && err->code == EXIT_CHECK)
		hint_at_others(o->lab, err);
	return all;
}

static int status(void *options, const struct cmd_args *args, struct error *err)
{
	const struct ask_options *o = options;
	json_t *all = ask(o, "status", args, err);
	if (!all && o->json && err->code == EXIT_CHECK) {
		puts("{\n  \"running\": false\n}");
		return EXIT_CHECK;
	}
	if (!all)
		return -1;
	if (o->json) {
		char *text = json_dumps(all, JSON_INDENT(2));
		puts(text ? text : "{}");
		free(text);
	} else {
		print_status(all);
	}
	json_decref(all);
	return EXIT_DONE;
}

static int stop(void *options, const struct cmd_args *args, struct error *err)
{
	const struct ask_options *o = options;
	json_t *all = ask(o, "stop", args, err);
	if (!all)
		return -1;
	long long run = control_number(all, "run");
	if (*control_text(all, "error")) {
		error_set(err, EXIT_ENVIRONMENT, "stopped; of run %lld not all is in the lab: %s",
			  run, control_text(all, "error"));
	} else if (!o->quiet) {
		printf("stopped: run %lld '%s', ", run, DISPLAYED(control_text(all, "name"), 128));
		print_count(control_number(all, "samples"), "sample");
		printf(" in ");
		print_count(control_number(all, "stored"), "slice");
		printf("\n'tare profile report %lld' shows it\n", run);
	}
	json_decref(all);
	return *err->text ? -1 : EXIT_DONE;
}

int profile_status(struct lab_access *lab, int argc, char **argv)
{
	struct ask_options o = { .lab = lab };
	struct option_spec specs[] = { { 0, "json", OPTION_FLAG, &o.json, NULL, "as JSON" },
				       { 0, "lab", OPTION_TEXT, &lab->file, "FILE",
					 "its lab (default: your own)" },
				       { 0 } };
	return cmd_run(
		"tare profile status [OPTIONS]",
		"Whether a collector is running, and what it has done. Exits with 1 when none\n"
		"is.\n",
		specs, argc, argv, status, &o);
}

int profile_stop(struct lab_access *lab, int argc, char **argv)
{
	struct ask_options o = { .lab = lab };
	struct option_spec specs[] = { { 'q', "quiet", OPTION_FLAG, &o.quiet, NULL, "say nothing" },
				       { 0, "lab", OPTION_TEXT, &lab->file, "FILE",
					 "its lab (default: your own)" },
				       { 0 } };
	return cmd_run("tare profile stop [OPTIONS]",
		       "Ends the collector, when everything it has is stored.\n", specs, argc, argv,
		       stop, &o);
}
