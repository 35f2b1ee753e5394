/* Plans of SQLite (rows as 3.40 and 3.34 gave them) and of plain texts, in canonical form. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "subject/dbms/plan.h"
#include "subject/dbms/sqlite/alias.h"

static struct error err;

/* The canonical text of a plan of one row, without the root around it. */
static char *one(const char *detail)
{
	static const char before[] = "{\"children\":[", after[] = "],\"node\":\"QUERY PLAN\"}";
	struct query_plan plan = { 0 };
	assert_int_equal(plan_of_sqlite(&(struct sqlite_plan_row){ 3, 0, detail }, 1, &plan, &err),
			 0);
	size_t length = strlen(plan.json), around = strlen(before) + strlen(after);
	assert_true(length > around && strncmp(plan.json, before, strlen(before)) == 0);
	assert_string_equal(plan.json + length - strlen(after), after);
	char *inner = strndup(plan.json + strlen(before), length - around);
	free(plan.json);
	return inner;
}

static void rows_are_understood(void **state)
{
	(void)state;
	static const struct {
		const char *detail, *json;
	} cases[] = {
		{ "SCAN t", "{\"node\":\"SCAN\",\"relation\":\"t\"}" },
		{ "SCAN TABLE t AS x", "{\"alias\":\"x\",\"node\":\"SCAN\",\"relation\":\"t\"}" },
		{ "SCAN CONSTANT ROW", "{\"node\":\"SCAN CONSTANT ROW\"}" },
		{ "SCAN 3-ROW VALUES CLAUSE",
		  "{\"node\":\"SCAN 3-ROW VALUES CLAUSE\"}" }, /* 3.46 */
		{ "SEARCH m USING COVERING INDEX my idx (x>?)",
		  "{\"conditions\":[\"x>?\"],\"details\":{\"using\":\"COVERING INDEX\"},\"index\":\"my idx\",\"node\":\"SEARCH\",\"relation\":\"m\"}" },
		{ "USING INDEX ui FOR IN-OPERATOR",
		  "{\"node\":\"USING INDEX ui FOR IN-OPERATOR\"}" },
		{ "SCAN (subquery-2)", "{\"node\":\"SCAN\",\"relation\":\"(subquery-2)\"}" },
		{ "SCAN t USING COVERING INDEX i",
		  "{\"details\":{\"using\":\"COVERING INDEX\"},\"index\":\"i\",\"node\":\"SCAN\",\"relation\":\"t\"}" },
		{ "SEARCH t USING INDEX i (a=? AND b>?)",
		  "{\"conditions\":[\"a=?\",\"b>?\"],\"details\":{\"using\":\"INDEX\"},\"index\":\"i\",\"node\":\"SEARCH\",\"relation\":\"t\"}" },
		{ "SEARCH u AS v USING INTEGER PRIMARY KEY (rowid=?)",
		  "{\"alias\":\"v\",\"conditions\":[\"rowid=?\"],\"details\":{\"using\":\"INTEGER PRIMARY KEY\"},\"node\":\"SEARCH\",\"relation\":\"u\"}" },
		{ "SEARCH t USING AUTOMATIC COVERING INDEX (b=?) LEFT-JOIN",
		  "{\"conditions\":[\"b=?\"],\"details\":{\"using\":\"AUTOMATIC COVERING INDEX\"},\"join\":\"left\",\"node\":\"SEARCH\",\"relation\":\"t\"}" },
		{ "SEARCH t USING INDEX i (ANY(a) AND b=?)",
		  "{\"conditions\":[\"ANY(a)\",\"b=?\"],\"details\":{\"using\":\"INDEX\"},\"index\":\"i\",\"node\":\"SEARCH\",\"relation\":\"t\"}" },
		{ "SEARCH INDEX USING INDEX INDEX (a=?)",
		  "{\"conditions\":[\"a=?\"],\"details\":{\"using\":\"INDEX\"},\"index\":\"INDEX\",\"node\":\"SEARCH\",\"relation\":\"INDEX\"}" },
		{ "SCAN f VIRTUAL TABLE INDEX 0:M1",
		  "{\"details\":{\"virtual\":\"0:M1\"},\"node\":\"SCAN\",\"relation\":\"f\"}" },
		{ "BLOOM FILTER ON t (a=?)",
		  "{\"conditions\":[\"a=?\"],\"node\":\"BLOOM FILTER\",\"relation\":\"t\"}" },
		{ "USE TEMP B-TREE FOR RIGHT PART OF ORDER BY",
		  "{\"details\":{\"for\":\"RIGHT PART OF ORDER BY\"},\"node\":\"USE TEMP B-TREE\"}" },
		{ "CO-ROUTINE v", "{\"details\":{\"name\":\"v\"},\"node\":\"CO-ROUTINE\"}" },
		{ "CORRELATED SCALAR SUBQUERY 2",
		  "{\"details\":{\"number\":\"2\"},\"node\":\"CORRELATED SCALAR SUBQUERY\"}" },
		{ "MULTI-INDEX OR", "{\"node\":\"MULTI-INDEX OR\"}" },
		{ "SCAN", "{\"node\":\"SCAN\"}" },
		{ "SCAN ", "{\"node\":\"SCAN\"}" },
		{ "SEARCH t USING ", "{\"node\":\"SEARCH\",\"relation\":\"t\"}" },
		{ "SCAN t)", "{\"node\":\"SCAN\",\"relation\":\"t)\"}" },
		{ "\xff", "{\"node\":\"\xef\xbf\xbd\"}" },
		{ "", "{\"node\":\"\"}" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *json = one(cases[i].detail);
		assert_string_equal(json, cases[i].json);
		free(json);
	}
}

static void rows_make_a_tree(void **state)
{
	(void)state;
	static const struct sqlite_plan_row rows[] = {
		{ 1, 0, "COMPOUND QUERY" }, { 2, 1, "LEFT-MOST SUBQUERY" },
		{ 5, 2, "SCAN a" },	    { 9, 1, "UNION ALL" },
		{ 11, 9, "SCAN b" },
	};
	struct query_plan plan = { 0 }, other = { 0 };
	assert_int_equal(plan_of_sqlite(rows, 5, &plan, &err), 0);
	assert_string_equal(
		plan.json,
		"{\"children\":[{\"children\":[{\"children\":[{\"node\":\"SCAN\",\"relation\":\"a\"}],"
		"\"node\":\"LEFT-MOST SUBQUERY\"},{\"children\":[{\"node\":\"SCAN\",\"relation\":\"b\"}],"
		"\"node\":\"UNION ALL\"}],\"node\":\"COMPOUND QUERY\"}],\"node\":\"QUERY PLAN\"}");
	/* numbers of rows are SQLite's own affair: the same shape, the same plan */
	struct sqlite_plan_row renumbered[5];
	for (int i = 0; i < 5; i++)
		renumbered[i] = (struct sqlite_plan_row){ rows[i].id * 7, rows[i].parent * 7,
							  rows[i].detail };
	assert_int_equal(plan_of_sqlite(renumbered, 5, &other, &err), 0);
	assert_true(plan.hash == other.hash);
	free(other.json);
	renumbered[4].detail = "SCAN c";
	assert_int_equal(plan_of_sqlite(renumbered, 5, &other, &err), 0);
	assert_true(plan.hash != other.hash);
	free(other.json);
	renumbered[4].parent = 8;
	other = (struct query_plan){ 0 };
	assert_int_equal(plan_of_sqlite(renumbered, 5, &other, &err), -1);
	assert_null(other.json);
	free(plan.json);
}

static void no_rows_are_a_plan(void **state)
{
	(void)state;
	struct query_plan plan = { 0 };
	assert_int_equal(plan_of_sqlite(NULL, 0, &plan, &err), 0);
	assert_string_equal(plan.json, "{\"node\":\"QUERY PLAN\"}");
	free(plan.json);
}

static void the_hash_is_fnv_1a(void **state)
{
	(void)state;
	struct query_plan plan = { 0 };
	plan_seal(json_pack("{s:s, s:i}", "b", "x", "a", 1), &plan);
	assert_string_equal(plan.json, "{\"a\":1,\"b\":\"x\"}");
	uint64_t hash = UINT64_C(14695981039346656037);
	for (const char *c = plan.json; *c; c++)
		hash = (hash ^ (uint64_t)*c) * UINT64_C(1099511628211);
	assert_true(plan.hash == hash);
	free(plan.json);
}

/* ---- aliases ---- */

static void aliases_are_found(void **state)
{
	(void)state;
	static const struct {
		const char *sql, *alias, *names[4];
	} cases[] = {
		{ "SELECT * FROM t AS x", "x", { "t" } },
		{ "select * from t x, u as y", "Y", { "u" } },
		{ "SELECT a x FROM t x", "x", { "a", "t" } },
		{ "SELECT 1 FROM main.\"my \"\"t\" /* u x */ -- v x\n AS x", "x", { "my \"t" } },
		{ "SELECT 't x' FROM [a b] x", "x", { "a b" } },
		{ "SELECT * FROM t AS a a", "a", { "t", "a" } },
		{ "SELECT * FROM t", "x", { NULL } },
		{ "SELECT 'x", "x", { NULL } },
		{ "/*", "x", { NULL } },
		{ "t AS", "x", { NULL } },
		{ "", "x", { NULL } },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *at = NULL;
		for (size_t n = 0;; n++) {
			char *name = sqlite_alias_next(cases[i].sql, &at, cases[i].alias);
			if (!name && !cases[i].names[n])
				break;
			assert_non_null(name);
			assert_non_null(cases[i].names[n]);
			assert_string_equal(name, cases[i].names[n]);
			free(name);
		}
	}
}

/* ---- texts ---- */

static void lines_make_a_tree(void **state)
{
	(void)state;
	struct query_plan plan = { 0 };
	assert_int_equal(plan_of_text("Hash Join\n  Hash Cond: (a = b)\r\n\n  ->  Seq Scan on t\n"
				      "        Filter: (c)\n  ->  Hash\nLimit",
				      &plan, &err),
			 0);
	assert_string_equal(
		plan.json,
		"{\"children\":[{\"children\":[{\"node\":\"Hash Cond: (a = b)\"},{\"children\":[{\"node\":"
		"\"Filter: (c)\"}],\"node\":\"->  Seq Scan on t\"},{\"node\":\"->  Hash\"}],\"node\":\"Hash "
		"Join\"},{\"node\":\"Limit\"}],\"node\":\"QUERY PLAN\"}");
	free(plan.json);
	assert_int_equal(plan_of_text(" \n\n", &plan, &err), -1);
}

/* Deeper and deeper: nobody may recurse so far. */
static void depth_is_bounded(void **state)
{
	(void)state;
	enum { LINES = 3000 };
	struct query_plan plan = { 0 };
	char *text = malloc((size_t)LINES * (LINES + 2) / 2 + LINES + 1), *at = text;
	for (size_t i = 0; i < LINES; i++) {
		memset(at, ' ', i);
		at += i;
		*at++ = 'x';
		*at++ = '\n';
	}
	*at = '\0';
	assert_int_equal(plan_of_text(text, &plan, &err), 0);
	json_t *root = json_loads(plan.json, 0, NULL);
	assert_non_null(root);
	json_decref(root);
	free(plan.json);
	free(text);
}

static void numbers_are_dropped(void **state)
{
	(void)state;
	static const struct {
		const char *text, *without;
	} cases[] = {
		{ "Scan on t1  (cost=0.00..35.50 rows=2550 width=4)",
		  "Scan on t1  (cost=#..# rows=# width=#)" },
		{ "idx_2 2a 1e-07 1.5E+3 7e x$9", "idx_2 2a # # 7e x$9" },
		{ "12", "#" },
		{ "1.", "#." },
		{ "", "" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = strdup(cases[i].text);
		plan_drop_numbers(text);
		assert_string_equal(text, cases[i].without);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_understood), cmocka_unit_test(rows_make_a_tree),
		cmocka_unit_test(no_rows_are_a_plan),  cmocka_unit_test(the_hash_is_fnv_1a),
		cmocka_unit_test(aliases_are_found),   cmocka_unit_test(lines_make_a_tree),
		cmocka_unit_test(depth_is_bounded),    cmocka_unit_test(numbers_are_dropped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
