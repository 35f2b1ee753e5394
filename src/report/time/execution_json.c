#include "report/time/execution_json.h"

#include "report/core/json.h"
#include "report/core/shapes.h"

#define MOST_PROCESSES 10 /* of each role: the rest used less */

static json_t *processes_json(const struct execution *x)
{
	size_t taken[ROLE_SELF + 1] = { 0 };
	if (!x->processes.count)
		return json_null();
	json_t *list = json_array();
	for (size_t i = 0; i < x->processes.count; i++)
		if (taken[x->processes.items[i].role]++ < MOST_PROCESSES)
			json_array_append_new(list,
					      json_shape(&process_shape, &x->processes.items[i]));
	return list;
}

static json_t *overall_json(const struct execution *x)
{
	json_t *o = json_object();
	uint64_t both = x->before.present & x->after.present;
	for (size_t m = 0; m < OVERALL_MEASURES; m++) {
		/* not counters: a difference of two would say nothing */
		if (m == OVERALL_BOOT_TIME || m == OVERALL_RUNNING || m == OVERALL_BLOCKED)
			continue;
		/* iowait is known to go backwards */
		int64_t difference = (int64_t)(x->after.value[m] - x->before.value[m]);
		json_object_set_new(o, overall_measures[m].name,
				    both >> m & 1 ? json_integer(difference) : json_null());
	}
	return o;
}

json_t *execution_json(const struct execution *x, const struct emp_verdict *verdict)
{
	json_t *o = json_shape(&judged_shape, x);
	json_object_set_new(o, "overall", overall_json(x));
	json_object_set_new(o, "processes", processes_json(x));
	json_object_set_new(o, "ledger", ledger_json(&x->ledger));
	json_object_set_new(o, "verdict",
			    verdict ? json_shape(&verdict_shape, verdict) : json_null());
	return o;
}
