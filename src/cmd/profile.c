/* tare profile: where the whole system spends its time. */
#include "cmd/profile.h"

#include <string.h>

#include "base/text.h"
#include "cmd/cmd.h"

static const struct {
	const char *name, *title;
	int (*run)(int argc, char **argv);
} subcommands[] = {
	{ "record", "profile record", profile_record },
	{ "start", "profile start", profile_start },
	{ "status", "profile status", profile_status },
	{ "stop", "profile stop", profile_stop },
	{ "report", "profile report", profile_report },
	{ "diff", "profile diff", profile_diff },
	{ "export", "profile export", profile_to_other },
	{ "selftest", "profile selftest", profile_selftest },
};
#define SUBCOMMANDS (sizeof subcommands / sizeof *subcommands)

static int unknown(const char *word)
{
	struct error err = ERROR_INIT;
	const char *names[SUBCOMMANDS + 1] = { NULL };
	char shown[128];
	for (size_t i = 0; i < SUBCOMMANDS; i++)
		names[i] = subcommands[i].name;
	const char *near = nearest_word(word, names);
	text_display(word, shown, sizeof shown);
	error_set(&err, EXIT_USAGE, "profile: unknown subcommand '%s'", shown);
	if (near)
		error_hint(&err, "did you mean 'tare profile %s'?", near);
	else
		error_hint(&err, "a command to be profiled comes after --: 'tare profile -- %s'",
			   shown);
	return cmd_fail(&err);
}

int cmd_profile(int argc, char **argv)
{
	if (argc < 2 || argv[1][0] == '-')
		return profile_record(argc, argv);
	for (size_t i = 0; i < SUBCOMMANDS; i++) {
		if (strcmp(argv[1], subcommands[i].name) != 0)
			continue;
		/* messages name a command by its first word */
		char *was = argv[1];
		argv[1] = (char *)subcommands[i].title;
		int code = subcommands[i].run(argc - 1, argv + 1);
		argv[1] = was;
		return code;
	}
	return unknown(argv[1]);
}
