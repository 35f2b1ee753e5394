/* The machine made quiet around a run, and put back. */
#ifndef TARE_RUN_QUIET_H
#define TARE_RUN_QUIET_H

#include "quiet/quiet.h"

struct run_quiet {
	bool standing; /* quiet already, by a 'tare quiet' before: it is left as it is */
	bool applied;  /* what this tare changed, if anything, is to be put back */
	quiet_list changes;
};

/* Where the machine is: for tests a tree of files, as for 'tare quiet'. */
struct quiet_options run_quiet_machine(void);
/* emp: what that version of EMP asks for, and those before; 0: every knob. Signals must be blocked
 * already (interrupt.h), or one could end tare before it puts everything back. */
int run_quiet_begin(struct run_quiet *q, int emp, struct error *err);
/* Puts back what was changed, and releases; a zeroed one is fine. */
int run_quiet_end(struct run_quiet *q, struct error *err);

#endif
