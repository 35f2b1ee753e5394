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
#include "base/text.h"
#include "cmd/calibrate/calibrate.h"
#include "cmd/cmd.h"
#include "collect/collect.h"
#include "measure/watch.h"
#include "report/core/json.h"
#include "run/control.h"

#define HELD_MOST 2000000u /* bursts, 64 MB: what waits for a lab that cannot take it */
#define LAST_TRIES 3
#define LAST_PAUSE_S 1

struct watching {
	const struct calibrate_options *o;
	struct control_place place;
	struct control_server server;
	struct lab *lab;
	struct burst_collector *collector;
	int64_t watch;
	bool began;		  /* it is in the lab */
	struct bursts held;	  /* end_ns 0: nothing */
	uint64_t bursts, dropped; /* stored, and given up */
	uint64_t lost;
	struct error trouble; /* why the last attempt to store failed; text "": it did not */
	char said[sizeof((struct error *)0)->text]; /* the trouble that is in the log */
	int64_t since_ns;
	struct progress progress;
};

/* ---- what it says of itself ---- */

static char *status_text(void *context, const char *trouble, bool running)
{
	const struct watching *w = context;
	int64_t end = w->o->duration_ns ? w->since_ns + (int64_t)w->o->duration_ns : 0;
	json_t *all = json_pack("{s:b, s:i, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:I}", "running",
				(int)running, "pid", (int)getpid(), "watch", (json_int_t)w->watch,
				"since", json_date(w->since_ns), "until", json_date(end), "bursts",
				(json_int_t)w->bursts, "held", (json_int_t)w->held.bursts.count,
				"dropped", (json_int_t)w->dropped, "lost", (json_int_t)w->lost,
				"keep_bytes", (json_int_t)w->o->keep_bytes);
	json_object_set_new(all, "lab", json_text(lab_path(w->lab)));
	json_object_set_new(all, "error", json_text(*trouble ? trouble : NULL));
	char *text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return text ? text : xstrdup("{}");
}

/* In the log, once each. */
static void note_trouble(struct watching *w)
{
	char when[64];
	if (strcmp(w->trouble.text, w->said) == 0)
		return;
	snprintf(w->said, sizeof w->said, "%s", w->trouble.text);
	text_date(clock_realtime_ns(), when, sizeof when);
	fprintf(stderr, "%s %s\n", when, *w->said ? w->said : "what is watched is stored again");
	fflush(stderr);
}

/* ---- while it goes ---- */

static int store(struct watching *w, const struct bursts *b)
{
	struct error why = ERROR_INIT;
	int failed = lab_add_bursts(w->lab, w->watch, b, w->o->keep_bytes, &why);
	w->trouble = why;
	if (!failed)
		w->bursts += b->bursts.count;
	note_trouble(w);
	return failed;
}

static int store_held(struct watching *w)
{
	if (!w->held.end_ns)
		return 0;
	if (store(w, &w->held))
		return -1;
	bursts_release(&w->held);
	return 0;
}

/* Never fails: what cannot be stored now is held, as long as there is room. */
static int on_chunk(void *context, const struct bursts *chunk, struct error *err)
{
	struct watching *w = context;
	(void)err;
	w->lost += chunk->lost;
	if (w->held.end_ns || store(w, chunk)) {
		bursts_append(&w->held, chunk);
		if (store_held(w) && w->held.bursts.count > HELD_MOST) {
			w->dropped += w->held.bursts.count;
			bursts_release(&w->held);
		}
	}
	control_flushed(&w->server, w->trouble.text);
	return 0;
}

static int on_control(void *context, enum watch_wish *wish, struct error *err)
{
	static const enum watch_wish wishes[] = { [CONTROL_NOTHING] = WATCH_GO_ON,
						  [CONTROL_FLUSH] = WATCH_CUT,
						  [CONTROL_STOP] = WATCH_END };
	struct watching *w = context;
	(void)err;
	*wish = wishes[control_serve(&w->server, w->trouble.text)];
	return 0;
}

static void on_taken(void *context)
{
	struct watching *w = context;
	uint64_t passed = clock_monotonic_ns() - w->progress.begun_ns;
	progress_update(&w->progress, passed / 1000000000u, w->o->duration_ns / 1000000000u,
			"s watched, Ctrl-C ends it");
}

/* ---- from begin to end ---- */

static int open_everything(struct watching *w, struct error *err)
{
	pid_t holder;
	struct machine m = { 0 };
	int64_t machine;
	if (control_lock(&w->place, &holder, err))
		return holder ? control_running_already(&w->place, holder, err) : -1;
	machine_read(&m);
	int failed = !(w->lab = lab_access_open(w->o->lab, err)) ||
		     lab_add_machine(w->lab, &m, &machine, err) ||
		     control_listen(&w->server, &w->place, err) ||
		     burst_collector_open(&w->collector, err) ||
		     lab_begin_watch(w->lab, machine, &w->watch, err);
	machine_release(&m);
	w->began = !failed;
	w->since_ns = clock_realtime_ns();
	return failed ? -1 : 0;
}

/* What is held is given some tries: the disk may have room again. */
static int end_watch(struct watching *w, struct error *err)
{
	for (int i = 0; i < LAST_TRIES && store_held(w); i++)
		sleep(LAST_PAUSE_S);
	if (w->held.end_ns) {
		w->dropped += w->held.bursts.count;
		bursts_release(&w->held);
	}
	if (lab_end_watch(w->lab, w->watch, err))
		return -1;
	if (!w->dropped)
		return 0;
	return error_set(err, EXIT_ENVIRONMENT, "%" PRIu64 " bursts could not be stored: %s",
			 w->dropped, w->trouble.text);
}

static int run_watch(struct watching *w, struct error *err)
{
	const struct watch_plan plan = { .duration_ns = w->o->duration_ns,
					 .control_fd = w->server.fd,
					 .control = on_control,
					 .taken = on_taken };
	return watch_run(w->collector, &plan, on_chunk, w, err);
}

/* Also after an error: what is there is stored, those who wait are answered. */
static void close_everything(struct watching *w, struct error *late)
{
	if (w->began)
		end_watch(w, late);
	if (w->lab)
		control_ended(&w->server, late->text);
	burst_collector_close(w->collector);
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
	control_tell(teller, w->watch, failed ? &err : NULL);
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
	if (failed && w->began && err->code == EXIT_INTERRUPTED && !w->o->duration_ns)
		failed = 0;
	close_everything(w, &late);
	if (!failed && *late.text) {
		*err = late;
		return -1;
	}
	if (!failed && !w->o->quiet)
		printf("watched: %" PRIu64 " bursts\n'tare calibrate --from-watch' studies them\n",
		       w->bursts);
	return failed;
}

int calibrate_watch(const struct calibrate_options *o, struct error *err)
{
	struct watching w = { .o = o,
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
