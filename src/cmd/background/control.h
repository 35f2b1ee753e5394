/* A collector in the background, one for each user and lab: how it is started, met, asked and
 * ended. */
#ifndef TARE_CMD_BACKGROUND_CONTROL_H
#define TARE_CMD_BACKGROUND_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"
#include "base/error.h"
#include "lab/lab.h"

#define CONTROL_PATH 104 /* of a socket's name there is room for 107 */

enum control_kind { CONTROL_PROFILE, CONTROL_WATCH };
const char *control_word(enum control_kind kind);      /* "collector", "watch" */
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

/* ---- starting it (control_start.c) ---- */

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

struct control_server {
	int fd;			       /* listening */
	ARRAY(int) flushing, stopping; /* who waits for an answer */
};
struct control_wishes {
	bool flush, stop;
};
int control_listen(struct control_server *c, const struct control_place *p, struct error *err);
/* Takes what has come. `status` is asked for an answer to give now; the caller of it frees. */
typedef char *(*control_status_fn)(void *context);
void control_serve(struct control_server *c, control_status_fn status, void *context,
		   struct control_wishes *wishes);
/* Answers those who wait, and lets them go. */
void control_answer_flushing(struct control_server *c, const char *text);
void control_answer_stopping(struct control_server *c, const char *text);
void control_close(struct control_server *c, const struct control_place *p);

#endif
