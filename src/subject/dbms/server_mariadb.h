/* Private to subject/dbms/. */
#ifndef TARE_SUBJECT_DBMS_SERVER_MARIADB_H
#define TARE_SUBJECT_DBMS_SERVER_MARIADB_H

#include "subject/dbms/server_kind.h"

/* Who runs it when tare is root: `wanted`, or nobody where no such user is. */
const char *mariadb_server_user(const char *wanted);
/* Whether it takes connections; waits a second at most. */
bool mariadb_answers(const struct server_place *p);

#endif
