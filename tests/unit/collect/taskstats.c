#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/taskstats.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "collect/backend/taskstats.h"

static struct taskstats sample(void)
{
	struct taskstats s = {
		.version = 13,
		.ac_exitcode = 256,
		.ac_nice = (uint8_t)-5,
		.cpu_delay_total = 77,
		.blkio_delay_total = 4000000,
		.cpu_run_virtual_total = 12345678,
		.ac_comm = "a) \nb",
		.ac_pid = 42,
		.ac_ppid = 7,
		.ac_tgid = 41,
		.ac_etime = 20000,
		.ac_utime = 8000,
		.ac_stime = 4000,
		.ac_minflt = 3,
		.hiwater_rss = 1752,
		.read_char = 10,
		.cancelled_write_bytes = 11,
		.nvcsw = 12,
		.nivcsw = 13,
	};
	return s;
}

static void fields_of_taskstats_become_measures(void **state)
{
	(void)state;
	struct taskstats s = sample();
	struct taskstats_answer a;
	assert_true(taskstats_decode(&s, sizeof s, true, &a));
	assert_int_equal(a.lived_ns, 20000000);
	assert_int_equal(a.task.tid, 42);
	assert_int_equal(a.task.tgid, 41);
	assert_int_equal(a.task.ppid, 7);
	assert_int_equal(a.task.flags, 0);
	assert_string_equal(a.task.comm, "a) \nb");
	assert_int_equal(a.task.value[TASK_EXEC], 12345678);
	assert_int_equal(a.task.value[TASK_USER], 8000000);
	assert_int_equal(a.task.value[TASK_SYSTEM], 4000000);
	assert_int_equal(a.task.value[TASK_RUN_DELAY], 77);
	assert_int_equal(a.task.value[TASK_BLKIO_DELAY], 4000000);
	assert_int_equal(a.task.value[TASK_RSS_PEAK], 1752 * 1024);
	assert_int_equal(a.task.value[TASK_CANCELLED_WRITE_BYTES], 11);
	assert_int_equal(a.task.value[TASK_NIVCSW], 13);
	assert_false(task_has(&a.task, TASK_RSS));
}

static void block_delays_not_kept_or_impossible_are_missing(void **state)
{
	(void)state;
	struct taskstats s = sample();
	struct taskstats_answer a;
	assert_true(taskstats_decode(&s, sizeof s, false, &a)); /* not kept: not zero */
	assert_false(task_has(&a.task, TASK_BLKIO_DELAY));
	s.blkio_delay_total = 20000001; /* more than it lived: the kernel erred */
	assert_true(taskstats_decode(&s, sizeof s, true, &a));
	assert_false(task_has(&a.task, TASK_BLKIO_DELAY));
}

static void newer_and_older_versions_are_read_and_short_ones_refused(void **state)
{
	(void)state;
	struct taskstats s = sample();
	struct taskstats_answer a;
	char longer[sizeof s + 200] = { 0 };
	s.version = 16; /* of a newer kernel: fields added at the end */
	memcpy(longer, &s, sizeof s);
	assert_true(taskstats_decode(longer, sizeof longer, true, &a));
	assert_int_equal(a.task.tgid, 41);
	s.version = 9; /* of an older one: no tgid */
	assert_true(taskstats_decode(&s, offsetof(struct taskstats, ac_btime64), true, &a));
	assert_int_equal(a.task.tgid, 0);
	s.version = 15;
	assert_false(taskstats_decode(&s, sizeof s, true, &a));
	s.version = 3;
	assert_false(taskstats_decode(&s, sizeof s, true, &a));
	s.version = 13;
	for (size_t length = 0; length < offsetof(struct taskstats, thrashing_count); length++)
		assert_false(taskstats_decode(&s, length, true, &a));
}

static struct nlmsghdr *message(char *buffer, const void *stats, size_t length)
{
	struct nlmsghdr *m = mnl_nlmsg_put_header(buffer);
	m->nlmsg_seq = 5;
	struct genlmsghdr *g = mnl_nlmsg_put_extra_header(m, sizeof *g);
	g->cmd = TASKSTATS_CMD_NEW;
	struct nlattr *outer = mnl_attr_nest_start(m, TASKSTATS_TYPE_AGGR_PID);
	mnl_attr_put_u32(m, TASKSTATS_TYPE_PID, 42);
	mnl_attr_put(m, TASKSTATS_TYPE_NULL, 0, NULL);
	mnl_attr_put(m, TASKSTATS_TYPE_STATS, length, stats);
	mnl_attr_nest_end(m, outer);
	return m;
}

static void a_message_is_parsed_and_a_short_one_refused(void **state)
{
	(void)state;
	struct taskstats s = sample();
	struct taskstats_answer a;
	_Alignas(8) char buffer[4096];
	struct nlmsghdr *m = message(buffer, &s, sizeof s);
	assert_true(taskstats_parse(m, true, &a));
	assert_int_equal(a.task.tid, 42);
	assert_int_equal(a.sequence, 5);
	assert_false(taskstats_parse(message(buffer, &s, 16), true, &a));
}

/* Lengths within the message may lie; nothing beyond its end may be read. */
static void lengths_that_lie_are_not_read_beyond_the_end(void **state)
{
	(void)state;
	struct taskstats s = sample();
	struct taskstats_answer a;
	unsigned seed = 1;
	for (int round = 0; round < 20000; round++) {
		_Alignas(8) char buffer[4096];
		struct nlmsghdr *m = message(buffer, &s, sizeof s);
		size_t length = m->nlmsg_len;
		for (int i = 0; i < 3; i++)
			buffer[16 + (size_t)rand_r(&seed) % 32] = (char)rand_r(&seed);
		size_t kept = 16 + (size_t)rand_r(&seed) % (length - 15);
		char *tight = malloc(kept);
		memcpy(tight, buffer, kept);
		((struct nlmsghdr *)(void *)tight)->nlmsg_len = (uint32_t)kept;
		taskstats_parse((const void *)tight, true, &a);
		free(tight);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_of_taskstats_become_measures),
		cmocka_unit_test(block_delays_not_kept_or_impossible_are_missing),
		cmocka_unit_test(a_message_is_parsed_and_a_short_one_refused),
		cmocka_unit_test(newer_and_older_versions_are_read_and_short_ones_refused),
		cmocka_unit_test(lengths_that_lie_are_not_read_beyond_the_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
