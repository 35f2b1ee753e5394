/* tare profile export: for other programs. */
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cmd/cmd.h"
#include "cmd/profile/profile.h"

struct other_options {
	int format; /* enum profile_format; PROFILE_NOT_GIVEN */
	struct lab_access *lab;
	const char *output;
	struct profile_filter_options filter;
};

static int export(void *options, const struct cmd_args *args, struct error *err)
{
	const struct other_options *o = options;
	SCOPED(loaded_run_release) struct loaded_run l = { 0 };
	SCOPED(strbuf_release) struct strbuf out = { 0 };
	if (args->operands.count > 1)
		return error_set(err, EXIT_USAGE, "profile export: one RUN, not %zu",
				 args->operands.count);
	if (o->format == PROFILE_NOT_GIVEN) {
		error_set(err, EXIT_USAGE, "profile export: which --format?");
		return error_hint(err, "pprof, folded, speedscope or firefox");
	}
	if (o->format == PROFILE_PPROF && strcmp(o->output, "-") == 0 && isatty(STDOUT_FILENO)) {
		error_set(err, EXIT_USAGE, "pprof's format is nothing for a terminal");
		return error_hint(err, "'--output FILE' writes it to a file");
	}
	if (profile_filter_check("profile export", &o->filter, err))
		return -1;
	struct lab *lab = lab_access_open(o->lab, err);
	const char *name = args->operands.count ? args->operands.items[0] : NULL;
	int failed = !lab || profile_load_named(&l, lab, name, &o->filter, err);
	if (!failed) {
		const struct profile_subject subject = loaded_profile(&l);
		const struct sleepy_filter filter = profile_filter_make(&o->filter);
		profile_export(&subject, &filter, (enum profile_format)o->format, &out);
		failed = file_write(o->output, strbuf_text(&out), out.length, err);
	}
	return failed ? -1 : EXIT_DONE;
}

int profile_to_other(struct lab_access *lab, int argc, char **argv)
{
	struct other_options o = { .format = PROFILE_NOT_GIVEN,
				   .output = "-",
				   .lab = lab,
				   .filter.instance = PROFILE_NOT_GIVEN };
	const struct option_spec own[] = {
		{ 'f', "format", OPTION_CHOICE, &o.format, "pprof|folded|speedscope|firefox",
		  "whose format" },
		{ 'o', "output", OPTION_TEXT, &o.output, "FILE",
		  "where to (default: standard output)" },
		{ 0, "lab", OPTION_TEXT, &lab->file, "FILE", "the lab (default: your own)" },
	};
	FREED spec_list specs = { 0 };
	cmd_add_specs(&specs, own, sizeof own / sizeof *own);
	profile_filter_specs(&specs, &o.filter);
	array_push(&specs, (struct option_spec){ 0 });
	return cmd_run("tare profile export [OPTIONS] [RUN]",
		       "A stored profile for pprof, flamegraph.pl, speedscope or the Firefox\n"
		       "profiler; the default is the newest one.\n",
		       specs.items, argc, argv, export, &o);
}
