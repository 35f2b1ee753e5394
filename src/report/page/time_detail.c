/* Single executions: the ledgers' columns, and what else ran in each. */
#include <stdlib.h>
#include <string.h>

#include "report/core/format.h"
#include "report/page/time_parts.h"
#include "report/time/ledger.h"

#define MOST_LEDGERS 20000
#define MOST_DETAILS 400
#define DETAILS_OF_PAGE 1200 /* of several runs together */
#define LEAST_DETAILS 20
#define MOST_PROCESSES 10 /* of each role */
#define MOST_ROWS 40	  /* of entries, others, interrupts: the rest is less */

/* ---- which ones ---- */

/* Of those that are not chosen yet, `most`, evenly. */
static size_t choose_evenly(const struct run_view *v, bool drops, size_t most, bool *chosen)
{
	size_t candidates = 0, seen = 0, taken = 0;
	for (size_t i = 0; i < v->count; i++)
		candidates += !chosen[i] && (!drops || rule_is_drop(v->result->verdicts[i].rule));
	if (most > candidates)
		most = candidates;
	for (size_t i = 0; i < v->count && candidates; i++) {
		if (chosen[i] || (drops && !rule_is_drop(v->result->verdicts[i].rule)))
			continue;
		seen++;
		chosen[i] = seen * most / candidates > taken;
		taken += chosen[i];
	}
	return taken;
}

static bool *page_choose(const struct time_section *t, const struct page_choice *c, size_t *count)
{
	const struct run_view *v = t->view;
	bool *chosen = xcalloc(v->count + 1, sizeof *chosen);
	*count = v->count;
	if (v->count <= c->most) {
		memset(chosen, true, v->count * sizeof *chosen);
		return chosen;
	}
	*count = choose_evenly(v, true, c->dropped, chosen);
	for (size_t i = 0; i < c->extremes && i < t->measured; i++) {
		size_t ends[] = { t->by_et[i].position, t->by_et[t->measured - 1 - i].position };
		for (size_t k = 0; k < 2; k++) {
			*count += !chosen[ends[k]];
			chosen[ends[k]] = true;
		}
	}
	if (c->fill && *count < c->most)
		*count += choose_evenly(v, false, c->most - *count, chosen);
	return chosen;
}

/* ---- the ledgers ---- */

static void note_causes(struct time_section *t, const struct ledger *l)
{
	for (size_t c = 0; c < LEDGER_CAUSES; c++)
		t->is_cause[c] |= l->wall_ns[c] || l->subject.ns[c];
	for (size_t i = 0; i < l->entries.count; i++)
		t->is_cause[l->entries.items[i].cause] = true;
	for (size_t i = 0; i < l->interrupts.count; i++)
		t->is_cause[l->interrupts.items[i].cause] = true;
}

json_t *page_ledger(struct time_section *t, size_t share)
{
	const struct run_view *v = t->view;
	size_t with = 0, count = 0, most = MOST_LEDGERS / share;
	for (size_t i = 0; i < v->count; i++) {
		with += v->executions[i].ledger.present;
		if (v->executions[i].ledger.present)
			note_causes(t, &v->executions[i].ledger);
	}
	if (!with)
		return json_null();
	const struct page_choice choice = {
		.most = most, .dropped = most - most / 10, .extremes = most / 40, .fill = true
	};
	bool *chosen = page_choose(t, &choice, &count);
	if (count < v->count)
		page_notef(t->section,
			   "The page has the ledgers of %zu of %zu executions: of the dropped, of "
			   "the longest and shortest, and of others, evenly chosen.",
			   count, v->count);
	for (size_t i = 0; i < v->count; i++) {
		count -= chosen[i] && !v->executions[i].ledger.present;
		chosen[i] &= v->executions[i].ledger.present;
	}
	struct ledger_sums kept; /* whether they are on the page or not */
	ledger_sums_of(v, LEDGER_OF_KEPT, &kept);
	json_t *o = json_shape(&ledger_columns_shape, v);
	if (count < v->count)
		json_object_set_new(o, "index", json_array());
	if (kept.n)
		json_object_set_new(o, "mean", json_array());
	for (size_t i = 0; i < v->count && count < v->count; i++)
		if (chosen[i])
			json_append(o, "index", json_count(i));
	for (size_t c = 0, causes = 0; c < LEDGER_CAUSES; c++) {
		t->cause_index[c] = (int)causes;
		if (!t->is_cause[c])
			continue;
		json_t *wall = json_array();
		for (size_t i = 0; i < v->count; i++)
			if (chosen[i])
				json_array_append_new(
					wall, json_count(v->executions[i].ledger.wall_ns[c]));
		causes++;
		json_append(o, "causes", json_string(ledger_causes[c].name));
		json_append(o, "wall", wall);
		if (kept.n)
			json_append(o, "mean",
				    chart_real((double)kept.wall_ns[c] / (double)kept.n));
	}
	ledger_sums_release(&kept);
	xfree(chosen);
	return o;
}

/* ---- the details of one ---- */

static json_t *detail_json(struct time_section *t, const struct execution *x)
{
	const struct ledger *l = &x->ledger;
	json_t *o = json_shape(&detail_shape, x);
	size_t taken[ROLE_SELF + 1] = { 0 };
	for (size_t i = 0; i < x->processes.count; i++) {
		const struct process *p = &x->processes.items[i];
		uint64_t pt;
		if (taken[p->role]++ >= MOST_PROCESSES)
			continue;
		json_t *pt_json = process_pt_ns(p, &pt) ? json_count(pt) : json_null();
		json_append(o, "processes",
			    json_pack("[o, i, i, o]", section_name(t, p->name), (int)p->role,
				      (int)p->pid, pt_json));
	}
	for (size_t i = 0; i < l->entries.count && i < MOST_ROWS; i++) {
		const struct ledger_entry *e = &l->entries.items[i];
		json_append(o, "entries",
			    json_pack("[i, o, i, I, I]", t->cause_index[e->cause],
				      section_name(t, e->name), (int)e->pid, (json_int_t)e->ns,
				      (json_int_t)e->count));
	}
	for (size_t i = 0; i < l->others.count && i < MOST_ROWS; i++) {
		const struct ledger_other *p = &l->others.items[i];
		json_append(o, "others",
			    json_pack("[o, i, I, I, I, I, I]", section_name(t, p->name),
				      (int)p->pid, (json_int_t)p->ns, (json_int_t)p->bursts,
				      (json_int_t)p->longest_ns, (json_int_t)p->delayed_ns,
				      (json_int_t)p->io_delayed_ns));
	}
	for (size_t i = 0; i < l->interrupts.count && i < MOST_ROWS; i++) {
		const struct ledger_interrupt *v = &l->interrupts.items[i];
		json_append(o, "interrupts",
			    json_pack("[i, o, I, I, I]", t->cause_index[v->cause],
				      section_name(t, v->name), (json_int_t)v->count,
				      (json_int_t)v->ns, (json_int_t)v->subject_ns));
	}
	return o;
}

/* ---- their traces ---- */

#define SLICES_OF_ONE 20000
#define LEAST_SLICES 500

struct tracing {
	const struct page_traces *traces;
	json_t *details;
	const bool *chosen;
	size_t each; /* slices of one trace */
	size_t found, left_out;
};

static void add_trace(struct time_section *t, struct tracing *g, size_t position)
{
	const struct execution *x = &t->view->executions[position];
	struct trace trace = { 0 };
	char key[WORDS];
	snprintf(key, sizeof key, "%zu", position);
	if (t->slices_left < LEAST_SLICES && g->found) {
		g->left_out++;
		return;
	}
	if (g->traces->load(g->traces->context, x, &trace) && trace.present) {
		size_t most = g->each < t->slices_left ? g->each : t->slices_left;
		json_object_set_new(json_object_get(g->details, key), "trace",
				    page_trace(t, x, &trace, most));
		g->found++;
	}
	trace_release(&trace);
}

/* The dropped and the longest first, as there is room for so many. */
static void add_traces(struct time_section *t, struct tracing *g)
{
	const struct run_view *v = t->view;
	bool *done = xcalloc(v->count + 1, sizeof *done);
	for (size_t i = 0; i < v->count; i++)
		if (g->chosen[i] && rule_is_drop(v->result->verdicts[i].rule)) {
			add_trace(t, g, i);
			done[i] = true;
		}
	for (size_t k = t->measured; k-- > 0;) {
		size_t i = t->by_et[k].position;
		if (g->chosen[i] && !done[i]) {
			add_trace(t, g, i);
			done[i] = true;
		}
	}
	for (size_t i = 0; i < v->count; i++)
		if (g->chosen[i] && !done[i])
			add_trace(t, g, i);
	if (g->left_out)
		page_notef(t->section,
			   "The page has the traces of the dropped and the longest executions, %zu "
			   "in all; 'tare export --perfetto' writes any.",
			   g->found);
	xfree(done);
}

json_t *page_details(struct time_section *t, size_t share, const struct page_traces *traces)
{
	const struct run_view *v = t->view;
	json_t *details = json_object();
	size_t count, most = DETAILS_OF_PAGE / share;
	most = most < LEAST_DETAILS ? LEAST_DETAILS : most > MOST_DETAILS ? MOST_DETAILS : most;
	const struct page_choice choice = { .most = most,
					    .dropped = most / 4 * 3,
					    .extremes = most / 8 };
	bool *chosen = page_choose(t, &choice, &count);
	for (size_t i = 0; i < v->count; i++) {
		char key[WORDS];
		if (!chosen[i])
			continue;
		snprintf(key, sizeof key, "%zu", i);
		json_object_set_new(details, key, detail_json(t, &v->executions[i]));
	}
	if (count < v->count)
		page_notef(t->section,
			   "What else ran is on the page for %zu of %zu executions: of the dropped "
			   "%zu at most, and the %zu longest and shortest.",
			   count, v->count, choice.dropped, choice.extremes);
	size_t each = count ? t->slices_left / count : 0;
	each = each < LEAST_SLICES ? LEAST_SLICES : each > SLICES_OF_ONE ? SLICES_OF_ONE : each;
	struct tracing g = { traces, details, chosen, each, 0, 0 };
	if (traces)
		add_traces(t, &g);
	xfree(chosen);
	return details;
}
