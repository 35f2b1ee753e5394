/* Private to subject/dbms/. */
#ifndef TARE_SUBJECT_DBMS_MARIADB_PLAN_H
#define TARE_SUBJECT_DBMS_MARIADB_PLAN_H

#include "subject/dbms/plan.h"

/* As plan_of_mariadb(), which knows a table that has an alias only by that. written: the statement
 * as EXPLAIN EXTENDED's note has it (select ... from `db`.`table` `alias`), which tells the table's
 * name; NULL: not known. */
int plan_of_mariadb_written(const char *json, const char *written, struct query_plan *into,
			    struct error *err);

#endif
