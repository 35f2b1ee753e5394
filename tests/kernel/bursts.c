/* The bursts of processes on the live kernel: who ran, when, for how long, merged and none lost.
 * Needs root, or CAP_BPF and CAP_PERFMON. */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "collect/bursts/bursts.h"
#include "subject.h"

#define MS UINT64_C(1000000)

static struct burst_collector *collector;
static struct error err;

static int set_up(void **state)
{
	(void)state;
	if (burst_collector_open(&collector, &err))
		skip_all(err.text);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	burst_collector_close(collector);
	collector = NULL;
	return 0;
}

static void burn(uint64_t ns)
{
	uint64_t until = clock_cpu_ns() + ns;
	while (clock_cpu_ns() < until)
		;
}

static void rest(uint64_t ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = (long)ns }, NULL);
}

/* A process of this name that burns so often, so long; what it used in all. */
static pid_t run_daemon(const char *name, int times, uint64_t ns, uint64_t *used)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_NAME, name);
		for (int i = 0; i < times; i++) {
			burn(ns);
			rest(40 * MS);
		}
		_exit(0);
	}
	int status;
	struct rusage usage;
	assert_int_equal(wait4(pid, &status, 0, &usage), pid);
	assert_int_equal(status, 0);
	if (used)
		*used = (uint64_t)times * ns;
	return pid;
}

static void take(struct bursts *b)
{
	*b = (struct bursts){ 0 };
	burst_collector_take(collector, BURSTS_ALL, b);
	assert_true(b->begin_ns < b->end_ns);
	assert_int_equal(b->lost, 0);
	for (size_t i = 0; i < b->bursts.count; i++) {
		const struct burst *x = &b->bursts.items[i];
		assert_true(x->process < b->processes.count);
		assert_true(x->cpu < b->cpus);
		assert_true(x->busy_ns <= x->span_ns);
		assert_true(x->turns > 0);
		assert_true(i == 0 || x[-1].begin_ns <= x->begin_ns);
		assert_true(x->begin_ns + x->span_ns <= clock_monotonic_ns());
	}
}

struct sum {
	uint64_t busy_ns, longest_ns;
	size_t bursts, processes;
	const struct burst_process *last;
};

static struct sum sum_of(const struct bursts *b, const char *name)
{
	struct sum s = { 0 };
	for (size_t p = 0; p < b->processes.count; p++) {
		if (strcmp(b->processes.items[p].name, name) != 0)
			continue;
		s.last = &b->processes.items[p];
		s.processes++;
		for (size_t i = 0; i < b->bursts.count; i++) {
			const struct burst *x = &b->bursts.items[i];
			if (x->process != p)
				continue;
			s.bursts++;
			s.busy_ns += x->busy_ns;
			if (x->busy_ns > s.longest_ns)
				s.longest_ns = x->busy_ns;
		}
	}
	return s;
}

static void a_daemon_is_seen(void **state)
{
	(void)state;
	struct bursts b;
	uint64_t used;
	pid_t pid = run_daemon("burstdaemon", 5, 20 * MS, &used);
	take(&b);
	struct sum s = sum_of(&b, "burstdaemon");
	assert_int_equal(s.processes, 1);
	assert_int_equal(s.last->pid, pid);
	assert_false(s.last->kernel);
	assert_false(s.last->own);
	/* time stolen or spent in interrupts meanwhile is in it */
	assert_in_range(s.busy_ns, used * 95 / 100, used * 2 + 50 * MS);
	assert_true(s.bursts >= 5);
	assert_true(s.longest_ns >= 5 * MS);
	bursts_release(&b);
	/* what was taken does not come again */
	take(&b);
	assert_int_equal(sum_of(&b, "burstdaemon").processes, 0);
	bursts_release(&b);
}

static void turns_are_merged(void **state)
{
	(void)state;
	struct bursts b;
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NAME, "flickering");
		for (int i = 0; i < 400; i++)
			rest(MS / 10); /* about 150 us each, with waking up */
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	take(&b);
	struct sum s = sum_of(&b, "flickering");
	uint64_t turns = 0;
	for (size_t i = 0; i < b.bursts.count; i++)
		if (b.processes.items[b.bursts.items[i].process].pid == pid)
			turns += b.bursts.items[i].turns;
	assert_true(turns >= 400);
	assert_true(s.bursts > 1 && s.bursts < turns / 4);
	bursts_release(&b);
}

/* Taken again and again while bursts go on, their parts add up to the whole, once. */
static void parts_add_up(void **state)
{
	(void)state;
	struct bursts b;
	uint64_t busy = 0, turns = 0, end[64] = { 0 };
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_NAME, "inparts");
		for (int i = 0; i < 600; i++) {
			burn(MS / 5);
			rest(MS / 2);
		}
		_exit(0);
	}
	int status, gone = 0;
	struct rusage usage;
	while (!gone) {
		gone = wait4(pid, &status, WNOHANG, &usage) == pid;
		rest(3 * MS);
		take(&b);
		for (size_t i = 0; i < b.bursts.count; i++) {
			const struct burst *x = &b.bursts.items[i];
			if (b.processes.items[x->process].pid != pid || x->cpu >= 64)
				continue;
			assert_true(x->begin_ns >= end[x->cpu]); /* on one CPU none overlap */
			end[x->cpu] = x->begin_ns + x->span_ns;
			busy += x->busy_ns;
			turns += x->turns;
		}
		bursts_release(&b);
	}
	uint64_t used = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 * MS +
			(uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
	/* time stolen or spent in interrupts meanwhile is in it; the switch to it, some 10 us with
	 * cold caches, is not */
	assert_in_range(busy, used * 80 / 100, used * 3 / 2 + 20 * MS);
	assert_in_range(turns, 600, 600 * 3);
}

static void short_lives_are_seen(void **state)
{
	(void)state;
	struct bursts b;
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			prctl(PR_SET_NAME, "shortlived");
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	take(&b);
	assert_int_equal(sum_of(&b, "shortlived").processes, 200);
	bursts_release(&b);
}

static void tares_own_are_marked(void **state)
{
	(void)state;
	struct bursts b;
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NAME, "tare");
		run_daemon("itssubject", 1, 20 * MS, NULL);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	take(&b);
	struct sum s = sum_of(&b, "itssubject");
	assert_int_equal(s.processes, 1);
	assert_true(s.last->own);
	assert_true(sum_of(&b, "tare").last->own);
	bursts_release(&b);
}

static void kernel_threads_are_seen(void **state)
{
	(void)state;
	struct bursts b;
	size_t kernel = 0;
	for (int i = 0; i < 20 && !kernel; i++) {
		rest(100 * MS);
		take(&b);
		for (size_t p = 0; p < b.processes.count; p++)
			kernel += b.processes.items[p].kernel;
		bursts_release(&b);
	}
	assert_true(kernel > 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_daemon_is_seen),	       TEST(turns_are_merged),
		TEST(short_lives_are_seen),    TEST(tares_own_are_marked),
		TEST(kernel_threads_are_seen), TEST(parts_add_up),
	};
	return cmocka_run_group_tests_name("bursts", tests, NULL, NULL);
}
