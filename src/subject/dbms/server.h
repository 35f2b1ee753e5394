/* A database server that tare may start and stop: one that it runs itself from a data directory on
 * a private socket, or one that the user's commands start and stop. Delay accounting is turned on
 * by whoever measures, before server_start(). */
#ifndef TARE_SUBJECT_DBMS_SERVER_H
#define TARE_SUBJECT_DBMS_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct server_description {
	const char *dbms;	     /* "postgresql", "mariadb" */
	const char *data;	     /* a data directory; NULL: by commands */
	bool make;		     /* initialise it when it is not there or empty */
	const char *start, *stop;    /* shell commands; with data: not used */
	const char *url;	     /* by commands: where it answers; NULL: when `start` has
					ended, it runs. With data: not used */
	const char *const *settings; /* "shared_buffers=64MB", for the server's command line; ended
					by NULL; or NULL */
	const char *user;	     /* who runs it when tare is root; NULL: "postgres", "mysql" */
};

struct server;

int server_open(struct server **out, const struct server_description *d, struct error *err);
/* Starts it, waits until it answers (at most 60 s). No-op when it runs, whoever started it. Its log
 * is in the data directory. */
int server_start(struct server *s, struct error *err);
/* Stops it cleanly: everything is on disk. */
int server_stop(struct server *s, struct error *err);
/* Leaves it as it was found: stops it when this tare started it. NULL is fine. */
void server_close(struct server *s);
/* The URL by which it is reached through its private socket; NULL where it is by commands. */
const char *server_url(const struct server *s);

#endif
