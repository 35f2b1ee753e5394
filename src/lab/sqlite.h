/* Private to lab/. The open lab, statements, and the mapping of structs to columns. */
#ifndef TARE_LAB_SQLITE_H
#define TARE_LAB_SQLITE_H

#include <sqlite3.h>
#include <stdarg.h>

#include "base/strbuf.h"
#include "lab/lab.h"

#define LAB_APPLICATION_ID 0x74617265 /* "tare" */
#define LAB_BUSY_MS 5000	      /* that others are waited for */

/* schema/NNN.sql in order; user_version counts how many were applied. */
extern const char *const lab_schema[];
extern const int lab_schema_version;
/* What all of them make, in one. */
extern const char *const lab_schema_whole;

/* What a ledger is stored in (ledger.c). */
#define LAB_LEDGER_PARTS 6

/* What executions of queries are stored in (queries.c). */
#define LAB_QUERY_TABLES 6

struct lab {
	sqlite3 *db;
	char *path;
	enum lab_mode mode;
	bool absent, fresh; /* there was no file; it holds no lab yet */
	int failure;	    /* of SQLite, the last one told */
	/* kept prepared: an execution of a 1 ms program must not pay for parsing SQL */
	sqlite3_stmt *begin, *commit;
	sqlite3_stmt *add_execution[2]; /* and its processes */
	sqlite3_stmt *add_ledger[LAB_LEDGER_PARTS], *add_trace;
	sqlite3_stmt *queries[LAB_QUERY_TABLES], *find_query_at, *last_number;
	struct profile_store *profile; /* profile_rows.h; NULL: no slice was stored or read yet */
};

/* The last SQLite error as ours: "cannot DOING in lab PATH: ...", code and hint by its kind. */
int lab_fail(struct lab *lab, struct error *err, const char *doing);
int lab_damaged(struct lab *lab, struct error *err, const char *what);

/* All return 0, or -1 with err set. doing: what failed, for the text, as in lab_fail(). */
int lab_prepare(struct lab *lab, sqlite3_stmt **out, const char *sql, const char *doing,
		struct error *err);
/* Steps a statement that gives no rows and resets it. */
int lab_done(struct lab *lab, sqlite3_stmt *stmt, const char *doing, struct error *err);

/* What is bound to a statement, from its first parameter on: ARGS(NUM(run), TEXT(name)). Texts and
 * bytes must outlive the statement's use. */
struct arg {
	enum { ARG_END, ARG_NUMBER, ARG_ID, ARG_TEXT, ARG_BYTES } kind;
	const void *bytes;
	int64_t number; /* or how many bytes */
};
#define NUM(n)                                     \
	{                                          \
		ARG_NUMBER, .number = (int64_t)(n) \
	}
/* 0 is NULL. */
#define ID(n)                                  \
	{                                      \
		ARG_ID, .number = (int64_t)(n) \
	}
#define TEXT(text)             \
	{                      \
		ARG_TEXT, text \
	}
#define BYTES(bytes, size)             \
	{                              \
		ARG_BYTES, bytes, size \
	}
/* A name of the user's, as it is looked up; NULL for NULL. */
#define RAW(text) BYTES(text, (text) ? (int64_t)strlen(text) : 0)
#define ARGS(...) ((const struct arg[]){ __VA_ARGS__, { 0 } })
/* From parameter `at` on; returns the parameter behind them. More than there are parameters are
 * left out. */
int lab_bind(sqlite3_stmt *stmt, int at, const struct arg *args);
/* Prepares and binds; args may be NULL. */
int lab_bound(struct lab *lab, sqlite3_stmt **out, const char *sql, const struct arg *args,
	      const char *doing, struct error *err);
/* Does what gives no rows. */
int lab_change(struct lab *lab, const char *sql, const struct arg *args, const char *doing,
	       struct error *err);
/* The integer that the statement gives; 0 when there is no row, or NULL. */
int lab_number(struct lab *lab, const char *sql, const struct arg *args, int64_t *value,
	       struct error *err);

/* Whether there is one more row. A loop over it ends behind the last one, or when *result is not 0
 * (that the statement could not be prepared, too), and leaves the statement finalized. */
bool lab_row(struct lab *lab, sqlite3_stmt *stmt, const char *doing, int *result,
	     struct error *err);

int lab_begin(struct lab *lab, const char *doing, struct error *err);
int lab_commit(struct lab *lab, const char *doing, struct error *err);
void lab_rollback(struct lab *lab); /* leaves no transaction behind, whatever happened */
/* Commits unless the result is a failure, and leaves no transaction behind. 0 or -1. */
int lab_finish(struct lab *lab, int result, const char *doing, struct error *err);
/* Reads many tables as of one moment, while others may write; within a transaction there is nothing
 * to do, and *alone is false. */
int lab_begin_reading(struct lab *lab, bool *alone, struct error *err);
void lab_end_reading(struct lab *lab, bool alone);

/* Forgets what is known of stored profiles; all that is kept for them. */
void lab_forget_profile(struct lab *lab);
void lab_close_profile(struct lab *lab);

/* Stores an execution and all of its own within a transaction; fills in x->id. */
int lab_insert_execution(struct lab *lab, int64_t run, struct execution *x, struct error *err);

/* Some executions: a condition on the rows of the table execution, with one parameter. */
struct lab_some {
	const char *where;
	int64_t id;
};
/* As lab_get_executions(). */
int lab_read_some(struct lab *lab, const struct lab_some *some, enum lab_detail detail,
		  execution_list *into, struct error *err);

/* Stores the ledger and the trace of an execution, within its transaction; nothing when they are
 * not present. */
int lab_insert_ledger(struct lab *lab, int64_t execution, const struct ledger *l,
		      struct error *err);
int lab_insert_trace(struct lab *lab, int64_t execution, const struct trace *t, struct error *err);
/* A trace as the columns version, events, names, lost, data, from parameter or column `at` on. The
 * bytes bound are freed with the binding. into must be empty, and stays so on an error. */
int lab_bind_trace(struct lab *lab, sqlite3_stmt *stmt, int at, const struct trace *t,
		   const char *doing, struct error *err);
int lab_read_trace(struct lab *lab, sqlite3_stmt *stmt, int at, struct trace *into,
		   struct error *err);
/* Fills in the ledgers of these executions, as far as the detail goes. */
int lab_read_ledgers(struct lab *lab, const struct lab_some *some, enum lab_detail detail,
		     execution_list *into, struct error *err);
/* The execution with this id: rows come in the order of the list, so the search goes on from *from,
 * the last one found. NULL: another tare stored it since the list was read. */
struct execution *lab_next_execution(execution_list *list, size_t *from, int64_t id);

/* Applies every schema file to an empty database: for the views' descriptions. */
int lab_apply_schema(sqlite3 *db, int from_version);

/* "SELECT ... FROM run" and the rest of the statement, for lab_read_run(). */
int lab_select_runs(struct lab *lab, sqlite3_stmt **out, const struct arg *args, const char *rest,
		    struct error *err);
int lab_read_run(struct lab *lab, sqlite3_stmt *stmt, struct run *run, struct error *err);

/* Who makes a run or a watch: the columns, this process bound to them (at is moved on), and whether
 * the one in the columns from `at` on is no more. */
#define LAB_OWNER "owner_pid, owner_start, owner_boot, owner_space"
void lab_bind_owner(sqlite3_stmt *stmt, int *at);
bool lab_owner_gone(sqlite3_stmt *stmt, int at);
/* The same as a function in SQL: owner_gone(LAB_OWNER). */
void lab_add_owner_gone(struct lab *lab);
/* Sets runs and watches that say going but whose owner is gone to interrupted, as far as it may
 * write. */
void lab_mark_abandoned(struct lab *lab);

/* Pages once used stay in the file to be used again, until most of it is such: then it shrinks. */
void lab_give_space_back(struct lab *lab);

/* Columns of a struct by its table of fields (record/field.h), so that writing and reading cannot
 * disagree. Appends
 * ", "-separated column names: all of them for writing; without *_text for reading. */
void fields_columns(const struct field *fields, bool writing, struct strbuf *out);
/* From parameter or column *at on, which is moved on. Text is bound until the statement is reset
 * or bound again. fields_read: -1 when a value is out of its range. */
void fields_bind(sqlite3_stmt *stmt, int *at, const struct field *fields, const void *object);
int fields_read(sqlite3_stmt *stmt, int *at, const struct field *fields, void *object);

/* An ARRAY of whatever type: its items as bytes, and one more item, zeroed. */
typedef ARRAY(char) byte_list;
void *lab_list_add(void *list, size_t size);

/* A table to which a newer tare may add columns, by rows of the catalogue, and the view that shows
 * them. */
struct lab_growing {
	const char *table, *view;
	char alias; /* of the table in the view */
	const struct field *fields;
};
enum { LAB_EXECUTION, LAB_PROCESS, LAB_QUERY_EXECUTION, LAB_GROWING };
extern const struct lab_growing lab_growing[LAB_GROWING];
/* Adds the columns that the catalogue has and a table or view lacks. */
int lab_grow(sqlite3 *db);
bool lab_lacks_columns(sqlite3 *db);
/* lab_select() of a growing table: NULL for the columns that a lab lacks which was opened for
 * reading. */
int lab_select_growing(struct lab *lab, sqlite3_stmt **out, int growing, const struct arg *args,
		       struct error *err, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* A table of which a row is a struct by its fields, and behind these further columns. */
struct lab_table {
	const char *name;
	const struct field *fields;
	const char *more;  /* the columns behind: "run, position" */
	const char *there; /* what to do when the row is there already; NULL: that is an error */
};
/* Prepares an insert of each: the columns of the fields, then `more`. */
int lab_prepare_inserts(struct lab *lab, const struct lab_table *tables, int count,
			sqlite3_stmt **out, const char *doing, struct error *err);
/* Prepares "SELECT", the columns of the fields, and then what the format makes, which may begin
 * with a comma and further columns; binds args. */
int lab_select(struct lab *lab, sqlite3_stmt **out, const struct field *fields,
	       const struct arg *args, struct error *err, const char *format, ...)
	__attribute__((format(printf, 6, 7)));
int lab_vselect(struct lab *lab, sqlite3_stmt **out, const char *columns, const struct arg *args,
		struct error *err, const char *format, va_list ap)
	__attribute__((format(printf, 6, 0)));

/* The bytes as blob and, where they are not UTF-8, the repaired text; NULLs for NULL. */
void raw_bind(sqlite3_stmt *stmt, int *at, const char *bytes);
char *raw_read(sqlite3_stmt *stmt, int column); /* NULL for NULL; the caller frees */

/* The run must be there and of this kind, which the text says of it otherwise: "is not ...". */
int lab_need_kind(struct lab *lab, int64_t run, enum subject_kind kind, const char *otherwise,
		  struct error *err);

#endif
