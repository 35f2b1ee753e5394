/* Plans as MariaDB 10.11 told them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "subject/dbms/mariadb/plan.h"

static struct query_plan planned(const char *json, const char *written)
{
	struct query_plan plan = { 0 };
	struct error err = ERROR_INIT;
	if (plan_of_mariadb_written(json, written, &plan, &err))
		fail_msg("%s", err.text);
	return plan;
}

/* want: as JSON, spaces and order of keys as one likes. */
static void check(const char *json, const char *written, const char *want)
{
	struct query_plan plan = planned(json, written);
	json_error_t wrong;
	json_t *got = json_loads(plan.json, 0, NULL), *wanted = json_loads(want, 0, &wrong);
	if (!wanted)
		fail_msg("%s", wrong.text);
	if (!json_equal(got, wanted))
		fail_msg("got %s", plan.json);
	json_decref(got);
	json_decref(wanted);
	free(plan.json);
}

/* select x.b, count(*) from t x join s on s.a=x.b where x.a<1000 and x.c like 'a%' group by x.b
 * order by 2 desc limit 5 */
#define GROUPED(rows, length, possible)                                                          \
	"{\"query_block\": {\"select_id\": 1, \"filesort\": {\"sort_key\": \"count(0) desc\","   \
	" \"temporary_table\": {\"nested_loop\": [{\"table\": {\"table_name\": \"x\","           \
	" \"access_type\": \"range\", \"possible_keys\": [" possible "], \"key\": \"PRIMARY\","  \
	" \"key_length\": \"" length "\", \"used_key_parts\": [\"a\"], \"rows\": " rows ","      \
	" \"filtered\": 100, \"attached_condition\": \"x.a < 1000 and x.c like 'a%'\"}},"        \
	" {\"table\": {\"table_name\": \"s\", \"access_type\": \"eq_ref\","                      \
	" \"possible_keys\": [\"PRIMARY\"], \"key\": \"PRIMARY\", \"key_length\": \"4\","        \
	" \"used_key_parts\": [\"a\"], \"ref\": [\"tare.x.b\"], \"rows\": 1, \"filtered\": 3.5," \
	" \"using_index\": true}}]}}}}"

static void a_grouped_join_becomes_a_tree(void **state)
{
	(void)state;
	check(GROUPED("1996", "4", "\"PRIMARY\""),
	      "select `tare`.`x`.`b` AS `b`,count(0) AS `count(*)` from `tare`.`t` `x` join `tare`.`s`"
	      " where `tare`.`x`.`c` like 'a%' group by `tare`.`x`.`b`",
	      "{\"node\": \"query_block\", \"children\": ["
	      "{\"node\": \"filesort\", \"details\": {\"sort_key\": \"count(0) desc\"}, \"children\": ["
	      "{\"node\": \"temporary_table\", \"children\": ["
	      "{\"node\": \"nested_loop\", \"children\": ["
	      "{\"node\": \"range\", \"relation\": \"t\", \"alias\": \"x\", \"index\": \"PRIMARY\","
	      " \"conditions\": [\"x.a < 1000 and x.c like 'a%'\"],"
	      " \"details\": {\"key_length\": \"4\", \"used_key_parts\": \"a\"}},"
	      "{\"node\": \"eq_ref\", \"relation\": \"s\", \"index\": \"PRIMARY\","
	      " \"details\": {\"key_length\": \"4\", \"used_key_parts\": \"a\", \"ref\": \"tare.x.b\","
	      " \"using_index\": \"true\"}}]}]}]}]}");
}

static void counts_and_possible_keys_are_not_part_of_the_plan(void **state)
{
	(void)state;
	struct query_plan a = planned(GROUPED("1996", "4", "\"PRIMARY\""), NULL);
	struct query_plan b = planned(GROUPED("7", "4", "\"PRIMARY\", \"b\""), NULL);
	struct query_plan c = planned(GROUPED("1996", "8", "\"PRIMARY\""), NULL);
	assert_string_equal(a.json, b.json);
	assert_true(a.hash == b.hash);
	assert_true(a.hash != c.hash);
	free(a.json);
	free(b.json);
	free(c.json);
}

/* select * from t left join u on t.b=u.a and u.c>'1' where t.c='x' */
static void a_join_buffer_is_part_of_the_plan(void **state)
{
	(void)state;
	check("{\"query_block\": {\"select_id\": 1, \"nested_loop\": ["
	      "{\"table\": {\"table_name\": \"t\", \"access_type\": \"ALL\", \"rows\": 989760,"
	      " \"filtered\": 100, \"attached_condition\": \"t.c = 'x'\"}},"
	      "{\"block-nl-join\": {\"table\": {\"table_name\": \"u\", \"access_type\": \"range\","
	      " \"key\": \"b\", \"rows\": 1000, \"filtered\": 100,"
	      " \"index_condition\": \"u.b between 3 and 7\", \"attached_condition\": \"u.c > '1'\"},"
	      " \"buffer_type\": \"flat\", \"buffer_size\": \"256KiB\", \"join_type\": \"BNL\","
	      " \"attached_condition\": \"trigcond(u.a = t.b)\"}}]}}",
	      NULL,
	      "{\"node\": \"query_block\", \"children\": [{\"node\": \"nested_loop\", \"children\": ["
	      "{\"node\": \"ALL\", \"relation\": \"t\", \"conditions\": [\"t.c = 'x'\"]},"
	      "{\"node\": \"block-nl-join\", \"conditions\": [\"trigcond(u.a = t.b)\"],"
	      " \"details\": {\"buffer_type\": \"flat\", \"join_type\": \"BNL\"}, \"children\": ["
	      "{\"node\": \"range\", \"relation\": \"u\", \"index\": \"b\", \"conditions\":"
	      " [\"index_condition: u.b between 3 and 7\", \"u.c > '1'\"]}]}]}]}");
}

/* select * from t where b in (select b from s where a>5) */
static void a_materialized_subquery_is_part_of_the_plan(void **state)
{
	(void)state;
	check("{\"query_block\": {\"select_id\": 1, \"nested_loop\": [{\"table\": {"
	      "\"table_name\": \"<subquery2>\", \"access_type\": \"ALL\","
	      " \"possible_keys\": [\"distinct_key\"], \"rows\": 1000, \"filtered\": 100,"
	      " \"materialized\": {\"unique\": 1, \"query_block\": {\"select_id\": 2,"
	      " \"nested_loop\": [{\"table\": {\"table_name\": \"s\", \"access_type\": \"index_merge\","
	      " \"key_length\": \"5,4\", \"index_merge\": {\"union\": [{\"range\": {\"key\": \"b\","
	      " \"used_key_parts\": [\"b\"]}}, {\"range\": {\"key\": \"PRIMARY\","
	      " \"used_key_parts\": [\"a\", \"b\"]}}]}, \"rows\": 201}}]}}}}],"
	      " \"subqueries\": [{\"expression_cache\": {\"state\": \"uninitialized\","
	      " \"query_block\": {\"select_id\": 3, \"table\": {\"message\": \"No tables used\"}}}}]}}",
	      NULL,
	      "{\"node\": \"query_block\", \"children\": ["
	      "{\"node\": \"ALL\", \"details\": {\"table\": \"<subquery2>\"}, \"children\": ["
	      "{\"node\": \"materialized\", \"children\": [{\"node\": \"query_block\", \"children\": ["
	      "{\"node\": \"index_merge\", \"relation\": \"s\", \"details\": {\"key_length\": \"5,4\"},"
	      " \"children\": [{\"node\": \"index_merge\", \"children\": [{\"node\": \"union\","
	      " \"children\": [{\"node\": \"range\", \"index\": \"b\","
	      " \"details\": {\"used_key_parts\": \"b\"}}, {\"node\": \"range\","
	      " \"index\": \"PRIMARY\", \"details\": {\"used_key_parts\": \"a, b\"}}]}]}]}]}]}]},"
	      "{\"node\": \"subqueries\", \"children\": [{\"node\": \"expression_cache\","
	      " \"children\": [{\"node\": \"query_block\", \"children\": [{\"node\": \"table\","
	      " \"details\": {\"message\": \"No tables used\"}}]}]}]}]}");
}

static const char *relation_of(const char *name, const char *written, char into[64])
{
	json_t *said = json_pack("{s:{s:{s:s,s:s}}}", "query_block", "table", "table_name", name,
				 "access_type", "ALL");
	char *text = json_dumps(said, 0);
	struct query_plan plan = planned(text, written);
	json_t *got = json_loads(plan.json, 0, NULL);
	const char *relation = json_string_value(
		json_object_get(json_array_get(json_object_get(got, "children"), 0), "relation"));
	strncpy(into, relation ? relation : "(none)", 63);
	into[63] = '\0';
	free(plan.json);
	free(text);
	json_decref(got);
	json_decref(said);
	return into;
}

static void an_alias_is_resolved_to_its_table_if_it_is_the_only_one(void **state)
{
	static const char written[] =
		"select `d`.`x`.`b` AS `b`,' from `d`.`no` `lit` \\' `d`.`no` `lit` ' AS `t` from `d`.`t``t` `x`"
		" semi join (`mysql`.`db` `Y`) join `d`.`s` left join (`d`.`u` `q``q`) on(`d`.`q``q`.`a` ="
		" `d`.`x`.`b`) join `d`.`one` `z` join (select 1 from `d`.`two` `z`) `der` where 0 limit 5";
	char got[64];
	(void)state;
	assert_string_equal(relation_of("x", written, got), "t`t");
	assert_string_equal(relation_of("Y", written, got), "db");
	assert_string_equal(relation_of("s", written, got), "s");
	assert_string_equal(relation_of("q`q", written, got), "u");
	assert_string_equal(relation_of("z", written, got), "z"); /* which one? */
	assert_string_equal(relation_of("lit", written, got), "lit");
	assert_string_equal(relation_of("x", NULL, got), "x");
	assert_string_equal(relation_of("x", "select `d`.`t` `x", got), "x");
	assert_string_equal(relation_of("x", "select `d`. `x` ' `d`.`t` `x`", got), "x");
	assert_string_equal(relation_of("<derived2>", written, got), "(none)");
}

static void what_is_no_plan_is_an_error(void **state)
{
	static const char *const texts[] = { "", "{", "[]", "{}", "{\"query_block\": 1}", "null" };
	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct query_plan plan = { 0 };
		struct error err = ERROR_INIT;
		assert_int_equal(plan_of_mariadb(texts[i], &plan, &err), -1);
		assert_int_equal(err.code, EXIT_ENVIRONMENT);
		assert_null(plan.json);
	}
}

/* What MySQL says of costs is in texts. */
static void a_plan_of_mysql_is_read_without_its_costs(void **state)
{
	(void)state;
	check("{\"query_block\": {\"select_id\": 1, \"cost_info\": {\"query_cost\": \"1.20\"}, \"table\": {"
	      "\"table_name\": \"t\", \"access_type\": \"ref\", \"key\": \"k\","
	      " \"rows_examined_per_scan\": 3, \"filtered\": \"33.33\", \"cost_info\": {\"read_cost\":"
	      " \"0.25\", \"data_read_per_join\": \"16\"}, \"used_columns\": [\"a\", \"b\"]}}}",
	      NULL,
	      "{\"node\": \"query_block\", \"children\": [{\"node\": \"ref\", \"relation\": \"t\","
	      " \"index\": \"k\", \"details\": {\"used_columns\": \"a, b\"}}]}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_grouped_join_becomes_a_tree),
		cmocka_unit_test(counts_and_possible_keys_are_not_part_of_the_plan),
		cmocka_unit_test(a_join_buffer_is_part_of_the_plan),
		cmocka_unit_test(a_materialized_subquery_is_part_of_the_plan),
		cmocka_unit_test(an_alias_is_resolved_to_its_table_if_it_is_the_only_one),
		cmocka_unit_test(what_is_no_plan_is_an_error),
		cmocka_unit_test(a_plan_of_mysql_is_read_without_its_costs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
