/* tare query run and resume: measure, store, read back, print. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/query/query.h"
#include "run/find.h"
#include "run/record_query.h"

#define NOT_GIVEN (-1)
#define NO_LIMIT_GIVEN UINT64_MAX

struct record_options {
	struct query_display display;
	text_list statements;
	const char *name, *tag, *scale_text, *driver_file;
	long runs, seed;
	int scenario; /* enum experiment_scenario; NOT_GIVEN */
	uint64_t limit_ns, back_off_ns;
	bool cold, warm, force, reuse, writes, commit, quiet, no_lab, no_ledger;
	bool resume; /* a stored run; its options are that one's own */
};

struct session {
	struct record_options *o;
	bool quiet; /* no text on stdout, no progress */
	struct query_recording recording;
	struct progress progress;
	char label[40];
};

static void on_backed_off(void *context, const char *why)
{
	struct session *s = context;
	char shown[60];
	if (s->quiet)
		return;
	progress_clear(&s->progress);
	text_display(why, shown, sizeof shown);
	fprintf(stderr, "tare: %s; trying again\n", shown);
}

/* "orders at 20000", or its number */
static void name_at(const struct query_recording *q, const struct query_event *e, char out[100])
{
	char name[60] = "";
	const struct experiment *of = &q->e;
	if (e->query && e->query <= of->queries.count && of->queries.items[e->query - 1].name)
		text_display(of->queries.items[e->query - 1].name, name, sizeof name);
	if (!*name)
		snprintf(name, sizeof name, "query %" PRIu32, e->query);
	if (e->cardinality)
		snprintf(out, 100, "%s at %" PRIu64, name, e->cardinality);
	else
		snprintf(out, 100, "%s", name);
}

static void on_gave_up(void *context, const struct query_event *event)
{
	struct session *s = context;
	char place[100], shown[300];
	progress_clear(&s->progress);
	name_at(&s->recording, event, place);
	text_display(event->text, shown, sizeof shown);
	fprintf(stderr, "tare: %s failed: %s\n", place, shown);
}

static void on_progress(void *context, const struct query_progress *p)
{
	struct session *s = context;
	progress_update(&s->progress, p->done, p->total, p->doing);
}

/* ---- before ---- */

static int read_experiment(struct session *s, const text_list *operands, struct error *err)
{
	struct record_options *o = s->o;
	struct query_recording *q = &s->recording;
	struct experiment *e = &q->e;
	size_t next = 0;
	int failed;
	if (query_scale(o->scale_text, &q->scale, err))
		return -1;
	if (o->statements.count) {
		failed = experiment_of_statements(o->statements.items, o->statements.count, e, err);
		if (failed)
			return error_prefix(err, "query");
	} else if (operands->count) {
		/* absolute, for a run that is resumed elsewhere */
		char *path = xstrdup(operands->items[next]), *slash = strrchr(path, '/');
		if (slash)
			slash[slash == path] = '\0';
		q->beside = realpath(slash ? path : ".", NULL);
		free(path);
		failed = query_experiment(operands->items[next++], q->scale, e, err);
	} else {
		error_set(err, EXIT_USAGE, "query: nothing to measure");
		return error_hint(err, "'tare query quick', 'tare query FILE', or 'tare query -e "
				       "\"SELECT ...\" postgresql://...'");
	}
	if (failed)
		return -1;
	if (next < operands->count)
		q->url = operands->items[next++];
	if (next < operands->count)
		return error_set(err, EXIT_USAGE, "query: one database, not also '%.100s'",
				 operands->items[next]);
	if (o->runs)
		e->executions = (uint32_t)o->runs;
	if (o->limit_ns != NO_LIMIT_GIVEN)
		e->time_limit_ns = o->limit_ns;
	if (o->seed >= 0)
		e->seed = (uint64_t)o->seed;
	if (o->cold || o->warm)
		e->cold = o->cold;
	if (o->scenario != NOT_GIVEN)
		e->scenario = (enum experiment_scenario)o->scenario;
	return o->writes ? 0 : query_refuse_writes(e, err);
}

static int check_consent(const struct record_options *o, struct error *err)
{
	if (o->commit && !o->writes)
		return error_set(err, EXIT_USAGE, "query: --commit goes with --allow-writes");
	return 0;
}

static enum query_transaction consent(const struct record_options *o)
{
	return o->commit ? QUERY_COMMITTED : o->writes ? QUERY_ROLLED_BACK : QUERY_READ_ONLY;
}

static int check_options(const struct record_options *o, struct error *err)
{
	if (o->cold && o->warm)
		return error_set(err, EXIT_USAGE, "query: --cold and --warm exclude each other");
	if (check_consent(o, err))
		return -1;
	if (o->force && o->reuse)
		return error_set(err, EXIT_USAGE, "query: --force and --reuse exclude each other");
	for (size_t i = 0; i < o->statements.count; i++)
		if (!*query_first_word(o->statements.items[i]))
			return error_set(err, EXIT_USAGE, "query: there is no SQL in -e '%.60s'",
					 o->statements.items[i]);
	if (!o->limit_ns)
		return error_set(err, EXIT_USAGE, "query: --limit is longer than nothing");
	if (o->name && lab_check_name(o->name, err))
		return -1;
	return query_display_check(&o->display, err);
}

/* As cmd_line(), without passwords in URLs. */
static char *command_line(const struct cmd_args *args)
{
	int argc = args->argc;
	char **argv = args->argv;
	FREED char **shown = xcalloc((size_t)argc + 1, sizeof *shown);
	for (int i = 0; i < argc; i++) {
		bool is_url = strstr(argv[i], "://") || strncmp(argv[i], "odbc:", 5) == 0;
		shown[i] = is_url ? query_url_shown(argv[i]) : xstrdup(argv[i]);
	}
	char *line = cmd_line(argc, shown);
	for (int i = 0; i < argc; i++)
		free(shown[i]);
	return line;
}

/* ---- the run ---- */

static int begin(struct session *s, const struct cmd_args *args, struct error *err)
{
	const struct record_options *o = s->o;
	struct query_recording *q = &s->recording;
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error as a full disk is */
	if (check_options(o, err) || read_experiment(s, &args->operands, err) ||
	    recorder_open(&q->to, o->display.lab, o->no_lab ? RECORD_IN_MEMORY : RECORD_IN_LAB,
			  err))
		return -1;
	q->driver = o->driver_file;
	q->no_lab = o->no_lab;
	q->transaction = consent(o);
	q->tables = o->force ? TABLES_FORCE : o->reuse ? TABLES_REUSE : TABLES_NEW;
	q->to.command_line = command_line(args);
	q->run.name = xstrdup(o->name		    ? o->name
			      : o->statements.count ? o->statements.items[0]
						    : q->e.name);
	q->run.tags = recorded_text(o->tag);
	return query_recording_begin(q, err);
}

static int resume(struct session *s, const text_list *operands, struct error *err)
{
	struct query_recording *q = &s->recording;
	int64_t id;
	if (check_consent(s->o, err) || query_display_check(&s->o->display, err))
		return -1;
	q->transaction = consent(s->o);
	if (operands->count > 2)
		return error_set(err, EXIT_USAGE, "query resume: a run, and perhaps a database");
	if (operands->count == 2)
		q->url = operands->items[1];
	q->to.lab = lab_access_open(s->o->display.lab, err);
	return !q->to.lab ||
	       run_find(q->to.lab, operands->count ? operands->items[0] : "last",
			LAB_OF(SUBJECT_QUERY), &id, err) ||
	       query_recording_resume(q, id, err);
}

/* The last lines are those that matter: what was the matter, and how to go on. */
static int finish(struct session *s, int failed, struct error *err)
{
	struct query_recording *q = &s->recording;
	struct error late = ERROR_INIT, restoring = ERROR_INIT;
	int code = EXIT_DONE;
	if (query_recording_stop(q, !failed && !q->given_up && !q->broken, &restoring))
		cmd_fail(&restoring);
	int failed_late = query_recording_end(q, failed, err, &late);
	if (!failed_late && q->run.id && (q->stored || !failed)) {
		const struct load_options how = { .paper = s->o->display.paper };
		SCOPED(loaded_run_release) struct loaded_run l = { 0 };
		failed_late = run_load(&l, q->to.lab, q->run.id, &how, &late) ||
			      query_print(q->to.lab, &l, &s->o->display, s->quiet, &late);
		/* who asks for fewer than the protocol needs has what was asked for */
		bool few = l.queries.planned < TTP_LEAST_EXECUTIONS && l.ttp.executions_kept;
		if (!failed_late && l.ttp.executions && !l.ttp.at_kept && !few)
			code = EXIT_NOT_KNOWN;
	}
	if (failed_late)
		code = cmd_fail(&late);
	bool kept = query_recording_is_kept(q);
	if (failed) {
		if (err->code == EXIT_INTERRUPTED)
			error_set(err, EXIT_INTERRUPTED,
				  kept ? "interrupted: what was measured is kept"
				       : "interrupted before anything was measured");
		if ((err->code == EXIT_INTERRUPTED || err->code == EXIT_SUBJECT) && kept &&
		    !s->o->no_lab)
			error_hint(err, "'tare query resume%s %" PRId64 "' goes on with it",
				   query_consent_options(q->transaction), q->run.id);
		code = cmd_fail(err);
	} else if (q->given_up || q->broken) {
		if (q->given_up)
			fprintf(stderr,
				"tare: %zu Q@C%s given up, as the plan changed again and again\n",
				q->given_up, q->given_up == 1 ? " was" : "s were");
		if (q->broken && q->stored)
			fprintf(stderr, "tare: %zu of the Q@Cs failed; the others were executed\n",
				q->broken);
		if (!s->o->no_lab)
			fprintf(stderr, "      'tare query resume%s %" PRId64 "' tries again\n",
				query_consent_options(q->transaction), q->run.id);
		code = q->broken ? EXIT_SUBJECT : EXIT_CHECK;
	}
	return code;
}

static int run_session(void *options, const struct cmd_args *args, struct error *err)
{
	struct record_options *o = options;
	struct session s = { .o = o,
			     .quiet = o->quiet || query_to_stdout(&o->display),
			     .recording = { .to.notice = cmd_notice,
					    .no_ledger = o->no_ledger,
					    .back_off_ns = o->back_off_ns,
					    .context = &s,
					    .progress = on_progress,
					    .backed_off = on_backed_off,
					    .gave_up = on_gave_up } };
	interrupt_watch();
	int failed = o->resume ? resume(&s, &args->operands, err) : begin(&s, args, err);
	if (!failed) {
		const char *caution = dbms_caution(s.recording.rig.dbms);
		if (caution)
			fprintf(stderr, "tare: %s\n", caution);
		text_display(s.recording.run.name, s.label, sizeof s.label);
		progress_init(&s.progress, s.label, !s.quiet);
		failed = query_recording_run(&s.recording, err);
		progress_clear(&s.progress);
	}
	int code = finish(&s, failed, err);
	query_recording_close(&s.recording);
	return code;
}

/* ---- the commands ---- */

static void common_specs(spec_list *specs, struct record_options *o)
{
	const struct option_spec list[] = {
		{ 0, "allow-writes", OPTION_FLAG, &o->writes, NULL,
		  "execute statements that change data, and roll each back" },
		{ 0, "commit", OPTION_FLAG, &o->commit, NULL,
		  "with --allow-writes: keep what each execution writes" },
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
	FREED spec_list specs = { 0 };
	record_specs(&specs, &o);
	int code = cmd_run(
		RECORD_USAGE,
		"How long queries really take: CPU, own I/O and the rest, checked by the Tucson\n"
		"Timing Protocol. EXPERIMENT is a file, or quick, onepass or tpch. DATABASE is\n"
		"sqlite:FILE, postgresql://..., mariadb://... or odbc:DSN=...\n",
		specs.items, argc, argv, run_session, &o);
	array_release(&o.statements);
	return code;
}

int query_resume(struct lab_access *lab, int argc, char **argv)
{
	struct record_options o = { .display.lab = lab, .resume = true };
	FREED spec_list specs = { 0 };
	common_specs(&specs, &o);
	int code = cmd_run(
		"tare query resume [OPTIONS] [RUN] [DATABASE]",
		"Goes on with a run that was interrupted, killed or paused (default: the newest):\n"
		"what is stored is not executed again. DATABASE where it needs a password.\n"
		"A run that writes needs --allow-writes, and --commit, again.\n",
		specs.items, argc, argv, run_session, &o);
	return code;
}
