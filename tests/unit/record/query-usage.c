/* What each role used, from made images. */
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/query_usage.h"

#define MS UINT64_C(1000000)
#define ALL ((UINT64_C(1) << TASK_CUMULATIVE) - 1)

enum {
	SELF = 10,
	SERVER = 20,
	BACKEND = 21,
	WRITER = 22,
	WORKER = 23,
	OTHER = 30,
	CRON = 40,
	BASH = 50
};

struct made {
	uint64_t at_ns; /* of the records that follow */
	struct task_record tasks[16];
	struct image image;
};
#define BEFORE                                                                             \
	{                                                                                  \
		.at_ns = 1000 * MS, .image = {.begin_ns = 1000 * MS, .end_ns = 1000 * MS } \
	}
#define AFTER                      \
	{                          \
		.at_ns = 1110 * MS \
	}

static struct task_record *put(struct made *m, int32_t tid, int32_t tgid, int32_t ppid,
			       const char *comm, uint64_t exec)
{
	struct task_record *t = &m->tasks[m->image.count++];
	m->image.tasks = m->tasks;
	*t = (struct task_record){ .present = ALL, .tid = tid, .tgid = tgid, .ppid = ppid };
	t->at_ns = m->at_ns;
	t->start_ns = (uint64_t)tid;
	t->flags = tid == tgid ? TASK_IS_LEADER : 0;
	t->value[TASK_EXEC] = exec;
	strncpy(t->comm, comm, sizeof t->comm);
	return t;
}

static bool is_bash(void *context, int32_t pid)
{
	(void)context;
	return pid == BASH;
}

static const int32_t workers[] = { WORKER };
static const struct query_who postgres = { .self = SELF,
					   .server = SERVER,
					   .process = BACKEND,
					   .workers = workers,
					   .worker_count = 1,
					   .name = "postgres",
					   .is_user = is_bash };

static void usage_of_a_server_is_split_by_the_part_each_process_plays(void **state)
{
	(void)state;
	struct made before = BEFORE, after = AFTER, exits = AFTER;
	struct query_execution x = { .measured_ns = 100 * MS };
	put(&before, SELF, SELF, 1, "tare", 5 * MS);
	put(&after, SELF, SELF, 1, "tare", 6 * MS);
	put(&before, SERVER, SERVER, 1, "postgres", 50 * MS);
	put(&after, SERVER, SERVER, 1, "postgres", 51 * MS);
	struct task_record *t = put(&before, BACKEND, BACKEND, SERVER, "postgres", 10 * MS);
	t->value[TASK_READ_BYTES] = 4096;
	t = put(&after, BACKEND, BACKEND, SERVER, "postgres", 80 * MS);
	t->value[TASK_READ_BYTES] = 12288;
	t->value[TASK_USER] = 60 * MS;
	t->value[TASK_SYSTEM] = 20 * MS;
	t->value[TASK_BLKIO_DELAY] = 7 * MS;
	t->value[TASK_NVCSW] = 3;
	put(&before, WRITER, WRITER, SERVER, "postgres", 1 * MS);
	put(&after, WRITER, WRITER, SERVER, "postgres", 9 * MS);
	t = put(&exits, WORKER, WORKER, SERVER, "postgres", 40 * MS);
	t->flags |= TASK_HAS_EXITED;
	t->at_ns = 1050 * MS;
	put(&before, OTHER, OTHER, 1, "postgres", 1 * MS);
	put(&after, OTHER, OTHER, 1, "postgres", 2 * MS);
	put(&before, CRON, CRON, 1, "cron", 0);
	put(&after, CRON, CRON, 1, "cron", 2 * MS);
	put(&before, BASH, BASH, 1, "bash", 0);
	put(&after, BASH, BASH, 1, "bash", 4 * MS);
	query_usage_between(&before.image, &after.image, &exits.image, &postgres, &x);
	assert_int_equal(query_cpu_ns(&x, QUERY_QUERY), 110 * MS);
	/* the backend's ticks are 3 : 1; the worker has none, so that all of it is the user's */
	assert_int_equal(x.usage[QUERY_QUERY].value[QUERY_SYSTEM_NS], 70 * MS / 4);
	assert_int_equal(x.usage[QUERY_QUERY].value[QUERY_BLKIO_NS], 7 * MS);
	assert_int_equal(x.usage[QUERY_QUERY].value[QUERY_NVCSW], 3);
	assert_int_equal(x.usage[QUERY_QUERY].processes, 2);
	assert_int_equal(x.query_tasks, 2);
	assert_int_equal(x.query_process, BACKEND); /* not the worker */
	assert_int_equal(x.read_bytes, 8192);
	assert_int_equal(query_cpu_ns(&x, QUERY_UTILITY), 9 * MS);
	assert_int_equal(x.utility_most_ns, 8 * MS);
	assert_int_equal(x.blkio_most_ns, 7 * MS);
	assert_int_equal(query_cpu_ns(&x, QUERY_OWN), 1 * MS);
	assert_int_equal(query_cpu_ns(&x, QUERY_USER), 4 * MS);
	assert_int_equal(query_cpu_ns(&x, QUERY_DAEMON), 3 * MS);
	assert_int_equal(x.other_utility, 1);
	assert_int_equal(x.other_query, 0);
}

/* Step 3 (ii) of the protocol asks whether it was the same one in every execution. */
static void another_backend_has_another_number(void **state)
{
	(void)state;
	uint64_t numbers[3];
	for (int i = 0; i < 3; i++) {
		struct made before = BEFORE, after = AFTER, exits = AFTER;
		struct query_execution x = { .measured_ns = 100 * MS };
		struct query_who who = postgres;
		who.process = i == 2 ? WRITER : BACKEND;
		put(&before, BACKEND, BACKEND, SERVER, "postgres", 10 * MS)->start_ns = 5000 * MS;
		put(&after, BACKEND, BACKEND, SERVER, "postgres", 20 * MS)->start_ns = 5000 * MS;
		put(&before, WRITER, WRITER, SERVER, "postgres", 10 * MS)->start_ns = 5000 * MS;
		put(&after, WRITER, WRITER, SERVER, "postgres", 20 * MS)->start_ns = 5000 * MS;
		query_usage_between(&before.image, &after.image, &exits.image, &who, &x);
		numbers[i] = x.query_process;
	}
	assert_true(numbers[0] != 0 && numbers[0] == numbers[1] && numbers[2] != numbers[0]);
}

/* A query that is a thread: of a server's, or of tare itself. */
static void a_query_that_is_a_thread_has_its_own_usage(void **state)
{
	(void)state;
	const struct query_who thread = { .self = SELF, .process = SELF, .thread = 11 };
	const struct query_who mariadb = {
		.self = SELF, .server = SERVER, .process = SERVER, .thread = 25
	};
	struct made before = BEFORE, after = AFTER;
	struct image none = { 0 };
	struct query_execution x = { .measured_ns = 100 * MS };
	put(&before, SELF, SELF, 1, "tare", 0);
	put(&after, SELF, SELF, 1, "tare", 3 * MS);
	put(&before, 11, SELF, 1, "tare-sqlite", 0);
	put(&after, 11, SELF, 1, "tare-sqlite", 50 * MS);
	put(&before, SERVER, SERVER, 1, "mariadbd", 0);
	put(&after, SERVER, SERVER, 1, "mariadbd", 1 * MS);
	put(&before, 25, SERVER, 1, "mariadbd", 0);
	put(&after, 25, SERVER, 1, "mariadbd", 20 * MS);
	query_usage_between(&before.image, &after.image, &none, &thread, &x);
	assert_int_equal(query_cpu_ns(&x, QUERY_QUERY), 50 * MS);
	assert_int_equal(query_cpu_ns(&x, QUERY_OWN), 3 * MS);
	assert_int_equal(x.other_query, 1);
	query_usage_between(&before.image, &after.image, &none, &mariadb, &x);
	assert_int_equal(query_cpu_ns(&x, QUERY_QUERY), 20 * MS);
	assert_int_equal(query_cpu_ns(&x, QUERY_UTILITY), 1 * MS);
	assert_int_equal(x.other_query + x.other_utility, 0);
}

static void what_is_not_seen_is_missing(void **state)
{
	(void)state;
	struct made before = BEFORE, after = AFTER;
	struct image none = { 0 };
	struct query_execution x = { .measured_ns = 100 * MS };
	put(&before, BACKEND, BACKEND, SERVER, "postgres", 0);
	put(&after, BACKEND, BACKEND, SERVER, "postgres", 0)->present &=
		~(UINT64_C(1) << TASK_BLKIO_DELAY | UINT64_C(1) << TASK_READ_BYTES);
	query_usage_between(&before.image, &after.image, &none, &postgres, &x);
	assert_int_equal(x.usage[QUERY_QUERY].missing, 1u << QUERY_BLKIO_NS);
	assert_true(x.read_bytes == ABSENT_NS);
	query_usage_between(&none, &none, &none, &postgres, &x);
	assert_int_equal(x.query_process, 0);
	assert_true(x.run_delay_ns == ABSENT_NS);
}

/* The first record of one that is running lacks up to a tick. */
static void nothing_is_counted_for_longer_than_there_was_time(void **state)
{
	(void)state;
	struct made before = BEFORE, after = { .at_ns = 1001 * MS }, exits = AFTER;
	struct query_execution x = { .measured_ns = MS / 2 };
	put(&before, CRON, CRON, 1, "cron", 0);
	put(&after, CRON, CRON, 1, "cron", 4 * MS);
	put(&before, WRITER, WRITER, SERVER, "postgres", 0);
	put(&after, WRITER, WRITER, SERVER, "postgres", 5 * MS);
	exits.at_ns = 1000 * MS + MS / 2;
	put(&exits, BASH, BASH, 1, "bash", 4 * MS);
	query_usage_between(&before.image, &after.image, &exits.image, &postgres, &x);
	assert_int_equal(query_cpu_ns(&x, QUERY_DAEMON), MS);
	assert_int_equal(query_cpu_ns(&x, QUERY_USER), MS / 2);
	assert_int_equal(x.utility_most_ns, MS);
}

/* A delay that is longer than the time there was is none. */
static void a_block_delay_longer_than_the_time_there_was_is_missing(void **state)
{
	(void)state;
	struct made before = BEFORE, after = AFTER;
	struct image none = { 0 };
	struct query_execution x = { .measured_ns = 100 * MS };
	put(&before, BACKEND, BACKEND, SERVER, "postgres", 0);
	put(&after, BACKEND, BACKEND, SERVER, "postgres", 0)->value[TASK_BLKIO_DELAY] = 5000 * MS;
	put(&before, CRON, CRON, 1, "cron", 0);
	put(&after, CRON, CRON, 1, "cron", 0)->value[TASK_BLKIO_DELAY] = 90 * MS;
	query_usage_between(&before.image, &after.image, &none, &postgres, &x);
	assert_int_equal(x.usage[QUERY_QUERY].missing, 1u << QUERY_BLKIO_NS);
	assert_int_equal(x.usage[QUERY_QUERY].value[QUERY_BLKIO_NS], 0);
	assert_int_equal(x.usage[QUERY_DAEMON].missing, 0);
	assert_int_equal(x.blkio_most_ns, 90 * MS);
}

static void cpu_time_beyond_what_the_thread_tells_is_tares_own(void **state)
{
	(void)state;
	struct query_execution x = { 0 };
	struct query_usage *u = &x.usage[QUERY_QUERY], *own = &x.usage[QUERY_OWN];
	u->processes = own->processes = 1;
	u->value[QUERY_USER_NS] = 300;
	u->value[QUERY_SYSTEM_NS] = 100;
	query_usage_set_cpu(&x, 360);
	assert_int_equal(u->value[QUERY_USER_NS], 270);
	assert_int_equal(u->value[QUERY_SYSTEM_NS], 90);
	assert_int_equal(own->value[QUERY_SYSTEM_NS], 40);
	/* the thread's last record was taken before its last turn was charged */
	query_usage_set_cpu(&x, 400);
	assert_int_equal(query_cpu_ns(&x, QUERY_QUERY), 400);
	assert_int_equal(query_cpu_ns(&x, QUERY_OWN), 40);
	u->missing = 1u << QUERY_USER_NS;
	query_usage_set_cpu(&x, 500);
	assert_int_equal(query_cpu_ns(&x, QUERY_QUERY), 400);
}

static void overall_times_are_differences_and_never_below_zero(void **state)
{
	(void)state;
	struct overall before = { .present = UINT64_MAX }, after = { .present = UINT64_MAX };
	struct query_execution x = { 0 };
	before.value[OVERALL_USER] = 100;
	after.value[OVERALL_USER] = 107;
	before.value[OVERALL_IOWAIT] = 9; /* it does go backwards at times */
	after.value[OVERALL_IOWAIT] = 8;
	query_overall_between(&before, &after, 100, &x);
	assert_int_equal(x.overall_ns[OVERALL_USER], 70 * MS);
	assert_int_equal(x.overall_ns[OVERALL_IOWAIT], 0);
	assert_int_equal(x.overall_missing, 0);
	assert_int_equal(x.usage[QUERY_QUERY].missing, 0);
	after.value[OVERALL_GUEST] = 1;
	after.present &= ~(UINT64_C(1) << OVERALL_STEAL);
	query_overall_between(&before, &after, 100, &x);
	assert_int_equal(x.overall_missing, 1u << OVERALL_STEAL);
	assert_int_equal(x.usage[QUERY_QUERY].missing, 1u << QUERY_GUEST_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usage_of_a_server_is_split_by_the_part_each_process_plays),
		cmocka_unit_test(another_backend_has_another_number),
		cmocka_unit_test(a_query_that_is_a_thread_has_its_own_usage),
		cmocka_unit_test(what_is_not_seen_is_missing),
		cmocka_unit_test(nothing_is_counted_for_longer_than_there_was_time),
		cmocka_unit_test(a_block_delay_longer_than_the_time_there_was_is_missing),
		cmocka_unit_test(cpu_time_beyond_what_the_thread_tells_is_tares_own),
		cmocka_unit_test(overall_times_are_differences_and_never_below_zero),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
