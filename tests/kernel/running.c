/* A subject that runs already: its records are flagged, and its ledger adds up from arming to
 * disarming. Needs root, or CAP_BPF and CAP_PERFMON; what is for other back ends needs what they
 * need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "closure.h"
#include "measure/execute.h"
#include "subject.h"

enum { BLOCK = 65536, BLOCKS = 32, BURN_MS = 60 };
#define MS UINT64_C(1000000)

/* A process that does what it is told, a letter at a time:
 *   w  its second thread works: burns, reads past the page cache
 *   f  forks a process that burns
 *   n  nothing
 * Its first thread burns meanwhile if it is busy. Each letter is answered when it is done. */
struct servant {
	pid_t pid;
	int orders, answers;
	struct told *told;
};
struct told {
	_Atomic pid_t thread, forked;
	_Atomic uint64_t cpu_ns; /* of the thread, or of the process that was forked */
	_Atomic int busy;
};

static char path[64], programs[4096];
static struct collector *collector;
static struct execution x;
static struct servant servant;

static uint64_t thread_cpu_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void burn_thread(uint64_t ns)
{
	uint64_t until = thread_cpu_ns() + ns;
	while (thread_cpu_ns() < until)
		;
}

/* Gives the calling thread its CPU before all that are not real-time, or no longer. The kernel
 * dates each switch a little earlier for a thread's CPU time than the ledger sees it: with many
 * switches, and a host that steals the time between, the two would differ by more than a test
 * allows. */
static void undisturbed(bool on)
{
	struct sched_param p = { .sched_priority = on };
	if (sched_setscheduler(0, on ? SCHED_FIFO : SCHED_OTHER, &p))
		abort();
}

static void read_past_cache(void)
{
	char *block = aligned_alloc(4096, BLOCK);
	int fd = open(path, O_RDONLY | O_DIRECT);
	while (block && fd >= 0 && read(fd, block, BLOCK) == BLOCK)
		;
	if (fd >= 0)
		close(fd);
	free(block);
}

static uint64_t ns_of(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static void fork_one(struct told *told)
{
	pid_t pid = fork();
	if (pid == 0) {
		burn_thread(20 * MS);
		_exit(0);
	}
	told->forked = pid;
	struct rusage used;
	wait4(pid, NULL, 0, &used);
	told->cpu_ns = ns_of(used.ru_utime) + ns_of(used.ru_stime);
}

struct post {
	int orders, answers;
	struct told *told;
};

static void *serve(void *of)
{
	const struct post *p = of;
	char order;
	p->told->thread = (pid_t)syscall(SYS_gettid);
	for (;;) {
		if (write(p->answers, "r", 1) != 1 || read(p->orders, &order, 1) != 1)
			_exit(0);
		uint64_t before = thread_cpu_ns();
		if (order == 'w') {
			undisturbed(true);
			burn_thread(BURN_MS * MS);
			read_past_cache();
			p->told->cpu_ns = thread_cpu_ns() - before;
			undisturbed(false);
		} else if (order == 'f') {
			fork_one(p->told);
		}
	}
	return NULL;
}

static void start_servant(struct servant *s, bool busy)
{
	int orders[2], answers[2];
	s->told = mmap(NULL, sizeof *s->told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	assert_true(s->told != MAP_FAILED);
	s->told->busy = busy;
	assert_int_equal(pipe(orders), 0);
	assert_int_equal(pipe(answers), 0);
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (s->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		struct post post = { orders[0], answers[1], s->told };
		pthread_t thread;
		pthread_create(&thread, NULL, serve, &post);
		while (s->told->busy)
			;
		pthread_join(thread, NULL);
		_exit(0);
	}
	close(orders[0]);
	close(answers[1]);
	s->orders = orders[1];
	s->answers = answers[0];
	char ready;
	assert_int_equal(read(s->answers, &ready, 1), 1);
	usleep(20000); /* until it sleeps */
}

static void order(const struct servant *s, char what)
{
	char ready;
	assert_int_equal(write(s->orders, &what, 1), 1);
	assert_int_equal(read(s->answers, &ready, 1), 1);
	usleep(20000);
}

static void end_servant(struct servant *s)
{
	close(s->orders);
	close(s->answers);
	s->told->busy = 0;
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	munmap(s->told, sizeof *s->told);
}

static int give_servant(void **state)
{
	(void)state;
	start_servant(&servant, false);
	return 0;
}

static int give_busy_servant(void **state)
{
	(void)state;
	start_servant(&servant, true);
	return 0;
}

static int take_servant(void **state)
{
	(void)state;
	end_servant(&servant);
	return 0;
}

/* ---- around one execution ---- */

static void arm(struct collector *c, const struct collector_running *who)
{
	struct error err = ERROR_INIT;
	if (collector_arm_running(c, who, &err) || collector_snapshot(c, &x.tasks_before, &err))
		fail_msg("%s", err.text);
}

static void finish(struct collector *c)
{
	struct error err = ERROR_INIT;
	collector_disarm(c);
	collector_finish(c, NULL, &x.exits, &x.totals, &x.lost);
	ledger_clear(&x.ledger);
	collector_take_ledger(c, &x.ledger, &x.trace);
	assert_int_equal(collector_snapshot(c, &x.tasks_after, &err), 0);
	assert_int_equal(x.totals.present, 0);
	assert_int_equal(x.totals.threads, 0);
}

static bool is_subject(const struct image *image, pid_t tid)
{
	const struct task_record *t = record_of(image, tid);
	assert_non_null(t);
	bool is = t->flags & TASK_IS_SUBJECT;
	assert_false(is && t->flags & TASK_IS_SELF);
	return is;
}

/* Both ends of every thread that was not made or ended meanwhile are those of the ledger. */
static void assert_closed(size_t enlisted)
{
	const struct ledger *l = &x.ledger;
	char why[4096];
	assert_true(l->present);
	x.et_ns = l->end_ns - l->begin_ns;
	x.left_behind = 1; /* none of them ends */
	closure_verdict(&x, why, sizeof why);
	if (*why)
		fail_msg("%s", why);
	assert_true(l->threads.count >= enlisted);
	for (size_t i = 0; i < enlisted; i++) {
		assert_int_equal(l->threads.items[i].begin_ns, l->begin_ns);
		assert_int_equal(l->threads.items[i].end_ns, l->end_ns);
		assert_true(l->threads.items[i].alive);
	}
}

static const struct ledger_thread *thread_of(pid_t tid)
{
	for (size_t i = 0; i < x.ledger.threads.count; i++)
		if (x.ledger.threads.items[i].tid == tid)
			return &x.ledger.threads.items[i];
	fail_msg("thread %d is not in the ledger", (int)tid);
	return NULL;
}

/* What the thread says it used lies between what it ran and what it had the CPU for. */
static void assert_ran(const struct ledger_thread *t, uint64_t cpu_ns)
{
	uint64_t run = t->account.ns[LEDGER_RUN], had = ledger_account_on_cpu_ns(&t->account);
	uint64_t slack = cpu_ns / 50 > 100000 ? cpu_ns / 50 : 100000;
	if (run > cpu_ns + slack || had + slack < cpu_ns)
		fail_msg("ran %llu ns, had the CPU for %llu ns, says %llu ns",
			 (unsigned long long)run, (unsigned long long)had,
			 (unsigned long long)cpu_ns);
}

static void assert_worked(const struct ledger_thread *t)
{
	const uint64_t *ns = t->account.ns;
	const struct task_record *before = record_of(&x.tasks_before, t->tid);
	const struct task_record *after = record_of(&x.tasks_after, t->tid);
	assert_ran(t, servant.told->cpu_ns);
	assert_true(ns[LEDGER_PIPE] > 0);
	/* unless the folder is not on a device */
	if (after->value[TASK_READ_BYTES] - before->value[TASK_READ_BYTES] >= BLOCK * BLOCKS)
		assert_true(ns[LEDGER_IO] + ns[LEDGER_IO_OTHER] + ns[LEDGER_IO_IDLE] > 0);
	else
		print_message("nothing was read from a device\n");
}

/* ---- the ledger ---- */

static void a_running_process_has_a_ledger_of_all_its_threads(void **state)
{
	(void)state;
	arm(collector, &(struct collector_running){ .process = servant.pid });
	order(&servant, 'w');
	finish(collector);
	assert_closed(2);
	assert_int_equal(x.ledger.threads.count, 2);
	assert_worked(thread_of(servant.told->thread));
	/* its first thread has slept all along, waiting for the other */
	const struct ledger_thread *first = thread_of(servant.pid);
	assert_true(first->account.ns[LEDGER_FUTEX] + closure_allows(x.et_ns) >= x.et_ns);
	assert_true(x.ledger.wall_ns[LEDGER_RUN] > 40 * MS);
	assert_true(x.ledger.wall_ns[LEDGER_PIPE] > 0);
	assert_true(is_subject(&x.tasks_before, servant.pid) &&
		    is_subject(&x.tasks_after, servant.pid));
	assert_true(is_subject(&x.tasks_after, servant.told->thread));
	assert_false(is_subject(&x.tasks_after, getpid()));
}

static void a_running_thread_has_a_ledger_of_its_own(void **state)
{
	(void)state;
	pid_t thread = servant.told->thread;
	arm(collector, &(struct collector_running){ .thread = thread });
	order(&servant, 'w');
	finish(collector);
	assert_closed(1);
	assert_int_equal(x.ledger.threads.count, 1); /* the other, which is busy, is not in it */
	assert_worked(thread_of(thread));
	assert_true(is_subject(&x.tasks_before, thread) && is_subject(&x.tasks_after, thread));
	assert_false(is_subject(&x.tasks_before, servant.pid) ||
		     is_subject(&x.tasks_after, servant.pid));
}

/* It has a CPU all along, or waits for one. */
static void a_busy_thread_runs_or_waits_for_a_cpu_all_along(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		arm(collector, &(struct collector_running){ .thread = servant.pid });
		usleep(5000);
		finish(collector);
		assert_closed(1);
		const uint64_t *ns = x.ledger.subject.ns;
		assert_true(ledger_account_on_cpu_ns(&x.ledger.subject) + ns[LEDGER_QUEUED] +
				    ns[LEDGER_WAKING] >=
			    x.et_ns - closure_allows(x.et_ns));
	}
}

static void the_calling_thread_can_be_measured(void **state)
{
	(void)state;
	pid_t self = (pid_t)syscall(SYS_gettid);
	for (int i = 0; i < 10; i++) {
		arm(collector, &(struct collector_running){ .thread = self });
		undisturbed(true);
		uint64_t begin = thread_cpu_ns();
		burn_thread(10 * MS);
		uint64_t cpu_ns = thread_cpu_ns() - begin;
		undisturbed(false);
		finish(collector);
		assert_closed(1);
		assert_true(x.ledger.subject.ns[LEDGER_RUN] > 0);
		/* arming and disarming are in it as well */
		assert_true(ledger_account_on_cpu_ns(&x.ledger.subject) + 100000 >= cpu_ns);
		assert_true(is_subject(&x.tasks_before, self) && is_subject(&x.tasks_after, self));
	}
}

/* Too short for any event on its CPU: it has it all along nevertheless. */
static void a_stretch_too_short_for_events_still_has_its_cpu_time(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct collector_running who = { .thread = (pid_t)syscall(SYS_gettid) };
	int off = 0;
	for (int i = 0; i < 200; i++) {
		undisturbed(true);
		assert_int_equal(collector_arm_running(collector, &who, &err), 0);
		burn_thread(MS / 10);
		collector_disarm(collector);
		undisturbed(false);
		finish(collector);
		assert_closed(1);
		/* the two edges of each are read at slightly different instants; on a busy machine
		 * something may come between them */
		uint64_t had = ledger_account_on_cpu_ns(&x.ledger.subject);
		off += had < MS / 10 - 10000;
	}
	if (off > 4)
		fail_msg("%d of 200 had a CPU for less than they ran", off);
}

static void what_a_maker_forks_belongs_to_the_subject(void **state)
{
	(void)state;
	struct servant idle;
	start_servant(&idle, false);
	arm(collector, &(struct collector_running){ .process = idle.pid, .maker = servant.pid });
	order(&servant, 'f');
	finish(collector);
	assert_closed(2);
	assert_int_equal(x.ledger.threads.count, 3);
	const struct ledger_thread *forked = thread_of(servant.told->forked);
	assert_false(forked->alive);
	assert_true(forked->begin_ns > x.ledger.begin_ns && forked->end_ns < x.ledger.end_ns);
	assert_ran(forked, servant.told->cpu_ns);
	assert_true(is_subject(&x.exits, servant.told->forked));
	assert_false(is_subject(&x.tasks_after, servant.pid));
	end_servant(&idle);
}

/* What comes and goes before the subject is armed is told, and not the subject's. */
static void exits_since_listening(struct collector *c)
{
	struct error err = ERROR_INIT;
	const struct collector_running who = { .process = getpid(), .maker = servant.pid };
	collector_listen(c);
	assert_int_equal(collector_snapshot(c, &x.tasks_before, &err), 0);
	order(&servant, 'f');
	pid_t early = servant.told->forked;
	assert_int_equal(collector_arm_running(c, &who, &err), 0);
	order(&servant, 'f');
	finish(c);
	assert_false(is_subject(&x.exits, early));
	assert_true(record_of(&x.exits, early)->value[TASK_EXEC] > 10 * MS);
	assert_true(is_subject(&x.exits, servant.told->forked));
	/* without listening none of before is left over */
	arm(c, &who);
	finish(c);
	assert_null(record_of(&x.exits, early));
}

static void exits_are_told_since_listening_began(void **state)
{
	(void)state;
	exits_since_listening(collector);
}

/* Nothing of before is left over for a command. */
static void nothing_is_left_over_for_a_command_afterwards(void **state)
{
	(void)state;
	char program[4200], why[4096];
	struct error err = ERROR_INIT;
	struct launcher *l;
	struct launch launch = { .as_root = true, .iteration = -1 };
	struct execute_options options = { .grace_ns = 2000000000u };
	arm(collector, &(struct collector_running){ .process = servant.pid, .maker = servant.pid });
	finish(collector);
	snprintf(program, sizeof program, "%s/burn", programs);
	char *const argv[] = { program, (char *)"loop", (char *)"50ms", NULL };
	assert_int_equal(launcher_new(&l, &launch, &err), 0);
	order(&servant, 'f');
	if (execute(collector, l, &launch, argv, &options, &x, &err))
		fail_msg("%s", err.text);
	launcher_free(l);
	closure_verdict(&x, why, sizeof why);
	if (*why)
		fail_msg("%s", why);
	assert_int_equal(x.ledger.threads.count, 1);
	assert_int_equal(x.totals.processes, 1);
	assert_false(is_subject(&x.tasks_after, servant.pid));
}

static void a_process_that_is_gone_is_an_error(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_int_equal(collector_arm_running(collector,
					       &(struct collector_running){ .thread = pid }, &err),
			 -1);
	assert_int_equal(err.code, EXIT_SUBJECT);
}

/* ---- the other back ends ---- */

static void flags_of(enum backend backend, bool exits_are_told)
{
	struct error err = ERROR_INIT;
	struct collector *c;
	if (collector_open(&c, backend, &err)) {
		print_message("skipped: %s\n", err.text);
		skip();
	}
	struct servant idle;
	start_servant(&idle, false);
	arm(c, &(struct collector_running){ .process = idle.pid, .maker = servant.pid });
	order(&servant, 'f');
	finish(c);
	assert_false(x.ledger.present);
	assert_true(is_subject(&x.tasks_before, idle.pid) &&
		    is_subject(&x.tasks_after, idle.told->thread));
	assert_false(is_subject(&x.tasks_after, servant.pid));
	if (exits_are_told)
		assert_true(is_subject(&x.exits, servant.told->forked));
	arm(c, &(struct collector_running){ .thread = servant.told->thread });
	finish(c);
	assert_true(is_subject(&x.tasks_after, servant.told->thread));
	assert_false(is_subject(&x.tasks_after, servant.pid) ||
		     is_subject(&x.tasks_after, idle.pid));
	if (exits_are_told)
		exits_since_listening(c);
	end_servant(&idle);
	collector_close(c);
}

static void netlink_flags_the_tasks_of_the_subject(void **state)
{
	(void)state;
	flags_of(BACKEND_NETLINK, true);
}

static void plain_flags_the_tasks_of_the_subject(void **state)
{
	(void)state;
	flags_of(BACKEND_PLAIN, false);
}

static int set_up(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	static char block[BLOCK];
	snprintf(path, sizeof path, "/var/tmp/tare-running-XXXXXX");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	for (int i = 0; i < BLOCKS; i++)
		assert_int_equal(write(fd, block, BLOCK), BLOCK);
	fsync(fd);
	close(fd);
	if (collector_open(&collector, BACKEND_BPF, &err) ||
	    collector_keep_ledger(collector, false, &err)) {
		unlink(path);
		skip_all(err.text);
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	collector_close(collector);
	execution_release(&x);
	unlink(path);
	return 0;
}

#define WITH_SERVANT(test) cmocka_unit_test_setup_teardown(test, give_servant, take_servant)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVANT(a_running_process_has_a_ledger_of_all_its_threads),
		cmocka_unit_test_setup_teardown(a_running_thread_has_a_ledger_of_its_own,
						give_busy_servant, take_servant),
		cmocka_unit_test_setup_teardown(a_busy_thread_runs_or_waits_for_a_cpu_all_along,
						give_busy_servant, take_servant),
		cmocka_unit_test(the_calling_thread_can_be_measured),
		cmocka_unit_test(a_stretch_too_short_for_events_still_has_its_cpu_time),
		WITH_SERVANT(what_a_maker_forks_belongs_to_the_subject),
		WITH_SERVANT(exits_are_told_since_listening_began),
		WITH_SERVANT(nothing_is_left_over_for_a_command_afterwards),
		cmocka_unit_test(a_process_that_is_gone_is_an_error),
		WITH_SERVANT(netlink_flags_the_tasks_of_the_subject),
		WITH_SERVANT(plain_flags_the_tasks_of_the_subject),
	};
	if (argc < 2)
		return 2;
	snprintf(programs, sizeof programs, "%.*s", (int)(strrchr(argv[1], '/') - argv[1]),
		 argv[1]);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
