/* Shared by the parts of the driver for MariaDB and MySQL: mariadb.c connects and sends statements,
 * execute.c handles the query, and tables.c handles tables and the pool. */
#ifndef TARE_SUBJECT_DBMS_MARIADB_PRIVATE_H
#define TARE_SUBJECT_DBMS_MARIADB_PRIVATE_H

#include <mysql.h>

#include "base/strbuf.h"
#include "subject/dbms/driver.h"
#include "subject/dbms/mariadb/url.h"

/* The client library of MariaDB, which also works with MySQL servers, loaded for the first
 * connection. MySQL's own library lacks the non-blocking functions (_start and _cont). */
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
	X(mysql_stmt_init)          \
	X(mysql_stmt_prepare)       \
	X(mysql_stmt_field_count)   \
	X(mysql_stmt_close)         \
	X(mysql_warning_count)

struct mariadb_library {
#define MEMBER(name) __typeof__(name) *(name);
	MARIADB_FUNCTIONS(MEMBER)
#undef MEMBER
};

struct mariadb {
	const struct mariadb_library *lib;
	struct mariadb_url url;
	MYSQL *link;	    /* NULL: not connected */
	bool lost;	    /* the connection is useless */
	bool reads_only;    /* prepared statements must not write */
	bool whole_reads;   /* nor anything else on this connection */
	bool was_connected; /* earlier, so a missing server has gone away */
	char *sql;	    /* prepared; NULL: nothing */
	char *written; /* the optimizer's text of it, with the names of tables; NULL: unknown */
};

/* A separate connection, or NULL. database NULL: none is selected. */
MYSQL *mariadb_link(struct mariadb *m, const char *database, struct error *err);
/* Fails if there is no connection. */
int mariadb_need_link(struct mariadb *m, struct error *err);
/* Turns the last failure of the connection into an error, and marks a lost connection. */
int mariadb_failed(struct mariadb *m, struct error *err);
/* Whether this is the server's last error code; 0: no error. */
bool mariadb_said(const struct mariadb *m, unsigned code);

/* A small result, kept completely; the caller frees it. A statement without one is an error. */
int mariadb_ask(struct mariadb *m, const char *sql, MYSQL_RES **result, struct error *err);
/* The first column of the first row. The caller frees it. NULL becomes "". */
int mariadb_text(struct mariadb *m, const char *sql, char **text, struct error *err);
int mariadb_run(void *state, const char *sql, struct error *err);
int mariadb_number(void *state, const char *sql, int64_t *value, struct error *err);

/* `name`, and 'text' quoted for this connection. */
void mariadb_put_name(struct strbuf *sql, const char *name);
void mariadb_put_text(struct mariadb *m, struct strbuf *sql, const char *text);

int mariadb_prepare(void *state, const char *sql, struct error *err);
int mariadb_plan(void *state, struct query_plan *plan, struct error *err);
int mariadb_execute(void *state, const struct dbms_wait *wait, struct dbms_execution *x,
		    struct error *err);

int mariadb_table_exists(void *state, const char *table, bool *exists, struct error *err);
const char *mariadb_type(const void *state, enum column_kind kind, uint32_t length, char out[64]);
int mariadb_load(void *state, const char *table, size_t columns, dbms_row_fn next, void *context,
		 struct error *err);
int mariadb_settle(void *state, const char *const *tables, size_t count, struct error *err);
int mariadb_table_bytes(void *state, const char *table, uint64_t *bytes, struct error *err);
int mariadb_forget(void *state, struct error *err);

#endif
