/* The life of a recorded run, and what of a database's URL is stored with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../lab/fixture.h"
#include "run/query_place.h"
#include "run/record.h"

static struct recorder open_recorder(struct lab_access *lab, enum recorder_lab which)
{
	struct recorder r = { .command_line = xstrdup("tare time 'sleep 1'") };
	ok(recorder_open(&r, lab, which, &err));
	return r;
}

static struct run begin_run(struct recorder *r, const char *name)
{
	struct run run = { .name = xstrdup(name), .command = xstrdup("sleep 1") };
	ok(recorder_begin(r, &run, &err));
	return run;
}

static void runs_of_one_command_line_share_study_machine_and_directory(void **state)
{
	(void)state;
	struct lab_access lab = { .need = WRITES_LAB, .file = path };
	struct recorder r = open_recorder(&lab, RECORD_IN_LAB);
	struct run a = begin_run(&r, "a"), b = begin_run(&r, "b"), stored = { 0 };
	assert_true(a.id && b.id && a.id != b.id && a.invocation && a.machine);
	assert_true(a.invocation == b.invocation && a.machine == b.machine);
	ok(lab_get_run(r.lab, b.id, &stored, &err));
	assert_int_equal(stored.status, RUN_GOING);
	assert_string_equal(stored.directory, b.directory);
	assert_string_equal(stored.version, TARE_VERSION);
	assert_true(stored.started_at_ns > 0);
	run_release(&stored);
	run_release(&a);
	run_release(&b);
	recorder_close(&r);
	assert_null(lab.open);
}

static void a_run_that_is_not_worth_keeping_is_removed_when_it_ends(void **state)
{
	(void)state;
	struct lab_access lab = { .need = WRITES_LAB, .file = path };
	struct recorder r = open_recorder(&lab, RECORD_IN_LAB);
	struct run kept = begin_run(&r, "kept"), gone = begin_run(&r, "gone"), stored = { 0 };
	ok(recorder_end(&r, &kept, RUN_INTERRUPTED, true, &err));
	ok(recorder_end(&r, &gone, RUN_FAILED, false, &err));
	ok(lab_get_run(r.lab, kept.id, &stored, &err));
	assert_int_equal(stored.status, RUN_INTERRUPTED);
	assert_true(stored.ended_at_ns >= stored.started_at_ns);
	assert_refused(lab_get_run(r.lab, gone.id, &stored, &err), "there is no run");
	run_release(&stored);
	run_release(&kept);
	run_release(&gone);
	recorder_close(&r);
}

static void without_a_lab_nothing_is_written(void **state)
{
	(void)state;
	struct lab_access lab = { .need = WRITES_LAB, .file = path };
	struct recorder r = open_recorder(&lab, RECORD_IN_MEMORY);
	struct run run = begin_run(&r, "x");
	assert_string_equal(lab_path(r.lab), LAB_IN_MEMORY);
	run_release(&run);
	recorder_close(&r);
	struct lab *none = NULL;
	assert_int_equal(lab_open(&none, path, LAB_READ, &err), -1);
}

static void a_lab_that_cannot_be_opened_hints_at_what_else_there_is(void **state)
{
	(void)state;
	struct lab_access lab = { .need = WRITES_LAB, .file = "/dev/null/lab.db" };
	struct recorder r = { 0 };
	err = (struct error)ERROR_INIT;
	assert_int_equal(recorder_open(&r, &lab, RECORD_IN_LAB, &err), -1);
	assert_string_equal(err.hint, "--lab FILE keeps the run elsewhere, --no-lab keeps nothing");
	recorder_close(&r);
	err = (struct error)ERROR_INIT;
	assert_int_equal(recorder_open(&r, &lab, RECORD_IN_FILE, &err), -1);
	assert_string_equal(err.hint, "--lab FILE keeps the run elsewhere");
	recorder_close(&r);
}

static void a_signal_interrupts_a_run_and_an_error_fails_it(void **state)
{
	(void)state;
	struct error why = ERROR_INIT;
	assert_int_equal(recorded_status(0, &why), RUN_COMPLETE);
	error_set(&why, EXIT_INTERRUPTED, "interrupted");
	assert_int_equal(recorded_status(-1, &why), RUN_INTERRUPTED);
	error_set(&why, EXIT_SUBJECT, "it failed");
	assert_int_equal(recorded_status(-1, &why), RUN_FAILED);
}

static int store_never(struct lab *lab, void *what, struct error *why)
{
	(void)lab;
	return error_set(why, EXIT_ENVIRONMENT, "%s", (const char *)what);
}

static void an_error_that_stays_says_how_many_executions_are_lost(void **state)
{
	(void)state;
	struct lab_access lab = { .need = WRITES_LAB, .file = path };
	struct recorder r = open_recorder(&lab, RECORD_IN_LAB);
	struct run run = begin_run(&r, "x");
	for (int i = 0; i < 3; i++) {
		const struct held item = { store_never, free, xstrdup("input/output error"), 20 };
		assert_int_equal(recorder_hold(&r, &item, &err), -1);
	}
	assert_int_equal(recorder_end(&r, &run, RUN_FAILED, true, &err), -1);
	assert_string_equal(err.text, "the last 3 executions are lost: input/output error");
	/* they are no longer in the way of what comes after them */
	ok(recorder_end(&r, &run, RUN_FAILED, true, &err));
	run_release(&run);
	recorder_close(&r);
}

static void passwords_are_not_part_of_a_url_that_is_shown(void **state)
{
	(void)state;
	static const char *const urls[][2] = {
		{ "sqlite:x.db", "sqlite:x.db" },
		{ "postgresql://me:se@cret@host/db", "postgresql://me@host/db" },
		{ "postgresql://me@host:5432/db", "postgresql://me@host:5432/db" },
		{ "mariadb://host/db?password=x&ssl=1", "mariadb://host/db?ssl=1" },
		{ "odbc:DSN=a;PWD=secret;UID=me", "odbc:DSN=a;UID=me" },
		{ "odbc:DSN=a; pwd={se;}}cr;et};UID=me", "odbc:DSN=a;UID=me" },
		{ "odbc:PASSWORD=x", "odbc:" },
	};
	for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
		char *shown = query_url_shown(urls[i][0]);
		assert_string_equal(shown, urls[i][1]);
		free(shown);
	}
}

static void a_password_that_would_be_stored_with_the_text_is_refused(void **state)
{
	(void)state;
	static const char url[] = "mariadb://me:x@host/db";
	char *shown = NULL;
	ok(query_text_shown("url: mariadb://me:x@host/db\n", url, &shown, &err));
	assert_string_equal(shown, "url: mariadb://me@host/db\n");
	free(shown);
	assert_refused(query_text_shown("url: \"mariadb://me:\\x78@host/db\"\n", url, &shown, &err),
		       "would be stored");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(runs_of_one_command_line_share_study_machine_and_directory),
		TEST(a_run_that_is_not_worth_keeping_is_removed_when_it_ends),
		TEST(without_a_lab_nothing_is_written),
		TEST(a_lab_that_cannot_be_opened_hints_at_what_else_there_is),
		TEST(a_signal_interrupts_a_run_and_an_error_fails_it),
		TEST(an_error_that_stays_says_how_many_executions_are_lost),
		TEST(passwords_are_not_part_of_a_url_that_is_shown),
		TEST(a_password_that_would_be_stored_with_the_text_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
