/* Queries by seed, and those that are built in, as SQLite sees them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiment-fixture.h"

#define SEEDS 1000

static const char tables[] = "cardinalities: {max: 400, step: 100}\n"
			     "tables:\n"
			     "- name: v\n"
			     "  varies: true\n"
			     "  columns:\n"
			     "  - {name: id, type: integer, serial: true, primary: true}\n"
			     "  - {name: a, type: integer, from: 1, to: 300}\n"
			     "  - {name: b, type: bigint, distinct: 20, index: true, nulls: 10%}\n"
			     "  - {name: d, type: date, from: 2001-01-01, to: 2001-12-31}\n"
			     "  - {name: w, type: text, words: [a, it's, c]}\n"
			     "- name: f\n"
			     "  rows: 300\n"
			     "  columns:\n"
			     "  - {name: id, type: integer, serial: true, primary: true}\n"
			     "  - {name: v, type: integer, from: 1, to: 400, index: true}\n"
			     "  - {name: p, type: decimal, from: -5, to: 5}\n"
			     "  - {name: x, type: real, from: 0, to: 1}\n"
			     "- name: g\n"
			     "  rows: 50\n"
			     "  columns:\n"
			     "  - {name: id, type: integer, serial: true}\n"
			     "  - {name: t, type: text, length: 12}\n";

static struct experiment generated(unsigned seed, unsigned count)
{
	char text[2048];
	snprintf(text, sizeof text, "%sgenerate: {count: %u, seed: %u}\n", tables, count, seed);
	return fixture_parse(text);
}

static size_t tables_of(const char *sql)
{
	size_t n = 0;
	for (char name[] = " t0"; strstr(sql, name); name[2]++)
		n++;
	return n;
}

static size_t count_of(const char *text, const char *word)
{
	size_t n = 0;
	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

/* Joins are "tN.x = tM.y": one less than there are tables, or they would be a cross product. */
static size_t joins_of(const char *sql)
{
	size_t n = 0;
	for (const char *at = sql; (at = strstr(at, " = t")); at++)
		n += at[4] >= '0' && at[4] <= '9';
	return n;
}

static void queries_of_every_seed_are_sql_without_cross_products(void **state)
{
	(void)state;
	struct experiment e = generated(1, 1);
	sqlite3 *db = fixture_tables(&e, UINT64_MAX);
	size_t by_tables[5] = { 0 }, grouped = 0, aggregated = 0, selected = 0, most = 0;
	experiment_release(&e);
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		e = generated(seed, 3);
		assert_int_equal(e.queries.count, 3);
		for (size_t i = 0; i < 3; i++) {
			const char *sql = e.queries.items[i].sql;
			long rows = fixture_execute(db, sql);
			size_t n = tables_of(sql);
			assert_true(rows >= 0);
			most = (size_t)rows > most ? (size_t)rows : most;
			assert_true(n >= 1 && n <= 4);
			assert_non_null(strstr(sql, " FROM v t0"));
			if (joins_of(sql) != n - 1)
				fail_msg("a cross product: %s", sql);
			by_tables[n]++;
			grouped += count_of(sql, " GROUP BY ");
			aggregated += count_of(sql, "SELECT") && strchr(sql, '(') != NULL;
			selected += strstr(sql, " < ") || strstr(sql, "BETWEEN") ||
				    strstr(sql, ">=");
		}
		experiment_release(&e);
	}
	for (int n = 1; n <= 4; n++) /* a quarter of each */
		assert_true(by_tables[n] > SEEDS * 3 / 8);
	assert_true(aggregated > SEEDS * 2 && aggregated < SEEDS * 3);
	assert_true(grouped > SEEDS && selected > SEEDS);
	assert_true(most <= 1200); /* of 400 × 300 × ... */
	sqlite3_close(db);
}

static void a_seed_generates_the_same_queries_for_ever(void **state)
{
	(void)state;
	struct experiment e = generated(7, 5), again = generated(7, 2), other = generated(8, 5);
	assert_string_equal(
		e.queries.items[0].sql,
		"SELECT MAX(t0.a) FROM v t0, v t1, g t2 WHERE t0.b = t1.id AND t1.b = t2.id");
	assert_string_equal(
		e.queries.items[4].sql,
		"SELECT SUM(t2.a) FROM v t0, v t1, v t2, f t3 WHERE t0.id = t1.b AND t0.a = t2.id AND t2.a = t3.id");
	assert_string_equal(e.queries.items[1].sql, again.queries.items[1].sql);
	assert_string_not_equal(e.queries.items[0].sql, other.queries.items[0].sql);
	for (size_t i = 0; i < 5; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(e.queries.items[i].sql, e.queries.items[k].sql);
	experiment_release(&e);
	experiment_release(&again);
	experiment_release(&other);
}

/* Each has to count 0. */
static const char *const broken_keys[] = {
	"SELECT COUNT(*) FROM nation WHERE n_regionkey NOT IN (SELECT r_regionkey FROM region)",
	"SELECT COUNT(*) FROM supplier WHERE s_nationkey NOT IN (SELECT n_nationkey FROM nation)",
	"SELECT COUNT(*) FROM customer WHERE c_nationkey NOT IN (SELECT n_nationkey FROM nation)",
	"SELECT COUNT(*) FROM partsupp WHERE ps_partkey NOT IN (SELECT p_partkey FROM part)",
	"SELECT COUNT(*) FROM partsupp WHERE ps_suppkey NOT IN (SELECT s_suppkey FROM supplier)",
	"SELECT COUNT(*) FROM orders WHERE o_custkey NOT IN (SELECT c_custkey FROM customer)",
	"SELECT COUNT(*) FROM lineitem WHERE l_orderkey NOT IN (SELECT o_orderkey FROM orders)",
	"SELECT COUNT(*) FROM lineitem WHERE NOT EXISTS (SELECT * FROM partsupp"
	" WHERE ps_partkey = l_partkey AND ps_suppkey = l_suppkey)",
	"SELECT COUNT(*) FROM lineitem, orders WHERE o_orderkey = l_orderkey AND l_shipdate <= o_orderdate",
	"SELECT COUNT(*) FROM lineitem WHERE l_receiptdate <= l_shipdate",
	"SELECT COUNT(*) FROM nation, region WHERE n_regionkey = r_regionkey AND n_name = 'FRANCE'"
	" AND r_name <> 'EUROPE'",
};

static void the_queries_of_tpch_find_rows_in_its_tables(void **state)
{
	(void)state;
	struct experiment e;
	struct error err = ERROR_INIT;
	assert_int_equal(experiment_builtin("tpch", 0.001, &e, &err), 0);
	sqlite3 *db = fixture_tables(&e, UINT64_MAX);
	assert_int_equal(fixture_number(db, "SELECT COUNT(*) FROM lineitem"), 6000);
	for (size_t i = 0; i < sizeof broken_keys / sizeof *broken_keys; i++)
		if (fixture_number(db, broken_keys[i]) != 0)
			fail_msg("%s", broken_keys[i]);
	size_t with_rows = 0;
	assert_true(e.queries.count >= 15);
	for (size_t i = 0; i < e.queries.count; i++) {
		long rows = fixture_execute(db, e.queries.items[i].sql);
		assert_true(rows >= 0);
		with_rows += rows > 0;
	}
	assert_true(with_rows >= 17);
	sqlite3_close(db);
	experiment_release(&e);
}

/* All of their queries are SQL that SQLite takes; a hundred rows are enough to see. */
static void the_queries_of_other_experiments_are_sql(void **state)
{
	(void)state;
	static const char *const names[] = { "quick", "onepass" };
	for (int n = 0; n < 2; n++) {
		struct experiment e;
		struct error err = ERROR_INIT;
		assert_int_equal(experiment_builtin(names[n], 0, &e, &err), 0);
		sqlite3 *db = fixture_tables(&e, 100);
		for (size_t i = 0; i < e.queries.count; i++)
			assert_true(fixture_execute(db, e.queries.items[i].sql) >= 0);
		sqlite3_close(db);
		experiment_release(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queries_of_every_seed_are_sql_without_cross_products),
		cmocka_unit_test(a_seed_generates_the_same_queries_for_ever),
		cmocka_unit_test(the_queries_of_tpch_find_rows_in_its_tables),
		cmocka_unit_test(the_queries_of_other_experiments_are_sql),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
