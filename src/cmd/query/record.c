/* tare query run and resume: measure, store, read back, print. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/query/place.h"
#include "cmd/query/query.h"
#include "measure/query.h"
#include "quiet/quiet.h"
#include "report/core/json.h"
#include "run/find.h"

#define NOT_GIVEN (-1)
#define NO_LIMIT_GIVEN UINT64_MAX

struct record_options {
	struct query_display display;
	text_list statements;
	const char *name, *tag, *scale_text, *url, *driver_file;
	double scale;
	long runs, seed;
	int scenario; /* enum experiment_scenario; NOT_GIVEN */
	uint64_t limit_ns, back_off_ns;
	bool cold, warm, force, reuse, writes, quiet, no_lab, no_ledger;
};

struct session {
	struct record_options *o;
	bool quiet; /* no text on stdout, no progress */
	struct experiment e;
	struct query_place place;
	struct query_rig rig;
	struct lab *lab;
	struct machine machine;
	struct run run;
	struct query_run done; /* what was stored before, of a run that is resumed */
	bool resumed, delays, stored, paused;
	bool elsewhere;		    /* resumed in another database */
	bool quieted;		    /* the machine was quiet */
	size_t given_up;	    /* Q@Cs */
	char *not_seen, *no_delays; /* one: why blocked time is not known */
	char *beside; /* the directory that paths in the experiment begin at; NULL: none */
	char *driver_file;
	struct progress progress;
	char label[40];
};

/* ---- stored as it goes ---- */

static int on_begun(void *context, const struct query_at *at, struct error *err)
{
	struct session *s = context;
	return lab_add_query_at(s->lab, s->run.id, at, err);
}

static int on_planned(void *context, const struct query_plan *plan, struct error *err)
{
	struct session *s = context;
	return lab_add_query_plan(s->lab, s->run.id, plan, err);
}

static int on_executed(void *context, uint32_t query, uint64_t cardinality,
		       const struct query_execution *q, struct execution *raw, struct error *err)
{
	struct session *s = context;
	s->stored = true;
	return lab_add_query_execution(s->lab, s->run.id, query, cardinality, q, raw, err);
}

static int on_event(void *context, const struct query_event *event, struct error *err)
{
	struct session *s = context;
	if (event->kind == QUERY_RESTARTED)
		return lab_restart_query_at(s->lab, s->run.id, event, err);
	s->given_up += event->kind == QUERY_GAVE_UP;
	if (event->kind == QUERY_BACKED_OFF && !s->quiet) {
		char shown[60];
		progress_clear(&s->progress);
		text_display(event->text, shown, sizeof shown);
		fprintf(stderr, "tare: %s; trying again\n", shown);
	}
	return lab_add_query_event(s->lab, s->run.id, event, err);
}

static void on_progress(void *context, const struct query_progress *p)
{
	struct session *s = context;
	progress_update(&s->progress, p->done, p->total, p->doing);
}

/* ---- before ---- */

/* Of statements on the command line, an experiment as a file would have it. */
static char *text_of_statements(const text_list *statements)
{
	json_t *list = json_array();
	for (size_t i = 0; i < statements->count; i++)
		json_array_append_new(list, json_text(statements->items[i]));
	char *queries = json_dumps(list, JSON_COMPACT);
	struct strbuf text = { 0 };
	strbuf_printf(&text, "name: statements\nqueries: %s\n", queries);
	free(queries);
	json_decref(list);
	return strbuf_detach(&text);
}

static void apply_options(struct session *s)
{
	const struct record_options *o = s->o;
	if (o->runs)
		s->e.executions = (uint32_t)o->runs;
	if (o->limit_ns != NO_LIMIT_GIVEN)
		s->e.time_limit_ns = o->limit_ns;
	if (o->seed >= 0)
		s->e.seed = (uint64_t)o->seed;
	if (o->cold || o->warm)
		s->e.cold = o->cold;
	if (o->scenario != NOT_GIVEN)
		s->e.scenario = (enum experiment_scenario)o->scenario;
}

/* Absolute, for a run that is resumed elsewhere; the caller frees. */
static char *directory_of(const char *path)
{
	char *copy = xstrdup(path), *slash = strrchr(copy, '/');
	if (slash)
		slash[slash == copy] = '\0';
	char *absolute = realpath(slash ? copy : ".", NULL);
	free(copy);
	return absolute;
}

/* Behind blanks, comments and parentheses. */
static const char *first_word(const char *sql)
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

/* One execution more than was asked for warms the caches: what changes data is not repeated without
 * the user's word. */
static int refuse_writes(const struct session *s, struct error *err)
{
	static const char *const reads[] = { "select", "with", "values", "table", "show", NULL };
	for (size_t i = 0; !s->o->writes && i < s->e.queries.count; i++) {
		const char *word = first_word(s->e.queries.items[i].sql);
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
				  i + 1, s->e.executions, word);
			return error_hint(err, "--allow-writes executes it all the same");
		}
	}
	return 0;
}

static int read_experiment(struct session *s, const text_list *operands, struct error *err)
{
	struct record_options *o = s->o;
	size_t next = 0;
	int failed;
	if (query_scale(o->scale_text, &o->scale, err))
		return -1;
	if (o->statements.count) {
		char *text = text_of_statements(&o->statements);
		failed = experiment_parse(text, strlen(text), ".", &s->e, err);
		free(text);
	} else if (operands->count) {
		s->beside = directory_of(operands->items[next]);
		failed = query_experiment(operands->items[next++], o->scale, &s->e, err);
	} else {
		error_set(err, EXIT_USAGE, "query: nothing to measure");
		return error_hint(err, "'tare query quick', 'tare query FILE', or 'tare query -e "
				       "\"SELECT ...\" postgresql://...'");
	}
	if (failed)
		return -1;
	if (next < operands->count)
		o->url = operands->items[next++];
	if (o->driver_file || s->e.driver_file)
		s->driver_file = realpath(o->driver_file ? o->driver_file : s->e.driver_file, NULL);
	if (next < operands->count)
		return error_set(err, EXIT_USAGE, "query: one database, not also '%.100s'",
				 operands->items[next]);
	apply_options(s);
	return refuse_writes(s, err);
}

/* Delays of block I/O are counted for processes that begin afterwards, too. */
static void count_delays(struct session *s)
{
	static const char *const only[] = { "delayacct" };
	const struct quiet_options options = { .root = getenv("TARE_QUIET_ROOT"),
					       .only = only,
					       .only_count = 1 };
	struct error ignored = ERROR_INIT, why = ERROR_INIT;
	struct quiet_status status = { 0 };
	quiet_list changes = { 0 };
	s->quieted = quiet_look(&options, &status, &ignored) == 0 && status.quiet && !status.stale;
	s->delays = quiet_apply(&options, getpid(), &changes, &why) == 0;
	char *now = file_read_line("/proc/sys/kernel/task_delayacct");
	if (!s->delays && now && strcmp(now, "0") == 0)
		s->no_delays = xstrdup(why.text);
	free(now);
	quiet_list_release(&changes);
}

static void stop_counting(struct session *s)
{
	const struct quiet_options options = { .root = getenv("TARE_QUIET_ROOT") };
	struct error err = ERROR_INIT;
	quiet_list restored = { 0 };
	if (s->delays && quiet_restore_own(&options, getpid(), &restored, &err))
		cmd_fail(&err);
	quiet_list_release(&restored);
}

static void add_sentence(struct strbuf *text, const char *sentence)
{
	if (sentence && *sentence)
		strbuf_printf(text, "%s%s", text->length ? " " : "", sentence);
}

/* What measures; what cannot be had is said, and left out. */
static int open_rig(struct session *s, struct error *err)
{
	struct error why = ERROR_INIT;
	struct strbuf not_seen = { 0 };
	if (collector_open(&s->rig.collector, BACKENDS, err))
		return -1;
	add_sentence(&not_seen, collector_not_seen(s->rig.collector));
	if (devices_open(&s->rig.devices, &why)) {
		s->rig.devices = NULL;
		strbuf_printf(&not_seen, "%sThe time that devices served it: %s.",
			      not_seen.length ? " " : "", why.text);
	}
	if (s->no_delays)
		strbuf_printf(&not_seen, "%sThe time blocked on I/O (kernel.task_delayacct): %s.",
			      not_seen.length ? " " : "", s->no_delays);
	if (!s->o->no_ledger && collector_keep_ledger(s->rig.collector, false, &why))
		strbuf_printf(&not_seen, "%sThe ledger: %s.", not_seen.length ? " " : "", why.text);
	s->not_seen = not_seen.length ? strbuf_detach(&not_seen) : NULL;
	return query_place_open(&s->place, &s->e, s->o->url, s->o->driver_file, &s->rig, err);
}

static char *conditions(const struct session *s)
{
	char *url = s->place.url ? query_url_shown(s->place.url) : NULL;
	json_t *all = json_pack("{s:s?, s:i, s:i, s:b, s:I, s:I, s:f, s:s?, s:b}", "url", url,
				"scenario", (int)s->e.scenario, "executions", (int)s->e.executions,
				"cold", (int)s->e.cold, "time_limit_ns",
				(json_int_t)s->e.time_limit_ns, "seed", (json_int_t)s->e.seed,
				"scale", s->o->scale, "driver_file", s->driver_file, "own_file",
				(int)s->place.own_file);
	if (s->quieted)
		json_object_set_new(all, "quiet", json_true());
	if (s->beside)
		json_object_set_new(all, "beside", json_string(s->beside));
	char *text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	free(url);
	return text;
}

static void describe_run(struct session *s, int argc, char **argv)
{
	const struct record_options *o = s->o;
	const char *name = o->name		 ? o->name
			   : o->statements.count ? o->statements.items[0]
						 : s->e.name;
	size_t levels = s->e.cardinalities.count ? s->e.cardinalities.count : 1;
	s->run = (struct run){ .kind = SUBJECT_QUERY,
			       .name = xstrdup(name),
			       .command = query_command_line(argc, argv),
			       .directory = getcwd(NULL, 0),
			       .conditions = conditions_take(conditions(s)),
			       .backend = collector_backend(s->rig.collector),
			       .not_seen = s->not_seen ? xstrdup(s->not_seen) : NULL,
			       .started_at_ns = clock_realtime_ns(),
			       .planned = (uint32_t)(levels * s->e.queries.count * s->e.executions),
			       .version = xstrdup(TARE_VERSION),
			       .tags = o->tag ? xstrdup(o->tag) : NULL };
	if (!s->run.directory)
		s->run.directory = xstrdup("?");
}

static int describe_queries(struct session *s, struct query_run *q, struct error *err)
{
	struct dbms_tasks tasks;
	*q = (struct query_run){
		.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
		.queries = (uint32_t)s->e.queries.count,
		.experiment_name = xstrdup(s->e.name),
		.scenario = xstrdup(s->e.scenario == SCENARIO_ONEPASS ? "onepass" : "exhaustive"),
		.cold = s->e.cold,
		.planned = s->e.executions,
		.time_limit_ns = s->e.time_limit_ns,
		.tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK),
		.seed = s->e.seed
	};
	snprintf(q->dbms, sizeof q->dbms, "%s", dbms_name(s->rig.dbms));
	for (size_t i = 0; i < s->e.queries.count; i++)
		array_push(&q->texts, (struct query_text){ (uint32_t)i + 1,
							   xstrdup(s->e.queries.items[i].name),
							   xstrdup(s->e.queries.items[i].sql) });
	if (query_text_shown(s->e.text, s->e.url, &q->experiment, err) ||
	    dbms_tasks(s->rig.dbms, &tasks, err))
		return -1;
	q->io_by_process = tasks.io_by_process;
	if (tasks.guessed) {
		struct strbuf text = { 0 };
		add_sentence(&text, s->not_seen);
		add_sentence(&text,
			     "Which process evaluates: the driver file has no session_id, so that "
			     "every execution is dropped.");
		free(s->not_seen);
		s->not_seen = strbuf_detach(&text);
	}
	return dbms_describe(s->rig.dbms, &q->version, &q->settings, err);
}

static int open_lab(struct session *s, struct error *err)
{
	const struct record_options *o = s->o;
	if (o->no_lab)
		o->display.lab->file = LAB_IN_MEMORY;
	s->lab = lab_access_open(o->display.lab, err);
	if (!s->lab) {
		if (!*err->hint)
			error_hint(err,
				   "--lab FILE keeps the run elsewhere, --no-lab keeps nothing");
		return -1;
	}
	return 0;
}

static int begin_run(struct session *s, int argc, char **argv, struct error *err)
{
	struct query_run q;
	int failed = describe_queries(s, &q, err);
	if (!failed) {
		describe_run(s, argc, argv);
		machine_read(&s->machine);
		failed = lab_add_machine(s->lab, &s->machine, &s->run.machine, err) ||
			 lab_add_study(s->lab, s->run.command, &s->run.study, err) ||
			 lab_add_run(s->lab, &s->run, err) ||
			 lab_add_query_run(s->lab, s->run.id, &q, err);
	}
	query_run_release(&q);
	return failed;
}

static int check_options(const struct record_options *o, struct error *err)
{
	if (o->cold && o->warm)
		return error_set(err, EXIT_USAGE, "query: --cold and --warm exclude each other");
	if (o->force && o->reuse)
		return error_set(err, EXIT_USAGE, "query: --force and --reuse exclude each other");
	for (size_t i = 0; i < o->statements.count; i++)
		if (!*first_word(o->statements.items[i]))
			return error_set(err, EXIT_USAGE, "query: there is no SQL in -e '%.60s'",
					 o->statements.items[i]);
	if (!o->limit_ns)
		return error_set(err, EXIT_USAGE, "query: --limit is longer than nothing");
	if (o->name && lab_check_name(o->name, err))
		return -1;
	return query_display_check(&o->display, err);
}

/* ---- the run ---- */

static int measure(struct session *s, struct error *err)
{
	const struct record_options *o = s->o;
	const struct query_hooks hooks = { s,		on_begun, on_planned,
					   on_executed, on_event, on_progress };
	const struct query_conduct_options options = {
		.tables = o->force   ? TABLES_FORCE
			  : o->reuse ? TABLES_REUSE
				     : TABLES_NEW,
		.elsewhere = s->elsewhere,
		.done = s->resumed ? &s->done : NULL,
		.back_off_ns = o->back_off_ns,
	};
	text_display(s->run.name, s->label, sizeof s->label);
	progress_init(&s->progress, s->label, !s->quiet);
	int failed = (s->e.cold && query_cold_check(&s->rig, err)) ||
		     query_conduct(&s->rig, &s->e, &options, &hooks, err);
	progress_clear(&s->progress);
	return failed ? -1 : 0;
}

/* Something of it is in the lab, and can be resumed. */
static bool is_kept(const struct session *s)
{
	return s->run.id && (s->stored || s->resumed || s->paused);
}

static int end_run(struct session *s, enum run_status status, struct error *err)
{
	if (lab_end_run(s->lab, s->run.id, status, err))
		return -1;
	return is_kept(s) ? 0 : lab_remove_run(s->lab, s->run.id, err);
}

static int print_end(struct session *s, struct error *err)
{
	struct loaded_run l = { 0 };
	const struct load_options how = { .paper = s->o->display.paper };
	int failed = run_load(&l, s->lab, s->run.id, &how, err) ||
		     query_print(s->lab, &l, &s->o->display, s->quiet, err);
	loaded_run_release(&l);
	return failed;
}

/* Before anything is printed, which may take as long as somebody reads: nothing is left as it was
 * needed for measuring. */
static void close_rig(struct session *s, bool complete)
{
	query_place_close(&s->place, &s->rig, complete || !is_kept(s) || s->o->no_lab);
	devices_close(s->rig.devices);
	collector_close(s->rig.collector);
	s->rig = (struct query_rig){ 0 };
	stop_counting(s);
}

static void explain(struct session *s, struct error *err)
{
	if (err->code == EXIT_INTERRUPTED)
		error_set(err, EXIT_INTERRUPTED,
			  is_kept(s) ? "interrupted: what was measured is kept"
				     : "interrupted before anything was measured");
	if ((err->code == EXIT_INTERRUPTED || err->code == EXIT_SUBJECT) && is_kept(s) &&
	    !s->o->no_lab)
		error_hint(err, "'tare query resume %" PRId64 "' goes on with it", s->run.id);
}

static enum run_status status_of(const struct session *s, int failed, const struct error *err)
{
	if (failed)
		return err->code == EXIT_INTERRUPTED || err->code == EXIT_SUBJECT ? RUN_INTERRUPTED
										  : RUN_FAILED;
	return s->given_up ? RUN_INTERRUPTED : RUN_COMPLETE;
}

/* The last lines are those that matter: what was the matter, and how to go on. */
static int finish(struct session *s, int failed, struct error *err)
{
	struct error late = ERROR_INIT;
	int code = EXIT_DONE;
	close_rig(s, !failed && !s->given_up);
	s->paused = failed && err->code == EXIT_SUBJECT;
	if (s->run.id && (end_run(s, status_of(s, failed, err), &late) ||
			  ((s->stored || !failed) && print_end(s, &late))))
		code = cmd_fail(&late);
	if (failed) {
		explain(s, err);
		code = cmd_fail(err);
	} else if (s->given_up) {
		fprintf(stderr,
			"tare: %zu Q@C%s given up, as the plan changed again and again\n"
			"      'tare query resume %" PRId64 "' tries again\n",
			s->given_up, s->given_up == 1 ? " was" : "s were", s->run.id);
		code = EXIT_CHECK;
	}
	return code;
}

static void release(struct session *s)
{
	experiment_release(&s->e);
	run_release(&s->run);
	query_run_release(&s->done);
	machine_release(&s->machine);
	free(s->not_seen);
	free(s->no_delays);
	free(s->beside);
	free(s->driver_file);
}

static int run_new(struct record_options *o, const text_list *operands, int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct session s = { .o = o, .quiet = o->quiet || query_to_stdout(&o->display) };
	interrupt_watch();
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error as a full disk is */
	int failed = check_options(o, &err) || read_experiment(&s, operands, &err) ||
		     open_lab(&s, &err);
	if (!failed) {
		count_delays(&s);
		failed = open_rig(&s, &err) || begin_run(&s, argc, argv, &err) || measure(&s, &err);
	}
	int code = finish(&s, failed, &err);
	release(&s);
	return code;
}

/* ---- resumed ---- */

/* The options that the run was begun with. */
static void recall(struct session *s, const json_t *all)
{
	struct record_options *o = s->o;
	const char *url = json_string_value(json_object_get(all, "url"));
	const char *beside = json_string_value(json_object_get(all, "beside"));
	const char *driver = json_string_value(json_object_get(all, "driver_file"));
	s->beside = beside ? xstrdup(beside) : NULL;
	s->driver_file = driver ? xstrdup(driver) : NULL;
	o->driver_file = s->driver_file;
	o->runs = (long)json_integer_value(json_object_get(all, "executions"));
	o->limit_ns = (uint64_t)json_integer_value(json_object_get(all, "time_limit_ns"));
	o->seed = (long)json_integer_value(json_object_get(all, "seed"));
	o->scenario = (int)json_integer_value(json_object_get(all, "scenario"));
	o->cold = json_is_true(json_object_get(all, "cold"));
	o->warm = !o->cold;
	s->place.own_file = json_is_true(json_object_get(all, "own_file"));
	if (o->url && url) {
		char *given = query_url_shown(o->url);
		s->elsewhere = strcmp(given, url) != 0;
		free(given);
	} else if (url) {
		o->url = s->place.recalled = xstrdup(url);
	}
}

/* Queries are those that were executed, whatever their files say now. */
static int recall_experiment(struct session *s, struct error *err)
{
	const struct query_run *q = &s->done;
	if (!q->experiment || q->imported)
		return error_set(err, EXIT_USAGE, "query resume: run %" PRId64 " was not made here",
				 s->run.id);
	if (experiment_parse(q->experiment, strlen(q->experiment), s->beside ? s->beside : ".",
			     &s->e, err))
		return error_prefix(err, "the experiment of run %" PRId64, s->run.id);
	for (size_t i = 0; i < s->e.queries.count && i < q->texts.count; i++) {
		free(s->e.queries.items[i].sql);
		s->e.queries.items[i].sql = xstrdup(q->texts.items[i].sql);
	}
	apply_options(s);
	return 0;
}

static int resume(struct session *s, const text_list *operands, struct error *err)
{
	int64_t id;
	if (operands->count > 2)
		return error_set(err, EXIT_USAGE, "query resume: a run, and perhaps a database");
	if (operands->count == 2)
		s->o->url = operands->items[1];
	if (!(s->lab = lab_access_open(s->o->display.lab, err)) ||
	    run_find(s->lab, operands->count ? operands->items[0] : "last", LAB_OF(SUBJECT_QUERY),
		     &id, err) ||
	    lab_get_query_run(s->lab, id, &s->done, err) || lab_get_run(s->lab, id, &s->run, err) ||
	    (s->run.machine && lab_get_machine(s->lab, s->run.machine, &s->machine, err)))
		return -1;
	recall(s, s->run.conditions.all);
	if (recall_experiment(s, err) || lab_resume_run(s->lab, id, err)) {
		s->run.id = 0; /* not this process's to end */
		return -1;
	}
	s->resumed = true;
	/* what another tare stored between the two is read anew */
	query_run_release(&s->done);
	struct query_event event = { .kind = QUERY_RESUMED, .at_ns = clock_realtime_ns() };
	if (lab_get_query_run(s->lab, id, &s->done, err) ||
	    lab_add_query_event(s->lab, id, &event, err))
		return -1;
	count_delays(s);
	return open_rig(s, err) || measure(s, err) ? -1 : 0;
}

/* ---- the commands ---- */

static void common_specs(spec_list *specs, struct record_options *o)
{
	const struct option_spec list[] = {
		{ 'q', "quiet", OPTION_FLAG, &o->quiet, NULL, "no report, no progress" },
		{ 0, "no-ledger", OPTION_FLAG, &o->no_ledger, NULL, "do not keep the ledger",
		  .rare = true },
		{ 0, "back-off", OPTION_DURATION, &o->back_off_ns, "TIME",
		  "first pause after an error, doubled each time (default: 100ms)", .rare = true },
	};
	cmd_add_specs(specs, list, sizeof list / sizeof *list);
	query_display_specs(specs, &o->display);
	cmd_add_specs(specs, &(struct option_spec){ 0 }, 1);
}

static void record_specs(spec_list *specs, struct record_options *o)
{
	const struct option_spec list[] = {
		{ 'e', "execute", OPTION_TEXTS, &o->statements, "SQL",
		  "measure this query; may be repeated" },
		{ 'r', "runs", OPTION_INTEGER, &o->runs, "NUM",
		  "executions of each query at each cardinality (default: 10)", .min = 1,
		  .max = 1000000 },
		{ 0, "cold", OPTION_FLAG, &o->cold, NULL,
		  "empty all caches before each execution" },
		{ 0, "warm", OPTION_FLAG, &o->warm, NULL, "do not, whatever the experiment says" },
		{ 'l', "limit", OPTION_DURATION, &o->limit_ns, "TIME",
		  "cancel an execution after so long (default: 20m)" },
		{ 0, "force", OPTION_FLAG, &o->force, NULL, "drop tables that are there already" },
		{ 0, "reuse", OPTION_FLAG, &o->reuse, NULL,
		  "use tables that are there, with all their rows" },
		{ 0, "allow-writes", OPTION_FLAG, &o->writes, NULL,
		  "execute statements that change data, too" },
		{ 0, "scale", OPTION_TEXT, &o->scale_text, "SCALE",
		  "of tpch: 1 is 6 million rows of lineitem (default: 0.01)" },
		{ 0, "scenario", OPTION_CHOICE, &o->scenario, "exhaustive|onepass",
		  "at every cardinality, or only where the plan changes", .rare = true },
		{ 0, "seed", OPTION_INTEGER, &o->seed, "NUM", "of a shuffled order", .rare = true },
		{ 0, "driver", OPTION_TEXT, &o->driver_file, "FILE",
		  "odbc: the statements of this DBMS", .rare = true },
		{ 'n', "name", OPTION_TEXT, &o->name, "NAME", "name of the run" },
		{ 0, "tag", OPTION_TEXT, &o->tag, "TEXT", "a note kept with the run" },
		{ 0, "no-lab", OPTION_FLAG, &o->no_lab, NULL, "keep nothing", .rare = true },
	};
	cmd_add_specs(specs, list, sizeof list / sizeof *list);
	common_specs(specs, o);
}

#define RECORD_USAGE                                         \
	"tare query [run] [OPTIONS] EXPERIMENT [DATABASE]\n" \
	"       tare query [OPTIONS] -e SQL... DATABASE\n"   \
	"       tare query resume [RUN]\n"                   \
	"       tare query report [RUN]\n"                   \
	"       tare query compare BASE RUN\n"               \
	"       tare query check EXPERIMENT\n"               \
	"       tare query import FILE"

int query_record(struct lab_access *lab, int argc, char **argv)
{
	struct record_options o = {
		.display.lab = lab, .seed = -1, .scenario = NOT_GIVEN, .limit_ns = NO_LIMIT_GIVEN
	};
	spec_list specs = { 0 };
	text_list operands = { 0 };
	int code;
	record_specs(&specs, &o);
	if (cmd_options(
		    RECORD_USAGE,
		    "How long queries really take: CPU, own I/O and the rest, checked by the Tucson\n"
		    "Timing Protocol. EXPERIMENT is a file, or quick, onepass or tpch. DATABASE is\n"
		    "sqlite:FILE, postgresql://..., mariadb://... or odbc:DSN=...\n",
		    specs.items, argc, argv, &operands, &code))
		code = run_new(&o, &operands, argc, argv);
	array_release(&o.statements);
	array_release(&operands);
	array_release(&specs);
	return code;
}

int query_resume(struct lab_access *lab, int argc, char **argv)
{
	struct record_options o = {
		.display.lab = lab, .seed = -1, .scenario = NOT_GIVEN, .limit_ns = NO_LIMIT_GIVEN
	};
	spec_list specs = { 0 };
	text_list operands = { 0 };
	int code;
	common_specs(&specs, &o);
	if (cmd_options(
		    "tare query resume [OPTIONS] [RUN] [DATABASE]",
		    "Goes on with a run that was interrupted, killed or paused (default: the newest):\n"
		    "what is stored is not executed again. DATABASE where it needs a password.\n",
		    specs.items, argc, argv, &operands, &code)) {
		struct error err = ERROR_INIT;
		struct session s = { .o = &o, .quiet = o.quiet || query_to_stdout(&o.display) };
		interrupt_watch();
		int failed = query_display_check(&o.display, &err) || resume(&s, &operands, &err);
		code = finish(&s, failed, &err);
		release(&s);
	}
	array_release(&operands);
	array_release(&specs);
	return code;
}
