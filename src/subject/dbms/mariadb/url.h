/* mariadb://user:password@host:port/database?socket=/path&create=yes, all of it optional; user,
 * password, database and values may hold escapes like %40. Private to subject/dbms/. */
#ifndef TARE_SUBJECT_DBMS_MARIADB_URL_H
#define TARE_SUBJECT_DBMS_MARIADB_URL_H

#include <stdbool.h>

#include "base/error.h"

struct mariadb_url {
	char *user, *password, *host, *database, *socket; /* NULL: not given */
	unsigned port;					  /* 0: not given */
	bool create;					  /* the database where there is none yet */
};

/* EXIT_USAGE when it is none; the error does not show the password. into is empty then. */
int mariadb_url_parse(const char *url, struct mariadb_url *into, struct error *err);
void mariadb_url_release(struct mariadb_url *u);

#endif
