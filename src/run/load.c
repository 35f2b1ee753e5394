#include "run/load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLOOR_NS 100000u /* what is shorter is to a large part the way to the server and back */
#define FLOOR_TICKS 2	 /* of data in ticks: the paper's */

/* ---- runs of commands ---- */

struct emp_options loaded_options(const struct loaded_run *l)
{
	const struct lab_cutoffs *c = &l->cutoffs;
	const struct conditions *how = &l->run.conditions;
	enum emp_measure asked = emp_measure_of(how->measure);
	return (struct emp_options){
		.by_measure = asked != EMP_MEASURES,
		.measure = asked,
		.keep_outside = how->keep_outliers,
		.ignore_failure = how->ignore_failure,
		.expected_codes = how->expected_codes.items,
		.expected_count = how->expected_codes.count,
		.cutoffs = c->cutoffs.items,
		.cutoff_count = c->cutoffs.count,
		.speed_ns = l->speed_ns,
		.origin = { .study = c->study,
			    .made_at_ns = c->made_at_ns,
			    .then = c->machine.facts.count ? &c->machine : NULL,
			    .now = l->machine.facts.count ? &l->machine : NULL,
			    .quieted = how->quieted },
	};
}

static int load_command(struct loaded_run *l, struct lab *lab, int64_t id,
			const struct load_options *o, struct error *err)
{
	enum lab_detail detail = o->detail;
	bool wanted = o->cutoffs == CUTOFFS_ALL ||
		      (o->cutoffs == CUTOFFS_OF_RUN && !l->run.conditions.no_cutoffs);
	if (wanted && l->machine.facts.count && lab_get_cutoffs(lab, &l->machine, &l->cutoffs, err))
		return -1;
	for (enum speed_kind k = 0; k < SPEED_KINDS; k++)
		l->speed_ns[k] = NAN;
	if (l->machine.facts.count && lab_get_speeds(lab, &l->machine, l->speed_ns, err))
		return -1;
	/* cutoffs are about processes */
	if (l->cutoffs.cutoffs.count && detail < LAB_PROCESSES)
		detail = LAB_PROCESSES;
	if (lab_get_executions(lab, id, detail, &l->executions, err))
		return -1;
	if (o->measure)
		l->run.conditions.measure = o->measure;
	const struct emp_options options = loaded_options(l);
	emp_judge(&l->run, l->executions.items, l->executions.count, &options, &l->result);
	l->stored = true;
	return 0;
}

/* The runs of two sides. The caller frees them. */
static struct emp_judged *judged_of(const struct loaded_run *base, size_t n_base,
				    const struct loaded_run *other, size_t n_other)
{
	struct emp_judged *judged = xcalloc(n_base + n_other, sizeof *judged);
	for (size_t i = 0; i < n_base + n_other; i++) {
		const struct loaded_run *l = i < n_base ? &base[i] : &other[i - n_base];
		judged[i] = (struct emp_judged){ &l->run, l->executions.items, &l->result,
						 i >= n_base };
	}
	return judged;
}

void loaded_choose(const struct loaded_run *base, size_t n_base, const struct loaded_run *other,
		   size_t n_other, enum emp_measure asked, struct emp_choice *out,
		   struct strbuf *why)
{
	FREED struct emp_judged *judged = judged_of(base, n_base, other, n_other);
	emp_choose(judged, n_base + n_other, asked, out);
	if (why)
		emp_choice_words(out, judged, why);
}

static bool all_have(const struct emp_judged *runs, size_t count, enum emp_measure m)
{
	for (size_t i = 0; i < count; i++)
		if (!runs[i].result->present[m] || !runs[i].result->kept[m].n)
			return false;
	return true;
}

int loaded_compare_sides(const struct loaded_run *base, size_t n_base,
			 const struct loaded_run *other, size_t n_other, enum emp_measure measure,
			 struct run_comparison *out, struct error *err)
{
	FREED struct emp_judged *judged = judged_of(base, n_base, other, n_other);
	if (measure == EMP_MEASURES) {
		struct emp_choice choice;
		emp_choose(judged, n_base + n_other, measure, &choice);
		measure = choice.measure;
	}
	if (!all_have(judged, n_base + n_other, measure)) {
		error_set(err, EXIT_USAGE, "run %lld and run %lld do not both have %s",
			  (long long)base->run.id, (long long)other->run.id,
			  measure == EMP_ET ? "a measured execution" : emp_measure_title(measure));
		return error_hint(err, "'tare show %lld' tells what it holds",
				  (long long)other->run.id);
	}
	out->measure = measure;
	emp_compare_sides(judged, n_base + n_other, measure, &out->result);
	return 0;
}

int loaded_compare(const struct loaded_run *base, const struct loaded_run *other,
		   enum emp_measure measure, struct run_comparison *out, struct error *err)
{
	return loaded_compare_sides(base, 1, other, 1, measure, out, err);
}

/* ---- noise ---- */

static int load_noise(struct loaded_run *l, struct lab *lab, int64_t id,
		      const struct load_options *o, struct error *err)
{
	if (o->may_be_empty) {
		int failed = lab_has_data(lab, id, &l->stored, err);
		if (failed || !l->stored)
			return failed;
	}
	l->stored = true;
	return lab_get_noise(lab, id, &l->noise, err);
}

/* ---- profiles ---- */

static int load_profile(struct loaded_run *l, struct lab *lab, int64_t id,
			const struct load_options *o, struct error *err)
{
	uint64_t bytes;
	if (lab_measure_profile(lab, id, &l->begin_ns, &bytes, err))
		return -1;
	if (o->may_be_empty && !l->begin_ns && !bytes)
		return 0;
	/* moments of the run as the lab has them */
	uint64_t ends[2] = { o->since_ns, o->until_ns };
	for (int i = 0; i < 2; i++)
		ends[i] = !ends[i]			      ? 0
			  : ends[i] < INT64_MAX - l->begin_ns ? l->begin_ns + ends[i]
							      : INT64_MAX;
	int failed = (o->code ? lab_get_profile : lab_get_profile_without_code)(
		lab, id, ends[0], ends[1], &l->profile, err);
	l->stored = l->profile.slices.count;
	return failed;
}

/* ---- queries ---- */

static int load_queries(struct loaded_run *l, struct lab *lab, int64_t id,
			const struct load_options *o, struct error *err)
{
	if (o->may_be_empty) {
		int failed = lab_has_data(lab, id, &l->stored, err);
		if (failed || !l->stored)
			return failed;
	}
	if (lab_get_query_run(lab, id, &l->queries, err))
		return -1;
	const struct query_run *q = &l->queries;
	/* measured elsewhere, with a clock that has no more than ticks */
	bool ticks = q->imported && q->tick_ns;
	for (size_t i = 0; ticks && i < q->at.count; i++)
		for (size_t k = 0; ticks && k < q->at.items[i].executions.count; k++)
			ticks = q->at.items[i].executions.items[k].measured_ns % q->tick_ns == 0;
	l->ttp_options =
		(struct ttp_options){ .form = o->paper ? TTP_PAPER : TTP_ADAPTED,
				      .tick_ns = q->tick_ns,
				      .floor_ns = ticks ? FLOOR_TICKS * q->tick_ns : FLOOR_NS };
	ttp_judge(q, &l->ttp_options, &l->ttp);
	l->stored = true;
	return 0;
}

/* ---- duets ---- */

static uint64_t known_cost(uint64_t ns)
{
	return ns == ABSENT_NS ? 0 : ns;
}

static int load_duet(struct loaded_run *l, struct lab *lab, int64_t id,
		     const struct load_options *o, struct error *err)
{
	if (o->may_be_empty) {
		int failed = lab_has_data(lab, id, &l->stored, err);
		if (failed || !l->stored)
			return failed;
	}
	struct duet *d = &l->duet;
	if (lab_get_duet(lab, id, d, err))
		return -1;
	d->ignore_failure = l->run.conditions.ignore_failure;
	array_each(code, &l->run.conditions.expected_codes)
		array_push(&d->expected_codes, *code);
	d->shell_et_ns = known_cost(l->run.shell_et_ns);
	for (int g = 0; g < GRADES; g++)
		d->shell_pt_ns[g] = known_cost(l->run.shell_pt_ns[g]);
	duet_judge(d, DUET_MEASURES, &l->duet_result);
	l->stored = true;
	return 0;
}

/* ---- any ---- */

static int (*const load[SUBJECT_KINDS])(struct loaded_run *l, struct lab *lab, int64_t id,
					const struct load_options *o, struct error *err) = {
	[SUBJECT_COMMAND] = load_command, [SUBJECT_CPU] = load_noise,
	[SUBJECT_SYSTEM] = load_profile,  [SUBJECT_QUERY] = load_queries,
	[SUBJECT_DUET] = load_duet,
};

int run_load(struct loaded_run *into, struct lab *lab, int64_t id,
	     const struct load_options *options, struct error *err)
{
	static const struct load_options none;
	*into = (struct loaded_run){ 0 };
	if (lab_get_run(lab, id, &into->run, err) ||
	    (into->run.machine && lab_get_machine(lab, into->run.machine, &into->machine, err)) ||
	    load[into->run.kind](into, lab, id, options ? options : &none, err)) {
		loaded_run_release(into);
		return -1;
	}
	if (strcmp(lab_path(lab), LAB_IN_MEMORY) == 0)
		into->run.id = 0; /* nobody can look at it later: no advice may name it */
	return 0;
}

void loaded_run_release(struct loaded_run *l)
{
	if (l->run.kind == SUBJECT_COMMAND) {
		for (size_t i = 0; i < l->executions.count; i++)
			execution_release(&l->executions.items[i]);
		array_release(&l->executions);
		lab_cutoffs_release(&l->cutoffs);
		emp_result_release(&l->result);
	} else if (l->run.kind == SUBJECT_CPU) {
		noise_release(&l->noise);
	} else if (l->run.kind == SUBJECT_SYSTEM) {
		profile_release(&l->profile);
	} else if (l->run.kind == SUBJECT_QUERY) {
		query_run_release(&l->queries);
		ttp_result_release(&l->ttp);
	} else {
		duet_release(&l->duet);
		duet_result_release(&l->duet_result);
	}
	run_release(&l->run);
	machine_release(&l->machine);
	*l = (struct loaded_run){ 0 };
}

int loaded_add(loaded_list *list, struct lab *lab, int64_t id, const struct load_options *options,
	       struct error *err)
{
	struct loaded_run l;
	if (run_load(&l, lab, id, options, err))
		return -1;
	array_push(list, l);
	return 0;
}

void loaded_release(loaded_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		loaded_run_release(&list->items[i]);
	array_release(list);
}
