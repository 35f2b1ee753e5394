/* An experiment conducted on SQLite: which executions are made, in which order, and when again. */
#include <ftw.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "base/interrupt.h"
#include "measure/query.h"

struct made {
	uint32_t query;
	uint64_t cardinality;
	struct query_execution q;
};

/* What was told, and what is done meanwhile. */
struct told {
	ARRAY(struct made) made;
	size_t events[QUERY_EVENTS], begun, raw;
	size_t flips_from, flips_to; /* executions after which an index comes or goes */
	bool indexed;
};

static char directory[64], path[96], url[128];
static struct error err;
static struct query_rig rig;
static struct experiment e;
static struct told told;
static struct query_run
	done; /* what a run would have stored: which tables it made, and some more */

/* ---- an experiment ---- */

static void add_column(struct experiment_table *t, const char *name, bool serial)
{
	array_push(&t->columns, (struct experiment_column){ .name = xstrdup(name),
							    .kind = KIND_INTEGER,
							    .distinct = serial ? 0 : 10,
							    .serial = serial });
}

static void add_query(const char *sql)
{
	array_push(&e.queries, (struct experiment_query){ xstrdup("q"), xstrdup(sql) });
}

static void make_experiment(void)
{
	struct experiment_table t = {
		.name = xstrdup("t"), .rows = 200, .seed = 1, .varies = true
	};
	add_column(&t, "id", true);
	add_column(&t, "a", false);
	e = (struct experiment){ .name = xstrdup("test"), .executions = 3, .seed = 1 };
	array_push(&e.tables, t);
	array_push(&e.cardinalities, 200);
	array_push(&e.cardinalities, 50);
	add_query("SELECT * FROM t");
	add_query("SELECT count(*) FROM t WHERE a = 3");
}

/* ---- hooks ---- */

static void run_beside(const char *sql)
{
	sqlite3 *db;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static int on_begun(void *context, const struct query_at *at, struct error *error)
{
	(void)context, (void)error;
	told.begun += at->query > 0;
	return 0;
}

static int on_planned(void *context, const struct query_plan *plan, struct error *error)
{
	(void)context, (void)error;
	assert_true(plan->hash != 0 && plan->json);
	return 0;
}

static int on_executed(void *context, uint32_t query, uint64_t cardinality,
		       const struct query_execution *q, struct execution *raw, struct error *error)
{
	(void)context, (void)error;
	array_push(&told.made, (struct made){ query, cardinality, *q });
	told.raw += raw->tasks_before.count > 0 && raw->tasks_after.count > 0;
	if (told.made.count >= told.flips_from && told.made.count < told.flips_to) {
		run_beside(told.indexed ? "DROP INDEX t_by_a" : "CREATE INDEX t_by_a ON t (a)");
		told.indexed = !told.indexed;
	}
	return 0;
}

static int on_event(void *context, const struct query_event *event, struct error *error)
{
	(void)context, (void)error;
	told.events[event->kind]++;
	if (event->kind == QUERY_MADE_TABLE) {
		struct query_event copy = *event;
		copy.text = xstrdup(event->text);
		array_push(&done.events, copy);
	}
	return 0;
}

static const struct query_hooks hooks = { NULL, on_begun, on_planned, on_executed, on_event, NULL };

static int conduct(enum query_tables tables, const struct query_run *before)
{
	const struct query_conduct_options options = { .tables = tables, .done = before };
	err = (struct error)ERROR_INIT;
	return query_conduct(&rig, &e, &options, &hooks, &err);
}

static void ok(int result)
{
	if (result)
		print_error("%s\n", err.text);
	assert_int_equal(result, 0);
}

/* ---- set up ---- */

static int remove_entry(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(name);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(directory, sizeof directory, "/tmp/tare-conduct.XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof path, "%s/x.db", directory);
	snprintf(url, sizeof url, "sqlite:%s", path);
	told = (struct told){ .flips_from = SIZE_MAX };
	make_experiment();
	return collector_open(&rig.collector, BACKENDS, &err) ||
	       dbms_open(&rig.dbms, url, NULL, &err);
}

static int tear_down(void **state)
{
	(void)state;
	dbms_close(rig.dbms);
	collector_close(rig.collector);
	rig = (struct query_rig){ 0 };
	experiment_release(&e);
	array_release(&told.made);
	query_run_release(&done);
	return nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- the tests ---- */

static void every_execution_is_made_once_in_order(void **state)
{
	(void)state;
	ok(conduct(TABLES_NEW, NULL));
	assert_int_equal(told.made.count, 12);
	assert_int_equal(told.raw, 12);
	assert_int_equal(told.begun, 4);
	for (size_t i = 0; i < 12; i++) {
		const struct made *m = &told.made.items[i];
		assert_int_equal(m->cardinality, i < 6 ? 200 : 50);
		assert_int_equal(m->query, i / 3 % 2 + 1);
		assert_int_equal(m->q.number, i % 3 + 1);
		assert_int_equal(m->q.rows, m->query == 1 ? m->cardinality : 1);
		assert_true(m->q.measured_ns > 0);
		assert_false(m->q.timed_out);
		assert_true(m->q.plan == told.made.items[i / 3 % 2 * 3].q.plan);
		assert_int_equal(m->q.usage[QUERY_QUERY].processes, 1);
	}
}

static void onepass_measures_only_where_the_plan_differs(void **state)
{
	(void)state;
	e.scenario = SCENARIO_ONEPASS;
	ok(conduct(TABLES_NEW, NULL));
	assert_int_equal(told.made.count, 6);
	assert_int_equal(told.events[QUERY_SAME_PLAN], 2);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(told.made.items[i].cardinality, 200);
}

static void a_new_plan_begins_anew(void **state)
{
	(void)state;
	told.flips_from = 5; /* query 2, its second */
	told.flips_to = 6;
	e.cardinalities.count = 1;
	ok(conduct(TABLES_NEW, NULL));
	assert_int_equal(told.events[QUERY_RESTARTED], 1);
	assert_int_equal(told.made.count, 3 + 2 + 3);
	const struct made *m = told.made.items;
	assert_true(m[4].q.plan == m[3].q.plan && m[5].q.plan != m[3].q.plan);
	for (size_t i = 5; i < 8; i++) {
		assert_int_equal(m[i].q.number, i - 4);
		assert_true(m[i].q.plan == m[5].q.plan);
	}
}

static void a_plan_that_flips_is_given_up(void **state)
{
	(void)state;
	told.flips_from = 4; /* query 2, each */
	told.flips_to = 1000;
	e.cardinalities.count = 1;
	add_query("SELECT max(id) FROM t");
	ok(conduct(TABLES_NEW, NULL));
	assert_int_equal(told.events[QUERY_RESTARTED], 6);
	assert_int_equal(told.events[QUERY_GAVE_UP], 1);
	size_t third = 0;
	for (size_t i = 0; i < told.made.count; i++)
		third += told.made.items[i].query == 3;
	assert_int_equal(third, 3);
}

static void a_resumed_run_makes_what_is_missing(void **state)
{
	(void)state;
	ok(conduct(TABLES_NEW, NULL));
	assert_int_equal(told.events[QUERY_MADE_TABLE], 2); /* t and t_all */
	struct query_at at = { .query = 1, .cardinality = 200 };
	array_push(&at.executions, told.made.items[0].q);
	array_push(&at.executions, told.made.items[2].q);
	array_push(&done.at, at);
	told.made.count = 0;
	ok(conduct(TABLES_NEW, &done));
	assert_int_equal(told.made.count, 10);
	assert_int_equal(told.made.items[0].q.number, 2);
	assert_int_equal(told.made.items[1].query, 2);
}

/* Onepass, killed after the lower cardinality was skipped: it is skipped again. */
static void a_resumed_onepass_skips_what_it_skipped_before(void **state)
{
	(void)state;
	e.scenario = SCENARIO_ONEPASS;
	ok(conduct(TABLES_NEW, NULL));
	struct query_at at = { .query = 1, .cardinality = 200 };
	for (size_t i = 0; i < 3; i++)
		array_push(&at.executions, told.made.items[i].q);
	array_push(&done.at, at);
	array_push(&done.events, (struct query_event){ .kind = QUERY_SAME_PLAN,
						       .query = 1,
						       .cardinality = 50,
						       .plan = at.executions.items[0].plan });
	told.made.count = told.events[QUERY_SAME_PLAN] = 0;
	ok(conduct(TABLES_NEW, &done));
	assert_int_equal(told.made.count, 3);
	assert_int_equal(told.made.items[0].query, 2);
	assert_int_equal(told.events[QUERY_SAME_PLAN], 1);
}

static int64_t count(const char *table)
{
	char sql[64];
	int64_t rows = 0;
	snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
	ok(dbms_number(rig.dbms, sql, &rows, &err));
	return rows;
}

static void refused(enum query_tables tables, const struct query_run *before)
{
	told.made.count = 0;
	assert_int_equal(conduct(tables, before), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_int_equal(told.made.count, 0);
}

static void tables_of_others_stay(void **state)
{
	(void)state;
	struct query_run nothing = { 0 };
	run_beside("CREATE TABLE t (id, a); INSERT INTO t VALUES (1, 2)");
	refused(TABLES_NEW, NULL);
	refused(TABLES_REUSE, NULL);
	refused(TABLES_NEW, &nothing); /* a run that was killed before it made any */
	assert_int_equal(count("t"), 1);
	run_beside("DROP TABLE t; CREATE TABLE t_all (id, a)");
	refused(TABLES_NEW, NULL);
	assert_int_equal(count("t_all"), 0);
	ok(conduct(TABLES_FORCE, NULL));
	assert_int_equal(told.made.count, 12);
	ok(conduct(TABLES_REUSE, NULL));
	run_beside("DELETE FROM t_all WHERE id = 7");
	refused(TABLES_REUSE, NULL);
	assert_int_equal(count("t_all"), 199);
	ok(conduct(TABLES_NEW, &done)); /* but the run that made it mends it */
	assert_int_equal(count("t_all"), 200);
}

static void a_query_over_the_limit_is_timed_out(void **state)
{
	(void)state;
	e.cardinalities.count = 1;
	e.executions = 1;
	e.time_limit_ns = 50000000;
	add_query(
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n");
	ok(conduct(TABLES_NEW, NULL));
	assert_int_equal(told.made.count, 3);
	assert_true(told.made.items[2].q.timed_out);
	assert_false(told.made.items[1].q.timed_out);
}

static void a_bad_statement_ends_it(void **state)
{
	(void)state;
	add_query("SELECT nothing FROM nowhere");
	assert_int_equal(conduct(TABLES_NEW, NULL), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_non_null(strstr(err.text, "query 3"));
	assert_int_equal(told.events[QUERY_BACKED_OFF], 0);
	assert_int_equal(told.made.count, 0);
	bool exists = true; /* nothing is left in the way of the next try */
	ok(dbms_table_exists(rig.dbms, "t", &exists, &err));
	assert_false(exists);
	ok(dbms_table_exists(rig.dbms, "t_all", &exists, &err));
	assert_false(exists);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_execution_is_made_once_in_order, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(onepass_measures_only_where_the_plan_differs,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_new_plan_begins_anew, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_plan_that_flips_is_given_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_resumed_run_makes_what_is_missing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_resumed_onepass_skips_what_it_skipped_before,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(tables_of_others_stay, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_query_over_the_limit_is_timed_out, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_bad_statement_ends_it, set_up, tear_down),
	};
	interrupt_watch();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
