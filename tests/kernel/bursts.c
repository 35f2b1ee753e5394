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
#include "base/schedule.h"
#include "collect/bursts/bursts.h"
#include "subject.h"

#define MS UINT64_C(1000000)
/* A fork, before it is real-time, and an exit: 1 ms of work, and as much again is stolen. */
#define START_AND_END_NS (2 * MS)
/* Turns after a process has told its switches: the last, and some that others cut short. */
#define ITS_END 10

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

/* What a child says of itself. It has its CPU before all that are not real-time, so that a stretch
 * without sleep is time on its CPU, to the ns: other load can neither add to it nor take from it.
 * Time that was stolen or spent in interrupts is in it, as in a burst. */
struct told {
	uint64_t burned_ns; /* in burn(): the least that it was busy */
	uint64_t awake_ns;  /* but for the least that it slept: the most */
	uint64_t switches;  /* how often it left its CPU, before its end */
};

/* Not every short rest is a switch: where the host takes the CPU, its timer may ring before the
 * kernel has switched. */
static uint64_t own_switches(void)
{
	struct rusage used;
	getrusage(RUSAGE_SELF, &used);
	return (uint64_t)(used.ru_nvcsw + used.ru_nivcsw);
}

/* A process of this name that burns so often, so long, and rests as long as this each time. */
static pid_t start_child(const char *name, int times, uint64_t burn_ns, uint64_t rest_ns, int *said)
{
	int report[2];
	assert_int_equal(pipe(report), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct told own = { 0 };
		prctl(PR_SET_NAME, name);
		if (!schedule_pin(sched_getcpu()) || !schedule_set_fifo(1))
			_exit(1);
		uint64_t begin = clock_monotonic_ns();
		for (int i = 0; i < times; i++) {
			uint64_t from = clock_monotonic_ns();
			burn(burn_ns);
			own.burned_ns += clock_monotonic_ns() - from;
			rest(rest_ns);
		}
		own.awake_ns = clock_monotonic_ns() - begin - (uint64_t)times * rest_ns;
		own.switches = own_switches();
		_exit(write(report[1], &own, sizeof own) != sizeof own);
	}
	close(report[1]);
	*said = report[0];
	return pid;
}

static void hear(int said, struct told *told)
{
	assert_int_equal(read(said, told, sizeof *told), sizeof *told);
	close(said);
}

static pid_t run_daemon(const char *name, int times, uint64_t ns, struct told *told)
{
	int said, status;
	struct told ignored;
	pid_t pid = start_child(name, times, ns, 40 * MS, &said);
	hear(said, told ? told : &ignored);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
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
	struct told told;
	pid_t pid = run_daemon("burstdaemon", 5, 20 * MS, &told);
	take(&b);
	struct sum s = sum_of(&b, "burstdaemon");
	assert_int_equal(s.processes, 1);
	assert_int_equal(s.last->pid, pid);
	assert_false(s.last->kernel);
	assert_false(s.last->own);
	/* its begin and its end are in it, too */
	assert_in_range(s.busy_ns, told.burned_ns, told.awake_ns + START_AND_END_NS);
	assert_in_range(s.bursts, 5, 12);
	assert_true(s.longest_ns >= 20 * MS);
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
	uint64_t turns = 0, switches;
	int report[2];
	assert_int_equal(pipe(report), 0);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NAME, "flickering");
		for (int i = 0; i < 400; i++)
			rest(MS / 10); /* about 150 us each, with waking up */
		switches = own_switches();
		_exit(write(report[1], &switches, sizeof switches) != sizeof switches);
	}
	assert_int_equal(read(report[0], &switches, sizeof switches), sizeof switches);
	close(report[0]);
	close(report[1]);
	waitpid(pid, NULL, 0);
	take(&b);
	struct sum s = sum_of(&b, "flickering");
	for (size_t i = 0; i < b.bursts.count; i++)
		if (b.processes.items[b.bursts.items[i].process].pid == pid)
			turns += b.bursts.items[i].turns;
	assert_true(switches > 200);
	assert_in_range(turns, switches + 1, switches + ITS_END);
	assert_true(s.bursts > 1 && s.bursts < turns / 4);
	bursts_release(&b);
}

/* Taken again and again while bursts go on, their parts add up to the whole, once. */
static void parts_add_up(void **state)
{
	(void)state;
	struct bursts b;
	struct told told;
	uint64_t busy = 0, turns = 0, end[64] = { 0 };
	int report = 0, status, gone = 0;
	pid_t pid = start_child("inparts", 600, MS / 5, MS / 2, &report);
	while (!gone) {
		gone = waitpid(pid, &status, WNOHANG) == pid;
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
	hear(report, &told);
	assert_in_range(busy, told.burned_ns, told.awake_ns + START_AND_END_NS);
	assert_true(told.switches > 300);
	assert_in_range(turns, told.switches + 1, told.switches + ITS_END);
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
