/* tare profile start: a collector in the background. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "cmd/background/control.h"
#include "cmd/cmd.h"
#include "cmd/profile/profile.h"
#include "report/core/json.h"

#define LAST_TRIES 3
#define LAST_PAUSE_S 1

struct collecting {
	const struct profile_options *o;
	struct control_place place;
	struct control_server server;
	struct profile_session session;
	int argc;
	char **argv;
	struct control_teller *teller;
	char said[sizeof((struct error *)0)->text]; /* the trouble that is in the log */
};

/* ---- what it says of itself ---- */

static int64_t resident_bytes(void)
{
	char *text = file_read("/proc/self/statm"), *second = text ? strchr(text, ' ') : NULL;
	int64_t pages = second ? strtoll(second, NULL, 10) : 0;
	free(text);
	return pages * sysconf(_SC_PAGESIZE);
}

static int64_t lab_bytes(const char *path)
{
	static const char *const parts[] = { "", "-wal" };
	int64_t sum = 0;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		struct strbuf name = { 0 };
		struct stat st;
		strbuf_printf(&name, "%s%s", path, parts[i]);
		if (stat(strbuf_text(&name), &st) == 0)
			sum += st.st_size;
		strbuf_release(&name);
	}
	return sum;
}

static char *status_text(const struct collecting *c, const char *trouble, bool running)
{
	const struct profile_session *s = &c->session;
	json_t *all = json_pack("{s:b, s:i, s:I, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
				"running", (int)running, "pid", (int)getpid(), "run",
				(json_int_t)s->run.id, "since", json_date(s->run.started_at_ns),
				"samples", (json_int_t)s->taken, "lost", (json_int_t)s->lost,
				"slices", (json_int_t)s->slices, "stored", (json_int_t)s->stored,
				"held", (json_int_t)s->held.slices.count, "dropped",
				(json_int_t)s->dropped, "rss_bytes", (json_int_t)resident_bytes(),
				"lab_bytes", (json_int_t)lab_bytes(lab_path(s->lab)));
	json_object_set_new(all, "name", json_text(s->run.name));
	json_object_set_new(all, "lab", json_text(lab_path(s->lab)));
	json_object_set_new(all, "error", json_text(*trouble ? trouble : NULL));
	char *text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return text ? text : xstrdup("{}");
}

static char *status_now(void *context)
{
	const struct collecting *c = context;
	return status_text(c, c->session.trouble.text, true);
}

/* In the log, once each. */
static void note_trouble(struct collecting *c)
{
	const char *text = c->session.trouble.text;
	char when[64];
	if (strcmp(text, c->said) == 0)
		return;
	snprintf(c->said, sizeof c->said, "%s", text);
	text_date(clock_realtime_ns(), when, sizeof when);
	fprintf(stderr, "%s %s\n", when, *text ? text : "slices are stored again");
	fflush(stderr);
}

/* ---- while it goes ---- */

static void on_started(void *context)
{
	struct collecting *c = context;
	control_tell(c->teller, c->session.run.id, NULL);
}

static int on_slice(void *context, struct profile *slice, struct error *err)
{
	struct collecting *c = context;
	(void)err;
	profile_session_add(&c->session, slice);
	note_trouble(c);
	if (c->server.flushing.count) {
		char *text = status_now(c);
		control_answer_flushing(&c->server, text);
		free(text);
	}
	return 0;
}

static int on_control(void *context, enum profile_wish *wish, struct error *err)
{
	struct collecting *c = context;
	struct control_wishes wishes = { 0 };
	(void)err;
	control_serve(&c->server, status_now, c, &wishes);
	if (wishes.stop)
		*wish = PROFILE_END;
	else if (wishes.flush)
		*wish = PROFILE_CUT;
	return 0;
}

/* ---- from begin to end ---- */

/* What is held is given some tries: the disk may have room again. */
static int end_session(struct collecting *c, enum run_status status, struct error *err)
{
	for (int i = 1; i < LAST_TRIES; i++) {
		struct error why = ERROR_INIT;
		if (profile_session_store(&c->session, &why) == 0)
			break;
		sleep(LAST_PAUSE_S);
	}
	return profile_session_end(&c->session, status, err);
}

static int open_everything(struct collecting *c, struct error *err)
{
	pid_t holder;
	if (control_lock(&c->place, &holder, err) ||
	    profile_session_open(&c->session, c->o, c->argc, c->argv, err) ||
	    control_listen(&c->server, &c->place, err))
		return -1;
	/* the lab is open: a directory that goes does not matter any more */
	return chdir("/") ? error_set(err, EXIT_ENVIRONMENT, "cannot go to /: %s", strerror(errno))
			  : 0;
}

static int collect(void *context, struct control_teller *teller)
{
	struct collecting *c = context;
	struct error err = ERROR_INIT, late = ERROR_INIT;
	const struct profile_options *o = c->o;
	c->teller = teller;
	interrupt_watch();
	int failed = open_everything(c, &err);
	if (!failed) {
		const struct profile_plan plan = { .duration_ns = o->duration_ns,
						   .slice_ns = o->slice_ns,
						   .control_fd = c->server.fd,
						   .control = on_control,
						   .started = on_started };
		failed = profile_run(c->session.samples, &plan, on_slice, c, NULL, &err);
	}
	enum run_status status = !failed			? RUN_COMPLETE
				 : err.code == EXIT_INTERRUPTED ? RUN_INTERRUPTED
								: RUN_FAILED;
	if (failed)
		control_tell(teller, c->session.run.id,
			     &err); /* who started it knows already when it has sampled */
	if (c->session.run.id &&
	    (end_session(c, status, &late) || profile_session_judge(&c->session, &late)))
		fprintf(stderr, "%s\n", late.text);
	if (failed)
		fprintf(stderr, "%s\n", err.text);
	if (c->session.lab) {
		char *text = status_text(c, *late.text ? late.text : "", false);
		control_answer_flushing(&c->server, text);
		profile_session_close(&c->session);
		control_close(&c->server, &c->place);
		control_answer_stopping(&c->server, text);
		free(text);
	}
	return failed ? (int)err.code : (int)late.code;
}

/* ---- who starts it ---- */

static int start(const struct profile_options *o, int argc, char **argv, struct error *err)
{
	struct collecting c = { .o = o, .server.fd = -1, .argc = argc, .argv = argv };
	pid_t pid;
	int64_t run = 0;
	if (control_place_find(&c.place, CONTROL_PROFILE, o->lab, err))
		return -1;
	lab_access_close(o->lab); /* SQLite must not be carried through a fork */
	if (control_start(&c.place, collect, &c, &pid, &run, err))
		return -1;
	if (!o->quiet)
		printf("collecting: run %" PRId64 ", pid %d\n"
		       "'tare profile report %" PRId64 "' shows it so far, 'tare profile stop' "
		       "ends it\n",
		       run, (int)pid, run);
	return 0;
}

int profile_start(struct lab_access *lab, int argc, char **argv)
{
	struct profile_options o;
	spec_list specs = { 0 };
	text_list operands = { 0 };
	int code;
	profile_options_init(&o);
	o.lab = lab;
	o.background = true;
	profile_record_specs(&specs, &o);
	array_push(&specs, (struct option_spec){ 0 });
	if (cmd_options(
		    "tare profile start [OPTIONS]",
		    "Samples in the background until 'tare profile stop': one collector for each\n"
		    "user and lab.\n",
		    specs.items, argc, argv, &operands, &code)) {
		struct error err = ERROR_INIT;
		code = profile_options_check(&o, &operands, argc, argv, &err) ||
				       start(&o, argc, argv, &err)
			       ? cmd_fail(&err)
			       : EXIT_DONE;
	}
	profile_options_release(&o);
	array_release(&operands);
	array_release(&specs);
	return code;
}
