#include "measure/groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/guard.h"

enum { FIRST, SECOND, ALL, GROUPS };

struct groups {
	char own[CGROUP_PATH]; /* tare's */
	char path[GROUPS][CGROUP_PATH];
	bool leave;
};

int groups_open(struct groups **out, bool leave, struct error *err)
{
	struct groups *g = xcalloc(1, sizeof *g);
	g->leave = leave;
	if (!cgroup_own(g->own, sizeof g->own)) {
		free(g);
		return error_set(err, EXIT_ENVIRONMENT, "no cgroup v2 is mounted");
	}
	const char *guarded = guard_subjects_path();
	if (!guarded) {
		error_errno(err, EXIT_ENVIRONMENT, "cannot make a control group in %s", g->own);
		free(g);
		return -1;
	}
	snprintf(g->path[ALL], CGROUP_PATH, "%.450s/duet", guarded);
	for (int i = FIRST; i <= SECOND; i++)
		snprintf(g->path[i], CGROUP_PATH, "%.450s/duet/%d", guarded, i);
	if (mkdir(g->path[ALL], 0755) || mkdir(g->path[FIRST], 0755) ||
	    mkdir(g->path[SECOND], 0755)) {
		error_errno(err, EXIT_ENVIRONMENT, "cannot make a control group");
		groups_close(g);
		return -1;
	}
	*out = g;
	return 0;
}

void groups_close(struct groups *g)
{
	if (!g)
		return;
	cgroup_clear(g->path[ALL], g->leave ? g->own : NULL);
	free(g);
}

void groups_enter(const struct groups *g)
{
	if (g)
		guard_enter(g->path[ALL]);
}

const char *groups_of_subject(const struct groups *g, int subject)
{
	return g->path[subject];
}
