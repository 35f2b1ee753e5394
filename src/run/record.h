/* The life of a recorded run, the same for every kind: the lab is opened, the run described and
 * begun, what it measures is stored as it comes, and the run is ended. Every report is then made
 * from what is read back. */
#ifndef TARE_RUN_RECORD_H
#define TARE_RUN_RECORD_H

#include <stdbool.h>

#include "lab/lab.h"

/* Tells the user something that is no error. Lines after the first are indented by the text itself.
 */
typedef void (*notice_fn)(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* One command line that records runs. */
struct recorder {
	struct lab_access *access;
	struct lab *lab;
	char *command_line; /* owned */
	struct machine machine;
	int64_t machine_id, study; /* in the lab; 0: not stored yet */
};

enum recorder_lab {
	RECORD_IN_FILE,	  /* --no-lab is no choice here */
	RECORD_IN_LAB,	  /* the user may choose --no-lab */
	RECORD_IN_MEMORY, /* --no-lab was chosen: nothing is kept */
};
/* A recorder that failed to open is to be closed, too. */
int recorder_open(struct recorder *r, struct lab_access *lab, enum recorder_lab which,
		  struct error *err);
/* Stores the machine as it is now. recorder_begin() does so where it was not done before. */
int recorder_add_machine(struct recorder *r, struct error *err);
/* Stores the run and fills in what runs of one command line share: machine, study, directory,
 * version of tare, and the time of its begin. */
int recorder_begin(struct recorder *r, struct run *run, struct error *err);
/* Ends the run in the lab. One that is not worth keeping is removed. */
int recorder_end(struct recorder *r, const struct run *run, enum run_status status, bool keep,
		 struct error *err);
void recorder_close(struct recorder *r);

/* How a measurement ended: complete, interrupted (by a signal) or failed. */
enum run_status recorded_status(int failed, const struct error *err);

/* A copy, or NULL of NULL: the members of struct run are owned by it. */
char *recorded_text(const char *text);

#endif
