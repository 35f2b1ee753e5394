/* The ways to a study: executions of inc, stored runs, or windows of what was watched; and how it
 * is printed. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/calibrate/calibrate.h"
#include "cmd/cmd.h"
#include "cmd/view.h"
#include "protocol/sedona/windows.h"
#include "report/core/format.h"
#include "report/study/report.h"
#include "run/find.h"

void calibrate_print(const struct study *s, const struct machine *m, const struct study_input *in,
		     bool *const is_l[STUDY_LENGTHS], const struct calibrate_display *d)
{
	struct strbuf out = { 0 };
	struct style style = cmd_style(TIME_UNIT_AUTO);
	style.ascii = !cmd_utf8();
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
	cmd_print(&out);
	fflush(stdout);
}

/* What steadying does to the study, or would do. */
static void put_steadying(const struct study_made *m)
{
	const struct study_counts *a = &m->found, *b = &m->otherwise;
	bool same = a->l_samples == b->l_samples && a->dropped == b->dropped &&
		    a->cutoffs == b->cutoffs;
	if (same && !m->steadied)
		return;
	struct strbuf out = { 0 };
	struct style style = cmd_style(TIME_UNIT_AUTO);
	strbuf_putc(&out, '\n');
	const char *way = m->steadied ? "Steadied. By elapsed time as it was (--steady no)"
				      : "Not steadied. With the median process time in place of "
					"each sample's own (--steady yes)";
	if (same)
		put_wrapped(&out, &style, "", 0, "%s the study would be the same.", way);
	else
		put_wrapped(&out, &style, "", 0,
			    "%s there would be %zu L-sample%s instead of %zu, %zu dropped instead "
			    "of %zu, and %zu cutoff%s instead of %zu.",
			    way, b->l_samples, b->l_samples == 1 ? "" : "s", a->l_samples,
			    b->dropped, a->dropped, b->cutoffs, b->cutoffs == 1 ? "" : "s",
			    a->cutoffs);
	cmd_print(&out);
	strbuf_release(&out);
	fflush(stdout);
}

/* Steps 3 to 10, stored and printed. Releases the input. */
static int conclude(const struct calibrate_options *o, struct lab *lab, struct study_input *in,
		    struct error *err)
{
	static const enum sedona_steadying ways[] = { SEDONA_STEADY_IF_UNEVEN, SEDONA_STEADY,
						      SEDONA_NOT_STEADY };
	const struct calibrate_display d = { .json = o->json, .plot = o->plot };
	SCOPED(study_made_release) struct study_made m = { 0 };
	const struct study *s = &m.study;
	in->steadying = ways[o->steady];
	int failed = study_make(lab, in, !o->no_store, &m, err);
	if (!failed && !o->no_store && !s->machine && !o->quiet)
		cmd_notice("not stored: which machine the samples are of is not known ('tare "
			   "import --here'\n      says that it is this one)");
	if (!failed && (!o->quiet || o->json))
		calibrate_print(s, s->machine ? &m.machine : NULL, in, m.is_l, &d);
	if (!failed && !o->quiet && !o->json)
		put_steadying(&m);
	if (!failed && !o->quiet && !o->json && s->id) {
		printf("\nStudy %" PRId64 ": ", s->id);
		if (s->cutoffs.count)
			printf("%zu cutoff%s now in force on its machine ('tare cutoffs' lists "
			       "them)\n",
			       s->cutoffs.count, s->cutoffs.count == 1 ? " is" : "s are");
		else
			puts("it gives no cutoff");
		if (m.replaced && m.replaced_cutoffs)
			printf("It takes the place of study %" PRId64 ", whose %zu cutoff%s no "
			       "longer; 'tare cutoffs\nrm-study %" PRId64 "' would bring %s back\n",
			       m.replaced, m.replaced_cutoffs,
			       m.replaced_cutoffs == 1 ? " holds" : "s hold", s->id,
			       m.replaced_cutoffs == 1 ? "it" : "them");
	}
	study_input_release(in);
	return failed;
}

/* ---- stored runs ---- */

int calibrate_from(const struct calibrate_options *o, struct error *err)
{
	struct lab *lab = lab_access_open(o->lab, err);
	struct study_input in = { .notice = cmd_notice, .source = STUDY_RUNS };
	int64_t first, second = 0;
	if (!lab || run_find(lab, o->from, LAB_OF(SUBJECT_COMMAND), &first, err) ||
	    (o->second && run_find(lab, o->second, LAB_OF(SUBJECT_COMMAND), &second, err)))
		return -1;
	if (study_load_pair(lab, first, second, &in, err) == 0)
		return conclude(o, lab, &in, err);
	study_input_release(&in);
	return -1;
}

/* ---- windows ---- */

int calibrate_from_watch(const struct calibrate_options *o, struct error *err)
{
	struct lab *lab = lab_access_open(o->lab, err);
	struct study_input in = { .notice = cmd_notice, .source = STUDY_WATCH };
	struct study_windows w = { .since_ns = o->since_ns,
				   .until_ns = o->until_ns,
				   .lengths_ns = { o->windows_ns[STUDY_SHORT],
						   o->windows_ns[STUDY_LONG] },
				   .cpu = WINDOWS_WORST_CPU };
	for (int cpu = CPU_SETSIZE - 1; o->cpus && cpu >= 0; cpu--)
		if (CPU_ISSET(cpu, &o->cpu_set))
			w.cpu = cpu;
	if (!lab || study_cut_windows(lab, &w, &in, err)) {
		study_input_release(&in);
		return -1;
	}
	if (!o->quiet && !o->json) {
		char text[32];
		text_duration((double)w.covered_ns, 3, text, sizeof text);
		printf("Windows of CPU %d, from %s watched in %zu stretch%s\n", w.cpu, text,
		       w.stretches, w.stretches == 1 ? "" : "es");
		for (int l = 0; l < STUDY_LENGTHS; l++) {
			if (in.runs[l].samples.count < STUDY_MOST)
				continue;
			text_duration((double)in.runs[l].length_ns, 3, text, sizeof text);
			printf("Of those of %s the newest %d\n", text, STUDY_MOST);
		}
		if (w.lost)
			cmd_notice("%" PRIu64 " bursts were lost: the kernel had no room", w.lost);
	}
	return conclude(o, lab, &in, err);
}

/* ---- executions of inc ---- */

struct active {
	struct progress progress;
	char label[64];
	bool quiet;
};

/* The whole study's time left, by what its samples took so far: the bar's own is this run's. */
static void on_progress(void *context, const struct calibration *c)
{
	static const struct {
		double below_s, unit_s;
		int decimals;
		const char *unit;
	} units[] = { { 120, 1, 0, "s" },
		      { 7200, 60, 0, "min" },
		      { 172800, 3600, 0, "h" },
		      { HUGE_VAL, 86400, 1, "days" } };
	struct active *a = context;
	const struct calibration_part *p = &c->parts[c->at];
	/* the first time it is told nothing has begun */
	if (!a->progress.label || !progress_due(&a->progress))
		return;
	double took = (double)(clock_monotonic_ns() - a->progress.begun_ns), left_s = 0;
	double planned = (double)p->want.length_ns * p->done;
	double rate = p->done && took > planned ? took / planned : 1;
	for (int l = 0; l < STUDY_LENGTHS; l++)
		left_s += (double)c->parts[l].want.length_ns * rate / 1e9 *
			  (c->parts[l].want.samples - c->parts[l].done);
	size_t u = 0;
	while (left_s >= units[u].below_s)
		u++;
	char note[64];
	snprintf(note, sizeof note, "%.*f %s in all", units[u].decimals, left_s / units[u].unit_s,
		 units[u].unit);
	progress_update(&a->progress, p->done, p->want.samples, note);
}

static void on_begun(void *context, const struct calibration *c)
{
	struct active *a = context;
	const struct calibration_part *p = &c->parts[c->at];
	char inc[32];
	calibration_inc_name(p->want.length_ns, inc);
	snprintf(a->label, sizeof a->label, "%s, %s run", inc, study_length_names[c->at]);
	progress_init(&a->progress, a->label, !a->quiet);
	/* as if this tare had made those before, too: the time left is then right at once */
	uint64_t before = p->want.length_ns * p->done, now = a->progress.begun_ns;
	a->progress.begun_ns = before < now ? now - before : 0;
	on_progress(a, c);
}

static void on_ended(void *context)
{
	struct active *a = context;
	progress_clear(&a->progress);
	a->progress.label = NULL;
}

int calibrate_active(const struct calibrate_options *o, struct error *err)
{
	static const enum backend wanted[] = { BACKENDS, BACKEND_BPF, BACKEND_NETLINK,
					       BACKEND_PLAIN };
	struct lab *lab = lab_access_open(o->lab, err);
	struct study_input in = { .notice = cmd_notice };
	struct active a = { .quiet = o->quiet };
	if (!lab)
		return -1;
	struct calibration c = { .backend = wanted[o->backend],
				 .wanted = { o->parts[STUDY_SHORT], o->parts[STUDY_LONG] },
				 .wanted_cpus = o->cpus,
				 .wanted_set = o->cpu_set,
				 .resume = o->mode == CALIBRATE_CONTINUE ? o->resume : NULL,
				 .notice = cmd_notice,
				 .context = &a,
				 .begun = on_begun,
				 .progress = on_progress,
				 .ended = on_ended,
				 .to = { .lab = lab,
					 .notice = cmd_notice,
					 .command_line = cmd_line(o->args->argc, o->args->argv) } };
	int failed = calibration_run(&c, &in, err);
	calibration_close(&c);
	if (failed) {
		study_input_release(&in);
		return -1;
	}
	if (in.seen == BACKEND_PLAIN && !o->quiet)
		cmd_notice("without privileges daemons that end within a sample are not seen: run "
			   "it as\n      root to find those, too");
	return conclude(o, lab, &in, err);
}
