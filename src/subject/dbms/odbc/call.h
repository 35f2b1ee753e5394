/* ODBC calls on one connection, with diagnostics as errors. Private to subject/dbms/. */
#ifndef TARE_SUBJECT_DBMS_ODBC_CALL_H
#define TARE_SUBJECT_DBMS_ODBC_CALL_H

#include <sql.h>
#include <sqlext.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

/* unixODBC's functions, from its library, which is loaded at its first use. */
#define ODBC_FUNCTIONS(X)    \
	X(SQLAllocHandle)    \
	X(SQLBindParameter)  \
	X(SQLCancel)         \
	X(SQLDescribeParam)  \
	X(SQLDisconnect)     \
	X(SQLDriverConnect)  \
	X(SQLEndTran)        \
	X(SQLExecDirect)     \
	X(SQLExecute)        \
	X(SQLFetch)          \
	X(SQLFreeHandle)     \
	X(SQLFreeStmt)       \
	X(SQLGetConnectAttr) \
	X(SQLGetData)        \
	X(SQLGetDiagRec)     \
	X(SQLGetInfo)        \
	X(SQLNumResultCols)  \
	X(SQLPrepare)        \
	X(SQLSetConnectAttr) \
	X(SQLSetEnvAttr)

struct odbc_library {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration */
#define ODBC_MEMBER(function) __typeof__(function) *function;
	ODBC_FUNCTIONS(ODBC_MEMBER)
#undef ODBC_MEMBER
};

static inline bool odbc_good(SQLRETURN rc)
{
	return rc == SQL_SUCCESS || rc == SQL_SUCCESS_WITH_INFO;
}

/* ODBC only reads the texts passed to it, but its types do not say so. */
static inline SQLCHAR *odbc_text(const char *text)
{
	return (SQLCHAR *)(uintptr_t)text; /* NOLINT(performance-no-int-to-ptr) */
}

/* ODBC takes the values of attributes as pointers. */
static inline SQLPOINTER odbc_value(uintptr_t value)
{
	return (SQLPOINTER)value; /* NOLINT(performance-no-int-to-ptr) */
}

struct odbc_link {
	const struct odbc_library *library;
	SQLHENV environment;
	SQLHDBC connection; /* NULL: not connected */
	bool established;   /* it was connected: an error may mean that it is lost */
	bool lost;
	bool reads_only; /* asks the driver for that */
};

int odbc_link_open(struct odbc_link *l, const char *text, struct error *err);
void odbc_link_close(struct odbc_link *l);

/* Turns the driver's diagnostics of a failed call into an error with `what` in front and an exit
 * code by its SQLSTATE. Also notes whether the connection is lost. */
int odbc_fail(struct odbc_link *l, SQLSMALLINT type, SQLHANDLE handle, const char *what,
	      struct error *err);

/* Whether a statement just failed because it was cancelled. */
bool odbc_was_cancelled(struct odbc_link *l, SQLHSTMT statement);

/* NULL on failure. */
SQLHSTMT odbc_statement(struct odbc_link *l, struct error *err);
void odbc_statement_free(struct odbc_link *l, SQLHSTMT statement);

/* Fetches every value of every row after an execution. Appends each row as a line to `text` unless
 * that is NULL (values separated by a blank, at most 1 MiB). Stops when *stop becomes true. Returns
 * the result of the last call: SQL_NO_DATA on success. */
SQLRETURN odbc_fetch_all(struct odbc_link *l, SQLHSTMT statement, atomic_bool *stop, uint64_t *rows,
			 struct strbuf *text);

/* Executes a statement and appends its rows to text unless that is NULL. */
int odbc_run(struct odbc_link *l, const char *sql, struct strbuf *text, struct error *err);

#endif
