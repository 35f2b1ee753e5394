#include "cmd/cmd.h"

int cmd_quiet(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return EXIT_ENVIRONMENT;
}
