/* Private to subject/dbms/. */
#ifndef TARE_SUBJECT_DBMS_MARIADB_PLAN_H
#define TARE_SUBJECT_DBMS_MARIADB_PLAN_H

#include "subject/dbms/plan.h"

/* Like plan_of_mariadb(), which knows a table with an alias only by the alias. written is the
 * statement from EXPLAIN EXTENDED's note (select ... from `db`.`table` `alias`), which has the
 * table's name; NULL: unknown. */
int plan_of_mariadb_written(const char *json, const char *written, struct query_plan *into,
			    struct error *err);

#endif
