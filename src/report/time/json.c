/* hyperfine's export with what tare knows beside it. hyperfine's fields have hyperfine's meaning:
 * seconds of elapsed time over every measured execution, dropped ones included. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "report/core/format.h"
#include "report/core/json.h"
#include "report/time/execution_json.h"
#include "report/time/several.h"

/* hyperfine has the code a shell would give; it knows no time limit. */
static json_t *exit_code(const struct execution *x)
{
	if (x->outcome == OUTCOME_TIMED_OUT)
		return json_null();
	return json_integer(x->outcome == OUTCOME_SIGNALLED ? 128 + x->status : x->status);
}

static json_t *process_time(const struct run_view *view, const struct execution *x)
{
	if (view->result->headline == EMP_ET)
		return json_null();
	enum grade grade = (enum grade)(view->result->headline - EMP_PT_NET);
	if (x->pt_ns[grade] == ABSENT_NS)
		return json_null();
	return json_real(less_shell(x->pt_ns[grade], view->run->shell_pt_ns[grade]) / 1e9);
}

static void set_statistics(json_t *object, const struct run_view *view)
{
	size_t n = 0;
	double *times = measured_et(view, &n);
	struct summary s = { 0 };
	if (n)
		summarise(times, n, &s);
	xfree(times);
	double second = n ? 1e9 : NAN; /* without an execution every figure is null */
	double user, system;
	measured_user_system(view, &user, &system);
	json_object_set_new(object, "mean", json_real_or_null(s.mean / second));
	json_object_set_new(object, "stddev", n > 1 ? json_real(s.stddev / 1e9) : json_null());
	json_object_set_new(object, "median", json_real_or_null(s.median / second));
	json_object_set_new(object, "user", json_real_or_null(user / 1e9));
	json_object_set_new(object, "system", json_real_or_null(system / 1e9));
	json_object_set_new(object, "min", json_real_or_null(s.min / second));
	json_object_set_new(object, "max", json_real_or_null(s.max / second));
}

static void set_lists(json_t *object, const struct run_view *view)
{
	json_t *times = json_array(), *process_times = json_array();
	json_t *memory = json_array(), *codes = json_array();
	for (size_t i = 0; i < view->count; i++) {
		const struct execution *x = &view->executions[i];
		if (x->warmup)
			continue;
		json_array_append_new(
			times, json_real(less_shell(x->et_ns, view->run->shell_et_ns) / 1e9));
		json_array_append_new(process_times, process_time(view, x));
		json_array_append_new(memory,
				      x->totals.rss_peak_bytes
					      ? json_integer((json_int_t)x->totals.rss_peak_bytes)
					      : json_null());
		json_array_append_new(codes, exit_code(x));
	}
	json_object_set_new(object, "times", times);
	json_object_set_new(object, "memory_usage_byte", memory);
	json_object_set_new(object, "exit_codes", codes);
	json_object_set_new(object, "process_times", process_times);
}

static json_t *drops_json(const struct run_view *view)
{
	json_t *drops = json_array();
	for (size_t i = 0; i < view->result->count && i < view->count; i++) {
		const struct emp_verdict *v = &view->result->verdicts[i];
		if (v->rule == EMP_KEPT || v->rule == EMP_WARMUP)
			continue;
		json_t *drop = verdict_json(v);
		json_object_set_new(drop, "number", json_integer(view->executions[i].number));
		json_array_append_new(drops, drop);
	}
	return drops;
}

static json_t *cutoffs_json(const struct emp_cutoffs *c)
{
	if (!c->count)
		return json_null();
	json_t *o = json_object();
	json_object_set_new(o, "study", json_id(c->study));
	json_object_set_new(o, "made_at", json_date(c->made_at_ns));
	json_object_set_new(o, "count", json_integer((json_int_t)c->count));
	json_object_set_new(o, "hold", json_integer((json_int_t)c->hold));
	json_object_set_new(o, "program_ns", json_real(c->program_ns));
	json_object_set_new(o, "daemons_seen", json_boolean(c->seen));
	return o;
}

static json_t *protocol_json(const struct run_view *view)
{
	const struct emp_result *r = view->result;
	json_t *o = json_object(), *measures = json_object(), *warnings = json_array();
	json_object_set_new(o, "name", json_string("emp"));
	json_object_set_new(o, "headline", json_string(emp_measure_name(r->headline)));
	json_object_set_new(o, "user_share", json_real_or_null(r->user_share));
	for (enum emp_measure m = 0; m < EMP_MEASURES; m++) {
		json_t *pair = json_object();
		json_object_set_new(pair, "kept",
				    r->present[m] ? json_summary(&r->kept[m]) : json_null());
		json_object_set_new(pair, "unfiltered",
				    r->present[m] ? json_summary(&r->unfiltered[m]) : json_null());
		json_object_set_new(measures, emp_measure_name(m), pair);
	}
	for (size_t i = 0; i < r->warnings.count; i++) {
		const struct emp_warning *w = &r->warnings.items[i];
		json_t *warning = json_object();
		json_object_set_new(warning, "id", json_text(w->id));
		json_object_set_new(warning, "text", json_text(w->text));
		json_object_set_new(warning, "remedy", json_text(w->remedy));
		json_array_append_new(warnings, warning);
	}
	json_object_set_new(o, "measures", measures);
	json_object_set_new(o, "cutoffs", cutoffs_json(&r->cutoffs));
	json_object_set_new(o, "drops", drops_json(view));
	json_object_set_new(o, "warnings", warnings);
	return o;
}

static json_t *shell_json(const struct run *run)
{
	if (!run->shell)
		return json_null();
	json_t *o = json_object(), *pt = json_object();
	json_object_set_new(o, "command", json_text(run->shell));
	json_object_set_new(o, "et_ns", json_ns(run->shell_et_ns));
	for (enum grade g = 0; g < GRADES; g++)
		json_object_set_new(pt, grade_name(g), json_ns(run->shell_pt_ns[g]));
	json_object_set_new(o, "pt_ns", pt);
	return o;
}

static json_t *tare_json(const struct run_view *view)
{
	const struct run *run = view->run;
	enum emp_measure headline = view->result->headline;
	json_t *o = json_object(), *executions = json_array();
	json_object_set_new(o, "version", json_text(run->version));
	json_object_set_new(o, "run", json_id(run->id));
	json_object_set_new(o, "study", json_id(run->study));
	json_object_set_new(o, "status", json_string(run_status_name(run->status)));
	json_object_set_new(o, "command_line", json_text(run->command));
	json_object_set_new(o, "directory", json_text(run->directory));
	json_object_set_new(o, "tags", json_text(run->tags));
	json_object_set_new(o, "conditions", json_conditions(&run->conditions));
	json_object_set_new(o, "backend", json_string(backend_name(run->backend)));
	json_object_set_new(o, "not_seen", json_text(run->not_seen));
	json_object_set_new(o, "grade",
			    headline == EMP_ET
				    ? json_null()
				    : json_string(grade_name((enum grade)(headline - EMP_PT_NET))));
	json_object_set_new(o, "machine", json_machine(view->machine));
	json_object_set_new(o, "started_at", json_date(run->started_at_ns));
	json_object_set_new(o, "ended_at", json_date(run->ended_at_ns));
	json_object_set_new(o, "planned", json_id(run->planned));
	json_object_set_new(o, "shell", shell_json(run));
	json_object_set_new(o, "protocol", protocol_json(view));
	json_object_set_new(o, "ledger", ledger_means_json(view));
	for (size_t i = 0; i < view->count; i++)
		json_array_append_new(
			executions,
			execution_json(&view->executions[i], i < view->result->count
								     ? &view->result->verdicts[i]
								     : NULL));
	json_object_set_new(o, "executions", executions);
	return o;
}

static json_t *result_json(const struct run_view *view)
{
	json_t *o = json_object();
	json_object_set_new(o, "command", json_text(run_title(view->run)));
	set_statistics(o, view);
	set_lists(o, view);
	if (view->run->parameters.count) {
		json_t *parameters = json_object();
		for (size_t i = 0; i < view->run->parameters.count; i++) {
			const struct parameter *p = &view->run->parameters.items[i];
			char *name = text_utf8(p->name);
			json_object_set_new(parameters, name, json_text(p->value));
			xfree(name);
		}
		json_object_set_new(o, "parameters", parameters);
	}
	json_object_set_new(o, "tare", tare_json(view));
	return o;
}

/* The index in `results`. */
static json_int_t place(const struct run_view *views, size_t run)
{
	json_int_t before = 0;
	for (size_t i = 0; i < run; i++)
		before += has_measured(&views[i]);
	return before;
}

static json_t *comparison_json(const struct run_view *views, size_t a, size_t b, enum emp_measure m)
{
	size_t n_a = 0, n_b = 0;
	double *x = emp_values(views[a].run, views[a].executions, views[a].result, m, &n_a);
	double *y = emp_values(views[b].run, views[b].executions, views[b].result, m, &n_b);
	struct emp_comparison c = { 0 };
	emp_compare(x, n_a, y, n_b, &c);
	free(x);
	free(y);
	bool interval = n_a > 1 && n_b > 1;
	json_t *o = json_object();
	json_object_set_new(o, "reference", json_integer(place(views, a)));
	json_object_set_new(o, "result", json_integer(place(views, b)));
	json_object_set_new(o, "measure", json_string(emp_measure_name(m)));
	json_object_set_new(o, "ratio", json_real_or_null(c.ratio));
	json_object_set_new(o, "ratio_low", json_real_or_null(interval ? c.ratio_low : NAN));
	json_object_set_new(o, "ratio_high", json_real_or_null(interval ? c.ratio_high : NAN));
	json_object_set_new(o, "p", json_real_or_null(interval ? c.p : NAN));
	json_object_set_new(o, "test", json_text(c.test));
	json_object_set_new(o, "significant", json_boolean(interval && c.significant));
	return o;
}

static json_t *comparisons_json(const struct run_view *views, size_t count, size_t wanted)
{
	json_t *list = json_array();
	enum emp_measure m = study_measure(views, count);
	size_t reference = reference_run(views, count, m, wanted);
	for (size_t i = 0; i < count && reference < count; i++)
		if (i != reference && views[i].result->kept[m].n)
			json_array_append_new(list, comparison_json(views, reference, i, m));
	return list;
}

void time_json(const struct run_view *views, size_t count, size_t reference, struct strbuf *out)
{
	json_t *root = json_object(), *tare = json_object();
	json_t *results = json_array(), *failed = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(has_measured(&views[i]) ? results : failed,
				      result_json(&views[i]));
	json_object_set_new(root, "results", results);
	json_object_set_new(tare, "format", json_integer(1));
	json_object_set_new(tare, "comparisons", comparisons_json(views, count, reference));
	json_object_set_new(tare, "failed_runs", failed);
	json_object_set_new(root, "tare", tare);
	put_json(root, 2, out);
}
