/* How a run is recorded, whatever its kind: open the lab, describe and begin the run, store data as
 * they arrive, and end the run. Every report is then made from what is read back. */
#ifndef TARE_RUN_RECORD_H
#define TARE_RUN_RECORD_H

#include <stdbool.h>

#include "lab/lab.h"

/* Shows the user a message that is not an error. The text indents its lines after the first. */
typedef void (*notice_fn)(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Stores `what`: returns 0, or -1 with err set. */
typedef int (*record_fn)(struct lab *lab, void *what, struct error *err);
/* Something that waits in memory until the lab can take it. */
struct held {
	record_fn store;
	void (*release)(void *what); /* frees it */
	void *what;
	size_t bytes;
};

/* One command line that records runs. */
struct recorder {
	struct lab_access *access;
	struct lab *lab;
	char *command_line; /* owned */
	notice_fn notice;   /* says that the lab is waited for; NULL: nobody is told */
	struct machine machine;
	int64_t machine_id, invocation; /* in the lab; 0: not stored yet */
	/* what the lab could not take yet, in order, from held_from on */
	ARRAY(struct held) held;
	size_t held_from, held_bytes;
	uint64_t hindered_ns, tried_ns; /* since when the lab takes nothing; 0: it does */
	uint64_t signalled_ns; /* since when a signal cuts the waiting short; 0: none came */
	bool told;
	struct error trouble; /* why the last attempt to store failed; text "": it did not */
};

enum recorder_lab {
	RECORD_IN_FILE,	  /* the command has no --no-lab */
	RECORD_IN_LAB,	  /* the user could have chosen --no-lab */
	RECORD_IN_MEMORY, /* the user chose --no-lab: nothing is kept */
};
/* If this fails, r must still be closed. */
int recorder_open(struct recorder *r, struct lab_access *lab, enum recorder_lab which,
		  struct error *err);
/* Stores the machine in its current state. recorder_begin() does this if the caller has not. */
int recorder_add_machine(struct recorder *r, struct error *err);
/* Stores the run and fills in what all runs of a command line share: machine, invocation,
 * directory, version of tare, and the time it began. */
int recorder_begin(struct recorder *r, struct run *run, struct error *err);
/* Ends the run in the lab, or removes it if not `keep`. Waits for the lab. */
int recorder_end(struct recorder *r, const struct run *run, enum run_status status, bool keep,
		 struct error *err);
void recorder_close(struct recorder *r);

/* A lab may be locked for minutes, or its disk full, while a run of hours goes on. What was
 * measured is held in memory meanwhile, and tried again. All three store first what is held.
 *
 * recorder_try() makes one attempt. 1: the lab cannot take it now, and may later; r->trouble says
 * why. -1: it never will.
 * recorder_wait() goes on until the lab has it. An hour ends that, or 5 s after a signal, or an
 * error that stays; what was held is then lost, and err says how much.
 * recorder_add_execution() stores the execution or holds it. It waits only when very much is held.
 * x keeps its numbers, but may lose its lists. */
int recorder_try(struct recorder *r, record_fn store, void *what, struct error *err);
int recorder_wait(struct recorder *r, record_fn store, void *what, struct error *err);
int recorder_add_execution(struct recorder *r, int64_t run, struct execution *x, struct error *err);
/* From now on waiting is cut short as by a signal, because somebody waits for the end. */
void recorder_hurry(struct recorder *r);
/* For other kinds: stores or holds `what`, which is now the recorder's. */
int recorder_hold(struct recorder *r, const struct held *item, struct error *err);

/* How a measurement ended: complete, interrupted by a signal, or failed. */
enum run_status recorded_status(int failed, const struct error *err);

/* A copy for a member of struct run, which owns its texts; NULL for NULL. */
char *recorded_text(const char *text);

#endif
