/* A connection to a database, whichever: one driver for each kind behind these functions. A driver
 * that this tare was built without, or a library that is not there, is an error that says so
 * (EXIT_ENVIRONMENT). Nothing here prints. Errors: EXIT_USAGE for what the user can mend in a URL
 * or a statement (credentials, SQL errors), EXIT_SUBJECT for a server that went away (dbms_lost()),
 * EXIT_ENVIRONMENT for the rest.
 *
 * URLs: sqlite:PATH (also a bare path that ends with .db or .sqlite; "sqlite::memory:"),
 * postgresql://..., postgres://... (all that libpq takes),
 * mariadb://user:password@host:port/database ?socket=/path (mysql:// is the same), odbc:DSN=...;...
 */
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
	bool must_exist; /* a file that is not there is not made */
	const char *const
		*settings;	 /* statements for each new connection, ended by NULL; or NULL */
	const char *driver_file; /* odbc: statements by which this DBMS is asked; or NULL */
};

int dbms_open(struct dbms **out, const char *url, const struct dbms_options *options,
	      struct error *err);
void dbms_close(struct dbms *d);

const char *
dbms_name(const struct dbms *d); /* "sqlite", "postgresql", "mariadb", or the driver file's */
/* Version as people say it ("15.14"), settings that matter for times as a JSON object; the caller
 * frees both. */
int dbms_describe(struct dbms *d, char **version, char **settings, struct error *err);

/* After an error: the connection is gone. dbms_reconnect() makes a new one, with the settings; what
 * was prepared has to be prepared again. */
bool dbms_lost(const struct dbms *d);
void dbms_disconnect(struct dbms *d);
int dbms_reconnect(struct dbms *d, struct error *err);

/* ---- tables ---- */

/* A statement of whose result nothing is wanted: DDL, SET. */
int dbms_run(struct dbms *d, const char *sql, struct error *err);
/* The first column of the first row. */
int dbms_number(struct dbms *d, const char *sql, int64_t *value, struct error *err);
int dbms_table_exists(struct dbms *d, const char *table, bool *exists, struct error *err);

/* How columns of these types are declared in this DBMS. */
enum column_kind { KIND_INTEGER, KIND_BIGINT, KIND_DECIMAL, KIND_REAL, KIND_TEXT, KIND_DATE };
const char *dbms_type(const struct dbms *d, enum column_kind kind, uint32_t length,
		      char out[64]); /* length: of texts; 0: any */

/* Fills a table as fast as this DBMS can (COPY, a transaction of prepared inserts, ...). next gives
 * the next row as texts, NULL for SQL NULL, valid until the next call; false at the end. All rows
 * or none. */
typedef bool (*dbms_row_fn)(void *context, const char **values);
int dbms_load(struct dbms *d, const char *table, size_t columns, dbms_row_fn next, void *context,
	      struct error *err);
/* Makes the optimizer's statistics (ANALYZE) of these tables new; all is on disk afterwards. */
int dbms_settle(struct dbms *d, const char *const *tables, size_t count, struct error *err);
/* Bytes that the table takes, indexes left out; 0: this DBMS does not say. */
int dbms_table_bytes(struct dbms *d, const char *table, uint64_t *bytes, struct error *err);

/* ---- a query ---- */

/* The statement that the following are about; the one before is forgotten. */
int dbms_prepare(struct dbms *d, const char *sql, struct error *err);
/* How it would be evaluated now; plan->json is the caller's to free. Its "relation"s are names for
 * dbms_table_bytes(). */
int dbms_plan(struct dbms *d, struct query_plan *plan, struct error *err);

struct dbms_execution {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC: asked, and the last row fetched */
	/* CPU time between the two of the one thread that evaluates, where it is tare's own and so
	 * can tell; 0: not known. */
	uint64_t cpu_ns;
	uint64_t rows;
	bool timed_out; /* cancelled at the limit; that is no error */
};
struct dbms_wait {
	uint64_t limit_ns; /* 0: none */
	/* Called now and then (at least every 100 ms) while waiting, in the calling thread; true:
	 * cancel, which is an error with EXIT_INTERRUPTED. NULL: never. */
	bool (*stop)(void *context);
	void *context;
};
/* Executes what was prepared and fetches all rows, keeping none. wait NULL: as long as it takes. */
int dbms_execute(struct dbms *d, const struct dbms_wait *wait, struct dbms_execution *x,
		 struct error *err);

/* Who evaluates. */
struct dbms_tasks {
	pid_t server;  /* the process all others of this server descend from; tare's own where it is
			  embedded */
	pid_t process; /* the one that evaluates */
	pid_t thread;  /* of it; 0: all of its threads do */
	bool io_by_process; /* others of its threads read for it: its I/O is that of the process */
	/* `server` forks processes that help: dbms_workers(). False where the last dbms_plan() of
	 * what is prepared has none. */
	bool makes_workers;
	bool guessed;  /* this DBMS does not tell: process is 0 */
	char name[16]; /* comm of processes of this DBMS, as "postgres"; "": not known */
};
/* Known anew after each connection. A server on another machine: EXIT_ENVIRONMENT. */
int dbms_tasks(struct dbms *d, struct dbms_tasks *into, struct error *err);
/* Processes that helped in the last execution, if dbms_tasks() was asked before it; valid until the
 * next one. */
size_t dbms_workers(const struct dbms *d, const pid_t **pids);

/* ---- empty caches ---- */

enum dbms_cold {
	DBMS_COLD_ONLINE,  /* dbms_forget() empties its own caches */
	DBMS_COLD_RESTART, /* only a new server has empty ones */
};
enum dbms_cold dbms_cold(const struct dbms *d);
int dbms_forget(struct dbms *d, struct error *err);

#endif
