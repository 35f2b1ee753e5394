/* The plain back end against subjects whose use of CPU is known. Needs nothing. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "subject.h"

static struct trial plain = { .ops = &plain_backend };

static void assert_used(const struct outcome_of *o, unsigned processes)
{
	uint64_t told = o->shared->cpu_ns, exec = o->totals.value[TASK_EXEC];
	assert_true(o->totals.present & 1u << TASK_EXEC);
	assert_true(exec >= told - told / 100);
	assert_true(exec <= told + told / 100 + processes * UINT64_C(5000000));
}

static void family(struct shared *shared)
{
	pid_t child = fork();
	if (child == 0) {
		burn_ms(40);
		done(shared);
	}
	waitpid(child, NULL, 0);
	if (fork() == 0) { /* an orphan: tare will reap it */
		usleep(10000);
		burn_ms(40);
		done(shared);
	}
	done(shared);
}

static void what_was_waited_for_is_counted(void **state)
{
	(void)state;
	struct outcome_of o;
	trial_run(&plain, family, &o);
	assert_int_equal(o.lost, 0);
	assert_int_equal(o.exits.count, 0);
	assert_int_equal(o.totals.processes, 2); /* reaped by tare */
	assert_used(&o, 3);
	assert_int_equal(o.totals.present, USAGE_MEASURES);
	/* the subject is smaller than this test was before its exec: its peak is not known, and not
	 * the test's */
	struct rusage own;
	getrusage(RUSAGE_SELF, &own);
	assert_true(o.totals.rss_peak_bytes == 0 ||
		    o.totals.rss_peak_bytes > (uint64_t)own.ru_maxrss * 1024);
	assert_true(o.totals.value[TASK_MIN_FLT] > 0);
	outcome_release(&o);
}

static void snapshots_flag_the_tree(void **state)
{
	(void)state;
	struct outcome_of o;
	trial_run(&plain, family, &o);
	const struct task_record *self = record_of(&o.before, getpid()),
				 *root = record_of(&o.before, o.root),
				 *init = record_of(&o.before, 1);
	assert_non_null(self);
	assert_non_null(root);
	assert_true(self->flags & TASK_IS_SELF);
	assert_false(self->flags & TASK_IS_SUBJECT);
	assert_true(root->flags & TASK_IS_SUBJECT);
	assert_int_equal(root->ppid, getpid());
	assert_true(task_has(self, TASK_EXEC) && task_has(self, TASK_RCHAR));
	assert_true(!init || !(init->flags & TASK_IS_SUBJECT));
	outcome_release(&o);
}

static void the_living_are_members_and_counted(void **state)
{
	(void)state;
	void *s = plain.state;
	struct error err = ERROR_INIT;
	int ready[2];
	assert_int_equal(pipe(ready), 0);
	pid_t helper = fork(); /* of tare's: not the subject's */
	if (helper == 0)
		for (;;)
			pause();
	plain_backend.arm(s);
	pid_t root = fork();
	if (root == 0) {
		if (fork() == 0) {
			burn_ms(30);
			if (write(ready[1], "r", 1) != 1)
				_exit(1);
			for (;;)
				pause();
		}
		for (;;)
			pause();
	}
	assert_int_equal(plain_backend.adopt(s, root, &err), 0);
	char c;
	assert_int_equal(read(ready[0], &c, 1), 1);
	usleep(10000);
	pid_list alive = { 0 };
	plain_backend.members(s, &alive);
	assert_int_equal(alive.count, 2);
	pid_t child = alive.items[0] == root ? alive.items[1] : alive.items[0];
	struct image exits = { 0 };
	struct totals totals;
	uint64_t lost;
	plain_backend.finish(s, NULL, &exits, &totals, &lost);
	assert_int_equal(totals.processes, 2);
	assert_true(totals.value[TASK_EXEC] >= 29000000);
	kill(child, SIGKILL);
	kill(root, SIGKILL);
	kill(helper, SIGKILL);
	while (wait(NULL) > 0)
		;
	array_release(&alive);
	image_release(&exits);
	close(ready[0]);
	close(ready[1]);
}

static void the_base_is_taken_off(void **state)
{
	(void)state;
	void *s = plain.state;
	struct rusage usage = { .ru_utime = { 0, 30000 }, .ru_stime = { 0, 5000 }, .ru_nvcsw = 3 };
	struct totals base = { .present = USAGE_MEASURES }, totals;
	struct image exits = { 0 };
	uint64_t lost;
	base.value[TASK_EXEC] = 10000000;
	base.value[TASK_NVCSW] = 9;
	plain_backend.arm(s);
	plain_backend.reaped(s, 12345678, &usage);
	plain_backend.finish(s, &base, &exits, &totals, &lost);
	assert_int_equal(totals.value[TASK_EXEC], 25000000);
	assert_int_equal(totals.value[TASK_NVCSW], 0);
	assert_int_equal(totals.value[TASK_USER], 30000000);
	/* nothing reaped, nothing known */
	plain_backend.arm(s);
	plain_backend.finish(s, &base, &exits, &totals, &lost);
	assert_int_equal(totals.present, 0);
	image_release(&exits);
}

int main(void)
{
	struct error err = ERROR_INIT;
	if (plain_backend.open(&plain.state, &err) != 0)
		skip_all(err.text);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_waited_for_is_counted),
		cmocka_unit_test(snapshots_flag_the_tree),
		cmocka_unit_test(the_living_are_members_and_counted),
		cmocka_unit_test(the_base_is_taken_off),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	plain_backend.close(plain.state);
	return failed;
}
