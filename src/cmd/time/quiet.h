/* Private to `tare time`: the machine made quiet around a run, by --quiet or --emp. */
#ifndef TARE_CMD_TIME_QUIET_H
#define TARE_CMD_TIME_QUIET_H

#include "cmd/time/plan.h"
#include "quiet/quiet.h"

struct time_quiet {
	bool asked;
	bool standing; /* quiet already, by a 'tare quiet' before: it is left as it is */
	bool applied;  /* what this tare changed, if anything, is to be put back */
	quiet_list changes;
};

/* Changes nothing unless the options ask for it. Signals must be blocked already (interrupt.h), or
 * one could end tare before it puts everything back. */
int time_quiet_begin(const struct time_options *o, struct time_quiet *q, struct error *err);
/* Puts back what was changed, and releases. */
int time_quiet_end(struct time_quiet *q, struct error *err);

/* For the conditions of the run: what was changed, was as wanted or refused; a new reference. NULL:
 * it was not asked for. */
struct json_t *time_quiet_json(const struct time_quiet *q);

#endif
