#include <stdlib.h>
#include <string.h>

#include "report/core/json.h"
#include "report/time/execution_json.h"
#include "report/time/ledger.h"

#define MOST_OTHERS 20 /* of an execution: the rest did less */

static json_t *pid_json(int32_t pid)
{
	return pid ? json_integer(pid) : json_null();
}

json_t *ledger_json(const struct ledger *l)
{
	if (!l->present)
		return json_null();
	json_t *o = json_shape(&ledger_shape, l);
	json_t *cost = json_object_get(o, "cost");
	size_t others = l->others.count < MOST_OTHERS ? l->others.count : MOST_OTHERS;
	if (l->threads.count)
		json_object_set_new(o, "threads",
				    json_shapes(&ledger_thread_shape, l->threads.items,
						l->threads.count, sizeof *l->threads.items));
	for (size_t i = 0; i < l->threads.count; i++) {
		const struct ledger_thread *t = &l->threads.items[i];
		json_t *thread = json_array_get(json_object_get(o, "threads"), i);
		json_object_set_new(thread, "begin_ns", json_count(t->begin_ns - l->begin_ns));
		json_object_set_new(thread, "end_ns", json_count(t->end_ns - l->begin_ns));
	}
	json_object_set_new(
		o, "others",
		json_shapes(&ledger_other_shape, l->others.items, others, sizeof *l->others.items));
	json_set_real(cost, "ns", ledger_cost_ns(l));
	json_set_real(cost, "subject_ns", ledger_subject_cost_ns(l));
	return o;
}

static json_t *mean_causes_json(const uint64_t values[LEDGER_CAUSES], double n)
{
	double means[LEDGER_CAUSES];
	for (enum ledger_cause c = 0; c < LEDGER_CAUSES; c++)
		means[c] = (double)values[c] / n;
	return json_shape(&ledger_mean_causes_shape, means);
}

static void append_mean(const struct ledger_sum *sum, double n, json_t *entries, json_t *others)
{
	json_t *o = json_object();
	if (sum->kind == SUM_ENTRY)
		json_object_set_new(o, "cause", json_string(ledger_causes[sum->cause].name));
	json_object_set_new(o, "name", json_text(sum->name));
	json_object_set_new(o, "pid", pid_json(sum->pid));
	json_object_set_new(o, "mean_ns", json_real((double)sum->ns / n));
	json_object_set_new(o, "worst_ns", json_count(sum->worst_ns));
	json_object_set_new(o, "worst", sum->worst ? json_integer(sum->worst) : json_null());
	if (sum->kind == SUM_ENTRY) {
		json_object_set_new(o, "count", json_real((double)sum->count / n));
		json_array_append_new(entries, o);
		return;
	}
	json_object_set_new(o, "self", json_boolean(sum->self));
	json_object_set_new(o, "kernel", json_boolean(sum->kernel));
	json_object_set_new(o, "bursts", json_real((double)sum->count / n));
	json_object_set_new(o, "longest_ns", json_count(sum->longest_ns));
	json_object_set_new(o, "delayed_ns", json_real((double)sum->delayed_ns / n));
	json_object_set_new(o, "io_delayed_ns", json_real((double)sum->io_delayed_ns / n));
	json_array_append_new(others, o);
}

json_t *ledger_means_json(const struct run_view *view)
{
	struct ledger_sums s;
	ledger_sums_of(view, LEDGER_OF_KEPT, &s);
	if (!s.n) {
		ledger_sums_release(&s);
		return json_null();
	}
	double n = (double)s.n;
	json_t *o = json_object(), *entries = json_array(), *others = json_array();
	json_t *cost = json_object();
	for (size_t i = 0; i < s.list.count; i++)
		if (s.list.items[i].kind == SUM_ENTRY || s.list.items[i].kind == SUM_OTHER)
			append_mean(&s.list.items[i], n, entries, others);
	json_object_set_new(o, "executions", json_count(s.n));
	json_object_set_new(o, "wall_ns", mean_causes_json(s.wall_ns, n));
	json_object_set_new(o, "account_ns", mean_causes_json(s.subject.ns, n));
	json_object_set_new(o, "account_count", mean_causes_json(s.subject.count, n));
	uint64_t user = ledger_account_user_ns(&s.subject);
	json_object_set_new(o, "run_user_ns",
			    user == UINT64_MAX ? json_null() : json_real((double)user / n));
	json_object_set_new(o, "entries", entries);
	json_object_set_new(o, "others", others);
	json_object_set_new(cost, "ns", json_real_or_null(s.cost_ns / n));
	json_object_set_new(cost, "subject_ns", json_real_or_null(s.subject_cost_ns / n));
	json_object_set_new(cost, "self_ns",
			    s.self_ns == ABSENT_NS ? json_null()
						   : json_real((double)s.self_ns / n));
	json_object_set_new(o, "cost", cost);
	json_object_set_new(o, "lost", json_count(s.lost));
	json_object_set_new(o, "unlisted", json_count(s.unlisted));
	json_object_set_new(o, "not_seen", json_text(s.not_seen));
	ledger_sums_release(&s);
	return o;
}
