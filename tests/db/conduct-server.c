/* An experiment whose server fails: a PostgreSQL of this test's own. */
#include <ftw.h>
#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/interrupt.h"
#include "measure/query.h"

static char directory[64], data[96];
static struct error err;
static struct server *server;
static struct query_rig rig;
static struct experiment e;
static size_t executed, events[QUERY_EVENTS];
static uint32_t numbers[16];
static void (*mischief)(void); /* after the second execution */
static void (*rescue)(void);   /* after the fifth back-off */

static int on_begun(void *context, const struct query_at *at, struct error *error)
{
	(void)context, (void)at, (void)error;
	return 0;
}

static int on_planned(void *context, const struct query_plan *plan, struct error *error)
{
	(void)context, (void)plan, (void)error;
	return 0;
}

static int on_executed(void *context, uint32_t query, uint64_t cardinality,
		       const struct query_execution *q, struct execution *raw, struct error *error)
{
	(void)context, (void)query, (void)cardinality, (void)raw, (void)error;
	if (executed < 16)
		numbers[executed] = q->number;
	if (++executed == 2 && mischief)
		mischief();
	return 0;
}

static int on_event(void *context, const struct query_event *event, struct error *error)
{
	(void)context, (void)error;
	if (++events[event->kind] == 5 && event->kind == QUERY_BACKED_OFF && rescue)
		rescue();
	return 0;
}

static int conduct(void)
{
	const struct query_hooks hooks = {
		NULL, on_begun, on_planned, on_executed, on_event, NULL
	};
	const struct query_conduct_options options = { .back_off_ns = 1000 };
	executed = 0;
	memset(events, 0, sizeof events);
	err = (struct error)ERROR_INIT;
	return query_conduct(&rig, &e, &options, &hooks, &err);
}

static void end_backend(void)
{
	struct dbms_tasks tasks;
	assert_int_equal(dbms_tasks(rig.dbms, &tasks, &err), 0);
	assert_int_equal(kill(tasks.process, SIGTERM), 0);
}

static void stop_server(void)
{
	assert_int_equal(server_stop(server, &err), 0);
}

static void a_lost_connection_is_made_anew(void **state)
{
	(void)state;
	mischief = end_backend;
	assert_int_equal(conduct(), 0);
	assert_int_equal(executed, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(numbers[i], i + 1);
	assert_int_equal(events[QUERY_BACKED_OFF], 1);
	assert_int_equal(events[QUERY_PAUSED], 0);
}

static void a_server_of_ours_is_started_again(void **state)
{
	(void)state;
	mischief = stop_server;
	rig.server = server;
	assert_int_equal(conduct(), 0);
	assert_int_equal(executed, 4);
	assert_int_equal(events[QUERY_BACKED_OFF], 1);
	rig.server = NULL;
}

static void after_ten_tries_the_run_pauses(void **state)
{
	(void)state;
	mischief = stop_server;
	assert_int_equal(conduct(), -1);
	assert_int_equal(err.code, EXIT_SUBJECT);
	assert_int_equal(executed, 2);
	assert_int_equal(events[QUERY_BACKED_OFF], 10);
	assert_int_equal(events[QUERY_PAUSED], 1);
}

/* From then on every execution is answered as if somebody had cancelled it. */
static void start_cancelling_server(void)
{
	struct dbms *other = NULL;
	assert_int_equal(server_start(server, &err), 0);
	assert_int_equal(dbms_open(&other, server_url(server), NULL, &err), 0);
	assert_int_equal(dbms_run(other, "ALTER ROLE ALL SET tare.cancels = 1", &err), 0);
	dbms_close(other);
}

static void answers_are_counted_after_lost_connections(void **state)
{
	(void)state;
	static char sql[] = "SELECT answer()";
	char *usual = e.queries.items[0].sql;
	assert_int_equal(
		dbms_run(rig.dbms,
			 "CREATE FUNCTION answer() RETURNS int LANGUAGE plpgsql AS $$BEGIN "
			 "IF current_setting('tare.cancels', true) = '1' THEN "
			 "RAISE 'cancelled' USING ERRCODE = '57014'; END IF; "
			 "RETURN 1; END$$",
			 &err),
		0);
	e.queries.items[0].sql = sql;
	mischief = stop_server;
	rescue = start_cancelling_server;
	assert_int_equal(conduct(), 0);
	assert_int_equal(executed, 2);
	assert_int_equal(events[QUERY_BACKED_OFF], 5 + 3);
	assert_int_equal(events[QUERY_GAVE_UP], 1);
	assert_int_equal(events[QUERY_PAUSED], 0);
	e.queries.items[0].sql = usual;
	rescue = NULL;
}

static int remove_entry(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(name);
}

static int set_up(void **state)
{
	(void)state;
	return server_start(server, &err) || dbms_open(&rig.dbms, server_url(server), NULL, &err);
}

static int tear_down(void **state)
{
	(void)state;
	dbms_close(rig.dbms);
	rig.dbms = NULL;
	return 0;
}

static bool is_installed(void)
{
	glob_t found = { 0 };
	bool there = glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found) == 0;
	globfree(&found);
	return there || system("command -v initdb >/dev/null 2>&1") == 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_lost_connection_is_made_anew, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_server_of_ours_is_started_again, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(after_ten_tries_the_run_pauses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(answers_are_counted_after_lost_connections, set_up,
						tear_down),
	};
	const struct server_description description = { .dbms = "postgresql",
							.data = data,
							.make = true };
	static char name[] = "q", sql[] = "SELECT count(*) FROM pg_class";
	if (!is_installed()) {
		puts("PostgreSQL is not installed");
		return 77;
	}
	snprintf(directory, sizeof directory, "/tmp/tare-conduct.XXXXXX");
	if (!mkdtemp(directory) || chmod(directory, 0755))
		return 1;
	snprintf(data, sizeof data, "%s/data", directory);
	interrupt_watch();
	e = (struct experiment){ .executions = 4 };
	array_push(&e.queries, (struct experiment_query){ name, sql });
	int failed = 1;
	if (collector_open(&rig.collector, BACKENDS, &err) ||
	    server_open(&server, &description, &err))
		fprintf(stderr, "%s\n", err.text);
	else
		failed = cmocka_run_group_tests(tests, NULL, NULL);
	server_close(server);
	collector_close(rig.collector);
	array_release(&e.queries);
	nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	return failed;
}
