/* The open lab, statements, and the mapping of structs to columns. Private to lab/. */
#ifndef TARE_LAB_SQLITE_H
#define TARE_LAB_SQLITE_H

#include <sqlite3.h>
#include <stdarg.h>

#include "base/strbuf.h"
#include "lab/lab.h"

#define LAB_APPLICATION_ID 0x74617265 /* "tare" */
#define LAB_BUSY_MS (int)(LAB_PATIENCE_NS / 1000000)

/* schema/NNN.sql in order; user_version counts how many were applied. */
extern const char *const lab_schema[];
extern const int lab_schema_version;
/* The complete schema in one script. */
extern const char *const lab_schema_whole;

/* How many tables a ledger takes (ledger.c). */
#define LAB_EXECUTION_TABLES 3
#define LAB_LEDGER_PARTS 6

/* How many tables executions of queries take (queries.c). */
#define LAB_QUERY_TABLES 6
/* How many tables a duet takes (duets.c). */
#define LAB_DUET_TABLES 4

struct lab {
	sqlite3 *db;
	char *path;
	enum lab_mode mode;
	bool absent, fresh; /* there was no file; it contains no lab yet */
	int failure;	    /* the last SQLite error that was reported; SQLITE_FULL: no room */
	int patience_ms;    /* how long a statement waits for other writers */
	bool syncs;	    /* PRAGMA synchronous is FULL, which is its default */
	uint64_t synced_ns; /* when a commit last waited for the disk */
	char stranger[100]; /* something in the file that is not tare's; "": none */
	int64_t steps;	    /* of the statement at work, in lab_distrust()'s unit */
	bool unlimited;	    /* the user's own statement may take as long as it takes */
	/* kept prepared: an execution of a 1 ms program must not pay for parsing SQL */
	sqlite3_stmt *begin, *commit;
	sqlite3_stmt *add_execution[LAB_EXECUTION_TABLES]; /* its processes and counters */
	sqlite3_stmt *add_ledger[LAB_LEDGER_PARTS], *add_trace;
	sqlite3_stmt *queries[LAB_QUERY_TABLES], *find_query_at, *last_number;
	sqlite3_stmt *duets[LAB_DUET_TABLES];
	struct profile_store *profile; /* profile_rows.h; NULL: no slice was stored or read yet */
};

/* trust.c: bounds what a file may cost and do; to be called before its first statement. Fails if it
 * has anything that is not tare's, unless that can be ignored because it is only read. */
void lab_distrust(struct lab *lab);
int lab_check_schema(struct lab *lab, struct error *err);
/* Whether it took more to get here than a file of this size can have. */
bool lab_has_too_many_rows(struct lab *lab, sqlite3_stmt *stmt);
/* Bytes in the file that SQLite keeps beside the lab, -1 if there is none. */
int64_t lab_beside_size(const struct lab *lab, const char *suffix);

/* Turns the last SQLite error into ours: "cannot DOING in lab PATH: ...", with code and hint. */
int lab_fail(struct lab *lab, struct error *err, const char *doing);
int lab_damaged(struct lab *lab, struct error *err, const char *what);

/* All return 0, or -1 with err set. doing names what failed, as in lab_fail(). */
int lab_prepare(struct lab *lab, sqlite3_stmt **out, const char *sql, const char *doing,
		struct error *err);
/* Runs a statement that returns no rows, and resets it. */
int lab_done(struct lab *lab, sqlite3_stmt *stmt, const char *doing, struct error *err);

/* Values to bind to a statement, from its first parameter on: ARGS(NUM(run), TEXT(name)). Texts and
 * bytes must live as long as the statement uses them. */
struct arg {
	enum { ARG_END, ARG_NUMBER, ARG_ID, ARG_TEXT, ARG_BYTES } kind;
	const void *bytes;
	int64_t number; /* or the number of bytes */
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
/* A name from the user, for looking it up; NULL for NULL. */
#define RAW(text) BYTES(text, (text) ? (int64_t)strlen(text) : 0)
#define ARGS(...) ((const struct arg[]){ __VA_ARGS__, { 0 } })
/* Binds from parameter `at` on and returns the parameter after them. Surplus args are ignored. */
int lab_bind(sqlite3_stmt *stmt, int at, const struct arg *args);
/* Prepares and binds; args may be NULL. */
int lab_bound(struct lab *lab, sqlite3_stmt **out, const char *sql, const struct arg *args,
	      const char *doing, struct error *err);
/* Runs a statement that returns no rows. */
int lab_change(struct lab *lab, const char *sql, const struct arg *args, const char *doing,
	       struct error *err);
/* The integer that the statement returns; 0 if there is no row, or for NULL. */
int lab_number(struct lab *lab, const char *sql, const struct arg *args, int64_t *value,
	       struct error *err);

/* Whether there is another row. A loop ends after the last row or when *result is not 0, which
 * includes that the statement could not be prepared. The statement is then finalized. */
bool lab_row(struct lab *lab, sqlite3_stmt *stmt, const char *doing, int *result,
	     struct error *err);

/* What is committed is on the disk. */
int lab_begin(struct lab *lab, const char *doing, struct error *err);
/* For what comes many times a second: the disk is waited for once in LAB_SYNC_NS, and by the next
 * lab_begin(). Decision 042 has the cost of either. */
#define LAB_SYNC_NS 1000000000u
int lab_begin_often(struct lab *lab, const char *doing, struct error *err);
int lab_commit(struct lab *lab, const char *doing, struct error *err);
void lab_rollback(struct lab *lab); /* leaves no open transaction in any case */
/* Commits unless the result is a failure, and leaves no transaction open. Returns 0 or -1. */
int lab_finish(struct lab *lab, int result, const char *doing, struct error *err);
/* Reads many tables as of one moment while others may write. Inside a transaction it does nothing,
 * and *alone is false. */
int lab_begin_reading(struct lab *lab, bool *alone, struct error *err);
void lab_end_reading(struct lab *lab, bool alone);

/* The first drops the cache of stored profiles; the second releases everything kept for them. */
void lab_forget_profile(struct lab *lab);
void lab_close_profile(struct lab *lab);

/* Stores an execution and all its parts within a transaction, and fills in x->id. */
int lab_insert_execution(struct lab *lab, int64_t run, struct execution *x, struct error *err);

/* Selects executions: a condition on the rows of the table execution, with one parameter. */
struct lab_some {
	const char *where;
	int64_t id;
};
/* Like lab_get_executions(), for some executions. */
int lab_read_some(struct lab *lab, const struct lab_some *some, enum lab_detail detail,
		  execution_list *into, struct error *err);

/* Stores the ledger or trace of an execution, if present, within its transaction. */
int lab_insert_ledger(struct lab *lab, int64_t execution, const struct ledger *l,
		      struct error *err);
int lab_insert_trace(struct lab *lab, int64_t execution, const struct trace *t, struct error *err);
/* A trace as the columns version, events, names, lost, data, from parameter or column `at` on. The
 * bound bytes are freed with the binding. into must be empty, and stays empty on an error. */
int lab_bind_trace(struct lab *lab, sqlite3_stmt *stmt, int at, const struct trace *t,
		   const char *doing, struct error *err);
int lab_read_trace(struct lab *lab, sqlite3_stmt *stmt, int at, struct trace *into,
		   struct error *err);
/* Fills in the ledgers of these executions up to the given detail. */
int lab_read_ledgers(struct lab *lab, const struct lab_some *some, enum lab_detail detail,
		     execution_list *into, struct error *err);
/* The execution with this id. Rows come in the order of the list, so the search continues from
 * *from, the last one found. NULL: another tare stored it after the list was read. */
struct execution *lab_next_execution(execution_list *list, size_t *from, int64_t id);

/* Applies the schema files after from_version; 0: the database is empty. */
int lab_apply_schema(sqlite3 *db, int from_version);

/* Prepares "SELECT ... FROM run" and the rest of the statement, for lab_read_run(). */
int lab_select_runs(struct lab *lab, sqlite3_stmt **out, const struct arg *args, const char *rest,
		    struct error *err);
int lab_read_run(struct lab *lab, sqlite3_stmt *stmt, struct run *run, struct error *err);

/* The owner of a run or a watch: its columns, binding this process to them (which advances at), and
 * whether the owner in the columns from `at` on is gone. */
#define LAB_OWNER "owner_pid, owner_start, owner_boot, owner_space"
void lab_bind_owner(sqlite3_stmt *stmt, int *at);
bool lab_owner_gone(sqlite3_stmt *stmt, int at);
/* Adds lab_owner_gone() to SQL as owner_gone(LAB_OWNER). */
void lab_add_owner_gone(struct lab *lab);
/* Marks runs and watches as interrupted if they are going but their owner is gone. It does nothing
 * if it may not write. */
void lab_mark_abandoned(struct lab *lab);

/* Shrinks the file if most of its pages are unused, in steps that let others write between them.
 * Otherwise they stay, to be used again; so do those of a large lab of an older tare, which could
 * only be rewritten as a whole. */
void lab_give_space_back(struct lab *lab);
/* On a full disk: removes a little of the run in place, so that the rest can be removed with a
 * journal. False: nothing is left to remove so, or others have the lab open. */
bool lab_make_room(struct lab *lab, int64_t run);
/* Between these two the lab is changed in place, with the journal, for which the disk has no room,
 * in memory: whoever is killed in the middle of that damages it. The lab is this process's alone
 * from then on. False: others have it open. */
bool lab_begin_in_place(struct lab *lab);
void lab_end_in_place(struct lab *lab);

/* Maps a struct to columns by its table of fields (record/field.h), so that writing and reading
 * cannot disagree. Appends column names separated by ", ": all of them for writing, without *_text
 * for reading. */
void fields_columns(const struct field *fields, bool writing, struct strbuf *out);
/* From parameter or column *at on, which they advance. Text is bound until the statement is reset
 * or bound again. fields_read() returns -1 if a value is out of range. */
void fields_bind(sqlite3_stmt *stmt, int *at, const struct field *fields, const void *object);
int fields_read(sqlite3_stmt *stmt, int *at, const struct field *fields, void *object);

/* Appends a zeroed item of `size` bytes to an ARRAY of any type. */
typedef ARRAY(char) byte_list;
void *lab_list_add(void *list, size_t size);

/* A table to which a newer tare may add columns of the catalogue, and its view. */
struct lab_growing {
	const char *table, *view;
	char alias; /* of the table in the view */
	const struct field *fields;
};
enum { LAB_EXECUTION, LAB_PROCESS, LAB_QUERY_EXECUTION, LAB_DUET_PART, LAB_PROFILE, LAB_GROWING };
extern const struct lab_growing lab_growing[LAB_GROWING];
/* The oldest version whose names are repaired. */
#define LAB_UTF8_FROM 10
/* The oldest version that can be read as it is. */
#define LAB_READABLE_FROM 7
/* For a reader of an older lab, which must not change it: gives the connection the tables that
 * later versions added, empty, and their views, as temporary ones. A view that the lab has already
 * stays as it is: a later one may need columns that the lab's tables lack. */
int lab_stand_in(sqlite3 *db, int version);
/* Adds the columns of the catalogue that a table or view lacks. */
int lab_grow(sqlite3 *db);
bool lab_lacks_columns(sqlite3 *db);
/* lab_select() for a growing table. Columns that an older, read-only lab lacks are NULL. */
int lab_select_growing(struct lab *lab, sqlite3_stmt **out, int growing, const struct arg *args,
		       struct error *err, const char *format, ...)
	__attribute__((format(printf, 6, 7)));
/* The same for any table. */
int lab_select_there(struct lab *lab, sqlite3_stmt **out, const char *table,
		     const struct field *fields, const struct arg *args, struct error *err,
		     const char *format, ...) __attribute__((format(printf, 7, 8)));

/* A table whose rows are structs by their fields, followed by more columns. */
struct lab_table {
	const char *name;
	const struct field *fields;
	const char *more;  /* the columns after the fields: "run, position" */
	const char *there; /* what to do if the row already exists; NULL: that is an error */
};
/* Prepares an insert for each table: the columns of the fields, then `more`. */
int lab_prepare_inserts(struct lab *lab, const struct lab_table *tables, int count,
			sqlite3_stmt **out, const char *doing, struct error *err);
/* Prepares "SELECT", the columns of the fields and the formatted text, which may begin with a comma
 * and more columns. Binds args. */
int lab_select(struct lab *lab, sqlite3_stmt **out, const struct field *fields,
	       const struct arg *args, struct error *err, const char *format, ...)
	__attribute__((format(printf, 6, 7)));
int lab_vselect(struct lab *lab, sqlite3_stmt **out, const char *columns, const struct arg *args,
		struct error *err, const char *format, va_list ap)
	__attribute__((format(printf, 6, 0)));

/* A name of any bytes as UTF-8 (fields.c says how), since other programs cannot read a text that is
 * none. The bound one must live as long as the statement uses it; NULL for NULL. */
void name_bind(sqlite3_stmt *stmt, int at, const char *name, size_t length);
void name_read(sqlite3_stmt *stmt, int column, char *name, size_t size);
/* Stores the texts of an older lab so. */
int lab_repair_names(sqlite3 *db);
/* Binds the bytes as a blob and, if they are not UTF-8, the repaired text; NULLs for NULL. */
void raw_bind(sqlite3_stmt *stmt, int *at, const char *bytes);
char *raw_read(sqlite3_stmt *stmt, int column); /* NULL for NULL; the caller frees it */

/* Fails unless the run exists and has this kind. otherwise: what the error says, "is not ...". */
int lab_need_kind(struct lab *lab, int64_t run, enum subject_kind kind, const char *otherwise,
		  struct error *err);

#endif
