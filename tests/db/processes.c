/* The processes that work for a query, however short: a PostgreSQL of this test's own, in this pid
 * namespace and in another. With a number as argument, so many executions, and figures. */
#include <dirent.h>
#include <errno.h>
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
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/strbuf.h"
#include "measure/query.h"
#include "subject/dbms/server_kind.h"

#define WORKERS 4

static char directory[64], data[96];
static struct error err;
static struct server *server;
static struct query_rig rig;
static long executions = 60;
static bool figures;

static const char *const server_settings[] = { "shared_buffers=64MB",	 "fsync=off",
					       "autovacuum=off",	 "max_worker_processes=8",
					       "max_parallel_workers=8", NULL };
static const char *const parallel[] = { "SET max_parallel_workers_per_gather = 4",
					"SET parallel_setup_cost = 0",
					"SET parallel_tuple_cost = 0",
					"SET min_parallel_table_scan_size = 0", NULL };
static const char sql[] = "SELECT count(*) FROM w WHERE a % 7 = 3 AND md5(a::text) > '5'";

static void good(int failed)
{
	if (failed)
		print_error("%s (%s)\n", err.text, err.hint);
	assert_int_equal(failed, 0);
}

static void prepare(struct dbms *d)
{
	struct query_plan plan = { 0 };
	good(dbms_prepare(d, sql, &err));
	good(dbms_plan(d, &plan, &err));
	assert_non_null(strstr(plan.json, "\"Workers Planned\":\"4\""));
	free(plan.json);
}

static void connect_to(const char *url, bool fill)
{
	struct dbms_options o = { .settings = parallel };
	good(dbms_open(&rig.dbms, url, &o, &err));
	if (fill) {
		good(dbms_run(rig.dbms,
			      "CREATE TABLE w AS SELECT i AS a FROM generate_series(1, 15000) i",
			      &err));
		good(dbms_run(rig.dbms, "ALTER TABLE w SET (parallel_workers = 4)", &err));
		good(dbms_run(rig.dbms, "VACUUM ANALYZE w", &err));
	}
	prepare(rig.dbms);
}

/* ---- what /proc says ---- */

/* Of the children that it has waited for: user and system time, each to 10 ms. */
static double ended_children_s(pid_t pid)
{
	char *stat = file_read_proc(pid, "stat"), *at = stat ? strrchr(stat, ')') : NULL;
	long user = -1, system_time = -1;
	assert_non_null(at);
	assert_int_equal(sscanf(at + 1,
				" %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %ld %ld",
				&user, &system_time),
			 2);
	free(stat);
	return (double)(user + system_time) / (double)sysconf(_SC_CLK_TCK);
}

static double process_s(pid_t pid)
{
	char *text = file_read_proc(pid, "schedstat");
	assert_non_null(text);
	double s = (double)strtoull(text, NULL, 10) / 1e9;
	free(text);
	return s;
}

/* ---- */

static void all_workers_are_seen(void **state)
{
	(void)state;
	struct query_execution q = { 0 };
	struct execution raw = { 0 };
	struct dbms_tasks tasks;
	double seen = 0, measured = 0;
	long whole = 0;
	connect_to(server_url(server), true);
	for (int i = 0; i < 5; i++) /* warm */
		good(query_execute(&rig, 0, &q, &raw, &err));
	/* asking who evaluates is the backend's, but no part of an execution */
	good(dbms_tasks(rig.dbms, &tasks, &err));
	double asking = process_s(tasks.process);
	for (long i = 0; i < executions; i++)
		good(dbms_tasks(rig.dbms, &tasks, &err));
	asking = process_s(tasks.process) - asking;
	double backend = process_s(tasks.process), workers = ended_children_s(tasks.server);
	for (long i = 0; i < executions; i++) {
		good(query_execute(&rig, 0, &q, &raw, &err));
		assert_int_equal(q.workers_planned, WORKERS);
		assert_int_equal(q.lost, 0);
		whole += q.workers == WORKERS && q.usage[QUERY_QUERY].processes == WORKERS + 1;
		seen += (double)query_cpu_ns(&q, QUERY_QUERY) / 1e9;
		measured += (double)q.measured_ns / 1e9;
	}
	backend = process_s(tasks.process) - backend - asking;
	workers = ended_children_s(tasks.server) - workers;
	if (figures)
		printf("%ld executions of %.1f ms; all %d workers in %ld; CPU of the query's "
		       "processes %.3f s, by /proc %.3f s (backend %.3f, workers %.2f): %+.2f %%\n",
		       executions, measured / (double)executions * 1e3, WORKERS, whole, seen,
		       backend + workers, backend, workers, 100 * (seen / (backend + workers) - 1));
	assert_int_equal(whole, executions);
	/* /proc has two sums of whole ticks */
	double ticks = 2 / (double)sysconf(_SC_CLK_TCK);
	assert_true(seen > 0.98 * (backend + workers) - ticks);
	assert_true(seen < 1.02 * (backend + workers) + ticks);
	execution_release(&raw);
	dbms_close(rig.dbms);
	rig.dbms = NULL;
}

/* Children of the server that are not the query's must not be taken for its workers. */
static void connections_are_no_workers(void **state)
{
	(void)state;
	struct query_execution q = { 0 };
	struct execution raw = { 0 };
	connect_to(server_url(server), false);
	pid_t child = fork();
	if (child == 0) {
		for (;;) {
			struct dbms *other;
			if (dbms_open(&other, server_url(server), NULL, NULL) == 0)
				dbms_close(other);
		}
	}
	uint32_t most = 0;
	for (int i = 0; i < 40; i++) {
		good(query_execute(&rig, 0, &q, &raw, &err));
		assert_int_equal(q.workers, WORKERS);
		assert_int_equal(q.usage[QUERY_QUERY].processes, WORKERS + 1);
		/* postmaster, checkpointer, writers: others are connections */
		most = q.usage[QUERY_UTILITY].processes > most ? q.usage[QUERY_UTILITY].processes
							       : most;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_true(most > 5);
	execution_release(&raw);
	dbms_close(rig.dbms);
	rig.dbms = NULL;
}

/* Without BPF nobody reads titles at the end, but forks and exits are seen as well. */
static void netlink_sees_all_workers(void **state)
{
	(void)state;
	struct query_execution q = { 0 };
	struct execution raw = { 0 };
	struct collector *best = rig.collector;
	good(collector_open(&rig.collector, BACKEND_NETLINK, &err));
	connect_to(server_url(server), false);
	for (int i = 0; i < 40; i++) {
		good(query_execute(&rig, 0, &q, &raw, &err));
		assert_int_equal(q.workers, WORKERS);
		assert_int_equal(q.usage[QUERY_QUERY].processes, WORKERS + 1);
	}
	execution_release(&raw);
	dbms_close(rig.dbms);
	rig.dbms = NULL;
	collector_close(rig.collector);
	rig.collector = best;
}

/* ---- another pid namespace ---- */

/* The process whose parent this is. */
static pid_t child_of(pid_t parent)
{
	char name[32];
	snprintf(name, sizeof name, "task/%d/children", (int)parent);
	for (int i = 0; i < 1000; i++) {
		char *children = file_read_proc(parent, name);
		pid_t pid = children ? (pid_t)strtol(children, NULL, 10) : 0;
		free(children);
		if (pid)
			return pid;
		usleep(10000);
	}
	return 0;
}

/* A control group of version 2, as far as there are any: exact sums for those without events. */
static char group[128];

static void make_group(void)
{
	char *mounts = file_read("/proc/self/mounts"), *save = NULL;
	for (char *line = mounts ? strtok_r(mounts, "\n", &save) : NULL; line && !*group;
	     line = strtok_r(NULL, "\n", &save)) {
		char path[64], type[16];
		if (sscanf(line, "%*s %63s %15s", path, type) == 2 && strcmp(type, "cgroup2") == 0)
			snprintf(group, sizeof group, "%s/tare-test-%d", path, (int)getpid());
	}
	free(mounts);
	if (*group && mkdir(group, 0755))
		*group = '\0';
}

/* Puts the server into the group as soon as it is there, without the process that started it: sums
 * are exact only if nobody else is in the group. Whoever it has forked before is outside. */
static void enter_group(pid_t postmaster)
{
	char path[160];
	snprintf(path, sizeof path, "%s/cgroup.procs", group);
	FILE *file = *group ? fopen(path, "w") : NULL;
	if (file) {
		fprintf(file, "%d\n", (int)postmaster);
		if (fclose(file))
			*group = '\0';
	}
}

/* Whether there is a sum of processes that ended, and it is no multiple of /proc's 10 ms. */
static bool has_exact_sum(const struct execution *raw)
{
	for (size_t i = 0; i < raw->exits.count; i++)
		if (raw->exits.tasks[i].flags & TASK_IS_SUM)
			return raw->exits.tasks[i].value[TASK_EXEC] % 10000000u != 0;
	return false;
}

static int exact_sums; /* of the executions that measure() made last */

/* The CPU time of the query's processes in so many executions, and what /proc says. */
static void measure(const struct dbms_tasks *tasks, int count, double *seen, double *proc)
{
	struct query_execution q = { 0 };
	struct execution raw = { 0 };
	double before = process_s(tasks->process), workers = ended_children_s(tasks->server);
	bool events = collector_backend(rig.collector) != BACKEND_PLAIN;
	*seen = 0;
	exact_sums = 0;
	for (int i = 0; i < count; i++) {
		good(query_execute(&rig, 0, &q, &raw, &err));
		assert_int_equal(q.workers, events ? WORKERS : -1);
		assert_int_equal(q.query_tasks, WORKERS + 1);
		assert_true(events || q.ephemeral == -1);
		*seen += (double)query_cpu_ns(&q, QUERY_QUERY) / 1e9;
		exact_sums += has_exact_sum(&raw);
	}
	*proc = process_s(tasks->process) - before + ended_children_s(tasks->server) - workers;
	execution_release(&raw);
}

static void a_server_in_its_own_pid_namespace_is_seen(void **state)
{
	(void)state;
	make_group();
	char *url = strdup(server_url(server));
	server_close(server); /* its data are served once more, from within */
	server = NULL;
	struct server_place place = {
		.data = data, .socket = data, .user = "postgres", .settings = server_settings
	};
	word_list words = { 0 };
	assert_true(postgresql_server.server_words(&place, &words, &err));
	array_push(&words, NULL);
	ARRAY(char *) all = { 0 };
	static const char *const within[] = { "unshare",	  "--pid",
					      "--fork",		  "--kill-child",
					      "--mount-proc",	  "setpriv",
					      "--reuid=postgres", "--regid=postgres",
					      "--clear-groups" };
	for (size_t i = 0; i < sizeof within / sizeof *within; i++)
		array_push(&all, (char *)within[i]);
	for (size_t i = 0; i < words.count; i++)
		array_push(&all, words.items[i]);
	pid_t unshare = fork();
	if (unshare == 0) {
		if (!freopen("/dev/null", "w", stderr) || chdir(data))
			_exit(1);
		execvp(all.items[0], all.items);
		_exit(127);
	}
	pid_t postmaster = child_of(unshare);
	enter_group(postmaster);
	struct dbms *probe = NULL;
	for (int i = 0; i < 1000 && dbms_open(&probe, url, NULL, &err); i++)
		usleep(10000);
	assert_non_null(probe);
	dbms_close(probe);
	struct dbms_tasks tasks;
	connect_to(url, false);
	int64_t said;
	good(dbms_number(rig.dbms, "SELECT pg_backend_pid()", &said, &err));
	good(dbms_tasks(rig.dbms, &tasks, &err));
	assert_int_equal(tasks.server, postmaster);
	assert_int_not_equal(tasks.process, said);
	double seen, proc;
	measure(&tasks, 20, &seen, &proc);
	assert_true(seen > 0.9 * proc - 0.02 && seen < 1.02 * proc + 0.02);
	/* an ordinary user, or one within the namespace, sees no ends */
	struct collector *best = rig.collector;
	good(collector_open(&rig.collector, BACKEND_PLAIN, &err));
	measure(&tasks, 20, &seen, &proc);
	printf("without events, %d exact sums: %.3f s, in /proc %.3f s\n", exact_sums, seen, proc);
	if (*group) {
		assert_in_range(exact_sums, 19, 20); /* one may be a multiple by chance */
		assert_true(seen > 0.95 * proc - 0.02 && seen < 1.05 * proc + 0.02);
	} else {
		assert_true(seen > 0.85 * proc - 0.02 && seen < 1.1 * proc + 0.02);
	}
	collector_close(rig.collector);
	rig.collector = best;
	dbms_close(rig.dbms);
	rig.dbms = NULL;
	kill(postmaster, SIGINT);
	waitpid(unshare, NULL, 0);
	if (*group)
		rmdir(group);
	array_release(&all);
	words_release(&words);
	free(url);
}

static int remove_entry(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(name);
}

static int left_out(const char *reason)
{
	const char *require = getenv("TARE_TEST_REQUIRE");
	bool required = require && strcmp(require, "1") == 0;
	printf("%s: %s\n", required ? "FAILED, for TARE_TEST_REQUIRE=1" : "skipped", reason);
	return required ? 1 : 77;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_workers_are_seen),
		cmocka_unit_test(connections_are_no_workers),
		cmocka_unit_test(netlink_sees_all_workers),
		cmocka_unit_test(a_server_in_its_own_pid_namespace_is_seen),
	};
	const struct server_description description = {
		.dbms = "postgresql", .data = data, .make = true, .settings = server_settings
	};
	if (geteuid() != 0)
		return left_out("only root sees the ends of all processes");
	if (argc > 1) {
		executions = strtol(argv[1], NULL, 10);
		figures = true;
	}
	snprintf(directory, sizeof directory, "/tmp/tare-processes.XXXXXX");
	if (!mkdtemp(directory) || chmod(directory, 0755))
		return 1;
	snprintf(data, sizeof data, "%s/data", directory);
	interrupt_watch();
	int code = 1;
	if (collector_open(&rig.collector, BACKEND_BPF, &err))
		code = left_out(err.text);
	else if (server_open(&server, &description, &err) || server_start(server, &err))
		code = left_out(err.text);
	else
		code = figures ? cmocka_run_group_tests(((const struct CMUnitTest[]){ tests[0] }),
							NULL, NULL)
			       : cmocka_run_group_tests(tests, NULL, NULL);
	dbms_close(rig.dbms);
	server_close(server);
	collector_close(rig.collector);
	nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	return code;
}
