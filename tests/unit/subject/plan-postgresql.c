#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "plan-postgresql.h"
#include "subject/dbms/plan.h"

static struct query_plan plan_of(const char *text)
{
	struct query_plan plan = { 0 };
	struct error err = ERROR_INIT;
	if (plan_of_postgresql(text, &plan, &err))
		fail_msg("%s", err.text);
	return plan;
}

static uint64_t hash_of(const char *text)
{
	struct query_plan plan = plan_of(text);
	free(plan.json);
	return plan.hash;
}

/* A copy in which the first `from` is `to`. */
static char *changed(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	struct strbuf copy = { 0 };
	assert_non_null(at);
	strbuf_add(&copy, text, (size_t)(at - text));
	strbuf_puts(&copy, to);
	strbuf_puts(&copy, at + strlen(from));
	return strbuf_detach(&copy);
}

static void assert_other(const char *text, const char *from, const char *to)
{
	char *copy = changed(text, from, to);
	assert_true(hash_of(copy) != hash_of(text));
	free(copy);
}

static void a_scan_has_its_canonical_form(void **state)
{
	(void)state;
	struct query_plan plan = plan_of(
		"[{\"Plan\": {\"Node Type\": \"Index Scan\", \"Parallel Aware\": false,"
		"\"Async Capable\": false, \"Scan Direction\": \"Forward\","
		"\"Index Name\": \"items_order\", \"Relation Name\": \"items\", \"Alias\": \"items\","
		"\"Startup Cost\": 0.42, \"Total Cost\": 19.77, \"Plan Rows\": 4, \"Plan Width\": 11,"
		"\"Index Cond\": \"(order_id = 77)\", \"Filter\": \"(part = 'x'::text)\"}}]");
	assert_string_equal(
		plan.json,
		"{\"conditions\":[\"Index Cond: (order_id = 77)\","
		"\"Filter: (part = 'x'::text)\"],"
		"\"details\":{\"Scan Direction\":\"Forward\"},"
		"\"index\":\"items_order\",\"node\":\"Index Scan\",\"relation\":\"items\"}");
	free(plan.json);
}

static void a_tree_keeps_what_makes_it_this_plan(void **state)
{
	(void)state;
	static const char *const kept[] = {
		"\"Sort Key\":\"(sum(i.quantity)) DESC\"",
		"\"Group Key\":\"o.customer\"",
		"\"Strategy\":\"Hashed\"",
		"\"conditions\":[\"Hash Cond: (i.order_id = o.id)\"]",
		"\"join\":\"inner\"",
		"\"alias\":\"i\"",
		"\"relation\":\"orders\"",
		"(part <> 'p\\\"7'::text)",
		"\"Parent Relationship\":\"Inner\"",
	};
	static const char *const dropped[] = { "Cost",	  "Rows",     "Width",
					       "Planned", "Parallel", "Plans" };
	struct query_plan plan = plan_of(join_text);
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		if (!strstr(plan.json, kept[i]))
			fail_msg("%s is not in %s", kept[i], plan.json);
	for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
		assert_null(strstr(plan.json, dropped[i]));
	free(plan.json);
	plan = plan_of(subplan_text);
	assert_non_null(strstr(plan.json, "\"Subplan Name\":\"InitPlan 2 (returns $1)\""));
	assert_non_null(strstr(plan.json, "\"CTE Name\":\"c\""));
	assert_non_null(strstr(plan.json, "\"alias\":\"items_1\""));
	free(plan.json);
	plan = plan_of(sets_text);
	assert_non_null(strstr(plan.json, "{\\\"Hash Keys\\\":[[\\\"quantity\\\"]]}"));
	free(plan.json);
	plan = plan_of(parallel_text);
	assert_non_null(strstr(plan.json, "\"Workers Planned\":\"2\""));
	assert_non_null(strstr(plan.json, "\"Parallel Aware\":\"true\""));
	assert_non_null(strstr(plan.json, "\"Partial Mode\":\"Finalize\""));
	free(plan.json);
}

/* All of its numbers made others, as ANALYZE does. */
static char *counted_anew(const char *text)
{
	static const char *const keys[] = { "Cost\": ", "Rows\": ", "Width\": ", "Partitions\": " };
	char *copy = xstrdup(text);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		for (char *at = copy; (at = strstr(at, keys[i]));) {
			at += strlen(keys[i]);
			*at = *at == '9' ? '8' : '9';
		}
	return copy;
}

static void estimates_do_not_matter(void **state)
{
	(void)state;
	static const char *const texts[] = { join_text, subplan_text, sets_text, parallel_text };
	for (size_t i = 0; i < 4; i++) {
		char *other = counted_anew(texts[i]);
		assert_string_not_equal(other, texts[i]);
		assert_true(hash_of(other) == hash_of(texts[i]));
		free(other);
		for (size_t j = 0; j < i; j++)
			assert_true(hash_of(texts[i]) != hash_of(texts[j]));
	}
}

static void everything_else_matters(void **state)
{
	(void)state;
	assert_other(join_text, "Hash Join", "Merge Join");
	assert_other(join_text, "\"Inner\",\n\"Startup", "\"Left\",\n\"Startup");
	assert_other(join_text, "'100'", "'101'");
	assert_other(join_text, " DESC", "");
	assert_other(join_text, "\"Hashed\"", "\"Sorted\"");
	assert_other(subplan_text, "items_order", "items_other");
	assert_other(subplan_text, "Forward", "Backward");
	assert_other(parallel_text, "\"Workers Planned\": 2", "\"Workers Planned\": 3");
	assert_other(sets_text, "[\"part\"]", "[\"order_id\"]");
}

static void several_queries_are_one_plan(void **state)
{
	(void)state;
	struct query_plan plan = plan_of("[{\"Plan\": {\"Node Type\": \"Result\"}},"
					 " {\"Plan\": {\"Node Type\": \"Limit\"}}]");
	assert_string_equal(plan.json, "{\"children\":[{\"node\":\"Result\"},{\"node\":\"Limit\"}],"
				       "\"node\":\"Queries\"}");
	free(plan.json);
}

static void what_is_no_plan_is_refused(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{}",
		"7",
		"[\"Utility Statement\"]",
		"[{}]",
		"[{\"Plan\": []}]",
		"[{\"Plan\": {\"Node Type\": 7}}]",
		"[{\"Plan\": {\"Node Type\": \"Result\"}}, \"Utility Statement\"]",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct query_plan plan = { 0 };
		struct error err = ERROR_INIT;
		assert_int_equal(plan_of_postgresql(texts[i], &plan, &err), -1);
		assert_int_equal(err.code, EXIT_ENVIRONMENT);
		assert_null(plan.json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scan_has_its_canonical_form),
		cmocka_unit_test(a_tree_keeps_what_makes_it_this_plan),
		cmocka_unit_test(estimates_do_not_matter),
		cmocka_unit_test(everything_else_matters),
		cmocka_unit_test(several_queries_are_one_plan),
		cmocka_unit_test(what_is_no_plan_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
