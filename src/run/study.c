#include "run/study.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "run/record.h"

void study_input_release(struct study_input *in)
{
	for (int l = 0; l < STUDY_LENGTHS; l++)
		sedona_run_release(&in->runs[l]);
	*in = (struct study_input){ 0 };
}

/* ---- stored runs ---- */

int study_load(struct lab *lab, int64_t run, enum study_length as, struct study_input *in,
	       struct error *err)
{
	struct sedona_run *into = &in->runs[as];
	struct run stored = { 0 };
	FREED execution_list list = { 0 };
	int failed = lab_get_run(lab, run, &stored, err) ||
		     lab_get_executions(lab, run, LAB_PROCESSES, &list, err);
	if (!failed) {
		sedona_run_of(&stored, list.items, list.count, into);
		into->run = run;
		in->machine = stored.machine;
		in->seen = stored.backend;
		in->has_long |= as == STUDY_LONG;
	}
	for (size_t i = 0; i < list.count; i++)
		execution_release(&list.items[i]);
	run_release(&stored);
	/* where the clock was set while they were taken, their order is all that is known */
	bool stepped = false;
	for (size_t i = 1; i < into->samples.count; i++) {
		const struct sedona_sample *a = &into->samples.items[i - 1], *b = a + 1;
		stepped |= a->at_ns && b->at_ns && b->at_ns < a->at_ns;
	}
	if (stepped)
		in->notice("the clock was set back during run %" PRId64
			   ": its samples are taken to follow\n      each other without a pause",
			   run);
	for (size_t i = 0; stepped && i < into->samples.count; i++)
		into->samples.items[i].at_ns = 0;
	return failed ? -1 : 0;
}

int study_load_samples(struct lab *lab, const struct study *s, struct study_input *in,
		       bool *is_l[STUDY_LENGTHS], struct error *err)
{
	for (int l = 0; l < STUDY_LENGTHS; l++) {
		const struct study_run *found = &s->runs[l];
		struct sedona_run *r = &in->runs[l];
		if (!found->present || !found->run)
			continue;
		if (study_load(lab, found->run, (enum study_length)l, in, err))
			return -1;
		is_l[l] = xcalloc(r->samples.count + 1, sizeof *is_l[l]);
		for (size_t i = 0; i < r->samples.count; i++)
			is_l[l][i] = number_list_has(&found->l_samples, r->samples.items[i].number);
	}
	return 0;
}

/* The same machine, whatever its kernel and settings are. */
static int same_machine(struct lab *lab, int64_t a, int64_t b, bool *same, struct error *err)
{
	struct machine m[2] = { 0 };
	char identity[2][17];
	*same = a == b;
	if (*same || !a || !b)
		return 0;
	int failed = lab_get_machine(lab, a, &m[0], err) || lab_get_machine(lab, b, &m[1], err);
	for (int i = 0; i < 2 && !failed; i++)
		machine_identity(&m[i], identity[i]);
	*same = !failed && strcmp(identity[0], identity[1]) == 0;
	machine_release(&m[0]);
	machine_release(&m[1]);
	return failed ? -1 : 0;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static uint64_t median_et(const struct sedona_run *r)
{
	size_t n = r->samples.count;
	FREED uint64_t *all = xcalloc(n + 1, sizeof *all);
	for (size_t i = 0; i < n; i++)
		all[i] = r->samples.items[i].et_ns;
	qsort(all, n, sizeof *all, by_value);
	uint64_t median = all[n / 2];
	return median;
}

int study_load_pair(struct lab *lab, int64_t first, int64_t second, struct study_input *in,
		    struct error *err)
{
	bool same;
	if (study_load(lab, first, STUDY_SHORT, in, err))
		return -1;
	if (!second)
		return 0;
	int64_t machine = in->machine;
	if (study_load(lab, second, STUDY_LONG, in, err) ||
	    same_machine(lab, machine, in->machine, &same, err))
		return -1;
	in->machine = machine;
	if (first == second)
		return error_set(err, EXIT_USAGE, "calibrate: both runs are run %" PRId64, second);
	if (!same)
		return error_set(err, EXIT_USAGE,
				 "calibrate: runs %" PRId64 " and %" PRId64
				 " were made on different machines",
				 first, second);
	if (median_et(&in->runs[STUDY_LONG]) > median_et(&in->runs[STUDY_SHORT]))
		return 0;
	error_set(err, EXIT_USAGE, "calibrate: run %" PRId64 " is not longer than run %" PRId64,
		  second, first);
	return error_hint(err, "the run of the shorter program comes first");
}

/* ---- steps 3 to 10 ---- */

/* The unit that the data come in, which cutoffs are rounded to: data in ms are of 1 ms. */
static uint64_t unit_of(const struct study_input *in)
{
	static const uint64_t units[] = { 1000000, 1000 };
	for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
		size_t seen = 0, even = 0;
		for (int l = 0; l < STUDY_LENGTHS; l++)
			for (size_t i = 0; i < in->runs[l].executions.count; i++, seen++)
				even += in->runs[l].executions.items[i].pt_ns % units[u] == 0;
		if (seen && even == seen)
			return units[u];
	}
	return 1;
}

static struct study_counts count_of(const struct study *s)
{
	struct study_counts c = { .cutoffs = s->cutoffs.count };
	for (int l = 0; l < STUDY_LENGTHS; l++) {
		c.l_samples += s->runs[l].l_samples.count;
		c.dropped += s->runs[l].dropped.count;
	}
	return c;
}

/* The study, and what it would be if the samples were compared the other way. */
static void make_both(const struct study_input *in, struct study_made *out)
{
	struct sedona_run runs[STUDY_LENGTHS];
	const struct sedona_run *second = in->has_long ? &runs[STUDY_LONG] : NULL;
	struct study other = { 0 };
	memcpy(runs, in->runs, sizeof runs);
	for (int l = 0; l < STUDY_LENGTHS; l++)
		runs[l].steadying = in->steadying;
	sedona_study(&runs[STUDY_SHORT], second, unit_of(in), &out->study, out->is_l);
	for (int l = 0; l < STUDY_LENGTHS; l++)
		out->steadied |= out->study.runs[l].steadied;
	for (int l = 0; l < STUDY_LENGTHS; l++)
		runs[l].steadying = out->steadied ? SEDONA_NOT_STEADY : SEDONA_STEADY;
	sedona_study(&runs[STUDY_SHORT], second, unit_of(in), &other, NULL);
	out->found = count_of(&out->study);
	out->otherwise = count_of(&other);
	study_release(&other);
}

static int add_study(struct lab *lab, void *study, struct error *err)
{
	return lab_add_study(lab, study, err);
}

int study_make(struct lab *lab, const struct study_input *in, bool store, struct study_made *out,
	       struct error *err)
{
	struct study *s = &out->study;
	for (int l = 0; l < (in->has_long ? STUDY_LENGTHS : STUDY_LONG); l++) {
		const struct sedona_run *r = &in->runs[l];
		const char *plural = r->samples.count == 1 ? "" : "s";
		if (r->samples.count >= STUDY_LEAST)
			continue;
		if (r->run)
			error_set(err, EXIT_USAGE, "run %" PRId64 " has %zu sample%s that count",
				  r->run, r->samples.count, plural);
		else
			error_set(err, EXIT_USAGE, "the %s run has %zu sample%s",
				  study_length_names[(enum study_length)l], r->samples.count,
				  plural);
		return error_hint(err, "a study takes %d or more, a good one some hundred",
				  STUDY_LEAST);
	}
	make_both(in, out);
	s->source = in->source;
	s->made_at_ns = clock_realtime_ns();
	s->machine = in->machine;
	if (s->machine && lab_get_machine(lab, s->machine, &out->machine, err))
		return -1;
	if (!s->machine || !store)
		return 0;
	/* what it takes the place of is noted before */
	SCOPED(lab_cutoffs_release) struct lab_cutoffs before = { 0 };
	int failed = lab_get_cutoffs(lab, &out->machine, &before, err);
	out->replaced = before.study;
	for (size_t i = 0; i < before.cutoffs.count; i++)
		out->replaced_cutoffs += !before.cutoffs.items[i].edited;
	/* it may come after hours of measuring */
	struct recorder to = { .lab = lab, .notice = in->notice };
	return failed || recorder_wait(&to, add_study, s, err) ? -1 : 0;
}

void study_made_release(struct study_made *m)
{
	for (int l = 0; l < STUDY_LENGTHS; l++)
		free(m->is_l[l]);
	machine_release(&m->machine);
	study_release(&m->study);
	*m = (struct study_made){ 0 };
}
