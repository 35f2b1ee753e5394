/* What server.c has to know of each DBMS whose server tare can run from a data directory. Private
 * to subject/dbms/. Directory is absolute; socket: a directory that is short enough for a socket's
 * name. */
#ifndef TARE_SUBJECT_DBMS_SERVER_KIND_H
#define TARE_SUBJECT_DBMS_SERVER_KIND_H

#include "base/options.h"
#include "subject/dbms/server.h"

struct server_place {
	const char *data, *socket, *user; /* user NULL: nobody else */
	const char *const *settings;
};

struct server_kind {
	const char *dbms;
	const char *user; /* who runs it when tare is root */
	bool (*is_made)(const char *data);
	/* The words of the command that makes the data directory, and of the one that is the server
	 * and stays in the foreground; false: the program is not installed (says which). */
	bool (*make_words)(const struct server_place *p, word_list *words, struct error *err);
	bool (*server_words)(const struct server_place *p, word_list *words, struct error *err);
	char *(*url)(const struct server_place *p); /* the caller frees */
	int stop_signal;
};
extern const struct server_kind postgresql_server, mariadb_server;

#endif
