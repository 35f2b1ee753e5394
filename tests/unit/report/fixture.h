/* Runs made up for the tests of report/: known figures, judged by hand. */
#ifndef TARE_TEST_REPORT_FIXTURE_H
#define TARE_TEST_REPORT_FIXTURE_H

#include "report/time/report.h"

#define FIXTURE_MOST 64

struct fixture {
	struct run run;
	struct execution executions[FIXTURE_MOST];
	struct emp_verdict verdicts[FIXTURE_MOST];
	struct emp_result result;
	struct machine machine;
	struct run_view view;
};

/* One warm-up and n measured executions of `command` around mean_ms, all kept, with every measure
 * seen; daemons loaded. */
void fixture_init(struct fixture *f, const char *command, size_t n, double mean_ms);
/* Execution at index i (0 is the warm-up) dropped. */
void fixture_drop(struct fixture *f, size_t i, enum emp_rule rule, const char *reason);
void fixture_warn(struct fixture *f, const char *id, const char *text, const char *remedy);
/* Only what the plain back end sees: no net or exec, no daemons, few totals. */
void fixture_plain(struct fixture *f);
/* A ledger for every execution: run 97.1 %, queued behind postgres, interrupted by the timer, steal
 * 0.4 %. With threads: four of them in two processes, listed, and more in the account. */
void fixture_ledger(struct fixture *f, bool threads);
/* The execution at index i takes so much longer: queued behind stress. */
void fixture_disturb(struct fixture *f, size_t i, uint64_t ns);
void fixture_parameter(struct fixture *f, const char *name, const char *value);
/* Summaries anew after executions were changed. */
void fixture_judge(struct fixture *f);
void fixture_release(struct fixture *f);

#endif
