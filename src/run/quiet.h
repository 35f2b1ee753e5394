/* Makes the machine quiet during a run and restores it. */
#ifndef TARE_RUN_QUIET_H
#define TARE_RUN_QUIET_H

#include "quiet/quiet.h"

struct run_quiet {
	bool standing; /* an earlier 'tare quiet' made it quiet; it is left that way */
	bool applied;  /* this process must restore what it changed, if anything */
	quiet_list changes;
};

/* The machine to change; for tests a tree of files, as for 'tare quiet'. */
struct quiet_options run_quiet_machine(void);
/* emp: what this version of EMP and those before it ask for; 0: every knob. Signals must already be
 * blocked (interrupt.h), or one could end tare before it restores everything. */
int run_quiet_begin(struct run_quiet *q, int emp, struct error *err);
/* Restores what was changed and releases q. A zeroed one is fine. */
int run_quiet_end(struct run_quiet *q, struct error *err);

#endif
