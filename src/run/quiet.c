#include "run/quiet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct quiet_options run_quiet_machine(void)
{
	return (struct quiet_options){ .root = getenv("TARE_QUIET_ROOT") };
}

int run_quiet_begin(struct run_quiet *q, int emp, struct error *err)
{
	struct quiet_options options = run_quiet_machine();
	struct quiet_status status;
	ARRAY(const char *) knobs = { 0 };
	if (quiet_look(&options, &status, err))
		return -1;
	if (status.quiet && !status.owner && !status.stale) {
		q->standing = true;
		return 0;
	}
	for (const struct quiet_knob *k = quiet_knobs; k->name; k++) {
		bool asked = false;
		for (int v = 1; v <= emp; v++) {
			char version[16];
			snprintf(version, sizeof version, "EMP v%d", v);
			asked |= strstr(k->source, version) != NULL;
		}
		if (asked)
			array_push(&knobs, k->name);
	}
	options.only = knobs.items;
	options.only_count = knobs.count;
	int failed = quiet_apply(&options, getpid(), &q->changes, err);
	array_release(&knobs);
	q->applied = !failed;
	return failed;
}

int run_quiet_end(struct run_quiet *q, struct error *err)
{
	struct quiet_options options = run_quiet_machine();
	quiet_list restored = { 0 };
	int failed = q->applied ? quiet_restore_own(&options, getpid(), &restored, err) : 0;
	q->applied = false;
	quiet_list_release(&restored);
	quiet_list_release(&q->changes);
	return failed;
}
