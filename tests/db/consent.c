/* Without consent a prepared statement changes nothing, whatever it looks like; with it, only what
 * was to be kept stays. Each statement goes the way of a measured one (prepared, planned, executed)
 * and a second connection looks at the data afterwards. The argument names the engine. */
#include <errno.h>
#include <ftw.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/strbuf.h"
#include "subject/dbms/dbms.h"
#include "subject/dbms/server.h"

enum fate {
	REFUSED, /* by an error */
	PASSES,	 /* it does nothing that stays */
	EITHER,	 /* that depends on the version */
	ESCAPES, /* a function of the database works outside of the transaction: decision 039 */
};

struct attempt {
	enum fate outcome;
	const char *sql; /* $D stands for the directory, $U for the URL without its scheme */
};

struct engine {
	const char *name;
	const char *const *made;      /* statements that make the tables */
	const char *const *witnesses; /* numbers that stay as they are */
	const struct attempt *attempts;
	size_t count;
	const char *write; /* a statement that adds a row to t */
	const char *kept;  /* one whose writes no roll-back undoes; NULL: there is none */
	const struct attempt *settings; /* tried as settings of a connection */
	size_t setting_count;
};

static const struct engine *engine;
static char directory[64], url[600];
static struct server *server;
static struct dbms *watch;
static struct error err = ERROR_INIT;
static const char *driver_file;

static void good(int failed)
{
	if (failed)
		print_error("%s (%s)\n", err.text, err.hint);
	assert_int_equal(failed, 0);
}

static int64_t number(const char *sql)
{
	int64_t value = -1;
	good(dbms_number(watch, sql, &value, &err));
	return value;
}

/* ---- PostgreSQL ---- */

static const char *const postgresql_made[] = {
	"CREATE TABLE t (a int)",
	"INSERT INTO t SELECT generate_series(1, 8)",
	"CREATE SEQUENCE s",
	"CREATE EXTENSION dblink",
	"CREATE FUNCTION writes() RETURNS int LANGUAGE plpgsql AS "
	"'BEGIN INSERT INTO t VALUES (9); RETURN 1; END'",
	"CREATE FUNCTION hides() RETURNS int IMMUTABLE LANGUAGE plpgsql AS "
	"'BEGIN RETURN writes(); END'",
	"CREATE FUNCTION reopens() RETURNS int LANGUAGE plpgsql AS "
	"'BEGIN SET TRANSACTION READ WRITE; RETURN writes(); END'",
	"CREATE FUNCTION resets() RETURNS int LANGUAGE plpgsql AS "
	"'BEGIN SET LOCAL transaction_read_only = off; RETURN writes(); END'",
	"CREATE FUNCTION copies(f text) RETURNS int LANGUAGE plpgsql AS 'BEGIN EXECUTE "
	"format(''COPY t TO PROGRAM %L'', ''cat >'' || f); RETURN 1; END'",
	"CREATE FUNCTION links(u text) RETURNS text LANGUAGE plpgsql AS "
	"'BEGIN RETURN dblink_exec(u, ''INSERT INTO t VALUES (9)''); END'",
	"CREATE PROCEDURE commits() LANGUAGE plpgsql AS "
	"'BEGIN COMMIT; SET TRANSACTION READ WRITE; INSERT INTO t VALUES (9); END'",
	NULL,
};
static const char *const postgresql_witnesses[] = {
	"SELECT count(*) FROM t",
	"SELECT sum(a) FROM t",
	"SELECT last_value * 10 + is_called::int FROM s",
	"SELECT count(*) FROM pg_class",
	"SELECT count(*) FROM pg_largeobject_metadata",
	"SELECT count(*) FROM pg_prepared_xacts",
	"SELECT count(*) FROM pg_db_role_setting",
	NULL,
};
static const struct attempt postgresql_attempts[] = {
	{ PASSES, "SELECT count(*) FROM t" },
	{ PASSES, "WITH x AS (SELECT a FROM t) SELECT * FROM x" },
	{ PASSES, "VALUES (1), (2)" },
	{ REFUSED, "INSERT INTO t VALUES (9)" },
	{ REFUSED, "UPDATE t SET a = 0" },
	{ REFUSED, "DELETE FROM t" },
	{ REFUSED, "TRUNCATE t" },
	{ REFUSED, "COPY t FROM PROGRAM 'echo 9'" },
	{ REFUSED, "WITH x AS (INSERT INTO t VALUES (9) RETURNING a) SELECT * FROM x" },
	{ REFUSED, "WITH x AS (DELETE FROM t RETURNING a) SELECT * FROM x" },
	{ REFUSED, "EXPLAIN ANALYZE INSERT INTO t VALUES (9)" },
	{ REFUSED, "SELECT a FROM t FOR UPDATE" },
	{ REFUSED, "SELECT writes()" },
	{ REFUSED, "SELECT hides()" },
	{ REFUSED, "SELECT reopens()" },
	{ REFUSED, "SELECT resets()" },
	{ REFUSED, "SELECT set_config('transaction_read_only', 'off', false), writes()" },
	{ REFUSED, "SELECT 1; INSERT INTO t VALUES (9)" },
	{ REFUSED, "COMMIT; INSERT INTO t VALUES (9)" },
	{ REFUSED, "COMMIT" },
	{ REFUSED, "ROLLBACK" },
	{ REFUSED, "COMMIT AND CHAIN" },
	{ REFUSED, "BEGIN READ WRITE" },
	{ REFUSED, "SET TRANSACTION READ WRITE" },
	{ REFUSED, "SET default_transaction_read_only = off" },
	{ REFUSED, "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE" },
	{ PASSES, "SELECT set_config('default_transaction_read_only', 'off', false)" },
	{ REFUSED, "CALL commits()" },
	{ REFUSED, "DO 'BEGIN COMMIT; INSERT INTO t VALUES (9); END'" },
	{ REFUSED, "DO 'BEGIN SET TRANSACTION READ WRITE; INSERT INTO t VALUES (9); END'" },
	{ REFUSED, "SELECT nextval('s')" },
	{ REFUSED, "SELECT setval('s', 99)" },
	{ REFUSED, "CREATE TABLE u (a int)" },
	{ REFUSED, "SELECT 1 AS a INTO u" },
	{ REFUSED, "DROP TABLE t" },
	{ REFUSED, "CREATE INDEX ON t (a)" },
	{ REFUSED, "ALTER SYSTEM SET work_mem = '5MB'" },
	{ REFUSED, "ALTER DATABASE postgres SET work_mem = '5MB'" },
	{ REFUSED, "VACUUM t" },
	{ REFUSED, "PREPARE TRANSACTION 'x'" },
	{ REFUSED, "CREATE TEMP TABLE u (a int)" },
	{ REFUSED, "NOTIFY u" },
	{ EITHER, "SELECT lo_create(4242)" },
	{ EITHER, "SELECT lo_from_bytea(4243, 'x')" },
	{ EITHER, "SELECT lo_import('/etc/passwd')" },
	{ REFUSED, "SELECT lo_export(1, '$D/other/exported')" },
	{ REFUSED, "SELECT dblink_exec('$U', 'INSERT INTO t VALUES (9)')" },
	{ REFUSED,
	  "SELECT * FROM dblink('$U', 'INSERT INTO t VALUES (9) RETURNING 1') AS x(a int)" },
	{ REFUSED, "COPY t TO PROGRAM 'cat >$D/other/copied'" },
	{ ESCAPES, "SELECT copies('$D/other/copied')" },
	{ ESCAPES, "SELECT links('$U')" },
};

/* ---- MariaDB ---- */

static const char *const mariadb_made[] = {
	"CREATE TABLE t (a INT) ENGINE = InnoDB",
	"INSERT INTO t VALUES (1), (2), (3), (4)",
	"CREATE TABLE isam (a INT) ENGINE = MyISAM",
	"INSERT INTO isam VALUES (1)",
	"CREATE SEQUENCE s",
	"CREATE FUNCTION writes() RETURNS INT BEGIN INSERT INTO t VALUES (9); RETURN 1; END",
	"CREATE FUNCTION writes_isam() RETURNS INT BEGIN INSERT INTO isam VALUES (9); RETURN 1; END",
	"CREATE FUNCTION fixed() RETURNS INT DETERMINISTIC BEGIN INSERT INTO t VALUES (9); RETURN 1; "
	"END",
	"CREATE FUNCTION reopens() RETURNS INT BEGIN SET SESSION tx_read_only = 0; INSERT INTO t "
	"VALUES (9); RETURN 1; END",
	"CREATE FUNCTION outs() RETURNS INT BEGIN SELECT a INTO OUTFILE '$D/other/out' FROM t; RETURN "
	"1; END",
	"CREATE PROCEDURE commits() BEGIN COMMIT; SET SESSION tx_read_only = 0; INSERT INTO t "
	"VALUES (9); END",
	NULL,
};
static const char *const mariadb_witnesses[] = {
	"SELECT COUNT(*) FROM t",
	"SELECT SUM(a) FROM t",
	"SELECT COUNT(*) FROM isam",
	"SELECT next_not_cached_value FROM s",
	"SELECT COUNT(*) FROM information_schema.COLUMNS",
	"SELECT COUNT(*) FROM information_schema.ROUTINES",
	NULL,
};
static const struct attempt mariadb_attempts[] = {
	{ PASSES, "SELECT COUNT(*) FROM t" },
	{ PASSES, "WITH x AS (SELECT a FROM t) SELECT * FROM x" },
	{ REFUSED, "SELECT a FROM t FOR UPDATE" },
	{ REFUSED, "INSERT INTO t VALUES (9)" },
	{ REFUSED, "REPLACE INTO t VALUES (9)" },
	{ REFUSED, "INSERT INTO t VALUES (9) RETURNING a" },
	{ REFUSED, "INSERT INTO isam VALUES (9)" },
	{ REFUSED, "UPDATE t SET a = 0" },
	{ REFUSED, "DELETE FROM t" },
	{ REFUSED, "DELETE FROM t RETURNING a" },
	{ REFUSED, "TRUNCATE t" },
	{ REFUSED, "SELECT writes()" },
	{ REFUSED, "SELECT writes_isam()" },
	{ REFUSED, "SELECT fixed()" },
	{ REFUSED, "SELECT a FROM t WHERE a = fixed()" },
	{ REFUSED, "SELECT reopens()" },
	{ REFUSED, "SELECT 1; INSERT INTO t VALUES (9)" },
	{ REFUSED, "COMMIT; INSERT INTO t VALUES (9)" },
	{ REFUSED, "COMMIT" },
	{ REFUSED, "START TRANSACTION READ WRITE" },
	{ REFUSED, "SET SESSION TRANSACTION READ WRITE" },
	{ REFUSED, "CALL commits()" },
	{ REFUSED, "BEGIN NOT ATOMIC COMMIT; INSERT INTO t VALUES (9); END" },
	{ REFUSED, "EXECUTE IMMEDIATE 'INSERT INTO t VALUES (9)'" },
	{ REFUSED, "ANALYZE FORMAT=JSON INSERT INTO t VALUES (9)" },
	{ REFUSED, "SELECT NEXTVAL(s)" },
	{ REFUSED, "SELECT NEXT VALUE FOR s" },
	{ REFUSED, "SELECT SETVAL(s, 99)" },
	{ REFUSED, "CREATE TABLE u (a INT)" },
	{ REFUSED, "CREATE TABLE u AS SELECT 1" },
	{ REFUSED, "DROP TABLE t" },
	{ REFUSED, "ALTER TABLE t ADD b INT" },
	{ REFUSED, "CREATE INDEX i ON t (a)" },
	{ REFUSED, "LOCK TABLES t WRITE" },
	{ REFUSED, "SELECT a FROM t INTO OUTFILE '$D/other/out'" },
	{ REFUSED, "SELECT a INTO OUTFILE '$D/other/out' FROM t" },
	{ REFUSED, "SELECT a FROM t /*!50000 INTO OUTFILE '$D/other/out' */" },
	{ REFUSED, "SELECT a FROM t LIMIT 1 INTO DUMPFILE '$D/other/out'" },
	{ ESCAPES, "SELECT outs() LIMIT 1" },
	{ REFUSED, "SELECT 1 INTO @x" },
	{ REFUSED, "/*!50000 DELETE FROM t */" },
};

/* ---- SQLite ---- */

static const char *const sqlite_made[] = {
	"CREATE TABLE t (a INTEGER)",
	"INSERT INTO t VALUES (1), (2), (3)",
	"CREATE INDEX i ON t (a)",
	"ANALYZE",
	NULL,
};
static const char *const sqlite_witnesses[] = {
	"SELECT count(*) FROM t",
	"SELECT sum(a) FROM t",
	"SELECT count(*) FROM sqlite_schema",
	"SELECT user_version FROM pragma_user_version",
	"SELECT length(journal_mode) FROM pragma_journal_mode",
	NULL,
};
static const struct attempt sqlite_attempts[] = {
	{ PASSES, "SELECT count(*) FROM t" },
	{ PASSES, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9) "
		  "SELECT sum(i) FROM n" },
	{ PASSES, "SELECT * FROM pragma_table_info('t')" },
	{ PASSES, "SELECT * FROM json_each('[1, 2]')" },
	{ REFUSED, "INSERT INTO t VALUES (9)" },
	{ REFUSED, "WITH x AS (SELECT 9) INSERT INTO t SELECT * FROM x" },
	{ REFUSED, "INSERT INTO t VALUES (9) RETURNING a" },
	{ REFUSED, "UPDATE t SET a = 0" },
	{ REFUSED, "UPDATE sqlite_master SET type = 'x'" },
	{ REFUSED, "DELETE FROM t" },
	{ REFUSED, "SELECT 1; INSERT INTO t VALUES (9)" },
	{ REFUSED, "COMMIT; INSERT INTO t VALUES (9)" },
	{ REFUSED, "BEGIN" },
	{ REFUSED, "SAVEPOINT x" },
	{ REFUSED, "CREATE TABLE u (a)" },
	{ REFUSED, "CREATE TEMP TABLE u (a)" },
	{ REFUSED, "CREATE VIRTUAL TABLE u USING fts5(a)" },
	{ REFUSED, "DROP TABLE t" },
	{ REFUSED, "ALTER TABLE t ADD b" },
	{ REFUSED, "REINDEX" },
	{ REFUSED, "ANALYZE" },
	{ REFUSED, "VACUUM" },
	{ REFUSED, "VACUUM INTO '$D/other/vacuumed'" },
	{ REFUSED, "ATTACH '$D/other/attached' AS other" },
	{ REFUSED, "DETACH main" },
	{ REFUSED, "PRAGMA journal_mode = WAL" },
	{ REFUSED, "PRAGMA user_version = 5" },
	{ REFUSED, "PRAGMA query_only = 0" },
	{ REFUSED, "PRAGMA writable_schema = 1" },
	{ REFUSED, "PRAGMA wal_checkpoint" },
	{ REFUSED, "PRAGMA incremental_vacuum" },
	{ REFUSED, "PRAGMA optimize" },
	{ REFUSED, "SELECT * FROM pragma_optimize" },
	{ REFUSED, "SELECT load_extension('$D/other/x')" },
};

/* ---- ODBC: what the DBMS behind it refuses, or what is rolled back ---- */

static const struct attempt odbc_postgresql_attempts[] = {
	{ PASSES, "SELECT count(*) FROM t" },
	{ EITHER, "INSERT INTO t VALUES (9)" },
	{ EITHER, "WITH x AS (INSERT INTO t VALUES (9) RETURNING a) SELECT * FROM x" },
	{ EITHER, "SELECT writes()" },
	{ EITHER, "SELECT hides()" },
	{ EITHER, "SELECT reopens()" },
	{ REFUSED, "SELECT 1; INSERT INTO t VALUES (9)" },
	{ REFUSED, "SELECT 1; COMMIT; INSERT INTO t VALUES (9)" },
	{ EITHER, "SELECT 1 AS a INTO u" },
	{ EITHER, "DROP TABLE t" },
	{ EITHER, "SELECT lo_create(4242)" },
};
static const struct attempt odbc_sqlite_attempts[] = {
	{ PASSES, "SELECT count(*) FROM t" },
	{ EITHER, "INSERT INTO t VALUES (9)" },
	{ EITHER, "WITH x AS (SELECT 9) INSERT INTO t SELECT * FROM x" },
	{ REFUSED, "SELECT 1; INSERT INTO t VALUES (9)" },
	{ EITHER, "DROP TABLE t" },
};

/* ---- settings: an experiment may come from somebody else ---- */

static const struct attempt server_settings[] = {
	{ REFUSED, "INSERT INTO t VALUES (9)" },
};
static const struct attempt sqlite_settings[] = {
	{ PASSES, "PRAGMA cache_size = 100; PRAGMA mmap_size = 0" },
	{ PASSES, "PRAGMA synchronous = OFF" },
	{ PASSES, "PRAGMA user_version" },
	{ PASSES, "CREATE TEMP TABLE u AS SELECT a FROM t; CREATE INDEX temp.v ON u (a); "
		  "UPDATE u SET a = 0; DROP TABLE temp.u" },
	{ PASSES, "CREATE TEMP VIEW u AS SELECT a FROM t" },
	{ PASSES, "ATTACH ':memory:' AS u" },
	{ PASSES, "ATTACH '$D/x.db' AS u" },
	{ REFUSED, "ATTACH '$D/other/attached' AS u" },
	{ REFUSED, "ATTACH '$D/x.db' AS u; DELETE FROM u.t" },
	{ REFUSED, "INSERT INTO t VALUES (9)" },
	{ REFUSED, "PRAGMA cache_size = 100; DELETE FROM t" },
	{ REFUSED, "BEGIN; DELETE FROM t; COMMIT" },
	{ REFUSED, "BEGIN" },
	{ REFUSED, "CREATE TABLE u (a)" },
	{ REFUSED, "CREATE TEMP TRIGGER u AFTER INSERT ON t BEGIN DELETE FROM t; END" },
	{ REFUSED, "CREATE TEMP TABLE u (a); INSERT INTO u SELECT 1; INSERT INTO t VALUES (9)" },
	{ REFUSED, "DROP TABLE t" },
	{ REFUSED, "VACUUM" },
	{ REFUSED, "VACUUM INTO '$D/other/vacuumed'" },
	{ REFUSED, "ANALYZE" },
	{ REFUSED, "PRAGMA user_version = 5" },
	{ REFUSED, "PRAGMA schema_version = 5" },
	{ REFUSED, "PRAGMA application_id = 5" },
	{ REFUSED, "PRAGMA default_cache_size = 5" },
	{ REFUSED, "PRAGMA journal_mode = WAL" },
	{ REFUSED, "PRAGMA auto_vacuum = FULL" },
	{ REFUSED, "PRAGMA writable_schema = 1" },
	{ REFUSED, "PRAGMA optimize" },
	{ REFUSED, "SELECT load_extension('$D/other/x')" },
};
static const struct attempt odbc_settings[] = {
	{ PASSES, "SELECT 1" },
	{ REFUSED, "INSERT INTO t VALUES (9)" },
	{ REFUSED, "SELECT 1; INSERT INTO t VALUES (9)" },
	{ REFUSED, "COMMIT; INSERT INTO t VALUES (9)" },
};
static const struct attempt odbc_postgresql_settings[] = {
	{ PASSES, "SET work_mem = '5MB'" },
	{ EITHER, "SELECT writes()" },
	{ REFUSED, "INSERT INTO t VALUES (9)" },
	{ REFUSED, "SET work_mem = '5MB'; INSERT INTO t VALUES (9)" },
};

#define ATTEMPTS(list) list, sizeof(list) / sizeof *(list)
static const struct engine engines[] = {
	{ "postgresql", postgresql_made, postgresql_witnesses, ATTEMPTS(postgresql_attempts),
	  "INSERT INTO t VALUES (9)", NULL, ATTEMPTS(server_settings) },
	{ "mariadb", mariadb_made, mariadb_witnesses, ATTEMPTS(mariadb_attempts),
	  "INSERT INTO t VALUES (9)", "INSERT INTO isam VALUES (9)", ATTEMPTS(server_settings) },
	{ "sqlite", sqlite_made, sqlite_witnesses, ATTEMPTS(sqlite_attempts),
	  "INSERT INTO t VALUES (9)", NULL, ATTEMPTS(sqlite_settings) },
	{ "odbc-postgresql", postgresql_made, postgresql_witnesses,
	  ATTEMPTS(odbc_postgresql_attempts), "INSERT INTO t VALUES (9)", NULL,
	  ATTEMPTS(odbc_postgresql_settings) },
	{ "odbc-sqlite", sqlite_made, sqlite_witnesses, ATTEMPTS(odbc_sqlite_attempts),
	  "INSERT INTO t VALUES (9)", NULL, ATTEMPTS(odbc_settings) },
};

/* ---- what is compared ---- */

#define WITNESSES 8
struct evidence {
	int64_t numbers[WITNESSES];
	size_t files; /* that a statement made beside the database */
};

/* Counts and removes them. */
static size_t take_files(void)
{
	char pattern[96];
	glob_t found;
	snprintf(pattern, sizeof pattern, "%s/other/*", directory);
	size_t count = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
	for (size_t i = 0; i < count; i++)
		remove(found.gl_pathv[i]);
	globfree(&found);
	return count;
}

static struct evidence look(void)
{
	struct evidence e = { .files = take_files() };
	for (size_t i = 0; engine->witnesses[i]; i++)
		e.numbers[i] = number(engine->witnesses[i]);
	return e;
}

static char *filled(const char *sql)
{
	struct strbuf out = { 0 };
	for (; *sql; sql++)
		if (sql[0] == '$' && sql[1] == 'D') {
			strbuf_puts(&out, directory);
			sql++;
		} else if (sql[0] == '$' && sql[1] == 'U') {
			strbuf_puts(&out, url);
			sql++;
		} else
			strbuf_putc(&out, *sql);
	return strbuf_detach(&out);
}

static struct dbms *connect_as(enum query_transaction transaction, bool makes_tables,
			       const char *const *settings)
{
	struct dbms *d = NULL;
	const struct dbms_options o = { .must_exist = !makes_tables,
					.settings = settings,
					.driver_file = driver_file,
					.transaction = transaction };
	good(dbms_open(&d, url, &o, &err));
	return d;
}

/* As a measured statement: twice, unless it is refused. */
static int goes_through(struct dbms *d, const char *sql)
{
	struct query_plan plan = { 0 };
	struct dbms_execution x;
	int failed = dbms_prepare(d, sql, &err) || dbms_plan(d, &plan, &err) ||
		     dbms_execute(d, NULL, &x, &err) || dbms_execute(d, NULL, &x, &err);
	free(plan.json);
	return failed;
}

static void try_all(bool makes_tables)
{
	size_t wrong = 0;
	for (size_t i = 0; i < engine->count; i++) {
		const struct attempt *a = &engine->attempts[i];
		char *sql = filled(a->sql);
		struct evidence before = look();
		struct dbms *d = connect_as(QUERY_READ_ONLY, makes_tables, NULL);
		err = (struct error)ERROR_INIT;
		bool refused = goes_through(d, sql) != 0;
		dbms_close(d);
		struct evidence after = look();
		bool changed = memcmp(&before, &after, sizeof before) != 0;
		bool right = a->outcome == EITHER || a->outcome == ESCAPES ||
			     refused == (a->outcome == REFUSED);
		if (changed != (a->outcome == ESCAPES) || !right || (refused && !*err.text)) {
			print_error("%s: %s, %s: %s\n", sql, refused ? "refused" : "executed",
				    changed ? "DATA CHANGED" : "nothing changed", err.text);
			wrong++;
		}
		if (a->outcome == ESCAPES)
			good(dbms_run(watch, "DELETE FROM t WHERE a = 9", &err));
		free(sql);
	}
	assert_int_equal(wrong, 0);
}

/* ---- the tests ---- */

static void no_statement_changes_data_without_consent(void **state)
{
	(void)state;
	try_all(false);
}

/* tare writes on the same connection, but not the statement. */
static void no_statement_changes_data_beside_tables_of_tare(void **state)
{
	(void)state;
	try_all(true);
}

static void no_setting_changes_data_without_consent(void **state)
{
	(void)state;
	size_t wrong = 0;
	for (size_t i = 0; i < 2 * engine->setting_count; i++) {
		const struct attempt *a = &engine->settings[i / 2];
		char *sql = filled(a->sql);
		const char *const settings[] = { sql, NULL };
		/* tare makes tables in every second one */
		const struct dbms_options o = { .must_exist = i % 2,
						.settings = settings,
						.driver_file = driver_file };
		struct dbms *d = NULL;
		struct evidence before = look();
		err = (struct error)ERROR_INIT;
		bool refused = dbms_open(&d, url, &o, &err) != 0;
		if (!refused && dbms_cold(d) == DBMS_COLD_ONLINE)
			good(dbms_forget(d, &err));
		dbms_close(d);
		struct evidence after = look();
		bool changed = memcmp(&before, &after, sizeof before) != 0;
		bool right = a->outcome == EITHER || refused == (a->outcome == REFUSED);
		if (changed || !right || (refused && err.code != EXIT_USAGE)) {
			print_error("%s: %s, %s: %s\n", sql, refused ? "refused" : "executed",
				    changed ? "DATA CHANGED" : "nothing changed", err.text);
			wrong++;
		}
		free(sql);
	}
	assert_int_equal(wrong, 0);
}

/* If the driver file makes transactions read-only, it stays; otherwise PostgreSQL undoes it. */
static void a_setting_stays(void **state)
{
	(void)state;
	const char *const settings[] = { "SET statement_timeout = 54321", NULL };
	struct dbms *d = connect_as(QUERY_READ_ONLY, false, settings);
	int64_t value = 0;
	good(dbms_number(d, "SELECT setting FROM pg_settings WHERE name = 'statement_timeout'",
			 &value, &err));
	assert_int_equal(value, 54321);
	dbms_close(d);
}

static void what_tare_itself_writes_is_kept(void **state)
{
	(void)state;
	struct dbms *d = connect_as(QUERY_READ_ONLY, true, NULL);
	int64_t rows = number("SELECT count(*) FROM t");
	good(dbms_prepare(d, "SELECT count(*) FROM t", &err));
	good(dbms_run(d, engine->write, &err));
	struct dbms_execution x;
	good(dbms_execute(d, NULL, &x, &err));
	good(dbms_run(d, "DELETE FROM t WHERE a = 9", &err));
	good(dbms_run(d, engine->write, &err));
	assert_int_equal(number("SELECT count(*) FROM t"), rows + 1);
	good(dbms_run(d, "DELETE FROM t WHERE a = 9", &err));
	dbms_close(d);
	assert_int_equal(number("SELECT count(*) FROM t"), rows);
}

static void with_consent_each_execution_is_rolled_back(void **state)
{
	(void)state;
	struct evidence before = look();
	struct dbms *d = connect_as(QUERY_ROLLED_BACK, false, NULL);
	enum query_transaction how = QUERY_TRANSACTIONS;
	struct dbms_execution x;
	good(dbms_prepare(d, engine->write, &err));
	for (int i = 0; i < 3; i++) {
		good(dbms_begin(d, &err));
		good(dbms_execute(d, NULL, &x, &err));
		good(dbms_end(d, &how, &err));
		assert_int_equal(how, QUERY_ROLLED_BACK);
		struct evidence after = look();
		assert_memory_equal(&before, &after, sizeof before);
	}
	dbms_close(d);
}

static void what_cannot_be_rolled_back_is_told(void **state)
{
	(void)state;
	struct dbms *d = connect_as(QUERY_ROLLED_BACK, false, NULL);
	assert_true(goes_through(d, engine->kept));
	assert_int_equal(err.code, EXIT_USAGE);
	assert_non_null(strstr(err.text, "committed"));
	assert_non_null(strstr(err.hint, "--commit"));
	dbms_close(d);
}

static void only_a_commit_keeps_what_was_written(void **state)
{
	(void)state;
	int64_t rows = number("SELECT count(*) FROM t");
	struct dbms *d = connect_as(QUERY_COMMITTED, false, NULL);
	good(goes_through(d, engine->write));
	dbms_close(d);
	assert_int_equal(number("SELECT count(*) FROM t"), rows + 2);
	good(dbms_run(watch, "DELETE FROM t WHERE a = 9", &err));
}

/* A database that others have open in WAL mode is read, and keeps its mode and its log. */
static void a_database_with_a_log_is_read(void **state)
{
	(void)state;
	good(dbms_run(watch, "PRAGMA journal_mode = WAL; INSERT INTO t VALUES (9)", &err));
	try_all(false);
	good(dbms_run(watch, "DELETE FROM t WHERE a = 9; PRAGMA journal_mode = DELETE", &err));
}

/* All else that tare does before an execution works on a connection that only reads. */
static void a_reading_connection_is_enough_to_measure(void **state)
{
	(void)state;
	struct dbms *d = connect_as(QUERY_READ_ONLY, false, NULL);
	char *version = NULL, *settings = NULL;
	struct dbms_tasks tasks;
	uint64_t bytes;
	good(dbms_describe(d, &version, &settings, &err));
	good(dbms_tasks(d, &tasks, &err));
	good(dbms_table_bytes(d, "t", &bytes, &err));
	if (dbms_cold(d) == DBMS_COLD_ONLINE)
		good(dbms_forget(d, &err));
	else
		good(dbms_reconnect(d, &err));
	good(goes_through(d, "SELECT count(*) FROM t"));
	free(version);
	free(settings);
	dbms_close(d);
}

static void odbc_says_what_protects_data(void **state)
{
	(void)state;
	struct dbms *d = connect_as(QUERY_READ_ONLY, false, NULL);
	if (strncmp(engine->name, "odbc", 4) == 0 && !driver_file)
		assert_non_null(strstr(dbms_caution(d), "first word"));
	else
		assert_null(dbms_caution(d));
	dbms_close(d);
	d = connect_as(QUERY_ROLLED_BACK, false, NULL);
	assert_null(dbms_caution(d));
	dbms_close(d);
}

/* ---- the engine ---- */

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *f)
{
	(void)s, (void)kind, (void)f;
	return remove(path);
}

static int give_up(const char *why)
{
	const char *require = getenv("TARE_TEST_REQUIRE");
	fprintf(stderr, "skipped: %s\n", why);
	server_close(server);
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return require && *require == '1' ? 1 : 77;
}

static bool odbc_driver(const char *pattern, char *into, size_t size)
{
	glob_t found;
	bool there = glob(pattern, 0, NULL, &found) == 0;
	if (there)
		snprintf(into, size, "%s", found.gl_pathv[0]);
	globfree(&found);
	return there;
}

/* The server, its URL, and the connection that looks; -1: not installed. */
static int start(void)
{
	static const char *const settings[] = { "fsync=off", "max_prepared_transactions=2", NULL };
	char data[80], driver[256];
	bool by_odbc = strncmp(engine->name, "odbc-", 5) == 0;
	const char *dbms = engine->name + (by_odbc ? 5 : 0);
	bool is_sqlite = strcmp(dbms, "sqlite") == 0;
	snprintf(data, sizeof data, "%s/data", directory);
	const struct server_description d = { .dbms = dbms,
					      .data = data,
					      .make = true,
					      .settings = strcmp(dbms, "postgresql") == 0 ? settings
											  : NULL };
	snprintf(url, sizeof url, "sqlite:%s/x.db", directory);
	if (!is_sqlite) {
		if (server_open(&server, &d, &err) || server_start(server, &err))
			return -1;
		snprintf(url, sizeof url, "%s", server_url(server));
	}
	if (dbms_open(&watch, url, NULL, &err))
		return -1;
	if (!by_odbc)
		return 0;
	const char *pattern = is_sqlite ? "/usr/lib*/*/odbc/libsqlite3odbc.so"
					: "/usr/lib*/*/odbc/psqlodbcw.so";
	if (!odbc_driver(pattern, driver, sizeof driver))
		return error_set(&err, EXIT_ENVIRONMENT, "no %s", pattern);
	if (is_sqlite) {
		snprintf(url, sizeof url, "odbc:Driver=%s;Database=%s/x.db", driver, directory);
		return 0;
	}
	/* postgresql://USER@/DATABASE?host=DIRECTORY... */
	char host[200] = "", user[64] = "";
	const char *at = strstr(url, "host=");
	sscanf(at ? at : "", "host=%199[^&]", host);
	sscanf(url, "postgresql://%63[^@/]@", user);
	snprintf(url, sizeof url, "odbc:Driver=%s;Server=%s;Database=postgres;UID=%s", driver, host,
		 *user ? user : "postgres");
	return 0;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof engines / sizeof *engines; i++)
		if (strcmp(engines[i].name, argv[1]) == 0)
			engine = &engines[i];
	if (!engine)
		return 2;
	driver_file = argc > 2 ? argv[2] : NULL;
	snprintf(directory, sizeof directory, "/tmp/tare-consent-XXXXXX");
	char other[96];
	if (!mkdtemp(directory) || chmod(directory, 0755))
		return 1;
	snprintf(other, sizeof other, "%s/other", directory);
	if (mkdir(other, 0777) || chmod(other, 0777))
		return 1;
	if (start())
		return give_up(err.text);
	for (size_t i = 0; engine->made[i]; i++) {
		char *sql = filled(engine->made[i]);
		if (dbms_run(watch, sql, &err)) {
			print_error("%s: %s\n", sql, err.text);
			return 1;
		}
		free(sql);
	}
	const struct {
		struct CMUnitTest test;
		bool applies;
	} all[] = {
		{ cmocka_unit_test(no_statement_changes_data_without_consent), true },
		{ cmocka_unit_test(no_statement_changes_data_beside_tables_of_tare), true },
		{ cmocka_unit_test(no_setting_changes_data_without_consent), true },
		{ cmocka_unit_test(a_setting_stays),
		  strcmp(engine->name, "postgresql") == 0 || driver_file },
		{ cmocka_unit_test(what_tare_itself_writes_is_kept), true },
		{ cmocka_unit_test(with_consent_each_execution_is_rolled_back), true },
		{ cmocka_unit_test(what_cannot_be_rolled_back_is_told), engine->kept },
		{ cmocka_unit_test(only_a_commit_keeps_what_was_written), true },
		{ cmocka_unit_test(a_database_with_a_log_is_read),
		  strcmp(engine->name, "sqlite") == 0 },
		{ cmocka_unit_test(a_reading_connection_is_enough_to_measure), true },
		{ cmocka_unit_test(odbc_says_what_protects_data), true },
	};
	struct CMUnitTest tests[sizeof all / sizeof *all];
	size_t count = 0;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].applies)
			tests[count++] = all[i].test;
	int failed = _cmocka_run_group_tests("consent", tests, count, NULL, NULL);
	dbms_close(watch);
	server_close(server);
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return failed;
}
