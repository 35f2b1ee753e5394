#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"

static const struct command commands[] = {
	{ "doctor", cmd_doctor, "what about this machine will disturb a measurement" },
	{ 0 },
};

static void usage(FILE *to)
{
	fputs("Usage: tare COMMAND [OPTIONS] ...\n"
	      "How long did it really take, and what took the rest?\n\n",
	      to);
	for (const struct command *c = commands; c->name; c++)
		fprintf(to, "  %-10s %s\n", c->name, c->summary);
	fputs("\n'tare COMMAND --help' tells more; 'man tare' tells all.\n", to);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		usage(stdout);
		return EXIT_DONE;
	}
	for (const struct command *c = commands; c->name; c++)
		if (strcmp(argv[1], c->name) == 0)
			return c->run(argc - 1, argv + 1);
	struct error err = ERROR_INIT;
	error_set(&err, EXIT_USAGE, "unknown command '%.100s'", argv[1]);
	error_hint(&err, "'tare --help' lists the commands");
	return cmd_fail(&err);
}
