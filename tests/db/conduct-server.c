/* An experiment whose server fails: a PostgreSQL of this test's own. */
#include <ftw.h>
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
	events[event->kind]++;
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
	return access("/usr/lib/postgresql/15/bin/initdb", X_OK) == 0 ||
	       system("command -v initdb >/dev/null 2>&1") == 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_lost_connection_is_made_anew, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_server_of_ours_is_started_again, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(after_ten_tries_the_run_pauses, set_up, tear_down),
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
