/* One execution through each back end on the live kernel, against what the subject says of itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "measure/execute.h"

static const char *burn;
static char log_path[64];
static struct collector *collector;
static struct execution x;

static int begin(void **state)
{
	enum backend backend = *(enum backend *)*state;
	struct error err = ERROR_INIT;
	if (collector_open(&collector, backend, &err)) {
		fprintf(stderr, "%s: %s\n", backend_name(backend), err.text);
		return -1;
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	collector_close(collector);
	collector = NULL;
	execution_release(&x);
	return 0;
}

static void run_program(struct execute_options *options, char *const *argv)
{
	struct error err = ERROR_INIT;
	struct launch launch = { .iteration = -1 };
	struct launcher *l;
	struct execute_options plain = { .grace_ns = 2000000000u };
	assert_int_equal(launcher_new(&l, &launch, &err), 0);
	if (execute(collector, l, &launch, argv, options ? options : &plain, &x, &err))
		fail_msg("%s (%s)", err.text, err.hint);
	launcher_free(l);
}

/* Runs `burn` with these arguments; the CPU time it claims, 0 when it claims none. */
static uint64_t run_burn(struct execute_options *options, const char *a, const char *b,
			 const char *c)
{
	char *argv[] = { (char *)burn, (char *)a, (char *)b, (char *)c, NULL };
	unlink(log_path);
	run_program(options, argv);
	char *text = file_read(log_path);
	uint64_t claimed = text ? strtoull(text, NULL, 10) : 0;
	free(text);
	return claimed;
}

static void assert_near(uint64_t measured, uint64_t truth, double share)
{
	double ratio = (double)measured / (double)truth;
	if (ratio < 1 - share || ratio > 1 + share)
		fail_msg("measured %llu ns, true %llu ns", (unsigned long long)measured,
			 (unsigned long long)truth);
}

static bool is(enum backend backend)
{
	return collector_backend(collector) == backend;
}

static void a_loop_uses_the_cpu_time_that_it_says(void **state)
{
	(void)state;
	uint64_t truth = run_burn(NULL, "loop", "100ms", NULL);
	assert_near(x.pt_ns[GRADE_EXEC], truth, 0.02);
	assert_true(x.et_ns >= truth - 5000000);
	assert_true(x.wait_ns >= x.et_ns && x.tree_ns >= x.et_ns);
	assert_int_equal(x.outcome, OUTCOME_EXITED);
	assert_int_equal(x.status, 0);
	assert_int_equal(x.totals.processes, 1);
	assert_int_equal(x.left_behind, 0);
	assert_int_equal(x.lost, 0);
	assert_true(x.self_ns < x.et_ns / 10);
	/* sampled: on a busy machine it may be far off, but it is there */
	if (is(BACKEND_PLAIN))
		assert_true(x.pt_ns[GRADE_TICK] == ABSENT_NS);
	else
		assert_true(x.pt_ns[GRADE_TICK] != ABSENT_NS);
}

/* A program shorter than its own start-up: what tare's child used before the exec must not be in
 * it. */
static void the_cpu_time_of_a_very_short_program_is_its_own_alone(void **state)
{
	(void)state;
	char *argv[] = { (char *)"true", NULL };
	size_t more = 0, apart = 0;
	for (int i = 0; i < 40; i++) {
		run_program(NULL, argv);
		uint64_t pt = x.pt_ns[GRADE_EXEC];
		const struct process *p = &x.processes.items[0];
		assert_int_equal(p->role, ROLE_SUBJECT);
		more += pt > x.et_ns + 20000; /* one thread cannot use more than passed */
		apart += p->value[TASK_EXEC] > pt + 20000 || pt > p->value[TASK_EXEC] + 20000;
	}
	/* were it in, it would be in all of them; some the host disturbs */
	assert_true(more <= 20);
	if (!is(BACKEND_NETLINK)) /* whose exit records lack the last turn on the CPU */
		assert_true(apart <= 20);
}

static void an_orphan_is_counted_with_its_parent(void **state)
{
	(void)state;
	uint64_t truth = run_burn(NULL, "orphan", "60ms", NULL);
	assert_near(x.pt_ns[GRADE_EXEC], truth, 0.03);
	assert_int_equal(x.left_behind, 1);
	assert_int_equal(x.ended, 0);
	assert_true(x.et_ns < 50000000);
	assert_int_equal(x.totals.processes, 2);
}

static void a_daemon_made_by_the_subject_is_counted(void **state)
{
	(void)state;
	uint64_t truth = run_burn(NULL, "daemon", "60ms", NULL);
	assert_near(x.pt_ns[GRADE_EXEC], truth, 0.04);
	assert_true(x.left_behind >= 1);
	if (is(BACKEND_BPF)) {
		assert_int_equal(x.totals.processes, 3);
		assert_true(x.tree_ns >= 60000000);
	}
}

static void threads_are_counted_and_their_time_added(void **state)
{
	(void)state;
	uint64_t truth = run_burn(NULL, "threads", "8", "10ms");
	assert_near(x.pt_ns[GRADE_EXEC], truth, 0.02);
	if (!is(BACKEND_PLAIN))
		assert_int_equal(x.totals.threads, 9);
	assert_int_equal(x.totals.processes, 1);
}

static void every_forked_child_is_counted(void **state)
{
	(void)state;
	uint64_t truth = run_burn(NULL, "forks", "200", "1ms");
	assert_near(x.pt_ns[GRADE_EXEC], truth, 0.02);
	if (!is(BACKEND_PLAIN)) {
		assert_int_equal(x.totals.processes, 201);
		size_t subjects = 0;
		for (size_t i = 0; i < x.exits.count; i++)
			subjects += x.exits.tasks[i].flags & TASK_IS_SUBJECT ? 1 : 0;
		assert_int_equal(subjects, 201);
	}
	assert_int_equal(x.lost, 0);
}

static void an_exec_by_a_thread_stays_one_process(void **state)
{
	(void)state;
	uint64_t truth = run_burn(NULL, "exec", "60ms", NULL);
	assert_near(x.pt_ns[GRADE_EXEC], truth, 0.03);
	assert_true(x.et_ns >= 50000000);
	assert_int_equal(x.totals.processes, 1);
}

static void a_program_over_its_time_limit_is_ended(void **state)
{
	(void)state;
	struct execute_options options = { .time_limit_ns = 100000000, .grace_ns = 1000000000 };
	uint64_t begun = clock_monotonic_ns();
	run_burn(&options, "loop", "20s", NULL);
	assert_int_equal(x.outcome, OUTCOME_TIMED_OUT);
	assert_true(clock_monotonic_ns() - begun < 5000000000u);
}

static void left_processes_are_ended(void **state)
{
	(void)state;
	struct execute_options options = { .grace_ns = 20000000 };
	run_burn(&options, "daemon", "20s", NULL);
	/* the one between may still be there */
	assert_in_range(x.left_behind, 1, 2);
	assert_in_range(x.ended, 1, 2);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nothing is left, not even a zombie */
}

/* A process outside the subject that runs meanwhile is seen, with what it used. */
static void daemons_are_seen(void **state)
{
	(void)state;
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NAME, "noisy-daemon");
		uint64_t until = clock_monotonic_ns() + 5000000000u;
		while (clock_monotonic_ns() < until)
			;
		_exit(0);
	}
	usleep(50000);
	run_burn(NULL, "loop", "200ms", NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	const struct process *found = NULL;
	for (size_t i = 0; i < x.processes.count; i++)
		if (x.processes.items[i].pid == pid)
			found = &x.processes.items[i];
	assert_non_null(found);
	assert_string_equal(found->name, "noisy-daemon");
	assert_int_equal(found->role, ROLE_DAEMON);
	/* a CPU to itself, on a quiet machine; a small part of one on a busy one */
	assert_true(found->value[TASK_EXEC] > x.et_ns / 50);
	assert_true(found->value[TASK_EXEC] < x.et_ns * 3 / 2);
	assert_int_equal(x.processes.items[0].role, ROLE_SUBJECT);
	assert_string_equal(x.processes.items[0].name, "burn");
}

/* Processes of others that live and die within the execution are in no snapshot: only their exits
 * tell. */
static void short_lives_are_seen(void **state)
{
	(void)state;
	pid_t pid = fork();
	if (pid == 0) {
		for (;;) {
			pid_t child = fork();
			if (child == 0)
				_exit(0);
			waitpid(child, NULL, 0);
			usleep(2000);
		}
	}
	usleep(20000);
	run_burn(NULL, "loop", "100ms", NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	size_t seen = 0;
	for (size_t i = 0; i < x.exits.count; i++)
		seen += x.exits.tasks[i].ppid == pid;
	uint64_t forks = x.after.value[OVERALL_FORKS] - x.before.value[OVERALL_FORKS];
	assert_true(forks >= 5);
	if (is(BACKEND_PLAIN)) {
		assert_true(x.ephemeral >= 5); /* and it is known that they were missed */
	} else {
		assert_true(seen >= 5);
		assert_in_range(x.ephemeral, 0, 2); /* one may be born as the last image is taken */
	}
}

static void snapshot_holds_every_task(void **state)
{
	(void)state;
	struct image image = { 0 };
	struct error err = ERROR_INIT;
	assert_int_equal(collector_snapshot(collector, &image, &err), 0);
	bool self = false;
	for (size_t i = 0; i < image.count; i++) {
		const struct task_record *t = &image.tasks[i];
		assert_true(t->tid > 0 && t->tgid > 0);
		if (t->tgid == getpid() && t->tid == getpid()) {
			self = true;
			assert_true(t->flags & TASK_IS_SELF && t->flags & TASK_IS_LEADER);
			assert_int_equal(t->ppid, getppid());
			assert_true(task_has(t, TASK_EXEC) && t->value[TASK_EXEC] > 0);
			assert_true(task_has(t, TASK_RSS) && t->value[TASK_RSS] > 500000);
			assert_true(t->value[TASK_RSS] < 1u << 30);
			uint64_t now = clock_boottime_ns();
			assert_true(t->start_ns < now && now - t->start_ns < 900000000000u);
		}
	}
	assert_true(self);
	image_release(&image);
}

static int run_group(enum backend backend)
{
	static enum backend chosen;
	chosen = backend;
	char name[32];
	snprintf(name, sizeof name, "execute-%s", backend_name(backend));
#define TEST(function)                                   \
	{                                                \
#function, function, begin, end, &chosen \
	}
	const struct CMUnitTest tests[] = {
		TEST(a_loop_uses_the_cpu_time_that_it_says),
		TEST(the_cpu_time_of_a_very_short_program_is_its_own_alone),
		TEST(an_orphan_is_counted_with_its_parent),
		TEST(a_daemon_made_by_the_subject_is_counted),
		TEST(threads_are_counted_and_their_time_added),
		TEST(every_forked_child_is_counted),
		TEST(an_exec_by_a_thread_stays_one_process),
		TEST(a_program_over_its_time_limit_is_ended),
		TEST(left_processes_are_ended),
		TEST(daemons_are_seen),
		TEST(short_lives_are_seen),
		TEST(snapshot_holds_every_task),
	};
	return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

int main(int argc, char **argv)
{
	enum backend backend = BACKEND_PLAIN;
	if (argc < 3)
		return 2;
	burn = argv[1];
	while (backend < BACKENDS && strcmp(argv[2], backend_name(backend)) != 0)
		backend++;
	bool built, usable;
	char why[256];
	collector_probe(backend, &built, &usable, why);
	if (!usable) {
		const char *require = getenv("TARE_TEST_REQUIRE");
		printf("back end %s cannot be used here: %s\n", argv[2], why);
		return require && *require == '1' ? 1 : 77;
	}
	snprintf(log_path, sizeof log_path, "/tmp/tare-burn.%d", (int)getpid());
	setenv("BURN_LOG", log_path, 1);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	interrupt_watch();
	int failed = run_group(backend);
	unlink(log_path);
	return failed;
}
