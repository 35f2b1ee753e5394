/* A collector in the background, one per user and lab: how to start, find, query and stop it. */
#ifndef TARE_RUN_CONTROL_H
#define TARE_RUN_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"
#include "base/error.h"
#include "lab/lab.h"

#define CONTROL_PATH 104 /* a socket's name has room for 107 */

enum control_kind { CONTROL_PROFILE, CONTROL_WATCH };
const char *control_stop_line(enum control_kind kind); /* the command that stops it */

/* The files of the collector for this user and lab. */
struct control_place {
	enum control_kind kind;
	char lock[CONTROL_PATH], socket[CONTROL_PATH], log[CONTROL_PATH];
};
/* Creates the directory if `make`. lab_file is the path of an open lab. */
int control_place_of(struct control_place *into, enum control_kind kind, const char *lab_file,
		     bool make, struct error *err);
/* Like control_place_of(), for the lab of a command, which it opens. Unless the command creates
 * labs, an error is EXIT_CHECK: no collector can be running. */
int control_place_find(struct control_place *into, enum control_kind kind, struct lab_access *lab,
		       struct error *err);
/* Takes the lock until this process ends, and writes its pid into the file. On failure *holder is
 * the process that has the lock, or 0 if that is not the reason. */
int control_lock(const struct control_place *p, pid_t *holder, struct error *err);

/* ---- starting it ---- */

/* The collector uses this to report, once, that it is collecting or why it cannot. */
struct control_teller {
	int fd; /* -1: already reported, or nobody is listening */
};
void control_tell(struct control_teller *t, int64_t id, const struct error *err);

/* Forks a process in its own session, without a terminal and with its errors in the log. It runs
 * `body` and exits with the result. Waits until it reports; *id is the id it reported. EXIT_USAGE
 * if a collector is already running. */
typedef int (*control_body)(void *context, struct control_teller *t);
int control_start(const struct control_place *p, control_body body, void *context, pid_t *pid,
		  int64_t *id, struct error *err);
/* Sets the error that a collector is already running. */
int control_running_already(const struct control_place *p, pid_t holder, struct error *err);

/* ---- asking it ---- */

/* word is "status", "flush" or "stop". The answer is a JSON text; the caller frees it. EXIT_CHECK:
 * no collector is running. */
char *control_ask(const struct control_place *p, const char *word, int patience_s,
		  struct error *err);
/* Asks the collector of a command's lab and parses the answer. After "stop" the collector has
 * ended. NULL: an error. */
json_t *control_ask_lab(enum control_kind kind, struct lab_access *lab, const char *word,
			struct error *err);
/* Members of an answer; 0 or "" if missing. */
long long control_number(const json_t *answer, const char *key);
const char *control_text(const json_t *answer, const char *key);

/* ---- its own side ---- */

enum control_wish { CONTROL_NOTHING, CONTROL_FLUSH, CONTROL_STOP };

struct control_server {
	int fd; /* listening; -1: not */
	/* Returns the collector's status as JSON text, which the caller frees. trouble: why the
	 * last attempt to store failed; "": it did not. */
	char *(*status)(void *context, const char *trouble, bool running);
	void *context;
	ARRAY(int) flushing, stopping; /* clients that wait for an answer */
	char *last;		       /* the answer to those who asked it to stop */
};
int control_listen(struct control_server *c, const struct control_place *p, struct error *err);
/* Reads new requests and answers those that need no waiting. */
enum control_wish control_serve(struct control_server *c, const char *trouble);
/* Everything so far is stored: answers the clients that asked for a flush. */
void control_flushed(struct control_server *c, const char *trouble);
/* Call this after the last data are stored and while the lab is still open. control_close() answers
 * those who asked it to stop; after that, the collector can no longer be reached. */
void control_ended(struct control_server *c, const char *trouble);
void control_close(struct control_server *c, const struct control_place *p);

#endif
