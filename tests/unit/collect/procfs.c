#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "collect/backend/procfs.h"

/* Linux 6.18; what follows the name of a PostgreSQL backend. */
#define AFTER_NAME                                                                                 \
	" S 812 4711 4711 0 -1 4194560 1533 99 7 2 345 67 1 2 20 0 3 0 110031 230838272 4821 "     \
	"18446744073709551615 94230 94310 140727 0 0 0 4194304 19935232 536945134 0 0 0 17 1 0 0 " \
	"12 0 0 943 944 945 140 141 142 143 0\n"

static void assert_fields(const struct task_record *t, const struct stat_extra *extra)
{
	assert_int_equal(t->tid, 4711);
	assert_int_equal(t->ppid, 812);
	assert_int_equal(t->start_ns, 1100310000000);
	assert_int_equal(t->value[TASK_MIN_FLT], 1533);
	assert_int_equal(t->value[TASK_MAJ_FLT], 7);
	assert_int_equal(t->value[TASK_USER], 3450000000);
	assert_int_equal(t->value[TASK_SYSTEM], 670000000);
	assert_int_equal(t->value[TASK_VM], 230838272);
	assert_int_equal(t->value[TASK_RSS], 4821 * sysconf(_SC_PAGESIZE));
	assert_false(t->flags & TASK_IS_KERNEL);
	assert_int_equal(extra->state, 'S');
	assert_int_equal(extra->threads, 3);
	assert_true(extra->has_blkio);
	assert_int_equal(extra->blkio_ticks, 12);
}

static void fields_are_found_behind_names_of_all_kinds(void **state)
{
	(void)state;
	static const char *const names[] = {
		"postgres",	   "",	    "a b",	 ")",	     "(",
		") S 1 1 (",	   "((x))", "new\nline", "\xff\xfe", "tab\there",
		"0123456789abcde",
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct task_record t = { 0 };
		struct stat_extra extra = { 0 };
		char text[512] = "4711 (";
		strcat(text, names[i]);
		strcat(text, ")" AFTER_NAME);
		assert_true(stat_parse(text, strlen(text), &t, &extra));
		assert_string_equal(t.comm, names[i]);
		assert_fields(&t, &extra);
	}
}

static void long_names_are_cut(void **state)
{
	(void)state;
	static const char text[] = "4711 (kworker/u4:2-events_unbound)" AFTER_NAME;
	struct task_record t;
	struct stat_extra extra;
	memset(&t, 0xff, sizeof t);
	assert_true(stat_parse(text, strlen(text), &t, &extra));
	assert_string_equal(t.comm, "kworker/u4:2-ev");
}

static void a_kernel_thread_has_no_memory(void **state)
{
	(void)state;
	static const char text[] =
		"15 (migration/0) S 2 0 0 0 -1 69238848 0 0 0 0 0 3 0 0 -100 0 1 0 21 0 0 "
		"18446744073709551615 0 0 0 0 0 0 0 2147483647 0 1 0 0 17 0 99 1 0 0 0 0 0 0 0 0 0 0 0\n";
	struct task_record t = { 0 };
	struct stat_extra extra;
	assert_true(stat_parse(text, strlen(text), &t, &extra));
	assert_true(t.flags & TASK_IS_KERNEL);
	assert_false(task_has(&t, TASK_RSS));
	assert_false(task_has(&t, TASK_VM));
	assert_false(procfs_is_gone(&extra));
}

static void zombies_and_exiting_ones_are_gone(void **state)
{
	(void)state;
	struct stat_extra zombie = { .state = 'Z' }, exiting = { .state = 'R', .flags = 0x40004c },
			  running = { .state = 'R', .flags = 0x400000 };
	assert_true(procfs_is_gone(&zombie));
	assert_true(procfs_is_gone(&exiting));
	assert_false(procfs_is_gone(&running));
}

/* Every prefix: either refused or, once the fields needed are whole, right. */
static void text_cut_anywhere_is_refused_or_right(void **state)
{
	(void)state;
	static const char text[] = "4711 (pg)" AFTER_NAME;
	for (size_t length = 0; length < sizeof text - 1; length++) {
		char *exact = malloc(length + 1); /* so that ASan sees a byte too much */
		memcpy(exact, text, length);
		char *tight = realloc(exact, length ? length : 1);
		struct task_record t = { 0 };
		struct stat_extra extra;
		if (stat_parse(tight, length, &t, &extra))
			assert_int_equal(t.start_ns, 1100310000000);
		status_parse(tight, length, &t);
		io_parse(tight, length, &t);
		schedstat_parse(tight, length, &t);
		free(tight);
	}
}

static void garbage_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"",
		"x",
		"4711",
		"4711 ",
		"4711 (",
		"4711 (x",
		"4711 (x)",
		"4711 (x) ",
		"4711 (x) S",
		"4711 (x) S 1 2 3",
		"(x) S 1 2 3",
		"4711 x) S 1",
		"99999999999999999999999 (x) S 1 2",
		"4711 (x) S - - - - - - - - -",
	};
	struct task_record t = { 0 };
	struct stat_extra extra;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_false(stat_parse(bad[i], strlen(bad[i]), &t, &extra));
		assert_false(status_parse(bad[i], strlen(bad[i]), &t));
		assert_false(io_parse(bad[i], strlen(bad[i]), &t));
		assert_false(schedstat_parse(bad[i], strlen(bad[i]), &t));
	}
	unsigned seed = 1;
	static const char alphabet[] = "0123456789 ()-:\n\tSVmRSk\xff";
	for (int round = 0; round < 20000; round++) {
		char text[96];
		size_t n = (size_t)rand_r(&seed) % sizeof text;
		for (size_t i = 0; i < n; i++)
			text[i] = alphabet[(size_t)rand_r(&seed) % sizeof alphabet];
		stat_parse(text, n, &t, &extra);
		status_parse(text, n, &t);
		io_parse(text, n, &t);
		schedstat_parse(text, n, &t);
	}
}

static void lines_of_status_are_read_and_a_cut_one_does_not_count(void **state)
{
	(void)state;
	static const char text[] =
		"Name:\tVmRSS:\\n 77\nVmSize:\t    3060 kB\nVmHWM:\t    1752 kB\n"
		"VmRSS:\t    1700 kB\nvoluntary_ctxt_switches:\t12\n"
		"nonvoluntary_ctxt_switches:\t3\n";
	struct task_record t = { 0 };
	assert_true(status_parse(text, strlen(text), &t));
	assert_int_equal(t.value[TASK_VM], 3060 * 1024);
	assert_int_equal(t.value[TASK_RSS_PEAK], 1752 * 1024);
	assert_int_equal(t.value[TASK_RSS], 1700 * 1024);
	assert_int_equal(t.value[TASK_NVCSW], 12);
	assert_int_equal(t.value[TASK_NIVCSW], 3);
	/* the last number may be cut: it does not count */
	struct task_record cut = { 0 };
	status_parse(text, strlen(text) - 1, &cut);
	assert_true(task_has(&cut, TASK_NVCSW));
	assert_false(task_has(&cut, TASK_NIVCSW));
}

static void lines_of_io_are_read(void **state)
{
	(void)state;
	static const char text[] = "rchar: 6976\nwchar: 1\nsyscr: 10\nsyscw: 2\nread_bytes: 4096\n"
				   "write_bytes: 8192\ncancelled_write_bytes: 512\n";
	struct task_record t = { 0 };
	assert_true(io_parse(text, strlen(text), &t));
	assert_int_equal(t.value[TASK_RCHAR], 6976);
	assert_int_equal(t.value[TASK_SYSCW], 2);
	assert_int_equal(t.value[TASK_WRITE_BYTES], 8192);
	assert_int_equal(t.value[TASK_CANCELLED_WRITE_BYTES], 512);
}

static void zeros_of_schedstat_are_not_believed_of_one_that_ran(void **state)
{
	(void)state;
	struct task_record t = { 0 };
	assert_true(schedstat_parse("88662 3011597 2\n", 16, &t));
	assert_int_equal(t.value[TASK_EXEC], 88662);
	assert_int_equal(t.value[TASK_RUN_DELAY], 3011597);
	struct task_record idle = { 0 }, busy = { 0 };
	assert_true(schedstat_parse("0 0 0\n", 6, &idle));
	busy.value[TASK_USER] = 10000000; /* it ran, so that the zeros are those of a kernel that
					     does not count */
	assert_false(schedstat_parse("0 0 0\n", 6, &busy));
	assert_false(task_has(&busy, TASK_EXEC));
}

static struct procfs *proc;

static void this_process_is_read_from_proc(void **state)
{
	(void)state;
	struct task_record t;
	struct stat_extra extra;
	char old[16];
	prctl(PR_GET_NAME, old);
	prctl(PR_SET_NAME, "a) R (\nb");
	uint64_t now = clock_monotonic_ns();
	assert_true(procfs_task(proc, getpid(), getpid(), PROCFS_ALL, &t, &extra));
	prctl(PR_SET_NAME, old);
	assert_string_equal(t.comm, "a) R (\nb");
	assert_int_equal(t.tid, getpid());
	assert_int_equal(t.tgid, getpid());
	assert_int_equal(t.ppid, getppid());
	assert_int_equal(t.flags, TASK_IS_LEADER | TASK_IS_SELF);
	assert_int_equal(extra.state, 'R');
	assert_int_equal(extra.threads, 1);
	assert_true(t.at_ns >= now);
	assert_true(t.start_ns <= clock_boottime_ns());
	assert_true(task_has(&t, TASK_RCHAR) && task_has(&t, TASK_NVCSW));
	assert_true(t.value[TASK_RSS_PEAK] >= 100000);
	assert_true(t.value[TASK_VM] >= t.value[TASK_RSS]);
	/* no such task, and one of another process */
	assert_false(procfs_task(proc, getpid(), 1, PROCFS_ALL, &t, &extra));
	assert_false(procfs_task(proc, 0, 0, PROCFS_ALL, &t, &extra));
}

static void count(void *context, struct task_record *task, const struct stat_extra *extra)
{
	(void)extra;
	*(int *)context += task->tid == getpid();
}

static void a_walk_sees_every_task(void **state)
{
	(void)state;
	int seen = 0;
	assert_int_equal(procfs_each(proc, PROCFS_ALL, count, &seen, NULL), 0);
	assert_int_equal(seen, 1);
	assert_int_equal(procfs_each_process(proc, PROCFS_STAT, count, &seen, NULL), 0);
	assert_int_equal(seen, 2);
	procfs_each_thread(proc, getpid(), PROCFS_STAT, count, &seen);
	assert_int_equal(seen, 3);
}

int main(void)
{
	if (procfs_open(&proc, NULL) != 0)
		return 77;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_found_behind_names_of_all_kinds),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(a_kernel_thread_has_no_memory),
		cmocka_unit_test(zombies_and_exiting_ones_are_gone),
		cmocka_unit_test(text_cut_anywhere_is_refused_or_right),
		cmocka_unit_test(garbage_is_refused),
		cmocka_unit_test(lines_of_status_are_read_and_a_cut_one_does_not_count),
		cmocka_unit_test(lines_of_io_are_read),
		cmocka_unit_test(zeros_of_schedstat_are_not_believed_of_one_that_ran),
		cmocka_unit_test(this_process_is_read_from_proc),
		cmocka_unit_test(a_walk_sees_every_task),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	procfs_close(proc);
	return failed;
}
