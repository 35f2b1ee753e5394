/* The client library of MariaDB, which speaks to MySQL's servers as well, loaded when a connection
 * is wanted. MySQL's own library will not do: it cannot go on waiting elsewhere (the functions
 * ending with _start and _cont). Private to subject/dbms/. */
#ifndef TARE_SUBJECT_DBMS_MARIADB_LIBRARY_H
#define TARE_SUBJECT_DBMS_MARIADB_LIBRARY_H

#include <mysql.h>

#include "base/error.h"

#define MARIADB_FUNCTIONS(X)        \
	X(mysql_init)               \
	X(mysql_options)            \
	X(mysql_real_connect)       \
	X(mysql_close)              \
	X(mysql_errno)              \
	X(mysql_error)              \
	X(mysql_thread_id)          \
	X(mysql_get_socket)         \
	X(mysql_select_db)          \
	X(mysql_real_escape_string) \
	X(mysql_real_query)         \
	X(mysql_real_query_start)   \
	X(mysql_real_query_cont)    \
	X(mysql_store_result)       \
	X(mysql_use_result)         \
	X(mysql_free_result)        \
	X(mysql_num_fields)         \
	X(mysql_fetch_row)          \
	X(mysql_fetch_row_start)    \
	X(mysql_fetch_row_cont)     \
	X(mysql_next_result)        \
	X(mysql_next_result_start)  \
	X(mysql_next_result_cont)   \
	X(mysql_warning_count)

struct mariadb_library {
#define MEMBER(name) __typeof__(name) *(name);
	MARIADB_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* Loaded once and never given back; NULL with EXIT_ENVIRONMENT. */
const struct mariadb_library *mariadb_library(struct error *err);

#endif
