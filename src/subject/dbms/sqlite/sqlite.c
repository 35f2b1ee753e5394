/* SQLite runs inside this process. A query runs in a thread of its own, so that what it uses is
 * that thread's; all else (tables, plans) runs in the caller's. Never do two use the connection at
 * once, but for sqlite3_interrupt(), which may. */
#include <fcntl.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/invoker.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "subject/dbms/driver.h"
#include "subject/dbms/plan.h"
#include "subject/dbms/sqlite/alias.h"
#include "subject/dbms/worker.h"

#define COMMIT_EXECUTES "--commit executes what cannot be rolled back"
#define BUSY_MS 5000 /* others may hold its lock for so long */

struct sqlite {
	char *path;
	char **settings; /* dbms_forget() connects anew; ended by NULL */
	bool must_exist;
	enum query_transaction transaction; /* what the statement may do */
	bool guarded;			    /* what is prepared now is not tare's own */
	bool setting;			    /* it is a setting, which must not write */
	bool temporary;			    /* the setting writes, to temporary objects only */
	bool leaves_log; /* closing the connection leaves a log that was not there before */
	sqlite3 *db;
	sqlite3_stmt *statement;
	char *sql; /* of the statement */
	struct worker *worker;
};

/* ---- errors ---- */

static enum exit_code code_of(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_FULL:
	case SQLITE_IOERR:
	case SQLITE_CORRUPT:
	case SQLITE_NOMEM:
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL:
	case SQLITE_INTERNAL:
		return EXIT_ENVIRONMENT;
	default:
		return EXIT_USAGE;
	}
}

static int fail(const struct sqlite *s, const char *what, struct error *err)
{
	char shown[600];
	int rc = sqlite3_extended_errcode(s->db);
	text_display(sqlite3_errmsg(s->db), shown, sizeof shown);
	/* SQLite names neither the file, which may be the journal, nor the reason */
	int number = sqlite3_system_errno(s->db);
	if (number && strcmp(sqlite3_errmsg(s->db), sqlite3_errstr(SQLITE_CANTOPEN)) == 0) {
		text_display(s->path, shown, sizeof shown);
		return error_set(err, EXIT_ENVIRONMENT, "%s: cannot open %s or its journal: %s",
				 what, shown, strerror(number));
	}
	error_set(err, code_of(rc), "%s: %s", what, shown);
	if ((rc & 0xff) == SQLITE_BUSY)
		return error_hint(err, "another process writes to %s", s->path);
	return -1;
}

/* ---- statements of ours ---- */

static int run(void *state, const char *sql, struct error *err)
{
	struct sqlite *s = state;
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) ? fail(s, "SQLite", err) : 0;
}

static void end_statement(sqlite3_stmt **statement)
{
	sqlite3_finalize(*statement);
}

/* Its first row; *row is false where there is none. The caller finalizes, also after -1. */
static int first_row(struct sqlite *s, sqlite3_stmt **statement, bool *row, const char *sql,
		     const char *argument, struct error *err)
{
	*statement = NULL;
	if (sqlite3_prepare_v2(s->db, sql, -1, statement, NULL))
		return fail(s, "SQLite", err);
	if (argument)
		sqlite3_bind_text(*statement, 1, argument, -1, SQLITE_STATIC);
	int rc = sqlite3_step(*statement);
	*row = rc == SQLITE_ROW;
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : fail(s, "SQLite", err);
}

static int number(void *state, const char *sql, int64_t *value, struct error *err)
{
	SCOPED(end_statement) sqlite3_stmt *statement = NULL;
	bool row;
	if (first_row(state, &statement, &row, sql, NULL, err))
		return -1;
	if (!row || sqlite3_column_type(statement, 0) == SQLITE_NULL)
		return error_set(err, EXIT_USAGE, "'%.200s' gives no number", sql);
	*value = sqlite3_column_int64(statement, 0);
	return 0;
}

/* The name of a table (or view) as it was created; NULL: there is none of this name. */
static int find_table(struct sqlite *s, const char *name, char **found, struct error *err)
{
	SCOPED(end_statement) sqlite3_stmt *statement = NULL;
	bool row;
	int failed = first_row(s, &statement, &row,
			       "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND "
			       "name = ? COLLATE NOCASE",
			       name, err);
	*found = !failed && row ? xstrdup((const char *)sqlite3_column_text(statement, 0)) : NULL;
	return failed;
}

static char *quoted(const char *before, const char *name, const char *after)
{
	struct strbuf sql = { 0 };
	strbuf_printf(&sql, "%s\"", before);
	for (; *name; name++) {
		if (*name == '"')
			strbuf_putc(&sql, '"');
		strbuf_putc(&sql, *name);
	}
	strbuf_printf(&sql, "\"%s", after);
	return strbuf_detach(&sql);
}

/* ---- the transaction around a query ---- */

/* PRAGMAs that only tell something, also with an argument. */
static bool only_tells(const char *pragma, const char *argument)
{
	static const char *const telling[] = {
		"table_info",	   "table_xinfo",	"table_list",	    "index_list",
		"index_info",	   "index_xinfo",	"foreign_key_list", "quick_check",
		"integrity_check", "foreign_key_check",
	};
	static const char *const acting[] = { "incremental_vacuum", "optimize", "wal_checkpoint" };
	for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
		if (strcasecmp(pragma, telling[i]) == 0)
			return true;
	for (size_t i = 0; i < sizeof acting / sizeof *acting; i++)
		if (strcasecmp(pragma, acting[i]) == 0)
			return false;
	return !argument;
}

/* PRAGMAs that change the connection only. journal_mode is not one of them: to and from WAL, it
 * writes to the file. */
static bool only_for_connection(const char *pragma)
{
	static const char *const names[] = {
		"analysis_limit",
		"automatic_index",
		"busy_timeout",
		"cache_size",
		"cache_spill",
		"case_sensitive_like",
		"cell_size_check",
		"checkpoint_fullfsync",
		"encoding",
		"foreign_keys",
		"fullfsync",
		"hard_heap_limit",
		"locking_mode",
		"mmap_size",
		"page_size",
		"query_only",
		"read_uncommitted",
		"recursive_triggers",
		"reverse_unordered_selects",
		"secure_delete",
		"shrink_memory",
		"soft_heap_limit",
		"synchronous",
		"temp_store",
		"threads",
		"trusted_schema",
		"wal_autocheckpoint",
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcasecmp(pragma, names[i]) == 0)
			return true;
	return false;
}

/* Attaching a file that does not exist would make it. */
static bool can_attach(const char *file)
{
	AS_USER(as);
	return file && (!*file || strcmp(file, ":memory:") == 0 ||
			(invoker_begin(&as, NULL) == 0 &&
			 faccessat(AT_FDCWD, file, F_OK, AT_EACCESS) == 0));
}

/* Settings may also change the connection, attach files and make temporary objects. A temporary
 * trigger is denied, since it would act when tare fills its own tables. */
static int authorize_setting(struct sqlite *s, int action, const char *first, const char *database)
{
	switch (action) {
	case SQLITE_PRAGMA:
		return only_for_connection(first) ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_ATTACH:
		return can_attach(first) ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_DETACH:
		return SQLITE_OK;
	case SQLITE_INSERT:
	case SQLITE_UPDATE:
	case SQLITE_DELETE:
	case SQLITE_REINDEX: /* a new index asks for this one */
		if (!database || strcmp(database, "temp") != 0)
			return SQLITE_DENY;
		break;
	case SQLITE_CREATE_TEMP_TABLE:
	case SQLITE_CREATE_TEMP_INDEX:
	case SQLITE_CREATE_TEMP_VIEW:
	case SQLITE_DROP_TEMP_TABLE:
	case SQLITE_DROP_TEMP_INDEX:
	case SQLITE_DROP_TEMP_VIEW:
		break;
	default:
		return SQLITE_DENY;
	}
	s->temporary = true;
	return SQLITE_OK;
}

/* SQLite asks this of each thing that a statement is to do, also of one that it prepares again
 * later. What no transaction holds is denied to all but tare itself. */
static int authorize(void *state, int action, const char *first, const char *second,
		     const char *database, const char *inner)
{
	struct sqlite *s = state;
	(void)inner;
	if (!s->guarded)
		return SQLITE_OK;
	if (s->setting && authorize_setting(s, action, first, database) == SQLITE_OK)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return strcasecmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_UPDATE: /* connecting to a virtual table asks for this one */
		return s->transaction != QUERY_READ_ONLY || strcmp(first, "sqlite_master") == 0
			       ? SQLITE_OK
			       : SQLITE_DENY;
	case SQLITE_PRAGMA:
		return only_tells(first, second) ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_ATTACH:
	case SQLITE_DETACH:
	case SQLITE_TRANSACTION:
	case SQLITE_SAVEPOINT:
		return SQLITE_DENY;
	default:
		return s->transaction == QUERY_READ_ONLY ? SQLITE_DENY : SQLITE_OK;
	}
}

static int begin(void *state, struct error *err)
{
	struct sqlite *s = state;
	if (!s->db)
		return error_set(err, EXIT_SUBJECT, "SQLite: the database is not open");
	if (s->transaction == QUERY_ROLLED_BACK && run(s, "BEGIN", err))
		return -1;
	s->guarded = true;
	return 0;
}

static int end(void *state, enum query_transaction *how, struct error *err)
{
	struct sqlite *s = state;
	(void)how;
	s->guarded = false;
	/* some errors have rolled it back already */
	return s->transaction == QUERY_ROLLED_BACK && !sqlite3_get_autocommit(s->db)
		       ? run(s, "ROLLBACK", err)
		       : 0;
}

/* ---- settings ---- */

static int setting_writes(struct error *err)
{
	return error_hint(err, "a setting may write only if --allow-writes is given");
}

static int set_one(struct sqlite *s, const char **sql, struct error *err)
{
	SCOPED(end_statement) sqlite3_stmt *statement = NULL;
	s->temporary = false;
	if (sqlite3_prepare_v2(s->db, *sql, -1, &statement, sql)) {
		fail(s, "SQLite", err);
		return sqlite3_errcode(s->db) == SQLITE_AUTH ? setting_writes(err) : -1;
	}
	if (!statement)
		return 0;
	if (!s->temporary && !sqlite3_stmt_readonly(statement)) {
		error_set(err, EXIT_USAGE, "SQLite says that the setting writes");
		return setting_writes(err);
	}
	int rc;
	while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
		;
	return rc == SQLITE_DONE ? 0 : fail(s, "SQLite", err);
}

/* Of a connection whose statements may only read. */
static int set(void *state, const char *sql, struct error *err)
{
	struct sqlite *s = state;
	int failed = 0;
	s->guarded = s->setting = true;
	while (*sql && !failed)
		failed = set_one(s, &sql, err);
	s->guarded = s->setting = false;
	return failed;
}

/* ---- the connection ---- */

static int open_driver(void **state, const char *url, const struct dbms_options *options,
		       struct error *err)
{
	const char *path = strchr(url, ':') + 1;
	if (!*path) {
		error_set(err, EXIT_USAGE, "'%s' names no file", url);
		return error_hint(err, "sqlite:FILE, or sqlite::memory:");
	}
	struct sqlite *s = xcalloc(1, sizeof *s);
	s->path = xstrdup(path);
	s->must_exist = options->must_exist;
	s->transaction = options->transaction;
	s->settings = xstrdup_all(options->settings);
	*state = s;
	return 0;
}

static void forget_statement(struct sqlite *s)
{
	sqlite3_finalize(s->statement);
	s->statement = NULL;
	xfree(s->sql);
	s->sql = NULL;
}

/* The size of the file with this ending beside the database; -1: there is none. */
static off_t size_beside(const struct sqlite *s, const char *ending)
{
	FREED char *path = xprintf("%s%s", s->path, ending);
	struct stat found;
	AS_USER(as);
	return invoker_begin(&as, NULL) == 0 && stat(path, &found) == 0 ? found.st_size : -1;
}

/* A connection that reads cannot remove the empty log and its index that it has made. One that
 * may write does when it closes, if no other process has the database open. */
static void close_database(struct sqlite *s)
{
	sqlite3_close(s->db);
	s->db = NULL;
	if (!s->leaves_log || size_beside(s, "-wal") != 0 || invoker_for_sqlite(NULL))
		return;
	sqlite3 *db = NULL;
	if (!sqlite3_open_v2(s->path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL))
		sqlite3_exec(db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
	sqlite3_close(db);
}

static void disconnect(void *state)
{
	struct sqlite *s = state;
	forget_statement(s);
	close_database(s);
	worker_stop(s->worker);
	s->worker = NULL;
}

static void close_driver(void *state)
{
	struct sqlite *s = state;
	disconnect(s);
	xfree_all(s->settings);
	xfree(s->path);
	xfree(s);
}

static int open_database(struct sqlite *s, struct error *err)
{
	bool reads_only = s->must_exist && s->transaction == QUERY_READ_ONLY;
	int flags = (reads_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) |
		    SQLITE_OPEN_NOMUTEX;
	if (!s->must_exist)
		flags |= SQLITE_OPEN_CREATE;
	s->leaves_log = reads_only && size_beside(s, "-wal") < 0 && size_beside(s, "-shm") < 0;
	if (invoker_for_sqlite(err))
		return -1;
	if (sqlite3_open_v2(s->path, &s->db, flags, NULL) || sqlite3_busy_timeout(s->db, BUSY_MS) ||
	    sqlite3_exec(s->db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL)) {
		char path[400];
		int rc = sqlite3_extended_errcode(s->db), number = sqlite3_system_errno(s->db);
		bool by_errno = (rc & 0xff) == SQLITE_CANTOPEN && number;
		text_display(s->path, path, sizeof path);
		error_set(err, code_of(rc), "cannot open %s: %s", path,
			  by_errno ? strerror(number) : sqlite3_errmsg(s->db));
		if ((rc & 0xff) == SQLITE_NOTADB)
			error_hint(err, "this file is not SQLite's, or is encrypted");
		if (rc == SQLITE_READONLY_ROLLBACK || rc == SQLITE_READONLY_RECOVERY)
			error_hint(err, "it was not closed properly: open it once with sqlite3, or "
					"give --allow-writes");
		close_database(s);
		return -1;
	}
	/* once: each call would have all statements prepared again */
	sqlite3_set_authorizer(s->db, authorize, s);
	return 0;
}

static int connect_driver(void *state, struct error *err)
{
	struct sqlite *s = state;
	if (open_database(s, err))
		return -1;
	if (worker_start(&s->worker, "tare-sqlite", err)) {
		disconnect(s);
		return -1;
	}
	return 0;
}

static bool lost(const void *state)
{
	return !((const struct sqlite *)state)->db;
}

/* ---- what it is ---- */

static json_t *pragma(struct sqlite *s, const char *name)
{
	char sql[64];
	SCOPED(end_statement) sqlite3_stmt *statement = NULL;
	bool row;
	snprintf(sql, sizeof sql, "PRAGMA %s", name);
	if (first_row(s, &statement, &row, sql, NULL, NULL) || !row)
		return json_null();
	if (sqlite3_column_type(statement, 0) == SQLITE_INTEGER)
		return json_integer(sqlite3_column_int64(statement, 0));
	return json_string((const char *)sqlite3_column_text(statement, 0));
}

/* Those by which a query's time or plan may differ. */
static json_t *compile_options(void)
{
	static const char *const matter[] = { "COMPILER",	"DEBUG",      "DIRECT_OVERFLOW",
					      "ENABLE_STAT",	"LOOKASIDE",  "DEFAULT_LOOKASIDE",
					      "DEFAULT_PCACHE", "DISABLE_",   "OMIT_LOOKASIDE",
					      "MAX_WORKER",	"TEMP_STORE", "THREADSAFE" };
	json_t *list = json_array();
	const char *option;
	for (int i = 0; (option = sqlite3_compileoption_get(i)); i++)
		for (size_t m = 0; m < sizeof matter / sizeof *matter; m++)
			if (strncmp(option, matter[m], strlen(matter[m])) == 0) {
				json_array_append_new(list, json_string(option));
				break;
			}
	return list;
}

static int describe(void *state, char **version, char **settings, struct error *err)
{
	static const char *const pragmas[] = { "page_size", "cache_size",   "cache_spill",
					       "mmap_size", "journal_mode", "synchronous",
					       "threads",   "temp_store",   "auto_vacuum" };
	(void)err;
	json_auto_t *object = json_object();
	for (size_t i = 0; i < sizeof pragmas / sizeof *pragmas; i++)
		json_object_set_new(object, pragmas[i], pragma(state, pragmas[i]));
	json_object_set_new(object, "compile_options", compile_options());
	*version = xstrdup(sqlite3_libversion());
	*settings = json_dumps(object, JSON_COMPACT);
	return 0;
}

/* ---- tables ---- */

static int table_exists(void *state, const char *table, bool *exists, struct error *err)
{
	FREED char *found = NULL;
	if (find_table(state, table, &found, err))
		return -1;
	*exists = found != NULL;
	return 0;
}

static int insert_all(struct sqlite *s, sqlite3_stmt *insert, size_t columns, dbms_row_fn next,
		      void *context, struct error *err)
{
	FREED const char **values = xcalloc(columns ? columns : 1, sizeof *values);
	int rc = SQLITE_DONE;
	while (rc == SQLITE_DONE && next(context, values)) {
		for (size_t i = 0; i < columns; i++) /* NULL is bound as NULL */
			sqlite3_bind_text(insert, (int)i + 1, values[i], -1, SQLITE_STATIC);
		rc = sqlite3_step(insert);
		sqlite3_reset(insert);
	}
	return rc == SQLITE_DONE ? 0 : fail(s, "SQLite", err);
}

static int load(void *state, const char *table, size_t columns, dbms_row_fn next, void *context,
		struct error *err)
{
	struct sqlite *s = state;
	SCOPED(strbuf_release) struct strbuf marks = { 0 };
	SCOPED(end_statement) sqlite3_stmt *insert = NULL;
	strbuf_puts(&marks, " VALUES (");
	for (size_t i = 0; i < columns; i++)
		strbuf_puts(&marks, i ? ", ?" : "?");
	strbuf_putc(&marks, ')');
	FREED char *sql = quoted("INSERT INTO ", table, strbuf_text(&marks));
	int failed = sqlite3_prepare_v2(s->db, sql, -1, &insert, NULL) ? fail(s, "SQLite", err) : 0;
	if (!failed)
		failed = run(s, "BEGIN IMMEDIATE", err);
	if (!failed) {
		failed = insert_all(s, insert, columns, next, context, err) ||
			 run(s, "COMMIT", err);
		if (failed && !sqlite3_get_autocommit(s->db))
			sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	}
	return failed ? error_prefix(err, "loading table %s", table) : 0;
}

static int settle(void *state, const char *const *tables, size_t count, struct error *err)
{
	struct sqlite *s = state;
	int failed = 0;
	for (size_t i = 0; i < count && !failed; i++) {
		FREED char *sql = quoted("ANALYZE ", tables[i], "");
		failed = run(s, sql, err);
	}
	if (failed || run(s, "PRAGMA wal_checkpoint(TRUNCATE)", err))
		return -1;
	/* With synchronous=OFF nobody else syncs the file. Closing a descriptor of our own would
	 * end SQLite's locks on it, so SQLite's is used. */
	sqlite3_file *file = NULL;
	sqlite3_file_control(s->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
	if (!file || !file->pMethods || !file->pMethods->xSync)
		return 0;
	if (file->pMethods->xSync(file, SQLITE_SYNC_NORMAL))
		return error_errno(err, EXIT_ENVIRONMENT, "cannot write %s to its disk", s->path);
	return 0;
}

/* Of the table's own pages, by dbstat. Where SQLite was built without it, it does not say: the
 * file's size would count indexes and other tables. */
static int table_bytes(void *state, const char *table, uint64_t *bytes, struct error *err)
{
	struct sqlite *s = state;
	SCOPED(end_statement) sqlite3_stmt *statement = NULL;
	FREED char *name = NULL;
	bool row;
	if (find_table(s, table, &name, err))
		return -1;
	*bytes = 0;
	if (!name || !sqlite3_compileoption_used("ENABLE_DBSTAT_VTAB"))
		return 0;
	if (first_row(s, &statement, &row,
		      "SELECT sum(pgsize) FROM dbstat WHERE name = ? AND aggregate = TRUE", name,
		      err))
		return -1;
	*bytes = row ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
	return 0;
}

/* ---- a query ---- */

static bool holds_statement(struct sqlite *s, const char *sql)
{
	while (*sql) {
		SCOPED(end_statement) sqlite3_stmt *statement = NULL;
		const char *tail = sql;
		if (sqlite3_prepare_v2(s->db, sql, -1, &statement, &tail) || statement)
			return true;
		if (tail == sql)
			return false;
		sql = tail;
	}
	return false;
}

static int prepare(void *state, const char *sql, struct error *err)
{
	struct sqlite *s = state;
	const char *tail = NULL;
	char *copy = xstrdup(sql); /* may be ours */
	forget_statement(s);
	s->sql = copy;
	if (sqlite3_prepare_v3(s->db, copy, -1, SQLITE_PREPARE_PERSISTENT, &s->statement, &tail)) {
		fail(s, "SQL", err);
		if (sqlite3_errcode(s->db) == SQLITE_AUTH)
			error_hint(err, s->transaction == QUERY_READ_ONLY ? DBMS_ALLOW_WRITES
									  : COMMIT_EXECUTES);
	} else if (!s->statement)
		error_set(err, EXIT_USAGE, "SQL: there is no statement");
	else if (s->guarded && s->transaction == QUERY_READ_ONLY &&
		 !sqlite3_stmt_readonly(s->statement)) {
		error_set(err, EXIT_USAGE, "SQL: SQLite says that the statement writes");
		error_hint(err, DBMS_ALLOW_WRITES);
	} else if (holds_statement(s, tail))
		error_set(err, EXIT_USAGE, "SQL: more than one statement");
	else if (sqlite3_bind_parameter_count(s->statement))
		error_set(err, EXIT_USAGE, "SQL: a query with parameters cannot be executed");
	else
		return 0;
	forget_statement(s);
	return -1;
}

static int no_statement(struct error *err)
{
	return error_set(err, EXIT_USAGE, "there is no prepared statement");
}

/* The table that the statement calls by this name; NULL: there is none. */
static char *table_of_alias(struct sqlite *s, const char *alias)
{
	const char *at = NULL;
	for (char *name; (name = sqlite_alias_next(s->sql, &at, alias));) {
		char *table = NULL;
		find_table(s, name, &table, NULL);
		xfree(name);
		if (table)
			return table;
	}
	return NULL;
}

/* "SCAN x USING ..." as "SCAN t AS x USING ..." where x is an alias of t. */
static char *with_table(struct sqlite *s, const char *detail)
{
	static const char *const begins[] = { "SCAN ", "SEARCH ", "BLOOM FILTER ON " };
	size_t before = 0;
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (strncmp(detail, begins[i], strlen(begins[i])) == 0)
			before = strlen(begins[i]);
	if (!before || strncmp(detail + before, "TABLE ", 6) == 0)
		return xstrdup(detail);
	/* an alias that holds a space is not looked for */
	const char *name = detail + before;
	FREED char *alias = xstrndup(name, strcspn(name, " "));
	FREED char *table = table_of_alias(s, alias);
	struct strbuf text = { 0 };
	if (table && strcasecmp(table, alias) != 0)
		strbuf_printf(&text, "%.*s%s AS %s", (int)before, detail, table, name);
	else
		strbuf_puts(&text, detail);
	return strbuf_detach(&text);
}

static int plan(void *state, struct query_plan *into, struct error *err)
{
	struct sqlite *s = state;
	FREED ARRAY(struct sqlite_plan_row) rows = { 0 };
	SCOPED(words_release) word_list details = { 0 };
	SCOPED(end_statement) sqlite3_stmt *explain = NULL;
	int rc = SQLITE_ERROR;
	if (!s->statement)
		return no_statement(err);
	/* an explained statement does not look whether another connection changed the schema; this
	 * does */
	sqlite3_exec(s->db, "SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL, NULL);
	FREED char *sql = xprintf("EXPLAIN QUERY PLAN %s", s->sql);
	if (!sqlite3_prepare_v2(s->db, sql, -1, &explain, NULL))
		while ((rc = sqlite3_step(explain)) == SQLITE_ROW) {
			const char *detail = (const char *)sqlite3_column_text(explain, 3);
			char *text = with_table(s, detail ? detail : "");
			array_push(&details, text);
			array_push(&rows, (struct sqlite_plan_row){ sqlite3_column_int(explain, 0),
								    sqlite3_column_int(explain, 1),
								    text });
		}
	return rc == SQLITE_DONE ? plan_of_sqlite(rows.items, rows.count, into, err)
				 : fail(s, "SQL", err);
}

struct query {
	struct sqlite *s;
	struct dbms_execution x;
	int rc;
};

static void query_work(void *context)
{
	struct query *q = context;
	sqlite3_stmt *statement = q->s->statement;
	uint64_t cpu_ns = clock_thread_cpu_ns();
	q->x.begin_ns = clock_monotonic_ns();
	while ((q->rc = sqlite3_step(statement)) == SQLITE_ROW) {
		/* As an application would: each value by its own type. */
		int columns = sqlite3_data_count(statement);
		for (int i = 0; i < columns; i++)
			switch (sqlite3_column_type(statement, i)) {
			case SQLITE_INTEGER:
				sqlite3_column_int64(statement, i);
				break;
			case SQLITE_FLOAT:
				sqlite3_column_double(statement, i);
				break;
			case SQLITE_NULL:
				break;
			default:
				sqlite3_column_blob(statement, i);
				sqlite3_column_bytes(statement, i);
			}
		q->x.rows++;
	}
	q->x.end_ns = clock_monotonic_ns();
	q->x.cpu_ns = clock_thread_cpu_ns() - cpu_ns;
}

static void query_cancel(void *context)
{
	sqlite3_interrupt(((struct query *)context)->s->db);
}

static int execute(void *state, const struct dbms_wait *wait, struct dbms_execution *x,
		   struct error *err)
{
	struct sqlite *s = state;
	if (!s->statement)
		return no_statement(err);
	struct query q = { .s = s };
	enum worker_end end = worker_run(s->worker, query_work, query_cancel, &q, wait);
	int failed = 0;
	if (end == WORKER_STOPPED)
		failed = error_set(err, EXIT_INTERRUPTED, "the query was interrupted");
	else if (end == WORKER_LIMIT && q.rc == SQLITE_INTERRUPT)
		q.x.timed_out = true;
	else if (q.rc != SQLITE_DONE) {
		failed = fail(s, "SQL", err);
		if (s->transaction == QUERY_ROLLED_BACK &&
		    strstr(sqlite3_errmsg(s->db), "within a transaction")) /* VACUUM */
			error_hint(err, COMMIT_EXECUTES);
	}
	sqlite3_reset(s->statement);
	if (!failed)
		*x = q.x;
	return failed;
}

static int tasks(void *state, struct dbms_tasks *into, struct error *err)
{
	struct sqlite *s = state;
	(void)err;
	*into = (struct dbms_tasks){ .server = getpid(),
				     .process = getpid(),
				     .thread = worker_tid(s->worker) };
	return 0;
}

/* The page cache is the connection's; the thread stays. */
static int forget(void *state, struct error *err)
{
	struct sqlite *s = state;
	const char *file = s->db ? sqlite3_db_filename(s->db, "main") : NULL;
	if (!file || !*file)
		return error_set(
			err, EXIT_USAGE,
			"a database in memory has no cache to be emptied: executions of it are warm");
	char *sql = s->sql;
	s->sql = NULL;
	forget_statement(s);
	close_database(s);
	int failed = open_database(s, err);
	for (char **text = s->settings; *text && !failed; text++)
		failed = (s->transaction == QUERY_READ_ONLY ? set : run)(s, *text, err);
	s->guarded = s->transaction != QUERY_COMMITTED;
	if (sql && !failed)
		failed = prepare(s, sql, err);
	s->guarded = false;
	xfree(sql);
	if (failed)
		disconnect(s); /* without its settings or its query it is another one */
	return failed;
}

static const char *const schemes[] = { "sqlite", NULL };

const struct dbms_driver sqlite_driver = {
	.name = "sqlite",
	.schemes = schemes,
	.cold = DBMS_COLD_ONLINE,
	.open = open_driver,
	.close = close_driver,
	.describe = describe,
	.lost = lost,
	.disconnect = disconnect,
	.connect = connect_driver,
	.run = run,
	.set = set,
	.number = number,
	.table_exists = table_exists,
	.load = load,
	.settle = settle,
	.table_bytes = table_bytes,
	.prepare = prepare,
	.plan = plan,
	.begin = begin,
	.end = end,
	.execute = execute,
	.tasks = tasks,
	.forget = forget,
};
