/* tare noise: who takes a CPU away, how often, for how long. */
#include "cmd/noise/noise.h"

#include "cmd/cmd.h"

int cmd_noise(struct lab_access *lab, int argc, char **argv)
{
	static const struct subcommand parts[] = {
		{ "record", noise_record, WRITES_LAB },
		{ "top", noise_record, WRITES_LAB },
		{ "hist", noise_record, WRITES_LAB },
		{ "show", noise_show, READS_LAB },
		{ "diff", noise_diff, READS_LAB },
		{ "selftest", noise_selftest, NO_LAB },
		{ 0 },
	};
	return cmd_parts(parts, false, lab, argc, argv);
}
