/* Driver files: what they say, and what is refused with the line; those in docs/drivers are fine.
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "subject/dbms/odbc/file.h"

static struct error err;

static int parse(const char *text, struct odbc_file *into)
{
	return odbc_file_parse(text, strlen(text), into, &err);
}

static void values_are_read(void **state)
{
	(void)state;
	struct odbc_file f = { 0 };
	assert_int_equal(parse("# a comment\n\nname = my db \r\nsession_id=SELECT a = 1\n"
			       "session_is_thread = yes\n"
			       "plan = EXPLAIN\n\t{sql}\n\n# in between\n  -- more\n"
			       "flush = A\nflush = B # no comment\nplan_numbers = drop",
			       &f),
			 0);
	assert_string_equal(f.name, "my db");
	assert_string_equal(f.session_id, "SELECT a = 1");
	assert_true(f.session_is_thread && f.drop_numbers);
	assert_string_equal(f.plan, "EXPLAIN\n\t{sql}\n  -- more");
	assert_int_equal(f.flush.count, 2);
	assert_string_equal(f.flush.items[1], "B # no comment");
	assert_int_equal(f.cold, DBMS_COLD_ONLINE);
	assert_null(f.version);
	odbc_file_release(&f);
	assert_null(f.plan);
	assert_int_equal(parse("", &f), 0);
	assert_int_equal(f.cold, DBMS_COLD_RESTART);
	assert_false(f.drop_numbers || f.session_is_thread);
	assert_int_equal(parse("cold = restart\nflush = X\ntype_date = D\n", &f), 0);
	assert_int_equal(f.cold, DBMS_COLD_RESTART);
	assert_string_equal(f.types[KIND_DATE], "D");
	odbc_file_release(&f);
}

static void errors_of_a_driver_file_name_the_line(void **state)
{
	(void)state;
	static const struct {
		const char *text, *said;
	} cases[] = {
		{ "name = a\nversion\n", "line 2" },
		{ "\n\nnaem = x\n", "line 3: there is no key 'naem'" },
		{ "name = a\n# x\nname = b\n", "line 3: name is given in line 1" },
		{ "\n  name = a", "line 2 begins with a blank" },
		{ "name =\n", "line 1: name has no value" },
		{ "name =\n# b\n\n", "line 1: name has no value" },
		{ " ", "" },
		{ "= x", "line 1: there is no key ''" },
		{ "\nplan = EXPLAIN sql", "line 2: plan must have {sql}" },
		{ "analyze = ANALYZE", "{table}" },
		{ "cold = maybe", "online or restart" },
		{ "session_is_thread = 1", "no or yes" },
		{ "process_name = fifteen_letters", "" },
		{ "process_name = sixteen_letters_", "longer than 15" },
		{ "plan_after = SELECT 1", "no plan" },
		{ "cold = online", "no flush" },
		{ "session_is_thread = yes", "no session_id" },
		{ "name = a\nversion = \xff\n", "line 2 is not UTF-8" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct odbc_file f = { 0 };
		err = (struct error)ERROR_INIT;
		int failed = parse(cases[i].text, &f);
		assert_int_equal(failed, *cases[i].said ? -1 : 0);
		if (failed && !strstr(err.text, cases[i].said)) {
			print_error("'%s', not '%s'\n", err.text, cases[i].said);
			fail();
		}
		assert_int_equal(err.code, failed ? EXIT_USAGE : EXIT_DONE);
		odbc_file_release(&f);
	}
	struct odbc_file f = { 0 };
	assert_int_equal(parse("naem = x", &f), -1);
	assert_non_null(strstr(err.hint, "'name'"));
	assert_int_equal(odbc_file_parse("name = a\0b", 10, &f, &err), -1);
	char *much = calloc(1, 70000);
	memset(much, '#', 65537);
	assert_int_equal(parse(much, &f), -1);
	much[65536] = '\0';
	assert_int_equal(parse(much, &f), 0);
	free(much);
	assert_int_equal(odbc_file_read("/nowhere/x.driver", &f, &err), -1);
	assert_non_null(strstr(err.text, "/nowhere/x.driver"));
}

static void marks_are_filled(void **state)
{
	(void)state;
	char *sql = odbc_file_fill("A {sql} B {sql}{sq", "{sql}", "{sql}x");
	assert_string_equal(sql, "A {sql}x B {sql}x{sq");
	free(sql);
	sql = odbc_file_fill("", "{sql}", "x");
	assert_string_equal(sql, "");
	free(sql);
}

static void documented_files_are_fine(void **state)
{
	glob_t found;
	char pattern[512];
	snprintf(pattern, sizeof pattern, "%s/*.driver", (const char *)*state);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_true(found.gl_pathc >= 3);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct odbc_file f = { 0 };
		if (odbc_file_read(found.gl_pathv[i], &f, &err))
			fail_msg("%s", err.text);
		assert_non_null(f.name);
		assert_non_null(f.session_id);
		assert_non_null(f.plan);
		odbc_file_release(&f);
	}
	globfree(&found);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_read),
		cmocka_unit_test(errors_of_a_driver_file_name_the_line),
		cmocka_unit_test(marks_are_filled),
		cmocka_unit_test_prestate(documented_files_are_fine, argv[1]),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
