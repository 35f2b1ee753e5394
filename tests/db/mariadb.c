/* The driver on a live MariaDB, which is started here on a private socket. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "subject/dbms/driver.h"
#include "subject/dbms/server_mariadb.h"

#define DRIVER (&mariadb_driver)
#define SECOND 1000000000ull

enum { LOADED_ROWS = 100000, BIG_ROWS = 1000000 };

static char folder[64], data[80];
static struct server_place place = { .data = data, .socket = folder };
static pid_t server;
static char *url;
static void *db; /* the driver's state */
static struct error err;

/* ---- the server ---- */

static void leave(const char *reason)
{
	const char *require = getenv("TARE_TEST_REQUIRE");
	fprintf(stderr, "skipped: %s\n", reason);
	exit(require && *require == '1' ? 1 : 77);
}

static pid_t spawn(const word_list *words, const char *log)
{
	pid_t parent = getpid(), pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
	dup2(out, 1);
	dup2(out, 2);
	execv(words->items[0], words->items);
	_exit(127);
}

static void show_log(const char *log)
{
	char *text = file_read(log);
	print_error("%s", text ? text : "");
	free(text);
}

static int start_server(void)
{
	char log[128];
	word_list words = { 0 };
	snprintf(log, sizeof log, "%s/log", folder);
	if (!mariadb_server.server_words(&place, &words, &err))
		return -1;
	server = spawn(&words, log);
	words_release(&words);
	for (int i = 0; i < 600; i++) {
		if (mariadb_answers(&place))
			return 0;
		usleep(100000);
	}
	show_log(log);
	return -1;
}

static void end_server(int how)
{
	if (server > 0 && kill(server, how) == 0)
		waitpid(server, NULL, 0);
	server = 0;
}

static int make_data(void)
{
	char log[128];
	int status = 0;
	word_list words = { 0 };
	snprintf(log, sizeof log, "%s/make.log", folder);
	if (!mariadb_server.make_words(&place, &words, &err)) {
		rmdir(data);
		rmdir(folder);
		leave(err.text);
	}
	waitpid(spawn(&words, log), &status, 0);
	words_release(&words);
	if (status || !mariadb_server.is_made(data)) {
		show_log(log);
		return -1;
	}
	return 0;
}

static int begin(void **state)
{
	static const char *const settings[] = { "innodb_buffer_pool_size=400M",
						"innodb_log_file_size=400M", NULL };
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/tare-db-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(data, sizeof data, "%s/data", folder);
	mkdir(data, 0700);
	place.settings = settings;
	if (geteuid() == 0) {
		place.user = mariadb_server_user(mariadb_server.user);
		const struct passwd *who = getpwnam(place.user);
		if (!who || chown(folder, who->pw_uid, who->pw_gid) ||
		    chown(data, who->pw_uid, who->pw_gid))
			return -1;
	}
	assert_false(mariadb_server.is_made(data));
	assert_false(mariadb_answers(&place));
	if (make_data() || start_server())
		return -1;
	url = mariadb_server.url(&place);
	if (DRIVER->open(&db, url, NULL, &err) || DRIVER->connect(db, &err)) {
		print_error("%s\n", err.text);
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
	if (db)
		DRIVER->close(db);
	free(url);
	end_server(SIGTERM);
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
	good(DRIVER->run(db, sql, &err));
}

static int64_t number(const char *sql)
{
	int64_t value = -1;
	good(DRIVER->number(db, sql, &value, &err));
	return value;
}

static struct query_plan plan_of(const char *sql)
{
	struct query_plan plan = { 0 };
	good(DRIVER->prepare(db, sql, &err));
	good(DRIVER->plan(db, &plan, &err));
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
	good(DRIVER->prepare(db, sql, &err));
	good(DRIVER->execute(db, NULL, &x, &err));
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

static void test_load(void **state)
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
	good(DRIVER->table_exists(db, "we`ird", &there, &err));
	assert_false(there);
	run("CREATE TABLE `we``ird` (a INT PRIMARY KEY, b VARCHAR(40) CHARACTER SET utf8mb4, c DECIMAL(15,2))");
	good(DRIVER->table_exists(db, "we`ird", &there, &err));
	assert_true(there);
	good(DRIVER->load(db, "we`ird", 3, feed_next, &f, &err));
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

static void test_load_without_backslashes(void **state)
{
	static const char *const rows[][3] = { { "1", "a\\'b\\", "1" } };
	struct feed f = { rows, 0, 1 };
	(void)state;
	run("SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'");
	run("CREATE TABLE plain_backslash (a INT, b VARCHAR(40), c INT)");
	good(DRIVER->load(db, "plain_backslash", 3, feed_next, &f, &err));
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

static void test_failed_load_leaves_nothing(void **state)
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
		assert_int_equal(DRIVER->load(db, "none", 2, spoilt_next, &s, &err), -1);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_null(strchr(err.text, '\n'));
		assert_int_equal(number("SELECT COUNT(*) FROM none"), 0);
		assert_false(DRIVER->lost(db));
	}
	run("SET SESSION sql_mode = DEFAULT");
	struct spoilt s = { .bad = 0, .wrong = "1", .filler = filler };
	assert_int_equal(DRIVER->load(db, "no such table", 2, spoilt_next, &s, &err), -1);
}

static void test_types(void **state)
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
		assert_string_equal(DRIVER->type(db, rows[i].kind, rows[i].length, out),
				    rows[i].want);
		snprintf(sql, sizeof sql, "CREATE OR REPLACE TABLE typed (a %s)", out);
		run(sql);
	}
}

struct many {
	int64_t at;
	char key[24], group[24], text[128];
};

static bool many_next(void *context, const char **values)
{
	struct many *m = context;
	if (m->at == LOADED_ROWS)
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
	snprintf(path, sizeof path, "/proc/%d/io", server);
	char *text = file_read(path);
	const char *line = text ? strstr(text, "\nread_bytes: ") : NULL;
	uint64_t bytes = line ? strtoull(line + 13, NULL, 10) : UINT64_MAX;
	free(text);
	return bytes;
}

/* Loads the big table, and then: a scan after forget() reads it, one more reads nothing. */
static void test_cold(void **state)
{
	static const char *const tables[] = { "big" };
	static const char scan[] = "SELECT COUNT(*), SUM(LENGTH(c)) FROM big";
	struct many m = { 0 };
	uint64_t bytes = 0;
	(void)state;
	run("CREATE TABLE big (a INT PRIMARY KEY, b INT, c VARCHAR(120))");
	uint64_t begun = clock_monotonic_ns();
	good(DRIVER->load(db, "big", 3, many_next, &m, &err));
	run("INSERT INTO big SELECT seq, seq * 7919 % 1000, LPAD(seq, 100, '0') FROM seq_100000_to_999999");
	uint64_t loaded = clock_monotonic_ns();
	good(DRIVER->settle(db, tables, 1, &err));
	print_message("loaded in %.1f s, settled in %.1f s\n", (double)(loaded - begun) / 1e9,
		      (double)(clock_monotonic_ns() - loaded) / 1e9);
	assert_int_equal(number("SELECT @@GLOBAL.innodb_max_dirty_pages_pct"), 90);
	assert_int_equal(number("SELECT @@GLOBAL.innodb_io_capacity"), 200);
	assert_int_equal(number("SELECT @@GLOBAL.innodb_io_capacity_max"), 2000);
	assert_in_range(number("SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS"
			       " WHERE VARIABLE_NAME = 'INNODB_BUFFER_POOL_PAGES_DIRTY'"),
			0, 64);
	good(DRIVER->table_bytes(db, "big", &bytes, &err));
	assert_in_range(bytes, 100ull * BIG_ROWS, 200ull * BIG_ROWS);
	uint64_t before = bytes_read();
	if (before == UINT64_MAX) {
		print_message("the server's I/O cannot be seen\n");
		skip();
	}
	for (int i = 0; i < 3; i++) {
		good(DRIVER->forget(db, &err));
		assert_int_equal(number("SELECT @@GLOBAL.innodb_buffer_pool_size"), 400 << 20);
		before = bytes_read();
		assert_int_equal(execute(scan).rows, 1);
		uint64_t cold = bytes_read() - before;
		execute(scan);
		uint64_t warm = bytes_read() - before - cold;
		print_message("table %llu, cold %llu (%.2f %%), warm %llu\n",
			      (unsigned long long)bytes, (unsigned long long)cold,
			      100 * (double)cold / (double)bytes, (unsigned long long)warm);
		assert_in_range(cold, bytes * 97 / 100, bytes * 103 / 100);
		assert_in_range(warm, 0, bytes / 100);
	}
}

static void test_settle_tells_errors(void **state)
{
	static const char *const tables[] = { "no_such_table" };
	(void)state;
	assert_int_equal(DRIVER->settle(db, tables, 1, &err), -1);
	assert_non_null(strstr(err.text, "no_such_table"));
	uint64_t bytes = 1;
	good(DRIVER->table_bytes(db, "no_such_table", &bytes, &err));
	assert_int_equal(bytes, 0);
}

/* ---- plans ---- */

static void test_plan(void **state)
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

static void test_bad_statements(void **state)
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
		assert_int_equal(DRIVER->prepare(db, rows[i].sql, &err), -1);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_non_null(strstr(err.text, rows[i].says));
		assert_null(strchr(err.text, '\n'));
		assert_false(DRIVER->lost(db));
		assert_int_equal(DRIVER->execute(db, NULL, &x, &err), -1); /* nothing is prepared */
	}
	assert_int_equal(DRIVER->run(db, "CREATE TABLE p (a INT)", &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	/* one that fails while it is evaluated */
	good(DRIVER->prepare(db, "SELECT (SELECT a FROM p)", &err));
	assert_int_equal(DRIVER->execute(db, NULL, &x, &err), -1);
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

static void test_many_rows(void **state)
{
	(void)state;
	execute("SELECT seq, REPEAT('x', 100) FROM seq_1_to_1000");
	uint64_t before = memory_kb("VmRSS:");
	struct dbms_execution x = execute("SELECT seq, REPEAT('x', 100) FROM seq_1_to_1000000");
	assert_int_equal(x.rows, 1000000);
	uint64_t after = memory_kb("VmHWM:");
	print_message("%.2f s, %llu KiB before, %llu at most\n",
		      (double)(x.end_ns - x.begin_ns) / 1e9, (unsigned long long)before,
		      (unsigned long long)after);
	/* the library alone would keep more than 100 MB; the peak of what was before counts, too */
	assert_in_range(after, 1, before + 40000);
}

static void test_statements_without_rows(void **state)
{
	(void)state;
	assert_int_equal(execute("UPDATE p SET c = c WHERE a = 1").rows, 0);
	assert_int_equal(execute("DO 1").rows, 0);
	run("CREATE PROCEDURE two() BEGIN SELECT 1 UNION SELECT 2; SELECT 3; END");
	assert_int_equal(execute("CALL two()").rows, 3);
	assert_int_equal(number("SELECT 5"), 5);
}

/* How long it took to be cut off after a quarter of a second. */
static uint64_t cut_once(void)
{
	struct dbms_wait wait = { .limit_ns = SECOND / 4 };
	struct dbms_execution x = { 0 };
	uint64_t begun = clock_monotonic_ns();
	good(DRIVER->execute(db, &wait, &x, &err));
	uint64_t took = clock_monotonic_ns() - begun;
	assert_true(x.timed_out);
	assert_true(x.end_ns - x.begin_ns >= wait.limit_ns);
	assert_false(DRIVER->lost(db));
	assert_int_equal(number("SELECT 5"), 5); /* and nothing is left of it */
	return took;
}

static void cut(const char *sql)
{
	good(DRIVER->prepare(db, sql, &err));
	for (int tries = 0; cut_once() > SECOND * 3 / 2; tries++) /* the machine may be busy */
		assert_true(tries < 3);
}

static void test_limit(void **state)
{
	int64_t id = number("SELECT CONNECTION_ID()");
	(void)state;
	cut("SELECT SLEEP(10)");
	cut("SELECT BENCHMARK(1000000000, MD5('x'))");
	cut("SELECT a.seq FROM seq_1_to_10000000 a, seq_1_to_100 b"); /* rows all the time */
	assert_int_equal(number("SELECT CONNECTION_ID()"), id);
	assert_int_equal(execute("SELECT SLEEP(0.01)").rows, 1);
	struct dbms_execution x = { 0 };
	good(DRIVER->execute(db, &(struct dbms_wait){ .limit_ns = 30 * SECOND }, &x, &err));
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

static void test_stop(void **state)
{
	static const char *const statements[] = {
		"SELECT SLEEP(10)", "SELECT a.seq FROM seq_1_to_10000000 a, seq_1_to_100 b"
	};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct stopping s = { .at = 5 };
		struct dbms_wait wait = { .stop = stop_at, .context = &s };
		struct dbms_execution x = { 0 };
		good(DRIVER->prepare(db, statements[i], &err));
		uint64_t begun = clock_monotonic_ns();
		assert_int_equal(DRIVER->execute(db, &wait, &x, &err), -1);
		assert_true(clock_monotonic_ns() - begun < 2 * SECOND);
		assert_int_equal(err.code, EXIT_INTERRUPTED);
		assert_int_equal(s.calls, 5);
		print_message("asked each %.0f ms at most\n", (double)s.longest_ns / 1e6);
		assert_false(DRIVER->lost(db));
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
	snprintf(path, sizeof path, "/proc/%d/task", server);
	DIR *threads = opendir(path);
	assert_non_null(threads);
	for (struct dirent *e; (e = readdir(threads));) {
		snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", server, e->d_name);
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

static void test_tasks(void **state)
{
	struct dbms_tasks t;
	(void)state;
	for (int i = 0; i < 2; i++) {
		used_list before = { 0 }, after = { 0 };
		uint64_t all = 0;
		good(DRIVER->connect(db, &err));
		good(DRIVER->tasks(db, &t, &err));
		assert_int_equal(t.server, server);
		assert_int_equal(t.process, server);
		assert_true(t.thread > 0 && t.thread != server);
		assert_true(t.io_by_process);
		assert_false(t.guessed);
		assert_string_equal(t.name, "mariadbd");
		good(DRIVER->prepare(db, "SELECT BENCHMARK(500000, MD5('x'))", &err));
		cpu_of_threads(&before);
		struct dbms_execution x;
		good(DRIVER->execute(db, NULL, &x, &err));
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

static void test_describe(void **state)
{
	char *version = NULL, *settings = NULL;
	(void)state;
	good(DRIVER->describe(db, &version, &settings, &err));
	print_message("%s\n", version);
	assert_null(strchr(version, '-'));
	assert_true(*version >= '1' && *version <= '9');
	assert_non_null(strstr(settings, "\"innodb_buffer_pool_size\":\"419430400\""));
	assert_non_null(strstr(settings, "\"query_cache_type\":\"OFF\""));
	assert_non_null(strstr(settings, "\"innodb_buffer_pool_load_at_startup\":\"OFF\""));
	assert_non_null(strstr(settings, "\"optimizer_switch\":"));
	free(version);
	free(settings);
}

/* ---- connections that fail ---- */

static int open_with(const char *middle, void **state)
{
	struct strbuf text = { 0 };
	strbuf_printf(&text, "mariadb://%s?socket=%s/mariadb.sock", middle, folder);
	good(DRIVER->open(state, text.text, NULL, &err));
	strbuf_release(&text);
	return DRIVER->connect(*state, &err);
}

static void test_wrong_credentials(void **state)
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
		void *other = NULL;
		assert_int_equal(open_with(rows[i].middle, &other), -1);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_non_null(strstr(err.text, rows[i].says));
		assert_null(strstr(err.text, "secret"));
		assert_true(*err.hint);
		assert_true(DRIVER->lost(other));
		DRIVER->close(other);
	}
	run("ALTER USER root@localhost IDENTIFIED BY ''");
	void *other = NULL;
	assert_int_equal(open_with(rows[2].middle, &other), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	DRIVER->close(other);
	good(open_with("limited:p%40ss%3A%2F%3F%25@localhost/tare", &other));
	/* one who may not change the server's settings still can measure */
	static const char *const tables[] = { "p" };
	good(DRIVER->settle(other, tables, 1, &err));
	assert_int_equal(DRIVER->forget(other, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	DRIVER->close(other);
}

static void *killer;

static bool kill_connection(void *context)
{
	char *sql = context;
	if (*sql)
		good(DRIVER->run(killer, sql, &err));
	*sql = '\0';
	return false;
}

static void test_killed_connection(void **state)
{
	char sql[64];
	struct dbms_execution x;
	struct error seen = ERROR_INIT;
	(void)state;
	good(open_with("root@localhost/tare", &killer));
	/* between two statements */
	good(DRIVER->prepare(db, "SELECT 1", &err));
	snprintf(sql, sizeof sql, "KILL CONNECTION %lld",
		 (long long)number("SELECT CONNECTION_ID()"));
	good(DRIVER->run(killer, sql, &err));
	assert_int_equal(DRIVER->execute(db, NULL, &x, &seen), -1);
	assert_int_equal(seen.code, EXIT_SUBJECT);
	assert_true(DRIVER->lost(db));
	good(DRIVER->connect(db, &err));
	assert_false(DRIVER->lost(db));
	assert_int_equal(DRIVER->execute(db, NULL, &x, &seen), -1); /* not prepared any more */
	assert_int_equal(seen.code, EXIT_USAGE);
	/* in the middle of one */
	snprintf(sql, sizeof sql, "KILL CONNECTION %lld",
		 (long long)number("SELECT CONNECTION_ID()"));
	good(DRIVER->prepare(db, "SELECT SLEEP(10)", &err));
	struct dbms_wait wait = { .stop = kill_connection, .context = sql };
	assert_int_equal(DRIVER->execute(db, &wait, &x, &seen), -1);
	assert_int_equal(seen.code, EXIT_SUBJECT);
	assert_true(DRIVER->lost(db));
	good(DRIVER->connect(db, &err));
	assert_int_equal(execute("SELECT 1").rows, 1);
	DRIVER->close(killer);
}

static bool kill_server(void *context)
{
	(void)context;
	if (server)
		end_server(SIGKILL);
	return false;
}

static void test_killed_server(void **state)
{
	struct dbms_execution x;
	struct dbms_tasks t;
	bool there;
	(void)state;
	good(DRIVER->prepare(db, "SELECT SLEEP(10)", &err));
	struct dbms_wait wait = { .stop = kill_server };
	assert_int_equal(DRIVER->execute(db, &wait, &x, &err), -1);
	assert_int_equal(err.code, EXIT_SUBJECT);
	assert_true(DRIVER->lost(db));
	assert_int_equal(DRIVER->connect(db, &err), -1);
	assert_int_equal(err.code, EXIT_SUBJECT);
	assert_true(*err.hint);
	assert_true(DRIVER->lost(db));
	assert_int_equal(DRIVER->execute(db, NULL, &x, &err), -1);
	assert_int_equal(err.code, EXIT_SUBJECT);
	assert_int_equal(DRIVER->run(db, "SELECT 1", &err), -1);
	assert_int_equal(DRIVER->tasks(db, &t, &err), -1);
	assert_int_equal(DRIVER->table_exists(db, "p", &there, &err), -1);
	assert_int_equal(DRIVER->prepare(db, "SELECT 1", &err), -1);
	assert_int_equal(err.code, EXIT_SUBJECT);
	assert_int_equal(start_server(), 0);
	good(DRIVER->connect(db, &err));
	assert_int_equal(number("SELECT COUNT(*) FROM p"), 20000);
}

/* tare may be killed at any point of what changes the server's settings: the server ends it. */
static void test_killed_tare(void **state)
{
	static const char *const tables[] = { "p" };
	(void)state;
	for (int i = 0; i < 6; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			void *own = NULL;
			if (open_with("root@localhost/tare", &own))
				_exit(1);
			for (;;)
				if (i % 2 ? DRIVER->forget(own, &err)
					  : DRIVER->settle(own, tables, 1, &err))
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
	assert_int_equal(number("SELECT @@GLOBAL.innodb_buffer_pool_size"), 400 << 20);
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

/* A pool's threads take turns: none is the connection's own. */
static void test_pool_of_threads_and_tcp(void **state)
{
	char port[32], text[128];
	const char *settings[] = { "thread_handling=pool-of-threads", "skip-networking=0",
				   "bind-address=127.0.0.1", port, NULL };
	struct dbms_tasks t;
	void *other = NULL;
	(void)state;
	run("CREATE USER IF NOT EXISTS far IDENTIFIED BY 'x'");
	run("GRANT ALL ON tare.* TO far");
	run("DELETE FROM mysql.global_priv WHERE user = ''");
	end_server(SIGTERM);
	snprintf(port, sizeof port, "port=%d", free_port());
	place.settings = settings;
	assert_int_equal(start_server(), 0);
	good(DRIVER->connect(db, &err));
	good(DRIVER->tasks(db, &t, &err));
	assert_int_equal(t.process, server);
	assert_int_equal(t.thread, 0);

	end_server(SIGTERM);
	settings[0] = "thread_handling=one-thread-per-connection";
	assert_int_equal(start_server(), 0);
	snprintf(text, sizeof text, "mariadb://far:x@127.0.0.1:%s/tare", port + strlen("port="));
	good(DRIVER->open(&other, text, NULL, &err));
	good(DRIVER->connect(other, &err));
	good(DRIVER->tasks(other, &t, &err));
	assert_int_equal(t.process, server);
	assert_true(t.thread > 0 && t.thread != server);
	DRIVER->close(other);
	place.settings = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_load_without_backslashes),
		cmocka_unit_test(test_failed_load_leaves_nothing),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_settle_tells_errors),
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_bad_statements),
		cmocka_unit_test(test_many_rows),
		cmocka_unit_test(test_statements_without_rows),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_describe),
		cmocka_unit_test(test_cold),
		cmocka_unit_test(test_wrong_credentials),
		cmocka_unit_test(test_killed_connection),
		cmocka_unit_test(test_killed_tare),
		cmocka_unit_test(test_killed_server),
		cmocka_unit_test(test_pool_of_threads_and_tcp),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
