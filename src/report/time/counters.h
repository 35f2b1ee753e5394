/* Counters for people and programs. Private to report/. */
#ifndef TARE_REPORT_TIME_COUNTERS_H
#define TARE_REPORT_TIME_COUNTERS_H

#include <jansson.h>

#include "protocol/emp/counters.h"
#include "report/time/report.h"

/* "2.1 G instructions, 2.4 per cycle at 3.4 GHz; ...": nothing without counters. */
void put_counters(const struct run_view *view, const struct style *style, struct strbuf *out);

/* Sets the member `counters` of a run or an execution; nothing without counters. */
void counters_json(const struct run_view *view, json_t *run);
void execution_counters_json(const struct execution *x, json_t *execution);

/* Columns of CSV for counters that one of the executions has, in the order in which they are seen
 * first. Names are borrowed. */
typedef ARRAY(const char *) counter_names;
void counter_names_of(const struct run_view *views, size_t count, counter_names *out);
/* Of these, those that were counted in user mode apart somewhere. */
void counter_names_apart(const struct run_view *views, size_t count, const counter_names *names,
			 counter_names *out);

#endif
