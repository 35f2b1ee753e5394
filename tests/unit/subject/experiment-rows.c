/* Rows by seed: the same for ever, each by itself, as their columns say. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "experiment-fixture.h"
#include "subject/experiment_domain.h"

static const char text_of_tables[] =
	"queries: [SELECT 1]\n"
	"seed: 5\n"
	"tables:\n"
	"- name: p\n"
	"  rows: 300\n"
	"  columns:\n"
	"  - {name: id, type: integer, serial: true, primary: true}\n"
	"  - {name: born, type: date, from: 1992-02-27, to: 1992-03-02}\n"
	"  - {name: name, type: text, length: 8}\n"
	"- name: r\n"
	"  rows: 1200\n"
	"  columns:\n"
	"  - {name: p, references: p.id, serial: true, repeat: 4, primary: true}\n"
	"  - {name: line, type: integer, serial: true, distinct: 4, primary: true}\n"
	"  - {name: later, references: p.born, add: [1, 3]}\n"
	"  - {name: after, references: later, add: [1, 1]}\n"
	"  - {name: few, type: integer, distinct: 7, nulls: 25%}\n"
	"  - {name: wide, type: bigint, from: -50, to: 50}\n"
	"  - {name: spread, type: integer, from: 1, to: 1000, distinct: 10}\n"
	"  - {name: price, type: decimal, from: -1, to: 1}\n"
	"  - {name: share, type: decimal, distinct: 11}\n"
	"  - {name: x, type: real, from: 0, to: 2}\n"
	"  - {name: word, type: text, words: [a, b, it's], index: true}\n"
	"  - {name: turn, type: text, words: [u, v, w], serial: true}\n"
	"  - {name: prose, type: text, length: 20, words: [lorem, ipsum, dolor]}\n"
	"  - {name: code, type: text, length: 2, distinct: 600}\n"
	"  indexes: ['few, wide']\n";

/* The first rows as one text. */
static char *rows_text(const struct experiment_table *t, uint64_t rows)
{
	struct strbuf all = { 0 };
	const char *values[32];
	struct table_rows *r = table_rows_open(t, rows);
	while (table_rows_next(r, values)) {
		for (size_t i = 0; i < t->columns.count; i++)
			strbuf_printf(&all, "%s%s", i ? "," : "", values[i] ? values[i] : "NULL");
		strbuf_putc(&all, '\n');
	}
	assert_false(table_rows_next(r, values));
	table_rows_close(r);
	return strbuf_detach(&all);
}

/* What these versions of seeds mean must never change: stored experiments rely on it. */
static const char golden_p[] = "1,1992-02-27,tapcwtkl\n"
			       "2,1992-03-02,hftqxrkf\n"
			       "3,1992-03-02,abaxbahd\n";
static const char golden_r[] =
	"1,1,1992-02-29,1992-03-01,6,-15,201,-0.64,0.08,0.803385,a,u,ipsum ipsum dolor,pr\n"
	"1,2,1992-02-28,1992-02-29,NULL,-7,901,-0.19,0.02,1.902563,a,v,ipsum dolor dolor,gw\n"
	"1,3,1992-02-29,1992-03-01,4,32,401,0.35,0.09,1.380651,it's,w,ipsum dolor lorem,ht\n"
	"1,4,1992-02-28,1992-02-29,0,-42,701,0.87,0.10,0.019733,it's,u,lorem ipsum lorem,rr\n"
	"2,1,1992-03-05,1992-03-06,1,-9,501,-0.10,0.05,1.069903,b,v,dolor dolor dolor,op\n";

static void rows_are_the_same_for_ever(void **state)
{
	(void)state;
	struct experiment e = fixture_parse(text_of_tables);
	char *p = rows_text(&e.tables.items[0], 3), *r = rows_text(&e.tables.items[1], 5);
	assert_string_equal(p, golden_p);
	assert_string_equal(r, golden_r);
	free(p);
	free(r);
	experiment_release(&e);
}

static void fewer_rows_are_a_prefix_of_more(void **state)
{
	(void)state;
	struct experiment e = fixture_parse(text_of_tables);
	char *few = rows_text(&e.tables.items[1], 100), *many = rows_text(&e.tables.items[1], 1200);
	assert_true(strncmp(few, many, strlen(few)) == 0 && strlen(many) > strlen(few));
	char *none = rows_text(&e.tables.items[1], 0);
	assert_string_equal(none, "");
	free(few);
	free(many);
	free(none);
	experiment_release(&e);
}

static void another_column_does_not_change_the_rest(void **state)
{
	(void)state;
	struct experiment a =
		fixture_parse("queries: [x]\ntables:\n- name: t\n  rows: 9\n  columns:\n"
			      "  - {name: b, type: bigint}\n");
	struct experiment b =
		fixture_parse("queries: [x]\ntables:\n- name: t\n  rows: 9\n  columns:\n"
			      "  - {name: a, type: bigint}\n  - {name: b, type: bigint}\n");
	const char *one[1], *two[2];
	struct table_rows *r = table_rows_open(&a.tables.items[0], 9);
	struct table_rows *s = table_rows_open(&b.tables.items[0], 9);
	while (table_rows_next(r, one)) {
		assert_true(table_rows_next(s, two));
		assert_string_equal(one[0], two[1]);
	}
	table_rows_close(r);
	table_rows_close(s);
	experiment_release(&a);
	experiment_release(&b);
}

/* Each has to count 0. */
static const char *const breaches[] = {
	"SELECT COUNT(*) FROM r WHERE p NOT IN (SELECT id FROM p)",
	"SELECT COUNT(*) FROM (SELECT p FROM r GROUP BY p HAVING COUNT(*) <> 4)",
	"SELECT COUNT(*) FROM r WHERE line NOT BETWEEN 1 AND 4",
	"SELECT COUNT(*) FROM p WHERE born NOT BETWEEN '1992-02-27' AND '1992-03-02'",
	/* the same row of p for all columns that refer to it */
	"SELECT COUNT(*) FROM r, p WHERE r.p = p.id AND julianday(later) - julianday(born) NOT BETWEEN 1 AND 3",
	"SELECT COUNT(*) FROM r WHERE julianday(after) - julianday(later) <> 1",
	"SELECT COUNT(*) FROM r WHERE few NOT BETWEEN 0 AND 6",
	"SELECT COUNT(*) FROM r WHERE wide NOT BETWEEN -50 AND 50",
	"SELECT COUNT(*) FROM r WHERE spread % 100 <> 1 OR spread NOT BETWEEN 1 AND 901",
	"SELECT COUNT(*) FROM r WHERE price NOT BETWEEN -1 AND 1 OR ABS(price * 100 - ROUND(price * 100)) > 1e-9",
	"SELECT COUNT(*) FROM r WHERE share NOT BETWEEN 0 AND 0.1",
	"SELECT COUNT(*) FROM r WHERE x NOT BETWEEN 0 AND 2",
	"SELECT COUNT(*) FROM r WHERE word NOT IN ('a', 'b', 'it''s')",
	"SELECT COUNT(*) FROM r WHERE turn <> substr('uvw', ((p - 1) * 4 + line - 1) % 3 + 1, 1)",
	"SELECT COUNT(*) FROM r WHERE length(prose) NOT BETWEEN 15 AND 20",
	"SELECT COUNT(*) FROM r WHERE length(code) <> 2",
};
/* And these as many. */
static const struct {
	const char *sql;
	long least, most;
} counts[] = {
	{ "SELECT COUNT(DISTINCT born) FROM p", 5, 5 },
	{ "SELECT COUNT(DISTINCT name) FROM p", 150, 300 },
	{ "SELECT COUNT(DISTINCT few) FROM r", 7, 7 },
	{ "SELECT COUNT(*) FROM r WHERE few IS NULL", 230, 370 },
	{ "SELECT COUNT(DISTINCT spread) FROM r", 10, 10 },
	{ "SELECT COUNT(DISTINCT share) FROM r", 11, 11 },
	{ "SELECT COUNT(DISTINCT price) FROM r", 150, 201 },
	{ "SELECT COUNT(DISTINCT word) FROM r", 3, 3 },
	{ "SELECT COUNT(DISTINCT code) FROM r", 400, 600 },
	{ "SELECT COUNT(DISTINCT wide) FROM r", 95, 101 },
	{ "SELECT MIN(n) FROM (SELECT COUNT(*) AS n FROM r WHERE wide < 50 GROUP BY (wide + 50) / 10)",
	  50, 200 },
	{ "SELECT COUNT(*) FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL", 2, 2 },
};

static void rows_are_as_their_columns_say(void **state)
{
	(void)state;
	struct experiment e = fixture_parse(text_of_tables);
	sqlite3 *db = fixture_tables(&e, UINT64_MAX);
	for (size_t i = 0; i < sizeof breaches / sizeof *breaches; i++)
		if (fixture_number(db, breaches[i]) != 0)
			fail_msg("%ld: %s", fixture_number(db, breaches[i]), breaches[i]);
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		long n = fixture_number(db, counts[i].sql);
		if (n < counts[i].least || n > counts[i].most)
			fail_msg("%ld: %s", n, counts[i].sql);
	}
	sqlite3_close(db);
	experiment_release(&e);
}

static void ranges_may_begin_at_zero(void **state)
{
	(void)state;
	struct experiment e =
		fixture_parse("queries: [x]\ntables:\n- name: t\n  rows: 3\n  columns:\n"
			      "  - {name: a, type: integer, serial: true, from: 0}\n"
			      "  - {name: b, type: integer, from: 0, to: 0}\n"
			      "  - {name: c, type: date, from: 1970-01-01, to: 1970-01-01}\n"
			      "  - {name: d, type: date, serial: true, from: 1970-01-01}\n"
			      "  - {name: e, type: decimal, to: 0}\n");
	char *rows = rows_text(&e.tables.items[0], 3);
	assert_string_equal(rows, "0,0,1970-01-01,1970-01-01,0.00\n"
				  "1,0,1970-01-01,1970-01-02,0.00\n"
				  "2,0,1970-01-01,1970-01-03,0.00\n");
	free(rows);
	experiment_release(&e);
}

/* What one column says of the row, all have that refer to it. */
static void columns_that_refer_to_one_table_share_its_row(void **state)
{
	(void)state;
	struct experiment e = fixture_parse(
		"queries: [x]\ntables:\n- name: p\n  rows: 100\n  columns:\n"
		"  - {name: a, type: integer, serial: true}\n  - {name: b, references: a}\n"
		"- name: r\n  rows: 500\n  columns:\n"
		"  - {name: a, references: p.a}\n  - {name: b, references: p.b, within: 10%}\n");
	sqlite3 *db = fixture_tables(&e, UINT64_MAX);
	assert_int_equal(fixture_number(db, "SELECT COUNT(*) FROM r WHERE a <> b"), 0);
	assert_int_equal(fixture_number(db, "SELECT MAX(a) FROM r"), 10);
	sqlite3_close(db);
	experiment_release(&e);
}

/* Generated queries compare with values of the domain: its last has to be the largest. */
static void the_last_value_of_a_sums_domain_is_the_largest(void **state)
{
	(void)state;
	static const struct {
		const char *from, *add;
		struct column_domain domain;
	} sums[] = {
		{ "type: integer, from: 0, to: 999, distinct: 10", "[1, 3]", { 1, 1, 903, false } },
		{ "type: integer, from: 0, to: 999, distinct: 10",
		  "[5, 5]",
		  { 5, 100, 10, false } },
		{ "type: decimal, distinct: 7", "[0, 2]", { 0, 1, 207, false } },
		{ "type: decimal, from: 0, to: 1000, distinct: 666",
		  "[0, 1]",
		  { 0, 50, 1998, false } },
	};
	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
		struct strbuf text = { 0 };
		strbuf_printf(&text,
			      "queries: [x]\ntables:\n- name: t\n  rows: 9\n  columns:\n"
			      "  - {name: a, %s}\n  - {name: b, references: a, add: %s}\n",
			      sums[i].from, sums[i].add);
		struct experiment e = fixture_parse(text.text);
		const struct experiment_table *t = &e.tables.items[0];
		struct column_domain d = column_domain(t, &t->columns.items[1]);
		assert_int_equal(d.base, sums[i].domain.base);
		assert_int_equal(d.step, sums[i].domain.step);
		assert_int_equal(d.count, sums[i].domain.count);
		experiment_release(&e);
		strbuf_release(&text);
	}
}

static void tables_and_indexes_become_sql(void **state)
{
	(void)state;
	struct experiment e = fixture_parse(text_of_tables);
	char *sql = table_create_sql(&e.tables.items[0], "other", NULL);
	assert_string_equal(sql, "CREATE TABLE other (id INTEGER NOT NULL, born DATE NOT NULL, "
				 "name VARCHAR(8) NOT NULL, PRIMARY KEY (id))");
	free(sql);
	sql = table_create_sql(&e.tables.items[1], NULL, NULL);
	assert_non_null(strstr(sql, "few INTEGER, ")); /* may be NULL */
	assert_non_null(strstr(sql, "word VARCHAR(4) NOT NULL"));
	assert_non_null(strstr(sql, "PRIMARY KEY (p, line))"));
	free(sql);
	sql = table_index_sql(&e.tables.items[1], 0, NULL);
	assert_string_equal(sql, "CREATE INDEX r_ix1 ON r (word)");
	free(sql);
	sql = table_index_sql(&e.tables.items[1], 1, "v");
	assert_string_equal(sql, "CREATE INDEX v_ix2 ON v (few, wide)");
	free(sql);
	assert_null(table_index_sql(&e.tables.items[1], 2, NULL));
	experiment_release(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_the_same_for_ever),
		cmocka_unit_test(fewer_rows_are_a_prefix_of_more),
		cmocka_unit_test(another_column_does_not_change_the_rest),
		cmocka_unit_test(rows_are_as_their_columns_say),
		cmocka_unit_test(ranges_may_begin_at_zero),
		cmocka_unit_test(columns_that_refer_to_one_table_share_its_row),
		cmocka_unit_test(the_last_value_of_a_sums_domain_is_the_largest),
		cmocka_unit_test(tables_and_indexes_become_sql),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
