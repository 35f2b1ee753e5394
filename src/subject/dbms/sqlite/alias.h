/* Since SQLite 3.36, EXPLAIN QUERY PLAN names a table only by its alias, and SQLite does not report
 * which table that is. The text of the statement does. Private to subject/dbms/. */
#ifndef TARE_SUBJECT_DBMS_SQLITE_ALIAS_H
#define TARE_SUBJECT_DBMS_SQLITE_ALIAS_H

#include <stddef.h>

/* The next name after *at in the statement that may have this alias ("name alias" or "name AS
 * alias"); NULL: there are no more. *at is NULL for the first call. The caller frees the name and
 * checks whether it is a table's: "SELECT a AS x" looks the same. */
char *sqlite_alias_next(const char *sql, const char **at, const char *alias);

#endif
