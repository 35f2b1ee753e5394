/* tare profile: where the whole system spends its time. */
#include "cmd/profile/profile.h"

#include "cmd/cmd.h"

int cmd_profile(int argc, char **argv)
{
	static const struct subcommand parts[] = {
		{ "record", profile_record, NULL },
		{ "start", profile_start, NULL },
		{ "status", profile_status, NULL },
		{ "stop", profile_stop, NULL },
		{ "report", profile_report, NULL },
		{ "diff", profile_diff, NULL },
		{ "export", profile_to_other, NULL },
		{ "selftest", profile_selftest, NULL },
		{ 0 },
	};
	return cmd_parts(parts, true, argc, argv);
}
