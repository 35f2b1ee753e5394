/* PostgreSQL through libpq. The waiting loop of a query is in execute.c, the processes
 * in tasks.c. */
#include "subject/dbms/postgresql/postgresql.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "subject/dbms/plan.h"

#define CONNECT_PATIENCE_NS UINT64_C(30000000000)
#define COPY_BYTES (64 << 10)
#define READ_ONLY_TRANSACTION "25006" /* SQLSTATE */

/* NULL: it is not there. */
static const struct libpq *libpq_load(struct error *err)
{
	static const char *const names[] = {
#define LIBPQ_NAME(name) #name,
		LIBPQ_FUNCTIONS(LIBPQ_NAME)
#undef LIBPQ_NAME
			NULL
	};
	static struct libpq loaded;
	if (!loaded.PQcancel &&
	    driver_library(&loaded, names, "libpq.so.5", "install the package libpq5", err))
		return NULL;
	return &loaded;
}

/* ---- errors ---- */

/* On one line: white space of any length is one space. */
static void one_line(const char *text, char *out, size_t size)
{
	SCOPED(strbuf_release) struct strbuf line = { 0 };
	for (const char *at = text; *at; at++) {
		if (!isspace((unsigned char)*at))
			strbuf_putc(&line, *at);
		else if (line.length && at[strspn(at, " \t\r\n")] && !isspace((unsigned char)at[1]))
			strbuf_putc(&line, ' ');
	}
	text_display(strbuf_text(&line), out, size);
}

/* What comes behind the first line is where in its source it was, and questions that the hint asks,
 * too. */
static void first_line(const char *text, char *out, size_t size)
{
	FREED char *line = xstrndup(text, strcspn(text, "\n"));
	one_line(line, out, size);
}

static bool state_is(const char *state, const char *beginning)
{
	return strncmp(state, beginning, strlen(beginning)) == 0;
}

/* The connection is gone, or is about to be: the classes "connection exception" and, of "operator
 * intervention", a server that shuts down, crashed or does not take connections yet. */
static bool says_lost(const char *state)
{
	return state_is(state, "08") || state_is(state, "57P0");
}

/* Resources, locks, deadlocks, cancelled by somebody, the system, internal errors; all other
 * classes are about what was asked. */
static enum exit_code code_of(const char *state)
{
	static const char *const not_asked[] = { "40", "53", "55", "57", "58", "F0", "XX" };
	if (says_lost(state))
		return EXIT_SUBJECT;
	for (size_t i = 0; i < sizeof not_asked / sizeof *not_asked; i++)
		if (state_is(state, not_asked[i]))
			return EXIT_ENVIRONMENT;
	return EXIT_USAGE;
}

static int connection_failed(struct postgresql *s, struct error *err)
{
	char shown[600];
	first_line(s->connection ? s->pq->PQerrorMessage(s->connection) : "not connected", shown,
		   sizeof shown);
	if (!s->connection || s->pq->PQstatus(s->connection) != CONNECTION_OK)
		s->lost = true;
	return error_set(err, s->lost ? EXIT_SUBJECT : EXIT_ENVIRONMENT, "PostgreSQL: %s", shown);
}

int postgresql_failed(struct postgresql *s, const PGresult *r, struct error *err)
{
	const char *state = r ? s->pq->PQresultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
	if (!state)
		return connection_failed(s, err);
	const char *message = s->pq->PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
	const char *place = s->pq->PQresultErrorField(r, PG_DIAG_STATEMENT_POSITION);
	const char *hint = s->pq->PQresultErrorField(r, PG_DIAG_MESSAGE_HINT);
	const char *detail = s->pq->PQresultErrorField(r, PG_DIAG_MESSAGE_DETAIL);
	char shown[600];
	one_line(message ? message : "no reason given", shown, sizeof shown);
	if (says_lost(state) || s->pq->PQstatus(s->connection) != CONNECTION_OK)
		s->lost = true;
	error_set(err, s->lost ? EXIT_SUBJECT : code_of(state),
		  "PostgreSQL: %s (%s%s%sSQLSTATE %s)", shown, place ? "at character " : "",
		  place ? place : "", place ? ", " : "", state);
	if (strcmp(state, READ_ONLY_TRANSACTION) == 0)
		error_hint(err, DBMS_ALLOW_WRITES);
	else if (hint || detail) {
		one_line(hint ? hint : detail, shown, sizeof shown);
		error_hint(err, "%s", shown);
	}
	return -1;
}

/* ---- the connection ---- */

/* What libpq says of a URL that it does not understand quotes it, and with it a password. Where one
 * holds a / that is not escaped, libpq takes its parts for a port and a database, and an error of
 * connecting would show them. */
static bool is_understood(const struct libpq *pq, const char *url)
{
	char *why = NULL;
	PQconninfoOption *parts = pq->PQconninfoParse(url, &why);
	pq->PQfreemem(why);
	bool good = parts != NULL;
	for (const PQconninfoOption *p = parts; p && p->keyword; p++)
		if (p->val && strcmp(p->keyword, "port") == 0)
			good = !p->val[strspn(p->val, "0123456789,")];
	pq->PQconninfoFree(parts);
	const char *authority = strstr(url, "://");
	const char *path = authority ? strchr(authority + 3, '/') : NULL;
	return good && !(path && memchr(path, '@', strcspn(path, "?")));
}

static int pg_open(void **state, const char *url, const struct dbms_options *o, struct error *err)
{
	const struct libpq *pq = libpq_load(err);
	if (!pq)
		return -1;
	if (!is_understood(pq, url)) {
		error_set(err, EXIT_USAGE, "the URL of the database is not understood");
		return error_hint(err, "postgresql://user:password@host:port/database (in a "
				       "password / is written %%2F, @ %%40, %% %%25), or "
				       "postgresql:///database?host=/directory/of/socket");
	}
	struct postgresql *s = xcalloc(1, sizeof *s);
	s->pq = pq;
	s->url = xstrdup(url);
	s->workers_planned = -1;
	s->reads_only = o->transaction == QUERY_READ_ONLY;
	s->whole_reads = s->reads_only && o->must_exist;
	*state = s;
	return 0;
}

static void pg_disconnect(void *state)
{
	struct postgresql *s = state;
	if (s->connection)
		s->pq->PQfinish(s->connection);
	s->connection = NULL;
	s->prepared = s->lost = false;
	s->backend = s->postmaster = s->said = 0;
}

static void pg_close(void *state)
{
	struct postgresql *s = state;
	if (!s)
		return;
	pg_disconnect(s);
	array_release(&s->workers);
	array_release(&s->others);
	array_release(&s->readers);
	free(s->url);
	free(s);
}

/* libpq would write it to standard error. */
static void ignore_notice(void *context, const char *message)
{
	(void)context;
	(void)message;
}

/* False: it failed, or took too long. */
static bool await_connection(struct postgresql *s)
{
	uint64_t until = clock_monotonic_ns() + CONNECT_PATIENCE_NS;
	PostgresPollingStatusType next = s->pq->PQstatus(s->connection) == CONNECTION_BAD
						 ? PGRES_POLLING_FAILED
						 : PGRES_POLLING_WRITING;
	while (next != PGRES_POLLING_OK && next != PGRES_POLLING_FAILED &&
	       clock_monotonic_ns() < until) {
		struct pollfd fd = { .fd = s->pq->PQsocket(s->connection),
				     .events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT };
		if (poll(&fd, 1, 100) > 0)
			next = s->pq->PQconnectPoll(s->connection);
	}
	return next == PGRES_POLLING_OK;
}

/* libpq has no SQLSTATE of a refused connection, but says it in a verbose message, "FATAL:  28P01:
 * password ...", whatever the language. Taken out of there. */
static bool take_state(char *message, char state[6])
{
	for (char *at = message; (at = strstr(at, ":  ")); at++) {
		char *code = at + 3;
		if (strspn(code, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 5 || code[5] != ':')
			continue;
		memcpy(state, code, 5);
		state[5] = '\0';
		memmove(at + 2, code + 6, strlen(code + 6) + 1);
		at[strcspn(at, "\n")] = '\0'; /* where in its source that is */
		return true;
	}
	return false;
}

static int refused(struct postgresql *s, struct error *err)
{
	char state[6] = "", shown[600];
	FREED char *message = xstrdup(s->pq->PQerrorMessage(s->connection));
	bool password = s->pq->PQconnectionNeedsPassword(s->connection);
	take_state(message, state);
	first_line(*message ? message : "no answer in time", shown, sizeof shown);
	bool credentials = password || state_is(state, "28");
	bool theirs = credentials || (*state && code_of(state) == EXIT_USAGE);
	enum exit_code gone = s->was_connected ? EXIT_SUBJECT : EXIT_ENVIRONMENT;
	error_set(err, theirs ? EXIT_USAGE : gone, "cannot connect to PostgreSQL: %s", shown);
	if (credentials)
		error_hint(err, "user and password stand in the URL "
				"(postgresql://user:password@host/database), or in PGUSER and "
				"PGPASSWORD, or the password in ~/.pgpass");
	else if (!*state)
		error_hint(err, "is it running, and does the URL name its host (or the directory "
				"of its socket) and port?");
	return -1;
}

static int pg_run(void *state, const char *sql, struct error *err);

static int pg_connect(void *state, struct error *err)
{
	/* what stands later wins */
	static const char *const names[] = { "fallback_application_name", "client_encoding",
					     "dbname", NULL };
	struct postgresql *s = state;
	const char *values[] = { "tare", "UTF8", s->url, NULL };
	pg_disconnect(s);
	s->connection = s->pq->PQconnectStartParams(names, values, 1);
	if (!s->connection)
		return error_set(err, EXIT_ENVIRONMENT, "cannot connect to PostgreSQL: no memory");
	s->pq->PQsetErrorVerbosity(s->connection, PQERRORS_VERBOSE);
	s->pq->PQsetNoticeProcessor(s->connection, ignore_notice, NULL);
	int failed = await_connection(s) ? 0 : refused(s, err);
	if (!failed && s->whole_reads)
		failed = pg_run(s, "SET default_transaction_read_only = on", err);
	if (failed)
		pg_disconnect(s);
	else
		s->was_connected = true;
	return failed;
}

static bool pg_lost(const void *state)
{
	const struct postgresql *s = state;
	return s->lost || !s->connection || s->pq->PQstatus(s->connection) != CONNECTION_OK;
}

/* ---- statements ---- */

/* The result if it is a good one; frees it otherwise. */
static PGresult *good(struct postgresql *s, PGresult *r, struct error *err)
{
	ExecStatusType status = s->pq->PQresultStatus(r);
	if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY)
		return r;
	if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH)
		error_set(err, EXIT_USAGE, "a COPY from or to the client cannot be run here");
	else
		postgresql_failed(s, r, err);
	s->pq->PQclear(r);
	return NULL;
}

static PGresult *ask(struct postgresql *s, const char *sql, struct error *err)
{
	return good(s, s->pq->PQexec(s->connection, sql), err);
}

static PGresult *ask_about(struct postgresql *s, const char *sql, const char *what,
			   struct error *err)
{
	return good(s, s->pq->PQexecParams(s->connection, sql, 1, NULL, &what, NULL, NULL, 0), err);
}

static int pg_run(void *state, const char *sql, struct error *err)
{
	struct postgresql *s = state;
	PGresult *r = ask(s, sql, err);
	s->pq->PQclear(r);
	return r ? 0 : -1;
}

/* Of the result's first row; frees it. */
static int number_of(struct postgresql *s, PGresult *r, int64_t *value, struct error *err)
{
	if (!r)
		return -1;
	bool there = s->pq->PQntuples(r) > 0 && !s->pq->PQgetisnull(r, 0, 0);
	const char *text = there ? s->pq->PQgetvalue(r, 0, 0) : "";
	char *end;
	errno = 0;
	long long number = strtoll(text, &end, 10);
	bool is_number = there && end != text && !*end && !errno;
	s->pq->PQclear(r);
	if (!is_number)
		return error_set(err, EXIT_USAGE, "PostgreSQL: the answer is not a whole number");
	*value = number;
	return 0;
}

static int pg_number(void *state, const char *sql, int64_t *value, struct error *err)
{
	return number_of(state, ask(state, sql, err), value, err);
}

static int pg_describe(void *state, char **version, char **settings, struct error *err)
{
	/* a setting that this version does not have is left out */
	static const char sql[] =
		"SELECT coalesce(json_object_agg(name, current_setting(name) ORDER BY name), '{}') "
		"FROM pg_settings WHERE name IN ("
		"'autovacuum', 'block_size', 'checkpoint_timeout', 'cpu_index_tuple_cost', "
		"'cpu_operator_cost', 'cpu_tuple_cost', 'data_checksums', 'debug_assertions', "
		"'default_statistics_target', 'effective_cache_size', 'effective_io_concurrency', "
		"'from_collapse_limit', 'fsync', 'full_page_writes', 'geqo', 'hash_mem_multiplier', "
		"'huge_pages', 'io_method', 'jit', 'join_collapse_limit', 'lc_collate', "
		"'maintenance_work_mem', 'max_parallel_workers', 'max_parallel_workers_per_gather', "
		"'max_wal_size', 'max_worker_processes', 'min_parallel_table_scan_size', "
		"'parallel_leader_participation', 'parallel_setup_cost', 'parallel_tuple_cost', "
		"'plan_cache_mode', 'random_page_cost', 'seq_page_cost', 'server_encoding', "
		"'shared_buffers', 'statement_timeout', 'synchronize_seqscans', "
		"'synchronous_commit', 'temp_buffers', 'track_io_timing', 'wal_level', 'work_mem')";
	struct postgresql *s = state;
	PGresult *r = ask(s, sql, err);
	if (!r)
		return -1;
	const char *told = s->pq->PQparameterStatus(s->connection, "server_version");
	told = told ? told : "";
	*version = xstrndup(told, strcspn(told, " ")); /* "15.14 (Debian 15.14-0+deb12u1)" */
	*settings = xstrdup(s->pq->PQgetvalue(r, 0, 0));
	s->pq->PQclear(r);
	return 0;
}

/* ---- tables ---- */

static int pg_table_exists(void *state, const char *table, bool *exists, struct error *err)
{
	int64_t there;
	if (number_of(state,
		      ask_about(state, "SELECT (to_regclass($1) IS NOT NULL)::int", table, err),
		      &there, err))
		return -1;
	*exists = there != 0;
	return 0;
}

/* The main fork: what a scan of the table reads. Its free space and visibility maps are left out,
 * and long values that are kept elsewhere (TOAST), which are read only when one is looked at. Of a
 * partitioned table, that of its partitions. Plans have bare names ("Mixed", "select"), users write
 * SQL ("schema.table"). */
static int pg_table_bytes(void *state, const char *table, uint64_t *bytes, struct error *err)
{
	int64_t size;
	if (number_of(state,
		      ask_about(state,
				"SELECT pg_relation_size(t) + coalesce((SELECT "
				"sum(pg_relation_size(relid)) FROM pg_partition_tree(t) "
				"WHERE relid <> t), 0)::bigint FROM (SELECT "
				"coalesce(to_regclass(quote_ident($1)), $1::regclass) AS t) x",
				table, err),
		      &size, err))
		return -1;
	*bytes = (uint64_t)size;
	return 0;
}

/* One value of COPY's text format. */
static void add_value(struct strbuf *row, const char *value)
{
	if (!value) {
		strbuf_puts(row, "\\N");
		return;
	}
	while (*value) {
		size_t plain = strcspn(value, "\\\t\n\r");
		strbuf_add(row, value, plain);
		value += plain;
		if (!*value)
			break;
		strbuf_putc(row, '\\');
		strbuf_putc(row, *value == '\t'	  ? 't'
				 : *value == '\n' ? 'n'
				 : *value == '\r' ? 'r'
						  : '\\');
		value++;
	}
}

static bool send_rows(struct postgresql *s, size_t columns, dbms_row_fn next, void *context)
{
	FREED const char **values = xcalloc(columns, sizeof *values);
	SCOPED(strbuf_release) struct strbuf rows = { 0 };
	bool sent = true;
	while (sent && next(context, values)) {
		for (size_t i = 0; i < columns; i++) {
			if (i)
				strbuf_putc(&rows, '\t');
			add_value(&rows, values[i]);
		}
		strbuf_putc(&rows, '\n');
		if (rows.length < COPY_BYTES)
			continue;
		sent = s->pq->PQputCopyData(s->connection, rows.text, (int)rows.length) == 1;
		strbuf_clear(&rows);
	}
	if (sent && rows.length)
		sent = s->pq->PQputCopyData(s->connection, rows.text, (int)rows.length) == 1;
	return sent;
}

/* One COPY is one transaction: all rows or none. */
static int pg_load(void *state, const char *table, size_t columns, dbms_row_fn next, void *context,
		   struct error *err)
{
	struct postgresql *s = state;
	FREED char *sql = xprintf("COPY %s FROM STDIN", table);
	PGresult *r = s->pq->PQexec(s->connection, sql);
	if (s->pq->PQresultStatus(r) != PGRES_COPY_IN) {
		postgresql_failed(s, r, err);
		s->pq->PQclear(r);
		return -1;
	}
	s->pq->PQclear(r);
	int failed = 0;
	if (!send_rows(s, columns, next, context) ||
	    s->pq->PQputCopyEnd(s->connection, NULL) != 1) {
		s->lost = true; /* the server would wait for the rest for ever */
		failed = connection_failed(s, err);
	}
	while ((r = s->pq->PQgetResult(s->connection))) {
		if (!failed && s->pq->PQresultStatus(r) != PGRES_COMMAND_OK)
			failed = postgresql_failed(s, r, err);
		s->pq->PQclear(r);
		if (s->lost)
			break;
	}
	return failed;
}

/* Frozen, so that no later reader has to note in the pages which transactions are over, and write
 * them. */
static int pg_settle(void *state, const char *const *tables, size_t count, struct error *err)
{
	SCOPED(strbuf_release) struct strbuf sql = { 0 };
	strbuf_puts(&sql, "VACUUM (FREEZE, ANALYZE) ");
	for (size_t i = 0; i < count; i++)
		strbuf_printf(&sql, "%s%s", i ? ", " : "", tables[i]);
	int failed = count && pg_run(state, sql.text, err);
	if (failed)
		return -1;
	if (!pg_run(state, "CHECKPOINT", err))
		return 0;
	if (err && err->code == EXIT_USAGE)
		error_hint(err, "connect as a superuser, or let one GRANT pg_checkpoint to this "
				"user (PostgreSQL 15 and later)");
	return -1;
}

/* ---- the transaction around a query ---- */

/* A statement could make a read-only transaction a writing one until the first snapshot is taken,
 * which the SELECT does. It cannot end a transaction block and go on, since a prepared statement is
 * only one. */
static int pg_begin(void *state, struct error *err)
{
	struct postgresql *s = state;
	return pg_run(s, s->reads_only ? "BEGIN READ ONLY; SELECT 1" : "BEGIN", err);
}

/* Rolls back in any case: in a read-only transaction version 15 still lets large objects be
 * written. */
static int pg_end(void *state, enum query_transaction *how, struct error *err)
{
	struct postgresql *s = state;
	(void)how;
	if (s->pq->PQtransactionStatus(s->connection) == PQTRANS_IDLE)
		return error_set(err, EXIT_USAGE,
				 "the statement ended the transaction that protects data");
	return pg_run(s, "ROLLBACK", err);
}

/* One statement, whose settings stay. */
static int pg_set(void *state, const char *sql, struct error *err)
{
	struct postgresql *s = state;
	struct error late = ERROR_INIT;
	if (pg_begin(s, err))
		return -1;
	PGresult *r =
		good(s, s->pq->PQexecParams(s->connection, sql, 0, NULL, NULL, NULL, NULL, 0), err);
	s->pq->PQclear(r);
	return pg_run(s, r ? "COMMIT" : "ROLLBACK", r ? err : &late) || !r ? -1 : 0;
}

/* ---- the query ---- */

/* Functions that work outside of the transaction, which does not hold them back. Whatever else
 * calls them is not seen here. */
static int refuse_outside(const char *sql, struct error *err)
{
	static const char *const outside[] = { "dblink", "lo_export", "pg_file_" };
	for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
		if (strcasestr(sql, outside[i])) {
			error_set(err, EXIT_USAGE,
				  "PostgreSQL: a read-only transaction does not hold back '%s'",
				  outside[i]);
			return error_hint(err, "--allow-writes --commit executes it");
		}
	return 0;
}

static int pg_prepare(void *state, const char *sql, struct error *err)
{
	struct postgresql *s = state;
	bool guarded = s->pq->PQtransactionStatus(s->connection) != PQTRANS_IDLE;
	if (s->reads_only && guarded && refuse_outside(sql, err))
		return -1;
	if (s->prepared && pg_run(s, "DEALLOCATE " POSTGRESQL_STATEMENT, err))
		return -1;
	s->prepared = false;
	s->workers_planned = -1;
	PGresult *r =
		good(s, s->pq->PQprepare(s->connection, POSTGRESQL_STATEMENT, sql, 0, NULL), err);
	s->pq->PQclear(r);
	s->prepared = r != NULL;
	return r ? 0 : -1;
}

int postgresql_is_prepared(struct postgresql *s, struct error *err)
{
	if (s->prepared)
		return 0;
	return pg_lost(s) ? connection_failed(s, err)
			  : error_set(err, EXIT_USAGE, "no statement is prepared");
}

/* Without parameters a prepared statement has one plan (the "generic" one), kept until something
 * that it depends on changes; EXPLAIN EXECUTE shows that very plan, and it is executed. */
int postgresql_plan(void *state, struct query_plan *plan, struct error *err)
{
	struct postgresql *s = state;
	if (postgresql_is_prepared(s, err))
		return -1;
	PGresult *r = ask(s, "EXPLAIN (FORMAT JSON) EXECUTE " POSTGRESQL_STATEMENT, err);
	if (!r)
		return -1;
	int failed =
		s->pq->PQntuples(r) > 0
			? plan_of_postgresql(s->pq->PQgetvalue(r, 0, 0), plan, err)
			: error_set(err, EXIT_USAGE, "PostgreSQL has no plan of this statement");
	s->pq->PQclear(r);
	if (!failed) {
		/* The sum over all Gathers. The plan escapes quotes in texts, so this key matches
		 * no text. */
		static const char key[] = "\"Workers Planned\":\"";
		int64_t sum = 0;
		for (const char *at = plan->json; (at = strstr(at, key)); at += sizeof key - 1)
			sum += strtol(at + sizeof key - 1, NULL, 10);
		s->workers_planned = sum;
	}
	return failed;
}

static size_t pg_workers(const void *state, const pid_t **pids)
{
	const struct postgresql *s = state;
	*pids = s->workers.items;
	return s->workers.count;
}

static size_t pg_readers(const void *state, const pid_t **pids)
{
	const struct postgresql *s = state;
	*pids = s->readers.items;
	return s->readers.count;
}

static int pg_forget(void *state, struct error *err)
{
	(void)state;
	error_set(
		err, EXIT_ENVIRONMENT,
		"PostgreSQL has no statement that empties its shared buffers: only a restart does");
	return error_hint(err, "give the experiment a 'server:' with a 'data:' directory that tare "
			       "runs, or with 'start:' and 'stop:' commands");
}

static const char *const schemes[] = { "postgresql", "postgres", NULL };

const struct dbms_driver postgresql_driver = {
	.name = "postgresql",
	.schemes = schemes,
	.cold = DBMS_COLD_RESTART,
	.open = pg_open,
	.close = pg_close,
	.describe = pg_describe,
	.lost = pg_lost,
	.disconnect = pg_disconnect,
	.connect = pg_connect,
	.run = pg_run,
	.set = pg_set,
	.number = pg_number,
	.table_exists = pg_table_exists,
	.load = pg_load,
	.settle = pg_settle,
	.table_bytes = pg_table_bytes,
	.prepare = pg_prepare,
	.plan = postgresql_plan,
	.begin = pg_begin,
	.end = pg_end,
	.execute = postgresql_execute,
	.tasks = postgresql_tasks,
	.ended = postgresql_ended,
	.workers = pg_workers,
	.readers = pg_readers,
	.forget = pg_forget,
};
