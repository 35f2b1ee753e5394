/* Parts of time_json(), and the structs they are made of. Private to report/. The functions return
 * new references, in jansson's terms. */
#ifndef TARE_REPORT_TIME_EXECUTION_JSON_H
#define TARE_REPORT_TIME_EXECUTION_JSON_H

#include <jansson.h>

#include "report/time/report.h"

/* A run with its verdict. The copies share the memory of the originals. */
struct judged_run {
	struct run run;
	struct emp_result result;
};

/* The sum under one name in the ledgers, per execution. */
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

json_t *execution_json(const struct execution *x,
		       const struct emp_verdict *verdict); /* may be NULL */
json_t *ledger_json(const struct ledger *l);		   /* null if it was not kept */
json_t *ledger_means_json(const struct run_view *view);	   /* null if there are none */

#endif
