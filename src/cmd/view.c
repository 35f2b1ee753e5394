#include "cmd/view.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "report/core/format.h"

static void read_conditions(const char *json, struct loaded_conditions *c)
{
	json_t *all = json ? json_loads(json, 0, NULL) : NULL;
	c->ignore_failure = json_is_true(json_object_get(all, "ignore_failure"));
	c->keep_outliers = json_is_true(json_object_get(all, "keep_outliers"));
	c->no_cutoffs = json_is_false(json_object_get(all, "cutoffs"));
	c->quieted = json_object_get(all, "quiet") != NULL;
	json_t *codes = json_object_get(all, "expected_codes");
	for (size_t i = 0; i < json_array_size(codes); i++)
		array_push(&c->codes, (int)json_integer_value(json_array_get(codes, i)));
	json_decref(all);
}

static void release_one(struct loaded_run *l)
{
	for (size_t i = 0; i < l->executions.count; i++)
		execution_release(&l->executions.items[i]);
	array_release(&l->executions);
	array_release(&l->conditions.codes);
	lab_cutoffs_release(&l->cutoffs);
	run_release(&l->run);
	machine_release(&l->machine);
	emp_result_release(&l->result);
}

struct emp_options loaded_options(const struct loaded_run *l)
{
	const struct lab_cutoffs *c = &l->cutoffs;
	return (struct emp_options){
		.keep_outside = l->conditions.keep_outliers,
		.ignore_failure = l->conditions.ignore_failure,
		.expected_codes = l->conditions.codes.items,
		.expected_count = l->conditions.codes.count,
		.cutoffs = c->cutoffs.items,
		.cutoff_count = c->cutoffs.count,
		.origin = { .study = c->study,
			    .made_at_ns = c->made_at_ns,
			    .then = c->machine.facts.count ? &c->machine : NULL,
			    .now = l->machine.facts.count ? &l->machine : NULL,
			    .quieted = l->conditions.quieted },
	};
}

/* The run, its machine and the cutoffs that apply, then its executions. */
static int load(struct lab *lab, int64_t run, enum lab_detail detail, enum cutoff_use use,
		struct loaded_run *l, struct error *err)
{
	if (lab_get_run(lab, run, &l->run, err) ||
	    (l->run.machine && lab_get_machine(lab, l->run.machine, &l->machine, err)))
		return -1;
	read_conditions(l->run.conditions, &l->conditions);
	bool wanted = use == CUTOFFS_ALL || (use == CUTOFFS_OF_RUN && !l->conditions.no_cutoffs);
	if (wanted && l->machine.facts.count && lab_get_cutoffs(lab, &l->machine, &l->cutoffs, err))
		return -1;
	/* cutoffs are about processes */
	if (l->cutoffs.cutoffs.count && detail < LAB_PROCESSES)
		detail = LAB_PROCESSES;
	return lab_get_executions(lab, run, detail, &l->executions, err);
}

int loaded_add_by(loaded_list *list, struct lab *lab, int64_t run, enum lab_detail detail,
		  enum cutoff_use use, struct error *err)
{
	struct loaded_run l = { 0 };
	if (load(lab, run, detail, use, &l, err)) {
		release_one(&l);
		return -1;
	}
	if (strcmp(lab_path(lab), LAB_IN_MEMORY) == 0)
		l.run.id = 0; /* nobody can look at it later: no advice may name it */
	struct emp_options options = loaded_options(&l);
	emp_judge(&l.run, l.executions.items, l.executions.count, &options, &l.result);
	array_push(list, l);
	return 0;
}

int loaded_add(loaded_list *list, struct lab *lab, int64_t run, enum lab_detail detail,
	       struct error *err)
{
	return loaded_add_by(list, lab, run, detail, CUTOFFS_OF_RUN, err);
}

void loaded_release(loaded_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		release_one(&list->items[i]);
	array_release(list);
}

int loaded_find_execution(const struct loaded_run *l, const char *command, const char *text,
			  size_t *index, struct error *err)
{
	bool warmup = *text == 'w';
	char shown[64];
	long number;
	uint32_t last = 0;
	text_display(text, shown, sizeof shown);
	if (!integer_parse(text + warmup, 1, INT_MAX, &number)) {
		error_set(err, EXIT_USAGE, "%s: '%s' is not the number of an execution", command,
			  shown);
		return error_hint(err, "give 1, 2, ..., or w1 for the first warm-up");
	}
	for (size_t i = 0; i < l->executions.count; i++) {
		const struct execution *x = &l->executions.items[i];
		if (x->warmup != warmup)
			continue;
		last = x->number > last ? x->number : last;
		if (x->number == (uint32_t)number) {
			*index = i;
			return 0;
		}
	}
	error_set(err, EXIT_USAGE, "run %lld has no %s %ld", (long long)l->run.id,
		  warmup ? "warm-up" : "execution", number);
	if (last)
		return error_hint(err, "it has 1 to %u; 'tare show --executions %lld' lists them",
				  last, (long long)l->run.id);
	return -1;
}

int loaded_no_ledger(const struct loaded_run *l, size_t only, struct error *err)
{
	const char *of = only == LEDGER_OF_KEPT ? "" : " of this execution";
	json_t *all = l->run.conditions ? json_loads(l->run.conditions, 0, NULL) : NULL;
	bool declined = json_is_false(json_object_get(all, "ledger"));
	size_t measured = 0, with = 0;
	json_decref(all);
	for (size_t i = 0; i < l->executions.count; i++) {
		measured += !l->executions.items[i].warmup;
		with += l->executions.items[i].ledger.present;
	}
	if (declined)
		error_set(err, EXIT_ENVIRONMENT, "no ledger was kept%s: --no-ledger was given", of);
	else if (l->run.backend != BACKEND_BPF)
		error_set(err, EXIT_ENVIRONMENT, "no ledger was kept%s: the %s back end keeps none",
			  of, backend_name(l->run.backend));
	else if (!measured)
		error_set(err, EXIT_ENVIRONMENT, "no ledger was kept: no execution was measured");
	else if (with && only == LEDGER_OF_KEPT)
		error_set(err, EXIT_ENVIRONMENT,
			  "there is no ledger to show: none of the executions with one was kept");
	else
		error_set(err, EXIT_ENVIRONMENT, "no ledger was kept%s%s%s", of,
			  l->run.not_seen ? "; not seen: " : "",
			  l->run.not_seen ? l->run.not_seen : "");
	if (with)
		error_hint(err, "'tare show --ledger -e NUM' shows that of one execution");
	else
		error_hint(err, "measure again as root, where the bpf back end keeps one: "
				"sudo tare time --ledger ...");
	return l->run.id > 0 ? error_prefix(err, "run %lld", (long long)l->run.id) : -1;
}

struct run_view *loaded_views(const loaded_list *list)
{
	struct run_view *views = xcalloc(list->count, sizeof *views);
	for (size_t i = 0; i < list->count; i++) {
		const struct loaded_run *l = &list->items[i];
		views[i] =
			(struct run_view){ .run = &l->run,
					   .executions = l->executions.items,
					   .count = l->executions.count,
					   .result = &l->result,
					   .machine = l->machine.facts.count ? &l->machine : NULL };
	}
	return views;
}

static bool both_have(const struct loaded_run *a, const struct loaded_run *b, enum emp_measure m)
{
	return a->result.present[m] && b->result.present[m] && a->result.kept[m].n &&
	       b->result.kept[m].n;
}

static const char *measure_words(enum emp_measure m)
{
	switch (m) {
	case EMP_ET:
		return "elapsed time";
	case EMP_PT_NET:
		return "process time (net)";
	case EMP_PT_EXEC:
		return "process time (exec)";
	case EMP_PT_TICK:
		return "process time (tick)";
	default:
		return emp_measure_name(m);
	}
}

int loaded_compare(const struct loaded_run *base, const struct loaded_run *other,
		   enum emp_measure measure, struct run_comparison *out, struct error *err)
{
	static const enum emp_measure best[] = { EMP_PT_NET, EMP_PT_EXEC, EMP_PT_TICK, EMP_ET };
	for (size_t i = 0; measure == EMP_MEASURES && i < sizeof best / sizeof *best; i++)
		if (both_have(base, other, best[i]))
			measure = best[i];
	if (measure == EMP_MEASURES || !both_have(base, other, measure)) {
		error_set(err, EXIT_USAGE, "run %lld and run %lld do not both have %s",
			  (long long)base->run.id, (long long)other->run.id,
			  measure == EMP_MEASURES ? "a measured execution"
						  : measure_words(measure));
		return error_hint(err, "'tare show %lld' tells what it holds",
				  (long long)other->run.id);
	}
	size_t n_a, n_b;
	double *a = emp_values(&base->run, base->executions.items, &base->result, measure, &n_a);
	double *b = emp_values(&other->run, other->executions.items, &other->result, measure, &n_b);
	out->measure = measure;
	emp_compare(a, n_a, b, n_b, &out->result);
	free(a);
	free(b);
	return 0;
}

void comparison_sentence(const struct loaded_run *base, const struct loaded_run *other,
			 const struct run_comparison *c, struct strbuf *out)
{
	char a[64], b[64];
	const struct emp_comparison *r = &c->result;
	text_display(base->run.name, a, sizeof a);
	text_display(other->run.name, b, sizeof b);
	if (!r->significant)
		strbuf_printf(out,
			      "No difference shown between '%s' (run %lld) and '%s' (run %lld)", b,
			      (long long)other->run.id, a, (long long)base->run.id);
	else
		strbuf_printf(out, "'%s' (run %lld) is %.3f times %s than '%s' (run %lld)", b,
			      (long long)other->run.id, r->ratio >= 1 ? r->ratio : 1 / r->ratio,
			      r->ratio >= 1 ? "slower" : "faster", a, (long long)base->run.id);
	strbuf_printf(out, " in %s: ratio %.4f, 95%% interval %.4f to %.4f, ",
		      measure_words(c->measure), r->ratio, r->ratio_low, r->ratio_high);
	if (r->p < 0.0001)
		strbuf_puts(out, "p < 0.0001");
	else
		strbuf_printf(out, "p = %.4f", r->p);
	strbuf_printf(out, " (%s, %zu against %zu executions)", r->test, r->n_b, r->n_a);
	if (base->run.backend != other->run.backend)
		strbuf_printf(
			out,
			", measured by different back ends, %s and %s: part of it may be theirs",
			backend_name(other->run.backend), backend_name(base->run.backend));
}

void put_comparison(const struct loaded_run *base, const struct loaded_run *other,
		    const struct run_comparison *c, struct strbuf *out)
{
	const struct paragraph p = { .width = (size_t)cmd_columns(), .indent = 2, .first = "" };
	struct strbuf words = { 0 };
	comparison_sentence(base, other, c, &words);
	put_paragraph(out, &p, strbuf_text(&words));
	strbuf_release(&words);
}

const enum emp_measure compared_measures[5] = { EMP_MEASURES, EMP_ET, EMP_PT_NET, EMP_PT_EXEC,
						EMP_PT_TICK };

/* Even if all of one side lay above all of the other, would p be below 0.05? */
static bool is_decidable(const struct emp_comparison *r)
{
	double arrangements = 1;
	for (size_t i = 1; i <= r->n_a && arrangements < 40; i++)
		arrangements = arrangements * (double)(r->n_b + i) / (double)i;
	return arrangements >= 40;
}

bool cmd_judge_slower(const struct run_comparison *c, double share)
{
	if (!is_decidable(&c->result)) {
		fputs("tare: too few executions to tell whether it is slower\n", stderr);
		return true;
	}
	if (!c->result.significant || c->result.ratio <= 1 + share)
		return false;
	fprintf(stderr, "tare: slower by more than %g %%\n", share * 100);
	return true;
}

int cmd_find_run(struct lab *lab, const char *text, int64_t *id, struct error *err)
{
	struct run run = { 0 };
	if (lab_find_run(lab, text, id, err) || lab_get_run(lab, *id, &run, err))
		return -1;
	enum subject_kind kind = run.kind;
	run_release(&run);
	if (kind == SUBJECT_COMMAND)
		return 0;
	if (kind == SUBJECT_SYSTEM) {
		error_set(err, EXIT_USAGE, "run %lld is a profile: it has no executions",
			  (long long)*id);
		return error_hint(err, "'tare profile report %lld' shows it", (long long)*id);
	}
	if (kind == SUBJECT_QUERY) {
		error_set(err, EXIT_USAGE, "run %lld is one of 'tare query'", (long long)*id);
		return error_hint(err, "'tare query report %lld' shows it", (long long)*id);
	}
	error_set(err, EXIT_USAGE, "run %lld is one of 'tare noise': it has no executions",
		  (long long)*id);
	return error_hint(err, "'tare noise show %lld' shows it", (long long)*id);
}

static int add_found(loaded_list *list, struct lab *lab, const char *name, enum lab_detail detail,
		     bool whole_study, enum cutoff_use use, struct error *err)
{
	int64_t id;
	if (cmd_find_run(lab, name, &id, err))
		return -1;
	if (!whole_study)
		return loaded_add_by(list, lab, id, detail, use, err);
	struct run run = { 0 };
	run_list runs = { 0 };
	int failed = lab_get_run(lab, id, &run, err) || lab_study_runs(lab, run.study, &runs, err);
	for (size_t i = 0; i < runs.count; i++) {
		if (!failed)
			failed = loaded_add_by(list, lab, runs.items[i].id, detail, use, err);
		run_release(&runs.items[i]);
	}
	array_release(&runs);
	run_release(&run);
	return failed;
}

int cmd_load_runs_by(struct lab_access *in, const text_list *names, enum lab_detail detail,
		     bool whole_study, enum cutoff_use use, loaded_list *list, struct error *err)
{
	struct lab *lab = lab_access_open(in, err);
	if (!lab)
		return -1;
	int failed = 0;
	if (!names->count)
		failed = add_found(list, lab, "last", detail, whole_study, use, err);
	for (size_t i = 0; i < names->count && !failed; i++)
		failed = add_found(list, lab, names->items[i], detail, whole_study, use, err);
	return failed;
}

int cmd_load_runs(struct lab_access *in, const text_list *names, enum lab_detail detail,
		  bool whole_study, loaded_list *list, struct error *err)
{
	return cmd_load_runs_by(in, names, detail, whole_study, CUTOFFS_OF_RUN, list, err);
}
