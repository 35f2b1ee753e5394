#include <errno.h>
#ifdef TARE_STATIC
#include <nss.h>
#endif
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"

static const struct subcommand commands[] = {
	{ "time", cmd_time, WRITES_LAB, "measure how long commands take" },
	{ "duet", cmd_duet, WRITES_LAB,
	  "compare commands at once on one CPU: small differences, fast" },
	{ "query", cmd_query, LAB_BY_PART,
	  "how long database queries take, by the Tucson Timing Protocol" },
	{ "noise", cmd_noise, LAB_BY_PART, "who takes a CPU away, how often, for how long" },
	{ "profile", cmd_profile, LAB_BY_PART, "where the whole system spends its time" },
	{ "calibrate", cmd_calibrate, LAB_BY_PART,
	  "this machine's daemons, their periods and cutoffs" },
	{ "cutoffs", cmd_cutoffs, LAB_BY_PART, "the cutoffs in force: list, edit, export, import" },
	{ "quiet", cmd_quiet, NO_LAB, "make the machine quiet, and put everything back" },
	{ "doctor", cmd_doctor, NO_LAB,
	  "what on this machine spoils a measurement, and how to mend it" },
	{ "list", cmd_list, READS_LAB, "the runs in the lab" },
	{ "show", cmd_show, READS_LAB, "the result of a stored run" },
	{ "report", cmd_report, READS_LAB,
	  "stored runs as a page for a browser: pictures, in one file" },
	{ "serve", cmd_serve, READS_LAB, "the lab in a web browser, also while a run goes on" },
	{ "explain", cmd_explain, READS_LAB, "why the slow executions of a run were slow" },
	{ "compare", cmd_compare, READS_LAB, "stored runs against each other" },
	{ "emp", cmd_emp, READS_LAB, "a run by version of EMP, and by sample size" },
	{ "plot", cmd_plot, READS_LAB, "a figure for a paper, drawn by gnuplot" },
	{ "import", cmd_import, WRITES_LAB, "data measured elsewhere, as a run in the lab" },
	{ "export", cmd_export, READS_LAB,
	  "stored runs as JSON, CSV or Markdown; traces for Perfetto" },
	{ "rename", cmd_rename, EDITS_LAB, "give a run another name" },
	{ "tag", cmd_tag, EDITS_LAB, "give a run tags" },
	{ "rm", cmd_rm, EDITS_LAB, "remove runs" },
	{ "sql", cmd_sql, READS_LAB, "ask the lab in SQL" },
	{ "inc", cmd_inc, NO_LAB, "the papers' compute-bound program: a loop of known length" },
	{ "daemon", cmd_daemon, NO_LAB, "a disturbance of known size, to check what is found" },
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
		return cmd_version();
	bool help = strcmp(argv[1], "help") == 0;
	if (help && argc == 2) {
		usage(stdout);
		return EXIT_DONE;
	}
	const char *name = argv[help ? 2 : 1];
	char *asked[] = { (char *)name, (char *)"--help", NULL };
	for (const struct subcommand *c = commands; c->name; c++) {
		if (strcmp(name, c->name) != 0)
			continue;
		struct lab_access lab = { .need = c->lab };
		int code = help ? c->run(&lab, 2, asked) : c->run(&lab, argc - 1, argv + 1);
		lab_access_close(&lab);
		return code;
	}
	return cmd_unknown(commands, NULL, name, false);
}

int main(int argc, char **argv)
{
#ifdef TARE_STATIC
	/* Users from elsewhere come through libraries, which must be those of the same libc. */
	static const char *const databases[] = { "passwd", "group", "initgroups" };
	for (size_t i = 0; i < sizeof databases / sizeof *databases; i++)
		__nss_configure_lookup(databases[i], "files");
#endif
	cmd_quiet_recover();
	int code = run(argc, argv);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	struct error err = ERROR_INIT;
	error_set(&err, EXIT_ENVIRONMENT, "cannot write to standard output: %s", strerror(errno));
	return cmd_fail(&err);
}
