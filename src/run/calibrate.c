#include "run/calibrate.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/interrupt.h"
#include "run/find.h"
#include "subject/inc.h"

#define GRACE_NS 1000000000u
#define PATH_MOST 4096

void calibration_inc_name(uint64_t length_ns, char out[32])
{
	snprintf(out, 32, "INC%.6g", (double)length_ns / 1e9);
}

/* ---- what a run says of itself ---- */

/* Both runs know the whole plan: a study is resumed from nothing else. */
static char *conditions_of(const struct calibration *c, enum study_length which)
{
	json_t *plan = json_pack("{s:s}", "part", study_length_names[which]);
	for (int l = 0; l < STUDY_LENGTHS; l++) {
		const struct calibration_part *p = &c->parts[l];
		if (p->want.length_ns)
			json_object_set_new(plan, study_length_names[(enum study_length)l],
					    json_pack("{s:I, s:I, s:I}", "length_ns",
						      (json_int_t)p->want.length_ns, "samples",
						      (json_int_t)p->want.samples, "turns",
						      (json_int_t)p->turns));
	}
	json_t *all = json_pack("{s:o, s:i, s:I}", "calibrate", plan, "warmup", 1, "runs",
				(json_int_t)c->parts[which].want.samples);
	if (c->cpus)
		json_object_set_new(all, "cpu", json_string(c->cpus));
	char *text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return text ? text : xstrdup("{}");
}

static int add_run(struct calibration *c, enum study_length which, struct error *err)
{
	struct calibration_part *p = &c->parts[which];
	char inc[32], name[80], command[80];
	calibration_inc_name(p->want.length_ns, inc);
	snprintf(name, sizeof name, "calibrate %s %s", study_length_names[which], inc);
	snprintf(command, sizeof command, "tare inc --turns %" PRIu64, p->turns);
	p->run = (struct run){ .name = xstrdup(name),
			       .command = xstrdup(command),
			       .conditions = conditions_take(conditions_of(c, which)),
			       .backend = collector_backend(c->collector),
			       .not_seen = recorded_text(collector_not_seen(c->collector)),
			       .planned = p->want.samples };
	return recorder_begin(&c->to, &p->run, err);
}

static uint64_t whole(const json_t *o, const char *key, uint64_t most)
{
	json_int_t n = json_integer_value(json_object_get(o, key));
	return n > 0 && (uint64_t)n <= most ? (uint64_t)n : 0;
}

/* The plan that a run of a study carries; false: it is no such run. */
static bool read_plan(const json_t *all, struct calibration *c, enum study_length *which)
{
	const json_t *plan = json_object_get(all, "calibrate");
	const char *part = json_string_value(json_object_get(plan, "part"));
	const char *cpus = json_string_value(json_object_get(all, "cpu"));
	bool good = part != NULL;
	*which = part && strcmp(part, "long") == 0 ? STUDY_LONG : STUDY_SHORT;
	for (int l = 0; l < STUDY_LENGTHS && good; l++) {
		const json_t *o = json_object_get(plan, study_length_names[(enum study_length)l]);
		struct calibration_part *p = &c->parts[l];
		p->want.length_ns = whole(o, "length_ns", INT64_MAX);
		p->want.samples = (uint32_t)whole(o, "samples", STUDY_MOST);
		p->turns = whole(o, "turns", INT64_MAX);
		good = p->want.length_ns ? p->want.samples && p->turns : l == STUDY_LONG;
	}
	if (good && cpus && !c->cpus &&
	    (strcmp(cpus, "all") == 0 ? cpus_reachable(&c->cpu_set)
				      : cpus_parse(cpus, &c->cpu_set)))
		c->cpus = xstrdup(cpus);
	return good;
}

/* ---- going on with one ---- */

/* The newest run of a study, or the one named. */
static int find_resumed(struct calibration *c, struct run *into, struct error *err)
{
	enum study_length which;
	if (*c->resume) {
		int64_t id;
		if (run_find(c->to.lab, c->resume, LAB_OF(SUBJECT_COMMAND), &id, err) ||
		    lab_get_run(c->to.lab, id, into, err))
			return -1;
		if (read_plan(into->conditions.all, c, &which))
			return 0;
		return error_set(err, EXIT_USAGE, "run %" PRId64 " is none of 'tare calibrate'",
				 id);
	}
	FREED run_list runs = { 0 };
	bool found = false;
	int failed = lab_list_runs(c->to.lab, NULL, 0, &runs, NULL, err);
	for (size_t i = 0; i < runs.count; i++) {
		struct run *run = &runs.items[i];
		if (!failed && !found) {
			run->conditions = conditions_take(run->conditions.text);
			found = read_plan(run->conditions.all, c, &which);
			*into = found ? *run : *into;
		}
		if (!found || into->id != run->id)
			run_release(run);
	}
	if (failed || found)
		return failed;
	return error_set(err, EXIT_USAGE, "there is no study to go on with in %s",
			 lab_path(c->to.lab));
}

/* What is told again beside --continue must be what it was, and the machine must be the same. */
static int check_same(struct calibration *c, const struct run *run, struct error *err)
{
	bool same = !c->wanted_cpus || (c->cpus && CPU_EQUAL(&c->wanted_set, &c->cpu_set));
	for (int l = 0; l < STUDY_LENGTHS; l++) {
		const struct calibrate_part *told = &c->wanted[l], *was = &c->parts[l].want;
		same = same && (!told->length_ns || (told->length_ns == was->length_ns &&
						     told->samples == was->samples));
	}
	if (!same) {
		error_set(err, EXIT_USAGE,
			  "the study of run %" PRId64 " was begun with other options", run->id);
		return error_hint(err, "--continue alone goes on with those it was begun with");
	}
	SCOPED(machine_release) struct machine then = { 0 };
	char identity[2][17];
	if (run->machine == c->to.machine_id || !run->machine)
		return 0;
	int failed = lab_get_machine(c->to.lab, run->machine, &then, err);
	if (!failed) {
		const char *was = machine_get(&then, "kernel.release");
		const char *is = machine_get(&c->to.machine, "kernel.release");
		const char *host = machine_get(&then, "system.host");
		machine_identity(&then, identity[0]);
		machine_identity(&c->to.machine, identity[1]);
		if (strcmp(identity[0], identity[1]) != 0)
			failed = error_set(err, EXIT_USAGE,
					   "the study was begun on another machine (%s)",
					   host ? host : "its name is not known");
		else if (was && is && strcmp(was, is) != 0)
			c->notice("the study was begun with kernel %s, this is %s", was, is);
	}
	return failed;
}

static int take_up_run(struct calibration *c, struct run *run, struct error *err)
{
	enum study_length which;
	execution_list list = { 0 };
	if (!read_plan(run->conditions.all, c, &which)) {
		run_release(run);
		return 0;
	}
	struct calibration_part *p = &c->parts[which];
	run_release(&p->run);
	p->run = *run;
	p->ended = run->status == RUN_COMPLETE;
	/* before its executions are counted: from here on nobody else adds any */
	if ((!p->ended && lab_resume_run(c->to.lab, run->id, err)) ||
	    lab_get_executions(c->to.lab, run->id, LAB_ROWS, &list, err))
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

/* A study that is whole and was stored is not made again unless its run was named. */
static int check_unfinished(struct calibration *c, struct error *err)
{
	int64_t first = c->parts[STUDY_SHORT].run.id;
	lab_study_list list = { 0 };
	struct machine none = { 0 };
	bool studied = false;
	if (*c->resume)
		return 0;
	for (int l = 0; l < STUDY_LENGTHS; l++)
		if (c->parts[l].done < c->parts[l].want.samples)
			return 0;
	int failed = lab_list_studies(c->to.lab, &list, err);
	for (size_t i = 0; i < list.count && !failed && !studied; i++) {
		SCOPED(study_release) struct study s = { 0 };
		bool found;
		failed = lab_get_study(c->to.lab, &none, list.items[i].id, &found, &s, err);
		studied = !failed && found && s.source == STUDY_ACTIVE &&
			  s.runs[STUDY_SHORT].run == first;
	}
	array_release(&list);
	if (failed || !studied)
		return failed;
	error_set(err, EXIT_USAGE, "the study of run %" PRId64 " is complete", first);
	return error_hint(err, "'tare cutoffs show' shows it; --continue=%" PRId64 " makes it anew",
			  first);
}

static int resume(struct calibration *c, struct error *err)
{
	SCOPED(run_release) struct run run = { 0 };
	FREED run_list runs = { 0 };
	int failed = find_resumed(c, &run, err) || check_same(c, &run, err) ||
		     lab_invocation_runs(c->to.lab, run.invocation, &runs, err);
	c->to.invocation = run.invocation;
	for (size_t i = 0; i < runs.count; i++) {
		if (failed)
			run_release(&runs.items[i]);
		else
			failed = take_up_run(c, &runs.items[i], err);
	}
	return failed || check_unfinished(c, err) ? -1 : 0;
}

/* ---- the executions ---- */

static int on_begun(void *context, size_t item, struct error *err)
{
	struct calibration *c = context;
	(void)item;
	c->begun(c->context, c);
	return c->parts[c->at].run.id ? 0 : add_run(c, c->at, err);
}

static int on_executed(void *context, size_t item, struct execution *x, struct error *err)
{
	struct calibration *c = context;
	struct calibration_part *p = &c->parts[c->at];
	uint32_t *count = x->warmup ? &p->warmed : &p->done;
	(void)item;
	x->number = *count + 1;
	if (recorder_add_execution(&c->to, p->run.id, x, err))
		return -1;
	*count += 1;
	return 0;
}

static void on_progress(void *context, size_t item, uint32_t done, uint32_t planned)
{
	struct calibration *c = context;
	(void)item;
	(void)done;
	(void)planned;
	c->progress(c->context, c);
}

static int measure_part(struct calibration *c, struct error *err)
{
	struct calibration_part *p = &c->parts[c->at];
	char path[PATH_MOST], turns[24];
	/* this program, also when its file has been replaced since */
	ssize_t n = readlink("/proc/self/exe", path, PATH_MOST - 1);
	path[n > 0 ? n : 0] = '\0';
	if (n <= 0 || access(path, X_OK))
		snprintf(path, PATH_MOST, "/proc/self/exe");
	snprintf(turns, sizeof turns, "%" PRIu64, p->turns);
	char *argv[] = { path, (char *)"inc", (char *)"--turns", turns, NULL };
	const struct plan_item item = { .argv = argv };
	const struct plan plan = { .items = &item,
				   .count = 1,
				   .warmup = 1,
				   .runs = p->want.samples - p->done,
				   .launch = { .cpus = c->cpus ? &c->cpu_set : NULL,
					       .as_root = true,
					       .iteration = -1 },
				   .hook_launch = { .as_root = true },
				   .execute = { .grace_ns = GRACE_NS } };
	const struct plan_events events = {
		.context = c, .begun = on_begun, .executed = on_executed, .progress = on_progress
	};
	size_t failed_item;
	int failed = plan_run(c->collector, &plan, &events, &failed_item, err);
	c->ended(c->context);
	return failed;
}

static int end_part(struct calibration *c, int failed, struct error *err)
{
	struct calibration_part *p = &c->parts[c->at];
	struct error late = ERROR_INIT;
	char why[sizeof err->text];
	if (!p->run.id)
		return failed;
	/* nothing to keep; a long run is what --continue takes up when the short one is complete */
	bool keep = !failed || p->done || p->warmed || c->at == STUDY_LONG;
	enum run_status status = recorded_status(failed, err);
	if (recorder_end(&c->to, &p->run, status, keep, failed ? &late : err) && !failed)
		return -1;
	if (!failed || !(keep || *late.text))
		return failed;
	/* what is there, and how to go on */
	snprintf(why, sizeof why, "%s", err->text);
	if (err->code == EXIT_INTERRUPTED)
		error_set(err, EXIT_INTERRUPTED,
			  "interrupted: %" PRIu32 " of %" PRIu32
			  " samples of the %s run are stored as run %" PRId64,
			  p->done, p->want.samples, study_length_names[c->at], p->run.id);
	else
		error_set(err, err->code, "%.800s; %" PRIu32 " samples are stored as run %" PRId64,
			  why, p->done, p->run.id);
	return error_hint(err, "'tare calibrate --continue=%" PRId64 "' goes on with it",
			  p->run.id);
}

static int measure(struct calibration *c, struct error *err)
{
	/* as 'tare time' has it */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	interrupt_watch();
	for (int l = 0; l < STUDY_LENGTHS; l++) {
		struct calibration_part *p = &c->parts[l], *next = &c->parts[STUDY_LONG];
		c->at = (enum study_length)l;
		int failed = p->done < p->want.samples ? measure_part(c, err) : 0;
		/* Before the short one ends: a study always has a run that is going or to be gone
		 * on with, which one tare alone can take up. */
		if (!failed && l == STUDY_SHORT && next->want.length_ns && !next->run.id)
			failed = add_run(c, STUDY_LONG, err);
		if (p->want.length_ns && (failed || !p->ended) && end_part(c, failed, err))
			return -1;
	}
	return 0;
}

int calibration_run(struct calibration *c, struct study_input *in, struct error *err)
{
	struct error none = ERROR_INIT;
	size_t executions = 0;
	if (collector_open(&c->collector, c->backend, err))
		return -1;
	/* for 'tare explain' of a sample; a study needs none */
	collector_keep_ledger(c->collector, false, &none);
	if (recorder_add_machine(&c->to, err) || (c->resume && resume(c, err)))
		return -1;
	for (int l = 0; l < STUDY_LENGTHS && !c->resume; l++) {
		struct calibration_part *p = &c->parts[l];
		p->want = c->wanted[l];
		if (p->want.length_ns && inc_turns(p->want.length_ns, false, &p->turns, err))
			return -1;
	}
	if (!c->resume) {
		c->cpus = recorded_text(c->wanted_cpus);
		c->cpu_set = c->wanted_set;
	}
	if (measure(c, err))
		return -1;
	in->source = STUDY_ACTIVE;
	in->seen = BACKEND_BPF;
	for (int l = 0; l < STUDY_LENGTHS; l++) {
		const struct calibration_part *p = &c->parts[l];
		if (!p->run.id)
			continue;
		if (study_load(c->to.lab, p->run.id, (enum study_length)l, in, err))
			return -1;
		in->runs[l].length_ns = p->want.length_ns;
		executions += in->runs[l].executions.count;
	}
	if (in->seen != BACKEND_PLAIN || executions)
		return 0;
	error_set(err, EXIT_ENVIRONMENT,
		  "no study: without privileges no process but one's own was seen; the "
		  "samples are stored as run %" PRId64,
		  c->parts[STUDY_SHORT].run.id);
	return error_hint(err, "run 'tare calibrate' as root");
}

void calibration_close(struct calibration *c)
{
	for (int l = 0; l < STUDY_LENGTHS; l++)
		run_release(&c->parts[l].run);
	collector_close(c->collector);
	free(c->cpus);
	recorder_close(&c->to);
}
