#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cmd/cmd.h"

static const struct subcommand commands[] = {
	{ "time", cmd_time, "measure how long commands take" },
	{ "query", cmd_query, "how long database queries take, by the Tucson Timing Protocol" },
	{ "noise", cmd_noise, "who takes a CPU away, how often, for how long" },
	{ "profile", cmd_profile, "where the whole system spends its time" },
	{ "calibrate", cmd_calibrate, "this machine's daemons, their periods and cutoffs" },
	{ "cutoffs", cmd_cutoffs, "the cutoffs in force: list, edit, export, import" },
	{ "quiet", cmd_quiet, "make the machine quiet, and put everything back" },
	{ "doctor", cmd_doctor, "what on this machine spoils a measurement, and how to mend it" },
	{ "list", cmd_list, "the runs in the lab" },
	{ "show", cmd_show, "the result of a stored run" },
	{ "report", cmd_report, "stored runs as a page for a browser: pictures, in one file" },
	{ "serve", cmd_serve, "the lab in a web browser, also while a run goes on" },
	{ "explain", cmd_explain, "why the slow executions of a run were slow" },
	{ "compare", cmd_compare, "stored runs against each other" },
	{ "emp", cmd_emp, "a run by version of EMP, and by sample size" },
	{ "plot", cmd_plot, "a figure for a paper, drawn by gnuplot" },
	{ "import", cmd_import, "data measured elsewhere, as a run in the lab" },
	{ "export", cmd_export, "stored runs as JSON, CSV or Markdown; traces for Perfetto" },
	{ "rename", cmd_rename, "give a run another name" },
	{ "tag", cmd_tag, "give a run tags" },
	{ "rm", cmd_rm, "remove runs" },
	{ "sql", cmd_sql, "ask the lab in SQL" },
	{ "inc", cmd_inc, "the papers' compute-bound program: a loop of known length" },
	{ "daemon", cmd_daemon, "a disturbance of known size, to check what is found" },
	{ 0 },
};

static void usage(FILE *to)
{
	fputs("Usage: tare COMMAND [OPTIONS] ...\n"
	      "How long did it really take, and what took the rest?\n\n",
	      to);
	for (const struct subcommand *c = commands; c->name; c++)
		fprintf(to, "  %-10s %s\n", c->name, c->summary);
	fputs("\n'tare COMMAND --help' tells more; 'man tare' tells all.\n", to);
}

static int unknown(const char *word)
{
	struct error err = ERROR_INIT;
	const char *names[sizeof commands / sizeof *commands] = { NULL };
	for (size_t i = 0; commands[i].name; i++)
		names[i] = commands[i].name;
	const char *near = nearest_word(word, names);
	char shown[128];
	text_display(word, shown, sizeof shown);
	error_set(&err, EXIT_USAGE, "unknown command '%s'", shown);
	if (near)
		error_hint(&err, "did you mean 'tare %s'?", near);
	else
		error_hint(&err, "'tare --help' lists the commands");
	return cmd_fail(&err);
}

static int run(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		usage(stdout);
		return EXIT_DONE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
		return cmd_version(argc - 1, argv + 1);
	bool help = strcmp(argv[1], "help") == 0;
	if (help && argc == 2) {
		usage(stdout);
		return EXIT_DONE;
	}
	const char *name = argv[help ? 2 : 1];
	char *asked[] = { (char *)name, (char *)"--help", NULL };
	for (const struct subcommand *c = commands; c->name; c++)
		if (strcmp(name, c->name) == 0)
			return help ? c->run(2, asked) : c->run(argc - 1, argv + 1);
	return unknown(name);
}

int main(int argc, char **argv)
{
	cmd_quiet_recover();
	int code = run(argc, argv);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	struct error err = ERROR_INIT;
	error_set(&err, EXIT_ENVIRONMENT, "cannot write to standard output: %s", strerror(errno));
	return cmd_fail(&err);
}
