#include "cmd/view.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "report/core/format.h"
#include "run/find.h"

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
	size_t measured = 0, with = 0;
	for (size_t i = 0; i < l->executions.count; i++) {
		measured += !l->executions.items[i].warmup;
		with += l->executions.items[i].ledger.present;
	}
	if (l->run.conditions.no_ledger)
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

struct noise_view loaded_noise(const struct loaded_run *l)
{
	return (struct noise_view){ .run = &l->run,
				    .noise = l->stored ? &l->noise : NULL,
				    .machine = l->machine.facts.count ? &l->machine : NULL };
}

struct profile_subject loaded_profile(const struct loaded_run *l)
{
	return (struct profile_subject){ .run = &l->run,
					 .machine = l->machine.facts.count ? &l->machine : NULL,
					 .profile = &l->profile,
					 .begin_ns = l->begin_ns };
}

struct query_view loaded_queries(const struct loaded_run *l)
{
	return (struct query_view){ .run = &l->run,
				    .machine = l->machine.facts.count ? &l->machine : NULL,
				    .data = l->stored ? &l->queries : NULL,
				    .options = &l->ttp_options,
				    .result = &l->ttp };
}

struct duet_view loaded_duet(const struct loaded_run *l)
{
	return (struct duet_view){ .run = &l->run,
				   .machine = l->machine.facts.count ? &l->machine : NULL,
				   .duet = l->stored ? &l->duet : NULL,
				   .result = &l->duet_result };
}

/* "'name' (run 3)", "'name' (runs 3, 5, 8)" */
static void put_side(const struct loaded_run *runs, size_t count, struct strbuf *out)
{
	char name[64];
	text_display(runs->run.name, name, sizeof name);
	strbuf_printf(out, "'%s' (%s", name, count > 1 ? "runs" : "run");
	for (size_t i = 0; i < count; i++)
		strbuf_printf(out, "%s %lld", i ? "," : "", (long long)runs[i].run.id);
	strbuf_putc(out, ')');
}

void comparison_sentence(const struct loaded_run *base, const struct loaded_run *other,
			 const struct run_comparison *c, struct strbuf *out)
{
	const struct emp_comparison *r = &c->result;
	if (!isfinite(r->ratio)) {
		strbuf_puts(out, "No comparison can be made of ");
		put_side(other, r->runs_b, out);
		strbuf_puts(out, " and ");
		put_side(base, r->runs_a, out);
		strbuf_printf(out, " in %s: one of them %s", emp_measure_title(c->measure),
			      base->run.shell || other->run.shell
				      ? "took no time above the shell's own"
				      : "was too short to tell");
		return;
	}
	if (r->needed) {
		strbuf_puts(out, "No comparison can be made of ");
		put_side(other, r->runs_b, out);
		strbuf_puts(out, " and ");
		put_side(base, r->runs_a, out);
		strbuf_printf(out,
			      " in %s: ratio %.4f, but there are too few executions to say whether "
			      "that is chance (%zu against %zu): about %zu are needed",
			      emp_measure_title(c->measure), r->ratio, r->n_b, r->n_a, r->needed);
		return;
	}
	if (!r->significant) {
		strbuf_puts(out, "No difference shown between ");
		put_side(other, r->runs_b, out);
		strbuf_puts(out, " and ");
	} else if (emp_is_count(c->measure)) {
		put_side(other, r->runs_b, out);
		strbuf_printf(out, " takes %.3f times %s %s than ",
			      r->ratio >= 1 ? r->ratio : 1 / r->ratio,
			      r->ratio >= 1 ? "more" : "fewer", emp_measure_names[c->measure]);
	} else {
		put_side(other, r->runs_b, out);
		strbuf_printf(out, " is %.3f times %s than ",
			      r->ratio >= 1 ? r->ratio : 1 / r->ratio,
			      r->ratio >= 1 ? "slower" : "faster");
	}
	put_side(base, r->runs_a, out);
	strbuf_printf(out, " in %s: ratio %.4f, ",
		      emp_is_count(c->measure) && r->significant ? "user mode"
								 : emp_measure_title(c->measure),
		      r->ratio);
	if (isfinite(r->p)) {
		strbuf_printf(out, "95%% interval %.4f to %.4f, ", r->ratio_low, r->ratio_high);
		if (r->p < 0.0001)
			strbuf_puts(out, "p < 0.0001");
		else
			strbuf_printf(out, "p = %.4f", r->p);
		strbuf_printf(out, " (%s, %zu against %zu executions)", r->test, r->n_b, r->n_a);
	} else {
		strbuf_printf(out, "no interval of %zu against %zu execution%s", r->n_b, r->n_a,
			      r->n_a == 1 ? "" : "s");
	}
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
	SCOPED(strbuf_release) struct strbuf words = { 0 };
	comparison_sentence(base, other, c, &words);
	put_paragraph(out, &p, strbuf_text(&words));
}

void put_comparison_why(enum emp_measure measure, const char *why, struct strbuf *out)
{
	const struct paragraph p = { .width = (size_t)cmd_columns(), .indent = 2, .first = "" };
	SCOPED(strbuf_release) struct strbuf words = { 0 };
	if (!*why)
		return;
	strbuf_printf(&words, "Compared by %s: %s.", emp_measure_title(measure), why);
	put_paragraph(out, &p, strbuf_text(&words));
}

const enum emp_measure compared_measures[8] = { EMP_MEASURES,	  EMP_ET,      EMP_PT_NET,
						EMP_PT_EXEC,	  EMP_PT_TICK, EMP_PT_STEADY,
						EMP_INSTRUCTIONS, EMP_CYCLES };

const char *const compared_words[8] = { NULL,	"et",	  "net",	  "exec",
					"tick", "steady", "instructions", "cycles" };

/* With fewer on a side, a check could hardly ever fail. */
#define LEAST_CHECKED 4

bool cmd_judge_slower(const struct run_comparison *c, double share)
{
	const struct emp_comparison *r = &c->result;
	if (!isfinite(r->ratio)) {
		fputs("tare: it took too little time to tell whether it is slower\n", stderr);
		return true;
	}
	if (!isfinite(r->p) || r->n_a < LEAST_CHECKED || r->n_b < LEAST_CHECKED) {
		fputs("tare: too few executions to tell whether it is slower\n", stderr);
		return true;
	}
	if (!r->significant || r->ratio <= 1 + share)
		return false;
	fprintf(stderr, "tare: slower by more than %g %%\n", share * 100);
	return true;
}

int cmd_add_run(loaded_list *list, struct lab *lab, int64_t id, bool whole_study,
		const struct load_options *how, struct error *err)
{
	if (!whole_study)
		return loaded_add(list, lab, id, how, err);
	SCOPED(run_release) struct run run = { 0 };
	FREED run_list runs = { 0 };
	int failed = lab_get_run(lab, id, &run, err) ||
		     lab_invocation_runs(lab, run.invocation, &runs, err);
	for (size_t i = 0; i < runs.count; i++) {
		if (!failed)
			failed = loaded_add(list, lab, runs.items[i].id, how, err);
		run_release(&runs.items[i]);
	}
	return failed;
}

int cmd_load_runs(struct lab_access *in, const text_list *names, bool whole_study,
		  const struct load_options *how, loaded_list *list, struct error *err)
{
	struct lab *lab = lab_access_open(in, err);
	int failed = lab ? 0 : -1;
	for (size_t i = 0; !failed && (i < names->count || !i); i++) {
		int64_t id;
		failed = run_find(lab, names->count ? names->items[i] : "last",
				  LAB_OF(SUBJECT_COMMAND), &id, err) ||
			 cmd_add_run(list, lab, id, whole_study, how, err);
	}
	return failed;
}
