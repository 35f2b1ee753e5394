/* tare profile start: a collector in the background. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "cmd/cmd.h"
#include "cmd/profile/profile.h"
#include "report/core/json.h"
#include "run/control.h"

struct collecting {
	const struct profile_options *o;
	struct control_place place;
	struct control_server server;
	struct profile_recording recording;
	struct control_teller *teller;
	char said[ERROR_TEXT]; /* the trouble that is in the log */
};

/* ---- what it says of itself ---- */

static int64_t lab_bytes(const char *path)
{
	static const char *const parts[] = { "", "-wal" };
	int64_t sum = 0;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		SCOPED(strbuf_release) struct strbuf name = { 0 };
		struct stat st;
		strbuf_printf(&name, "%s%s", path, parts[i]);
		if (stat(strbuf_text(&name), &st) == 0)
			sum += st.st_size;
	}
	return sum;
}

static char *status_text(void *context, const char *trouble, bool running)
{
	const struct collecting *c = context;
	const struct profile_recording *r = &c->recording;
	FREED char *statm = file_read("/proc/self/statm");
	const char *resident = statm ? strchr(statm, ' ') : NULL; /* in pages */
	json_int_t rss_bytes = resident ? atoll(resident) * sysconf(_SC_PAGESIZE) : 0;
	json_t *all = json_pack("{s:b, s:i, s:I, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
				"running", (int)running, "pid", (int)getpid(), "run",
				(json_int_t)r->run.id, "since", json_date(r->run.started_at_ns),
				"samples", (json_int_t)r->taken, "lost", (json_int_t)r->lost,
				"slices", (json_int_t)r->slices, "stored", (json_int_t)r->stored,
				"held", (json_int_t)r->held.slices.count, "dropped",
				(json_int_t)r->dropped, "rss_bytes", rss_bytes, "lab_bytes",
				(json_int_t)lab_bytes(lab_path(r->to.lab)));
	json_object_set_new(all, "name", json_text(r->run.name));
	json_object_set_new(all, "lab", json_text(lab_path(r->to.lab)));
	json_object_set_new(all, "error", json_text(*trouble ? trouble : NULL));
	char *text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return text ? text : xstrdup("{}");
}

/* ---- while it goes ---- */

static void on_started(void *context)
{
	struct collecting *c = context;
	control_tell(c->teller, c->recording.run.id, NULL);
}

static int on_slice(void *context, struct profile *slice, struct error *err)
{
	struct collecting *c = context;
	const char *trouble = c->recording.trouble.text;
	(void)err;
	profile_recording_add(&c->recording, slice);
	cmd_log_trouble(c->said, trouble, "slices are stored again");
	control_flushed(&c->server, trouble);
	return 0;
}

static int on_control(void *context, enum profile_wish *wish, struct error *err)
{
	static const enum profile_wish wishes[] = { [CONTROL_NOTHING] = PROFILE_GO_ON,
						    [CONTROL_FLUSH] = PROFILE_CUT,
						    [CONTROL_STOP] = PROFILE_END };
	struct collecting *c = context;
	(void)err;
	*wish = wishes[control_serve(&c->server, c->recording.trouble.text)];
	return 0;
}

/* ---- from begin to end ---- */

static int measure(struct collecting *c, struct error *err)
{
	struct profile_recording *r = &c->recording;
	pid_t holder;
	if (control_lock(&c->place, &holder, err) ||
	    profile_recording_open(r, c->o->lab, RECORD_IN_FILE, err) ||
	    control_listen(&c->server, &c->place, err))
		return -1;
	/* the lab is open: a directory that goes does not matter any more */
	if (chdir("/"))
		return error_set(err, EXIT_ENVIRONMENT, "cannot go to /: %s", strerror(errno));
	const struct profile_plan plan = { .duration_ns = c->o->duration_ns,
					   .slice_ns = c->o->slice_ns,
					   .control_fd = c->server.fd,
					   .control = on_control,
					   .started = on_started };
	return profile_run(r->samples, &plan, on_slice, c, NULL, err);
}

static int collect(void *context, struct control_teller *teller)
{
	struct collecting *c = context;
	struct profile_recording *r = &c->recording;
	struct error err = ERROR_INIT, late = ERROR_INIT;
	c->teller = teller;
	interrupt_watch();
	int failed = measure(c, &err);
	if (failed)
		control_tell(teller, r->run.id,
			     &err); /* who started it knows already when it has sampled */
	if (r->run.id && (profile_recording_end(r, recorded_status(failed, &err), &late) ||
			  profile_recording_judge(r, &late)))
		fprintf(stderr, "%s\n", late.text);
	if (failed)
		fprintf(stderr, "%s\n", err.text);
	if (r->to.lab) {
		control_ended(&c->server, late.text);
		profile_recording_close(r);
		control_close(&c->server, &c->place);
	}
	return failed ? (int)err.code : (int)late.code;
}

/* ---- who starts it ---- */

static int start(void *options, const struct cmd_args *args, struct error *err)
{
	struct profile_options *o = options;
	if (profile_options_check(o, args, err))
		return -1;
	struct collecting c = { .o = o,
				.server = { .fd = -1, .status = status_text, .context = &c },
				.recording = profile_options_recording(o, args) };
	pid_t pid;
	int64_t run = 0;
	int failed = control_place_find(&c.place, CONTROL_PROFILE, o->lab, err);
	lab_access_close(o->lab); /* SQLite must not be carried through a fork */
	if (!failed)
		failed = control_start(&c.place, collect, &c, &pid, &run, err);
	profile_recording_close(&c.recording);
	if (failed)
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
	SCOPED(profile_options_release)
	struct profile_options o = { PROFILE_OPTIONS, .lab = lab, .background = true };
	FREED spec_list specs = { 0 };
	profile_record_specs(&specs, &o);
	return cmd_run(
		"tare profile start [OPTIONS]",
		"Samples in the background until 'tare profile stop': one collector for each\n"
		"user and lab.\n",
		specs.items, argc, argv, start, &o);
}
