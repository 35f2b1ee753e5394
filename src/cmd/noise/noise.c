/* tare noise: who takes a CPU away, how often, for how long. */
#include "cmd/noise/noise.h"

#include "cmd/cmd.h"

static int run_record(int argc, char **argv)
{
	return noise_record(NOISE_RECORD, argc, argv);
}

static int run_top(int argc, char **argv)
{
	return noise_record(NOISE_TOP, argc, argv);
}

static int run_hist(int argc, char **argv)
{
	return noise_record(NOISE_HIST, argc, argv);
}

int cmd_noise(int argc, char **argv)
{
	static const struct subcommand parts[] = {
		{ "record", run_record, NULL },
		{ "top", run_top, NULL },
		{ "hist", run_hist, NULL },
		{ "show", noise_show, NULL },
		{ "diff", noise_diff, NULL },
		{ "selftest", noise_selftest, NULL },
		{ 0 },
	};
	return cmd_parts(parts, false, argc, argv);
}
