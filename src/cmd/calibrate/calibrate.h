/* Options of `tare calibrate`, and how it gets the samples of a study. Private to it. */
#ifndef TARE_CMD_CALIBRATE_CALIBRATE_H
#define TARE_CMD_CALIBRATE_CALIBRATE_H

#include "base/options.h"
#include "cmd/cmd.h"
#include "run/calibrate.h"

enum calibrate_mode {
	CALIBRATE_ACTIVE,
	CALIBRATE_CONTINUE,
	CALIBRATE_WATCH,
	CALIBRATE_STATUS,
	CALIBRATE_STOP,
	CALIBRATE_REMOVE,
	CALIBRATE_FROM_WATCH,
	CALIBRATE_FROM,
	CALIBRATE_MODES,
};

struct calibrate_options {
	bool active, watch_status, watch_stop, from_watch, foreground, plot, json, quiet, no_store;
	const char *resume, *watch; /* "" if given without a value */
	const char *watch_rm, *from, *short_run, *long_run, *cpus, *keep, *since, *until;
	struct lab_access *lab;
	text_list lengths;
	int backend, steady;
	const struct cmd_args *args;
	/* set by the check */
	enum calibrate_mode mode;
	struct calibrate_part parts[STUDY_LENGTHS];
	const char *second; /* of --from: the long run; NULL: none */
	uint64_t duration_ns, keep_bytes;
	int64_t removed;		    /* the watch of --watch-rm */
	uint64_t windows_ns[STUDY_LENGTHS]; /* 0: not given */
	int64_t since_ns, until_ns;	    /* 0: not given */
	cpu_set_t cpu_set;
};

/* ---- ways to a study (study.c) ---- */

int calibrate_active(const struct calibrate_options *o, struct error *err);
int calibrate_from(const struct calibrate_options *o, struct error *err);
int calibrate_from_watch(const struct calibrate_options *o, struct error *err);

/* Prints the study as text or JSON, with plots if wanted and possible. in: its samples, if
 * available; is_l: an array per run. */
struct calibrate_display {
	bool json, plot;
};
void calibrate_print(const struct study *s, const struct machine *m, const struct study_input *in,
		     bool *const is_l[STUDY_LENGTHS], const struct calibrate_display *d);

/* ---- the watch (watch.c) ---- */

int calibrate_watch(const struct calibrate_options *o, struct error *err);
int calibrate_watch_status(const struct calibrate_options *o, struct error *err);
int calibrate_watch_stop(const struct calibrate_options *o, struct error *err);
int calibrate_watch_remove(const struct calibrate_options *o, struct error *err);

#endif
