/* Files of experiments: what they may say, and what is said of wrong ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "experiment-fixture.h"

static void a_list_of_queries_is_an_experiment_with_defaults(void **state)
{
	(void)state;
	struct experiment e = fixture_parse("queries: [ ' SELECT 1 ; ' ]\n");
	assert_string_equal(e.name, "experiment");
	assert_string_equal(e.text, "queries: [ ' SELECT 1 ; ' ]\n");
	assert_int_equal(e.queries.count, 1);
	assert_string_equal(e.queries.items[0].name, "q1");
	assert_string_equal(e.queries.items[0].sql, "SELECT 1");
	assert_int_equal(e.executions, 10);
	assert_true(e.time_limit_ns == 1200000000000u);
	assert_int_equal(e.scenario, SCENARIO_EXHAUSTIVE);
	assert_int_equal(e.order, ORDER_BY_CARDINALITY);
	assert_false(e.cold);
	assert_null(e.url);
	assert_null(e.server.data);
	assert_int_equal(e.tables.count, 0);
	assert_int_equal(e.cardinalities.count, 0);
	experiment_release(&e);
}

static const char whole[] =
	"name: whole\n"
	"url: sqlite:x.db\n"
	"driver: db2.driver\n"
	"settings: [PRAGMA a, PRAGMA b]\n"
	"scenario: onepass\n"
	"order: shuffled\n"
	"executions: 7\n"
	"cache: cold\n"
	"time_limit: 90s\n"
	"seed: 3\n"
	"cardinalities: [10, 1000, 100]\n"
	"tables:\n"
	"  - name: a\n"
	"    rows: 5\n"
	"    seed: 11\n"
	"    columns:\n"
	"      - {name: id, type: bigint, serial: true, primary: true}\n"
	"      - {name: d, type: date, from: 1992-01-01, to: 1992-12-31, nulls: 5%}\n"
	"      - {name: w, type: text, words: [x, y]}\n"
	"    indexes: ['d,w', w]\n"
	"  - name: b\n"
	"    varies: true\n"
	"    columns:\n"
	"      - {name: a_id, references: a.id, index: true}\n"
	"      - {name: t, type: text, length: 9, distinct: 4}\n"
	"      - {name: later, references: a.d, add: [1, 10]}\n"
	"queries:\n"
	"  - {name: one, sql: SELECT 1}\n"
	"  - sql: SELECT 2\n";

static void every_key_of_an_experiment_is_read(void **state)
{
	(void)state;
	struct experiment e;
	struct error err = ERROR_INIT;
	assert_int_equal(experiment_parse(whole, strlen(whole), "/dir", &e, &err), 0);
	assert_string_equal(e.name, "whole");
	assert_string_equal(e.url, "sqlite:x.db");
	assert_string_equal(e.driver_file, "/dir/db2.driver");
	assert_string_equal(e.settings[1], "PRAGMA b");
	assert_null(e.settings[2]);
	assert_int_equal(e.scenario, SCENARIO_ONEPASS);
	assert_int_equal(e.order, ORDER_SHUFFLED);
	assert_int_equal(e.executions, 7);
	assert_true(e.cold && e.seed == 3 && e.time_limit_ns == 90000000000u);
	assert_int_equal(e.cardinalities.count, 3);
	assert_true(e.cardinalities.items[0] == 1000 && e.cardinalities.items[2] == 10);
	const struct experiment_table *a = &e.tables.items[0], *b = &e.tables.items[1];
	assert_true(a->rows == 5 && a->seed == 11 && !a->varies);
	assert_true(b->rows == 1000 && b->seed != 3 && b->varies);
	assert_int_equal(a->columns.items[1].from, 8035); /* days from 1970 to 1992 */
	assert_int_equal(a->columns.items[1].to, 8035 + 365);
	assert_true(a->columns.items[1].nulls == 0.05);
	assert_int_equal(a->indexes.count, 2);
	assert_string_equal(a->indexes.items[0], "d, w");
	assert_ptr_equal(b->columns.items[0].of, a);
	assert_int_equal(b->columns.items[0].kind, KIND_BIGINT);
	assert_int_equal(b->columns.items[2].kind, KIND_DATE);
	assert_string_equal(e.queries.items[1].name, "q2");
	experiment_release(&e);
}

static void servers_are_read_with_their_settings_or_commands(void **state)
{
	(void)state;
	struct experiment e =
		fixture_parse("server: {dbms: mariadb, data: /d, make: true, user: u, "
			      "settings: [a=1]}\nqueries: [SELECT 1]");
	assert_string_equal(e.dbms, "mariadb");
	assert_string_equal(e.server.data, "/d");
	assert_string_equal(e.server.user, "u");
	assert_string_equal(e.server.settings[0], "a=1");
	assert_true(e.server.make);
	experiment_release(&e);
	e = fixture_parse("url: postgresql:///x\nserver: {start: a, stop: b}\nqueries: [SELECT 1]");
	assert_string_equal(e.server.start, "a");
	assert_null(e.dbms);
	experiment_release(&e);
}

static void cardinalities_are_sorted_and_set_the_rows_of_what_varies(void **state)
{
	(void)state;
	static const char *const texts[] = { "{max: 35, step: 10}", "{from: 10, to: 30, step: 10}",
					     "[20, 30, 10]" };
	for (int i = 0; i < 3; i++) {
		char text[256];
		snprintf(
			text, sizeof text,
			"cardinalities: %s\nqueries: [SELECT 1]\ntables:\n- name: a\n  varies: true\n"
			"  columns: [{name: x, type: integer}]\n",
			texts[i]);
		struct experiment e = fixture_parse(text);
		assert_int_equal(e.cardinalities.count, 3);
		assert_true(e.cardinalities.items[0] == 30 && e.cardinalities.items[1] == 20 &&
			    e.cardinalities.items[2] == 10);
		assert_true(e.tables.items[0].rows == 30);
		experiment_release(&e);
	}
}

static void queries_are_read_from_files_and_missing_ones_told(void **state)
{
	(void)state;
	char directory[] = "/tmp/tare-test-XXXXXX", path[64];
	struct experiment e;
	struct error err = ERROR_INIT;
	static const char good[] = "query_files: [q.sql]", bad[] = "name: x\nquery_files: [r.sql]";
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof path, "%s/q.sql", directory);
	assert_int_equal(file_write(path, "SELECT 7;\n", 10, NULL), 0);
	assert_int_equal(experiment_parse(good, strlen(good), directory, &e, &err), 0);
	assert_string_equal(e.queries.items[0].name, "q");
	assert_string_equal(e.queries.items[0].sql, "SELECT 7");
	experiment_release(&e);
	assert_int_equal(experiment_parse(bad, strlen(bad), directory, &e, &err), -1);
	assert_non_null(strstr(err.text, "line 2: query_files[0]: '/tmp/tare-test-"));
	unlink(path);
	rmdir(directory);
}

/* ---- wrong ones ---- */

#define Q "queries: [SELECT 1]\n"
#define T "tables:\n- name: a\n  rows: 9\n  columns:\n"
static const struct {
	const char *text, *error, *hint;
} wrong[] = {
	{ "", "there is nothing in it", "" },
	{ "{}", "line 1: there are no queries", "give queries, query_files or generate" },
	{ "# only this\n", "there is nothing in it", "" },
	{ "- a\n", "line 1: keys with values is wanted here, not a list", "" },
	{ "name: x\n", "line 1: there are no queries", "give queries, query_files or generate" },
	{ Q "nme: x\n", "line 2: unknown key 'nme'", "did you mean 'name'?" },
	{ Q "zzzzzzzz: x\n", "line 2: unknown key 'zzzzzzzz'", NULL },
	{ Q T "  - name: x\n    typ: text\n", "line 7: tables[0].columns[0]: unknown key 'typ'",
	  "did you mean 'type'?" },
	{ Q "name: x\nname: y\n", "line 3: 'name' is given twice, first in line 2", "" },
	{ Q "executions: many\n",
	  "line 2: executions: 'many' is not a whole number from 0 to 4294967295", "" },
	{ Q "executions: -1\n",
	  "line 2: executions: '-1' is not a whole number from 0 to 4294967295", "" },
	{ Q "executions: 010\n",
	  "line 2: executions: '010' is not a whole number from 0 to 4294967295", "" },
	{ Q "executions: 0\n", "line 2: executions: it must be from 1 to 1000000", "" },
	{ Q "executions:\n", "line 2: executions: '' is not a whole number from 0 to 4294967295",
	  "" },
	{ Q "executions: [1]\n", "line 2: executions: a whole number is wanted here, not a list",
	  "" },
	{ Q "name: {a: b}\n", "line 2: name: a text is wanted here, not keys with values", "" },
	{ Q "scenario: onepas\n", "line 2: scenario: 'onepas' is not one of the words it may be",
	  "did you mean 'onepass'? It may be: exhaustive, onepass" },
	{ Q "cache: hot\n", "line 2: cache: 'hot' is not one of the words it may be",
	  "it may be: warm, cold" },
	{ Q "time_limit: soon\n",
	  "line 2: time_limit: 'soon' is not a time such as 500ms, 30s or 20m", "" },
	{ Q "time_limit: 0s\n", "line 2: time_limit: '0s' is not a time such as 500ms, 30s or 20m",
	  "" },
	{ Q "name: &a x\nurl: *a\n", "line 3: aliases (*name) are not supported",
	  "write out what it stands for" },
	{ "queries: &a [*a]\n", "line 1: aliases (*name) are not supported",
	  "write out what it stands for" },
	{ "queries: []\n", "line 1: queries: the list is empty", "" },
	{ "queries: ['']\n", "line 1: queries[0]: there is no SQL in it", "" },
	{ "queries: [' ; ']\n", "line 1: queries[0]: there is no SQL in it", "" },
	{ "queries:\n- SELECT 1\n- {sql: SELECT 2}\n",
	  "line 3: queries[1]: a text is wanted here, not keys with values", "" },
	{ "queries:\n- {name: a}\n", "line 2: queries[0]: the key 'sql' is missing", "" },
	{ "queries:\n- {name: a, sql: x}\n- {name: a, sql: y}\n",
	  "line 3: queries[1]: two queries are called 'a'", "" },
	{ Q "---\nname: x\n", "line 2: a second document begins", "" },
	{ Q "name: [x\n", "line 3: this is not YAML: did not find expected ',' or ']'", "" },
	{ Q "? [a]\n: b\n", "line 2: a key must be a word", "" },
	{ Q "name: \xff\n", "line 2: invalid UTF-8", "" },
	{ Q "name: \"a\\0b\"\n", "line 2: a text with a zero byte", "" },
	{ Q "name: [[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]\n", "line 2: nested too deeply", "" },
	{ Q "cardinalities: [1]\n",
	  "line 2: cardinalities: they need a table that says 'varies: true'; 0 do", "" },
	{ Q "cardinalities: [1, 1]\n", "line 2: cardinalities[1]: 1 is there already", "" },
	{ Q "cardinalities: [0]\n", "line 2: cardinalities[0]: it must be at least 1", "" },
	{ Q "cardinalities: {max: 5, from: 1, step: 1}\n",
	  "line 2: cardinalities: either from, to and step, or max and step", "" },
	{ Q "cardinalities: {max: 5}\n", "line 2: cardinalities: the key 'step' is missing", "" },
	{ Q "cardinalities: {max: 5, step: 0}\n",
	  "line 2: cardinalities.step: it must be at least 1", "" },
	{ Q "cardinalities: {max: 5, step: 6}\n",
	  "line 2: cardinalities: they go from 6 to 5: there are none", "" },
	{ Q "cardinalities: {max: 9223372036854775807, step: 1}\n",
	  "line 2: cardinalities: they are more than 1000", "" },
	{ Q T "  - {name: x, type: integer}\n  varies: true\n",
	  "line 4: tables[0].rows: the table that varies has as many rows as the largest cardinality: leave it out",
	  "" },
	{ Q "tables: [{name: a, varies: true, columns: [{name: x, type: real}]}]\n",
	  "line 2: tables: a table varies, but the key 'cardinalities' is missing", "" },
	{ Q "tables: [{name: a, columns: [{name: x, type: real}]}]\n",
	  "line 2: tables[0].rows: the number of rows must be from 1 to 1000000000000", "" },
	{ Q "tables: [{name: a b, rows: 1, columns: [{name: x, type: real}]}]\n",
	  "line 2: tables[0]: 'a b' is not a name of letters, digits and _ (at most 48, not a digit first)",
	  "" },
	{ Q T
	  "  - {name: x, type: integer}\n- name: A\n  rows: 1\n  columns: [{name: x, type: real}]\n",
	  "line 7: tables[1]: two tables are called 'A'", "" },
	{ Q T "  - {name: x}\n", "line 6: tables[0].columns[0]: the key 'type' is missing", "" },
	{ Q T "  - {name: x, type: integer}\n  - {name: X, type: real}\n",
	  "line 7: tables[0].columns[1]: two columns are called 'X'", "" },
	{ Q T "  - {name: x, type: integer, words: [a]}\n",
	  "line 6: tables[0].columns[0]: 'words' means nothing for anything but a text", "" },
	{ Q T "  - {name: x, type: text, from: 1}\n",
	  "line 6: tables[0].columns[0]: 'from' means nothing for a text", "" },
	{ Q T "  - {name: x, type: integer, from: 9, to: 1}\n",
	  "line 6: tables[0].columns[0]: 'to' is less than 'from'", "" },
	{ Q T "  - {name: x, type: date, from: 2001-02-30, to: 2001-03-01}\n",
	  "line 6: tables[0].columns[0]: from: '2001-02-30' is not a date such as 1992-01-31", "" },
	{ Q T "  - {name: x, type: integer, distinct: 3000000000}\n",
	  "line 6: tables[0].columns[0]: its values are too large for an integer: it should be a bigint",
	  "" },
	{ Q T "  - {name: x, type: integer, nulls: 2}\n",
	  "line 6: tables[0].columns[0]: nulls: '2' is not a share such as 5%", "" },
	{ Q T "  - {name: x, type: integer, primary: true}\n",
	  "line 6: tables[0].columns[0]: 'x' is the primary key, but several rows would have one value: it needs 'serial: true'",
	  "" },
	{ Q T
	  "  - {name: x, type: integer, nulls: 1%, serial: true}\n  - {name: y, references: x, primary: true}\n",
	  "line 7: tables[0].columns[1]: it is in the primary key, but may be NULL", "" },
	{ Q T
	  "  - {name: x, type: integer}\n  - {name: y, references: x, serial: true, primary: true}\n",
	  "line 7: tables[0].columns[1]: 'y' is the primary key, but several rows would have one value",
	  "" },
	{ Q T "  - {name: x, type: text, serial: true, words: [a, b], primary: true}\n",
	  "line 6: tables[0].columns[0]: 'x' is the primary key, but several rows would have one value",
	  "" },
	{ Q T "  - {name: x, type: text, serial: true, length: 20, words: [a, b], primary: true}\n",
	  "line 6: tables[0].columns[0]: 'x' is the primary key, but several rows would have one value",
	  "" },
	{ Q
	  "tables: [{name: a, rows: 677, columns: [{name: x, type: text, serial: true, length: 2, primary: true}]}]\n",
	  "line 2: tables[0].columns[0]: 'x' is the primary key, but several rows would have one value",
	  "" },
	{ Q T
	  "  - {name: x, type: integer, distinct: 4, primary: true}\n  - {name: y, type: text, words: [a, b], primary: true}\n",
	  "line 7: tables[0].columns[1]: the columns of the primary key have 8 combinations, but the table has 9 rows",
	  "" },
	{ Q T "  - {name: x, type: integer, serial: true}\n- name: b\n  rows: 9\n  columns:\n"
	      "  - {name: x, references: a.x, within: 10%}\n  - {name: y, references: a.x}\n"
	      "  - {name: z, references: a.x, within: 50%}\n",
	  "line 12: tables[1].columns[2]: 'x' and 'z' refer to one row of 'a': 'within' and 'repeat' cannot differ",
	  "" },
	{ Q T "  - {name: x, type: integer, serial: true}\n- name: b\n  rows: 9\n  columns:\n"
	      "  - {name: x, references: a.x, serial: true, repeat: 2}\n"
	      "  - {name: y, references: a.x, serial: true, repeat: 3}\n",
	  "line 11: tables[1].columns[1]: 'x' and 'y' refer to one row of 'a': 'within' and 'repeat' cannot differ",
	  "" },
	{ Q T "  - {name: x, type: integer, serial: true}\n- name: b\n  rows: 9\n  columns:\n"
	      "  - {name: x, references: a.x, within: 0%}\n",
	  "line 10: tables[1].columns[0]: 'within' must be a share such as 50%, of another table's rows",
	  "" },
	{ Q T "  - {name: x, type: integer, distinct: 3, from: 1, to: 2000000001}\n"
	      "  - {name: y, references: x, add: [0, 900000000]}\n",
	  "line 7: tables[0].columns[1]: its values are too large for an integer: it should be a bigint",
	  "" },
	{ Q
	  "cardinalities: [5]\ntables:\n- {name: A_ALL, rows: 1, columns: [{name: x, type: real}]}\n"
	  "- {name: a, varies: true, columns: [{name: x, type: real}]}\n",
	  "line 4: tables[0]: 'A_ALL' is where tare keeps all rows of 'a', which varies: it needs another name",
	  "" },
	{ Q T
	  "  - {name: x, type: date, from: 9999-12-31, to: 9999-12-31}\n  - {name: y, references: x, add: [0, 1]}\n",
	  "line 7: tables[0].columns[1]: its dates are not all within the years 1 to 9999", "" },
	{ Q T "  - {name: x, type: integer, serial: maybe}\n",
	  "line 6: tables[0].columns[0].serial: 'maybe' is not true or false", "" },
	{ Q T "  - {name: x, type: integer, add: [1, 2]}\n",
	  "line 6: tables[0].columns[0]: 'add' means nothing without references", "" },
	{ Q T "  - {name: x, references: x}\n",
	  "line 6: tables[0].columns[0]: there is no column 'x' before it to refer to; one of another table is written table.column",
	  "" },
	{ Q T "  - {name: x, references: b.x}\n",
	  "line 6: tables[0].columns[0]: there is no table before this one for the reference to 'b.x'",
	  "" },
	{ Q T "  - {name: x, type: integer}\n  - {name: y, references: x, add: [1]}\n",
	  "line 7: tables[0].columns[1].add: a list of 2 is wanted, not of 1", "" },
	{ Q T "  - {name: x, type: integer}\n  indexes: [x, z]\n",
	  "line 7: tables[0].indexes[1]: there is no column 'z'", "" },
	{ "generate: {count: 2}\n",
	  "line 1: generate: queries can be generated for tables of this file only: the key 'tables' is missing",
	  "" },
	{ T "  - {name: x, type: integer}\ngenerate: {count: 0}\n",
	  "line 6: generate.count: it must be from 1 to 1000", "" },
	{ T
	  "  - {name: x, type: integer}\nqueries: [{name: g2, sql: SELECT 1}]\ngenerate: {count: 2}\n",
	  "line 7: generate: two queries are called 'g2': those that are generated are g1, g2, ...",
	  "" },
	{ T "  - {name: x, type: text}\ngenerate: {count: 900, joins: 0}\n", NULL,
	  "ask for fewer, or give the tables more columns" },
	{ Q "server: {data: /x}\n",
	  "line 2: server: the key 'dbms' is missing: postgresql or mariadb", "" },
	{ Q "server: {dbms: postgresql}\n",
	  "line 2: server: it needs data (a directory), or both start and stop", "" },
	{ Q "server: {dbms: sqlite, data: /x}\n",
	  "line 2: server.dbms: tare can run postgresql and mariadb from a data directory", "" },
	{ Q "server: {start: a, stop: b}\n",
	  "line 2: server: a server with start and stop needs the key 'url' beside it", "" },
	{ Q "scale: 0\n", "line 2: scale: '0' is not a number from 0.000001 to 1000000", "" },
};

static void a_wrong_experiment_is_refused_and_the_line_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct experiment e = { .executions = 77 };
		struct error err = ERROR_INIT;
		if (!experiment_parse(wrong[i].text, strlen(wrong[i].text), NULL, &e, &err))
			fail_msg("it is accepted: %s", wrong[i].text);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_int_equal(e.executions, 77); /* untouched */
		if (wrong[i].error)
			assert_string_equal(err.text, wrong[i].error);
		if (wrong[i].hint)
			assert_string_equal(err.hint, wrong[i].hint);
	}
}

static int parse_strbuf(struct strbuf *text, struct error *err)
{
	struct experiment e;
	uint64_t begin = clock_monotonic_ns();
	int failed = experiment_parse(text->text, text->length, NULL, &e, err);
	assert_true(clock_monotonic_ns() - begin < 5000000000u); /* a thousandth is usual */
	if (!failed)
		experiment_release(&e);
	strbuf_release(text);
	return failed;
}

static void hostile_files_are_refused_before_they_grow(void **state)
{
	(void)state;
	struct strbuf text = { 0 };
	struct error err = ERROR_INIT;
	strbuf_puts(&text, "queries:\n- &a [x, x, x, x, x, x, x, x, x]\n");
	for (char c = 'b'; c < 'm'; c++) /* a thousand million laughs */
		strbuf_printf(&text, "- &%c [*%c, *%c, *%c, *%c]\n", c, c - 1, c - 1, c - 1, c - 1);
	assert_int_equal(parse_strbuf(&text, &err), -1);
	assert_string_equal(err.text, "line 3: aliases (*name) are not supported");
	strbuf_puts(&text, "queries:\n- &a x\n");
	while (text.length < 10000000)
		strbuf_puts(&text, "- *a\n");
	assert_int_equal(parse_strbuf(&text, &err), -1);
	assert_string_equal(err.text, "it is larger than 1 MiB");
	strbuf_puts(&text, "name: ");
	strbuf_pad(&text, '[', 1000000);
	assert_int_equal(parse_strbuf(&text, &err), -1);
	assert_string_equal(err.text, "line 1: nested too deeply");
	for (int i = 0; i < 100000; i++)
		strbuf_printf(&text, "k%d: 1\n", i);
	assert_int_equal(parse_strbuf(&text, &err), -1);
	assert_string_equal(err.text, "line 65: too many keys");
	strbuf_add(&text, "name: x\0y\n", 10);
	assert_int_equal(parse_strbuf(&text, &err), -1);
	assert_string_equal(err.text, "line 1: a zero byte");
	strbuf_puts(&text,
		    "tables:\n- name: a\n  rows: 1\n  columns:\n  - {name: c0, type: integer}\n");
	for (int i = 1; i < 1000; i++)
		strbuf_printf(&text, "  - {name: c%d, references: c%d}\n", i, i - 1);
	assert_int_equal(parse_strbuf(&text, &err), -1);
	assert_non_null(strstr(err.text, "line 14: tables[0].columns[9]: it refers to a column"));
}

/* ---- built in, and the examples of the documentation ---- */

static void assert_same(const struct experiment *a, const struct experiment *b)
{
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->queries.count, b->queries.count);
	for (size_t i = 0; i < a->queries.count; i++) {
		assert_string_equal(a->queries.items[i].name, b->queries.items[i].name);
		assert_string_equal(a->queries.items[i].sql, b->queries.items[i].sql);
	}
	assert_int_equal(a->tables.count, b->tables.count);
	for (size_t i = 0; i < a->tables.count; i++) {
		assert_true(a->tables.items[i].rows == b->tables.items[i].rows);
		assert_true(a->tables.items[i].seed == b->tables.items[i].seed);
	}
}

static void every_builtin_experiment_is_what_its_text_says(void **state)
{
	(void)state;
	for (int i = 0; experiment_names[i]; i++) {
		struct experiment e, again;
		struct error err = ERROR_INIT;
		if (experiment_builtin(experiment_names[i], 0, &e, &err))
			fail_msg("%s: %s", err.text, err.hint);
		assert_string_equal(e.name, experiment_names[i]);
		assert_null(e.url);
		again = fixture_parse(e.text);
		assert_same(&e, &again);
		experiment_release(&e);
		experiment_release(&again);
	}
	struct experiment e;
	struct error err = ERROR_INIT;
	assert_int_equal(experiment_builtin("tpcc", 0, &e, &err), -1);
	assert_string_equal(err.hint, "did you mean 'tpch'?");
	assert_int_equal(experiment_builtin("tpch", 0.0001, &e, &err), -1);
	assert_int_equal(experiment_builtin("tpch", -1, &e, &err), -1);
	assert_int_equal(experiment_builtin("quick", 2, &e, &err), -1);
}

static const struct experiment_table *table_of(const struct experiment *e, const char *name)
{
	for (size_t i = 0; i < e->tables.count; i++)
		if (strcmp(e->tables.items[i].name, name) == 0)
			return &e->tables.items[i];
	fail_msg("there is no table %s", name);
	return NULL;
}

static void a_scale_multiplies_the_rows_of_tpch(void **state)
{
	(void)state;
	struct experiment e, again;
	struct error err = ERROR_INIT;
	assert_int_equal(experiment_builtin("tpch", 2.5, &e, &err), 0);
	assert_true(table_of(&e, "lineitem")->rows == 15000000);
	assert_true(table_of(&e, "orders")->rows == 3750000);
	assert_true(table_of(&e, "nation")->rows == 25);
	assert_non_null(strstr(e.text, "\nscale: 2.5\n"));
	again = fixture_parse(e.text);
	assert_same(&e, &again);
	experiment_release(&e);
	experiment_release(&again);
	assert_int_equal(experiment_builtin("tpch", 0.001237, &e, &err), 0);
	assert_true(table_of(&e, "lineitem")->rows <= 4 * table_of(&e, "orders")->rows);
	experiment_release(&e);
}

static void onepass_has_many_queries_over_small_tables(void **state)
{
	(void)state;
	struct experiment e;
	assert_int_equal(experiment_builtin("onepass", 0, &e, NULL), 0);
	assert_true(e.queries.count >= 20 && e.cardinalities.count >= 8 && e.executions == 10);
	assert_int_equal(e.scenario, SCENARIO_ONEPASS);
	/* PostgreSQL scans 1024 pages and more in parallel; 185 rows of 4 integers fill one */
	for (size_t i = 0; i < e.tables.count; i++)
		assert_true(e.tables.items[i].columns.count <= 4 &&
			    e.tables.items[i].rows < 1024 * 185);
	experiment_release(&e);
}

static void the_documented_examples_are_experiments(void **state)
{
	(void)state;
	static const char *const names[] = { "quick", "onepass", "tpch", "postgresql-cold" };
	for (int i = 0; i < 4; i++) {
		char path[512];
		snprintf(path, sizeof path, TARE_EXPERIMENTS "/%s.yaml", names[i]);
		char *text = file_read(path);
		assert_non_null(text);
		struct experiment e = fixture_parse(text);
		assert_string_equal(e.name, names[i]);
		experiment_release(&e);
		free(text);
	}
}

/* The files in the manual, between lines of ``` */
static void the_files_in_the_manual_are_experiments(void **state)
{
	(void)state;
	char *page = file_read(TARE_EXPERIMENTS "/../experiments.md");
	assert_non_null(page);
	int count = 0;
	for (char *at = page; (at = strstr(at, "\n```yaml\n")); count++) {
		at += strlen("\n```yaml\n");
		char *end = strstr(at, "\n```");
		assert_non_null(end);
		char *text = xstrndup(at, (size_t)(end - at) + 1);
		struct experiment e = fixture_parse(text);
		experiment_release(&e);
		free(text);
		at = end;
	}
	assert_true(count >= 2);
	free(page);
}

static void more_than_ten_thousand_queries_are_refused(void **state)
{
	(void)state;
	struct strbuf text = { 0 };
	struct error err = ERROR_INIT;
	strbuf_puts(&text, T "  - {name: x, type: integer}\ngenerate: {count: 2}\nqueries:\n");
	for (int i = 0; i < 9999; i++)
		strbuf_puts(&text, "- SELECT 1\n");
	assert_int_equal(parse_strbuf(&text, &err), -1);
	assert_string_equal(err.text, "line 6: generate.count: there are more than 10000 queries");
}

/* A column of a table of nine rows that has another, serial one before it; is it numbered? */
static bool is_numbered(const char *column)
{
	struct strbuf text = { 0 };
	strbuf_printf(&text,
		      Q "tables:\n- name: a\n  rows: 9\n  columns: [{name: b, type: bigint, "
			"serial: true}]\n- name: t\n  rows: 9\n  columns: [{name: x, type: real}, "
			"{name: n, %s}]\n",
		      column);
	struct experiment e = fixture_parse(text.text);
	const char *name = table_numbered(&e.tables.items[1]);
	bool numbered = name && strcmp(name, "n") == 0;
	assert_true(numbered || !name);
	experiment_release(&e);
	strbuf_release(&text);
	return numbered;
}

static void a_column_numbered_from_1_without_gaps_is_found(void **state)
{
	(void)state;
	assert_true(is_numbered("type: integer, serial: true"));
	assert_true(is_numbered("type: bigint, serial: true, repeat: 1, from: 1, primary: true"));
	assert_false(is_numbered("type: integer"));
	assert_false(is_numbered("type: integer, serial: true, repeat: 2"));
	assert_false(is_numbered("type: integer, serial: true, from: 0"));
	assert_false(is_numbered("type: integer, serial: true, from: 2"));
	assert_false(is_numbered("type: integer, serial: true, distinct: 5"));
	assert_false(is_numbered("type: integer, serial: true, nulls: 5%"));
	assert_false(is_numbered("references: a.b, serial: true"));
	assert_false(is_numbered("type: decimal, serial: true"));
	assert_false(is_numbered("type: real, serial: true"));
	assert_false(is_numbered("type: date, serial: true"));
	assert_false(is_numbered("type: text, serial: true"));
	struct experiment e =
		fixture_parse(Q T "  - {name: x, type: integer, serial: true}\n"
				  "  - {name: key, type: integer, serial: true, primary: true}\n");
	assert_string_equal(table_numbered(&e.tables.items[0]), "key"); /* it has an index */
	experiment_release(&e);
}

static void statements_make_the_experiment_that_their_text_is(void **state)
{
	(void)state;
	static const char *const sql[] = { " SELECT 'a\n\"b\"';; ", "VALUES (1)" };
	struct experiment e;
	struct error err = ERROR_INIT;
	assert_int_equal(experiment_of_statements(sql, 2, &e, &err), 0);
	struct experiment read = fixture_parse(e.text);
	assert_string_equal(e.name, read.name);
	assert_string_equal(e.text, read.text);
	assert_int_equal(e.executions, read.executions);
	assert_int_equal(e.time_limit_ns, read.time_limit_ns);
	assert_int_equal(e.seed, read.seed);
	assert_true(e.scenario == read.scenario && e.order == read.order && e.cold == read.cold);
	assert_int_equal(e.queries.count, 2);
	assert_int_equal(read.queries.count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(e.queries.items[i].name, read.queries.items[i].name);
		assert_string_equal(e.queries.items[i].sql, read.queries.items[i].sql);
	}
	experiment_release(&e);
	experiment_release(&read);
	assert_int_equal(experiment_of_statements((const char *const[]){ " ; " }, 1, &e, &err), -1);
	assert_non_null(strstr(err.text, "there is no SQL"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_of_queries_is_an_experiment_with_defaults),
		cmocka_unit_test(every_key_of_an_experiment_is_read),
		cmocka_unit_test(servers_are_read_with_their_settings_or_commands),
		cmocka_unit_test(cardinalities_are_sorted_and_set_the_rows_of_what_varies),
		cmocka_unit_test(queries_are_read_from_files_and_missing_ones_told),
		cmocka_unit_test(a_wrong_experiment_is_refused_and_the_line_named),
		cmocka_unit_test(hostile_files_are_refused_before_they_grow),
		cmocka_unit_test(every_builtin_experiment_is_what_its_text_says),
		cmocka_unit_test(a_scale_multiplies_the_rows_of_tpch),
		cmocka_unit_test(onepass_has_many_queries_over_small_tables),
		cmocka_unit_test(the_documented_examples_are_experiments),
		cmocka_unit_test(the_files_in_the_manual_are_experiments),
		cmocka_unit_test(more_than_ten_thousand_queries_are_refused),
		cmocka_unit_test(a_column_numbered_from_1_without_gaps_is_found),
		cmocka_unit_test(statements_make_the_experiment_that_their_text_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
