/* The PostgreSQL driver and its server, live: a server of the test's own on a private socket. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "subject/dbms/dbms.h"
#include "subject/dbms/postgresql/postgresql.h"
#include "subject/dbms/server.h"
#include "subject/dbms/server_kind.h"

#define SOON_NS UINT64_C(5000000000) /* half of what is cut, however busy the machine is */

static char directory[64], data[96];
static struct server *server;
static struct dbms *db;
static struct error err = ERROR_INIT;

static const char *const server_settings[] = { "shared_buffers=32MB", "fsync=off", "autovacuum=off",
					       "max_parallel_workers=4", NULL };
static const char *const serial[] = { "SET max_parallel_workers_per_gather = 0", NULL };

static struct server_description description(void)
{
	return (struct server_description){
		.dbms = "postgresql", .data = data, .make = true, .settings = server_settings
	};
}

/* cmocka's assertions say what was expected, not why it failed. */
static void good(int failed)
{
	if (failed)
		print_error("%s (%s)\n", err.text, err.hint);
	assert_int_equal(failed, 0);
}

static struct dbms *connect_with(const char *const *settings)
{
	struct dbms *d = NULL;
	struct dbms_options o = { .settings = settings };
	good(dbms_open(&d, server_url(server), &o, &err));
	return d;
}

static void run(const char *sql)
{
	good(dbms_run(db, sql, &err));
}

static int64_t number(const char *sql)
{
	int64_t value = -1;
	good(dbms_number(db, sql, &value, &err));
	return value;
}

static uint64_t plan_hash(const char *sql)
{
	struct query_plan plan = { 0 };
	good(dbms_prepare(db, sql, &err));
	good(dbms_plan(db, &plan, &err));
	free(plan.json);
	return plan.hash;
}

static struct dbms_execution execute(const char *sql)
{
	struct dbms_execution x;
	struct dbms_wait wait = { 0 };
	good(dbms_prepare(db, sql, &err));
	good(dbms_execute(db, &wait, &x, &err));
	assert_false(x.timed_out);
	assert_true(x.end_ns > x.begin_ns);
	return x;
}

static uint64_t peak_kib(void)
{
	char *status = file_read("/proc/self/status");
	uint64_t peak = strtoull(strstr(status, "VmHWM:") + 6, NULL, 10);
	free(status);
	return peak;
}

/* ---- the driver ---- */

static void it_describes_itself(void **state)
{
	(void)state;
	char *version, *settings;
	good(dbms_describe(db, &version, &settings, &err));
	assert_true(strtod(version, NULL) >= 9);
	assert_null(strchr(version, ' '));
	assert_non_null(strstr(settings, "\"shared_buffers\" : \"32MB\""));
	assert_non_null(strstr(settings, "\"jit\" : \"on\"")); /* the server's own */
	assert_non_null(strstr(settings, "\"max_parallel_workers_per_gather\" : \"0\""));
	assert_int_equal(dbms_cold(db), DBMS_COLD_RESTART);
	assert_int_equal(dbms_forget(db, &err), -1);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	free(version);
	free(settings);
}

static void a_plan_is_the_same_until_it_is_another(void **state)
{
	(void)state;
	const char *sql = "SELECT count(*) FROM p WHERE a = 77";
	run("CREATE TABLE p (a int, b text)");
	run("INSERT INTO p SELECT i, 'x' || i FROM generate_series(1, 20000) i");
	run("ANALYZE p");
	uint64_t scan = plan_hash(sql);
	run("INSERT INTO p SELECT i, 'y' || i FROM generate_series(1, 5000) i");
	assert_true(plan_hash(sql) == scan);
	run("ANALYZE p");
	assert_true(plan_hash(sql) == scan);
	assert_true(plan_hash("SELECT count(*) FROM p WHERE a = 78") != scan);
	run("CREATE INDEX p_a ON p (a)");
	uint64_t index = plan_hash(sql);
	assert_true(index != scan);
	run("DROP INDEX p_a");
	assert_true(plan_hash(sql) == scan);
	/* of the prepared one, without preparing it again */
	struct query_plan plan = { 0 };
	run("CREATE INDEX p_a ON p (a)");
	good(dbms_plan(db, &plan, &err));
	assert_true(plan.hash == index);
	assert_non_null(strstr(plan.json, "\"index\":\"p_a\""));
	free(plan.json);
	run("DROP TABLE p");
}

static void a_million_rows_are_fetched_and_not_kept(void **state)
{
	(void)state;
	execute("SELECT 1");
	uint64_t before = peak_kib();
	struct dbms_execution x =
		execute("SELECT i, 'some text of a row' FROM generate_series(1, 1000000) i");
	assert_int_equal(x.rows, 1000000);
	if (!getenv("TARE_TEST_SANITIZED")) /* a sanitizer keeps what was freed for a while */
		assert_true(peak_kib() - before < 20 << 10);
	assert_int_equal(execute("SELECT 1 WHERE false").rows, 0);
}

static void the_limit_cancels_and_the_connection_stays(void **state)
{
	(void)state;
	struct dbms_execution x;
	struct dbms_wait wait = { .limit_ns = 200000000 };
	good(dbms_prepare(db, "SELECT pg_sleep(10)", &err));
	good(dbms_execute(db, &wait, &x, &err));
	assert_true(x.timed_out);
	assert_true(x.end_ns - x.begin_ns >= 200000000);
	assert_true(getenv("TARE_TEST_SANITIZED") || x.end_ns - x.begin_ns < SOON_NS);
	assert_false(dbms_lost(db));
	assert_int_equal(number("SELECT 42"), 42);
	/* while rows stream, too */
	good(dbms_prepare(db, "SELECT generate_series(1, 1000000000)", &err));
	good(dbms_execute(db, &wait, &x, &err));
	assert_true(x.timed_out);
	assert_true(x.rows > 0);
	assert_int_equal(number("SELECT 43"), 43);
}

static bool stop_at_third(void *context)
{
	return ++*(int *)context == 3;
}

static void whoever_waits_may_stop_it(void **state)
{
	(void)state;
	int asked = 0;
	struct dbms_execution x;
	struct dbms_wait wait = { .stop = stop_at_third, .context = &asked };
	uint64_t begin = clock_monotonic_ns();
	good(dbms_prepare(db, "SELECT pg_sleep(10)", &err));
	assert_int_equal(dbms_execute(db, &wait, &x, &err), -1);
	assert_int_equal(err.code, EXIT_INTERRUPTED);
	assert_int_equal(asked, 3);
	assert_true(getenv("TARE_TEST_SANITIZED") || clock_monotonic_ns() - begin < SOON_NS);
	assert_int_equal(number("SELECT 44"), 44);
}

static bool kill_backend(void *context)
{
	pid_t *backend = context;
	if (*backend)
		kill(*backend, SIGTERM);
	*backend = 0;
	return false;
}

static void a_lost_connection_is_known_and_made_anew(void **state)
{
	(void)state;
	struct dbms_tasks tasks;
	good(dbms_tasks(db, &tasks, &err));
	assert_int_equal(tasks.process, number("SELECT pg_backend_pid()"));
	assert_string_equal(tasks.name, "postgres");
	pid_t backend = tasks.process;
	struct dbms_execution x;
	struct dbms_wait wait = { .stop = kill_backend, .context = &backend };
	good(dbms_prepare(db, "SELECT pg_sleep(10)", &err));
	assert_int_equal(dbms_execute(db, &wait, &x, &err), -1);
	assert_int_equal(err.code, EXIT_SUBJECT);
	assert_true(dbms_lost(db));
	assert_int_equal(dbms_run(db, "SELECT 1", &err), -1);
	assert_int_equal(err.code, EXIT_SUBJECT);
	good(dbms_reconnect(db, &err));
	assert_false(dbms_lost(db));
	struct dbms_tasks after;
	good(dbms_tasks(db, &after, &err));
	assert_int_equal(after.server, tasks.server);
	assert_int_not_equal(after.process, tasks.process);
	/* with its settings */
	assert_int_equal(number("SHOW max_parallel_workers_per_gather"), 0);
	assert_int_equal(number("SELECT (current_setting('jit') = 'on')::int"), 1);
}

static void errors_say_whose_they_are(void **state)
{
	(void)state;
	assert_int_equal(dbms_prepare(db, "SELECT nothing FROM nowhere", &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_non_null(strstr(err.text, "\"nowhere\" does not exist (at character 21"));
	assert_int_equal(dbms_run(db, "SELEKT", &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_null(strchr(err.text, '\n'));
	struct dbms_execution x;
	struct dbms_wait wait = { 0 };
	assert_int_equal(dbms_execute(db, &wait, &x, &err), -1); /* nothing is prepared */
	good(dbms_prepare(db, "SELECT 1 / (i - 1000) FROM generate_series(1, 2000) i", &err));
	assert_int_equal(dbms_execute(db, &wait, &x, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_non_null(strstr(err.text, "division by zero"));
	assert_false(dbms_lost(db));
	int64_t value;
	assert_int_equal(dbms_number(db, "SELECT 'x'", &value, &err), -1);
	assert_int_equal(dbms_number(db, "SELECT 1 WHERE false", &value, &err), -1);
	assert_int_equal(number("SELECT 45"), 45);
}

static void refusals_say_whose_they_are(void **state)
{
	(void)state;
	static const struct {
		const char *user, *database;
		const char *said;
	} wrong[] = { { "nobody-such", "postgres", "nobody-such" },
		      { "postgres", "none-such", "none-such" } };
	struct dbms *d;
	char url[256];
	for (size_t i = 0; i < 2; i++) {
		snprintf(url, sizeof url, "postgresql://%s@/%s?host=%s&port=5432", wrong[i].user,
			 wrong[i].database, data);
		assert_int_equal(dbms_open(&d, url, NULL, &err), -1);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_non_null(strstr(err.text, wrong[i].said));
		assert_null(strstr(err.text, "LOCATION"));
	}
	snprintf(url, sizeof url, "postgresql://postgres@/postgres?host=%s&port=5433", data);
	assert_int_equal(dbms_open(&d, url, NULL, &err), -1);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_int_equal(dbms_open(&d, "postgresql://h/d?no_such=1", NULL, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	static const char *const secret[] = { "postgresql://u:SECRET/x@h/d",
					      "postgresql://u:1/SECRET@h/d",
					      "postgresql://u:SECRET%zz@h/d", "pg://u:SECRET@h" };
	for (size_t i = 0; i < sizeof secret / sizeof *secret; i++) {
		assert_int_equal(dbms_open(&d, secret[i], NULL, &err), -1);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_null(strstr(err.text, "SECRET"));
		assert_true(*err.hint);
	}
	static const char *const bad[] = { "SET no_such_thing = 1", NULL };
	struct dbms_options o = { .settings = bad };
	assert_int_equal(dbms_open(&d, server_url(server), &o, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
}

static void a_password_that_is_wrong_is_the_users(void **state)
{
	(void)state;
	char hba[128], url[256], *before;
	struct dbms *d;
	run("CREATE ROLE guarded LOGIN PASSWORD 'right'");
	snprintf(hba, sizeof hba, "%s/pg_hba.conf", data);
	before = file_read(hba);
	FILE *file = fopen(hba, "w");
	fprintf(file, "local all guarded scram-sha-256\n%s", before);
	fclose(file);
	run("SELECT pg_reload_conf()");
	/* until the reload has come through */
	snprintf(url, sizeof url, "postgresql://guarded:wrong@/postgres?host=%s&port=5432", data);
	for (int i = 0; i < 100 && dbms_open(&d, url, NULL, &err) == 0; i++) {
		dbms_close(d);
		usleep(20000);
	}
	assert_int_equal(err.code, EXIT_USAGE);
	assert_non_null(strstr(err.text, "password authentication failed"));
	assert_non_null(strstr(err.hint, "PGPASSWORD"));
	assert_null(strstr(err.text, "wrong"));
	snprintf(url, sizeof url, "postgresql://guarded@/postgres?host=%s&port=5432&passfile=/none",
		 data);
	assert_int_equal(dbms_open(&d, url, NULL, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	snprintf(url, sizeof url, "postgresql://guarded:right@/postgres?host=%s&port=5432", data);
	good(dbms_open(&d, url, NULL, &err));
	static const char *const tables[] = { "pg_class" };
	assert_int_equal(dbms_settle(d, tables, 0, &err), -1); /* no superuser */
	assert_int_equal(err.code, EXIT_USAGE);
	dbms_close(d);
	file = fopen(hba, "w");
	fputs(before, file);
	fclose(file);
	free(before);
	run("DROP ROLE guarded");
	run("SELECT pg_reload_conf()");
}

static void parallel_workers_are_found(void **state)
{
	(void)state;
	static const char *const parallel[] = { "SET max_parallel_workers_per_gather = 2",
						"SET parallel_setup_cost = 0",
						"SET parallel_tuple_cost = 0",
						"SET min_parallel_table_scan_size = 0", NULL };
	static const char sql[] = "SELECT count(*) FROM w WHERE a % 7 = 3 AND md5(a::text) > '5'";
	struct dbms_wait wait = { 0 };
	struct dbms_execution x;
	const pid_t *pids;
	run("CREATE TABLE w AS SELECT i AS a FROM generate_series(1, 1000000) i");
	run("VACUUM ANALYZE w");
	struct dbms *d = connect_with(parallel);
	struct dbms_tasks tasks;
	good(dbms_prepare(d, sql, &err));
	struct query_plan plan = { 0 };
	good(dbms_plan(d, &plan, &err));
	assert_non_null(strstr(plan.json, "\"Workers Planned\":\"2\""));
	free(plan.json);
	for (int i = 0; i < 3; i++) {
		good(dbms_tasks(d, &tasks, &err));
		assert_true(tasks.makes_workers);
		good(dbms_execute(d, &wait, &x, &err));
		assert_int_equal(x.rows, 1);
		assert_int_equal(dbms_workers(d, &pids), 2);
		assert_int_not_equal(pids[0], pids[1]);
		assert_int_not_equal(pids[0], tasks.process);
	}
	/* without a plan there may be some */
	good(dbms_prepare(d, sql, &err));
	good(dbms_tasks(d, &tasks, &err));
	assert_true(tasks.makes_workers);
	good(dbms_execute(d, &wait, &x, &err));
	assert_int_equal(dbms_workers(d, &pids), 2);
	good(dbms_prepare(d, "SELECT 1", &err));
	good(dbms_execute(d, &wait, &x, &err));
	assert_int_equal(dbms_workers(d, &pids), 0);
	good(dbms_plan(d, &plan, &err));
	free(plan.json);
	good(dbms_tasks(d, &tasks, &err));
	assert_false(tasks.makes_workers);
	dbms_close(d);
	execute(sql);
	assert_int_equal(dbms_workers(db, &pids), 0);
	run("DROP TABLE w");
}

/* Titles as servers of these versions had them. */
static void titles_say_what_a_process_is_for(void **state)
{
	(void)state;
	static const struct {
		const char *title;
		enum postgresql_kind kind;
	} known[] = {
		{ "postgres: parallel worker for PID 4711 ", POSTGRESQL_WORKER },	 /* 15 */
		{ "postgres: bench: parallel worker for PID 4711 ", POSTGRESQL_WORKER }, /* 18 */
		{ "postgres: bgworker: parallel worker for PID 4711   ", POSTGRESQL_WORKER },
		{ "postgres: parallel worker for PID 47110 ", POSTGRESQL_OTHER },
		{ "postgres: io worker 0", POSTGRESQL_READER }, /* 18 */
		{ "postgres: bench: io worker 31", POSTGRESQL_READER },
		{ "postgres: io worker [local] idle", POSTGRESQL_OTHER }, /* a user, a database */
		{ "postgres: io worker 127.0.0.1(53112) idle", POSTGRESQL_OTHER },
		{ "postgres: bench: checkpointer ", POSTGRESQL_OTHER },
		{ "postgres: postgres shop [local] SELECT", POSTGRESQL_OTHER },
		{ "postgres: autovacuum worker shop", POSTGRESQL_OTHER },
		{ "/usr/lib/postgresql/15/bin/postgres", POSTGRESQL_UNTITLED },
		{ "", POSTGRESQL_UNTITLED },
		{ NULL, POSTGRESQL_UNTITLED },
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		assert_int_equal(postgresql_kind(known[i].title, 4711), known[i].kind);
}

static void a_task_has_a_number_for_each_namespace(void **state)
{
	(void)state;
	assert_int_equal(number_within("Name:\tpostgres\nNSpid:\t26927\t31\t7\nNSpgid:\t9\t8\n"),
			 7);
	assert_int_equal(number_within("Name:\tpostgres\nNSpid:\t26927\n"), 26927);
	assert_int_equal(number_within("Name:\tNSpid:\t5\nPid:\t6\n"), 0);
}

/* Who came and went without a title is a worker as long as the plan has so many. */
static void ends_are_matched_with_the_plan(void **state)
{
	(void)state;
	static const struct dbms_end ends[] = { { 11, "postgres: parallel worker for PID 7 " },
						{ 12, NULL },
						{ 13, "postgres: me shop [local] idle" },
						{ 14, "/usr/lib/postgresql/15/bin/postgres" } };
	struct postgresql s = { .said = 7, .workers_planned = 3 };
	const pid_t *pids;
	postgresql_ended(&s, ends, 4);
	assert_int_equal(postgresql_driver.workers(&s, &pids), 3);
	assert_int_equal(pids[0], 11);
	assert_int_equal(pids[1], 12);
	assert_int_equal(pids[2], 14);
	s.workers.count = s.others.count = 0;
	s.workers_planned = 2;
	postgresql_ended(&s, ends, 4);
	assert_int_equal(postgresql_driver.workers(&s, &pids), 1);
	array_release(&s.workers);
	array_release(&s.others);
}

/* ---- tables ---- */

struct rows {
	const char *const (*items)[2];
	size_t count, at;
};

static bool next_row(void *context, const char **values)
{
	struct rows *r = context;
	if (r->at == r->count)
		return false;
	values[0] = r->items[r->at][0];
	values[1] = r->items[r->at++][1];
	return true;
}

static void loaded_texts_are_what_they_were(void **state)
{
	(void)state;
	static const char *const items[][2] = { { "1", "a\tb" },     { "2", "c\\d\\n" },
						{ "3", "e\nf\r\n" }, { "4", NULL },
						{ "5", "" },	     { "6", "\\N" },
						{ NULL, "\\." },     { "8", "ä\xe2\x82\xac'\"" } };
	struct rows rows = { .items = items, .count = 8 };
	bool exists;
	good(dbms_table_exists(db, "l", &exists, &err));
	assert_false(exists);
	run("CREATE TABLE l (a int, b text)");
	good(dbms_table_exists(db, "l", &exists, &err));
	assert_true(exists);
	good(dbms_load(db, "l", 2, next_row, &rows, &err));
	assert_int_equal(number("SELECT count(*) FROM l"), 8);
	assert_int_equal(number("SELECT count(*) FROM l WHERE (a, b) IN ((1, E'a\\tb'), (2, "
				"E'c\\\\d\\\\n'), (3, E'e\\nf\\r\\n'), (5, ''), (6, E'\\\\N'), "
				"(8, E'ä\\u20ac''\"'))"),
			 6);
	assert_int_equal(number("SELECT count(*) FROM l WHERE a = 4 AND b IS NULL"), 1);
	assert_int_equal(number("SELECT count(*) FROM l WHERE a IS NULL AND b = E'\\\\.'"), 1);
	static const char *const tables[] = { "l" };
	uint64_t bytes;
	good(dbms_settle(db, tables, 1, &err));
	good(dbms_table_bytes(db, "l", &bytes, &err));
	assert_int_equal(bytes, 8192);
	run("DROP TABLE l");
	assert_int_equal(dbms_table_bytes(db, "l", &bytes, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	/* as a plan has it, and as one writes it */
	run("CREATE TABLE \"Mixed\" AS SELECT 1 AS a");
	run("CREATE TABLE \"select\" AS SELECT 1 AS a");
	static const char *const names[] = { "Mixed", "\"Mixed\"", "public.\"Mixed\"", "select" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		good(dbms_table_bytes(db, names[i], &bytes, &err));
		assert_int_equal(bytes, 8192);
	}
	run("DROP TABLE \"Mixed\"");
	run("DROP TABLE \"select\"");
	run("CREATE TABLE l (a int, b text) PARTITION BY RANGE (a)");
	run("CREATE TABLE l1 PARTITION OF l FOR VALUES FROM (0) TO (10)");
	run("INSERT INTO l VALUES (1, 'x')");
	good(dbms_table_bytes(db, "l", &bytes, &err));
	assert_int_equal(bytes, 8192);
	run("DROP TABLE l");
}

static void a_load_is_whole_or_nothing(void **state)
{
	(void)state;
	enum { MANY = 50000 };
	static const char *items[MANY][2];
	for (size_t i = 0; i < MANY; i++) {
		items[i][0] = i == MANY / 2 ? "no number" : "7";
		items[i][1] = "text";
	}
	struct rows rows = { .items = (const char *const(*)[2])items, .count = MANY };
	run("CREATE TABLE n (a int, b text)");
	assert_int_equal(dbms_load(db, "n", 2, next_row, &rows, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_non_null(strstr(err.text, "no number"));
	assert_int_equal(number("SELECT count(*) FROM n"), 0);
	assert_int_equal(dbms_load(db, "no_such", 2, next_row, &rows, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	run("DROP TABLE n");
}

/* ---- the server ---- */

static pid_t server_pid(void)
{
	struct dbms_tasks tasks;
	good(dbms_tasks(db, &tasks, &err));
	return tasks.server;
}

#define BURN "SELECT count(md5(i::text)) FROM generate_series(1, 1000000) i"
#define BURNING                                                                    \
	"SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND " \
	"state = 'active' AND query LIKE '%md5%'"

static void it_is_stopped_and_started(void **state)
{
	(void)state;
	run("CREATE TABLE kept AS SELECT 5 AS a");
	pid_t before = server_pid();
	good(server_start(server, &err)); /* it runs */
	good(server_stop(server, &err));
	assert_int_equal(kill(before, 0), -1);
	assert_int_equal(dbms_run(db, "SELECT 1", &err), -1);
	assert_true(dbms_lost(db));
	assert_int_equal(dbms_reconnect(db, &err), -1);
	assert_int_equal(err.code, EXIT_SUBJECT);
	assert_true(dbms_lost(db));
	struct query_plan plan;
	assert_int_equal(dbms_plan(db, &plan, &err), -1);
	assert_int_equal(err.code, EXIT_SUBJECT);
	good(server_stop(server, &err)); /* again: nothing */
	good(server_start(server, &err));
	good(dbms_reconnect(db, &err));
	assert_int_equal(number("SELECT a FROM kept"), 5);
	assert_int_not_equal(server_pid(), before);
	/* a crash is noticed, and what it leaves behind is waited for */
	pid_t crashed = server_pid();
	struct dbms *busy = connect_with(serial);
	pid_t child = fork();
	if (child == 0) {
		struct dbms_execution x;
		struct dbms_wait wait = { 0 };
		dbms_prepare(busy, BURN, &err);
		_exit(dbms_execute(busy, &wait, &x, &err) ? 1 : 0);
	}
	for (int i = 0; i < 500 && number(BURNING) == 0; i++)
		usleep(10000);
	kill(crashed, SIGKILL);
	for (int i = 0; i < 500 && dbms_run(db, "SELECT 1", &err) == 0; i++)
		usleep(10000);
	assert_true(dbms_lost(db));
	good(server_start(server, &err));
	good(dbms_reconnect(db, &err));
	assert_int_not_equal(server_pid(), crashed);
	assert_int_equal(number("SELECT a FROM kept"), 5);
	waitpid(child, NULL, 0);
	dbms_close(busy);
	run("DROP TABLE kept");
}

static void two_tares_do_not_share_a_server(void **state)
{
	(void)state;
	struct server_description d = description();
	struct server *other;
	good(server_open(&other, &d, &err));
	assert_int_equal(server_start(other, &err), -1);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_non_null(strstr(err.text, "another tare"));
	server_close(other);
	assert_int_equal(number("SELECT 46"), 46);
}

/* A tare that starts the server and is killed. */
static void start_and_die(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		struct server_description d = description();
		struct server *own;
		if (server_open(&own, &d, &err) || server_start(own, &err))
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static void a_server_starts_after_a_killed_tare(void **state)
{
	(void)state;
	server_close(server);
	start_and_die();
	struct server_description d = description();
	good(server_open(&server, &d, &err));
	good(server_start(server, &err));
	good(dbms_reconnect(db, &err));
	assert_int_equal(number("SELECT 47"), 47);
	/* and stays */
	usleep(300000);
	assert_int_equal(number("SELECT 48"), 48);
}

static pid_t process_in_file(void)
{
	char path[128];
	snprintf(path, sizeof path, "%s/postmaster.pid", data);
	char *text = file_read(path);
	pid_t pid = text ? (pid_t)strtol(text, NULL, 10) : 0;
	free(text);
	return pid;
}

/* The shell's command that has the server started, and does not wait for it. */
static char *launching(void)
{
	struct server_place place = { .data = data,
				      .socket = data,
				      .user = geteuid() ? NULL : "postgres",
				      .settings = server_settings };
	word_list words = { 0 };
	assert_true(postgresql_server.server_words(&place, &words, &err));
	struct strbuf command = { 0 };
	strbuf_printf(&command, "cd %s && %s sh -c 'echo $$ >tare.pid; exec setsid", data,
		      geteuid() ? "" : "setpriv --reuid=postgres --regid=postgres --clear-groups");
	for (size_t i = 0; i < words.count; i++)
		strbuf_printf(&command, " \"%s\"", words.items[i]);
	strbuf_puts(&command, "' >/dev/null 2>&1 </dev/null &");
	words_release(&words);
	return strbuf_detach(&command);
}

/* One that its tare's end did not end. */
static pid_t leave_a_server(void)
{
	char *command = launching();
	assert_int_equal(system(command), 0);
	free(command);
	pid_t pid = 0;
	for (int i = 0; i < 1000 && !(pid = process_in_file()); i++)
		usleep(10000);
	return pid;
}

static void a_server_left_behind_is_adopted(void **state)
{
	(void)state;
	server_close(server);
	pid_t left = leave_a_server();
	struct server_description d = description();
	good(server_open(&server, &d, &err));
	good(server_start(server, &err));
	good(dbms_reconnect(db, &err));
	assert_int_equal(server_pid(), left);
	good(server_stop(server, &err));
	assert_int_equal(process_in_file(), 0);
	good(server_start(server, &err));
	good(dbms_reconnect(db, &err));
	assert_int_not_equal(server_pid(), left);
}

static void a_directory_of_others_is_left_alone(void **state)
{
	(void)state;
	char other[96], file[128];
	snprintf(other, sizeof other, "%s/other", directory);
	snprintf(file, sizeof file, "%s/precious", other);
	struct server_description d = description();
	struct server *s;
	d.data = other;
	d.make = false;
	assert_int_equal(server_open(&s, &d, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_int_equal(mkdir(other, 0755), 0);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	d.make = true;
	good(server_open(&s, &d, &err));
	assert_int_equal(server_start(s, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	server_close(s);
	assert_int_equal(access(file, F_OK), 0);
}

static void what_stands_where_it_is_made_is_left_alone(void **state)
{
	(void)state;
	char fresh[96], beside[128], file[160];
	snprintf(fresh, sizeof fresh, "%s/fresh", directory);
	snprintf(beside, sizeof beside, "%s.tare-making", fresh);
	snprintf(file, sizeof file, "%s/precious", beside);
	struct server_description d = description();
	struct server *s;
	d.data = fresh;
	assert_int_equal(mkdir(beside, 0755), 0);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	good(server_open(&s, &d, &err));
	assert_int_equal(server_start(s, &err), -1);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_int_equal(access(file, F_OK), 0);
	/* another tare is making it */
	assert_int_equal(chmod(beside, 0700), 0);
	int lock = open(beside, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(lock, LOCK_EX), 0);
	assert_int_equal(server_start(s, &err), -1);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_non_null(strstr(err.text, "another tare"));
	assert_int_equal(access(file, F_OK), 0);
	/* it was killed */
	close(lock);
	good(server_start(s, &err));
	assert_int_equal(access(beside, F_OK), -1);
	server_close(s);
}

static void a_bad_setting_is_told(void **state)
{
	(void)state;
	static const char *const bad[] = { "shared_buffers=lots", NULL };
	struct server_description d = description();
	struct server *s;
	d.settings = bad;
	server_close(server);
	good(server_open(&s, &d, &err));
	assert_int_equal(server_start(s, &err), -1);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_non_null(strstr(err.text, "shared_buffers"));
	assert_non_null(strstr(err.hint, "tare.log"));
	server_close(s);
	d.settings = server_settings;
	good(server_open(&server, &d, &err));
	good(server_start(server, &err));
	good(dbms_reconnect(db, &err));
}

static void a_long_name_has_its_socket_elsewhere(void **state)
{
	(void)state;
	char below[160], leaf[256], socket[128] = "";
	snprintf(below, sizeof below, "%s/%080d", directory, 0);
	assert_int_equal(mkdir(below, 0755), 0);
	snprintf(leaf, sizeof leaf, "%s/d", below);
	struct server_description d = description();
	struct server *s;
	d.data = leaf;
	d.user = "no-such-user";
	if (geteuid() == 0) {
		assert_int_equal(server_open(&s, &d, &err), -1);
		assert_int_equal(err.code, EXIT_USAGE);
	}
	d.user = "nobody";
	good(server_open(&s, &d, &err));
	assert_int_equal(sscanf(strstr(server_url(s), "host="), "host=%127[^&]", socket), 1);
	assert_true(strlen(socket) <= 90);
	good(server_start(s, &err));
	struct dbms *other;
	good(dbms_open(&other, server_url(s), NULL, &err));
	dbms_close(other);
	server_close(s);
	assert_int_equal(access(socket, F_OK), -1);
}

static void commands_start_and_stop_a_server(void **state)
{
	(void)state;
	char start[160], stop[160], mark[128];
	snprintf(mark, sizeof mark, "%s/mark", directory);
	snprintf(start, sizeof start, "echo start >>%s", mark);
	snprintf(stop, sizeof stop, "echo stop >>%s", mark);
	struct server_description d = { .dbms = "postgresql", .start = start, .stop = stop };
	struct server *s;
	good(server_open(&s, &d, &err));
	assert_null(server_url(s));
	good(server_start(s, &err));
	good(server_start(s, &err));
	server_close(s); /* tare started it */
	good(server_open(&s, &d, &err));
	good(server_stop(s, &err));
	good(server_start(s, &err));
	server_close(s); /* it was there before */
	char *text = file_read(mark);
	assert_string_equal(text, "start\nstop\nstop\nstart\n");
	free(text);
	d.start = "echo far; echo no such thing >&2; exit 3";
	good(server_open(&s, &d, &err));
	assert_int_equal(server_start(s, &err), -1);
	assert_non_null(strstr(err.text, "failed with 3: no such thing"));
	server_close(s);
	d.stop = NULL;
	assert_int_equal(server_open(&s, &d, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
}

static int starts_in(const char *mark)
{
	char *text = file_read(mark);
	int count = 0;
	for (const char *at = text; at && (at = strstr(at, "start")); at++)
		count++;
	free(text);
	return count;
}

/* Its command ends before the server has even begun. */
static void a_server_started_by_commands_is_waited_for(void **state)
{
	(void)state;
	char mark[128], stop[300], url[256];
	struct strbuf start = { 0 };
	char *command = launching();
	snprintf(mark, sizeof mark, "%s/starts", directory);
	strbuf_printf(&start, "echo start >>%s; (sleep 0.3; %s) >/dev/null 2>&1 &", mark, command);
	snprintf(stop, sizeof stop,
		 "p=$(head -n 1 %s/postmaster.pid); kill -INT $p; while [ -e /proc/$p/exe ]; do "
		 "sleep 0.05; done",
		 data);
	snprintf(url, sizeof url, "%s", server_url(server));
	struct server_description d = {
		.dbms = "postgresql", .start = start.text, .stop = stop, .url = url
	};
	struct server *first, *second;
	server_close(server);
	good(server_open(&first, &d, &err));
	good(server_start(first, &err));
	good(dbms_reconnect(db, &err));
	assert_int_equal(starts_in(mark), 1);
	/* who finds it running does not start it, and leaves it running */
	good(server_open(&second, &d, &err));
	good(server_start(second, &err));
	server_close(second);
	assert_int_equal(starts_in(mark), 1);
	assert_int_equal(number("SELECT 49"), 49);
	/* also who had to restart it */
	good(server_open(&second, &d, &err));
	good(server_start(second, &err));
	good(server_stop(second, &err));
	assert_int_equal(process_in_file(), 0);
	good(server_start(second, &err));
	server_close(second);
	assert_int_equal(starts_in(mark), 2);
	good(dbms_reconnect(db, &err));
	server_close(first);
	assert_int_equal(process_in_file(), 0);
	strbuf_release(&start);
	free(command);
	d = description();
	good(server_open(&server, &d, &err));
	good(server_start(server, &err));
	good(dbms_reconnect(db, &err));
}

/* ---- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static void skip_all(const char *reason)
{
	const char *require = getenv("TARE_TEST_REQUIRE");
	bool required = require && strcmp(require, "1") == 0;
	printf("%s: %s\n", required ? "FAILED, for TARE_TEST_REQUIRE=1" : "skipped", reason);
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	exit(required ? 1 : 77);
}

static bool is_installed(void)
{
	struct server_place place = { .data = data, .user = "postgres" };
	word_list words = { 0 };
	bool found = postgresql_server.make_words(&place, &words, &err);
	words_release(&words);
	return found;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_describes_itself),
		cmocka_unit_test(a_plan_is_the_same_until_it_is_another),
		cmocka_unit_test(a_million_rows_are_fetched_and_not_kept),
		cmocka_unit_test(the_limit_cancels_and_the_connection_stays),
		cmocka_unit_test(whoever_waits_may_stop_it),
		cmocka_unit_test(a_lost_connection_is_known_and_made_anew),
		cmocka_unit_test(errors_say_whose_they_are),
		cmocka_unit_test(refusals_say_whose_they_are),
		cmocka_unit_test(a_password_that_is_wrong_is_the_users),
		cmocka_unit_test(parallel_workers_are_found),
		cmocka_unit_test(titles_say_what_a_process_is_for),
		cmocka_unit_test(a_task_has_a_number_for_each_namespace),
		cmocka_unit_test(ends_are_matched_with_the_plan),
		cmocka_unit_test(loaded_texts_are_what_they_were),
		cmocka_unit_test(a_load_is_whole_or_nothing),
		cmocka_unit_test(it_is_stopped_and_started),
		cmocka_unit_test(two_tares_do_not_share_a_server),
		cmocka_unit_test(a_server_starts_after_a_killed_tare),
		cmocka_unit_test(a_server_left_behind_is_adopted),
		cmocka_unit_test(a_directory_of_others_is_left_alone),
		cmocka_unit_test(what_stands_where_it_is_made_is_left_alone),
		cmocka_unit_test(a_bad_setting_is_told),
		cmocka_unit_test(a_long_name_has_its_socket_elsewhere),
		cmocka_unit_test(commands_start_and_stop_a_server),
		cmocka_unit_test(a_server_started_by_commands_is_waited_for),
	};
	snprintf(directory, sizeof directory, "/tmp/tare-pg-XXXXXX");
	if (!mkdtemp(directory) || chmod(directory, 0755))
		skip_all(strerror(errno));
	snprintf(data, sizeof data, "%s/data", directory);
	struct server_description d = description();
	if (!is_installed())
		skip_all(err.text);
	if (server_open(&server, &d, &err) || server_start(server, &err)) {
		print_error("%s (%s)\n", err.text, err.hint);
		server_close(server);
		nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
		return 1;
	}
	db = connect_with(serial);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	dbms_close(db);
	server_close(server);
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return failed;
}
