/* Private to `tare calibrate`: its options, and the ways to the samples of a study. */
#ifndef TARE_CMD_CALIBRATE_CALIBRATE_H
#define TARE_CMD_CALIBRATE_CALIBRATE_H

#include <sched.h>

#include "base/options.h"
#include "lab/lab.h"
#include "protocol/sedona/sedona.h"

#define CALIBRATE_LEAST 6     /* samples of a run, below which there is no cluster to find */
#define CALIBRATE_MOST 100000 /* samples of a run */

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

/* What one of the runs shall be. */
struct calibrate_part {
	uint64_t length_ns; /* 0: there is none */
	uint32_t samples;
};

struct calibrate_options {
	bool active, watch_status, watch_stop, from_watch, foreground, plot, json, quiet, no_store;
	const char *resume, *watch; /* "" when given without a value */
	const char *watch_rm, *from, *short_run, *long_run, *cpus, *keep, *since, *until;
	struct lab_access *lab;
	text_list lengths;
	int backend;
	/* made by the check */
	enum calibrate_mode mode;
	struct calibrate_part parts[STUDY_LENGTHS];
	const char *second; /* of --from: the long run; NULL: none */
	uint64_t duration_ns, keep_bytes;
	int64_t removed;		    /* the watch of --watch-rm */
	uint64_t windows_ns[STUDY_LENGTHS]; /* 0: not given */
	int64_t since_ns, until_ns;	    /* 0: not given */
	cpu_set_t cpu_set;
};

/* ---- the samples of a study, and what is made of them (study.c) ---- */

struct calibrate_input {
	enum study_source source;
	int64_t machine; /* id in the lab; 0: not known, then nothing is stored */
	bool has_long;
	struct sedona_run runs[STUDY_LENGTHS];
};
void calibrate_input_release(struct calibrate_input *in);

/* A stored run as samples. *machine is its own; *seen: how it was measured. */
int calibrate_load(struct lab *lab, int64_t run, struct sedona_run *into, int64_t *machine,
		   enum backend *seen, struct error *err);
/* The samples of a stored study, for its plots; of a run that is gone, or was cut from a watch,
 * there are none, and its is_l stays NULL. The caller frees is_l, also after an error. */
int calibrate_samples(struct lab *lab, const struct study *s, struct calibrate_input *in,
		      bool *is_l[STUDY_LENGTHS], struct error *err);
/* Steps 3 to 10, stored and printed. */
int calibrate_conclude(const struct calibrate_options *o, struct lab *lab,
		       struct calibrate_input *in, struct error *err);
/* The study as text or JSON on standard output, with plots where wanted and possible. in: NULL
 * where its samples are not at hand; is_l: an array per run. */
struct calibrate_display {
	bool json, plot;
};
void calibrate_print(const struct study *s, const struct machine *m,
		     const struct calibrate_input *in, bool *const is_l[STUDY_LENGTHS],
		     const struct calibrate_display *d);

/* ---- ways to them ---- */

int calibrate_active(const struct calibrate_options *o, int argc, char **argv, struct error *err);
int calibrate_from(const struct calibrate_options *o, struct error *err);
int calibrate_from_watch(const struct calibrate_options *o, struct error *err);

/* ---- the watch (watch.c) ---- */

int calibrate_watch(const struct calibrate_options *o, struct error *err);
int calibrate_watch_status(const struct calibrate_options *o, struct error *err);
int calibrate_watch_stop(const struct calibrate_options *o, struct error *err);
int calibrate_watch_remove(const struct calibrate_options *o, struct error *err);

#endif
