/* A connection to a database of any kind, with one driver per kind. Nothing here prints. Errors are
 * EXIT_USAGE for what the user can fix in a URL or a statement (credentials, SQL errors),
 * EXIT_SUBJECT for a server that went away (dbms_lost()), and EXIT_ENVIRONMENT for the rest, such
 * as a driver that this build lacks or a missing library.
 *
 * URLs: sqlite:PATH (also a bare path that ends with .db or .sqlite; "sqlite::memory:"),
 * postgresql://..., postgres://... (all that libpq takes),
 * mariadb://user:password@host:port/database?socket=/path (mysql:// is the same),
 * odbc:DSN=...;... */
#ifndef TARE_SUBJECT_DBMS_DBMS_H
#define TARE_SUBJECT_DBMS_DBMS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"
#include "base/error.h"
#include "base/options.h"
#include "record/query.h"

struct dbms;

struct dbms_options {
	/* Do not create a missing file. The caller makes no tables either, so that the whole
	 * connection is read-only if prepared statements are. */
	bool must_exist;
	const char *const
		*settings;	 /* statements for each new connection, ends with NULL; or NULL */
	const char *driver_file; /* odbc: the statements for this DBMS; or NULL */
	/* What prepared statements may do: nothing but read (the default), or write what is rolled
	 * back or committed. */
	enum query_transaction transaction;
};

int dbms_open(struct dbms **out, const char *url, const struct dbms_options *options,
	      struct error *err);
void dbms_close(struct dbms *d);

const char *
dbms_name(const struct dbms *d); /* "sqlite", "postgresql", "mariadb", or the driver file's */
/* The version for people ("15.14"), and settings that affect times as JSON. The caller frees
 * both. */
int dbms_describe(struct dbms *d, char **version, char **settings, struct error *err);

/* After an error: whether the connection is gone. dbms_reconnect() makes a new one with the
 * settings; statements must be prepared again. */
bool dbms_lost(const struct dbms *d);
void dbms_disconnect(struct dbms *d);
int dbms_reconnect(struct dbms *d, struct error *err);

/* ---- tables ---- */

/* A statement whose result is not needed: DDL, SET. */
int dbms_run(struct dbms *d, const char *sql, struct error *err);
/* The first column of the first row. */
int dbms_number(struct dbms *d, const char *sql, int64_t *value, struct error *err);
int dbms_table_exists(struct dbms *d, const char *table, bool *exists, struct error *err);

/* How this DBMS declares columns of these types. */
enum column_kind { KIND_INTEGER, KIND_BIGINT, KIND_DECIMAL, KIND_REAL, KIND_TEXT, KIND_DATE };
const char *dbms_type(const struct dbms *d, enum column_kind kind, uint32_t length,
		      char out[64]); /* length: of texts; 0: any */

/* Fills a table as fast as this DBMS can (COPY, a transaction of prepared inserts, ...). next gives
 * the next row as texts (NULL for SQL NULL), valid until the next call, and returns false at the
 * end. Either all rows are stored or none. */
typedef bool (*dbms_row_fn)(void *context, const char **values);
int dbms_load(struct dbms *d, const char *table, size_t columns, dbms_row_fn next, void *context,
	      struct error *err);
/* Updates the optimizer's statistics of these tables (ANALYZE) and puts everything on disk. */
int dbms_settle(struct dbms *d, const char *const *tables, size_t count, struct error *err);
/* The bytes that the table takes, without indexes; 0: this DBMS does not report it. */
int dbms_table_bytes(struct dbms *d, const char *table, uint64_t *bytes, struct error *err);

/* ---- a query ---- */

/* Prepares the statement for the functions below, in place of the one before. */
int dbms_prepare(struct dbms *d, const char *sql, struct error *err);
/* How it would be evaluated now. The caller frees plan->json. Each "relation" in it is a name for
 * dbms_table_bytes(). */
int dbms_plan(struct dbms *d, struct query_plan *plan, struct error *err);

struct dbms_execution {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC: query sent, and last row fetched */
	/* CPU time of the evaluating thread between the two, if it is tare's own; 0: unknown. */
	uint64_t cpu_ns;
	uint64_t rows;
	bool timed_out; /* cancelled at the limit, which is not an error */
};
struct dbms_wait {
	uint64_t limit_ns; /* 0: none */
	/* Called at least every 100 ms while waiting, in the calling thread. True cancels the
	 * query, which is an error with EXIT_INTERRUPTED. NULL: never. */
	bool (*stop)(void *context);
	void *context;
	/* dbms_ended() comes afterwards, or nobody asks which helper processes there were: do not
	 * look for them. */
	bool ends_are_told;
};
/* Begins the transaction of an execution, and ends it in the way that the options say. Both are
 * outside of the execution's time. dbms_end() also comes after an execution that failed. It says
 * what became of the transaction, and fails if that is not what was asked for. */
int dbms_begin(struct dbms *d, struct error *err);
int dbms_end(struct dbms *d, enum query_transaction *how, struct error *err);
/* A sentence on what protects data if the DBMS itself does not promise to; NULL: it does. */
const char *dbms_caution(const struct dbms *d);

/* A long statement of tare's own, which may write: in place of the prepared one, executed as that
 * is, so that it can be cancelled. */
int dbms_run_long(struct dbms *d, const char *sql, const struct dbms_wait *wait, struct error *err);

/* Executes the prepared statement and fetches all rows, keeping none. wait NULL: no limit. Without
 * dbms_begin(), it does that, too, and dbms_end() afterwards. */
int dbms_execute(struct dbms *d, const struct dbms_wait *wait, struct dbms_execution *x,
		 struct error *err);

/* The tasks that evaluate queries. */
struct dbms_tasks {
	pid_t server;	    /* the ancestor of the server's processes; tare's own if embedded */
	pid_t process;	    /* the one that evaluates */
	pid_t thread;	    /* of that process; 0: all its threads */
	bool io_by_process; /* its I/O is that of the process, as other threads read for it */
	/* `server` forks helper processes: dbms_workers(). False if the last dbms_plan() of the
	 * prepared statement has none. */
	bool makes_workers;
	int64_t workers_planned; /* by that plan; -1: unknown */
	bool guessed;		 /* this DBMS does not report it: process is 0 */
	char name[16]; /* comm of this DBMS's processes, such as "postgres"; "": unknown */
};
/* It may change with each connection. EXIT_ENVIRONMENT: the server is on another machine. */
int dbms_tasks(struct dbms *d, struct dbms_tasks *into, struct error *err);
/* Tells of all processes that `server` forked and that ended during the last execution. */
struct dbms_end {
	pid_t pid;
	const char *title; /* its command line at the end; NULL: unknown */
};
void dbms_ended(struct dbms *d, const struct dbms_end *ends, size_t count);
/* Helper processes of the last execution, if dbms_tasks() came before it; valid until the next. */
size_t dbms_workers(const struct dbms *d, const pid_t **pids);
/* Processes of the server that read for this connection, and for others; by the last dbms_tasks().
 */
size_t dbms_readers(const struct dbms *d, const pid_t **pids);

/* ---- empty caches ---- */

enum dbms_cold {
	DBMS_COLD_ONLINE,  /* dbms_forget() empties the server's own caches */
	DBMS_COLD_RESTART, /* only a restarted server has empty caches */
};
enum dbms_cold dbms_cold(const struct dbms *d);
int dbms_forget(struct dbms *d, struct error *err);

#endif
