/* Parts of time_json(). Private to report/. All return new references, in jansson's terms. */
#ifndef TARE_REPORT_TIME_EXECUTION_JSON_H
#define TARE_REPORT_TIME_EXECUTION_JSON_H

#include <jansson.h>

#include "report/time/report.h"

json_t *execution_json(const struct execution *x,
		       const struct emp_verdict *verdict); /* may be NULL */
json_t *verdict_json(const struct emp_verdict *v);
json_t *ledger_json(const struct ledger *l);		/* null if it was not kept */
json_t *ledger_means_json(const struct run_view *view); /* null if there are none */

#endif
