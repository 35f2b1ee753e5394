/* unixODBC's functions, from its library, which is loaded when first asked for. Private to
 * subject/dbms/. */
#ifndef TARE_SUBJECT_DBMS_ODBC_LIBRARY_H
#define TARE_SUBJECT_DBMS_ODBC_LIBRARY_H

#include <sql.h>
#include <sqlext.h>

#include "base/error.h"

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

/* NULL: it cannot be loaded (EXIT_ENVIRONMENT). It stays loaded. */
const struct odbc_library *odbc_library(struct error *err);

#endif
