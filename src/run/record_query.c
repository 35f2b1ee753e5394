#include "run/record_query.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "run/quiet.h"

/* ---- stored as it goes ---- */

static int on_begun(void *context, const struct query_at *at, struct error *err)
{
	struct query_recording *q = context;
	return lab_add_query_at(q->to.lab, q->run.id, at, err);
}

static int on_planned(void *context, const struct query_plan *plan, struct error *err)
{
	struct query_recording *q = context;
	return lab_add_query_plan(q->to.lab, q->run.id, plan, err);
}

static int on_executed(void *context, uint32_t query, uint64_t cardinality,
		       const struct query_execution *x, struct execution *raw, struct error *err)
{
	struct query_recording *q = context;
	q->stored = true;
	return lab_add_query_execution(q->to.lab, q->run.id, query, cardinality, x, raw, err);
}

static int on_event(void *context, const struct query_event *event, struct error *err)
{
	struct query_recording *q = context;
	if (event->kind == QUERY_RESTARTED)
		return lab_restart_query_at(q->to.lab, q->run.id, event, err);
	q->given_up += event->kind == QUERY_GAVE_UP;
	if (event->kind == QUERY_BACKED_OFF)
		q->backed_off(q->context, event->text);
	return lab_add_query_event(q->to.lab, q->run.id, event, err);
}

static void on_progress(void *context, const struct query_progress *p)
{
	struct query_recording *q = context;
	q->progress(q->context, p);
}

/* ---- before ---- */

__attribute__((format(printf, 2, 3))) static void add_sentence(struct strbuf *text, const char *fmt,
							       ...)
{
	va_list args;
	SCOPED(strbuf_release) struct strbuf sentence = { 0 };
	va_start(args, fmt);
	strbuf_vprintf(&sentence, fmt, args);
	va_end(args);
	strbuf_printf(text, "%s%s", text->length ? " " : "", strbuf_text(&sentence));
}

/* What measures, and the database. What is not available is noted, and left out. */
static int open_rig(struct query_recording *q, struct error *err)
{
	static const char *const only[] = { "delayacct" };
	struct quiet_options options = run_quiet_machine();
	struct quiet_status status = { 0 };
	struct error ignored = ERROR_INIT, why = ERROR_INIT;
	struct strbuf not_seen = { 0 };
	quiet_list changes = { 0 };
	q->quieted = quiet_look(&options, &status, &ignored) == 0 && status.quiet && !status.stale;
	/* delays of block I/O are counted for processes that begin afterwards, too */
	options.only = only;
	options.only_count = 1;
	q->delays = quiet_apply(&options, getpid(), &changes, &why) == 0;
	quiet_list_release(&changes);
	FREED char *counted = file_read_line("/proc/sys/kernel/task_delayacct");
	bool no_delays = !q->delays && counted && strcmp(counted, "0") == 0;
	struct error why_no_delays = why;
	if (collector_open(&q->rig.collector, BACKENDS, err))
		return -1;
	const char *collector = collector_not_seen(q->rig.collector);
	if (collector && *collector)
		add_sentence(&not_seen, "%s", collector);
	if (devices_open(&q->rig.devices, &why)) {
		q->rig.devices = NULL;
		add_sentence(&not_seen, "The time that devices served it: %s.", why.text);
	}
	if (no_delays)
		add_sentence(&not_seen, "The time blocked on I/O (kernel.task_delayacct): %s.",
			     why_no_delays.text);
	if (!q->no_ledger && collector_keep_ledger(q->rig.collector, false, &why))
		add_sentence(&not_seen, "The ledger: %s.", why.text);
	q->not_seen = not_seen.length ? strbuf_detach(&not_seen) : NULL;
	return query_place_open(&q->place, &q->e, q->url, q->driver, &q->rig, err);
}

static char *conditions_of(const struct query_recording *q)
{
	FREED char *url = q->place.url ? query_url_shown(q->place.url) : NULL;
	json_t *all = json_pack("{s:s?, s:i, s:i, s:b, s:I, s:I, s:f, s:s?, s:b}", "url", url,
				"scenario", (int)q->e.scenario, "executions", (int)q->e.executions,
				"cold", (int)q->e.cold, "time_limit_ns",
				(json_int_t)q->e.time_limit_ns, "seed", (json_int_t)q->e.seed,
				"scale", q->scale, "driver_file", q->driver_file, "own_file",
				(int)q->place.own_file);
	if (q->quieted)
		json_object_set_new(all, "quiet", json_true());
	if (q->beside)
		json_object_set_new(all, "beside", json_string(q->beside));
	char *text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return text;
}

static int describe_queries(struct query_recording *q, struct query_run *r, struct error *err)
{
	struct dbms_tasks tasks;
	const struct experiment *e = &q->e;
	*r = (struct query_run){
		.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
		.queries = (uint32_t)e->queries.count,
		.experiment_name = xstrdup(e->name),
		.scenario = xstrdup(e->scenario == SCENARIO_ONEPASS ? "onepass" : "exhaustive"),
		.cold = e->cold,
		.planned = e->executions,
		.time_limit_ns = e->time_limit_ns,
		.tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK),
		.seed = e->seed
	};
	snprintf(r->dbms, sizeof r->dbms, "%s", dbms_name(q->rig.dbms));
	for (size_t i = 0; i < e->queries.count; i++)
		array_push(&r->texts,
			   (struct query_text){ (uint32_t)i + 1, xstrdup(e->queries.items[i].name),
						xstrdup(e->queries.items[i].sql) });
	if (query_text_shown(e->text, e->url, &r->experiment, err) ||
	    dbms_tasks(q->rig.dbms, &tasks, err))
		return -1;
	r->io_by_process = tasks.io_by_process;
	if (tasks.guessed) {
		struct strbuf text = { 0 };
		strbuf_puts(&text, q->not_seen ? q->not_seen : "");
		add_sentence(&text,
			     "Which process evaluates: the driver file has no session_id, so "
			     "that every execution is dropped.");
		free(q->not_seen);
		q->not_seen = strbuf_detach(&text);
	}
	return dbms_describe(q->rig.dbms, &r->version, &r->settings, err);
}

int query_recording_begin(struct query_recording *q, struct error *err)
{
	const struct experiment *e = &q->e;
	const char *driver = q->driver ? q->driver : e->driver_file;
	size_t levels = e->cardinalities.count ? e->cardinalities.count : 1;
	SCOPED(query_run_release) struct query_run r = { 0 };
	q->driver_file = driver ? realpath(driver, NULL) : NULL;
	if (open_rig(q, err))
		return -1;
	int failed = describe_queries(q, &r, err);
	if (!failed) {
		q->run.kind = SUBJECT_QUERY;
		q->run.command = xstrdup(q->to.command_line);
		q->run.conditions = conditions_take(conditions_of(q));
		q->run.backend = collector_backend(q->rig.collector);
		q->run.not_seen = recorded_text(q->not_seen);
		q->run.planned = (uint32_t)(levels * e->queries.count * e->executions);
		failed = recorder_begin(&q->to, &q->run, err) ||
			 lab_add_query_run(q->to.lab, q->run.id, &r, err);
	}
	return failed ? -1 : 0;
}

/* ---- taken up again ---- */

/* What the run was begun with. Queries are those that were executed, whatever their files say now.
 */
static int recall(struct query_recording *q, struct error *err)
{
	const struct query_run *r = &q->done;
	const json_t *all = q->run.conditions.all;
	const char *url = json_string_value(json_object_get(all, "url"));
	q->beside = recorded_text(json_string_value(json_object_get(all, "beside")));
	q->driver_file = recorded_text(json_string_value(json_object_get(all, "driver_file")));
	q->driver = q->driver_file;
	q->place.own_file = json_is_true(json_object_get(all, "own_file"));
	if (q->url && url) {
		FREED char *given = query_url_shown(q->url);
		q->elsewhere = strcmp(given, url) != 0;
	} else if (url) {
		q->url = q->place.recalled = xstrdup(url);
	}
	if (!r->experiment || r->imported)
		return error_set(err, EXIT_USAGE, "query resume: run %" PRId64 " was not made here",
				 q->run.id);
	if (experiment_parse(r->experiment, strlen(r->experiment), q->beside ? q->beside : ".",
			     &q->e, err))
		return error_prefix(err, "the experiment of run %" PRId64, q->run.id);
	for (size_t i = 0; i < q->e.queries.count && i < r->texts.count; i++) {
		free(q->e.queries.items[i].sql);
		q->e.queries.items[i].sql = xstrdup(r->texts.items[i].sql);
	}
	q->e.executions = r->planned;
	q->e.time_limit_ns = r->time_limit_ns;
	q->e.seed = r->seed;
	q->e.cold = r->cold;
	if (r->scenario)
		q->e.scenario = strcmp(r->scenario, "onepass") == 0 ? SCENARIO_ONEPASS
								    : SCENARIO_EXHAUSTIVE;
	return 0;
}

int query_recording_resume(struct query_recording *q, int64_t run, struct error *err)
{
	struct query_event event = { .kind = QUERY_RESUMED, .at_ns = clock_realtime_ns() };
	if (lab_get_query_run(q->to.lab, run, &q->done, err) ||
	    lab_get_run(q->to.lab, run, &q->run, err) || recall(q, err) ||
	    lab_resume_run(q->to.lab, run, err)) {
		q->run.id = 0; /* not this process's to end */
		return -1;
	}
	q->resumed = true;
	/* what another tare stored between the two is read again */
	query_run_release(&q->done);
	return lab_get_query_run(q->to.lab, run, &q->done, err) ||
			       lab_add_query_event(q->to.lab, run, &event, err) || open_rig(q, err)
		       ? -1
		       : 0;
}

/* ---- the run, and after it ---- */

int query_recording_run(struct query_recording *q, struct error *err)
{
	const struct query_hooks hooks = { q,		on_begun, on_planned,
					   on_executed, on_event, on_progress };
	const struct query_conduct_options options = {
		.tables = q->tables,
		.elsewhere = q->elsewhere,
		.done = q->resumed ? &q->done : NULL,
		.back_off_ns = q->back_off_ns,
	};
	return (q->e.cold && query_cold_check(&q->rig, err)) ||
			       query_conduct(&q->rig, &q->e, &options, &hooks, err)
		       ? -1
		       : 0;
}

bool query_recording_is_kept(const struct query_recording *q)
{
	return q->run.id && (q->stored || q->resumed || q->paused);
}

int query_recording_stop(struct query_recording *q, bool complete, struct error *err)
{
	struct run_quiet quiet = { .applied = q->delays };
	query_place_close(&q->place, &q->rig, complete || !query_recording_is_kept(q) || q->no_lab);
	devices_close(q->rig.devices);
	collector_close(q->rig.collector);
	q->rig = (struct query_rig){ 0 };
	q->delays = false;
	return run_quiet_end(&quiet, err);
}

int query_recording_end(struct query_recording *q, int failed, const struct error *why,
			struct error *err)
{
	enum run_status status = recorded_status(failed, why);
	q->paused = failed && why->code == EXIT_SUBJECT;
	if (q->paused || (!failed && q->given_up))
		status = RUN_INTERRUPTED;
	return q->run.id ? recorder_end(&q->to, &q->run, status, query_recording_is_kept(q), err)
			 : 0;
}

void query_recording_close(struct query_recording *q)
{
	experiment_release(&q->e);
	run_release(&q->run);
	query_run_release(&q->done);
	free(q->not_seen);
	free(q->beside);
	free(q->driver_file);
	recorder_close(&q->to);
}
