/* The watch: bursts of every process, from the kernel to the lab, in the background or not. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "cmd/calibrate/calibrate.h"
#include "cmd/cmd.h"
#include "report/core/json.h"
#include "run/control.h"
#include "run/record_watch.h"

struct watching {
	const struct calibrate_options *o;
	struct control_place place;
	struct control_server server;
	struct watch_recording recording;
	char said[ERROR_TEXT]; /* the trouble that is in the log */
	struct progress progress;
};

static char *status_text(void *context, const char *trouble, bool running)
{
	const struct watching *w = context;
	const struct watch_recording *r = &w->recording;
	int64_t end = w->o->duration_ns ? r->since_ns + (int64_t)w->o->duration_ns : 0;
	json_t *all = json_pack("{s:b, s:i, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:I}", "running",
				(int)running, "pid", (int)getpid(), "watch", (json_int_t)r->watch,
				"since", json_date(r->since_ns), "until", json_date(end), "bursts",
				(json_int_t)r->bursts, "held", (json_int_t)r->held.bursts.count,
				"dropped", (json_int_t)r->dropped, "lost", (json_int_t)r->lost,
				"keep_bytes", (json_int_t)r->keep_bytes);
	json_object_set_new(all, "lab", json_text(lab_path(r->lab)));
	json_object_set_new(all, "error", json_text(*trouble ? trouble : NULL));
	char *text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return text ? text : xstrdup("{}");
}

static int on_chunk(void *context, const struct bursts *chunk, struct error *err)
{
	struct watching *w = context;
	(void)err;
	watch_recording_add(&w->recording, chunk);
	cmd_log_trouble(w->said, w->recording.trouble.text, "what is watched is stored again");
	control_flushed(&w->server, w->recording.trouble.text);
	return 0;
}

static int on_control(void *context, enum watch_wish *wish, struct error *err)
{
	static const enum watch_wish wishes[] = { [CONTROL_NOTHING] = WATCH_GO_ON,
						  [CONTROL_FLUSH] = WATCH_CUT,
						  [CONTROL_STOP] = WATCH_END };
	struct watching *w = context;
	(void)err;
	*wish = wishes[control_serve(&w->server, w->recording.trouble.text)];
	return 0;
}

static void on_taken(void *context)
{
	struct watching *w = context;
	uint64_t passed = clock_monotonic_ns() - w->progress.begun_ns;
	progress_update(&w->progress, passed / 1000000000u, w->o->duration_ns / 1000000000u,
			"s watched, Ctrl-C ends it");
}

static int open_everything(struct watching *w, struct error *err)
{
	pid_t holder;
	if (control_lock(&w->place, &holder, err))
		return holder ? control_running_already(&w->place, holder, err) : -1;
	w->recording.lab = lab_access_open(w->o->lab, err);
	return !w->recording.lab || control_listen(&w->server, &w->place, err) ||
	       watch_recording_open(&w->recording, err);
}

static int run_watch(struct watching *w, struct error *err)
{
	const struct watch_plan plan = { .duration_ns = w->o->duration_ns,
					 .control_fd = w->server.fd,
					 .control = on_control,
					 .taken = on_taken };
	return watch_run(w->recording.collector, &plan, on_chunk, w, err);
}

/* Also after an error: what is there is stored, those who wait are answered. */
static void close_everything(struct watching *w, struct error *late)
{
	watch_recording_end(&w->recording, late);
	if (w->recording.lab)
		control_ended(&w->server, late->text);
	lab_access_close(w->o->lab);
	control_close(&w->server, &w->place);
}

static int watch_in_background(void *context, struct control_teller *teller)
{
	struct watching *w = context;
	struct error err = ERROR_INIT, late = ERROR_INIT;
	interrupt_watch();
	int failed = open_everything(w, &err);
	/* the lab is open: a directory that goes does not matter any more */
	if (!failed && chdir("/"))
		failed = error_set(&err, EXIT_ENVIRONMENT, "cannot go to /: %s", strerror(errno));
	control_tell(teller, w->recording.watch, failed ? &err : NULL);
	if (!failed)
		failed = run_watch(w, &err);
	close_everything(w, &late);
	if (*late.text)
		fprintf(stderr, "%s\n", late.text);
	if (failed)
		fprintf(stderr, "%s\n", err.text);
	return failed ? (int)err.code : (int)late.code;
}

static int watch_here(struct watching *w, struct error *err)
{
	struct error late = ERROR_INIT;
	interrupt_watch();
	int failed = open_everything(w, err);
	if (!failed) {
		progress_init(&w->progress, "watch", !w->o->quiet);
		failed = run_watch(w, err);
		progress_clear(&w->progress);
	}
	/* without a TIME that is how it ends */
	if (failed && w->recording.began && err->code == EXIT_INTERRUPTED && !w->o->duration_ns)
		failed = 0;
	close_everything(w, &late);
	if (!failed && *late.text) {
		*err = late;
		return -1;
	}
	if (!failed && !w->o->quiet)
		printf("watched: %" PRIu64 " bursts\n'tare calibrate --from-watch' studies them\n",
		       w->recording.bursts);
	return failed;
}

int calibrate_watch(const struct calibrate_options *o, struct error *err)
{
	struct watching w = { .o = o,
			      .recording.keep_bytes = o->keep_bytes,
			      .server = { .fd = -1, .status = status_text, .context = &w } };
	pid_t pid;
	int64_t watch = 0;
	if (control_place_find(&w.place, CONTROL_WATCH, o->lab, err))
		return -1;
	if (o->foreground)
		return watch_here(&w, err);
	lab_access_close(o->lab); /* SQLite must not be carried through a fork */
	if (control_start(&w.place, watch_in_background, &w, &pid, &watch, err))
		return -1;
	if (!o->quiet)
		printf("watching: watch %" PRId64 ", pid %d\n"
		       "'tare calibrate --from-watch' studies it so far, '%s' ends it\n",
		       watch, (int)pid, control_stop_line(CONTROL_WATCH));
	return 0;
}
