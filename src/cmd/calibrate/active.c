/* The active study: executions of inc, stored one by one in two ordinary runs, which is all that
 * going on after an interruption needs. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/calibrate/calibrate.h"
#include "cmd/cmd.h"
#include "measure/plan.h"
#include "run/find.h"
#include "subject/inc.h"

#define GRACE_NS 1000000000u
#define PATH_MOST 4096

struct part {
	struct calibrate_part want;
	uint64_t turns;
	int64_t run; /* 0: not begun */
	uint32_t done, warmed;
	bool ended; /* in the lab */
};

struct active {
	const struct calibrate_options *o;
	struct lab *lab;
	struct collector *collector;
	int64_t machine, study; /* of the lab: what groups the two runs */
	char *command_line;
	char *cpus; /* NULL: any */
	cpu_set_t cpu_set;
	struct part parts[STUDY_LENGTHS];
	enum study_length at;
	struct progress progress;
	char label[64];
};

/* ---- what a run says of itself ---- */

/* "INC128", as the papers have it. */
static void inc_name(uint64_t length_ns, char out[32])
{
	snprintf(out, 32, "INC%.6g", (double)length_ns / 1e9);
}

/* Both runs know the whole plan: --continue asks for nothing else. */
static char *conditions_of(const struct active *a)
{
	json_t *plan = json_pack("{s:s}", "part", study_length_name(a->at));
	for (int l = 0; l < STUDY_LENGTHS; l++) {
		const struct part *p = &a->parts[l];
		if (p->want.length_ns)
			json_object_set_new(plan, study_length_name((enum study_length)l),
					    json_pack("{s:I, s:I, s:I}", "length_ns",
						      (json_int_t)p->want.length_ns, "samples",
						      (json_int_t)p->want.samples, "turns",
						      (json_int_t)p->turns));
	}
	json_t *all = json_pack("{s:o, s:i, s:I}", "calibrate", plan, "warmup", 1, "runs",
				(json_int_t)a->parts[a->at].want.samples);
	if (a->cpus)
		json_object_set_new(all, "cpu", json_string(a->cpus));
	char *text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return text ? text : xstrdup("{}");
}

static int add_run(struct active *a, struct error *err)
{
	struct part *p = &a->parts[a->at];
	char inc[32], text[80];
	const char *not_seen = collector_not_seen(a->collector);
	char *directory = getcwd(NULL, 0);
	inc_name(p->want.length_ns, inc);
	snprintf(text, sizeof text, "calibrate %s %s", study_length_name(a->at), inc);
	struct run run = { .study = a->study,
			   .name = xstrdup(text),
			   .directory = directory ? directory : xstrdup("?"),
			   .conditions = conditions_take(conditions_of(a)),
			   .backend = collector_backend(a->collector),
			   .not_seen = not_seen ? xstrdup(not_seen) : NULL,
			   .started_at_ns = clock_realtime_ns(),
			   .planned = p->want.samples,
			   .machine = a->machine,
			   .version = xstrdup(TARE_VERSION) };
	snprintf(text, sizeof text, "tare inc --turns %" PRIu64, p->turns);
	run.command = xstrdup(text);
	int failed = lab_add_run(a->lab, &run, err);
	p->run = run.id;
	run_release(&run);
	return failed;
}

/* ---- what the plan tells ---- */

/* "45 s", "12 min", "28 h", "9.1 days" */
static void long_time(double ns, char out[32])
{
	static const struct {
		double below_s, unit_s;
		const char *unit;
	} units[] = { { 120, 1, "s" }, { 7200, 60, "min" }, { 172800, 3600, "h" } };
	double s = ns / 1e9;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (s < units[i].below_s) {
			snprintf(out, 32, "%.0f %s", s / units[i].unit_s, units[i].unit);
			return;
		}
	snprintf(out, 32, "%.1f days", s / 86400);
}

/* The whole study's time left, by what its samples took so far: the bar's own is this run's. */
static void draw(struct active *a)
{
	const struct part *p = &a->parts[a->at];
	char left[32], note[64];
	double took = (double)(clock_monotonic_ns() - a->progress.begun_ns), sum = 0;
	double planned = (double)p->want.length_ns * p->done;
	double rate = p->done && took > planned ? took / planned : 1;
	if (!progress_due(&a->progress))
		return;
	for (int l = 0; l < STUDY_LENGTHS; l++)
		sum += (double)a->parts[l].want.length_ns * rate *
		       (a->parts[l].want.samples - a->parts[l].done);
	long_time(sum, left);
	snprintf(note, sizeof note, "%s in all", left);
	progress_update(&a->progress, p->done, p->want.samples, note);
}

static int on_begun(void *context, size_t item, struct error *err)
{
	struct active *a = context;
	struct part *p = &a->parts[a->at];
	char inc[32];
	(void)item;
	if (!a->study && lab_add_study(a->lab, a->command_line, &a->study, err))
		return -1;
	inc_name(p->want.length_ns, inc);
	snprintf(a->label, sizeof a->label, "%s, %s run", inc, study_length_name(a->at));
	progress_init(&a->progress, a->label, !a->o->quiet);
	/* as if this tare had made those before, too: the time left is then right at once */
	uint64_t before = p->want.length_ns * p->done, now = a->progress.begun_ns;
	a->progress.begun_ns = before < now ? now - before : 0;
	draw(a);
	return p->run ? 0 : add_run(a, err);
}

static int on_executed(void *context, size_t item, struct execution *x, struct error *err)
{
	struct active *a = context;
	struct part *p = &a->parts[a->at];
	(void)item;
	x->number = (x->warmup ? p->warmed : p->done) + 1;
	if (lab_add_execution(a->lab, p->run, x, err))
		return -1;
	*(x->warmup ? &p->warmed : &p->done) += 1;
	return 0;
}

static void on_progress(void *context, size_t item, uint32_t done, uint32_t planned)
{
	struct active *a = context;
	(void)item;
	(void)done;
	(void)planned;
	if (a->progress.label) /* the first time it is told nothing has begun */
		draw(a);
}

/* ---- going on with one ---- */

static uint64_t whole(const json_t *o, const char *key, uint64_t most)
{
	json_int_t n = json_integer_value(json_object_get(o, key));
	return n > 0 && (uint64_t)n <= most ? (uint64_t)n : 0;
}

/* The plan that a run of a study carries; false: it is no such run. */
static bool read_plan(const json_t *all, struct active *a, enum study_length *which)
{
	const json_t *plan = json_object_get(all, "calibrate");
	const char *part = json_string_value(json_object_get(plan, "part"));
	const char *cpus = json_string_value(json_object_get(all, "cpu"));
	bool good = part != NULL;
	*which = part && strcmp(part, "long") == 0 ? STUDY_LONG : STUDY_SHORT;
	for (int l = 0; l < STUDY_LENGTHS && good; l++) {
		const json_t *o = json_object_get(plan, study_length_name((enum study_length)l));
		struct part *p = &a->parts[l];
		p->want.length_ns = whole(o, "length_ns", INT64_MAX);
		p->want.samples = (uint32_t)whole(o, "samples", CALIBRATE_MOST);
		p->turns = whole(o, "turns", INT64_MAX);
		good = p->want.length_ns ? p->want.samples && p->turns : l == STUDY_LONG;
	}
	if (good && cpus && !a->cpus && cpus_parse(cpus, &a->cpu_set))
		a->cpus = xstrdup(cpus);
	return good;
}

/* The newest run of a study, or the one named. */
static int find_resumed(struct active *a, struct run *into, struct error *err)
{
	enum study_length which;
	if (*a->o->resume) {
		int64_t id;
		if (run_find(a->lab, a->o->resume, LAB_OF(SUBJECT_COMMAND), &id, err) ||
		    lab_get_run(a->lab, id, into, err))
			return -1;
		if (read_plan(into->conditions.all, a, &which))
			return 0;
		return error_set(err, EXIT_USAGE, "run %" PRId64 " is none of 'tare calibrate'",
				 id);
	}
	run_list runs = { 0 };
	bool found = false;
	int failed = lab_list_runs(a->lab, NULL, 0, &runs, NULL, err);
	for (size_t i = 0; i < runs.count; i++) {
		if (!failed && !found && read_plan(runs.items[i].conditions.all, a, &which)) {
			*into = runs.items[i];
			found = true;
		} else {
			run_release(&runs.items[i]);
		}
	}
	array_release(&runs);
	if (failed || found)
		return failed;
	return error_set(err, EXIT_USAGE, "there is no study to go on with in %s",
			 lab_path(a->lab));
}

static int count_executions(struct active *a, struct part *p, struct error *err)
{
	execution_list list = { 0 };
	if (lab_get_executions(a->lab, p->run, LAB_ROWS, &list, err))
		return -1;
	for (size_t i = 0; i < list.count; i++) {
		const struct execution *x = &list.items[i];
		uint32_t *last = x->warmup ? &p->warmed : &p->done;
		*last = x->number > *last ? x->number : *last;
		execution_release(&list.items[i]);
	}
	array_release(&list);
	return 0;
}

static int take_up_run(struct active *a, const struct run *run, struct error *err)
{
	enum study_length which;
	if (!read_plan(run->conditions.all, a, &which))
		return 0;
	a->parts[which].run = run->id;
	a->parts[which].ended = run->status == RUN_COMPLETE;
	/* before its executions are counted: from here on nobody else adds any */
	if (!a->parts[which].ended && lab_resume_run(a->lab, run->id, err))
		return -1;
	return count_executions(a, &a->parts[which], err);
}

static int check_machine(struct active *a, int64_t before, struct error *err)
{
	struct machine then = { 0 }, now = { 0 };
	char identity[2][17];
	if (before == a->machine || !before)
		return 0;
	int failed = lab_get_machine(a->lab, before, &then, err) ||
		     lab_get_machine(a->lab, a->machine, &now, err);
	if (!failed) {
		const char *was = machine_get(&then, "kernel.release");
		const char *is = machine_get(&now, "kernel.release");
		machine_identity(&then, identity[0]);
		machine_identity(&now, identity[1]);
		if (strcmp(identity[0], identity[1]) != 0)
			failed = error_set(err, EXIT_USAGE,
					   "the study was begun on another machine (%s)",
					   machine_get(&then, "system.host")
						   ? machine_get(&then, "system.host")
						   : "its name is not known");
		else if (was && is && strcmp(was, is) != 0)
			fprintf(stderr, "tare: the study was begun with kernel %s, this is %s\n",
				was, is);
	}
	machine_release(&then);
	machine_release(&now);
	return failed ? -1 : 0;
}

/* What is told again beside --continue must be what it was. */
static int check_same_plan(const struct active *a, int64_t run, struct error *err)
{
	const struct calibrate_options *o = a->o;
	bool same = !o->cpus || (a->cpus && CPU_EQUAL(&o->cpu_set, &a->cpu_set));
	for (int l = 0; l < STUDY_LENGTHS; l++) {
		const struct calibrate_part *told = &o->parts[l], *was = &a->parts[l].want;
		same = same && (!told->length_ns || (told->length_ns == was->length_ns &&
						     told->samples == was->samples));
	}
	if (same)
		return 0;
	error_set(err, EXIT_USAGE, "the study of run %" PRId64 " was begun with other options",
		  run);
	return error_hint(err, "--continue alone goes on with those it was begun with");
}

/* Whether a stored study was made of this run. */
static int was_studied(struct active *a, int64_t run, bool *is, struct error *err)
{
	lab_study_list list = { 0 };
	struct machine none = { 0 };
	*is = false;
	int failed = lab_list_studies_of_daemons(a->lab, &list, err);
	for (size_t i = 0; i < list.count && !failed && !*is; i++) {
		struct study s = { 0 };
		bool found;
		failed = lab_get_study_of_daemons(a->lab, &none, list.items[i].id, &found, &s, err);
		*is = !failed && found && s.source == STUDY_ACTIVE &&
		      s.runs[STUDY_SHORT].run == run;
		study_release(&s);
	}
	array_release(&list);
	return failed ? -1 : 0;
}

static bool is_whole(const struct active *a)
{
	for (int l = 0; l < STUDY_LENGTHS; l++)
		if (a->parts[l].done < a->parts[l].want.samples)
			return false;
	return true;
}

static int resume(struct active *a, struct error *err)
{
	struct run run = { 0 };
	run_list runs = { 0 };
	bool studied;
	int failed = find_resumed(a, &run, err) || check_same_plan(a, run.id, err) ||
		     check_machine(a, run.machine, err) ||
		     lab_study_runs(a->lab, run.study, &runs, err);
	a->study = run.study;
	for (size_t i = 0; i < runs.count; i++) {
		failed = failed || take_up_run(a, &runs.items[i], err);
		run_release(&runs.items[i]);
	}
	array_release(&runs);
	run_release(&run);
	if (failed)
		return -1;
	int64_t first = a->parts[STUDY_SHORT].run;
	if (*a->o->resume || !is_whole(a))
		return 0;
	if (was_studied(a, first, &studied, err))
		return -1;
	if (!studied)
		return 0;
	error_set(err, EXIT_USAGE, "the study of run %" PRId64 " is complete", first);
	return error_hint(err, "'tare cutoffs show' shows it; --continue=%" PRId64 " makes it anew",
			  first);
}

/* ---- before, while and after ---- */

static int begin_anew(struct active *a, struct error *err)
{
	for (int l = 0; l < STUDY_LENGTHS; l++) {
		struct part *p = &a->parts[l];
		p->want = a->o->parts[l];
		if (p->want.length_ns && inc_turns(p->want.length_ns, false, &p->turns, err))
			return -1;
	}
	if (a->o->cpus) {
		a->cpus = xstrdup(a->o->cpus);
		a->cpu_set = a->o->cpu_set;
	}
	return 0;
}

static int open_everything(struct active *a, struct error *err)
{
	static const enum backend wanted[] = { BACKENDS, BACKEND_BPF, BACKEND_NETLINK,
					       BACKEND_PLAIN };
	bool anew = a->o->mode == CALIBRATE_ACTIVE;
	struct machine m = { 0 };
	struct error none = ERROR_INIT;
	if (!(a->lab = lab_access_open(a->o->lab, err)) ||
	    collector_open(&a->collector, wanted[a->o->backend], err))
		return -1;
	/* for 'tare explain' of a sample; a study needs none */
	collector_keep_ledger(a->collector, false, &none);
	machine_read(&m);
	int failed = lab_add_machine(a->lab, &m, &a->machine, err);
	machine_release(&m);
	return failed || (anew ? begin_anew(a, err) : resume(a, err)) ? -1 : 0;
}

/* This program, also when its file has been replaced since. */
static void own_path(char out[PATH_MOST])
{
	ssize_t n = readlink("/proc/self/exe", out, PATH_MOST - 1);
	out[n > 0 ? n : 0] = '\0';
	if (n <= 0 || access(out, X_OK))
		snprintf(out, PATH_MOST, "/proc/self/exe");
}

static int measure_part(struct active *a, struct error *err)
{
	struct part *p = &a->parts[a->at];
	char path[PATH_MOST], turns[24];
	own_path(path);
	snprintf(turns, sizeof turns, "%" PRIu64, p->turns);
	char *argv[] = { path, (char *)"inc", (char *)"--turns", turns, NULL };
	const struct plan_item item = { .argv = argv };
	const struct plan plan = { .items = &item,
				   .count = 1,
				   .warmup = 1,
				   .runs = p->want.samples - p->done,
				   .launch = { .cpus = a->cpus ? &a->cpu_set : NULL,
					       .as_root = true,
					       .iteration = -1 },
				   .hook_launch = { .as_root = true },
				   .execute = { .grace_ns = GRACE_NS } };
	const struct plan_events events = {
		.context = a, .begun = on_begun, .executed = on_executed, .progress = on_progress
	};
	size_t failed_item;
	int failed = plan_run(a->collector, &plan, &events, &failed_item, err);
	progress_clear(&a->progress);
	a->progress.label = NULL;
	return failed;
}

/* After an interruption: what is there, and how to go on. */
static int explain_end(const struct active *a, struct error *err)
{
	const struct part *p = &a->parts[a->at];
	char why[sizeof err->text];
	snprintf(why, sizeof why, "%s", err->text);
	if (!p->run)
		return -1;
	if (err->code == EXIT_INTERRUPTED)
		error_set(err, EXIT_INTERRUPTED,
			  "interrupted: %" PRIu32 " of %" PRIu32
			  " samples of the %s run are stored as run %" PRId64,
			  p->done, p->want.samples, study_length_name(a->at), p->run);
	else
		error_set(err, err->code, "%.800s; %" PRIu32 " samples are stored as run %" PRId64,
			  why, p->done, p->run);
	return error_hint(err, "'tare calibrate --continue=%" PRId64 "' goes on with it", p->run);
}

static int end_part(struct active *a, int failed, struct error *err)
{
	struct part *p = &a->parts[a->at];
	struct error late = ERROR_INIT;
	enum run_status status = !failed			 ? RUN_COMPLETE
				 : err->code == EXIT_INTERRUPTED ? RUN_INTERRUPTED
								 : RUN_FAILED;
	if (p->run && lab_end_run(a->lab, p->run, status, failed ? &late : err))
		return -1;
	if (!failed)
		return 0;
	/* nothing to keep; a long run is what --continue takes up when the short one is complete */
	if (p->run && !p->done && !p->warmed && a->at == STUDY_SHORT) {
		if (lab_remove_run(a->lab, p->run, &late) == 0)
			p->run = 0;
	}
	return explain_end(a, err);
}

/* Before the short one ends: a study always has a run that is going or to be gone on with, which
 * one tare alone can take up. */
static int add_long_run(struct active *a, struct error *err)
{
	const struct part *p = &a->parts[STUDY_LONG];
	if (!p->want.length_ns || p->run)
		return 0;
	a->at = STUDY_LONG;
	int failed = add_run(a, err);
	a->at = STUDY_SHORT;
	return failed;
}

static int measure(struct active *a, struct error *err)
{
	/* as 'tare time' has it */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	interrupt_watch();
	for (int l = 0; l < STUDY_LENGTHS; l++) {
		struct part *p = &a->parts[l];
		a->at = (enum study_length)l;
		int failed = p->done < p->want.samples ? measure_part(a, err) : 0;
		if (!failed && l == STUDY_SHORT)
			failed = add_long_run(a, err);
		if (p->want.length_ns && (failed || !p->ended) && end_part(a, failed, err))
			return -1;
	}
	return 0;
}

static int conclude(struct active *a, struct error *err)
{
	struct calibrate_input in = { .source = STUDY_ACTIVE };
	enum backend seen = BACKEND_BPF;
	size_t executions = 0;
	int failed = 0;
	for (int l = 0; l < STUDY_LENGTHS && !failed; l++) {
		if (!a->parts[l].run)
			continue;
		in.has_long = l == STUDY_LONG;
		failed = calibrate_load(a->lab, a->parts[l].run, &in.runs[l], &in.machine, &seen,
					err);
		in.runs[l].length_ns = a->parts[l].want.length_ns;
		executions += in.runs[l].executions.count;
	}
	if (!failed && seen == BACKEND_PLAIN && !executions) {
		error_set(err, EXIT_ENVIRONMENT,
			  "no study: without privileges no process but one's own was seen; the "
			  "samples are stored as run %" PRId64,
			  a->parts[STUDY_SHORT].run);
		failed = error_hint(err, "run 'tare calibrate' as root");
	} else if (!failed && seen == BACKEND_PLAIN && !a->o->quiet) {
		fputs("tare: without privileges daemons that end within a sample are not seen: run "
		      "it as\n      root to find those, too\n",
		      stderr);
	}
	if (!failed)
		failed = calibrate_conclude(a->o, a->lab, &in, err);
	calibrate_input_release(&in);
	return failed;
}

int calibrate_active(const struct calibrate_options *o, int argc, char **argv, struct error *err)
{
	struct active a = { .o = o, .command_line = cmd_line(argc, argv) };
	int failed = open_everything(&a, err) || measure(&a, err) || conclude(&a, err);
	collector_close(a.collector);
	free(a.command_line);
	free(a.cpus);
	return failed ? -1 : 0;
}
