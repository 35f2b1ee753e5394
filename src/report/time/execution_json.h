/* Parts of time_json(), and what they are made of: private to report/. New references, as jansson
 * calls them. */
#ifndef TARE_REPORT_TIME_EXECUTION_JSON_H
#define TARE_REPORT_TIME_EXECUTION_JSON_H

#include <jansson.h>

#include "report/time/report.h"

/* A run with its verdict. Copies, whose memory stays theirs. */
struct judged_run {
	struct run run;
	struct emp_result result;
};

/* What stood under one name in the ledgers, per execution. */
struct ledger_mean {
	enum ledger_cause cause;
	const char *name;
	int32_t pid;
	bool self, kernel;
	double mean_ns, count;
	uint64_t worst_ns;
	uint32_t worst;
	uint64_t longest_ns;
	double delayed_ns, io_delayed_ns;
};

struct ledger_means {
	size_t executions;
	double wall_ns[LEDGER_CAUSES], account_ns[LEDGER_CAUSES], account_count[LEDGER_CAUSES];
	double run_user_ns;
	ARRAY(struct ledger_mean) entries, others;
	double cost_ns, subject_cost_ns, self_ns;
	uint64_t lost, unlisted;
	const char *not_seen;
};

json_t *execution_json(const struct execution *x, const struct emp_verdict *verdict); /* or NULL */
json_t *ledger_json(const struct ledger *l);		/* null when it was not kept */
json_t *ledger_means_json(const struct run_view *view); /* null without any */

#endif
