/* What server.c needs to know about each DBMS whose server tare can run from a data directory.
 * Private to subject/dbms/. */
#ifndef TARE_SUBJECT_DBMS_SERVER_KIND_H
#define TARE_SUBJECT_DBMS_SERVER_KIND_H

#include "base/options.h"
#include "subject/dbms/server.h"

struct server_place {
	const char *data, *socket, *user; /* absolute; socket: a directory with a name short enough
					     for a socket; user NULL: no other user */
	const char *const *settings;
};

struct server_kind {
	const char *dbms;
	const char *user; /* who runs it if tare is root */
	bool (*is_made)(const char *data);
	/* The command that makes the data directory, and the command of the server, which stays in
	 * the foreground. False: the program is not installed (err says which). */
	bool (*make_words)(const struct server_place *p, word_list *words, struct error *err);
	bool (*server_words)(const struct server_place *p, word_list *words, struct error *err);
	char *(*url)(const struct server_place *p); /* the caller frees */
	int stop_signal;
};
extern const struct server_kind postgresql_server, mariadb_server;

#endif
