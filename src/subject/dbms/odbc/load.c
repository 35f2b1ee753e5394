#include "subject/dbms/odbc/load.h"

#include <string.h>

#include "base/array.h"

struct parameter_type {
	SQLSMALLINT type, digits;
	SQLULEN size;
	SQLLEN length; /* of the row's value; SQL_NULL_DATA */
};

static SQLRETURN insert_row(struct odbc_link *l, SQLHSTMT insert, size_t columns,
			    struct parameter_type *types, const char **values)
{
	SQLRETURN rc = SQL_SUCCESS;
	for (size_t i = 0; i < columns && odbc_good(rc); i++) {
		struct parameter_type *t = &types[i];
		t->length = values[i] ? (SQLLEN)strlen(values[i]) : SQL_NULL_DATA;
		rc = l->library->SQLBindParameter(insert, (SQLUSMALLINT)(i + 1), SQL_PARAM_INPUT,
						  SQL_C_CHAR, t->type, t->size, t->digits,
						  odbc_text(values[i]), values[i] ? t->length : 0,
						  &t->length);
	}
	return odbc_good(rc) ? l->library->SQLExecute(insert) : rc;
}

static int insert_all(struct odbc_link *l, SQLHSTMT insert, size_t columns, dbms_row_fn next,
		      void *context, struct error *err)
{
	FREED const char **values = xcalloc(columns ? columns : 1, sizeof *values);
	FREED struct parameter_type *types = xcalloc(columns ? columns : 1, sizeof *types);
	SQLRETURN rc = SQL_SUCCESS;
	/* the ODBC driver converts texts to the column's type, if it knows that */
	for (size_t i = 0; i < columns; i++) {
		SQLSMALLINT nullable;
		struct parameter_type *t = &types[i];
		if (!odbc_good(l->library->SQLDescribeParam(insert, (SQLUSMALLINT)(i + 1), &t->type,
							    &t->size, &t->digits, &nullable)) ||
		    t->type == SQL_UNKNOWN_TYPE)
			*t = (struct parameter_type){ .type = SQL_VARCHAR, .size = 4000 };
	}
	while (odbc_good(rc) && next(context, values))
		rc = insert_row(l, insert, columns, types, values);
	return odbc_good(rc) ? 0 : odbc_fail(l, SQL_HANDLE_STMT, insert, "SQL", err);
}

static int set_autocommit(struct odbc_link *l, bool on, struct error *err)
{
	uintptr_t value = on ? SQL_AUTOCOMMIT_ON : SQL_AUTOCOMMIT_OFF;
	if (odbc_good(l->library->SQLSetConnectAttr(l->connection, SQL_ATTR_AUTOCOMMIT,
						    odbc_value(value), SQL_IS_UINTEGER)))
		return 0;
	return odbc_fail(l, SQL_HANDLE_DBC, l->connection, "ODBC", err);
}

/* The connection may be in the middle of a transaction, where nothing that follows is kept, and
 * what was not to be kept might be. */
static int give_up(struct odbc_link *l)
{
	l->lost = true;
	return -1;
}

static int insert_in_transaction(struct odbc_link *l, const char *table, size_t columns,
				 dbms_row_fn next, void *context, struct error *err)
{
	const struct odbc_library *odbc = l->library;
	SQLHSTMT insert = odbc_statement(l, err);
	SCOPED(strbuf_release) struct strbuf sql = { 0 };
	strbuf_printf(&sql, "INSERT INTO %s VALUES (", table);
	for (size_t i = 0; i < columns; i++)
		strbuf_puts(&sql, i ? ", ?" : "?");
	strbuf_putc(&sql, ')');
	if (insert && !odbc_good(l->library->SQLPrepare(insert, odbc_text(sql.text), SQL_NTS))) {
		odbc_fail(l, SQL_HANDLE_STMT, insert, "SQL", err);
		odbc_statement_free(l, insert);
		insert = NULL;
	}
	int failed = !insert || insert_all(l, insert, columns, next, context, err);
	odbc_statement_free(l, insert);
	if (!failed && !odbc_good(odbc->SQLEndTran(SQL_HANDLE_DBC, l->connection, SQL_COMMIT)))
		failed = odbc_fail(l, SQL_HANDLE_DBC, l->connection, "SQL", err);
	if (failed && !odbc_good(odbc->SQLEndTran(SQL_HANDLE_DBC, l->connection, SQL_ROLLBACK)))
		return give_up(l);
	if (set_autocommit(l, true, failed ? NULL : err))
		return give_up(l);
	return failed ? -1 : 0;
}

int odbc_load(struct odbc_link *l, const char *table, size_t columns, dbms_row_fn next,
	      void *context, struct error *err)
{
	if (!l->connection)
		return error_set(err, EXIT_SUBJECT, "ODBC: not connected");
	int failed = set_autocommit(l, false, err) ||
		     insert_in_transaction(l, table, columns, next, context, err);
	return failed ? error_prefix(err, "loading table %s", table) : 0;
}
