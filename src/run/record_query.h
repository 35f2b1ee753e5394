/* Records a run of queries: executes an experiment in a database and stores each execution. It can
 * also resume an interrupted run. */
#ifndef TARE_RUN_RECORD_QUERY_H
#define TARE_RUN_RECORD_QUERY_H

#include "run/query_place.h"
#include "run/record.h"

struct query_recording {
	/* set by the caller; texts are borrowed unless marked as owned */
	struct experiment e; /* owned; query_recording_resume() fills it in for a resumed run */
	const char *url;     /* NULL: the experiment's own */
	const char *driver;  /* file of --driver; NULL: the experiment's */
	char *beside;	     /* owned: relative paths in the experiment start here; NULL: none */
	double scale;
	bool no_ledger, no_lab;
	enum query_tables tables;
	enum query_transaction transaction; /* what queries may do; of a resumed run, at most */
	uint64_t back_off_ns;
	void *context;
	void (*progress)(void *context, const struct query_progress *p);
	void (*backed_off)(void *context,
			   const char *why); /* after an error that will be retried */
	/* after one that was not: the experiment goes on with the next Q@C */
	void (*gave_up)(void *context, const struct query_event *event);
	/* The caller opens it. For a new run it also sets the command line, name and tags. */
	struct recorder to;
	struct run run;
	/* set by query_recording_begin() and query_recording_resume() */
	struct query_place place;
	struct query_rig rig;
	struct query_run done; /* what a resumed run has already stored */
	char *driver_file;     /* absolute */
	char *not_seen;
	bool delays; /* the kernel counts delays as long as this is in use: delays_use */
	int delays_use;
	bool quieted; /* 'tare quiet' had made the machine quiet */
	bool resumed, stored, paused;
	bool elsewhere;	 /* resumed in another database */
	size_t given_up; /* Q@Cs, as their plans changed again and again */
	size_t broken;	 /* Q@Cs, as they failed */
};

/* The first word of a statement, behind blanks, comments and parentheses. */
const char *query_first_word(const char *sql);
/* The DBMS refuses writes as well (dbms_begin()). The first word is looked at before, since there
 * are statements that change more than data, and DBMSes that promise nothing. */
int query_refuse_writes(const struct experiment *e, struct error *err);
/* The options that give this consent, with a blank before each. */
const char *query_consent_options(enum query_transaction transaction);

/* Opens the database and the collectors, and begins the run. Call interrupt_watch() first. */
int query_recording_begin(struct query_recording *q, struct error *err);
/* Resumes a stored run with the settings that it began with. The lab may be somebody else's, so
 * that q->transaction must be set to what the user consents to now; less than the run began with
 * is an error. */
int query_recording_resume(struct query_recording *q, int64_t run, struct error *err);
/* Executes the experiment, or the rest of it. */
int query_recording_run(struct query_recording *q, struct error *err);
/* True if a part of the run is in the lab and can be resumed. */
bool query_recording_is_kept(const struct query_recording *q);
/* Closes the database and restores what was changed for measuring. Call it before printing, which
 * takes as long as the user reads. complete: nobody will resume the run. */
int query_recording_stop(struct query_recording *q, bool complete, struct error *err);
/* Ends the run in the lab, or removes it if nothing is kept. If `failed`, why is the reason. */
int query_recording_end(struct query_recording *q, int failed, const struct error *why,
			struct error *err);
void query_recording_close(struct query_recording *q);

#endif
