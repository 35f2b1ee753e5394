/* hyperfine's export with what tare knows beside it. hyperfine's fields have hyperfine's meaning:
 * seconds of elapsed time over every measured execution, dropped ones included. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "report/core/format.h"
#include "report/core/json.h"
#include "report/core/shapes.h"
#include "report/time/counters.h"
#include "report/time/execution_json.h"
#include "report/time/several.h"

static json_t *tare_json(const struct run_view *view)
{
	const struct emp_result *r = view->result;
	json_t *o = json_shape(&run_shape, &(struct judged_run){ *view->run, *r });
	json_t *protocol = json_object_get(o, "protocol");
	for (size_t i = 0; i < view->count; i++) {
		const struct emp_verdict *v = i < r->count ? &r->verdicts[i] : NULL;
		json_append(o, "executions", execution_json(&view->executions[i], v));
		if (!v || v->rule == EMP_KEPT || v->rule == EMP_WARMUP)
			continue;
		json_t *drop = json_shape(&drop_shape, v);
		json_object_set_new(drop, "number", json_integer(view->executions[i].number));
		json_append(protocol, "drops", drop);
	}
	if (r->cutoffs.count)
		json_object_set_new(protocol, "cutoffs", json_shape(&cutoffs_shape, &r->cutoffs));
	if (r->headline != EMP_ET)
		json_object_set_new(o, "grade", json_string(grade_names[r->headline - EMP_PT_NET]));
	json_object_set_new(o, "machine", json_machine(view->machine));
	json_object_set_new(o, "ledger", ledger_means_json(view));
	counters_json(view, o);
	return o;
}

static json_t *result_json(const struct run_view *view)
{
	static const char *const lists[] = { "times", "memory_usage_byte", "exit_codes",
					     "process_times" };
	struct hyperfine h = hyperfine_of(view);
	json_t *o = json_shape(&hyperfine_shape, &h);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		json_object_set_new(o, lists[i], json_array());
	for (size_t i = 0; i < view->count; i++) {
		const struct execution *x = &view->executions[i];
		if (x->warmup)
			continue;
		uint64_t peak = x->totals.rss_peak_bytes;
		/* hyperfine has the code a shell would give; it knows no time limit */
		int code = x->outcome == OUTCOME_SIGNALLED ? 128 + x->status : x->status;
		json_append(o, "times",
			    json_real(less_shell(x->et_ns, view->run->shell_et_ns) / 1e9));
		json_append(o, "memory_usage_byte", peak ? json_count(peak) : json_null());
		json_append(o, "exit_codes",
			    x->outcome == OUTCOME_TIMED_OUT ? json_null() : json_integer(code));
		json_append(o, "process_times", json_real_or_null(headline_pt(view, x) / 1e9));
	}
	if (view->run->parameters.count)
		json_object_update_new(o, json_shape(&parameters_shape, view->run));
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

static json_t *comparison_json(const struct run_view *views, size_t a, size_t b,
			       const struct emp_choice *by)
{
	struct emp_comparison c;
	const struct emp_judged sides[] = { judged_view(&views[a], false),
					    judged_view(&views[b], true) };
	emp_compare_sides(sides, 2, by->measure, &c);
	json_t *o = json_shape(&comparison_shape, &c);
	json_object_set_new(o, "reference", json_integer(place(views, a)));
	json_object_set_new(o, "result", json_integer(place(views, b)));
	json_object_set_new(o, "measure", json_string(emp_measure_names[by->measure]));
	json_object_set_new(o, "why", json_string(emp_why_names[by->why]));
	return o;
}

void time_json(const struct run_view *views, size_t count, size_t wanted, struct strbuf *out)
{
	json_t *root = json_object(), *tare = json_shape(&tare_shape, views);
	struct emp_choice by = several_choice(views, count, NULL);
	enum emp_measure m = by.measure;
	size_t reference = reference_run(views, count, m, wanted);
	json_object_set_new(root, "results", json_array());
	for (size_t i = 0; i < count; i++) {
		bool measured = has_measured(&views[i]);
		json_append(measured ? root : tare, measured ? "results" : "failed_runs",
			    result_json(&views[i]));
		if (reference < count && i != reference && views[i].result->kept[m].n)
			json_append(tare, "comparisons", comparison_json(views, reference, i, &by));
	}
	json_object_set_new(root, "tare", tare);
	put_json(root, 2, out);
}
