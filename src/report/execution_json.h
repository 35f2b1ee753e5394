/* Parts of time_json(), some of noise_json() and profile_json(), too: private to report/, and to
 * what `tare serve` answers. */
#ifndef TARE_REPORT_EXECUTION_JSON_H
#define TARE_REPORT_EXECUTION_JSON_H

#include <jansson.h>

#include "protocol/doctor.h"
#include "report/time.h"

/* New references, as jansson calls them. */
json_t *execution_json(const struct execution *x, const struct emp_verdict *verdict); /* or NULL */
json_t *verdict_json(const struct emp_verdict *v);

json_t *json_real_or_null(double value);
json_t *json_text(const char *text); /* any bytes; NULL is null */
json_t *json_ns(uint64_t ns);	     /* ABSENT_NS is null */
json_t *json_date(int64_t realtime_ns);
json_t *json_id(int64_t id);			     /* 0 is null */
json_t *json_summary(const struct summary *s);	     /* of nothing is null */
json_t *json_machine(const struct machine *machine); /* NULL is null */
json_t *json_finding(const struct finding *f);	     /* of doctor */
json_t *json_run(const struct run *run);	     /* NULL is null */
json_t *json_conditions(const char *conditions);     /* JSON text; null when it is none */

#endif
