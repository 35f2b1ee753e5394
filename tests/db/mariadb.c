/* The driver on a live MariaDB, which is started here on a private socket. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "subject/dbms/dbms.h"
#include "subject/dbms/server.h"
#include "subject/dbms/server_kind.h"
#include "subject/dbms/server_process.h"

#define SECOND 1000000000ull
#define SANITIZED (getenv("TARE_TEST_SANITIZED") != NULL)

enum { POOL = 128 << 20 };

static char folder[64], data[80];
static struct server *server;
static struct dbms *db;
static struct error err = ERROR_INIT;

/* ---- the server ---- */

static struct server_description description(void)
{
	static const char *const settings[] = { "innodb_buffer_pool_size=128M",
						"innodb_log_file_size=96M", NULL };
	return (struct server_description){
		.dbms = "mariadb", .data = data, .make = true, .settings = settings
	};
}

static bool is_installed(void)
{
	struct server_place place = { .data = data, .socket = data };
	word_list words = { 0 };
	bool found = mariadb_server.make_words(&place, &words, &err) &&
		     mariadb_server.server_words(&place, &words, &err);
	words_release(&words);
	return found;
}

static pid_t number_in(const char *name)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", data, name);
	char *text = file_read_line(path);
	pid_t pid = text ? (pid_t)strtol(text, NULL, 10) : 0;
	free(text);
	return pid;
}

static pid_t server_pid(void)
{
	return number_in(SERVER_PID);
}

static int begin(void **state)
{
	struct server_description d = description();
	(void)state;
	if (server_open(&server, &d, &err) || server_start(server, &err) ||
	    dbms_open(&db, server_url(server), NULL, &err)) {
		print_error("%s (%s)\n", err.text, err.hint);
		return -1;
	}
	return 0;
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *f)
{
	(void)s;
	(void)kind;
	(void)f;
	return remove(path);
}

static int end(void **state)
{
	(void)state;
	dbms_close(db);
	server_close(server);
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return 0;
}

/* ---- asking ---- */

static void good(int failed)
{
	if (failed)
		fail_msg("%s", err.text);
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

static struct query_plan plan_of(const char *sql)
{
	struct query_plan plan = { 0 };
	good(dbms_prepare(db, sql, &err));
	good(dbms_plan(db, &plan, &err));
	return plan;
}

static uint64_t hash_of(const char *sql)
{
	struct query_plan plan = plan_of(sql);
	free(plan.json);
	return plan.hash;
}

static struct dbms_execution execute(const char *sql)
{
	struct dbms_execution x = { 0 };
	good(dbms_prepare(db, sql, &err));
	good(dbms_execute(db, NULL, &x, &err));
	assert_true(x.end_ns > x.begin_ns);
	assert_false(x.timed_out);
	return x;
}

/* ---- tables ---- */

struct feed {
	const char *const (*rows)[3];
	size_t at, count;
};

static bool feed_next(void *context, const char **values)
{
	struct feed *f = context;
	if (f->at == f->count)
		return false;
	memcpy(values, f->rows[f->at++], 3 * sizeof *values);
	return true;
}

static void loaded_texts_are_what_they_were(void **state)
{
	static const char *const rows[][3] = {
		{ "1", "it's \\ \"quoted\" `x` \n\t\x1a %_", "-12.50" },
		{ "2", "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\xac", NULL },
		{ "3", NULL, "0" },
		{ "4", "", "12345.67" },
	};
	struct feed f = { rows, 0, 4 };
	bool there = true;
	(void)state;
	good(dbms_table_exists(db, "we`ird", &there, &err));
	assert_false(there);
	run("CREATE TABLE `we``ird` (a INT PRIMARY KEY, b VARCHAR(40) CHARACTER SET utf8mb4, c DECIMAL(15,2))");
	good(dbms_table_exists(db, "we`ird", &there, &err));
	assert_true(there);
	good(dbms_load(db, "we`ird", 3, feed_next, &f, &err));
	assert_int_equal(number("SELECT COUNT(*) FROM `we``ird`"), 4);
	assert_int_equal(
		number("SELECT COUNT(*) FROM `we``ird` WHERE a = 1 AND HEX(b) ="
		       " HEX(0x69742773205C202271756F7465642220607860200A091A20255F) AND c = -12.5"),
		1);
	assert_int_equal(number("SELECT COUNT(*) FROM `we``ird` WHERE a = 2 AND c IS NULL AND"
				" HEX(b) = '6772C3BCC39F20E282AC20F09F90AC'"),
			 1);
	assert_int_equal(number("SELECT COUNT(*) FROM `we``ird` WHERE b IS NULL"), 1);
	assert_int_equal(number("SELECT COUNT(*) FROM `we``ird` WHERE b = ''"), 1);
}

static void texts_are_loaded_without_backslash_escapes_too(void **state)
{
	static const char *const rows[][3] = { { "1", "a\\'b\\", "1" } };
	struct feed f = { rows, 0, 1 };
	(void)state;
	run("SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'");
	run("CREATE TABLE plain_backslash (a INT, b VARCHAR(40), c INT)");
	good(dbms_load(db, "plain_backslash", 3, feed_next, &f, &err));
	assert_int_equal(number("SELECT COUNT(*) FROM plain_backslash WHERE HEX(b) = '615C27625C'"),
			 1);
	assert_int_equal(number("SELECT @@SESSION.sql_mode = 'NO_BACKSLASH_ESCAPES'"), 1);
	run("SET SESSION sql_mode = DEFAULT");
}

/* More than one statement before the row that fails. */
struct spoilt {
	int64_t at, bad;
	const char *wrong;
	char key[24];
	char *filler;
};

static bool spoilt_next(void *context, const char **values)
{
	struct spoilt *s = context;
	if (s->at > s->bad)
		return false;
	snprintf(s->key, sizeof s->key, "%lld", (long long)s->at);
	values[0] = s->at == s->bad ? s->wrong : s->key;
	values[1] = s->filler;
	s->at++;
	return true;
}

static void a_failed_load_leaves_nothing(void **state)
{
	static const char *const wrong[] = { "7", "no number", "99999999999" };
	char filler[1001];
	(void)state;
	memset(filler, 'x', 1000);
	filler[1000] = '\0';
	run("CREATE TABLE none (a INT PRIMARY KEY, b VARCHAR(1000))");
	run("SET SESSION sql_mode = ''"); /* which makes other values of wrong ones */
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct spoilt s = { .bad = 2500, .wrong = wrong[i], .filler = filler };
		assert_int_equal(dbms_load(db, "none", 2, spoilt_next, &s, &err), -1);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_null(strchr(err.text, '\n'));
		assert_int_equal(number("SELECT COUNT(*) FROM none"), 0);
		assert_false(dbms_lost(db));
	}
	run("SET SESSION sql_mode = DEFAULT");
	struct spoilt s = { .bad = 0, .wrong = "1", .filler = filler };
	assert_int_equal(dbms_load(db, "no such table", 2, spoilt_next, &s, &err), -1);
}

static void every_kind_of_column_has_its_type(void **state)
{
	static const struct {
		enum column_kind kind;
		uint32_t length;
		const char *want;
	} rows[] = { { KIND_INTEGER, 0, "INT" },	   { KIND_BIGINT, 0, "BIGINT" },
		     { KIND_DECIMAL, 0, "DECIMAL(15,2)" }, { KIND_REAL, 0, "DOUBLE" },
		     { KIND_TEXT, 25, "VARCHAR(25)" },	   { KIND_TEXT, 0, "TEXT" },
		     { KIND_TEXT, 70000, "MEDIUMTEXT" },   { KIND_DATE, 0, "DATE" } };
	char out[64], sql[128];
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_string_equal(dbms_type(db, rows[i].kind, rows[i].length, out), rows[i].want);
		snprintf(sql, sizeof sql, "CREATE OR REPLACE TABLE typed (a %s)", out);
		run(sql);
	}
}

struct many {
	int64_t at, count;
	char key[24], group[24], text[128];
};

static bool many_next(void *context, const char **values)
{
	struct many *m = context;
	if (m->at == m->count)
		return false;
	snprintf(m->key, sizeof m->key, "%lld", (long long)m->at);
	snprintf(m->group, sizeof m->group, "%lld", (long long)(m->at * 7919 % 1000));
	snprintf(m->text, sizeof m->text, "%0100lld", (long long)m->at++);
	values[0] = m->key;
	values[1] = m->group;
	values[2] = m->text;
	return true;
}

static uint64_t bytes_read(void)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/io", server_pid());
	char *text = file_read(path);
	const char *line = text ? strstr(text, "\nread_bytes: ") : NULL;
	uint64_t bytes = line ? strtoull(line + 13, NULL, 10) : UINT64_MAX;
	free(text);
	return bytes;
}

/* Loads the big table, and then: a scan after forget() reads it, one more reads nothing. */
static void a_scan_after_forgetting_reads_and_one_more_does_not(void **state)
{
	static const char *const tables[] = { "big" };
	static const char scan[] = "SELECT COUNT(*), SUM(LENGTH(c)) FROM big";
	const int64_t rows = SANITIZED ? 50000 : 150000;
	struct many m = { .count = rows / 10 };
	uint64_t bytes = 0;
	char rest[200];
	(void)state;
	run("CREATE TABLE big (a INT PRIMARY KEY, b INT, c VARCHAR(120))");
	uint64_t begun = clock_monotonic_ns();
	good(dbms_load(db, "big", 3, many_next, &m, &err));
	snprintf(rest, sizeof rest,
		 "INSERT INTO big SELECT seq, seq * 7919 %% 1000, LPAD(seq, 100, '0') FROM "
		 "seq_%lld_to_%lld",
		 (long long)m.count, (long long)rows - 1);
	run(rest);
	uint64_t loaded = clock_monotonic_ns();
	good(dbms_settle(db, tables, 1, &err));
	print_message("loaded in %.1f s, settled in %.1f s\n", (double)(loaded - begun) / 1e9,
		      (double)(clock_monotonic_ns() - loaded) / 1e9);
	assert_int_equal(number("SELECT @@GLOBAL.innodb_max_dirty_pages_pct"), 90);
	assert_int_equal(number("SELECT @@GLOBAL.innodb_io_capacity"), 200);
	assert_int_equal(number("SELECT @@GLOBAL.innodb_io_capacity_max"), 2000);
	assert_in_range(number("SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS"
			       " WHERE VARIABLE_NAME = 'INNODB_BUFFER_POOL_PAGES_DIRTY'"),
			0, 64);
	good(dbms_table_bytes(db, "big", &bytes, &err));
	assert_in_range(bytes, 100ull * (uint64_t)rows, 200ull * (uint64_t)rows);
	uint64_t before = bytes_read();
	if (before == UINT64_MAX) {
		print_message("the server's I/O cannot be seen\n");
		skip();
	}
	for (int i = 0; i < 2; i++) {
		good(dbms_forget(db, &err));
		assert_int_equal(number("SELECT @@GLOBAL.innodb_buffer_pool_size"), POOL);
		before = bytes_read();
		assert_int_equal(execute(scan).rows, 1);
		uint64_t cold = bytes_read() - before;
		execute(scan);
		uint64_t warm = bytes_read() - before - cold;
		print_message("table %llu, cold %llu (%.2f %%), warm %llu\n",
			      (unsigned long long)bytes, (unsigned long long)cold,
			      100 * (double)cold / (double)bytes, (unsigned long long)warm);
		/* its last extent of 1 MiB need not be full */
		assert_in_range(cold, bytes * 97 / 100 - (1 << 20), bytes * 103 / 100);
		assert_in_range(warm, 0, bytes / 100);
	}
}

static void settling_a_missing_table_is_an_error(void **state)
{
	static const char *const tables[] = { "no_such_table" };
	(void)state;
	assert_int_equal(dbms_settle(db, tables, 1, &err), -1);
	assert_non_null(strstr(err.text, "no_such_table"));
	uint64_t bytes = 1;
	good(dbms_table_bytes(db, "no_such_table", &bytes, &err));
	assert_int_equal(bytes, 0);
}

/* ---- plans ---- */

static void a_plan_is_the_same_until_it_is_another(void **state)
{
	static const char query[] = "SELECT MAX(x.c) FROM p AS x WHERE x.b = 17 GROUP BY x.c";
	(void)state;
	run("CREATE TABLE p (a INT PRIMARY KEY, b INT, c INT)");
	run("INSERT INTO p SELECT seq, seq % 500, seq % 3 FROM seq_1_to_5000");
	run("ANALYZE TABLE p");
	struct query_plan plan = plan_of(query);
	uint64_t first = plan.hash;
	assert_non_null(strstr(plan.json, "\"relation\":\"p\""));
	assert_non_null(strstr(plan.json, "\"alias\":\"x\""));
	assert_non_null(strstr(plan.json, "x.b = 17"));
	assert_null(strstr(plan.json, "rows"));
	free(plan.json);
	run("ANALYZE TABLE p");
	assert_true(hash_of(query) == first);
	run("INSERT INTO p SELECT seq, seq % 500, seq % 3 FROM seq_5001_to_20000");
	run("ANALYZE TABLE p");
	assert_true(hash_of(query) == first);
	run("CREATE INDEX pb ON p (b)");
	plan = plan_of(query);
	assert_true(plan.hash != first);
	assert_non_null(strstr(plan.json, "\"index\":\"pb\""));
	free(plan.json);
	run("DROP INDEX pb ON p");
	assert_true(hash_of(query) == first);
}

static void bad_statements_are_the_users_error(void **state)
{
	static const struct {
		const char *sql, *says;
	} rows[] = {
		{ "SELEC 1", "SELEC" },
		{ "SELECT * FROM nowhere", "nowhere" },
		{ "SELECT nothing FROM p", "nothing" },
		{ "SELECT 1; SELECT 2", "SELECT 2" },
		{ "", "empty" },
		{ "SELECT\n\n'", "" },
	};
	struct dbms_execution x;
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(dbms_prepare(db, rows[i].sql, &err), -1);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_non_null(strstr(err.text, rows[i].says));
		assert_null(strchr(err.text, '\n'));
		assert_false(dbms_lost(db));
		assert_int_equal(dbms_execute(db, NULL, &x, &err), -1); /* nothing is prepared */
	}
	assert_int_equal(dbms_run(db, "CREATE TABLE p (a INT)", &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	/* one that fails while it is evaluated */
	good(dbms_prepare(db, "SELECT (SELECT a FROM p)", &err));
	assert_int_equal(dbms_execute(db, NULL, &x, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_int_equal(number("SELECT 5"), 5);
}

/* ---- executing ---- */

static uint64_t memory_kb(const char *name)
{
	char *text = file_read("/proc/self/status");
	const char *line = text ? strstr(text, name) : NULL;
	uint64_t kb = line ? strtoull(line + strlen(name), NULL, 10) : 0;
	free(text);
	return kb;
}

static void many_rows_are_fetched_and_not_kept(void **state)
{
	(void)state;
	execute("SELECT seq, REPEAT('x', 100) FROM seq_1_to_1000");
	uint64_t before = memory_kb("VmHWM:");
	struct dbms_execution x = execute("SELECT seq, REPEAT('x', 100) FROM seq_1_to_300000");
	assert_int_equal(x.rows, 300000);
	uint64_t after = memory_kb("VmHWM:");
	print_message("%.2f s, %llu KiB before, %llu at most\n",
		      (double)(x.end_ns - x.begin_ns) / 1e9, (unsigned long long)before,
		      (unsigned long long)after);
	/* the library alone would keep more than 30 MB */
	if (!SANITIZED) /* a sanitizer keeps what was freed for a while */
		assert_in_range(after, before, before + 10000);
}

static void statements_may_have_no_rows_or_several_results(void **state)
{
	struct dbms *reading = db;
	(void)state;
	good(dbms_open(&db, server_url(server),
		       &(struct dbms_options){ .transaction = QUERY_COMMITTED }, &err));
	assert_int_equal(execute("UPDATE p SET c = c WHERE a = 1").rows, 0);
	assert_int_equal(execute("DO 1").rows, 0);
	run("CREATE PROCEDURE two() BEGIN SELECT 1 UNION SELECT 2; SELECT 3; END");
	assert_int_equal(execute("CALL two()").rows, 3);
	assert_int_equal(number("SELECT 5"), 5);
	dbms_close(db);
	db = reading;
}

/* How long it took to be cut off after a quarter of a second. */
static uint64_t cut_once(void)
{
	struct dbms_wait wait = { .limit_ns = SECOND / 4 };
	struct dbms_execution x = { 0 };
	uint64_t begun = clock_monotonic_ns();
	good(dbms_execute(db, &wait, &x, &err));
	uint64_t took = clock_monotonic_ns() - begun;
	assert_true(x.timed_out);
	assert_true(x.end_ns - x.begin_ns >= wait.limit_ns);
	assert_false(dbms_lost(db));
	assert_int_equal(number("SELECT 5"), 5); /* and nothing is left of it */
	return took;
}

static void cut(const char *sql)
{
	good(dbms_prepare(db, sql, &err));
	assert_true(cut_once() < 8 * SECOND || SANITIZED); /* the machine may be busy */
}

static void the_limit_cancels_and_the_connection_stays(void **state)
{
	int64_t id = number("SELECT CONNECTION_ID()");
	(void)state;
	cut("SELECT SLEEP(10)");
	cut("SELECT BENCHMARK(1000000000, MD5('x'))");
	cut("SELECT a.seq FROM seq_1_to_10000000 a, seq_1_to_100 b"); /* rows all the time */
	assert_int_equal(number("SELECT CONNECTION_ID()"), id);
	assert_int_equal(execute("SELECT SLEEP(0.01)").rows, 1);
	struct dbms_execution x = { 0 };
	good(dbms_execute(db, &(struct dbms_wait){ .limit_ns = 30 * SECOND }, &x, &err));
	assert_false(x.timed_out);
}

struct stopping {
	int calls, at;
	uint64_t last_ns, longest_ns;
};

static bool stop_at(void *context)
{
	struct stopping *s = context;
	uint64_t now = clock_monotonic_ns();
	if (s->last_ns && now - s->last_ns > s->longest_ns)
		s->longest_ns = now - s->last_ns;
	s->last_ns = now;
	return ++s->calls >= s->at;
}

static void whoever_waits_may_stop_it(void **state)
{
	static const char *const statements[] = {
		"SELECT SLEEP(10)", "SELECT a.seq FROM seq_1_to_10000000 a, seq_1_to_100 b"
	};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct stopping s = { .at = 5 };
		struct dbms_wait wait = { .stop = stop_at, .context = &s };
		struct dbms_execution x = { 0 };
		good(dbms_prepare(db, statements[i], &err));
		uint64_t begun = clock_monotonic_ns();
		assert_int_equal(dbms_execute(db, &wait, &x, &err), -1);
		assert_true(clock_monotonic_ns() - begun < 8 * SECOND || SANITIZED);
		assert_int_equal(err.code, EXIT_INTERRUPTED);
		assert_int_equal(s.calls, 5);
		print_message("asked each %.0f ms at most\n", (double)s.longest_ns / 1e6);
		assert_false(dbms_lost(db));
		assert_int_equal(number("SELECT 5"), 5);
	}
}

/* ---- who evaluates ---- */

struct used {
	pid_t thread;
	uint64_t ns;
};
typedef ARRAY(struct used) used_list;

static void cpu_of_threads(used_list *into)
{
	char path[64 + 256];
	snprintf(path, sizeof path, "/proc/%d/task", server_pid());
	DIR *threads = opendir(path);
	assert_non_null(threads);
	for (struct dirent *e; (e = readdir(threads));) {
		snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", server_pid(), e->d_name);
		char *text = file_read(path);
		if (text && *e->d_name != '.')
			array_push(into, (struct used){ (pid_t)strtol(e->d_name, NULL, 10),
							strtoull(text, NULL, 10) });
		free(text);
	}
	closedir(threads);
}

static uint64_t cpu_of(const used_list *list, pid_t thread)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].thread == thread)
			return list->items[i].ns;
	return 0;
}

static void the_thread_of_the_connection_is_found(void **state)
{
	struct dbms_tasks t;
	(void)state;
	for (int i = 0; i < 2; i++) {
		used_list before = { 0 }, after = { 0 };
		uint64_t all = 0;
		good(dbms_reconnect(db, &err));
		good(dbms_tasks(db, &t, &err));
		assert_int_equal(t.server, server_pid());
		assert_int_equal(t.process, t.server);
		assert_true(t.thread > 0 && t.thread != t.server);
		assert_true(t.io_by_process);
		assert_false(t.guessed);
		assert_string_equal(t.name, "mariadbd");
		good(dbms_prepare(db, "SELECT BENCHMARK(300000, MD5('x'))", &err));
		cpu_of_threads(&before);
		struct dbms_execution x;
		good(dbms_execute(db, NULL, &x, &err));
		cpu_of_threads(&after);
		uint64_t own = cpu_of(&after, t.thread) - cpu_of(&before, t.thread);
		for (size_t k = 0; k < after.count; k++)
			all += after.items[k].ns - cpu_of(&before, after.items[k].thread);
		print_message("%.0f ms elapsed, %.0f ms by the thread, %.0f ms by all\n",
			      (double)(x.end_ns - x.begin_ns) / 1e6, (double)own / 1e6,
			      (double)all / 1e6);
		assert_true(own > 50000000 && own <= x.end_ns - x.begin_ns + 5000000);
		assert_true(own >= all * 9 / 10);
		array_release(&before);
		array_release(&after);
	}
}

static void it_describes_its_version_and_settings(void **state)
{
	char *version = NULL, *settings = NULL;
	(void)state;
	good(dbms_describe(db, &version, &settings, &err));
	print_message("%s\n", version);
	assert_null(strchr(version, '-'));
	assert_true(*version >= '1' && *version <= '9');
	assert_non_null(strstr(settings, "\"innodb_buffer_pool_size\":\"134217728\""));
	assert_non_null(strstr(settings, "\"query_cache_type\":\"OFF\""));
	assert_non_null(strstr(settings, "\"innodb_buffer_pool_load_at_startup\":\"OFF\""));
	assert_non_null(strstr(settings, "\"optimizer_switch\":"));
	free(version);
	free(settings);
}

/* ---- connections that fail ---- */

static int open_with(const char *middle, struct dbms **d)
{
	struct strbuf text = { 0 };
	strbuf_printf(&text, "mariadb://%s?socket=%s/mariadb.sock", middle, data);
	int failed = dbms_open(d, text.text, NULL, &err);
	strbuf_release(&text);
	return failed;
}

static void wrong_credentials_are_refused_without_telling_them(void **state)
{
	static const struct {
		const char *middle, *says;
	} rows[] = { { "root:secret@localhost/tare", "denied" },
		     { "nobody-here@localhost/tare", "denied" },
		     { "root@localhost/no_such_database", "no_such_database" } };
	(void)state;
	run("CREATE USER IF NOT EXISTS limited IDENTIFIED BY 'p@ss:/?%'");
	run("GRANT ALL ON tare.* TO limited");
	run("ALTER USER root@localhost IDENTIFIED BY 'other'");
	for (size_t i = 0; i < 2; i++) {
		struct dbms *other = NULL;
		assert_int_equal(open_with(rows[i].middle, &other), -1);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_non_null(strstr(err.text, rows[i].says));
		assert_null(strstr(err.text, "secret"));
		assert_true(*err.hint);
	}
	run("ALTER USER root@localhost IDENTIFIED BY ''");
	struct dbms *other = NULL;
	assert_int_equal(open_with(rows[2].middle, &other), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	good(open_with("limited:p%40ss%3A%2F%3F%25@localhost/tare", &other));
	/* one who may not change the server's settings still can measure */
	static const char *const tables[] = { "p" };
	good(dbms_settle(other, tables, 1, &err));
	assert_int_equal(dbms_forget(other, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	dbms_close(other);
}

static struct dbms *killer;

static bool kill_connection(void *context)
{
	char *sql = context;
	if (*sql)
		good(dbms_run(killer, sql, &err));
	*sql = '\0';
	return false;
}

static void a_killed_connection_is_known_and_made_again(void **state)
{
	char sql[64];
	struct dbms_execution x;
	struct error seen = ERROR_INIT;
	(void)state;
	good(open_with("root@localhost/tare", &killer));
	/* between two statements */
	good(dbms_prepare(db, "SELECT 1", &err));
	snprintf(sql, sizeof sql, "KILL CONNECTION %lld",
		 (long long)number("SELECT CONNECTION_ID()"));
	good(dbms_run(killer, sql, &err));
	assert_int_equal(dbms_execute(db, NULL, &x, &seen), -1);
	assert_int_equal(seen.code, EXIT_SUBJECT);
	assert_true(dbms_lost(db));
	good(dbms_reconnect(db, &err));
	assert_false(dbms_lost(db));
	assert_int_equal(dbms_execute(db, NULL, &x, &seen), -1); /* not prepared any more */
	assert_int_equal(seen.code, EXIT_USAGE);
	/* in the middle of one */
	snprintf(sql, sizeof sql, "KILL CONNECTION %lld",
		 (long long)number("SELECT CONNECTION_ID()"));
	good(dbms_prepare(db, "SELECT SLEEP(10)", &err));
	struct dbms_wait wait = { .stop = kill_connection, .context = sql };
	assert_int_equal(dbms_execute(db, &wait, &x, &seen), -1);
	assert_int_equal(seen.code, EXIT_SUBJECT);
	assert_true(dbms_lost(db));
	good(dbms_reconnect(db, &err));
	assert_int_equal(execute("SELECT 1").rows, 1);
	dbms_close(killer);
}

static bool kill_server(void *context)
{
	pid_t *victim = context;
	/* its socket takes connections until its memory is freed */
	if (*victim && kill(*victim, SIGKILL) == 0)
		assert_true(server_process_await_end(*victim, 60000));
	*victim = 0;
	return false;
}

static void a_killed_server_is_known_and_started_again(void **state)
{
	struct dbms_execution x;
	struct dbms_tasks t;
	bool there;
	(void)state;
	good(dbms_prepare(db, "SELECT SLEEP(10)", &err));
	pid_t victim = server_pid();
	struct dbms_wait wait = { .stop = kill_server, .context = &victim };
	assert_int_equal(dbms_execute(db, &wait, &x, &err), -1);
	assert_int_equal(err.code, EXIT_SUBJECT);
	assert_true(dbms_lost(db));
	assert_int_equal(dbms_reconnect(db, &err), -1);
	assert_int_equal(err.code, EXIT_SUBJECT);
	assert_true(*err.hint);
	assert_true(dbms_lost(db));
	assert_int_equal(dbms_execute(db, NULL, &x, &err), -1);
	assert_int_equal(err.code, EXIT_SUBJECT);
	assert_int_equal(dbms_run(db, "SELECT 1", &err), -1);
	assert_int_equal(dbms_tasks(db, &t, &err), -1);
	assert_int_equal(dbms_table_exists(db, "p", &there, &err), -1);
	assert_int_equal(dbms_prepare(db, "SELECT 1", &err), -1);
	assert_int_equal(err.code, EXIT_SUBJECT);
	/* whoever never was connected asked for what is not there */
	struct dbms *other = NULL;
	assert_int_equal(open_with("root@localhost/tare", &other), -1);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	good(server_start(server, &err));
	good(dbms_reconnect(db, &err));
	assert_int_equal(number("SELECT COUNT(*) FROM p"), 20000);
}

/* tare may be killed at any point of what changes the server's settings: the server ends it. */
static void a_killed_tare_leaves_the_settings_as_they_were(void **state)
{
	static const char *const tables[] = { "p" };
	(void)state;
	for (int i = 0; i < 4; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			struct dbms *own = NULL;
			if (open_with("root@localhost/tare", &own))
				_exit(1);
			for (;;)
				if (i % 2 ? dbms_forget(own, &err)
					  : dbms_settle(own, tables, 1, &err))
					_exit(1);
		}
		usleep(100000 + 37000 * (useconds_t)i);
		kill(pid, SIGKILL);
		int status;
		waitpid(pid, &status, 0);
		assert_true(WIFSIGNALED(status));
	}
	for (int i = 0; i < 100 && number("SELECT COUNT(*) FROM information_schema.PROCESSLIST"
					  " WHERE COMMAND = 'Query'") > 1;
	     i++)
		usleep(100000);
	assert_int_equal(number("SELECT @@GLOBAL.innodb_buffer_pool_size"), POOL);
	assert_int_equal(number("SELECT @@GLOBAL.innodb_max_dirty_pages_pct"), 90);
	assert_int_equal(number("SELECT @@GLOBAL.innodb_io_capacity"), 200);
	assert_int_equal(number("SELECT @@GLOBAL.innodb_io_capacity_max"), 2000);
}

static int free_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
	close(fd);
	return ntohs(address.sin_port);
}

/* A pool's threads take turns: none is the connection's own. What keeps the server private is not
 * the user's to set. */
static void a_server_with_a_pool_has_no_thread_of_the_connection(void **state)
{
	static const char *const settings[] = { "thread_handling=pool-of-threads",
						"skip-networking=0", "socket=/nowhere/else.sock",
						NULL };
	struct server_description d = description();
	struct dbms_tasks t;
	(void)state;
	d.settings = settings;
	server_close(server);
	server = NULL;
	good(server_open(&server, &d, &err));
	good(server_start(server, &err));
	good(dbms_reconnect(db, &err));
	good(dbms_tasks(db, &t, &err));
	assert_int_equal(t.process, server_pid());
	assert_int_equal(t.thread, 0);
	assert_int_equal(number("SELECT @@skip_networking"), 1);
}

/* By a command that ends before the server has begun. */
static void launch(struct strbuf *command, int port)
{
	const struct passwd *who = getpwnam("mysql") ? getpwnam("mysql") : getpwnam("nobody");
	struct server_place place = { .data = data, .socket = data };
	word_list words = { 0 };
	assert_true(mariadb_server.server_words(&place, &words, &err));
	if (geteuid() == 0)
		strbuf_printf(command, "setpriv --reuid=%u --regid=%u --clear-groups ",
			      (unsigned)who->pw_uid, (unsigned)who->pw_gid);
	for (size_t i = 0; i < words.count; i++) {
		char *word = text_shell_quoted(words.items[i]);
		strbuf_printf(command, "%s ", word);
		free(word);
	}
	words_release(&words);
	strbuf_printf(command,
		      "--skip-networking=0 --bind-address=127.0.0.1 --port=%d "
		      "</dev/null >/dev/null 2>&1 &",
		      port);
}

static void a_server_is_reached_by_tcp_and_started_by_commands(void **state)
{
	char url[128], stop[256];
	int port = free_port();
	struct strbuf start = { 0 };
	struct dbms_tasks t;
	struct dbms *other = NULL;
	(void)state;
	run("CREATE USER IF NOT EXISTS far IDENTIFIED BY 'x'");
	run("GRANT ALL ON tare.* TO far");
	run("DELETE FROM mysql.global_priv WHERE user = ''");
	server_close(server);
	server = NULL;
	launch(&start, port);
	snprintf(url, sizeof url, "mariadb://far:x@127.0.0.1:%d/tare", port);
	snprintf(stop, sizeof stop,
		 "p=$(cat %s/mariadb.pid); kill $p; while [ -e /proc/$p/exe ]; do sleep 0.05; done",
		 data);
	struct server_description d = {
		.dbms = "mariadb", .start = start.text, .stop = stop, .url = url
	};
	good(server_open(&server, &d, &err));
	good(server_start(server, &err));
	good(dbms_open(&other, url, NULL, &err));
	good(dbms_tasks(other, &t, &err));
	assert_int_equal(t.process, number_in("mariadb.pid"));
	assert_true(t.thread > 0 && t.thread != t.process);
	dbms_close(other);
	strbuf_release(&start);
}

static int leave(int code)
{
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return code;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loaded_texts_are_what_they_were),
		cmocka_unit_test(texts_are_loaded_without_backslash_escapes_too),
		cmocka_unit_test(a_failed_load_leaves_nothing),
		cmocka_unit_test(every_kind_of_column_has_its_type),
		cmocka_unit_test(settling_a_missing_table_is_an_error),
		cmocka_unit_test(a_plan_is_the_same_until_it_is_another),
		cmocka_unit_test(bad_statements_are_the_users_error),
		cmocka_unit_test(many_rows_are_fetched_and_not_kept),
		cmocka_unit_test(statements_may_have_no_rows_or_several_results),
		cmocka_unit_test(the_limit_cancels_and_the_connection_stays),
		cmocka_unit_test(whoever_waits_may_stop_it),
		cmocka_unit_test(the_thread_of_the_connection_is_found),
		cmocka_unit_test(it_describes_its_version_and_settings),
		cmocka_unit_test(a_scan_after_forgetting_reads_and_one_more_does_not),
		cmocka_unit_test(wrong_credentials_are_refused_without_telling_them),
		cmocka_unit_test(a_killed_connection_is_known_and_made_again),
		cmocka_unit_test(a_killed_tare_leaves_the_settings_as_they_were),
		cmocka_unit_test(a_killed_server_is_known_and_started_again),
		cmocka_unit_test(a_server_with_a_pool_has_no_thread_of_the_connection),
		cmocka_unit_test(a_server_is_reached_by_tcp_and_started_by_commands),
	};
	snprintf(folder, sizeof folder, "/tmp/tare-db-XXXXXX");
	if (!mkdtemp(folder) || chmod(folder, 0755)) {
		print_error("%s\n", strerror(errno));
		return 1;
	}
	snprintf(data, sizeof data, "%s/data", folder);
	if (!is_installed()) {
		const char *require = getenv("TARE_TEST_REQUIRE");
		fprintf(stderr, "skipped: %s\n", err.text);
		return leave(require && *require == '1' ? 1 : 77);
	}
	return cmocka_run_group_tests(tests, begin, end);
}
