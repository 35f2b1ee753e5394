#include <stdlib.h>
#include <string.h>

#include "report/core/json.h"
#include "report/time/execution_json.h"
#include "report/time/ledger.h"

#define MOST_OTHERS 20 /* of an execution: the rest did less */

static json_t *count_json(uint64_t count)
{
	return json_integer((json_int_t)count);
}

static json_t *pid_json(int32_t pid)
{
	return pid ? json_integer(pid) : json_null();
}

/* By the catalogue's names. */
static json_t *causes_json(const uint64_t values[LEDGER_CAUSES])
{
	json_t *o = json_object();
	for (enum ledger_cause c = 0; c < LEDGER_CAUSES; c++)
		json_object_set_new(o, ledger_causes[c].name, count_json(values[c]));
	return o;
}

static json_t *mean_causes_json(const uint64_t values[LEDGER_CAUSES], double n)
{
	json_t *o = json_object();
	for (enum ledger_cause c = 0; c < LEDGER_CAUSES; c++)
		json_object_set_new(o, ledger_causes[c].name, json_real((double)values[c] / n));
	return o;
}

static json_t *account_json(const struct ledger_account *a)
{
	json_t *o = json_object();
	json_object_set_new(o, "ns", causes_json(a->ns));
	json_object_set_new(o, "count", causes_json(a->count));
	json_object_set_new(o, "tick_user_ns", count_json(a->tick_user_ns));
	json_object_set_new(o, "tick_system_ns", count_json(a->tick_system_ns));
	json_object_set_new(o, "migrations", count_json(a->migrations));
	return o;
}

static json_t *entries_json(const struct ledger *l)
{
	json_t *list = json_array();
	for (size_t i = 0; i < l->entries.count; i++) {
		const struct ledger_entry *e = &l->entries.items[i];
		json_t *o = json_object();
		json_object_set_new(o, "cause", json_string(ledger_causes[e->cause].name));
		json_object_set_new(o, "name", json_text(e->name));
		json_object_set_new(o, "pid", pid_json(e->pid));
		json_object_set_new(o, "ns", count_json(e->ns));
		json_object_set_new(o, "count", count_json(e->count));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *others_json(const struct ledger *l)
{
	json_t *list = json_array();
	for (size_t i = 0; i < l->others.count && i < MOST_OTHERS; i++) {
		const struct ledger_other *p = &l->others.items[i];
		json_t *o = json_object();
		json_object_set_new(o, "name", json_text(p->name));
		json_object_set_new(o, "pid", pid_json(p->pid));
		json_object_set_new(o, "self", json_boolean(p->self));
		json_object_set_new(o, "kernel", json_boolean(p->kernel));
		json_object_set_new(o, "ns", count_json(p->ns));
		json_object_set_new(o, "bursts", count_json(p->bursts));
		json_object_set_new(o, "longest_ns", count_json(p->longest_ns));
		json_object_set_new(o, "delayed_ns", count_json(p->delayed_ns));
		json_object_set_new(o, "io_delayed_ns", count_json(p->io_delayed_ns));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *interrupts_json(const struct ledger *l)
{
	json_t *list = json_array();
	for (size_t i = 0; i < l->interrupts.count; i++) {
		const struct ledger_interrupt *v = &l->interrupts.items[i];
		json_t *o = json_object();
		json_object_set_new(o, "cause", json_string(ledger_causes[v->cause].name));
		json_object_set_new(o, "name", json_text(v->name));
		json_object_set_new(o, "count", count_json(v->count));
		json_object_set_new(o, "ns", count_json(v->ns));
		json_object_set_new(o, "subject_count", count_json(v->subject_count));
		json_object_set_new(o, "subject_ns", count_json(v->subject_ns));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *threads_json(const struct ledger *l)
{
	if (!l->threads.count)
		return json_null();
	json_t *list = json_array();
	for (size_t i = 0; i < l->threads.count; i++) {
		const struct ledger_thread *t = &l->threads.items[i];
		json_t *o = json_object();
		json_object_set_new(o, "tid", json_integer(t->tid));
		json_object_set_new(o, "pid", json_integer(t->tgid));
		json_object_set_new(o, "name", json_text(t->name));
		json_object_set_new(o, "begin_ns",
				    json_integer((json_int_t)(t->begin_ns - l->begin_ns)));
		json_object_set_new(o, "end_ns",
				    json_integer((json_int_t)(t->end_ns - l->begin_ns)));
		json_object_set_new(o, "alive", json_boolean(t->alive));
		json_object_set_new(o, "account", account_json(&t->account));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *cost_json(const struct ledger *l)
{
	json_t *o = json_object(), *events = json_object(), *each = json_object();
	for (int e = 0; e < LEDGER_EVENTS; e++) {
		json_object_set_new(events, ledger_event_names[e], count_json(l->events[e]));
		json_object_set_new(each, ledger_event_names[e], json_real_or_null(l->event_ns[e]));
	}
	json_object_set_new(o, "events", events);
	json_object_set_new(o, "event_ns", each);
	json_object_set_new(o, "subject_events", count_json(l->subject_events));
	json_object_set_new(o, "ns", json_real_or_null(ledger_cost_ns(l)));
	json_object_set_new(o, "subject_ns", json_real_or_null(ledger_subject_cost_ns(l)));
	return o;
}

json_t *ledger_json(const struct ledger *l)
{
	if (!l->present)
		return json_null();
	json_t *o = json_object();
	json_object_set_new(o, "wall_ns", causes_json(l->wall_ns));
	json_object_set_new(o, "account", account_json(&l->subject));
	json_object_set_new(o, "entries", entries_json(l));
	json_object_set_new(o, "threads", threads_json(l));
	json_object_set_new(o, "unlisted", json_integer(l->unlisted));
	json_object_set_new(o, "others", others_json(l));
	json_object_set_new(o, "interrupts", interrupts_json(l));
	json_object_set_new(o, "cost", cost_json(l));
	json_object_set_new(o, "lost", count_json(l->lost));
	json_object_set_new(o, "not_seen", *l->not_seen ? json_text(l->not_seen) : json_null());
	return o;
}

static void append_mean(const struct ledger_sum *sum, double n, json_t *entries, json_t *others)
{
	json_t *o = json_object();
	if (sum->kind == SUM_ENTRY)
		json_object_set_new(o, "cause", json_string(ledger_causes[sum->cause].name));
	json_object_set_new(o, "name", json_text(sum->name));
	json_object_set_new(o, "pid", pid_json(sum->pid));
	json_object_set_new(o, "mean_ns", json_real((double)sum->ns / n));
	json_object_set_new(o, "worst_ns", count_json(sum->worst_ns));
	json_object_set_new(o, "worst", sum->worst ? json_integer(sum->worst) : json_null());
	if (sum->kind == SUM_ENTRY) {
		json_object_set_new(o, "count", json_real((double)sum->count / n));
		json_array_append_new(entries, o);
		return;
	}
	json_object_set_new(o, "self", json_boolean(sum->self));
	json_object_set_new(o, "kernel", json_boolean(sum->kernel));
	json_object_set_new(o, "bursts", json_real((double)sum->count / n));
	json_object_set_new(o, "longest_ns", count_json(sum->longest_ns));
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
	json_object_set_new(o, "executions", count_json(s.n));
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
	json_object_set_new(o, "lost", count_json(s.lost));
	json_object_set_new(o, "unlisted", count_json(s.unlisted));
	json_object_set_new(o, "not_seen", json_text(s.not_seen));
	ledger_sums_release(&s);
	return o;
}
