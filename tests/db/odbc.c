/* ODBC behind dbms.h, with the drivers that are there: SQLite's, and PostgreSQL's with a server of
 * this test's own. */
#include <ftw.h>
#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "subject/dbms/dbms.h"

#define NS_PER_MS UINT64_C(1000000)

static char directory[64], url[512];
static const char *postgresql_file;
static struct error err;
static struct dbms *d;
static pid_t server;

static void ok(int result)
{
	if (result)
		print_error("%s\n", err.text);
	assert_int_equal(result, 0);
}

static int remove_entry(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(name);
}

static bool find(const char *const *patterns, char *into, size_t size)
{
	for (; *patterns; patterns++) {
		glob_t found;
		bool there = glob(*patterns, 0, NULL, &found) == 0;
		if (there)
			snprintf(into, size, "%s", found.gl_pathv[found.gl_pathc - 1]);
		globfree(&found);
		if (there)
			return true;
	}
	return false;
}

/* ---- rows ---- */

struct rows {
	uint64_t next, count, bad; /* bad: whose first value is no number; 0: none */
	char number[32], text[6000];
};

static bool next_row(void *context, const char **values)
{
	struct rows *r = context;
	if (r->next++ == r->count)
		return false;
	snprintf(r->number, sizeof r->number, "%llu%s", (unsigned long long)r->next,
		 r->next == r->bad ? "x" : "");
	snprintf(r->text, sizeof r->text, "row %llu", (unsigned long long)r->next);
	values[0] = r->number;
	values[1] = r->next % 10 ? r->text : NULL;
	return true;
}

static int64_t number(const char *sql)
{
	int64_t value = -1;
	ok(dbms_number(d, sql, &value, &err));
	return value;
}

static char *plan_of(const char *sql)
{
	struct query_plan plan = { 0 };
	ok(dbms_prepare(d, sql, &err));
	ok(dbms_plan(d, &plan, &err));
	return plan.json;
}

/* What every DBMS has to do. */
static void tables_and_queries(void)
{
	char sql[256], integer[64], text[64];
	bool exists = true;
	struct dbms_execution x = { 0 };
	struct rows rows = { .count = 500 };
	ok(dbms_table_exists(d, "t", &exists, &err));
	assert_false(exists);
	snprintf(sql, sizeof sql, "CREATE TABLE t (a %s, b %s)",
		 dbms_type(d, KIND_INTEGER, 0, integer), dbms_type(d, KIND_TEXT, 100, text));
	ok(dbms_run(d, sql, &err));
	ok(dbms_table_exists(d, "t", &exists, &err));
	assert_true(exists);
	ok(dbms_load(d, "t", 2, next_row, &rows, &err));
	assert_int_equal(number("SELECT count(*) FROM t"), 500);
	assert_int_equal(number("SELECT count(*) FROM t WHERE b IS NULL"), 50);
	assert_int_equal(number("SELECT sum(a) FROM t"), 125250);
	ok(dbms_settle(d, (const char *const[]){ "t" }, 1, &err));
	ok(dbms_prepare(d, "SELECT * FROM t", &err));
	for (int i = 0; i < 3; i++) {
		uint64_t before_ns = clock_monotonic_ns();
		ok(dbms_execute(d, NULL, &x, &err));
		assert_int_equal(x.rows, 500);
		assert_true(before_ns <= x.begin_ns && x.begin_ns < x.end_ns);
	}
	assert_int_equal(dbms_prepare(d, "SELECT * FROM nowhere", &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_int_equal(dbms_execute(d, NULL, &x, &err), -1);
	assert_int_equal(dbms_prepare(d, " ; ", &err), -1);
	assert_int_equal(dbms_run(d, "DROP TABLE nowhere", &err), -1);
	assert_false(dbms_lost(d));
	assert_int_equal(number("SELECT 7"), 7);
}

/* ---- SQLite ---- */

static bool have_sqlite(char *path, size_t size)
{
	static const char *const patterns[] = { "/usr/lib/*/odbc/libsqlite3odbc.so",
						"/usr/lib*/odbc/libsqlite3odbc.so",
						"/usr/lib*/libsqlite3odbc.so", NULL };
	return find(patterns, path, size);
}

static const char *write_file(const char *text)
{
	static char path[128];
	snprintf(path, sizeof path, "%s/x.driver", directory);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	return path;
}

static int set_up(void **state)
{
	(void)state;
	char driver[256];
	snprintf(directory, sizeof directory, "/tmp/tare-odbc.XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	if (have_sqlite(driver, sizeof driver))
		snprintf(url, sizeof url, "odbc:Driver=%s;Database=%s/x.db;StepAPI=1", driver,
			 directory);
	else
		*url = '\0';
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	dbms_close(d);
	d = NULL;
	return nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void open_sqlite(const char *text)
{
	struct dbms_options options = { .driver_file = text ? write_file(text) : NULL };
	if (!*url)
		skip();
	ok(dbms_open(&d, url, &options, &err));
}

static void sqlite_works_with_a_driver_file(void **state)
{
	(void)state;
	open_sqlite(
		"name = lite\nplan = EXPLAIN QUERY PLAN {sql}\nplan_numbers = drop\n"
		"analyze = ANALYZE {table}\nversion = SELECT sqlite_version()\n"
		"table_bytes = SELECT 4096 * count(*) FROM {table}\nflush = PRAGMA shrink_memory\n"
		"session = CREATE TEMP TABLE mine (a)\n");
	assert_string_equal(dbms_name(d), "lite");
	assert_int_equal(dbms_cold(d), DBMS_COLD_ONLINE);
	tables_and_queries();
	uint64_t bytes = 0;
	ok(dbms_table_bytes(d, "t", &bytes, &err));
	assert_int_equal(bytes, 500 * 4096);
	ok(dbms_forget(d, &err));
	ok(dbms_run(d, "SELECT * FROM mine", &err));
	char *scan = plan_of("SELECT * FROM t WHERE a = 5");
	assert_non_null(strstr(scan, "SCAN t"));
	ok(dbms_run(d, "CREATE INDEX i ON t (a)", &err));
	char *search = plan_of("SELECT * FROM t WHERE a = 5");
	assert_non_null(strstr(search, "USING INDEX i"));
	free(scan);
	free(search);
	char *version, *settings;
	ok(dbms_describe(d, &version, &settings, &err));
	assert_int_equal(version[0], '3');
	assert_non_null(strstr(settings, "\"dbms\""));
	free(version);
	free(settings);
	struct dbms_tasks tasks;
	ok(dbms_tasks(d, &tasks, &err));
	assert_true(tasks.guessed && tasks.process == 0);
	/* fetched, not stored (by this driver only outside of transactions), and no longer than the
	 * limit */
	struct dbms_execution x = { 0 };
	dbms_close(d);
	ok(dbms_open(&d, url, &(struct dbms_options){ .transaction = QUERY_COMMITTED }, &err));
	ok(dbms_prepare(
		d,
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
		&err));
	ok(dbms_execute(d, &(struct dbms_wait){ .limit_ns = 100 * NS_PER_MS }, &x, &err));
	assert_true(x.timed_out && x.rows > 0);
	assert_int_equal(number("SELECT 7"), 7);
	/* it is still the prepared one */
	ok(dbms_execute(d, &(struct dbms_wait){ .limit_ns = 50 * NS_PER_MS }, &x, &err));
	assert_true(x.timed_out);
	/* while there is no row yet */
	ok(dbms_prepare(d,
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
			"SELECT count(*) FROM n",
			&err));
	ok(dbms_execute(d, &(struct dbms_wait){ .limit_ns = 50 * NS_PER_MS }, &x, &err));
	assert_true(x.timed_out && x.rows == 0);
}

static void without_a_driver_file_plans_and_sizes_are_unknown(void **state)
{
	(void)state;
	open_sqlite(NULL);
	assert_string_equal(dbms_name(d), "odbc");
	assert_int_equal(dbms_cold(d), DBMS_COLD_RESTART);
	tables_and_queries();
	char *one = plan_of("SELECT 1"), *two = plan_of("SELECT a FROM t");
	assert_string_equal(one, two);
	free(one);
	free(two);
	uint64_t bytes = 1;
	ok(dbms_table_bytes(d, "t", &bytes, &err));
	assert_int_equal(bytes, 0);
}

/* Longer than what is fetched at once. */
static void long_values_are_fetched(void **state)
{
	(void)state;
	open_sqlite("version = SELECT replace(hex(zeroblob(10000)), '0', 'x')\n");
	char *version, *settings;
	ok(dbms_describe(d, &version, &settings, &err));
	assert_int_equal(strlen(version), 20000);
	assert_int_equal(strspn(version, "x"), 20000);
	free(version);
	free(settings);
}

static void bad_connections_are_refused(void **state)
{
	(void)state;
	struct dbms *other = NULL;
	if (!*url)
		skip();
	assert_int_equal(dbms_open(&other, "odbc:", NULL, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_int_equal(dbms_open(&other, "odbc:DSN=tare_no_such_source", NULL, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_true(*err.hint);
	assert_int_equal(dbms_open(&other, "odbc:Driver=/nowhere/libx.so;A=b", NULL, &err), -1);
	struct dbms_options options = { .driver_file = write_file("name = a\nplam = x {sql}\n") };
	assert_int_equal(dbms_open(&other, url, &options, &err), -1);
	assert_non_null(strstr(err.text, "line 2"));
	options.driver_file = write_file("session = NO SUCH STATEMENT\n");
	assert_int_equal(dbms_open(&other, url, &options, &err), -1);
	assert_non_null(strstr(err.text, "session"));
	/* a process that is none of this DBMS */
	open_sqlite("session_id = SELECT 1\nprocess_name = no_such_server\n");
	struct dbms_tasks tasks;
	assert_int_equal(dbms_tasks(d, &tasks, &err), -1);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_null(other);
}

/* ---- PostgreSQL ---- */

#define SCRIPT                                                                             \
	"export LC_ALL=C HOME=\"$2\"; cd \"$2\" && "                                       \
	"\"$1/initdb\" -D \"$2/data\" -U tare -A trust -N >log 2>&1 && "                   \
	"exec \"$1/postgres\" -D \"$2/data\" -k \"$2\" -c listen_addresses= -c fsync=off " \
	"-c max_connections=10 >>log 2>&1"

static void run_server(const char *bin)
{
	const char *as_nobody[] = { "setpriv",
				    "--reuid=65534",
				    "--regid=65534",
				    "--clear-groups",
				    "sh",
				    "-c",
				    SCRIPT,
				    "sh",
				    bin,
				    directory,
				    NULL };
	const char **words = geteuid() ? as_nobody + 4 : as_nobody;
	if (!geteuid() && chown(directory, 65534, 65534))
		_exit(1);
	execvp(words[0], (char **)(uintptr_t)words);
	_exit(1);
}

static int set_up_postgresql(void **state)
{
	static const char *const drivers[] = { "/usr/lib/*/odbc/psqlodbcw.so",
					       "/usr/lib*/psqlodbcw.so", NULL };
	static const char *const servers[] = { "/usr/lib/postgresql/*/bin/initdb",
					       "/usr/pgsql-*/bin/initdb", "/usr/bin/initdb", NULL };
	char driver[256], bin[256];
	if (set_up(state))
		return -1;
	*url = '\0';
	if (!find(drivers, driver, sizeof driver) || !find(servers, bin, sizeof bin))
		return 0;
	*strrchr(bin, '/') = '\0';
	snprintf(url, sizeof url, "odbc:Driver=%s;Server=%s;Database=postgres;UID=tare", driver,
		 directory);
	server = fork();
	if (server < 0)
		return -1;
	if (!server)
		run_server(bin);
	struct dbms_options options = { .driver_file = postgresql_file };
	for (int i = 0; i < 600 && waitpid(server, NULL, WNOHANG) == 0; i++) {
		if (dbms_open(&d, url, &options, &err) == 0)
			return 0;
		nanosleep(&(struct timespec){ 0, 100000000 }, NULL);
	}
	print_error("the server does not answer: %s\n", err.text);
	return -1;
}

static int tear_down_postgresql(void **state)
{
	dbms_close(d);
	d = NULL;
	if (server > 0) {
		kill(server, SIGINT);
		waitpid(server, NULL, 0);
		server = 0;
	}
	return tear_down(state);
}

static void limits_and_stops(void)
{
	struct dbms_wait wait = { .limit_ns = 200 * NS_PER_MS };
	struct dbms_execution x = { 0 };
	ok(dbms_prepare(d, "SELECT pg_sleep(60)", &err));
	uint64_t begin_ns = clock_monotonic_ns();
	ok(dbms_execute(d, &wait, &x, &err));
	assert_true(x.timed_out);
	uint64_t took_ns = clock_monotonic_ns() - begin_ns;
	assert_true(took_ns >= wait.limit_ns && took_ns < 30000 * NS_PER_MS);
	/* one that makes an error of its own of it was not cut, but failed */
	ok(dbms_run(
		d,
		"CREATE FUNCTION stubborn() RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM "
		"pg_sleep(60); RETURN 1; EXCEPTION WHEN query_canceled THEN RETURN 1 / 0; END $$",
		&err));
	ok(dbms_prepare(d, "SELECT stubborn()", &err));
	assert_int_equal(dbms_execute(d, &wait, &x, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_false(dbms_lost(d));
	ok(dbms_prepare(d, "SELECT 1", &err));
	wait.limit_ns = 60000 * NS_PER_MS;
	ok(dbms_execute(d, &wait, &x, &err));
	assert_false(x.timed_out);
	assert_int_equal(x.rows, 1);
}

static bool second_time(void *context)
{
	return ++*(int *)context == 2;
}

static void postgresql_works(void **state)
{
	(void)state;
	if (!*url)
		skip();
	tables_and_queries();
	struct rows rows = { .count = 100, .bad = 90 };
	assert_int_equal(dbms_load(d, "t", 2, next_row, &rows, &err), -1);
	assert_int_equal(number("SELECT count(*) FROM t"), 500); /* none of them */
	struct dbms_tasks tasks;
	ok(dbms_tasks(d, &tasks, &err));
	assert_false(tasks.guessed);
	assert_int_equal(tasks.server, server);
	assert_int_equal(tasks.process, number("SELECT pg_backend_pid()"));
	assert_int_equal(tasks.thread, 0);
	assert_string_equal(tasks.name, "postgres");
	uint64_t bytes = 0;
	ok(dbms_table_bytes(d, "t", &bytes, &err));
	assert_true(bytes > 0 && bytes % 8192 == 0);
	char *scan = plan_of("SELECT * FROM t WHERE a = 5");
	assert_non_null(strstr(scan, "Seq Scan on t"));
	free(scan);
	char *version, *settings;
	ok(dbms_describe(d, &version, &settings, &err));
	assert_true(atoi(version) >= 9);
	free(version);
	free(settings);
	limits_and_stops();
	int asked = 0;
	struct dbms_execution x;
	struct dbms_wait wait = { .stop = second_time, .context = &asked };
	ok(dbms_prepare(d, "SELECT pg_sleep(60)", &err));
	assert_int_equal(dbms_execute(d, &wait, &x, &err), -1);
	assert_int_equal(err.code, EXIT_INTERRUPTED);
	/* killed in mid-query, by itself */
	ok(dbms_prepare(d, "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(60)", &err));
	assert_int_equal(dbms_execute(d, NULL, &x, &err), -1);
	assert_int_equal(err.code, EXIT_SUBJECT);
	assert_true(dbms_lost(d));
	ok(dbms_reconnect(d, &err));
	assert_false(dbms_lost(d));
	assert_int_equal(number("SELECT count(*) FROM t"), 500);
	struct dbms *other = NULL;
	char wrong[600];
	snprintf(wrong, sizeof wrong, "%sX", url); /* another user */
	assert_int_equal(dbms_open(&other, wrong, NULL, &err), -1);
	assert_non_null(strstr(err.text, "tareX"));
	assert_int_equal(err.code, EXIT_ENVIRONMENT); /* its ODBC driver does not tell better */
	assert_null(other);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	postgresql_file = argv[1];
	const struct CMUnitTest tests[] = {
		TEST(sqlite_works_with_a_driver_file),
		TEST(without_a_driver_file_plans_and_sizes_are_unknown),
		TEST(long_values_are_fetched),
		TEST(bad_connections_are_refused),
		cmocka_unit_test_setup_teardown(postgresql_works, set_up_postgresql,
						tear_down_postgresql),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
