/* What the parts of the driver for MariaDB and MySQL share: mariadb.c connects and asks,
 * execute.c is about the query, tables.c about tables and the pool,
 * tasks.c about who evaluates. */
#ifndef TARE_SUBJECT_DBMS_MARIADB_PRIVATE_H
#define TARE_SUBJECT_DBMS_MARIADB_PRIVATE_H

#include <mysql.h>

#include "base/strbuf.h"
#include "subject/dbms/driver.h"
#include "subject/dbms/mariadb/url.h"

/* The client library of MariaDB, which speaks to MySQL's servers as well, loaded when a connection
 * is wanted. MySQL's own library will not do: it cannot go on waiting elsewhere (the functions
 * ending with _start and _cont). */
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

struct mariadb {
	const struct mariadb_library *lib;
	struct mariadb_url url;
	MYSQL *link;	    /* NULL: not connected */
	bool lost;	    /* it is of no use any more */
	bool was_connected; /* once: a server that is not there has gone away */
	char *sql;	    /* prepared; NULL: nothing */
	char *written; /* it, as the optimizer has it: with the names of tables; NULL: not told */
};

/* A connection of its own, or NULL. database NULL: none is chosen. */
MYSQL *mariadb_link(struct mariadb *m, const char *database, struct error *err);
/* 0, or -1 and an error: there is none. */
int mariadb_need_link(struct mariadb *m, struct error *err);
/* What just failed on the connection, as an error; marks it as lost where it is. */
int mariadb_failed(struct mariadb *m, struct error *err);
/* Whether this is what the server answered last; 0: no error. */
bool mariadb_said(const struct mariadb *m, unsigned code);

/* A result that is kept whole, for small ones; the caller frees it. A statement without one: an
 * error. */
int mariadb_ask(struct mariadb *m, const char *sql, MYSQL_RES **result, struct error *err);
/* The first column of the first row; the caller frees. NULL in it is "". */
int mariadb_text(struct mariadb *m, const char *sql, char **text, struct error *err);
int mariadb_run(void *state, const char *sql, struct error *err);
int mariadb_number(void *state, const char *sql, int64_t *value, struct error *err);

/* `name`, and 'text' as this connection wants it. */
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

int mariadb_describe(void *state, char **version, char **settings, struct error *err);
int mariadb_tasks(void *state, struct dbms_tasks *into, struct error *err);

#endif
