/* What the processes of each name used over the executions of a run. Private to report/. */
#ifndef TARE_REPORT_TIME_SHARES_H
#define TARE_REPORT_TIME_SHARES_H

#include "base/array.h"
#include "report/time/report.h"

struct share {
	const char *name; /* borrowed from the executions */
	enum role role;
	size_t executions, processes, started, ended; /* executions with it; its processes; those
							 that started or ended during one */
	bool exec_seen;				      /* known in at least one of them */
	uint64_t exec_ns, exec_max_ns;		      /* in all; the most in one execution */
	uint64_t current_ns;			      /* scratch: in the execution being added */
	size_t last; /* scratch: the execution it was last seen in */
};

struct shares {
	ARRAY(struct share) list; /* subject, daemons, self; each by exec descending */
	size_t executions;	  /* measured executions whose processes are loaded */
	uint64_t window_ns;	  /* sum of their ET, or of the tree's time if that is longer */
};

void shares_of(const struct run_view *view, struct shares *out);
void shares_release(struct shares *s);

#endif
