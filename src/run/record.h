/* How a run is recorded, whatever its kind: open the lab, describe and begin the run, store data as
 * they arrive, and end the run. Every report is then made from what is read back. */
#ifndef TARE_RUN_RECORD_H
#define TARE_RUN_RECORD_H

#include <stdbool.h>

#include "lab/lab.h"

/* Shows the user a message that is not an error. The text indents its lines after the first. */
typedef void (*notice_fn)(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* One command line that records runs. */
struct recorder {
	struct lab_access *access;
	struct lab *lab;
	char *command_line; /* owned */
	struct machine machine;
	int64_t machine_id, invocation; /* in the lab; 0: not stored yet */
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
/* Ends the run in the lab, or removes it if not `keep`. */
int recorder_end(struct recorder *r, const struct run *run, enum run_status status, bool keep,
		 struct error *err);
void recorder_close(struct recorder *r);

/* How a measurement ended: complete, interrupted by a signal, or failed. */
enum run_status recorded_status(int failed, const struct error *err);

/* A copy for a member of struct run, which owns its texts; NULL for NULL. */
char *recorded_text(const char *text);

#endif
