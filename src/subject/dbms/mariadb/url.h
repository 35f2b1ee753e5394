/* mariadb://user:password@host:port/database?socket=/path&create=yes. Every part is optional; user,
 * password, database and values may contain escapes like %40. Private to subject/dbms/. */
#ifndef TARE_SUBJECT_DBMS_MARIADB_URL_H
#define TARE_SUBJECT_DBMS_MARIADB_URL_H

#include <stdbool.h>

#include "base/error.h"

struct mariadb_url {
	char *user, *password, *host, *database, *socket; /* NULL: not given */
	unsigned port;					  /* 0: not given */
	bool create;					  /* create the database if it is missing */
};

/* EXIT_USAGE if it is invalid; the error does not show the password, and into is empty. */
int mariadb_url_parse(const char *url, struct mariadb_url *into, struct error *err);
void mariadb_url_release(struct mariadb_url *u);

#endif
