#include "subject/dbms/odbc/call.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"

#define LOGIN_S 30
#define TEXT_MOST (1 << 20)

static enum exit_code code_of(const char *state)
{
	static const struct {
		const char *begins;
		enum exit_code code;
	} classes[] = {
		{ "08", EXIT_ENVIRONMENT }, /* connection */
		{ "53", EXIT_ENVIRONMENT }, /* no more room */
		{ "58", EXIT_ENVIRONMENT }, /* the server's system */
		{ "HY001", EXIT_ENVIRONMENT }, { "HYT", EXIT_ENVIRONMENT }, /* too late */
	};
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
		if (strncmp(state, classes[i].begins, strlen(classes[i].begins)) == 0)
			return classes[i].code;
	return EXIT_USAGE;
}

static bool means_lost(struct odbc_link *l, const char *state)
{
	SQLUINTEGER dead = SQL_CD_FALSE;
	if (strncmp(state, "08", 2) == 0 || strncmp(state, "57P0", 4) == 0)
		return true;
	return odbc_good(l->library->SQLGetConnectAttr(l->connection, SQL_ATTR_CONNECTION_DEAD,
						       &dead, 0, NULL)) &&
	       dead == SQL_CD_TRUE;
}

int odbc_fail(struct odbc_link *l, SQLSMALLINT type, SQLHANDLE handle, const char *what,
	      struct error *err)
{
	SQLCHAR found[6] = "", text[900] = "";
	char shown[900];
	SQLINTEGER native;
	SQLSMALLINT length;
	bool said = odbc_good(l->library->SQLGetDiagRec(type, handle, 1, found, &native, text,
							sizeof text, &length));
	for (size_t end = strlen((char *)text); end && isspace(text[end - 1]);)
		text[--end] = '\0';
	text_display(said ? (const char *)text : "failed without saying why", shown, sizeof shown);
	l->lost = l->lost || (l->established && means_lost(l, (const char *)found));
	enum exit_code code = l->lost ? EXIT_SUBJECT : code_of((const char *)found);
	/* some drivers have no better state for a server that is not there */
	if (!l->established && strcmp((const char *)found, "HY000") == 0)
		code = EXIT_ENVIRONMENT;
	error_set(err, code, "%s: %s%s%s%s", what, shown, *found ? " (" : "", found,
		  *found ? ")" : "");
	if (strncmp((const char *)found, "IM00", 4) == 0 ||
	    strcmp((const char *)found, "01000") == 0)
		return error_hint(
			err, "odbcinst -q -d lists the drivers, odbcinst -q -s the data sources");
	return -1;
}

bool odbc_was_cancelled(struct odbc_link *l, SQLHSTMT statement)
{
	/* ODBC's own, PostgreSQL's and Db2's, MariaDB's */
	static const char *const states[] = { "HY008", "57014", "70100" };
	SQLCHAR found[6] = "", text[900] = "";
	const char *said = (const char *)text;
	SQLINTEGER native;
	SQLSMALLINT length;
	if (!odbc_good(l->library->SQLGetDiagRec(SQL_HANDLE_STMT, statement, 1, found, &native,
						 text, sizeof text, &length)))
		return false;
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (strcmp((const char *)found, states[i]) == 0)
			return true;
	/* drivers that have one state for everything: SQLite's "interrupted", Oracle's "user
	 * requested cancel", MySQL's "was interrupted" */
	return strcmp((const char *)found, "HY000") == 0 &&
	       (strcasestr(said, "interrupt") || strcasestr(said, "cancel"));
}

/* ---- the connection ---- */

int odbc_link_open(struct odbc_link *l, const char *text, struct error *err)
{
	l->lost = false;
	const struct odbc_library *odbc = l->library;
	if (!odbc_good(odbc->SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &l->environment)) ||
	    !odbc_good(odbc->SQLSetEnvAttr(l->environment, SQL_ATTR_ODBC_VERSION,
					   odbc_value(SQL_OV_ODBC3), 0)) ||
	    !odbc_good(odbc->SQLAllocHandle(SQL_HANDLE_DBC, l->environment, &l->connection))) {
		error_set(err, EXIT_ENVIRONMENT, "ODBC: no environment can be made");
		odbc_link_close(l);
		return -1;
	}
	l->library->SQLSetConnectAttr(l->connection, SQL_ATTR_LOGIN_TIMEOUT, odbc_value(LOGIN_S),
				      0);
	if (l->reads_only) /* most drivers ignore it */
		l->library->SQLSetConnectAttr(l->connection, SQL_ATTR_ACCESS_MODE,
					      odbc_value(SQL_MODE_READ_ONLY), SQL_IS_UINTEGER);
	SQLRETURN rc = l->library->SQLDriverConnect(l->connection, NULL, odbc_text(text), SQL_NTS,
						    NULL, 0, NULL, SQL_DRIVER_NOPROMPT);
	l->established = odbc_good(rc);
	if (l->established)
		return 0;
	odbc_fail(l, SQL_HANDLE_DBC, l->connection, "ODBC: cannot connect", err);
	l->library->SQLFreeHandle(SQL_HANDLE_DBC, l->connection);
	l->connection = NULL;
	odbc_link_close(l);
	return -1;
}

void odbc_link_close(struct odbc_link *l)
{
	if (l->connection) {
		l->library->SQLDisconnect(l->connection);
		l->library->SQLFreeHandle(SQL_HANDLE_DBC, l->connection);
	}
	if (l->environment)
		l->library->SQLFreeHandle(SQL_HANDLE_ENV, l->environment);
	l->connection = NULL;
	l->environment = NULL;
	l->established = false;
}

/* ---- statements ---- */

SQLHSTMT odbc_statement(struct odbc_link *l, struct error *err)
{
	SQLHSTMT statement = NULL;
	if (!l->connection) {
		error_set(err, EXIT_SUBJECT, "ODBC: not connected");
		return NULL;
	}
	if (odbc_good(l->library->SQLAllocHandle(SQL_HANDLE_STMT, l->connection, &statement)))
		return statement;
	odbc_fail(l, SQL_HANDLE_DBC, l->connection, "ODBC", err);
	return NULL;
}

void odbc_statement_free(struct odbc_link *l, SQLHSTMT statement)
{
	if (statement)
		l->library->SQLFreeHandle(SQL_HANDLE_STMT, statement);
}

/* All of a value, in pieces where it is long. */
static SQLRETURN fetch_value(struct odbc_link *l, SQLHSTMT statement, SQLUSMALLINT column,
			     struct strbuf *text)
{
	char piece[4096];
	for (;;) {
		SQLLEN length = 0;
		SQLRETURN rc = l->library->SQLGetData(statement, column, SQL_C_CHAR, piece,
						      sizeof piece, &length);
		if (rc == SQL_NO_DATA)
			return SQL_SUCCESS;
		if (!odbc_good(rc))
			return rc;
		if (length != SQL_NULL_DATA) {
			size_t there = strnlen(piece, sizeof piece);
			if (length >= 0 && (size_t)length < there)
				there = (size_t)length;
			if (text && text->length + there < TEXT_MOST)
				strbuf_add(text, piece, there);
		}
		bool more = length == SQL_NO_TOTAL || length >= (SQLLEN)sizeof piece;
		if (rc == SQL_SUCCESS || !more)
			return SQL_SUCCESS;
	}
}

static SQLRETURN fetch_row(struct odbc_link *l, SQLHSTMT statement, SQLSMALLINT columns,
			   struct strbuf *text)
{
	SQLRETURN rc = SQL_SUCCESS;
	for (SQLSMALLINT i = 1; i <= columns && odbc_good(rc); i++) {
		if (text && i > 1)
			strbuf_putc(text, ' ');
		rc = fetch_value(l, statement, (SQLUSMALLINT)i, text);
	}
	if (text)
		strbuf_putc(text, '\n');
	return rc;
}

SQLRETURN odbc_fetch_all(struct odbc_link *l, SQLHSTMT statement, atomic_bool *stop, uint64_t *rows,
			 struct strbuf *text)
{
	SQLSMALLINT columns = 0;
	SQLRETURN rc = l->library->SQLNumResultCols(statement, &columns);
	if (!odbc_good(rc))
		return rc;
	if (!columns)
		return SQL_NO_DATA;
	while (odbc_good(rc) && !(stop && atomic_load_explicit(stop, memory_order_relaxed))) {
		rc = l->library->SQLFetch(statement);
		if (!odbc_good(rc))
			break;
		++*rows;
		rc = fetch_row(l, statement, columns, text);
	}
	return rc;
}

int odbc_run(struct odbc_link *l, const char *sql, struct strbuf *text, struct error *err)
{
	uint64_t rows = 0;
	SQLHSTMT statement = odbc_statement(l, err);
	if (!statement)
		return -1;
	SQLRETURN rc = l->library->SQLExecDirect(statement, odbc_text(sql), SQL_NTS);
	if (odbc_good(rc))
		rc = odbc_fetch_all(l, statement, NULL, &rows, text);
	/* SQL_NO_DATA: also of a statement that changed no row */
	int failed = rc == SQL_NO_DATA ? 0 : odbc_fail(l, SQL_HANDLE_STMT, statement, "SQL", err);
	odbc_statement_free(l, statement);
	return failed;
}
