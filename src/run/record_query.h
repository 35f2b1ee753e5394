/* A run of queries being recorded: an experiment in a database, its executions stored one by one;
 * and a run that was interrupted taken up again. */
#ifndef TARE_RUN_RECORD_QUERY_H
#define TARE_RUN_RECORD_QUERY_H

#include "run/query_place.h"
#include "run/record.h"

struct query_recording {
	/* told by the caller; texts are borrowed unless it says otherwise */
	struct experiment e; /* owned; made by query_recording_resume() where a run is taken up */
	const char *url;     /* NULL: the experiment's own */
	const char *driver;  /* file of --driver; NULL: the experiment's */
	char *beside; /* owned: the directory that paths in the experiment begin at; NULL: none */
	double scale;
	bool no_ledger, no_lab;
	enum query_tables tables;
	uint64_t back_off_ns;
	void *context;
	void (*progress)(void *context, const struct query_progress *p);
	void (*backed_off)(void *context, const char *why); /* an error; it will be tried again */
	/* Opened by the caller. Of a new run the caller fills in command line, name and tags. */
	struct recorder to;
	struct run run;
	/* made by it */
	struct query_place place;
	struct query_rig rig;
	struct query_run done; /* what was stored before, of a run that is resumed */
	char *driver_file;     /* absolute */
	char *not_seen;
	bool delays;  /* the kernel was told to count them, which is to be put back */
	bool quieted; /* the machine was quiet */
	bool resumed, stored, paused;
	bool elsewhere;	 /* resumed in another database */
	size_t given_up; /* Q@Cs */
};

/* Opens the database and what measures, and begins the run. interrupt_watch() must have been
 * called. */
int query_recording_begin(struct query_recording *q, struct error *err);
/* Goes on with a stored run: what it was begun with is read back. */
int query_recording_resume(struct query_recording *q, int64_t run, struct error *err);
/* The whole experiment, or what is left of it. */
int query_recording_run(struct query_recording *q, struct error *err);
/* Something of it is in the lab, and can be resumed. */
bool query_recording_is_kept(const struct query_recording *q);
/* Closes the database and puts back what was changed for measuring: before anything is printed,
 * which may take as long as somebody reads. complete: nobody will resume it. */
int query_recording_stop(struct query_recording *q, bool complete, struct error *err);
/* Ends the run in the lab; one of which nothing is kept is removed. failed: what err tells. */
int query_recording_end(struct query_recording *q, int failed, const struct error *why,
			struct error *err);
void query_recording_close(struct query_recording *q);

#endif
