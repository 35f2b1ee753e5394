/* What is in a lab: everything stored comes back, whatever its bytes; what is damaged is an error;
 * SQL reads and the views are described. The file itself: lab-file.c. */
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "fixture.h"
#include "lab/lab.h"
#include "lab/sqlite.h"
#include "sample.h"

#define ODD "a'b\"c\n\xff\xfe\xc3(\x01 \xe2\x82\xac"

/* ---- round trips ---- */

static void runs_come_back(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	struct machine m = { 0 }, back = { 0 };
	machine_set(&m, "cpu.model", "odd\n\xff=\\");
	machine_set(&m, "now.load", "0.5");
	int64_t machine, again, invocation;
	ok(lab_add_machine(lab, &m, &machine, &err));
	ok(lab_add_machine(lab, &m, &again, &err));
	assert_int_equal(machine, again);
	ok(lab_get_machine(lab, machine, &back, &err));
	assert_string_equal(machine_get(&back, "cpu.model"), "odd\n\xff=\\");
	ok(lab_add_invocation(lab, ODD, &invocation, &err));
	struct run run = { .invocation = invocation,
			   .machine = machine,
			   .name = xstrdup(ODD),
			   .command = xstrdup("\xff" ODD),
			   .shell = xstrdup("/bin/\xfe"),
			   .directory = xstrdup("/\n"),
			   .conditions = conditions_take(xstrdup("{\"runs\":3}")),
			   .backend = BACKEND_BPF,
			   .not_seen = xstrdup("é"),
			   .started_at_ns = 5,
			   .planned = UINT32_MAX,
			   .shell_et_ns = 11,
			   .version = xstrdup("1"),
			   .tags = xstrdup("") };
	run.shell_pt_ns[GRADE_NET] = ABSENT_NS;
	run.shell_pt_ns[GRADE_EXEC] = 12;
	run.shell_pt_ns[GRADE_TICK] = UINT64_MAX - 5;
	array_push(&run.parameters, (struct parameter){ xstrdup("n"), xstrdup(ODD) });
	array_push(&run.parameters, (struct parameter){ xstrdup("\xff"), xstrdup("") });
	run.backend = BACKEND_PLAIN;
	run.planned = 3;
	run.shell_et_ns = 99;
	ok(lab_add_run(lab, &run, &err));
	lab_close(lab);

	lab = open_lab(LAB_READ);
	struct run got = { 0 };
	ok(lab_get_run(lab, run.id, &got, &err));
	assert_int_equal(got.status, RUN_GOING);
	assert_int_equal(got.backend, BACKEND_PLAIN);
	assert_string_equal(got.name, ODD);
	assert_string_equal(got.command, "\xff" ODD);
	assert_string_equal(got.shell, "/bin/\xfe");
	assert_string_equal(got.directory, "/\n");
	assert_string_equal(got.conditions.text, "{\"runs\":3}");
	assert_string_equal(got.not_seen, "é");
	assert_string_equal(got.version, "1");
	assert_string_equal(got.tags, "");
	assert_int_equal(got.invocation, invocation);
	assert_int_equal(got.machine, machine);
	assert_int_equal(got.planned, 3);
	assert_true(got.started_at_ns == 5 && got.ended_at_ns == 0 && got.shell_et_ns == 99);
	assert_memory_equal(got.shell_pt_ns, run.shell_pt_ns, sizeof got.shell_pt_ns);
	assert_int_equal(got.parameters.count, 2);
	assert_string_equal(got.parameters.items[0].value, ODD);
	assert_string_equal(got.parameters.items[1].name, "\xff");
	assert_int_equal(lab_end_run(lab, run.id, RUN_COMPLETE, &err), -1); /* for reading only */
	lab_close(lab);
	run_release(&run);
	run_release(&got);
	machine_release(&m);
	machine_release(&back);
}

static void executions_come_back(void **state)
{
	(void)state;
	enum { COUNT = 12 };
	struct execution stored[COUNT];
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t a = add_run(lab, "a"), b = add_run(lab, "b");
	for (uint32_t i = 0; i < COUNT; i++) {
		struct execution *x = &stored[i];
		make_execution(x, i + 1);
		x->warmup = i == 0;
		ok(lab_add_execution(lab, i % 2 ? b : a, x, &err));
		assert_true(x->id > 0);
	}
	lab_close(lab);
	lab = open_lab(LAB_READ);
	for (int side = 0; side < 2; side++) {
		execution_list list = { 0 };
		ok(lab_get_executions(lab, side ? b : a, LAB_THREADS, &list, &err));
		assert_int_equal(list.count, COUNT / 2);
		for (size_t i = 0; i < list.count; i++)
			same_execution(&list.items[i], &stored[2 * i + (size_t)side]);
		release_executions(&list);
		ok(lab_get_executions(lab, side ? b : a, LAB_ROWS, &list, &err));
		assert_int_equal(list.items[0].processes.count, 0);
		release_executions(&list);
	}
	run_list runs = { 0 };
	run_count_list counts = { 0 };
	ok(lab_list_runs(lab, NULL, 0, &runs, &counts, &err));
	assert_int_equal(counts.count, 2);
	assert_string_equal(runs.items[0].name, "b"); /* newest first */
	assert_int_equal(counts.items[0].executions, 6);
	assert_int_equal(counts.items[1].executions, 5);
	assert_int_equal(counts.items[1].warmups, 1);
	assert_float_equal(counts.items[1].mean_et_ns, 1007, 1e-9);	/* 3 5 7 9 11 */
	assert_float_equal(counts.items[0].mean_pt_exec_ns, 907, 1e-9); /* 2 .. 12 */
	for (size_t i = 0; i < runs.count; i++)
		run_release(&runs.items[i]);
	array_release(&runs);
	array_release(&counts);
	lab_close(lab);
	for (int i = 0; i < COUNT; i++)
		execution_release(&stored[i]);
}

static void many_executions_are_stored_or_none(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t run = add_run(lab, "x");
	struct execution x[4];
	for (uint32_t i = 0; i < 4; i++) {
		make_execution(&x[i], i + 1);
		x[i].id = 0;
	}
	enum outcome outcome = x[2].outcome;
	x[2].outcome = (enum outcome)7;
	assert_int_equal(lab_add_executions(lab, run, x, 3, &err), -1);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(x[i].id, 0);
	assert_int_equal(count_executions(lab, run, LAB_THREADS), 0);
	x[2].outcome = outcome;
	ok(lab_add_executions(lab, run, x, 3, &err));
	ok(lab_add_executions(lab, run, x, 0, &err));
	ok(lab_add_execution(lab, run, &x[3], &err));
	execution_list list = { 0 };
	ok(lab_get_executions(lab, run, LAB_THREADS, &list, &err));
	assert_int_equal(list.count, 4);
	for (size_t i = 0; i < 4; i++) {
		same_execution(&list.items[i], &x[i]);
		execution_release(&x[i]);
	}
	release_executions(&list);
	lab_close(lab);
}

static void runs_are_found(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t id = 77;
	assert_int_equal(lab_find_run(lab, "last", LAB_ALL_KINDS, &id, NULL, &err), -1);
	assert_non_null(strstr(err.hint, "no runs yet"));
	int64_t one = add_run(lab, "sort"), two = add_run(lab, "100% 'odd'\n\xff"),
		three = add_run(lab, "sort"), four = add_run(lab, "1");
	static const char *const unknown[] = {
		"@4", "99", "@", "@-1", "", "SORT", "99999999999999999999"
	};
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
		assert_int_equal(lab_find_run(lab, unknown[i], LAB_ALL_KINDS, &id, NULL, &err), -1);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_int_equal(id, 77);
	}
	assert_int_equal(lab_find_run(lab, "srot", LAB_ALL_KINDS, &id, NULL, &err), -1);
	assert_non_null(strstr(err.hint, "'sort'"));
	ok(lab_find_run(lab, "sort", LAB_ALL_KINDS, &id, NULL, &err));
	assert_int_equal(id, three);
	ok(lab_find_run(lab, "1", LAB_ALL_KINDS, &id, NULL, &err)); /* a number is an id first */
	assert_int_equal(id, one);
	ok(lab_find_run(lab, "last", LAB_ALL_KINDS, &id, NULL, &err));
	assert_int_equal(id, four);
	ok(lab_find_run(lab, "@2", LAB_ALL_KINDS, &id, NULL, &err));
	assert_int_equal(id, two);
	ok(lab_find_run(lab, "100% 'odd'\n\xff", LAB_ALL_KINDS, &id, NULL, &err));
	assert_int_equal(id, two);
	run_list runs = { 0 };
	ok(lab_list_runs(lab, "% 'ODD", 0, &runs, NULL, &err));
	assert_int_equal(runs.count, 1);
	assert_int_equal(runs.items[0].id, two);
	run_release(&runs.items[0]);
	array_release(&runs);
	ok(lab_list_runs(lab, "sleep", 3, &runs, NULL, &err));
	assert_int_equal(runs.count, 3);
	for (size_t i = 0; i < runs.count; i++)
		run_release(&runs.items[i]);
	array_release(&runs);
	static const char *const refused[] = { "", "12", "last", "@3" };
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(lab_rename_run(lab, one, refused[i], &err), -1);
	ok(lab_rename_run(lab, one, ODD, &err));
	ok(lab_find_run(lab, ODD, LAB_ALL_KINDS, &id, NULL, &err));
	assert_int_equal(id, one);
	assert_int_equal(lab_rename_run(lab, 1234, "x", &err), -1);
	lab_close(lab);
}

static void runs_are_removed(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t ids[2], invocation;
	ok(lab_add_invocation(lab, "tare", &invocation, &err));
	for (int i = 0; i < 2; i++) {
		struct run run;
		make_run(&run, "x");
		run.invocation = invocation;
		ok(lab_add_run(lab, &run, &err));
		ids[i] = run.id;
		run_release(&run);
		struct execution x;
		make_execution(&x, 1);
		ok(lab_add_execution(lab, ids[i], &x, &err));
		execution_release(&x);
	}
	assert_int_equal(lab_remove_run(lab, ids[0], &err), -1);
	assert_non_null(strstr(err.text, "is going"));
	assert_int_equal(count_executions(lab, ids[0], LAB_THREADS), 1);
	execute_sql(OLD_IMAGES);
	assert_int_equal(query(lab, "SELECT count(*) FROM image"), 4);
	ok(lab_end_run(lab, ids[0], RUN_COMPLETE, &err));
	ok(lab_end_run(lab, ids[1], RUN_FAILED, &err));
	ok(lab_remove_run(lab, ids[0], &err));
	assert_int_equal(lab_remove_run(lab, ids[0], &err), -1);
	assert_int_equal(query(lab, "SELECT count(*) FROM study"), 1);
	assert_int_equal(query(lab, "SELECT count(*) FROM image"), 2);
	assert_int_equal(query(lab, "SELECT count(*) FROM process"), 5);
	assert_int_equal(count_executions(lab, ids[1], LAB_THREADS), 1);
	ok(lab_remove_run(lab, ids[1], &err));
	assert_int_equal(query(lab, "SELECT (SELECT count(*) FROM study) + (SELECT count(*) FROM "
				    "image) + (SELECT count(*) FROM process) + (SELECT count(*) "
				    "FROM execution)"),
			 0);
	assert_true(add_run(lab, "y") > ids[1]); /* numbers are not given twice */
	lab_close(lab);
}

/* Impossible values in the rows must be an error, not an index out of an array. */
static void damaged_rows_are_an_error(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t run = add_run(lab, "x");
	struct execution x;
	make_execution(&x, 1);
	ok(lab_add_execution(lab, run, &x, &err));
	execution_release(&x);
	lab_close(lab);
	static const struct {
		const char *sql, *back;
	} cases[] = {
		{ "UPDATE process SET pid = 1 << 40", "UPDATE process SET pid = 1" },
		{ "PRAGMA ignore_check_constraints = 1; UPDATE process SET role = 3",
		  "UPDATE process SET role = 1" },
		{ "UPDATE counter SET enabled_ns = -1", "UPDATE counter SET enabled_ns = 1" },
		{ "PRAGMA ignore_check_constraints = 1; UPDATE execution SET outcome = -1",
		  "UPDATE execution SET outcome = 1" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		execute_sql(cases[i].sql);
		lab = open_lab(LAB_READ);
		execution_list list = { 0 };
		assert_int_equal(lab_get_executions(lab, run, LAB_THREADS, &list, &err), -1);
		assert_int_equal(list.count, 0);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_non_null(strstr(err.text, "is damaged"));
		lab_close(lab);
		execute_sql(cases[i].back);
		lab = open_lab(LAB_READ);
		assert_int_equal(count_executions(lab, run, LAB_THREADS), 1);
		lab_close(lab);
	}
	execute_sql("PRAGMA ignore_check_constraints = 1; UPDATE run SET status = 200");
	lab = open_lab(LAB_READ);
	struct run got = { 0 };
	assert_int_equal(lab_get_run(lab, run, &got, &err), -1);
	lab_close(lab);
}

static void a_lab_in_memory_leaves_no_file(void **state)
{
	(void)state;
	struct lab *lab;
	assert_int_equal(chdir(directory), 0);
	ok(lab_open(&lab, LAB_IN_MEMORY, LAB_WRITE, &err));
	int64_t run = add_run(lab, "x");
	struct execution x;
	make_execution(&x, 1);
	ok(lab_add_execution(lab, run, &x, &err));
	ok(lab_end_run(lab, run, RUN_COMPLETE, &err));
	assert_int_equal(count_executions(lab, run, LAB_THREADS), 1);
	execution_release(&x);
	lab_close(lab);
	assert_int_equal(access(":memory:", F_OK), -1);
	assert_int_equal(chdir("/"), 0);
}

/* ---- SQL ---- */

static bool no_row(void *context, int columns, const char *const *names, const char *const *values,
		   const enum lab_type *types)
{
	(void)types;
	assert_null(values);
	assert_int_equal(columns, 2);
	assert_string_equal(names[1], "b");
	*(bool *)context = true;
	return true;
}

static bool odd_row(void *context, int columns, const char *const *names, const char *const *values,
		    const enum lab_type *types)
{
	(void)names;
	assert_int_equal(columns, 4);
	assert_true(types[0] == LAB_NULL && types[1] == LAB_REAL && types[2] == LAB_BLOB &&
		    types[3] == LAB_TEXT);
	assert_null(values[0]);
	assert_string_equal(values[1], "1.5");
	assert_string_equal(values[2], "X'00FF'");
	assert_string_equal(values[3], "it's");
	++*(int *)context;
	return false; /* stop: the second row is not given */
}

static bool ignore_row(void *context, int columns, const char *const *names,
		       const char *const *values, const enum lab_type *types)
{
	(void)context, (void)columns, (void)names, (void)values, (void)types;
	return true;
}

static void sql_only_reads(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	add_run(lab, "x");
	char attach[200], outside[128];
	snprintf(outside, sizeof outside, "%s/out.db", directory);
	snprintf(attach, sizeof attach, "ATTACH '%s' AS o", outside);
	char vacuum[200];
	snprintf(vacuum, sizeof vacuum, "VACUUM INTO '%s'", outside);
	const char *refused[] = { attach,
				  vacuum,
				  "DELETE FROM run",
				  "DROP VIEW runs",
				  "PRAGMA user_version = 7",
				  "PRAGMA journal_mode = DELETE",
				  "PRAGMA query_only = OFF",
				  "PRAGMA wal_checkpoint",
				  "BEGIN",
				  "SELECT load_extension('x')",
				  "CREATE TEMP TABLE t (x)",
				  "VACUUM",
				  "SELECT 1; DELETE FROM run",
				  "SELECT 1; SELECT 2",
				  "",
				  " -- x",
				  "SELECT",
				  "SELECT nothing FROM runs",
				  "REINDEX",
				  "ANALYZE",
				  "WITH a AS (SELECT 1) UPDATE run SET planned = 4",
				  "EXPLAIN DELETE FROM run",
				  "UPDATE sqlite_master SET type = 'x'",
				  "PRAGMA writable_schema = 1" };
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		if (!lab_sql(lab, refused[i], ignore_row, NULL, &err) || err.code != EXIT_USAGE) {
			print_error("not refused: %s\n", refused[i]);
			fail();
		}
	}
	assert_int_equal(access(outside, F_OK), -1);
	assert_int_equal(query(lab, "SELECT count(*) FROM runs; -- all\n ;"), 1);
	assert_int_equal(query(lab,
			       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
			       "WHERE i < 5) SELECT sum(i) FROM n"),
			 15);
	assert_int_equal(query(lab, "SELECT count(*) FROM pragma_table_info('machines')"), 5);
	bool called = false;
	ok(lab_sql(lab, "SELECT 1 AS a, 2 AS b WHERE 0", no_row, &called, &err));
	assert_true(called);
	int rows = 0;
	ok(lab_sql(lab, "SELECT NULL, 1.5, x'00ff', 'it''s' UNION ALL SELECT 1, 2, 3, 4", odd_row,
		   &rows, &err));
	assert_int_equal(rows, 1);
	add_run(lab, "y"); /* the authorizer is gone again */
	lab_close(lab);
}

struct described {
	struct lab *lab;
	char view[64];
	int columns, views;
};

static void judge_description(void *context, const char *view, const char *column,
			      const char *meaning)
{
	struct described *d = context;
	char sql[256];
	assert_true(strlen(meaning) > 2);
	if (!column) {
		snprintf(d->view, sizeof d->view, "%s", view);
		d->columns = 0;
		d->views++;
		snprintf(sql, sizeof sql, "SELECT count(*) >= 0 FROM %s", view);
		assert_int_equal(query(d->lab, sql), 1);
		return;
	}
	assert_string_equal(d->view, view);
	snprintf(sql, sizeof sql,
		 "SELECT count(*) FROM pragma_table_info('%s') WHERE cid = %d AND name = '%s'",
		 view, d->columns++, column);
	if (query(d->lab, sql) != 1) {
		print_error("%s.%s is described but not there\n", view, column);
		fail();
	}
}

static void count_columns(void *context, const char *view, const char *column, const char *meaning)
{
	(void)view;
	(void)meaning;
	*(long *)context += column != NULL;
}

static void views_are_described(void **state)
{
	(void)state;
	struct described d = { .lab = open_lab(LAB_WRITE) };
	ok(lab_views(judge_description, &d, &err));
	assert_int_equal(d.views, 48);
	long described = 0;
	ok(lab_views(count_columns, &described, &err));
	assert_int_equal(described,
			 query(d.lab, "SELECT count(*) FROM sqlite_schema s, "
				      "pragma_table_info(s.name) WHERE s.type = 'view'"));
	lab_close(d.lab);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	seed = 20261115;
	const struct CMUnitTest tests[] = {
		TEST(runs_come_back),
		TEST(executions_come_back),
		TEST(many_executions_are_stored_or_none),
		TEST(runs_are_found),
		TEST(runs_are_removed),
		TEST(damaged_rows_are_an_error),
		TEST(a_lab_in_memory_leaves_no_file),
		TEST(sql_only_reads),
		TEST(views_are_described),
	};
	return cmocka_run_group_tests_name("lab", tests, NULL, NULL);
}
