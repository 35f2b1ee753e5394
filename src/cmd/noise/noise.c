/* tare noise: who takes a CPU away, how often, for how long. */
#include "cmd/noise/noise.h"

#include "cmd/cmd.h"

static int run_record(struct lab_access *lab, int argc, char **argv)
{
	return noise_record(NOISE_RECORD, lab, argc, argv);
}

static int run_top(struct lab_access *lab, int argc, char **argv)
{
	return noise_record(NOISE_TOP, lab, argc, argv);
}

static int run_hist(struct lab_access *lab, int argc, char **argv)
{
	return noise_record(NOISE_HIST, lab, argc, argv);
}

int cmd_noise(struct lab_access *lab, int argc, char **argv)
{
	static const struct subcommand parts[] = {
		{ "record", run_record, WRITES_LAB },
		{ "top", run_top, WRITES_LAB },
		{ "hist", run_hist, WRITES_LAB },
		{ "show", noise_show, READS_LAB },
		{ "diff", noise_diff, READS_LAB },
		{ "selftest", noise_selftest, NO_LAB },
		{ 0 },
	};
	return cmd_parts(parts, false, lab, argc, argv);
}
