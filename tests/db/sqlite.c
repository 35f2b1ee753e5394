/* SQLite behind dbms.h: a database in a file of this test's own. */
#include <errno.h>
#include <ftw.h>
#include <jansson.h>
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "subject/dbms/dbms.h"
#include "subject/dbms/server.h"

#define NS_PER_MS UINT64_C(1000000)
#define LONG_QUERY \
	"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"

static char directory[64], url[128];
static struct error err;
static struct dbms *d;

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

static int set_up(void **state)
{
	(void)state;
	snprintf(directory, sizeof directory, "/tmp/tare-sqlite.XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(url, sizeof url, "sqlite:%s/x.db", directory);
	return dbms_open(&d, url, NULL, &err);
}

static int tear_down(void **state)
{
	(void)state;
	dbms_close(d);
	d = NULL;
	return nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- rows ---- */

struct rows {
	uint64_t next, count;
	char number[32], text[64];
};

static bool next_row(void *context, const char **values)
{
	struct rows *r = context;
	if (r->next == r->count)
		return false;
	snprintf(r->number, sizeof r->number, "%llu", (unsigned long long)r->next);
	snprintf(r->text, sizeof r->text, "row %llu, which has some bytes",
		 (unsigned long long)r->next);
	values[0] = r->number;
	values[1] = r->next % 10 ? r->text : NULL;
	r->next++;
	return true;
}

static void make_table(const char *name, uint64_t count)
{
	char sql[128];
	struct rows rows = { .count = count };
	snprintf(sql, sizeof sql, "CREATE TABLE %s (a INTEGER, b TEXT)", name);
	ok(dbms_run(d, sql, &err));
	ok(dbms_load(d, name, 2, next_row, &rows, &err));
}

static int64_t number(const char *sql)
{
	int64_t value = -1;
	ok(dbms_number(d, sql, &value, &err));
	return value;
}

/* ---- errors ---- */

static void a_journal_that_cannot_be_opened_is_told_with_its_reason(void **state)
{
	(void)state;
	struct rlimit before, none;
	make_table("t", 1);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	int next = dup(0);
	close(next);
	none = before;
	none.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	int failed = dbms_run(d, "INSERT INTO t VALUES (1, 'x')", &err);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(failed, -1);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_non_null(strstr(err.text, strchr(url, ':') + 1));
	assert_non_null(strstr(err.text, strerror(EMFILE)));
}

/* ---- tables ---- */

static void tables_are_loaded(void **state)
{
	(void)state;
	bool exists = true;
	uint64_t bytes = 0;
	ok(dbms_table_exists(d, "t", &exists, &err));
	assert_false(exists);
	make_table("t", 20000);
	ok(dbms_table_exists(d, "T", &exists, &err));
	assert_true(exists);
	assert_int_equal(number("SELECT count(*) FROM t"), 20000);
	assert_int_equal(number("SELECT count(*) FROM t WHERE b IS NULL"), 2000);
	assert_int_equal(number("SELECT count(*) FROM t WHERE typeof(a) = 'integer'"), 20000);
	ok(dbms_run(d, "CREATE INDEX i ON t (b)", &err));
	ok(dbms_settle(d, (const char *const[]){ "t" }, 1, &err));
	assert_int_equal(number("SELECT count(*) FROM sqlite_stat1 WHERE tbl = 't'"), 1);
	ok(dbms_table_bytes(d, "t", &bytes, &err));
	/* the index is not counted: 20000 rows of 40 bytes */
	assert_true(bytes > 600000 && bytes < 1200000 && bytes % 4096 == 0);
	ok(dbms_table_bytes(d, "nothing", &bytes, &err));
	assert_int_equal(bytes, 0);
}

static void loading_is_all_or_nothing(void **state)
{
	(void)state;
	struct rows rows = { .count = 100000 };
	ok(dbms_run(d, "CREATE TABLE t (a INTEGER, b TEXT)", &err));
	ok(dbms_run(d, "PRAGMA max_page_count = 200", &err)); /* as a full disk: SQLITE_FULL */
	assert_int_equal(dbms_load(d, "t", 2, next_row, &rows, &err), -1);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_non_null(strstr(err.text, "table t"));
	assert_non_null(strstr(err.text, "full"));
	assert_int_equal(number("SELECT count(*) FROM t"), 0);
	rows = (struct rows){ .count = 10 };
	ok(dbms_load(d, "t", 2, next_row, &rows, &err));
	rows = (struct rows){ .count = 10 };
	assert_int_equal(dbms_load(d, "t", 1, next_row, &rows, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_int_equal(dbms_load(d, "no \"such", 2, next_row, &rows, &err), -1);
	assert_int_equal(number("SELECT count(*) FROM t"), 10);
}

/* ---- queries ---- */

static void queries_are_executed(void **state)
{
	(void)state;
	make_table("t", 5000);
	ok(dbms_prepare(d, "SELECT a, b, a * 0.5, x'00ff' FROM t -- all\n;", &err));
	for (int i = 0; i < 3; i++) {
		struct dbms_execution x = { 0 };
		uint64_t before_ns = clock_monotonic_ns();
		ok(dbms_execute(d, NULL, &x, &err));
		assert_int_equal(x.rows, 5000);
		assert_false(x.timed_out);
		assert_true(before_ns <= x.begin_ns && x.begin_ns < x.end_ns);
		assert_true(x.end_ns <= clock_monotonic_ns());
	}
	dbms_close(d);
	ok(dbms_open(&d, url, &(struct dbms_options){ .transaction = QUERY_COMMITTED }, &err));
	ok(dbms_prepare(d, "INSERT INTO t VALUES (-1, 'x')", &err));
	struct query_plan plan = { 0 };
	ok(dbms_plan(d, &plan, &err));
	assert_string_equal(plan.json, "{\"node\":\"QUERY PLAN\"}");
	free(plan.json);
	struct dbms_execution x = { 0 };
	ok(dbms_execute(d, NULL, &x, &err));
	assert_int_equal(x.rows, 0);
	assert_int_equal(number("SELECT count(*) FROM t WHERE a = -1"), 1);
}

/* Fetched, not stored: 16 MB of texts in less than 4 MB. */
static void rows_are_not_kept(void **state)
{
	(void)state;
	struct dbms_execution x = { 0 };
	ok(dbms_prepare(
		d,
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) "
		"SELECT i, printf('%050d', i) FROM n",
		&err));
	long pages = sysconf(_SC_PAGESIZE);
	FILE *file = fopen("/proc/self/statm", "r");
	long before = 0, after = 0;
	assert_int_equal(fscanf(file, "%*d %ld", &before), 1);
	fclose(file);
	ok(dbms_execute(d, NULL, &x, &err));
	file = fopen("/proc/self/statm", "r");
	assert_int_equal(fscanf(file, "%*d %ld", &after), 1);
	fclose(file);
	assert_int_equal(x.rows, 300000);
	if (!getenv("TARE_TEST_SANITIZED")) /* which keeps what is freed for a while */
		assert_true((after - before) * pages < 4 << 20);
}

static void bad_statements_are_refused(void **state)
{
	(void)state;
	static const char *const bad[] = { "",
					   " -- nothing\n",
					   "SELEC 1",
					   "SELECT * FROM nowhere",
					   "SELECT 1; SELECT 2",
					   "SELECT 1; x",
					   "SELECT ?",
					   "SELECT 'a" };
	struct dbms_execution x = { 0 };
	struct query_plan plan = { 0 };
	int64_t value;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(dbms_prepare(d, bad[i], &err), -1);
		assert_int_equal(err.code, EXIT_USAGE);
		/* nor is the statement before it still there */
		assert_int_equal(dbms_execute(d, NULL, &x, &err), -1);
		assert_int_equal(dbms_plan(d, &plan, &err), -1);
	}
	ok(dbms_prepare(d, "SELECT 1; -- one\n ; ", &err));
	ok(dbms_prepare(d, "SELECT abs(-9223372036854775808)", &err)); /* fails when it runs */
	assert_int_equal(dbms_execute(d, NULL, &x, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_int_equal(dbms_run(d, "DROP TABLE nowhere", &err), -1);
	assert_int_equal(dbms_number(d, "SELECT 1 WHERE 0", &value, &err), -1);
	assert_int_equal(number("SELECT 7"), 7);
}

static void the_limit_cancels_and_the_connection_stays(void **state)
{
	(void)state;
	struct dbms_wait wait = { .limit_ns = 60 * NS_PER_MS };
	struct dbms_execution x = { 0 };
	ok(dbms_prepare(d, LONG_QUERY, &err));
	uint64_t before_ns = clock_monotonic_ns();
	ok(dbms_execute(d, &wait, &x, &err));
	assert_true(x.timed_out);
	assert_true(clock_monotonic_ns() - before_ns >= wait.limit_ns);
	assert_true(x.end_ns > x.begin_ns);
	wait.limit_ns = 1; /* over before it begins */
	ok(dbms_execute(d, &wait, &x, &err));
	assert_true(x.timed_out);
	ok(dbms_prepare(d, "SELECT 1", &err)); /* the connection is as before */
	wait.limit_ns = 60000 * NS_PER_MS;
	ok(dbms_execute(d, &wait, &x, &err));
	assert_false(x.timed_out);
	assert_int_equal(x.rows, 1);
	assert_false(dbms_lost(d));
}

static bool third_time(void *context)
{
	return ++*(int *)context == 3;
}

static void stopping_is_an_error(void **state)
{
	(void)state;
	int asked = 0;
	struct dbms_wait wait = { .stop = third_time, .context = &asked };
	struct dbms_execution x = { 0 };
	ok(dbms_prepare(d, LONG_QUERY, &err));
	assert_int_equal(dbms_execute(d, &wait, &x, &err), -1);
	assert_int_equal(err.code, EXIT_INTERRUPTED);
	assert_int_equal(asked, 3);
	assert_int_equal(number("SELECT 7"), 7);
}

/* The thread that dbms_tasks() tells is the one that uses the CPU; idle, it uses none. */
static uint64_t thread_cpu_ns(pid_t tid)
{
	char path[64];
	unsigned long long ns = 0;
	snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", tid);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%llu", &ns), 1);
	fclose(file);
	return ns;
}

static void its_thread_does_the_work(void **state)
{
	(void)state;
	struct dbms_tasks tasks;
	struct dbms_execution x = { 0 };
	char path[64], name[32] = "";
	ok(dbms_tasks(d, &tasks, &err));
	assert_true(tasks.server == getpid() && tasks.process == getpid());
	assert_true(tasks.thread != getpid() && tasks.thread > 0);
	snprintf(path, sizeof path, "/proc/self/task/%d/comm", tasks.thread);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(name, sizeof name, file));
	fclose(file);
	assert_string_equal(name, "tare-sqlite\n");
	ok(dbms_prepare(
		d,
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500000) "
		"SELECT max(i) FROM n",
		&err));
	struct timespec own_before, own_after;
	uint64_t before_ns = thread_cpu_ns(tasks.thread);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own_before);
	ok(dbms_execute(d, NULL, &x, &err));
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own_after);
	uint64_t used_ns = thread_cpu_ns(tasks.thread) - before_ns;
	uint64_t own_ns = (uint64_t)(own_after.tv_sec - own_before.tv_sec) * 1000000000u +
			  (uint64_t)(own_after.tv_nsec - own_before.tv_nsec);
	assert_true(used_ns > 10 * NS_PER_MS);
	assert_true(x.cpu_ns > 10 * NS_PER_MS && x.cpu_ns <= used_ns);
	assert_true(x.cpu_ns <= x.end_ns - x.begin_ns + 50000);
	assert_true(own_ns < used_ns / 4);
	before_ns = thread_cpu_ns(tasks.thread);
	nanosleep(&(struct timespec){ 0, 100 * 1000000 }, NULL);
	assert_true(thread_cpu_ns(tasks.thread) - before_ns < NS_PER_MS);
}

/* ---- plans ---- */

static char *plan_of(const char *sql)
{
	struct query_plan plan = { 0 };
	ok(dbms_prepare(d, sql, &err));
	ok(dbms_plan(d, &plan, &err));
	return plan.json;
}

static void plans_tell_tables_and_indexes(void **state)
{
	(void)state;
	make_table("t", 100);
	make_table("u", 100);
	ok(dbms_run(d, "CREATE INDEX i ON t (a)", &err));
	char *json = plan_of("SELECT * FROM t AS x JOIN u AS y ON x.a = y.a WHERE y.b = 'c'");
	json_t *root = json_loads(json, 0, NULL), *nodes = json_object_get(root, "children");
	json_t *outer = json_array_get(nodes, 0), *inner = json_array_get(nodes, 1);
	assert_string_equal(json_string_value(json_object_get(outer, "relation")), "u");
	assert_string_equal(json_string_value(json_object_get(outer, "alias")), "y");
	assert_string_equal(json_string_value(json_object_get(inner, "relation")), "t");
	assert_string_equal(json_string_value(json_object_get(inner, "index")), "i");
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(inner, "conditions"), 0)), "a=?");
	json_decref(root);
	char *again = plan_of("SELECT * FROM t AS x JOIN u AS y ON x.a = y.a WHERE y.b = 'd'");
	assert_string_equal(json, again);
	free(again);
	ok(dbms_run(d, "DROP INDEX i", &err));
	struct query_plan plan = { 0 };
	ok(dbms_plan(d, &plan, &err)); /* as it is now */
	assert_string_not_equal(json, plan.json);
	free(plan.json);
	free(json);
	json = plan_of("SELECT count(*) FROM (SELECT DISTINCT a FROM t) AS t2 ORDER BY 1");
	assert_non_null(strstr(json, "\"relation\":\"t\""));
	free(json);
}

/* ---- connections ---- */

static void forgetting_makes_a_new_connection_of_the_same_thread(void **state)
{
	(void)state;
	struct dbms_execution x = { 0 };
	struct dbms_tasks before, after;
	static const char *const settings[] = { "PRAGMA cache_size = 77", NULL };
	make_table("t", 1000);
	dbms_close(d);
	ok(dbms_open(&d, url, &(struct dbms_options){ .settings = settings }, &err));
	assert_int_equal(dbms_cold(d), DBMS_COLD_ONLINE);
	ok(dbms_prepare(d, "SELECT * FROM t", &err));
	ok(dbms_tasks(d, &before, &err));
	ok(dbms_run(d, "CREATE TEMP TABLE gone (a)", &err));
	ok(dbms_forget(d, &err));
	assert_int_equal(dbms_run(d, "SELECT * FROM gone", &err), -1);
	ok(dbms_tasks(d, &after, &err));
	assert_int_equal(before.thread, after.thread);
	assert_int_equal(number("PRAGMA cache_size"), 77);
	ok(dbms_execute(d, NULL, &x, &err)); /* what was prepared is so again */
	assert_int_equal(x.rows, 1000);
	ok(dbms_reconnect(d, &err));
	assert_int_equal(number("PRAGMA cache_size"), 77);
	assert_int_equal(dbms_execute(d, NULL, &x, &err), -1); /* not any more */
	dbms_disconnect(d);
	assert_true(dbms_lost(d));
	ok(dbms_reconnect(d, &err));
	assert_false(dbms_lost(d));
}

static void a_database_in_memory_cannot_be_forgotten(void **state)
{
	(void)state;
	dbms_close(d);
	ok(dbms_open(&d, "sqlite::memory:", NULL, &err));
	make_table("t", 100);
	struct dbms_execution x = { 0 };
	ok(dbms_prepare(d, "SELECT * FROM t", &err));
	ok(dbms_execute(d, NULL, &x, &err));
	assert_int_equal(x.rows, 100);
	ok(dbms_settle(d, (const char *const[]){ "t" }, 1, &err));
	assert_int_equal(dbms_forget(d, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	ok(dbms_execute(d, NULL, &x, &err));
	assert_int_equal(x.rows, 100);
}

static void it_says_what_it_is(void **state)
{
	(void)state;
	char *version, *settings;
	ok(dbms_describe(d, &version, &settings, &err));
	assert_string_equal(dbms_name(d), "sqlite");
	assert_int_equal(version[0], '3');
	json_t *object = json_loads(settings, 0, NULL);
	assert_int_equal(json_integer_value(json_object_get(object, "page_size")), 4096);
	assert_string_equal(json_string_value(json_object_get(object, "journal_mode")), "delete");
	assert_true(json_array_size(json_object_get(object, "compile_options")) > 0);
	json_decref(object);
	free(version);
	free(settings);
}

static void bad_files_are_refused(void **state)
{
	(void)state;
	char path[160], at[200];
	struct dbms *other = NULL;
	snprintf(path, sizeof path, "%s/text.db", directory);
	FILE *file = fopen(path, "w");
	for (int i = 0; i < 100; i++)
		fputs("this is no database, but a text\n", file);
	fclose(file);
	assert_int_equal(dbms_open(&other, path, NULL, &err), -1); /* a bare path ending in .db */
	assert_int_equal(err.code, EXIT_USAGE);
	assert_non_null(strstr(err.text, "text.db"));
	snprintf(at, sizeof at, "sqlite:%s/none/x.db", directory);
	assert_int_equal(dbms_open(&other, at, NULL, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	snprintf(at, sizeof at, "sqlite:%s", directory);
	assert_int_equal(dbms_open(&other, at, NULL, &err), -1);
	if (!geteuid()) { /* the directory is root's */
		assert_int_equal(seteuid(65534), 0);
		int refused = dbms_open(&other, url, NULL, &err);
		assert_int_equal(seteuid(0), 0);
		assert_int_equal(refused, -1);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_non_null(strstr(err.text, "x.db: Permission denied"));
	}
	assert_int_equal(dbms_open(&other, "sqlite:", NULL, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	static const char *const settings[] = { "PRAGMA cache_size = 10", "no setting", NULL };
	assert_int_equal(
		dbms_open(&other, url, &(struct dbms_options){ .settings = settings }, &err), -1);
	assert_non_null(strstr(err.text, "no setting"));
	assert_null(other);
}

/* A setting that works only once: the connection without it is not taken for one. */
static void half_a_connection_is_none(void **state)
{
	(void)state;
	static const char *const once[] = { "CREATE TABLE once (a)", NULL };
	struct dbms_execution x;
	struct dbms *other = NULL;
	ok(dbms_open(&other, url,
		     &(struct dbms_options){ .settings = once, .transaction = QUERY_COMMITTED },
		     &err));
	ok(dbms_prepare(other, "SELECT * FROM once", &err));
	assert_int_equal(dbms_forget(other, &err), -1);
	assert_true(dbms_lost(other));
	assert_int_equal(dbms_execute(other, NULL, &x, &err), -1);
	assert_int_equal(dbms_reconnect(other, &err), -1);
	assert_non_null(strstr(err.text, "once"));
	assert_true(dbms_lost(other));
	ok(dbms_run(d, "DROP TABLE once", &err));
	ok(dbms_reconnect(other, &err));
	assert_false(dbms_lost(other));
	dbms_close(other);
}

/* Commands run as who typed sudo, with that user's environment; root only if root itself asks. */
static void commands_of_a_server_run_as_the_invoker(void **state)
{
	(void)state;
	if (getuid() != 0 || !getpwuid(65534)) {
		print_message("commands under sudo: needs root\n");
		skip();
	}
	char who[96], start[256], stop[256];
	snprintf(who, sizeof who, "%s/who", directory);
	snprintf(start, sizeof start, "echo start $(id -u) $(id -G) $HOME >>%s", who);
	snprintf(stop, sizeof stop, "echo stop $(id -u) $(id -G) $USER >>%s", who);
	assert_int_equal(chmod(directory, 0777), 0);
	struct server_description description = { .start = start, .stop = stop };
	struct server *server = NULL;
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	ok(server_open(&server, &description, &err));
	ok(server_start(server, &err));
	ok(server_stop(server, &err));
	server_close(server);
	FREED char *text = file_read(who);
	FREED char *wanted = xprintf("start 65534 65534 %s\nstop 65534 65534 %s\n",
				     getpwuid(65534)->pw_dir, getpwuid(65534)->pw_name);
	assert_string_equal(text, wanted);
	description.user = "root";
	assert_int_equal(server_open(&server, &description, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	unlink(who);
	ok(server_open(&server, &description, &err));
	ok(server_start(server, &err));
	server_close(server);
	FREED char *of_root = file_read(who);
	assert_memory_equal(of_root, "start 0 ", 8);
}

/* Everything that SQLite makes for a query under sudo is the user's, also what it makes later. */
static void files_under_sudo_are_the_invokers(void **state)
{
	(void)state;
	if (getuid() != 0 || !getpwuid(65534)) {
		print_message("files under sudo: needs root\n");
		skip();
	}
	static const char *const endings[] = { "", "-wal", "-shm" };
	assert_int_equal(chmod(directory, 0777), 0);
	FREED char *path = xprintf("%s/theirs.db", directory);
	FREED char *theirs = xprintf("sqlite:%s", path);
	struct dbms *other = NULL;
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	ok(dbms_open(&other, theirs, NULL, &err));
	ok(dbms_run(other, "PRAGMA journal_mode = WAL", &err));
	ok(dbms_run(other, "CREATE TABLE t (a)", &err));
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		FREED char *name = xprintf("%s%s", path, endings[i]);
		struct stat st;
		assert_int_equal(stat(name, &st), 0);
		assert_int_equal(st.st_uid, 65534);
		assert_int_equal(st.st_gid, 65534);
	}
	FREED char *attach = xprintf("ATTACH '%s/roots.db' AS r", directory);
	FREED char *roots = xprintf("%s/roots.db", directory);
	assert_int_equal(file_write(roots, "", 0, NULL), 0);
	assert_int_equal(chown(roots, 0, 0) || chmod(roots, 0600), 0);
	assert_int_equal(dbms_run(other, attach, &err), -1);
	dbms_close(other);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_journal_that_cannot_be_opened_is_told_with_its_reason),
		TEST(tables_are_loaded),
		TEST(loading_is_all_or_nothing),
		TEST(queries_are_executed),
		TEST(rows_are_not_kept),
		TEST(bad_statements_are_refused),
		TEST(the_limit_cancels_and_the_connection_stays),
		TEST(stopping_is_an_error),
		TEST(its_thread_does_the_work),
		TEST(plans_tell_tables_and_indexes),
		TEST(forgetting_makes_a_new_connection_of_the_same_thread),
		TEST(a_database_in_memory_cannot_be_forgotten),
		TEST(it_says_what_it_is),
		TEST(bad_files_are_refused),
		TEST(half_a_connection_is_none),
		TEST(commands_of_a_server_run_as_the_invoker),
		TEST(files_under_sudo_are_the_invokers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
