/* Options of `tare duet`, beyond those that it shares with `tare time`. Private to it. */
#ifndef TARE_CMD_TIME_DUET_H
#define TARE_CMD_TIME_DUET_H

#include "cmd/cmd.h"
#include "cmd/time/plan.h"

/* Without --precision, they are the same once the interval is within ± this share. */
#define DUET_SAME_WITHIN 0.002

struct duet_options {
	struct time_options *time;
	uint64_t max_time_ns, period_ns, turn_ns;
	long pairs;
	bool verbose;
	int way, measure; /* 0: chosen by tare; otherwise the enum + 1 */
	const char *git, *build;
	/* set by duet_git() */
	const char *const *directories; /* one per command; NULL: tare's */
	const char *revisions;
};
void duet_options_init(struct duet_options *d);

/* Measures and shows it; the exit code, or -1 with an error. */
int duet_session(struct time_options *o, const struct duet_options *d, const struct cmd_args *args,
		 struct error *err);
/* Builds two revisions in worktrees, compares them and removes them. */
int duet_git(struct duet_options *d, const struct cmd_args *args, struct error *err);

#endif
