/* Any DBMS that has an ODBC driver; what ODBC has no call for is asked by the statements of a
 * driver file (file.h). Queries run in a thread of their own, since only that lets them be
 * cancelled: SQLExecute() blocks. */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "subject/dbms/dbms.h"
#include "subject/dbms/driver.h"
#include "subject/dbms/odbc/call.h"
#include "subject/dbms/odbc/file.h"
#include "subject/dbms/plan.h"
#include "subject/dbms/worker.h"

/* ---- rows: one transaction of a prepared INSERT ---- */

struct parameter_type {
	SQLSMALLINT type, digits;
	SQLULEN size;
	SQLLEN length; /* of the row's value; SQL_NULL_DATA */
};

static SQLRETURN insert_row(struct odbc_link *l, SQLHSTMT insert, size_t columns,
			    struct parameter_type *types, const char **values)
{
	SQLRETURN rc = SQL_SUCCESS;
	for (size_t i = 0; i < columns && odbc_good(rc); i++) {
		struct parameter_type *t = &types[i];
		t->length = values[i] ? (SQLLEN)strlen(values[i]) : SQL_NULL_DATA;
		rc = l->library->SQLBindParameter(insert, (SQLUSMALLINT)(i + 1), SQL_PARAM_INPUT,
						  SQL_C_CHAR, t->type, t->size, t->digits,
						  odbc_text(values[i]), values[i] ? t->length : 0,
						  &t->length);
	}
	return odbc_good(rc) ? l->library->SQLExecute(insert) : rc;
}

static int insert_all(struct odbc_link *l, SQLHSTMT insert, size_t columns, dbms_row_fn next,
		      void *context, struct error *err)
{
	FREED const char **values = xcalloc(columns ? columns : 1, sizeof *values);
	FREED struct parameter_type *types = xcalloc(columns ? columns : 1, sizeof *types);
	SQLRETURN rc = SQL_SUCCESS;
	/* the ODBC driver converts texts to the column's type, if it knows that */
	for (size_t i = 0; i < columns; i++) {
		SQLSMALLINT nullable;
		struct parameter_type *t = &types[i];
		if (!odbc_good(l->library->SQLDescribeParam(insert, (SQLUSMALLINT)(i + 1), &t->type,
							    &t->size, &t->digits, &nullable)) ||
		    t->type == SQL_UNKNOWN_TYPE)
			*t = (struct parameter_type){ .type = SQL_VARCHAR, .size = 4000 };
	}
	while (odbc_good(rc) && next(context, values))
		rc = insert_row(l, insert, columns, types, values);
	return odbc_good(rc) ? 0 : odbc_fail(l, SQL_HANDLE_STMT, insert, "SQL", err);
}

static int set_autocommit(struct odbc_link *l, bool on, struct error *err)
{
	uintptr_t value = on ? SQL_AUTOCOMMIT_ON : SQL_AUTOCOMMIT_OFF;
	if (odbc_good(l->library->SQLSetConnectAttr(l->connection, SQL_ATTR_AUTOCOMMIT,
						    odbc_value(value), SQL_IS_UINTEGER)))
		return 0;
	return odbc_fail(l, SQL_HANDLE_DBC, l->connection, "ODBC", err);
}

/* The connection may be in the middle of a transaction, where nothing that follows is kept, and
 * what was not to be kept might be. */
static int give_up(struct odbc_link *l)
{
	l->lost = true;
	return -1;
}

static int insert_in_transaction(struct odbc_link *l, const char *table, size_t columns,
				 dbms_row_fn next, void *context, struct error *err)
{
	const struct odbc_library *odbc = l->library;
	SQLHSTMT insert = odbc_statement(l, err);
	SCOPED(strbuf_release) struct strbuf sql = { 0 };
	strbuf_printf(&sql, "INSERT INTO %s VALUES (", table);
	for (size_t i = 0; i < columns; i++)
		strbuf_puts(&sql, i ? ", ?" : "?");
	strbuf_putc(&sql, ')');
	if (insert && !odbc_good(l->library->SQLPrepare(insert, odbc_text(sql.text), SQL_NTS))) {
		odbc_fail(l, SQL_HANDLE_STMT, insert, "SQL", err);
		odbc_statement_free(l, insert);
		insert = NULL;
	}
	int failed = !insert || insert_all(l, insert, columns, next, context, err);
	odbc_statement_free(l, insert);
	if (!failed && !odbc_good(odbc->SQLEndTran(SQL_HANDLE_DBC, l->connection, SQL_COMMIT)))
		failed = odbc_fail(l, SQL_HANDLE_DBC, l->connection, "SQL", err);
	if (failed && !odbc_good(odbc->SQLEndTran(SQL_HANDLE_DBC, l->connection, SQL_ROLLBACK)))
		return give_up(l);
	if (set_autocommit(l, true, failed ? NULL : err))
		return give_up(l);
	return failed ? -1 : 0;
}

static int odbc_load(struct odbc_link *l, const char *table, size_t columns, dbms_row_fn next,
		     void *context, struct error *err)
{
	if (!l->connection)
		return error_set(err, EXIT_SUBJECT, "ODBC: not connected");
	int failed = set_autocommit(l, false, err) ||
		     insert_in_transaction(l, table, columns, next, context, err);
	return failed ? error_prefix(err, "loading table %s", table) : 0;
}

struct odbc {
	char *text; /* of the connection: "DSN=..." */
	struct odbc_file file;
	struct odbc_link link;
	struct worker *worker;
	bool reads_only;    /* the query must not write */
	bool transactions;  /* what it wrote can be rolled back */
	bool refuses;	    /* the data source is read-only */
	char *sql;	    /* the query; NULL: none */
	SQLHSTMT statement; /* it, prepared; NULL: has to be, again */
};

/* ---- the connection ---- */

static void close_driver(void *state);

static const struct odbc_library *odbc_library(struct error *err)
{
	static const char *const names[] = {
#define ODBC_NAME(function) #function,
		ODBC_FUNCTIONS(ODBC_NAME)
#undef ODBC_NAME
			NULL
	};
	static struct odbc_library loaded;
	if (!loaded.SQLAllocHandle &&
	    driver_library(&loaded, names, "libodbc.so.2", "Debian's package is libodbc2", err))
		return NULL;
	return &loaded;
}

static int open_driver(void **state, const char *url, const struct dbms_options *options,
		       struct error *err)
{
	const char *text = strchr(url, ':') + 1;
	if (!strchr(text, '=')) {
		error_set(err, EXIT_USAGE, "'odbc:' is followed by no connection");
		return error_hint(err, "odbc:DSN=NAME;UID=...;PWD=..., or odbc:Driver=NAME;...");
	}
	struct odbc *o = xcalloc(1, sizeof *o);
	o->text = xstrdup(text);
	o->file.cold = DBMS_COLD_RESTART;
	o->reads_only = options->transaction == QUERY_READ_ONLY;
	o->link.reads_only = o->reads_only && options->must_exist;
	o->link.library = odbc_library(err);
	if (!o->link.library ||
	    (options->driver_file && odbc_file_read(options->driver_file, &o->file, err))) {
		close_driver(o);
		return -1;
	}
	*state = o;
	return 0;
}

static void drop_statement(struct odbc *o)
{
	odbc_statement_free(&o->link, o->statement);
	o->statement = NULL;
}

static void forget_statement(struct odbc *o)
{
	drop_statement(o);
	xfree(o->sql);
	o->sql = NULL;
}

static void disconnect(void *state)
{
	struct odbc *o = state;
	if (!o->link.library)
		return;
	forget_statement(o);
	odbc_link_close(&o->link);
	worker_stop(o->worker);
	o->worker = NULL;
}

static void close_driver(void *state)
{
	struct odbc *o = state;
	disconnect(o);
	odbc_file_release(&o->file);
	xfree(o->text);
	xfree(o);
}

static int run(void *state, const char *sql, struct error *err)
{
	return odbc_run(&((struct odbc *)state)->link, sql, NULL, err);
}

static int run_each(struct odbc *o, const word_list *statements, const char *key, struct error *err)
{
	for (size_t i = 0; i < statements->count; i++)
		if (run(o, statements->items[i], err))
			return error_prefix(err, "%s of the driver file", key);
	return 0;
}

static char *info(struct odbc *o, SQLUSMALLINT what)
{
	char text[256] = "";
	SQLSMALLINT length;
	if (!odbc_good(o->link.library->SQLGetInfo(o->link.connection, what, text, sizeof text,
						   &length)))
		*text = '\0';
	return text_utf8(text);
}

static int connect_driver(void *state, struct error *err)
{
	struct odbc *o = state;
	SQLUSMALLINT capable = SQL_TC_NONE;
	SQLSMALLINT length;
	if (odbc_link_open(&o->link, o->text, err))
		return -1;
	o->transactions =
		odbc_good(o->link.library->SQLGetInfo(o->link.connection, SQL_TXN_CAPABLE, &capable,
						      sizeof capable, &length)) &&
		capable != SQL_TC_NONE;
	FREED char *refuses = info(o, SQL_DATA_SOURCE_READ_ONLY);
	o->refuses = strcmp(refuses, "Y") == 0;
	if (worker_start(&o->worker, "tare-odbc", err) ||
	    run_each(o, &o->file.session, "session", err)) {
		disconnect(o);
		return -1;
	}
	return 0;
}

static bool lost(const void *state)
{
	const struct odbc *o = state;
	return o->link.lost || !o->link.connection;
}

/* ---- what it is ---- */

static const char *own_name(const void *state)
{
	const struct odbc *o = state;
	return o->file.name ? o->file.name : "odbc";
}

static enum dbms_cold own_cold(const void *state)
{
	return ((const struct odbc *)state)->file.cold;
}

/* The first line that the statement gives; the caller frees. */
static int first_line(struct odbc *o, const char *sql, char **line, struct error *err)
{
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	if (odbc_run(&o->link, sql, &text, err))
		return -1;
	*line = xstrndup(strbuf_text(&text), strcspn(strbuf_text(&text), "\n"));
	return 0;
}

static int describe(void *state, char **version, char **settings, struct error *err)
{
	static const struct {
		const char *key;
		SQLUSMALLINT what;
	} facts[] = {
		{ "dbms", SQL_DBMS_NAME },
		{ "odbc_driver", SQL_DRIVER_NAME },
		{ "odbc_driver_version", SQL_DRIVER_VER },
	};
	struct odbc *o = state;
	if (o->file.version) {
		if (first_line(o, o->file.version, version, err))
			return error_prefix(err, "version of the driver file");
	} else {
		*version = info(o, SQL_DBMS_VER);
	}
	json_auto_t *object = json_object();
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
		FREED char *text = info(o, facts[i].what);
		json_object_set_new(object, facts[i].key, json_string(text));
	}
	*settings = json_dumps(object, JSON_COMPACT);
	return 0;
}

static const char *type(const void *state, enum column_kind kind, uint32_t length, char out[64])
{
	static const char *const standard[] = { "INTEGER",	    "BIGINT", "DECIMAL(15,2)",
						"DOUBLE PRECISION", NULL,     "DATE" };
	const struct odbc *o = state;
	char number[16];
	snprintf(number, sizeof number, "%u", length ? length : 255);
	const char *pattern = o->file.types[kind] ? o->file.types[kind]
			      : kind == KIND_TEXT ? "VARCHAR({length})"
						  : standard[kind];
	FREED char *filled = odbc_file_fill(pattern, "{length}", number);
	snprintf(out, 64, "%s", filled);
	return out;
}

/* ---- tables ---- */

static int number(void *state, const char *sql, int64_t *value, struct error *err)
{
	FREED char *line = NULL;
	char *end;
	if (first_line(state, sql, &line, err))
		return -1;
	errno = 0;
	long long found = strtoll(line, &end, 10);
	if (end == line || errno || (*end && *end != '.' && !isspace((unsigned char)*end)))
		return error_set(err, EXIT_USAGE, "'%.200s' gives no number", sql);
	*value = found;
	return 0;
}

/* SQLTables() knows names only as the DBMS folds them to upper or lower case; a query does it. */
static int table_exists(void *state, const char *table, bool *exists, struct error *err)
{
	struct odbc *o = state;
	FREED char *sql = xprintf("SELECT 1 FROM %s WHERE 1 = 0", table);
	int failed = run(o, sql, err);
	if (failed && (o->link.lost || !o->link.connection))
		return -1;
	*exists = !failed;
	return 0;
}

static int load(void *state, const char *table, size_t columns, dbms_row_fn next, void *context,
		struct error *err)
{
	return odbc_load(&((struct odbc *)state)->link, table, columns, next, context, err);
}

static int settle(void *state, const char *const *tables, size_t count, struct error *err)
{
	struct odbc *o = state;
	for (size_t i = 0; i < count && o->file.analyze; i++) {
		FREED char *sql = odbc_file_fill(o->file.analyze, "{table}", tables[i]);
		int failed = run(o, sql, err);
		if (failed)
			return error_prefix(err, "analyze of the driver file");
	}
	return run_each(o, &o->file.settle, "settle", err);
}

static int table_bytes(void *state, const char *table, uint64_t *bytes, struct error *err)
{
	struct odbc *o = state;
	int64_t value = 0;
	*bytes = 0;
	if (!o->file.table_bytes)
		return 0;
	FREED char *sql = odbc_file_fill(o->file.table_bytes, "{table}", table);
	int failed = number(o, sql, &value, err);
	if (failed)
		return error_prefix(err, "table_bytes of the driver file");
	*bytes = value > 0 ? (uint64_t)value : 0;
	return 0;
}

/* ---- a query ---- */

static int need_statement(struct odbc *o, struct error *err)
{
	SQLSMALLINT columns;
	if (!o->sql)
		return error_set(err, EXIT_USAGE, "there is no prepared statement");
	if (o->statement)
		return 0;
	o->statement = odbc_statement(&o->link, err);
	if (!o->statement)
		return -1;
	/* some drivers do not ask the server before they have to know the columns */
	if (odbc_good(o->link.library->SQLPrepare(o->statement, odbc_text(o->sql), SQL_NTS)) &&
	    odbc_good(o->link.library->SQLNumResultCols(o->statement, &columns)))
		return 0;
	odbc_fail(&o->link, SQL_HANDLE_STMT, o->statement, "SQL", err);
	drop_statement(o);
	return -1;
}

/* A driver may send several at once, of which the first ends the transaction. */
static bool is_one_statement(const char *sql)
{
	const char *next = strchr(sql, ';');
	return !next || !next[strspn(next, " \t\r\n;")];
}

static int prepare(void *state, const char *sql, struct error *err)
{
	struct odbc *o = state;
	if (!sql[strspn(sql, " \t\r\n;")])
		return error_set(err, EXIT_USAGE, "SQL: there is no statement");
	if (o->reads_only && !is_one_statement(sql)) {
		error_set(err, EXIT_USAGE, "SQL: through ODBC a query holds no ';'");
		return error_hint(err, DBMS_ALLOW_WRITES);
	}
	forget_statement(o);
	o->sql = xstrdup(sql);
	if (!need_statement(o, err))
		return 0;
	forget_statement(o);
	return -1;
}

static int plan(void *state, struct query_plan *into, struct error *err)
{
	struct odbc *o = state;
	SCOPED(strbuf_release) struct strbuf text = { 0 };
	if (need_statement(o, err))
		return -1;
	if (!o->file.plan)
		return plan_of_text("not known", into, err);
	FREED char *sql = odbc_file_fill(o->file.plan, "{sql}", o->sql);
	int failed = odbc_run(&o->link, sql, &text, err);
	if (!failed && o->file.plan_after) {
		strbuf_clear(&text);
		failed = odbc_run(&o->link, o->file.plan_after, &text, err);
	}
	if (!failed && o->file.drop_numbers && text.text)
		plan_drop_numbers(text.text);
	if (!failed)
		failed = plan_of_text(strbuf_text(&text), into, err);
	return failed ? error_prefix(err, "plan of the driver file") : 0;
}

#define PATIENCE 100 /* calls of query_cancel(), which come every 10 ms */

struct query {
	struct odbc *o;
	struct dbms_execution x;
	SQLRETURN rc;
	atomic_bool cancelled, fetching;
	unsigned asked; /* times to cancel */
};

static void query_work(void *context)
{
	struct query *q = context;
	struct odbc_link *l = &q->o->link;
	q->x.begin_ns = clock_monotonic_ns();
	q->rc = l->library->SQLExecute(q->o->statement);
	atomic_store(&q->fetching, true);
	if (odbc_good(q->rc))
		q->rc = odbc_fetch_all(l, q->o->statement, &q->cancelled, &q->x.rows, NULL);
	q->x.end_ns = clock_monotonic_ns();
}

/* The driver may have all rows already: then it is the fetching that has to end. */
static void query_cancel(void *context)
{
	struct query *q = context;
	/* SQLite's driver frees the rows in SQLCancel(), also while another thread reads them.
	 * Between two rows the flag is enough; only when it was in vain the driver is asked. */
	atomic_store(&q->cancelled, true);
	if (!atomic_load(&q->fetching) || ++q->asked > PATIENCE)
		q->o->link.library->SQLCancel(q->o->statement);
}

static int execute(void *state, const struct dbms_wait *wait, struct dbms_execution *x,
		   struct error *err)
{
	struct odbc *o = state;
	if (need_statement(o, err))
		return -1;
	struct query q = { .o = o };
	enum worker_end end = worker_run(o->worker, query_work, query_cancel, &q, wait);
	bool bad = q.rc != SQL_NO_DATA && !odbc_good(q.rc);
	bool cut = end == WORKER_LIMIT &&
		   (bad ? odbc_was_cancelled(&o->link, o->statement) : q.rc != SQL_NO_DATA);
	int failed = bad && !cut ? odbc_fail(&o->link, SQL_HANDLE_STMT, o->statement, "SQL", err)
				 : 0;
	if (end == WORKER_STOPPED)
		failed = error_set(err, EXIT_INTERRUPTED, "the query was interrupted");
	q.x.timed_out = cut;
	o->link.library->SQLFreeStmt(o->statement, SQL_CLOSE);
	/* a cancelled one may be half alive inside the ODBC driver (SQLite's then interrupts those
	 * after it) */
	if (end != WORKER_DONE)
		drop_statement(o);
	if (!failed)
		*x = q.x;
	return failed;
}

/* ---- the transaction around a query ---- */

static int begin(void *state, struct error *err)
{
	struct odbc *o = state;
	if (lost(o))
		return error_set(err, EXIT_SUBJECT, "ODBC: not connected");
	if (!o->transactions)
		return 0;
	if (set_autocommit(&o->link, false, err))
		return -1;
	return o->reads_only ? run_each(o, &o->file.read_only, "read_only", err) : 0;
}

static int end(void *state, enum query_transaction *how, struct error *err)
{
	struct odbc *o = state;
	const struct odbc_library *odbc = o->link.library;
	SQLUSMALLINT keeps = SQL_CB_DELETE;
	SQLSMALLINT length;
	bool refused = o->refuses || o->file.read_only.count;
	if (!o->transactions) {
		*how = refused ? *how : QUERY_COMMITTED;
		return 0;
	}
	if (!odbc_good(odbc->SQLEndTran(SQL_HANDLE_DBC, o->link.connection, SQL_ROLLBACK))) {
		odbc_fail(&o->link, SQL_HANDLE_DBC, o->link.connection, "SQL", err);
		return give_up(&o->link);
	}
	if (set_autocommit(&o->link, true, err))
		return give_up(&o->link);
	if (!odbc_good(odbc->SQLGetInfo(o->link.connection, SQL_CURSOR_ROLLBACK_BEHAVIOR, &keeps,
					sizeof keeps, &length)) ||
	    keeps == SQL_CB_DELETE)
		drop_statement(o);
	if (!refused)
		*how = QUERY_ROLLED_BACK;
	return 0;
}

static int ready(void *state, struct error *err)
{
	struct odbc *o = state;
	return o->sql ? need_statement(o, err) : 0;
}

/* ---- settings ---- */

static bool looks_like_setting(const char *sql)
{
	static const char *const words[] = { "SET", "ALTER SESSION", "USE", "PRAGMA", "SELECT" };
	sql += strspn(sql, " \t\r\n");
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t length = strlen(words[i]);
		if (strncasecmp(sql, words[i], length) == 0 && isspace((unsigned char)sql[length]))
			return true;
	}
	return false;
}

/* Of a connection whose statements may only read. If the driver file makes the transaction
 * read-only, the setting is committed, since some DBMSes undo it otherwise. Without that it is
 * rolled back with all that it may have written. */
static int set(void *state, const char *sql, struct error *err)
{
	struct odbc *o = state;
	struct error late = ERROR_INIT;
	enum query_transaction how = QUERY_READ_ONLY;
	bool held = o->refuses || (o->transactions && o->file.read_only.count);
	if (!is_one_statement(sql) || (!held && !looks_like_setting(sql))) {
		error_set(err, EXIT_USAGE, "through ODBC a setting is one statement%s",
			  held ? "" : ": SET, ALTER SESSION, USE, PRAGMA or SELECT");
		return error_hint(err, "--allow-writes executes any");
	}
	int failed = begin(o, err) || run(o, sql, err);
	if (!failed && held && o->transactions &&
	    !odbc_good(o->link.library->SQLEndTran(SQL_HANDLE_DBC, o->link.connection, SQL_COMMIT)))
		failed = odbc_fail(&o->link, SQL_HANDLE_DBC, o->link.connection, "SQL", err);
	return lost(o) || end(o, &how, failed ? &late : err) || failed ? -1 : 0;
}

static const char *caution(const void *state)
{
	const struct odbc *o = state;
	if (o->refuses || (o->transactions && o->file.read_only.count))
		return NULL;
	return o->transactions
		       ? "this ODBC driver does not promise to refuse writes. The first word of each "
			 "statement was checked, and each execution is rolled back."
		       : "this ODBC driver has no transactions. Nothing but the first word of each "
			 "statement protects data.";
}

/* ---- who evaluates ---- */

struct proc_status {
	pid_t parent, group; /* group: the process that a thread is of */
	char name[16];
};

static bool read_process(pid_t pid, struct proc_status *into)
{
	int parent = 0, group = 0;
	FREED char *text = file_read_proc(pid, "status");
	const char *tgid = text ? strstr(text, "\nTgid:") : NULL;
	const char *ppid = text ? strstr(text, "\nPPid:") : NULL;
	bool fine = tgid && ppid && sscanf(text, "Name: %15[^\n]", into->name) == 1 &&
		    sscanf(tgid, "\nTgid: %d", &group) == 1 &&
		    sscanf(ppid, "\nPPid: %d", &parent) == 1;
	into->parent = parent;
	into->group = group;
	return fine;
}

/* The process that all others of this name descend from. */
static pid_t server_of(pid_t pid, const char *name)
{
	struct proc_status p, above;
	while (read_process(pid, &p) && p.parent > 1 && read_process(p.parent, &above) &&
	       strcmp(above.name, name) == 0)
		pid = p.parent;
	return pid;
}

static int tasks(void *state, struct dbms_tasks *into, struct error *err)
{
	struct odbc *o = state;
	struct dbms_tasks t = { .guessed = true };
	struct proc_status p, whole;
	int64_t id;
	if (o->file.process_name)
		snprintf(t.name, sizeof t.name, "%s", o->file.process_name);
	if (!o->file.session_id) {
		*into = t;
		return 0;
	}
	if (number(o, o->file.session_id, &id, err))
		return error_prefix(err, "session_id of the driver file");
	if (id <= 0 || id > INT32_MAX || !read_process((pid_t)id, &p) ||
	    !read_process(p.group, &whole) || (*t.name && strcmp(t.name, whole.name) != 0)) {
		error_set(err, EXIT_ENVIRONMENT, "no process %lld%s%s evaluates queries here",
			  (long long)id, *t.name ? " named " : "", t.name);
		return error_hint(err, "tare measures servers on its own machine only");
	}
	snprintf(t.name, sizeof t.name, "%s", whole.name);
	t.guessed = false;
	t.process = p.group;
	t.thread = o->file.session_is_thread ? (pid_t)id : 0;
	t.server = server_of(p.group, whole.name);
	*into = t;
	return 0;
}

static int forget(void *state, struct error *err)
{
	struct odbc *o = state;
	return run_each(o, &o->file.flush, "flush", err);
}

static const char *const schemes[] = { "odbc", NULL };

const struct dbms_driver odbc_driver = {
	.name = "odbc",
	.schemes = schemes,
	.cold = DBMS_COLD_RESTART,
	.own_cold = own_cold,
	.open = open_driver,
	.close = close_driver,
	.own_name = own_name,
	.describe = describe,
	.lost = lost,
	.disconnect = disconnect,
	.connect = connect_driver,
	.run = run,
	.set = set,
	.number = number,
	.table_exists = table_exists,
	.type = type,
	.load = load,
	.settle = settle,
	.table_bytes = table_bytes,
	.prepare = prepare,
	.plan = plan,
	.begin = begin,
	.end = end,
	.ready = ready,
	.caution = caution,
	.execute = execute,
	.tasks = tasks,
	.forget = forget,
};
