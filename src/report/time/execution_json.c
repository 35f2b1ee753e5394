#include "report/time/execution_json.h"

#include "report/core/json.h"
#include "report/core/shapes.h"
#include "report/time/counters.h"

#define MOST_PROCESSES 10 /* of each role: the rest used less */

json_t *execution_json(const struct execution *x, const struct emp_verdict *verdict)
{
	json_t *o = json_shape(&judged_shape, x), *overall = json_object();
	size_t taken[ROLE_SELF + 1] = { 0 };
	uint64_t both = x->before.present & x->after.present;
	for (size_t m = 0; m < OVERALL_MEASURES; m++) {
		/* not counters: a difference of two would say nothing */
		if (m == OVERALL_BOOT_TIME || m == OVERALL_RUNNING || m == OVERALL_BLOCKED)
			continue;
		/* iowait is known to go backwards */
		int64_t difference = (int64_t)(x->after.value[m] - x->before.value[m]);
		json_object_set_new(overall, overall_measures[m].name,
				    both >> m & 1 ? json_integer(difference) : json_null());
	}
	json_object_set_new(o, "overall", overall);
	json_object_set_new(o, "processes", x->processes.count ? json_array() : json_null());
	array_each(p, &x->processes)
		if (taken[p->role]++ < MOST_PROCESSES)
			json_append(o, "processes", json_shape(&process_shape, p));
	execution_counters_json(x, o);
	json_object_set_new(o, "ledger", ledger_json(&x->ledger));
	json_object_set_new(o, "verdict",
			    verdict ? json_shape(&verdict_shape, verdict) : json_null());
	return o;
}
