#include "cmd/cmd.h"

int cmd_import(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return EXIT_ENVIRONMENT;
}
