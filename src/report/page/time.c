/* Executions of a command. */
#include "report/page/time_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/core/format.h"
#include "report/core/shapes.h"
#include "report/page/documents.h"
#include "report/time/execution_json.h"

#define MOST_REASONS 6000
#define MOST_SLICES 60000 /* of a page */

json_t *section_name(struct time_section *t, const char *name)
{
	char *valid = text_utf8(name);
	json_t *known = json_object_get(t->name_index, valid);
	if (known) {
		json_incref(known);
	} else {
		known = json_count(json_array_size(t->names));
		json_array_append_new(t->names, json_string(valid));
		json_object_set(t->name_index, valid, known);
	}
	xfree(valid);
	return known;
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

/* What people are shown of an execution: the rows of the catalogue that have a title. Those that
 * are not among the columns yet become columns. */
static void add_measures(struct time_section *t, json_t *columns)
{
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
		if (!json_object_get(columns, m.column))
			json_object_set_new(columns, m.column, values_json(t->view, &c));
		json_array_append_new(list, json_shape(&page_measure_shape, &m));
	}
	json_object_set_new(t->section, "measures", list);
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
		json_object_set_new(o, grade_name(g), grade_json(v, g));
	add_measures(t, o);
	json_object_set_new(o, "rule", rule);
	return o;
}

/* ---- what became of them ---- */

static json_t *reason_json(const struct emp_verdict *v)
{
	json_t *o = verdict_json(v);
	json_object_del(o, "rule");
	json_object_del(o, "reason");
	json_object_set_new(o, "text", json_text(v->reason));
	return o;
}

static json_t *reasons_json(struct time_section *t)
{
	const struct run_view *v = t->view;
	json_t *o = json_object();
	size_t dropped = 0;
	for (size_t i = 0; i < v->count; i++) {
		char key[WORDS];
		if (!rule_is_drop(v->result->verdicts[i].rule) || ++dropped > MOST_REASONS)
			continue;
		snprintf(key, sizeof key, "%zu", i);
		json_object_set_new(o, key, reason_json(&v->result->verdicts[i]));
	}
	if (dropped > MOST_REASONS)
		page_notef(t->section,
			   "%zu executions were dropped; the page has the reasons of the "
			   "first %d of them.",
			   dropped, MOST_REASONS);
	return o;
}

static json_t *summaries_json(const struct emp_result *r, const struct summary *list)
{
	json_t *o = json_object();
	for (enum emp_measure m = 0; m < EMP_MEASURES; m++)
		json_object_set_new(o, emp_measure_name(m),
				    r->present[m] ? json_summary(&list[m]) : json_null());
	return o;
}

static json_t *bounds_json(const struct emp_bounds *b)
{
	if (!b->applied)
		return json_null();
	json_t *o = json_object();
	json_object_set_new(o, "low_ns", json_real(b->low_ns));
	json_object_set_new(o, "high_ns", json_real(b->high_ns));
	return o;
}

static json_t *warnings_json(const struct emp_result *r)
{
	json_t *list = json_array();
	for (size_t i = 0; i < r->warnings.count; i++) {
		const struct emp_warning *w = &r->warnings.items[i];
		json_t *o = json_object();
		json_object_set_new(o, "id", json_text(w->id));
		json_object_set_new(o, "text", json_text(w->text));
		json_object_set_new(o, "remedy", json_text(w->remedy));
		json_array_append_new(list, o);
	}
	return list;
}

static void add_density(json_t *section, const struct run_view *v, enum emp_measure m)
{
	struct error none = ERROR_INIT;
	struct chart *c = chart_new();
	char name[WORDS];
	snprintf(name, sizeof name, "density_%s", emp_measure_name(m));
	page_chart(section, name, c, chart_density(c, v, m, &none));
}

/* ---- pairs of executions ---- */

/* Samples are the executions but for warm-ups and failures, in order. */
static json_t *outside_json(const struct run_view *v, const struct sedona_run *r, const bool *is_l)
{
	json_t *list = json_array();
	size_t k = 0;
	for (size_t i = 0; i < v->count && k < r->samples.count; i++) {
		const struct execution *x = &v->executions[i];
		if (x->warmup || x->number != r->samples.items[k].number ||
		    !execution_succeeded(x, NULL, 0))
			continue;
		if (is_l[k++])
			json_array_append_new(list, json_count(i));
	}
	return list;
}

static json_t *dual_json(const struct run_view *v)
{
	struct sedona_run samples;
	struct study_run found = { 0 };
	sedona_run_of(v->run, v->executions, v->count, &samples);
	json_t *o = json_null();
	if (samples.samples.count > 1) {
		bool *is_l = xcalloc(samples.samples.count, sizeof *is_l);
		sedona_split(&samples, is_l, &found);
		o = json_object();
		json_object_set_new(o, "levels",
				    json_shapes(&study_level_shape, found.levels.items,
						found.levels.count, sizeof *found.levels.items));
		json_object_set_new(o, "outside", outside_json(v, &samples, is_l));
		xfree(is_l);
	}
	array_release(&found.levels);
	array_release(&found.l_samples);
	sedona_run_release(&samples);
	return o;
}

/* ---- the section ---- */

static json_t *parameters_json(const struct run *run)
{
	json_t *list = json_array();
	for (size_t i = 0; i < run->parameters.count; i++) {
		json_t *o = json_object();
		json_object_set_new(o, "name", json_text(run->parameters.items[i].name));
		json_object_set_new(o, "value", json_text(run->parameters.items[i].value));
		json_array_append_new(list, o);
	}
	return list;
}

static int by_et(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->et_ns != y->et_ns)
		return x->et_ns < y->et_ns ? -1 : 1;
	return x->position < y->position ? -1 : 1;
}

static void rank(struct time_section *t)
{
	const struct run_view *v = t->view;
	t->by_et = xcalloc(v->count + 1, sizeof *t->by_et);
	for (size_t i = 0; i < v->count; i++)
		if (rule_is_measured(v->result->verdicts[i].rule))
			t->by_et[t->measured++] = (struct ranked){ v->executions[i].et_ns, i };
	qsort(t->by_et, t->measured, sizeof *t->by_et, by_et);
}

static void set_parts(struct time_section *t, size_t share, const struct page_traces *traces)
{
	const struct run_view *v = t->view;
	const struct run *run = v->run;
	json_t *o = t->section;
	uint64_t shell_ns = run->shell_et_ns == ABSENT_NS ? 0 : run->shell_et_ns;
	json_object_set_new(o, "command", json_text(run->command ? run->command : ""));
	json_object_set_new(o, "parameters", parameters_json(run));
	json_object_set_new(o, "backend", json_string(backend_name(run->backend)));
	json_object_set_new(o, "headline", json_string(emp_measure_name(v->result->headline)));
	json_object_set_new(o, "shell_ns", json_count(shell_ns));
	json_object_set_new(o, "planned", json_id(run->planned));
	json_object_set_new(o, "kept", summaries_json(v->result, v->result->kept));
	json_object_set_new(o, "unfiltered", summaries_json(v->result, v->result->unfiltered));
	json_object_set_new(o, "rule2", bounds_json(&v->result->outside));
	json_object_set_new(o, "warnings", warnings_json(v->result));
	json_object_set_new(o, "columns", columns_json(t));
	json_object_set_new(o, "reasons", reasons_json(t));
	add_density(o, v, EMP_ET);
	if (v->result->headline >= EMP_PT_NET && v->result->headline <= EMP_PT_TICK)
		add_density(o, v, v->result->headline);
	json_object_set_new(o, "ledger", page_ledger(t, share));
	json_object_set_new(o, "dual", dual_json(v));
	json_object_set_new(o, "details", page_details(t, share, traces));
	json_object_set(o, "names", t->names);
}

void page_add_time(struct page *p, const struct run_view *view, size_t share,
		   const struct page_traces *traces)
{
	struct time_section t = { .view = view,
				  .section = page_head(p, "time", view->run, view->machine, NULL),
				  .names = json_array(),
				  .name_index = json_object(),
				  .slices_left = MOST_SLICES / (share ? share : 1) };
	rank(&t);
	set_parts(&t, share ? share : 1, traces);
	page_add(p, t.section);
	json_decref(t.names);
	json_decref(t.name_index);
	xfree(t.by_et);
}

/* ---- several of them ---- */

static json_t *comparison_json(const struct page_time_comparison *c)
{
	const struct emp_comparison *r = &c->result;
	json_t *o = json_object();
	json_object_set_new(o, "section", json_count(c->section));
	json_object_set_new(o, "ratio", json_real_or_null(r->ratio));
	json_object_set_new(o, "ratio_low", json_real_or_null(r->ratio_low));
	json_object_set_new(o, "ratio_high", json_real_or_null(r->ratio_high));
	json_object_set_new(o, "p", json_real_or_null(r->p));
	json_object_set_new(o, "test", json_text(r->test));
	json_object_set_new(o, "significant", json_boolean(r->significant));
	json_object_set_new(o, "sentence", json_text(c->sentence));
	return o;
}

void page_compare_times(struct page *p, size_t reference, enum emp_measure measure,
			const struct page_time_comparison *list, size_t count)
{
	json_t *o = json_object(), *sections = json_array(), *rows = json_array();
	bool placed = false;
	for (size_t i = 0; i < count; i++) {
		if (!placed && list[i].section > reference) {
			json_array_append_new(sections, json_count(reference));
			placed = true;
		}
		json_array_append_new(sections, json_count(list[i].section));
		json_array_append_new(rows, comparison_json(&list[i]));
	}
	if (!placed)
		json_array_append_new(sections, json_count(reference));
	json_object_set_new(o, "kind", json_string("time"));
	json_object_set_new(o, "sections", sections);
	json_object_set_new(o, "reference", json_count(reference));
	json_object_set_new(o, "measure", json_string(emp_measure_name(measure)));
	json_object_set_new(o, "rows", rows);
	page_compare(p, o);
}
