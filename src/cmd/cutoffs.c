#include "cmd/cmd.h"

int cmd_cutoffs(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return EXIT_ENVIRONMENT;
}
