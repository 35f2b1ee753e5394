#include "run/record_query.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/invoker.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "run/quiet.h"

/* ---- stored as it goes ---- */

/* Executions are held while the lab takes nothing; the rest, which comes between them, waits for
 * it. */
struct query_fact {
	int64_t run;
	const void *fact;
};

static int add_at(struct lab *lab, void *what, struct error *err)
{
	const struct query_fact *f = what;
	return lab_add_query_at(lab, f->run, f->fact, err);
}

static int add_plan(struct lab *lab, void *what, struct error *err)
{
	const struct query_fact *f = what;
	return lab_add_query_plan(lab, f->run, f->fact, err);
}

static int add_event(struct lab *lab, void *what, struct error *err)
{
	const struct query_fact *f = what;
	const struct query_event *event = f->fact;
	return event->kind == QUERY_RESTARTED ? lab_restart_query_at(lab, f->run, event, err)
					      : lab_add_query_event(lab, f->run, event, err);
}

static int wait_for(struct query_recording *q, record_fn store, const void *fact, struct error *err)
{
	return recorder_wait(&q->to, store, &(struct query_fact){ q->run.id, fact }, err);
}

static int on_begun(void *context, const struct query_at *at, struct error *err)
{
	return wait_for(context, add_at, at, err);
}

static int on_planned(void *context, const struct query_plan *plan, struct error *err)
{
	return wait_for(context, add_plan, plan, err);
}

struct executed {
	int64_t run;
	uint32_t query;
	uint64_t cardinality;
	struct query_execution x;
	struct execution raw;
};

static int add_executed(struct lab *lab, void *what, struct error *err)
{
	struct executed *e = what;
	return lab_add_query_execution(lab, e->run, e->query, e->cardinality, &e->x, &e->raw, err);
}

static void release_executed(void *what)
{
	struct executed *e = what;
	execution_release(&e->raw);
	free(e);
}

static int on_executed(void *context, uint32_t query, uint64_t cardinality,
		       const struct query_execution *x, struct execution *raw, struct error *err)
{
	struct query_recording *q = context;
	struct executed *e = xcalloc(1, sizeof *e);
	q->stored = true;
	*e = (struct executed){ q->run.id, query, cardinality, *x, execution_take(raw) };
	return recorder_hold(&q->to,
			     &(struct held){ add_executed, release_executed, e,
					     sizeof *e + execution_bytes(&e->raw) },
			     err);
}

static int on_event(void *context, const struct query_event *event, struct error *err)
{
	struct query_recording *q = context;
	if (event->kind == QUERY_GAVE_UP) {
		q->given_up += !event->text;
		q->broken += event->text != NULL;
		if (event->text)
			q->gave_up(q->context, event);
	}
	if (event->kind == QUERY_BACKED_OFF)
		q->backed_off(q->context, event->text);
	return wait_for(q, add_event, event, err);
}

static void on_progress(void *context, const struct query_progress *p)
{
	struct query_recording *q = context;
	q->progress(q->context, p);
}

/* ---- consent ---- */

const char *query_first_word(const char *sql)
{
	for (;;) {
		sql += strspn(sql, " \t\r\n(");
		if (strncmp(sql, "--", 2) == 0)
			sql += strcspn(sql, "\n");
		else if (strncmp(sql, "/*", 2) == 0 && strstr(sql, "*/"))
			sql = strstr(sql, "*/") + 2;
		else
			return sql;
	}
}

int query_refuse_writes(const struct experiment *e, struct error *err)
{
	static const char *const reads[] = { "select", "with", "values", "table", "show", NULL };
	for (size_t i = 0; i < e->queries.count; i++) {
		const char *word = query_first_word(e->queries.items[i].sql);
		bool reading = false;
		for (const char *const *r = reads; *r; r++) {
			size_t length = strlen(*r);
			reading |= strncasecmp(word, *r, length) == 0 &&
				   !isalnum((unsigned char)word[length]);
		}
		if (!reading) {
			error_set(err, EXIT_USAGE,
				  "query %zu is no SELECT, and would be executed %" PRIu32
				  " times and more: '%.60s'",
				  i + 1, e->executions, word);
			return error_hint(err, "--allow-writes executes it all the same, and rolls "
					       "back what it wrote");
		}
	}
	return 0;
}

const char *query_consent_options(enum query_transaction transaction)
{
	static const char *const options[QUERY_TRANSACTIONS] = { "", " --allow-writes",
								 " --allow-writes --commit" };
	return options[transaction];
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
	struct quiet_options options = run_quiet_machine();
	struct quiet_status status = { 0 };
	struct error ignored = ERROR_INIT, why = ERROR_INIT;
	struct strbuf not_seen = { 0 };
	q->quieted = quiet_look(&options, &status, &ignored) == 0 && status.quiet && !status.stale;
	/* delays of block I/O are counted for processes that begin afterwards, too */
	q->delays = quiet_use(&options, "delayacct", &q->delays_use, &why) == 0;
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
	return query_place_open(&q->place, &q->e, q->url, q->driver, q->transaction, &q->rig, err);
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
	if (q->transaction != QUERY_READ_ONLY)
		json_object_set_new(all, "writes",
				    json_string(query_transaction_names[q->transaction]));
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
	const pid_t *readers;
	bool sums = tasks.makes_workers && collector_backend(q->rig.collector) == BACKEND_PLAIN;
	bool read_for_all = dbms_readers(q->rig.dbms, &readers) > 0;
	if (tasks.guessed || sums || read_for_all) {
		struct strbuf text = { 0 };
		strbuf_puts(&text, q->not_seen ? q->not_seen : "");
		if (tasks.guessed)
			add_sentence(&text,
				     "Which process evaluates: the driver file has no session_id, "
				     "so that every execution is dropped.");
		if (sums)
			add_sentence(
				&text,
				"Parallel workers one by one: their CPU time is a sum, exact if "
				"the server has a control group of its own, otherwise in steps "
				"of 10 ms.");
		if (read_for_all)
			add_sentence(&text, "For whom the server's I/O workers read: what they did "
					    "meanwhile counts as the query's.");
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

/* What the run may do by its conditions, if the user consents to that again. */
static int recall_consent(struct query_recording *q, const char *url, struct error *err)
{
	const char *writes = json_string_value(json_object_get(q->run.conditions.all, "writes"));
	enum query_transaction recorded = QUERY_READ_ONLY;
	for (uint32_t i = 0; writes && i < QUERY_TRANSACTIONS; i++)
		if (strcmp(writes, query_transaction_names[i]) == 0)
			recorded = i;
	if (q->transaction < recorded) {
		char shown[200];
		FREED char *given = q->url ? query_url_shown(q->url) : NULL; /* no password */
		text_display(given ? given : url ? url : "its database", shown, sizeof shown);
		error_set(err, EXIT_USAGE,
			  "query resume: run %" PRId64 " changes data in %s, and needs your "
			  "consent again",
			  q->run.id, shown);
		return error_hint(err, "'tare query resume%s %" PRId64 "'",
				  query_consent_options(recorded), q->run.id);
	}
	q->transaction = recorded;
	return 0;
}

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
	if (recall_consent(q, url, err))
		return -1;
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
	return q->transaction == QUERY_READ_ONLY ? query_refuse_writes(&q->e, err) : 0;
}

/* A lab says what a resumed run connects to and which programs start its server. */
static int refuse_stranger(const struct lab *lab, struct error *err)
{
	struct invoker who;
	struct stat st;
	char shown[200];
	invoker_get(&who);
	if (stat(lab_path(lab), &st) == 0 &&
	    (st.st_uid == 0 || st.st_uid == (who.present ? who.uid : geteuid())))
		return 0;
	text_display(lab_path(lab), shown, sizeof shown);
	error_set(err, EXIT_USAGE,
		  "query resume: %s is somebody else's, and to resume a run starts what the lab "
		  "says",
		  shown);
	return error_hint(err, "if you trust whoever made it, copy the file and resume in yours");
}

int query_recording_resume(struct query_recording *q, int64_t run, struct error *err)
{
	struct query_event event = { .kind = QUERY_RESUMED, .at_ns = clock_realtime_ns() };
	if (refuse_stranger(q->to.lab, err) || lab_get_query_run(q->to.lab, run, &q->done, err) ||
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
		.writes = q->transaction != QUERY_READ_ONLY,
	};
	return (q->e.cold && query_cold_check(&q->rig, err)) ||
			       query_conduct(&q->rig, &q->e, &options, &hooks, err)
		       ? -1
		       : 0;
}

bool query_recording_is_kept(const struct query_recording *q)
{
	return q->run.id && (q->stored || q->resumed || q->paused || q->broken);
}

int query_recording_stop(struct query_recording *q, bool complete, struct error *err)
{
	struct quiet_options options = run_quiet_machine();
	int use = q->delays ? q->delays_use : -1;
	query_place_close(&q->place, &q->rig, complete || !query_recording_is_kept(q) || q->no_lab);
	devices_close(q->rig.devices);
	collector_close(q->rig.collector);
	q->rig = (struct query_rig){ 0 };
	q->delays = false;
	return quiet_unuse(&options, &use, err);
}

int query_recording_end(struct query_recording *q, int failed, const struct error *why,
			struct error *err)
{
	enum run_status status = recorded_status(failed, why);
	q->paused = failed && why->code == EXIT_SUBJECT;
	if (q->paused || (!failed && (q->given_up || q->broken)))
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
