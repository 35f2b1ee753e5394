/* Executions of a command. */
#include "report/page/time_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/core/format.h"
#include "report/core/shapes.h"
#include "report/time/counters.h"
#include "report/time/execution_json.h"

#define MOST_REASONS 6000
#define MOST_SLICES 60000 /* of a page */

json_t *section_name(struct time_section *t, const char *name)
{
	return json_integer(number_of_text(&t->names, name));
}

/* ---- columns ---- */

/* When it began, in us since the run did; of what was imported some or all have no times: there one
 * follows the other. */
static json_t *begins_json(struct time_section *t)
{
	const struct run_view *v = t->view;
	json_t *list = json_array();
	int64_t sum_ns = 0;
	bool known = true;
	for (size_t i = 0; i < v->count; i++)
		known &= v->executions[i].started_at_ns != 0;
	for (size_t i = 0; i < v->count; i++) {
		const struct execution *x = &v->executions[i];
		int64_t since = x->started_at_ns - v->run->started_at_ns;
		json_array_append_new(list, json_integer((known ? since : sum_ns) / 1000));
		sum_ns += (int64_t)x->et_ns;
	}
	if (v->count && !known)
		page_note(t->section, "When each execution began is not known: they are drawn as "
				      "if one followed the other.");
	return list;
}

static json_t *grade_json(const struct run_view *v, enum grade g)
{
	json_t *list = json_array();
	size_t known = 0;
	for (size_t i = 0; i < v->count; i++) {
		uint64_t ns = v->executions[i].pt_ns[g];
		known += ns != ABSENT_NS;
		json_array_append_new(list, ns == ABSENT_NS ? json_null()
							    : json_integer((json_int_t)less_shell(
								      ns, v->run->shell_pt_ns[g])));
	}
	if (known)
		return list;
	json_decref(list);
	return json_null();
}

/* PT(steady) and, of the kind of work that it goes by most, the CPU's speed: estimates, and so not
 * in the catalogue. */
static void add_steady(const struct run_view *v, json_t *columns, json_t *measures)
{
	static const struct page_measure steady = {
		"steady", "pt_steady_ns", "PT(steady)",
		"process time at the best speed seen of the machine's CPUs, estimated", UNIT_NS
	};
	static const struct page_measure speed = {
		"speed", "cpu_speed", "CPU speed",
		"of the best seen, on the work that explains most of PT's spread", UNIT_SHARE
	};
	const struct steady_fit *f = &v->result->steady;
	if (!v->result->present[EMP_PT_STEADY]) {
		json_object_set_new(columns, steady.column, json_null());
		return;
	}
	json_t *times = json_array(), *speeds = json_array();
	for (size_t i = 0; i < v->count; i++) {
		struct steady_input in;
		double ns = time_value(v, i, EMP_PT_STEADY), share = NAN;
		if (f->most < SPEED_KINDS && emp_speed(v->run, &v->executions[i], &in))
			share = steady_speed(f, &in, f->most);
		json_array_append_new(times,
				      isfinite(ns) ? json_integer(llround(ns)) : json_null());
		json_array_append_new(speeds, isfinite(share) ? json_real(share) : json_null());
	}
	json_object_set_new(columns, steady.column, times);
	json_object_set_new(columns, speed.column, speeds);
	json_array_append_new(measures, json_shape(&page_measure_shape, &steady));
	json_array_append_new(measures, json_shape(&page_measure_shape, &speed));
}

/* The columns that were there before the catalogue have names of their own. */
static const char *column_of(const char *field)
{
	static const char *const short_names[][2] = { { "et_ns", "et" },
						      { "pt_net_ns", "net" },
						      { "pt_exec_ns", "exec" },
						      { "pt_tick_ns", "tick" },
						      { "rss_peak", "rss" } };
	for (size_t i = 0; i < sizeof short_names / sizeof *short_names; i++)
		if (strcmp(short_names[i][0], field) == 0)
			return short_names[i][1];
	return field;
}

static json_t *values_json(const struct run_view *v, const struct field_cursor *c)
{
	json_t *list = json_array();
	size_t known = 0;
	for (size_t i = 0; i < v->count; i++) {
		struct value value = field_value(c, &v->executions[i]);
		known += value.type != IS_ABSENT;
		json_array_append_new(list, value.type == IS_ABSENT ? json_null()
					    : value.type == IS_REAL ? json_real(value.real)
								    : json_integer(value.integer));
	}
	if (known)
		return list;
	json_decref(list);
	return json_null();
}

static json_t *columns_json(struct time_section *t)
{
	const struct run_view *v = t->view;
	json_t *o = json_object(), *number = json_array(), *et = json_array(), *rule = json_array();
	for (size_t i = 0; i < v->count; i++) {
		const struct execution *x = &v->executions[i];
		json_array_append_new(number, json_integer(x->number));
		json_array_append_new(
			et, json_integer((json_int_t)less_shell(x->et_ns, v->run->shell_et_ns)));
		json_array_append_new(rule, json_integer(v->result->verdicts[i].rule));
	}
	json_object_set_new(o, "number", number);
	json_object_set_new(o, "at_us", begins_json(t));
	json_object_set_new(o, "et", et);
	for (enum grade g = 0; g < GRADES; g++)
		json_object_set_new(o, grade_names[g], grade_json(v, g));
	/* what people are shown of an execution: the rows of the catalogue that have a title. Those
	 * that are not among the columns yet become columns */
	json_t *list = json_array();
	struct field_cursor c = { .fields = execution_fields, .without = FIELD_NOT_JSON };
	while (field_next(&c)) {
		if (!c.leaf.title)
			continue;
		struct page_measure m = { .column = column_of(c.leaf.name),
					  .name = c.leaf.name,
					  .title = c.leaf.title,
					  .unit = c.leaf.kind == FIELD_NS ? UNIT_NS : c.leaf.unit,
					  .meaning = c.leaf.meaning };
		if (!json_object_get(o, m.column))
			json_object_set_new(o, m.column, values_json(t->view, &c));
		json_array_append_new(list, json_shape(&page_measure_shape, &m));
	}
	add_steady(v, o, list);
	json_object_set_new(t->section, "measures", list);
	json_object_set_new(o, "rule", rule);
	return o;
}

static void add_density(json_t *section, const struct run_view *v, enum emp_measure m)
{
	struct error none = ERROR_INIT;
	struct chart *c = chart_new();
	char name[WORDS];
	snprintf(name, sizeof name, "density_%s", emp_measure_names[m]);
	page_chart(section, name, c, chart_density(c, v, m, &none));
}

/* ---- pairs of executions ---- */

static json_t *dual_json(const struct run_view *v)
{
	struct sedona_run samples;
	struct study_run found = { 0 };
	sedona_run_of(v->run, v->executions, v->count, &samples);
	json_t *o = json_null();
	if (samples.samples.count > 1) {
		bool *is_l = xcalloc(samples.samples.count, sizeof *is_l);
		sedona_split(&samples, is_l, &found);
		o = json_shape(&dual_shape, &found);
		/* samples are the executions but for warm-ups and failures, in order */
		for (size_t i = 0, k = 0; i < v->count && k < samples.samples.count; i++) {
			const struct execution *x = &v->executions[i];
			if (x->warmup || x->number != samples.samples.items[k].number ||
			    !execution_succeeded(x, NULL, 0))
				continue;
			if (is_l[k++])
				json_append(o, "outside", json_count(i));
		}
		xfree(is_l);
	}
	array_release(&found.levels);
	array_release(&found.l_samples);
	sedona_run_release(&samples);
	return o;
}

/* ---- the section ---- */

static int by_et(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	return ORDER(x->et_ns, y->et_ns) ?: ORDER(x->position, y->position);
}

void page_add_time(struct page *p, const struct run_view *view, size_t share,
		   const struct page_traces *traces)
{
	struct judged_run facts = { *view->run, *view->result };
	char none[] = "";
	if (facts.run.shell_et_ns == ABSENT_NS)
		facts.run.shell_et_ns = 0;
	if (!facts.run.command)
		facts.run.command = none;
	share = share ? share : 1;
	json_t *o = page_head(p, &time_section_shape, &facts, view->run, view->machine, NULL);
	struct time_section t = { .view = view,
				  .section = o,
				  .by_et = xcalloc(view->count + 1, sizeof *t.by_et),
				  .slices_left = MOST_SLICES / share };
	for (size_t i = 0; i < view->count; i++)
		if (rule_is_measured(view->result->verdicts[i].rule))
			t.by_et[t.measured++] = (struct ranked){ view->executions[i].et_ns, i };
	qsort(t.by_et, t.measured, sizeof *t.by_et, by_et);
	json_object_set_new(o, "columns", columns_json(&t));
	json_t *reasons = json_object_get(o, "reasons");
	size_t dropped = view->result->dropped[EMP_FAILED] + view->result->dropped[EMP_CUTOFF] +
			 view->result->dropped[EMP_OUTSIDE];
	for (size_t i = 0; i < view->count && json_object_size(reasons) < MOST_REASONS; i++) {
		char key[WORDS];
		if (!rule_is_drop(view->result->verdicts[i].rule))
			continue;
		snprintf(key, sizeof key, "%zu", i);
		json_object_set_new(reasons, key,
				    json_shape(&reason_shape, &view->result->verdicts[i]));
	}
	if (dropped > MOST_REASONS)
		page_notef(o,
			   "%zu executions were dropped; the page has the reasons of the "
			   "first %d of them.",
			   dropped, MOST_REASONS);
	add_density(o, view, EMP_ET);
	if (view->result->headline >= EMP_PT_NET && view->result->headline <= EMP_PT_TICK)
		add_density(o, view, view->result->headline);
	const enum emp_measure more[] = { view->result->shown, view->result->lead };
	for (size_t i = 0; i < 2; i++)
		if (more[i] != EMP_ET && more[i] != view->result->headline &&
		    (!i || more[1] != more[0]))
			add_density(o, view, more[i]);
	counters_json(view, o);
	json_object_set_new(o, "ledger", page_ledger(&t, share));
	json_object_set_new(o, "dual", dual_json(view));
	json_object_set_new(o, "details", page_details(&t, share, traces));
	for (size_t i = 0; i < t.names.items.count; i++)
		json_append(o, "names", json_text(t.names.items.items[i]));
	page_add(p, o);
	text_numbers_release(&t.names);
	xfree(t.by_et);
}

/* ---- several of them ---- */

void page_compare_times(struct page *p, size_t reference, enum emp_measure measure, const char *why,
			const struct page_time_comparison *list, size_t count)
{
	json_t *sections = json_array();
	bool placed = false;
	for (size_t i = 0; i <= count; i++) {
		if (!placed && (i == count || list[i].section > reference)) {
			json_array_append_new(sections, json_count(reference));
			placed = true;
		}
		if (i < count)
			json_array_append_new(sections, json_count(list[i].section));
	}
	json_array_append_new(
		p->comparisons,
		json_pack("{s:s, s:o, s:I, s:s, s:o, s:o}", "kind", "time", "sections", sections,
			  "reference", (json_int_t)reference, "measure", emp_measure_names[measure],
			  "why", json_text(why), "rows",
			  json_shapes(&time_comparison_row_shape, list, count, sizeof *list)));
}
