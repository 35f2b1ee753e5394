/* Since 3.36 EXPLAIN QUERY PLAN calls a table by its alias only, and nothing in SQLite says whose
 * it is; the statement's text does. Private to subject/dbms/. */
#ifndef TARE_SUBJECT_DBMS_SQLITE_ALIAS_H
#define TARE_SUBJECT_DBMS_SQLITE_ALIAS_H

#include <stddef.h>

/* From *at in the statement on, the next name that this alias may be another one of ("name alias"
 * or "name AS alias"); NULL: there is no more. *at is NULL before the first. The caller frees, and
 * looks whether it is a table's: "SELECT a AS x" looks the same. */
char *sqlite_alias_next(const char *sql, const char **at, const char *alias);

#endif
