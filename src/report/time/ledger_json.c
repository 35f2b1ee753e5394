#include <math.h>

#include "report/core/json.h"
#include "report/core/shapes.h"
#include "report/time/execution_json.h"
#include "report/time/ledger.h"

#define MOST_OTHERS 20 /* of an execution: the rest did less */

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

json_t *ledger_means_json(const struct run_view *view)
{
	struct ledger_sums s;
	ledger_sums_of(view, LEDGER_OF_KEPT, &s);
	double n = (double)s.n;
	uint64_t user = ledger_account_user_ns(&s.subject);
	struct ledger_means m = { .executions = s.n,
				  .run_user_ns = user == UINT64_MAX ? NAN : (double)user / n,
				  .cost_ns = s.cost_ns / n,
				  .subject_cost_ns = s.subject_cost_ns / n,
				  .self_ns = s.self_ns == ABSENT_NS ? NAN : (double)s.self_ns / n,
				  .lost = s.lost,
				  .unlisted = s.unlisted,
				  .not_seen = s.not_seen };
	for (enum ledger_cause c = 0; c < LEDGER_CAUSES; c++) {
		m.wall_ns[c] = (double)s.wall_ns[c] / n;
		m.account_ns[c] = (double)s.subject.ns[c] / n;
		m.account_count[c] = (double)s.subject.count[c] / n;
	}
	array_each(sum, &s.list) {
		struct ledger_mean mean = { .cause = sum->cause,
					    .name = sum->name,
					    .pid = sum->pid,
					    .self = sum->self,
					    .kernel = sum->kernel,
					    .mean_ns = (double)sum->ns / n,
					    .count = (double)sum->count / n,
					    .worst_ns = sum->worst_ns,
					    .worst = sum->worst,
					    .longest_ns = sum->longest_ns,
					    .delayed_ns = (double)sum->delayed_ns / n,
					    .io_delayed_ns = (double)sum->io_delayed_ns / n };
		if (sum->kind == SUM_ENTRY)
			array_push(&m.entries, mean);
		else if (sum->kind == SUM_OTHER)
			array_push(&m.others, mean);
	}
	json_t *o = s.n ? json_shape(&mean_ledger_shape, &m) : json_null();
	array_release(&m.entries);
	array_release(&m.others);
	ledger_sums_release(&s);
	return o;
}
