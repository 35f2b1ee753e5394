/* tare profile: where the whole system spends its time. */
#include "cmd/profile/profile.h"

#include "cmd/cmd.h"

int cmd_profile(struct lab_access *lab, int argc, char **argv)
{
	static const struct subcommand parts[] = {
		{ "record", profile_record, WRITES_LAB },
		{ "start", profile_start, WRITES_LAB },
		{ "status", profile_status, READS_LAB },
		{ "stop", profile_stop, READS_LAB },
		{ "report", profile_report, READS_LAB },
		{ "diff", profile_diff, READS_LAB },
		{ "export", profile_to_other, READS_LAB },
		{ "selftest", profile_selftest, NO_LAB },
		{ 0 },
	};
	return cmd_parts(parts, true, lab, argc, argv);
}
