/* From samples to a study: what is checked before, stored and printed after. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "cmd/calibrate/calibrate.h"
#include "cmd/cmd.h"
#include "cmd/view.h"
#include "report/study/report.h"
#include "run/find.h"

void calibrate_input_release(struct calibrate_input *in)
{
	for (int l = 0; l < STUDY_LENGTHS; l++)
		sedona_run_release(&in->runs[l]);
	*in = (struct calibrate_input){ 0 };
}

/* ---- stored runs ---- */

/* The clock was set while they were taken: their order is all that is known then. */
static bool clock_stepped(const struct sedona_run *r)
{
	for (size_t i = 1; i < r->samples.count; i++) {
		const struct sedona_sample *a = &r->samples.items[i - 1], *b = a + 1;
		if (a->at_ns && b->at_ns && b->at_ns < a->at_ns)
			return true;
	}
	return false;
}

int calibrate_load(struct lab *lab, int64_t run, struct sedona_run *into, int64_t *machine,
		   enum backend *seen, struct error *err)
{
	struct run stored = { 0 };
	execution_list list = { 0 };
	int failed = lab_get_run(lab, run, &stored, err) ||
		     lab_get_executions(lab, run, LAB_PROCESSES, &list, err);
	if (!failed) {
		sedona_run_of(&stored, list.items, list.count, into);
		into->run = run;
		*machine = stored.machine;
		*seen = stored.backend;
	}
	for (size_t i = 0; i < list.count; i++)
		execution_release(&list.items[i]);
	array_release(&list);
	run_release(&stored);
	if (!failed && clock_stepped(into)) {
		fprintf(stderr,
			"tare: the clock was set back during run %" PRId64
			": its samples are taken to follow\n      each other without a pause\n",
			run);
		for (size_t i = 0; i < into->samples.count; i++)
			into->samples.items[i].at_ns = 0;
	}
	return failed ? -1 : 0;
}

int calibrate_samples(struct lab *lab, const struct study *s, struct calibrate_input *in,
		      bool *is_l[STUDY_LENGTHS], struct error *err)
{
	for (int l = 0; l < STUDY_LENGTHS; l++) {
		const struct study_run *found = &s->runs[l];
		struct sedona_run *r = &in->runs[l];
		enum backend seen;
		int64_t machine;
		if (!found->present || !found->run)
			continue;
		if (calibrate_load(lab, found->run, r, &machine, &seen, err))
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
	int failed = *same || !a || !b ? 0
				       : lab_get_machine(lab, a, &m[0], err) ||
						 lab_get_machine(lab, b, &m[1], err);
	for (int i = 0; i < 2 && !failed && !*same; i++)
		machine_identity(&m[i], identity[i]);
	if (!failed && !*same && a && b)
		*same = strcmp(identity[0], identity[1]) == 0;
	machine_release(&m[0]);
	machine_release(&m[1]);
	return failed ? -1 : 0;
}

static uint64_t median_et(const struct sedona_run *r);

static int load_named(struct lab *lab, const char *name, struct sedona_run *into, int64_t *machine,
		      struct error *err)
{
	int64_t id;
	enum backend seen;
	return run_find(lab, name, LAB_OF(SUBJECT_COMMAND), &id, err) ||
	       calibrate_load(lab, id, into, machine, &seen, err);
}

static int load_both(const struct calibrate_options *o, struct lab *lab, struct calibrate_input *in,
		     struct error *err)
{
	int64_t other;
	bool same;
	if (load_named(lab, o->from, &in->runs[STUDY_SHORT], &in->machine, err))
		return -1;
	if (!o->second)
		return 0;
	in->has_long = true;
	if (load_named(lab, o->second, &in->runs[STUDY_LONG], &other, err) ||
	    same_machine(lab, in->machine, other, &same, err))
		return -1;
	const struct sedona_run *r = in->runs;
	if (r[STUDY_SHORT].run == r[STUDY_LONG].run)
		return error_set(err, EXIT_USAGE, "calibrate: both runs are run %" PRId64,
				 r[STUDY_LONG].run);
	if (!same)
		return error_set(err, EXIT_USAGE,
				 "calibrate: runs %" PRId64 " and %" PRId64
				 " were made on different machines",
				 r[STUDY_SHORT].run, r[STUDY_LONG].run);
	if (median_et(&r[STUDY_LONG]) <= median_et(&r[STUDY_SHORT])) {
		error_set(err, EXIT_USAGE,
			  "calibrate: run %" PRId64 " is not longer than run %" PRId64,
			  r[STUDY_LONG].run, r[STUDY_SHORT].run);
		return error_hint(err, "the run of the shorter program comes first");
	}
	return 0;
}

int calibrate_from(const struct calibrate_options *o, struct error *err)
{
	struct lab *lab = NULL;
	struct calibrate_input in = { .source = STUDY_RUNS };
	int failed = !(lab = lab_access_open(o->lab, err)) || load_both(o, lab, &in, err) ||
		     calibrate_conclude(o, lab, &in, err);
	calibrate_input_release(&in);
	return failed ? -1 : 0;
}

/* ---- steps 3 to 10 ---- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static uint64_t median_et(const struct sedona_run *r)
{
	size_t n = r->samples.count;
	uint64_t *all = xcalloc(n + 1, sizeof *all);
	for (size_t i = 0; i < n; i++)
		all[i] = r->samples.items[i].et_ns;
	qsort(all, n, sizeof *all, by_value);
	uint64_t median = all[n / 2];
	free(all);
	return median;
}

/* The unit that the data come in, which cutoffs are rounded to: data in ms are of 1 ms. */
static uint64_t unit_of(const struct calibrate_input *in)
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

static int check_counts(const struct calibrate_input *in, struct error *err)
{
	for (int l = 0; l < (in->has_long ? STUDY_LENGTHS : STUDY_LONG); l++) {
		const struct sedona_run *r = &in->runs[l];
		if (r->samples.count >= CALIBRATE_LEAST)
			continue;
		if (r->run)
			error_set(err, EXIT_USAGE, "run %" PRId64 " has %zu sample%s that count",
				  r->run, r->samples.count, r->samples.count == 1 ? "" : "s");
		else
			error_set(err, EXIT_USAGE, "the %s run has %zu sample%s",
				  study_length_name((enum study_length)l), r->samples.count,
				  r->samples.count == 1 ? "" : "s");
		return error_hint(err, "a study takes %d or more, a good one some hundred",
				  CALIBRATE_LEAST);
	}
	return 0;
}

void calibrate_print(const struct study *s, const struct machine *m,
		     const struct calibrate_input *in, bool *const is_l[STUDY_LENGTHS],
		     const struct calibrate_display *d)
{
	struct strbuf out = { 0 };
	const struct daemons_style style = { .width = (size_t)cmd_columns(),
					     .colour = cmd_colour(),
					     .ascii = !cmd_utf8() };
	if (d->json)
		daemons_json(s, m, &out);
	else
		daemons_text(s, m, &style, &out);
	for (int l = 0; l < STUDY_LENGTHS && d->plot && in; l++) {
		if (!s->runs[l].present || !is_l[l])
			continue;
		strbuf_putc(&out, '\n');
		daemons_plots(&in->runs[l], is_l[l], &s->runs[l], &style, &out);
	}
	fputs(strbuf_text(&out), stdout);
	fflush(stdout);
	strbuf_release(&out);
}

/* What it takes the place of. */
struct replaced {
	int64_t study;
	size_t cutoffs;
};

static int note_replaced(struct lab *lab, const struct machine *m, struct replaced *into,
			 struct error *err)
{
	struct lab_cutoffs before = { 0 };
	int failed = lab_get_cutoffs(lab, m, &before, err);
	into->study = before.study;
	for (size_t i = 0; i < before.cutoffs.count; i++)
		into->cutoffs += !before.cutoffs.items[i].edited;
	lab_cutoffs_release(&before);
	return failed;
}

static int store(const struct calibrate_options *o, struct lab *lab, const struct machine *m,
		 struct study *s, struct replaced *replaced, struct error *err)
{
	if (o->no_store)
		return 0;
	if (s->machine)
		return note_replaced(lab, m, replaced, err) ||
		       lab_add_study_of_daemons(lab, s, err);
	if (!o->quiet)
		fputs("tare: not stored: which machine the samples are of is not known ('tare "
		      "import --here'\n      says that it is this one)\n",
		      stderr);
	return 0;
}

static void say_stored(const struct study *s, const struct replaced *replaced)
{
	printf("\nStudy %" PRId64 ": ", s->id);
	if (s->cutoffs.count)
		printf("%zu cutoff%s now in force on its machine ('tare cutoffs' lists them)\n",
		       s->cutoffs.count, s->cutoffs.count == 1 ? " is" : "s are");
	else
		puts("it gives no cutoff");
	if (replaced->study && replaced->cutoffs)
		printf("It takes the place of study %" PRId64 ", whose %zu cutoff%s no longer; "
		       "'tare cutoffs\nrm-study %" PRId64 "' would bring %s back\n",
		       replaced->study, replaced->cutoffs,
		       replaced->cutoffs == 1 ? " holds" : "s hold", s->id,
		       replaced->cutoffs == 1 ? "it" : "them");
}

int calibrate_conclude(const struct calibrate_options *o, struct lab *lab,
		       struct calibrate_input *in, struct error *err)
{
	struct study s = { 0 };
	struct machine m = { 0 };
	struct replaced replaced = { 0 };
	bool *is_l[STUDY_LENGTHS] = { 0 };
	if (check_counts(in, err))
		return -1;
	sedona_study(&in->runs[STUDY_SHORT], in->has_long ? &in->runs[STUDY_LONG] : NULL,
		     unit_of(in), &s, is_l);
	s.source = in->source;
	s.made_at_ns = clock_realtime_ns();
	s.machine = in->machine;
	int failed = (s.machine && lab_get_machine(lab, s.machine, &m, err)) ||
		     store(o, lab, &m, &s, &replaced, err);
	if (!failed && (!o->quiet || o->json)) {
		const struct calibrate_display d = { .json = o->json, .plot = o->plot };
		calibrate_print(&s, s.machine ? &m : NULL, in, is_l, &d);
		if (s.id && !o->json)
			say_stored(&s, &replaced);
	}
	for (int l = 0; l < STUDY_LENGTHS; l++)
		free(is_l[l]);
	machine_release(&m);
	study_release(&s);
	return failed ? -1 : 0;
}
