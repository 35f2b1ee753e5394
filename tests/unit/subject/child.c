/* The subject between its start and its exec, when tare may be gone already. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* before cmocka.h */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "subject/child.h"

static char stack[CHILD_STACK] __attribute__((aligned(64)));
static struct launch_stamp stamp;

/* Starts `true`, to wait at the gate. */
static pid_t start(struct child *c, pid_t parent)
{
	static const struct launch launch = { .output = OUTPUT_NULL };
	static char name[] = "/bin/true", *argv[] = { name, NULL }, *env[] = { NULL };
	stamp = (struct launch_stamp){ 0 };
	*c = (struct child){ .launch = &launch,
			     .path = name,
			     .argv = argv,
			     .env = env,
			     .pipe_write = -1,
			     .group = -1,
			     .parent = parent,
			     .stamp = &stamp };
	return child_start(c, stack);
}

/* Whether it ends within a second, and how. */
static pid_t ended(pid_t pid, int *status)
{
	pid_t found = 0;
	for (int i = 0; !found && i < 200; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
		found = waitpid(pid, status, WNOHANG);
	}
	return found;
}

static void a_child_whose_parent_is_gone_does_not_wait_at_the_gate(void **state)
{
	struct child c;
	int status = 0;
	(void)state;
	pid_t pid = start(&c, getppid()); /* its parent is another than it was */
	assert_true(pid > 0);
	pid_t found = ended(pid, &status);
	if (!found)
		kill(pid, SIGKILL);
	assert_int_equal(found, pid);
	assert_int_equal(WEXITSTATUS(status), 127);
	assert_int_equal(stamp.failed, ESRCH);
}

static void a_child_waits_at_the_gate_for_its_parent(void **state)
{
	struct child c;
	int status;
	(void)state;
	pid_t pid = start(&c, getpid());
	assert_true(pid > 0);
	assert_int_equal(ended(pid, &status), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_whose_parent_is_gone_does_not_wait_at_the_gate),
		cmocka_unit_test(a_child_waits_at_the_gate_for_its_parent),
	};
	return cmocka_run_group_tests_name("child", tests, NULL, NULL);
}
