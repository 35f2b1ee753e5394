/* The file of a lab: nothing that is not a lab is touched; a crash, a full disk or a second tare
 * loses nothing that was committed. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "fixture.h"
#include "lab/lab.h"
#include "lab/sqlite.h"
#include "sample.h"

static struct error open_error(enum lab_mode mode)
{
	err = (struct error)ERROR_INIT;
	struct lab *lab = NULL;
	assert_int_equal(lab_open(&lab, path, mode, &err), -1);
	assert_null(lab);
	assert_non_null(strstr(err.text, directory));
	return err;
}

static char *bytes_of(const char *file, size_t *length)
{
	FILE *f = fopen(file, "rb");
	assert_non_null(f);
	char *bytes = xmalloc(1 << 20);
	*length = fread(bytes, 1, 1 << 20, f);
	fclose(f);
	return bytes;
}

static void write_bytes(const char *file, const char *bytes, size_t length)
{
	ok(file_write(file, bytes, length, &err));
}

/* ---- the file ---- */

static void an_empty_file_becomes_a_lab(void **state)
{
	(void)state;
	write_bytes(path, "", 0);
	err = open_error(LAB_READ);
	assert_non_null(strstr(err.text, "there is no lab"));
	struct lab *lab = open_lab(LAB_WRITE);
	assert_int_equal(query(lab, "PRAGMA user_version"), lab_schema_version);
	assert_int_equal(query(lab, "PRAGMA application_id"), 0x74617265);
	lab_close(lab);
}

static void a_missing_directory_is_made(void **state)
{
	(void)state;
	snprintf(path, sizeof path, "%s/a/b/lab.db", directory);
	err = open_error(LAB_READ);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_non_null(strstr(err.text, "there is no lab"));
	char deep[128];
	snprintf(deep, sizeof deep, "%s/a", directory);
	assert_int_equal(access(deep, F_OK), -1); /* reading made nothing */
	lab_close(open_lab(LAB_WRITE));
	struct stat st;
	snprintf(deep, sizeof deep, "%s/a/b", directory);
	assert_int_equal(stat(deep, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	snprintf(path, sizeof path, "%s/a/b/lab.db/c", directory); /* below a file */
	err = open_error(LAB_WRITE);
	snprintf(path, sizeof path, "%s/a", directory);
	err = open_error(LAB_WRITE);
	assert_non_null(strstr(err.text, "is a directory"));
}

static void refused_untouched(enum exit_code code, const char *text)
{
	for (enum lab_mode mode = LAB_READ; mode <= LAB_WRITE; mode++) {
		size_t before, after;
		char *bytes = bytes_of(path, &before);
		err = open_error(mode);
		assert_int_equal(err.code, code);
		if (!strstr(err.text, text)) {
			print_error("'%s' is not in '%s'\n", text, err.text);
			fail();
		}
		assert_non_null(strstr(err.text, "nothing was changed"));
		assert_true(*err.hint);
		char *now = bytes_of(path, &after);
		assert_int_equal(before, after);
		assert_memory_equal(bytes, now, before);
		xfree(bytes);
		xfree(now);
		for (int i = 0; i < 3; i++) {
			char beside[160];
			snprintf(beside, sizeof beside, "%s%s", path,
				 (const char *[]){ "-wal", "-shm", "-journal" }[i]);
			assert_int_equal(access(beside, F_OK), -1);
		}
	}
}

static void other_files_are_left_alone(void **state)
{
	(void)state;
	write_bytes(path, "just a text\n", 12);
	refused_untouched(EXIT_USAGE, "is not a tare lab");
	char big[5000];
	memset(big, 'x', sizeof big);
	write_bytes(path, big, sizeof big);
	refused_untouched(EXIT_USAGE, "is not a tare lab");
	unlink(path);
	static const char *const modes[] = { "DELETE", "WAL" };
	for (int i = 0; i < 2; i++) {
		sqlite3 *db;
		char sql[200];
		snprintf(sql, sizeof sql, "PRAGMA journal_mode = %s; CREATE TABLE t (x);",
			 modes[i]);
		assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		refused_untouched(EXIT_USAGE, "database of another program");
		unlink(path);
	}
}

static void newer_and_damaged_labs_are_refused(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	add_run(lab, "x");
	lab_close(lab);
	char back[40], newer[40];
	snprintf(newer, sizeof newer, "PRAGMA user_version = %d", lab_schema_version + 1);
	execute_sql(newer);
	snprintf(newer, sizeof newer, "schema version %d", lab_schema_version + 1);
	refused_untouched(EXIT_USAGE, newer);
	snprintf(back, sizeof back, "PRAGMA user_version = %d", lab_schema_version);
	execute_sql(back);
	lab_close(open_lab(LAB_WRITE));
	assert_int_equal(truncate(path, 3 * 4096), 0);
	refused_untouched(EXIT_USAGE, "is damaged");
	assert_int_equal(truncate(path, 60), 0);
	refused_untouched(EXIT_USAGE, "is not a tare lab");
}

/* Runs the function in a child as nobody, who may not write where root may; 0 when it liked it. */
static int in_child(int (*function)(void), bool nobody)
{
	pid_t pid = fork();
	if (pid == 0) {
		if (nobody && getuid() == 0 && (setgid(65534) || setuid(65534)))
			_exit(99);
		_exit(function());
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int try_read_only(void)
{
	struct lab *lab;
	if (!lab_open(&lab, path, LAB_WRITE, &err) || err.code != EXIT_ENVIRONMENT || !*err.hint)
		return 1;
	/* reading works all the same, without -shm */
	if (lab_open(&lab, path, LAB_READ, &err))
		return 2;
	struct run run = { 0 };
	int failed = lab_get_run(lab, 1, &run, &err);
	run_release(&run);
	lab_close(lab);
	snprintf(path, sizeof path, "%s/new/lab.db", directory);
	if (!lab_open(&lab, path, LAB_WRITE, &err) || err.code != EXIT_ENVIRONMENT || !*err.hint)
		return 3;
	return failed ? 4 : 0;
}

static void a_lab_in_a_read_only_directory_is_read_but_not_written(void **state)
{
	(void)state;
	snprintf(path, sizeof path, "%s/la?b #%%41.db", directory); /* not for SQLite's URIs */
	struct lab *lab = open_lab(LAB_WRITE);
	add_run(lab, "x");
	lab_close(lab);
	assert_int_equal(chmod(path, 0444), 0);
	assert_int_equal(chmod(directory, 0555), 0);
	assert_int_equal(in_child(try_read_only, true), 0);
}

static void reading_changes_nothing(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	add_run(lab, "x");
	lab_close(lab);
	size_t before, after;
	char *bytes = bytes_of(path, &before), beside[160];
	lab = open_lab(LAB_READ);
	assert_int_equal(query(lab, "SELECT count(*) FROM runs"), 1);
	lab_close(lab);
	char *now = bytes_of(path, &after);
	assert_int_equal(before, after);
	assert_memory_equal(bytes, now, before);
	snprintf(beside, sizeof beside, "%s-shm", path);
	assert_int_equal(access(beside, F_OK), -1);
	xfree(bytes);
	xfree(now);
}

/* A new lab is made at once, an old one step by step: both must end up as the same. */
static char *text_of(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt;
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	char *text = xstrdup((const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	return text;
}

static void a_new_lab_is_what_an_old_one_becomes(void **state)
{
	(void)state;
	static const char *const same[] = {
		("SELECT group_concat(type || name || tbl_name || sql, ' ')"
		 " FROM (SELECT * FROM sqlite_schema WHERE sql NOT NULL ORDER BY rowid)"),
		"SELECT group_concat(id || name) FROM ledger_cause",
		"SELECT group_concat(id || name || strict) FROM noise_class",
	};
	sqlite3 *made, *grown;
	lab_close(open_lab(LAB_WRITE));
	assert_int_equal(sqlite3_open(path, &made), SQLITE_OK);
	char other[sizeof path + 4];
	snprintf(other, sizeof other, "%s.old", path);
	assert_int_equal(sqlite3_open(other, &grown), SQLITE_OK);
	for (int i = 0; i < lab_schema_version; i++)
		assert_int_equal(sqlite3_exec(grown, lab_schema[i], NULL, NULL, NULL), SQLITE_OK);
	char *id = text_of(made, "PRAGMA application_id");
	char *version = text_of(made, "PRAGMA user_version");
	char *marks = sqlite3_mprintf("PRAGMA application_id = %s; PRAGMA user_version = %s", id,
				      version);
	xfree(id);
	xfree(version);
	assert_int_equal(sqlite3_exec(grown, marks, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_free(marks);
	sqlite3_close(grown);
	/* what the catalogue has and the schema's files have not */
	struct lab *lab;
	assert_int_equal(lab_open(&lab, other, LAB_WRITE, &err), 0);
	lab_close(lab);
	assert_int_equal(sqlite3_open(other, &grown), SQLITE_OK);
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		char *a = text_of(made, same[i]), *b = text_of(grown, same[i]);
		assert_true(strlen(a) > 100);
		assert_string_equal(a, b);
		xfree(a);
		xfree(b);
	}
	sqlite3_close(made);
	sqlite3_close(grown);
}

/* ---- several processes ---- */

static int write_200(void)
{
	struct lab *lab;
	struct run run;
	make_run(&run, "parallel");
	if (lab_open(&lab, path, LAB_WRITE, &err) || lab_add_run(lab, &run, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	for (uint32_t i = 1; i <= 200; i++) {
		struct execution x;
		make_execution(&x, i);
		if (lab_add_execution(lab, run.id, &x, &err)) {
			fprintf(stderr, "%s\n", err.text);
			return 2;
		}
		execution_release(&x);
	}
	int failed = lab_end_run(lab, run.id, RUN_COMPLETE, &err);
	lab_close(lab);
	run_release(&run);
	return failed ? 3 : 0;
}

/* They make the lab at once, too. */
static void four_processes_write_at_once_and_lose_nothing(void **state)
{
	(void)state;
	pid_t pids[4];
	for (int i = 0; i < 4; i++)
		if ((pids[i] = fork()) == 0)
			_exit(write_200());
	for (int i = 0; i < 4; i++) {
		int status;
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	struct lab *lab = open_lab(LAB_READ);
	assert_int_equal(query(lab, "SELECT count(*) FROM runs WHERE status = 'complete'"), 4);
	for (int64_t run = 1; run <= 4; run++)
		assert_int_equal(count_executions(lab, run, LAB_THREADS), 200);
	lab_close(lab);
}

static void many_processes_make_one_lab_at_once(void **state)
{
	(void)state;
	for (int round = 0; round < 10; round++) {
		pid_t pids[6];
		snprintf(path, sizeof path, "%s/%d.db", directory, round);
		for (int i = 0; i < 6; i++)
			if ((pids[i] = fork()) == 0) {
				struct lab *lab;
				if (lab_open(&lab, path, LAB_WRITE, &err)) {
					fprintf(stderr, "%s\n", err.text);
					_exit(1);
				}
				add_run(lab, "x");
				lab_close(lab);
				_exit(0);
			}
		int failed = 0, status;
		for (int i = 0; i < 6; i++) {
			waitpid(pids[i], &status, 0);
			failed += status != 0;
		}
		assert_int_equal(failed, 0);
		struct lab *lab = open_lab(LAB_READ);
		assert_int_equal(query(lab, "SELECT count(*) FROM runs"), 6);
		lab_close(lab);
	}
}

static void a_killed_writer_loses_nothing(void **state)
{
	(void)state;
	int report[2];
	assert_int_equal(pipe(report), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct lab *lab = open_lab(LAB_WRITE);
		int64_t run = add_run(lab, "killed");
		for (uint32_t i = 1;; i++) {
			struct execution x;
			make_execution(&x, i);
			ok(lab_add_execution(lab, run, &x, &err));
			execution_release(&x);
			if (write(report[1], &i, sizeof i) != sizeof i)
				_exit(1);
		}
	}
	uint32_t committed = 0;
	while (committed < 50)
		assert_int_equal(read(report[0], &committed, sizeof committed), sizeof committed);
	struct run run = { 0 };
	struct lab *lab = open_lab(LAB_READ); /* while it is being written */
	ok(lab_get_run(lab, 1, &run, &err));
	assert_int_equal(run.status, RUN_GOING);
	run_release(&run);
	lab_close(lab);
	/* opening for writing must not declare a living owner gone */
	lab = open_lab(LAB_WRITE);
	assert_int_equal(lab_remove_run(lab, 1, &err), -1);
	lab_close(lab);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(report[1]);
	for (uint32_t i; read(report[0], &i, sizeof i) == sizeof i;)
		committed = i;
	close(report[0]);

	lab = open_lab(LAB_READ);
	ok(lab_get_run(lab, 1, &run, &err));
	assert_int_equal(run.status, RUN_INTERRUPTED);
	run_release(&run);
	size_t kept = count_executions(lab, 1, LAB_THREADS);
	assert_true(kept == committed || kept == committed + 1);
	assert_int_equal(query(lab, "SELECT count(*) FROM runs WHERE status = 'going'"), 1);
	lab_close(lab);
	lab = open_lab(LAB_WRITE); /* now the view knows it too */
	assert_int_equal(query(lab, "SELECT count(*) FROM runs WHERE status = 'interrupted'"), 1);
	ok(lab_remove_run(lab, 1, &err));
	lab_close(lab);
}

/* ---- no room ---- */

/* Stores executions until it cannot; then what was stored must be there, and more room must help.
 */
enum fullness { FULL_DISK, FULL_FILE, FULL_PAGES };

static int fill_up(enum fullness how)
{
	bool limited = how == FULL_FILE;
	struct lab *lab;
	struct run run;
	make_run(&run, "full");
	if (lab_open(&lab, path, LAB_WRITE, &err) || lab_add_run(lab, &run, &err))
		return 1;
	struct rlimit limit = { 300000, RLIM_INFINITY };
	signal(SIGXFSZ, SIG_IGN);
	if (limited && setrlimit(RLIMIT_FSIZE, &limit))
		return 2;
	if (how == FULL_PAGES &&
	    sqlite3_exec(lab->db, "PRAGMA max_page_count = 200", NULL, NULL, NULL))
		return 2;
	size_t stored = 0;
	for (uint32_t i = 1; i < 100000; i++) {
		struct execution x;
		make_execution(&x, i);
		int failed = lab_add_execution(lab, run.id, &x, &err);
		execution_release(&x);
		if (failed)
			break;
		stored++;
	}
	if (stored < 10 || err.code != EXIT_ENVIRONMENT || !*err.hint ||
	    !strstr(err.text, "what was stored before is kept"))
		return 3;
	execution_list list = { 0 };
	if (lab_get_executions(lab, run.id, LAB_THREADS, &list, &err) || list.count != stored)
		return 4;
	release_executions(&list);
	lab_close(lab);
	limit.rlim_cur = RLIM_INFINITY;
	if (limited && setrlimit(RLIMIT_FSIZE, &limit))
		return 5;
	if (lab_open(&lab, path, LAB_READ, &err) ||
	    lab_get_executions(lab, run.id, LAB_THREADS, &list, &err) || list.count != stored)
		return 6;
	release_executions(&list);
	lab_close(lab);
	run_release(&run);
	return 0;
}

static int fill_limited(void)
{
	return fill_up(FULL_FILE);
}

/* Where nothing can be mounted (no root, a chroot) SQLite itself says that the disk is full. */
static int fill_tmpfs(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", directory, "tmpfs", 0, "size=2m"))
		return fill_up(FULL_PAGES);
	return fill_up(FULL_DISK);
}

/* A lab that finds no room at once leaves nothing behind. */
static int make_limited(void)
{
	struct lab *lab;
	struct rlimit limit = { 8192, RLIM_INFINITY };
	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit) || !lab_open(&lab, path, LAB_WRITE, &err))
		return 1;
	if (err.code != EXIT_ENVIRONMENT || !strstr(err.text, "cannot make lab") ||
	    strstr(err.text, "kept"))
		return 2;
	return access(path, F_OK) ? 0 : 3;
}

static void a_new_lab_that_finds_no_room_leaves_nothing_behind(void **state)
{
	(void)state;
	assert_int_equal(in_child(make_limited, false), 0);
}

static int fill_pages(void)
{
	snprintf(path, sizeof path, "%s/pages.db", directory);
	return fill_up(FULL_PAGES);
}

static void a_file_at_its_limit_keeps_what_was_stored(void **state)
{
	(void)state;
	assert_int_equal(in_child(fill_limited, false), 0);
}

static void a_full_disk_keeps_what_was_stored(void **state)
{
	(void)state;
	assert_int_equal(in_child(fill_tmpfs, false), 0);
	assert_int_equal(in_child(fill_pages, false), 0);
}

static int try_locked(void)
{
	struct lab *lab;
	struct run run;
	make_run(&run, "locked");
	if (lab_open(&lab, path, LAB_WRITE, &err) || !lab_add_run(lab, &run, &err))
		return 1;
	return err.code == EXIT_ENVIRONMENT && strstr(err.text, "locked") ? 0 : 2;
}

static void a_locked_lab_is_an_error_that_says_so(void **state)
{
	(void)state;
	lab_close(open_lab(LAB_WRITE));
	sqlite3 *db;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(in_child(try_locked, false), 0);
	sqlite3_close(db);
}

static int (*usual_open)(const char *, int, int);

static int open_without_room(const char *name, int flags, int mode)
{
	if (!strstr(name, "no-room"))
		return usual_open(name, flags, mode);
	errno = ENOSPC;
	return -1;
}

static void an_error_after_one_for_want_of_room_is_not_waited_for(void **state)
{
	(void)state;
	char words[LAB_WORDS];
	struct lab *lab = open_lab(LAB_WRITE);
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	sqlite3_syscall_ptr before = vfs->xGetSystemCall(vfs, "open");
	usual_open = (int (*)(const char *, int, int))before;
	vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_without_room);
	assert_int_not_equal(sqlite3_exec(lab->db, "ATTACH 'no-room' AS x", NULL, NULL, NULL), 0);
	vfs->xSetSystemCall(vfs, "open", before);
	assert_int_equal(sqlite3_system_errno(lab->db), ENOSPC);
	assert_int_equal(lab_change(lab, "INSERT INTO run (id) VALUES (1)", NULL, "fill", &err),
			 -1);
	assert_false(lab_hindered(lab, words));
	lab_close(lab);
}

/* SQLite has one limit for the process, in which 'tare query' may measure another database. */
static void only_a_lab_that_is_read_limits_the_memory_of_sqlite(void **state)
{
	(void)state;
	sqlite3_hard_heap_limit64(0);
	lab_close(open_lab(LAB_WRITE));
	assert_int_equal(sqlite3_hard_heap_limit64(-1), 0);
	lab_close(open_lab(LAB_READ));
	assert_int_equal(sqlite3_hard_heap_limit64(-1), 1 << 30);
	sqlite3_hard_heap_limit64(0);
}

/* ---- under sudo ---- */

static int as_invoker(void)
{
	struct lab *lab;
	struct stat st;
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	snprintf(path, sizeof path, "%s/mine/lab.db", directory);
	for (int round = 0; round < 2; round++) {
		if (lab_open(&lab, path, LAB_WRITE, &err))
			return 1;
		struct run run;
		make_run(&run, "sudo");
		if (lab_add_run(lab, &run, &err))
			return 2;
		run_release(&run);
		static const char *const ends[] = { "", "-wal", "-shm" };
		for (int i = 0; i < 3; i++) {
			char file[160];
			snprintf(file, sizeof file, "%s%s", path, ends[i]);
			if (stat(file, &st) || st.st_uid != 65534 || st.st_gid != 65534)
				return 3 + i;
		}
		lab_close(lab);
	}
	return geteuid() == 0 ? 0 : 9;
}

static void files_belong_to_the_invoker_of_sudo(void **state)
{
	(void)state;
	if (getuid() != 0) {
		print_message("files under sudo: needs root\n");
		skip();
	}
	assert_int_equal(chmod(directory, 0777), 0);
	assert_int_equal(in_child(as_invoker, false), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	seed = 20261115;
	const struct CMUnitTest tests[] = {
		TEST(an_empty_file_becomes_a_lab),
		TEST(a_new_lab_is_what_an_old_one_becomes),
		TEST(a_missing_directory_is_made),
		TEST(other_files_are_left_alone),
		TEST(newer_and_damaged_labs_are_refused),
		TEST(a_lab_in_a_read_only_directory_is_read_but_not_written),
		TEST(reading_changes_nothing),
		TEST(four_processes_write_at_once_and_lose_nothing),
		TEST(many_processes_make_one_lab_at_once),
		TEST(a_killed_writer_loses_nothing),
		TEST(a_file_at_its_limit_keeps_what_was_stored),
		TEST(a_full_disk_keeps_what_was_stored),
		TEST(a_new_lab_that_finds_no_room_leaves_nothing_behind),
		TEST(a_locked_lab_is_an_error_that_says_so),
		TEST(an_error_after_one_for_want_of_room_is_not_waited_for),
		TEST(only_a_lab_that_is_read_limits_the_memory_of_sqlite),
		TEST(files_belong_to_the_invoker_of_sudo),
	};
	return cmocka_run_group_tests_name("lab-file", tests, NULL, NULL);
}
