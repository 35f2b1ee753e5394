/* The netlink back end against subjects whose use of CPU is known. Needs root. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "subject.h"

static struct trial netlink = { .ops = &netlink_backend };

/* A trial whose children are only the subject's: whoever else is alive is waited for by it. */
static void run(subject *s, struct outcome_of *o)
{
	trial_run(&netlink, s, o);
}

static size_t subject_exits(const struct outcome_of *o)
{
	size_t count = 0;
	for (size_t i = 0; i < o->exits.count; i++)
		count += (o->exits.tasks[i].flags & TASK_IS_SUBJECT) != 0;
	return count;
}

/* What a process does after it last read its clock, fork and exit, is not in what it told. */
static void assert_used(const struct outcome_of *o, unsigned processes)
{
	uint64_t told = o->shared->cpu_ns, exec = o->totals.value[TASK_EXEC];
	assert_true(o->totals.present & 1u << TASK_EXEC);
	assert_true(exec >= told - told / 100);
	assert_true(exec <= told + told / 100 + processes * UINT64_C(5000000));
}

static void orphan(struct shared *shared)
{
	if (fork() == 0) {
		if (fork() == 0) {
			setsid();
			shared->pid[0] = getpid();
			burn_ms(50);
			done(shared);
		}
		done(shared);
	}
	done(shared); /* without waiting */
}

static void orphans_are_counted(void **state)
{
	(void)state;
	struct outcome_of o;
	run(orphan, &o);
	assert_int_equal(o.lost, 0);
	assert_int_equal(o.totals.processes, 3);
	assert_int_equal(o.totals.threads, 3);
	assert_int_equal(subject_exits(&o), 3);
	assert_used(&o, 3);
	const struct task_record *t = record_of(&o.exits, o.shared->pid[0]);
	assert_non_null(t);
	assert_true(t->flags & TASK_HAS_EXITED && t->flags & TASK_IS_LEADER);
	assert_true(t->value[TASK_EXEC] >= 49500000 && t->value[TASK_EXEC] <= 60000000);
	assert_true(t->at_ns > o.released_ns && t->at_ns < o.exits.end_ns);
	outcome_release(&o);
}

/* Reaped by the kernel itself: in no rusage at all. */
static void unwaited(struct shared *shared)
{
	signal(SIGCHLD, SIG_IGN);
	pid_t child = fork();
	if (child == 0) {
		burn_ms(50);
		done(shared);
	}
	while (kill(child, 0) == 0)
		usleep(1000);
	done(shared);
}

static void children_nobody_waits_for_are_counted(void **state)
{
	(void)state;
	struct outcome_of o;
	run(unwaited, &o);
	assert_int_equal(o.lost, 0);
	assert_int_equal(o.totals.processes, 2);
	assert_used(&o, 2);
	assert_true(o.usage_ns < o.totals.value[TASK_EXEC]);
	outcome_release(&o);
}

static void many(struct shared *shared)
{
	for (int i = 0; i < 200; i++) {
		pid_t child = fork();
		if (child == 0)
			done(shared);
		waitpid(child, NULL, 0);
	}
	done(shared);
}

static void short_children_are_counted(void **state)
{
	(void)state;
	struct outcome_of o;
	run(many, &o);
	assert_int_equal(o.lost, 0);
	assert_int_equal(o.totals.processes, 201);
	assert_int_equal(subject_exits(&o), 201);
	assert_true(o.totals.value[TASK_EXEC] + o.base.value[TASK_EXEC] >= o.usage_ns);
	assert_true(o.totals.value[TASK_EXEC] >= o.shared->cpu_ns - o.shared->cpu_ns / 100);
	assert_true(o.totals.present & 1u << TASK_USER && o.totals.present & 1u << TASK_WCHAR);
	outcome_release(&o);
}

/* Children that never make the kernel bring their time up to date, as most programs. */
static void unclocked(struct shared *shared)
{
	(void)shared;
	for (int i = 0; i < 30; i++) {
		pid_t child = fork();
		if (child == 0) {
			for (volatile long k = 0; k < 2000000; k++)
				;
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

/* Their taskstats records lack what they used since the last tick; the total must not. */
static void the_last_turn_is_counted(void **state)
{
	(void)state;
	struct outcome_of o;
	run(unclocked, &o);
	assert_int_equal(o.lost, 0);
	assert_int_equal(o.totals.processes, 31);
	assert_true(o.totals.value[TASK_EXEC] + o.base.value[TASK_EXEC] >= o.usage_ns);
	outcome_release(&o);
}

static void *thread_burns(void *ignored)
{
	struct timespec t;
	(void)ignored;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_sec == 0 && t.tv_nsec < 20000000);
	return NULL;
}

static void threaded(struct shared *shared)
{
	pthread_t thread[8];
	for (int i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, thread_burns, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
	done(shared);
}

static void threads_are_counted(void **state)
{
	(void)state;
	struct outcome_of o;
	run(threaded, &o);
	assert_int_equal(o.lost, 0);
	assert_int_equal(o.totals.processes, 1);
	assert_int_equal(o.totals.threads, 9);
	assert_int_equal(subject_exits(&o), 9);
	assert_true(o.totals.value[TASK_EXEC] >= 160000000);
	assert_used(&o, 1);
	outcome_release(&o);
}

static void *thread_execs(void *ignored)
{
	(void)ignored;
	execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
	_exit(1);
}

static void exec_by_a_thread(struct shared *shared)
{
	(void)shared;
	pthread_t thread;
	pthread_create(&thread, NULL, thread_execs, NULL);
	for (;;)
		pause();
}

static void an_exec_by_a_thread_is_followed(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		struct outcome_of o;
		run(exec_by_a_thread, &o);
		assert_int_equal(o.lost, 0);
		assert_int_equal(o.totals.processes, 1);
		assert_int_equal(o.totals.threads, 2);
		assert_true(o.root_end_ns > o.released_ns && o.root_end_ns < o.reaped_ns + 5000000);
		assert_int_equal(subject_exits(&o), 2);
		outcome_release(&o);
	}
}

static void the_end_of_the_root_is_timed(void **state)
{
	(void)state;
	struct outcome_of o;
	run(orphan, &o);
	assert_true(o.root_end_ns > o.released_ns);
	assert_true(o.root_end_ns < o.reaped_ns + 5000000);
	/* the orphan ended later, and that is not the root's end */
	const struct task_record *t = record_of(&o.exits, o.shared->pid[0]);
	assert_true(o.root_end_ns < t->at_ns);
	outcome_release(&o);
}

static void stays(struct shared *shared)
{
	pid_t child = fork();
	if (child == 0) {
		burn_ms(30);
		shared->pid[1] = 1;
		for (;;)
			pause();
	}
	shared->pid[0] = child;
	while (!shared->pid[1])
		usleep(1000);
	_exit(0);
}

static void the_living_are_members_and_counted(void **state)
{
	(void)state;
	void *s = netlink.state;
	struct error err = ERROR_INIT;
	struct outcome_of o;
	pid_list alive = { 0 };
	/* by hand: the subject leaves a process that does not end */
	trial_run(&netlink, many, &o);
	netlink_backend.arm(s);
	pid_t root = fork();
	if (root == 0) {
		usleep(20000);
		stays(o.shared);
	}
	assert_int_equal(netlink_backend.adopt(s, root, &err), 0);
	waitpid(root, NULL, 0);
	netlink_backend.members(s, &alive);
	assert_int_equal(alive.count, 1);
	assert_int_equal(alive.items[0], o.shared->pid[0]);
	struct totals totals;
	uint64_t lost;
	netlink_backend.finish(s, NULL, &o.exits, &totals, &lost);
	assert_int_equal(lost, 0);
	assert_int_equal(totals.processes, 2);
	assert_true(totals.value[TASK_EXEC] >= 25000000); /* a sleeper's count is up to date */
	assert_int_equal(netlink_backend.snapshot(s, &o.after, &err), 0);
	const struct task_record *left = record_of(&o.after, alive.items[0]);
	assert_non_null(left);
	assert_true(left->flags & TASK_IS_SUBJECT);
	kill(alive.items[0], SIGKILL);
	waitpid(alive.items[0], NULL, 0);
	array_release(&alive);
	outcome_release(&o);
}

static void a_root_is_counted_as_a_zombie_and_refused_when_gone(void **state)
{
	(void)state;
	void *s = netlink.state;
	struct error err = ERROR_INIT;
	struct image exits = { 0 };
	struct totals totals;
	uint64_t lost;
	netlink_backend.arm(s);
	pid_t root = fork();
	if (root == 0)
		_exit(0);
	usleep(20000); /* a zombie by now, its events read after it is adopted */
	assert_int_equal(netlink_backend.adopt(s, root, &err), 0);
	waitpid(root, NULL, 0);
	assert_true(netlink_backend.root_end_ns(s) > 0);
	netlink_backend.finish(s, NULL, &exits, &totals, &lost);
	assert_int_equal(lost, 0);
	assert_int_equal(totals.processes, 1);

	netlink_backend.arm(s);
	assert_int_equal(netlink_backend.adopt(s, root, &err), -1);
	assert_non_null(strstr(err.text, "gone"));
	netlink_backend.finish(s, NULL, &exits, &totals, &lost);
	assert_int_equal(totals.processes, 0);
	image_release(&exits);
}

struct neighbour {
	pid_t pid;
	int gate;
};

static struct neighbour neighbour_start(void)
{
	int ends[2], ready[2];
	char c;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pipe(ready), 0);
	struct neighbour n = { .gate = ends[1] };
	n.pid = fork();
	if (n.pid == 0) {
		close(ends[1]);
		burn_ms(20);
		close(ready[0]);
		close(ready[1]);
		if (read(ends[0], &c, 1) < 0)
			_exit(1);
		burn_ms(20);
		_exit(0);
	}
	close(ends[0]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 0); /* it has burnt its first part */
	close(ready[0]);
	return n;
}

static void neighbour_end(void *of)
{
	struct neighbour *n = of;
	close(n->gate);
}

/* A process that was there before and ends meanwhile: one task with two records, not the
 * subject's. */
static void neighbours_are_told_apart(void **state)
{
	(void)state;
	struct neighbour n = neighbour_start();
	struct outcome_of o;
	struct trial trial = netlink;
	trial.meanwhile = neighbour_end;
	trial.of = &n;
	trial_run(&trial, threaded, &o);
	const struct task_record *before = record_of(&o.before, n.pid),
				 *end = record_of(&o.exits, n.pid);
	assert_non_null(before);
	assert_non_null(end);
	assert_false(end->flags & TASK_IS_SUBJECT);
	assert_int_equal(before->start_ns, end->start_ns);
	assert_true(end->value[TASK_EXEC] - before->value[TASK_EXEC] >= 19000000);
	assert_true(before->value[TASK_EXEC] >= 15000000);
	assert_int_equal(o.totals.processes, 1);
	assert_null(record_of(&o.after, n.pid));
	outcome_release(&o);
}

/* Exits between arm and the first snapshot are of no execution. */
static void earlier_exits_are_left_out(void **state)
{
	(void)state;
	void *s = netlink.state;
	struct error err = ERROR_INIT;
	struct image image = { 0 }, exits = { 0 };
	struct totals totals;
	uint64_t lost;
	netlink_backend.arm(s);
	pid_t early = fork();
	if (early == 0)
		_exit(0);
	waitpid(early, NULL, 0);
	assert_int_equal(netlink_backend.snapshot(s, &image, &err), 0);
	pid_t late = fork();
	if (late == 0)
		_exit(0);
	waitpid(late, NULL, 0);
	netlink_backend.drain(s);
	netlink_backend.finish(s, NULL, &exits, &totals, &lost);
	assert_null(record_of(&exits, early));
	assert_non_null(record_of(&exits, late));
	image_release(&image);
	image_release(&exits);
}

static void lost_events_are_counted(void **state)
{
	(void)state;
	struct outcome_of o;
	struct trial trial = netlink;
	trial.lazy = true;
	netlink_set_buffers(trial.state, 2304);
	trial_run(&trial, many, &o);
	netlink_set_buffers(trial.state, 32 << 20);
	assert_true(o.lost > 0);
	/* the sum is wait4()'s then, and what that does not tell is absent */
	assert_true(o.totals.value[TASK_EXEC] + o.base.value[TASK_EXEC] >= o.usage_ns);
	assert_true(o.totals.present & 1u << TASK_EXEC);
	assert_false(o.totals.present & (1u << TASK_WCHAR | 1u << TASK_USER));
	outcome_release(&o);
	/* and the next one is sound again */
	run(orphan, &o);
	assert_int_equal(o.lost, 0);
	assert_int_equal(o.totals.processes, 3);
	outcome_release(&o);
}

static void snapshots_hold_every_task_and_measure(void **state)
{
	(void)state;
	struct outcome_of o;
	run(many, &o);
	const struct task_record *self = record_of(&o.before, getpid()),
				 *root = record_of(&o.before, o.root),
				 *init = record_of(&o.before, 1);
	assert_non_null(self);
	assert_non_null(root);
	assert_non_null(init);
	assert_int_equal(self->flags, TASK_IS_SELF | TASK_IS_LEADER);
	assert_int_equal(root->flags, TASK_IS_SUBJECT | TASK_IS_LEADER);
	assert_int_equal(root->ppid, getpid());
	assert_int_equal(root->start_ns, record_of(&o.exits, o.root)->start_ns);
	uint64_t all = (1u << TASK_MEASURES) - 1;
	/* block delay only with delay accounting, counts of calls never (taskstats.c) */
	assert_int_equal(
		self->present | 1u << TASK_BLKIO_DELAY | 1u << TASK_SYSCR | 1u << TASK_SYSCW, all);
	assert_false(task_has(self, TASK_SYSCR) || task_has(self, TASK_SYSCW));
	assert_true(self->value[TASK_RSS_PEAK] >= 500000);
	assert_true(init->value[TASK_EXEC] > 0);
	outcome_release(&o);
}

int main(void)
{
	struct error err = ERROR_INIT;
	if (netlink_backend.open(&netlink.state, &err) != 0)
		skip_all(err.text);
	if (netlink_backend.explain(netlink.state) != netlink_backend.not_seen)
		skip_all("this kernel has no process connector");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orphans_are_counted),
		cmocka_unit_test(children_nobody_waits_for_are_counted),
		cmocka_unit_test(short_children_are_counted),
		cmocka_unit_test(the_last_turn_is_counted),
		cmocka_unit_test(threads_are_counted),
		cmocka_unit_test(an_exec_by_a_thread_is_followed),
		cmocka_unit_test(the_end_of_the_root_is_timed),
		cmocka_unit_test(the_living_are_members_and_counted),
		cmocka_unit_test(a_root_is_counted_as_a_zombie_and_refused_when_gone),
		cmocka_unit_test(neighbours_are_told_apart),
		cmocka_unit_test(earlier_exits_are_left_out),
		cmocka_unit_test(lost_events_are_counted),
		cmocka_unit_test(snapshots_hold_every_task_and_measure),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	netlink_backend.close(netlink.state);
	return failed;
}
