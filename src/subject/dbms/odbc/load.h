/* dbms_load() by ODBC: one transaction of a prepared INSERT. Private to subject/dbms/. */
#ifndef TARE_SUBJECT_DBMS_ODBC_LOAD_H
#define TARE_SUBJECT_DBMS_ODBC_LOAD_H

#include "subject/dbms/dbms.h"
#include "subject/dbms/odbc/call.h"

int odbc_load(struct odbc_link *l, const char *table, size_t columns, dbms_row_fn next,
	      void *context, struct error *err);

#endif
