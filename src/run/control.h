/* A collector in the background, one for each user and lab: how it is started, met, asked and
 * ended. */
#ifndef TARE_RUN_CONTROL_H
#define TARE_RUN_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"
#include "base/error.h"
#include "lab/lab.h"

#define CONTROL_PATH 104 /* of a socket's name there is room for 107 */

enum control_kind { CONTROL_PROFILE, CONTROL_WATCH };
const char *control_stop_line(enum control_kind kind); /* the command that ends it */

/* Where the collector of this user and a lab is met. */
struct control_place {
	enum control_kind kind;
	char lock[CONTROL_PATH], socket[CONTROL_PATH], log[CONTROL_PATH];
};
/* Makes the directory when `make`. lab_file: that of an open lab. */
int control_place_of(struct control_place *into, enum control_kind kind, const char *lab_file,
		     bool make, struct error *err);
/* Like control_place_of(), for the lab of a command, which is opened. Unless that makes labs, an
 * error is EXIT_CHECK: no collector can be there. */
int control_place_find(struct control_place *into, enum control_kind kind, struct lab_access *lab,
		       struct error *err);
/* Takes the lock until this process ends; its pid is in the file. *holder: who has it when this
 * fails; 0: that is not the reason. */
int control_lock(const struct control_place *p, pid_t *holder, struct error *err);
/* Who has the lock; 0: nobody. */
pid_t control_holder(const struct control_place *p);

/* ---- starting it ---- */

/* By which a collector tells, once, that it collects, or why it cannot. */
struct control_teller {
	int fd; /* -1: told already, or nobody listens */
};
void control_tell(struct control_teller *t, int64_t id, const struct error *err);

/* Forks a process of its own session, without a terminal, its errors going to the log, that does
 * `body` and ends with what that returns. Waits until it tells. *id is what it told. EXIT_USAGE
 * when one is running already. */
typedef int (*control_body)(void *context, struct control_teller *t);
int control_start(const struct control_place *p, control_body body, void *context, pid_t *pid,
		  int64_t *id, struct error *err);
/* The error that one is running. */
int control_running_already(const struct control_place *p, pid_t holder, struct error *err);

/* ---- asking it ---- */

/* "status", "flush" or "stop". The answer is a JSON text, the caller frees. EXIT_CHECK: none is
 * running. */
char *control_ask(const struct control_place *p, const char *word, int patience_s,
		  struct error *err);
/* Asks the one of a command's lab and reads the answer. After "stop" it has ended. NULL: an error.
 */
json_t *control_ask_lab(enum control_kind kind, struct lab_access *lab, const char *word,
			struct error *err);
/* Of an answer: 0 or "" where it has none. */
long long control_number(const json_t *answer, const char *key);
const char *control_text(const json_t *answer, const char *key);

/* ---- its own side ---- */

enum control_wish { CONTROL_NOTHING, CONTROL_FLUSH, CONTROL_STOP };

struct control_server {
	int fd; /* listening; -1: not */
	/* What the collector says of itself, as JSON text; who calls it frees. trouble: why it
	 * could not store the last time, "": it could. */
	char *(*status)(void *context, const char *trouble, bool running);
	void *context;
	ARRAY(int) flushing, stopping; /* who waits for an answer */
	char *last;		       /* for those who asked it to stop */
};
int control_listen(struct control_server *c, const struct control_place *p, struct error *err);
/* Takes what has come, and answers what can be answered at once. */
enum control_wish control_serve(struct control_server *c, const char *trouble);
/* What there is was stored: answers those who wait for that. */
void control_flushed(struct control_server *c, const char *trouble);
/* All is stored that can be; while the lab is still open. Those who asked for the end are answered
 * by control_close(), after which it is not to be met any more. */
void control_ended(struct control_server *c, const char *trouble);
void control_close(struct control_server *c, const struct control_place *p);

#endif
