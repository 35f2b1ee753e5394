#include "report/time/execution_json.h"

#include "report/core/json.h"

#define MOST_PROCESSES 10 /* of each role: the rest used less */

json_t *verdict_json(const struct emp_verdict *v)
{
	json_t *o = json_object();
	bool judged = v->rule == EMP_CUTOFF || v->rule == EMP_OUTSIDE;
	json_object_set_new(o, "rule", json_string(emp_rule_name(v->rule)));
	json_object_set_new(o, "reason", *v->reason ? json_text(v->reason) : json_null());
	json_object_set_new(o, "daemon", *v->daemon ? json_text(v->daemon) : json_null());
	json_object_set_new(o, "value_ns", judged ? json_real_or_null(v->value_ns) : json_null());
	json_object_set_new(o, "low_ns", judged ? json_real_or_null(v->low_ns) : json_null());
	json_object_set_new(o, "high_ns", judged ? json_real_or_null(v->high_ns) : json_null());
	return o;
}

/* By the catalogue's names; null where a measure was not seen. */
static json_t *values_json(uint64_t present, const uint64_t *value)
{
	json_t *o = json_object();
	for (size_t m = 0; m < TASK_CUMULATIVE; m++)
		json_object_set_new(o, task_measures[m].name,
				    present >> m & 1 ? json_integer((json_int_t)value[m])
						     : json_null());
	return o;
}

/* Where 0 says that it is not known. */
static json_t *nonzero_json(uint64_t value)
{
	return value ? json_integer((json_int_t)value) : json_null();
}

static json_t *totals_json(const struct totals *t)
{
	json_t *o = values_json(t->present, t->value);
	json_object_set_new(o, "rss_peak", nonzero_json(t->rss_peak_bytes));
	json_object_set_new(o, "processes", nonzero_json(t->processes));
	json_object_set_new(o, "threads", nonzero_json(t->threads));
	return o;
}

static json_t *process_json(const struct process *p)
{
	json_t *o = json_object();
	json_object_set_new(o, "name", json_text(p->name));
	json_object_set_new(o, "role", json_string(role_name(p->role)));
	json_object_set_new(o, "pid", json_integer(p->pid));
	json_object_set_new(o, "ppid", json_integer(p->ppid));
	json_object_set_new(o, "kernel", json_boolean(p->kernel));
	json_object_set_new(o, "started", json_boolean(p->started));
	json_object_set_new(o, "ended", json_boolean(p->ended));
	json_object_set_new(o, "threads", json_integer(p->threads));
	json_object_set_new(o, "rss_peak", nonzero_json(p->rss_peak_bytes));
	json_object_set_new(o, "totals", values_json(p->present, p->value));
	return o;
}

static json_t *processes_json(const struct execution *x)
{
	size_t taken[ROLE_SELF + 1] = { 0 };
	if (!x->processes.count)
		return json_null();
	json_t *list = json_array();
	for (size_t i = 0; i < x->processes.count; i++)
		if (taken[x->processes.items[i].role]++ < MOST_PROCESSES)
			json_array_append_new(list, process_json(&x->processes.items[i]));
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
	json_t *o = json_object(), *pt = json_object();
	json_object_set_new(o, "number", json_integer(x->number));
	json_object_set_new(o, "warmup", json_boolean(x->warmup));
	json_object_set_new(o, "outcome", json_string(outcome_name(x->outcome)));
	json_object_set_new(o, "status", json_integer(x->status));
	json_object_set_new(o, "started_at", json_date(x->started_at_ns));
	json_object_set_new(o, "et_ns", json_ns(x->et_ns));
	json_object_set_new(o, "wait_ns", json_ns(x->wait_ns));
	json_object_set_new(o, "tree_ns", json_ns(x->tree_ns));
	for (enum grade g = 0; g < GRADES; g++)
		json_object_set_new(pt, grade_name(g), json_ns(x->pt_ns[g]));
	json_object_set_new(o, "pt_ns", pt);
	json_object_set_new(o, "user_ns", json_ns(x->user_ns));
	json_object_set_new(o, "system_ns", json_ns(x->system_ns));
	json_object_set_new(o, "totals", totals_json(&x->totals));
	json_object_set_new(o, "overall", overall_json(x));
	json_object_set_new(o, "processes", processes_json(x));
	json_object_set_new(o, "left_behind", json_integer(x->left_behind));
	json_object_set_new(o, "ended", json_integer(x->ended));
	json_object_set_new(o, "lost", json_integer((json_int_t)x->lost));
	json_object_set_new(o, "ephemeral",
			    x->ephemeral < 0 ? json_null() : json_integer(x->ephemeral));
	json_object_set_new(o, "self_ns", json_ns(x->self_ns));
	json_object_set_new(o, "ledger", ledger_json(&x->ledger));
	json_object_set_new(o, "verdict", verdict ? verdict_json(verdict) : json_null());
	return o;
}
