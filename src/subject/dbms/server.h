/* A database server that tare may start and stop: one that it runs itself from a data directory on
 * a private socket, or one that the user's commands start and stop. The measuring code must turn on
 * delay accounting before server_start(). */
#ifndef TARE_SUBJECT_DBMS_SERVER_H
#define TARE_SUBJECT_DBMS_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct server_description {
	const char *dbms;	  /* "postgresql", "mariadb" */
	const char *data;	  /* a data directory; NULL: use the commands */
	bool make;		  /* initialise it if it is missing or empty */
	const char *start, *stop; /* shell commands; unused with data */
	const char *url; /* with commands: where it answers; NULL: it runs when `start` has ended.
			    Unused with data */
	const char *const *settings; /* "shared_buffers=64MB", for the server's command line; ends
					with NULL; or NULL */
	const char *user;	     /* who runs it if tare is root; NULL: "postgres", "mysql" */
};

struct server;

int server_open(struct server **out, const struct server_description *d, struct error *err);
/* Starts it and waits at most 60 s until it answers. Does nothing if it already runs, whoever
 * started it. Its log is in the data directory. */
int server_start(struct server *s, struct error *err);
/* Stops it cleanly, with everything on disk. */
int server_stop(struct server *s, struct error *err);
/* Leaves it as it was found: stops it if this tare started it. NULL is fine. */
void server_close(struct server *s);
/* The URL of its private socket; NULL if it is started by commands. */
const char *server_url(const struct server *s);

#endif
