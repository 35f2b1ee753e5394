/* Going on with a run that has ended: one process gets it, whoever else asks. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "fixture.h"
#include "lab/lab.h"
#include "sample.h"

static void assert_status(struct lab *lab, int64_t id, enum run_status status)
{
	struct run run;
	ok(lab_get_run(lab, id, &run, &err));
	assert_int_equal(run.status, status);
	assert_true((run.ended_at_ns == 0) == (status == RUN_GOING));
	run_release(&run);
}

static void what_has_ended_goes_again(void **state)
{
	(void)state;
	static const enum run_status ends[] = { RUN_INTERRUPTED, RUN_FAILED };
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t other = add_run(lab, "other");
	ok(lab_end_run(lab, other, RUN_INTERRUPTED, &err));
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		struct execution x;
		int64_t id = add_run(lab, "x");
		ok(lab_end_run(lab, id, ends[i], &err));
		ok(lab_resume_run(lab, id, &err));
		assert_status(lab, id, RUN_GOING);
		make_execution(&x, 1);
		ok(lab_add_execution(lab, id, &x, &err));
		execution_release(&x);
		ok(lab_end_run(lab, id, RUN_COMPLETE, &err));
		assert_status(lab, id, RUN_COMPLETE);
		assert_int_equal(count_executions(lab, id, LAB_ROWS), 1);
	}
	assert_status(lab, other, RUN_INTERRUPTED);
	lab_close(lab);
}

static void what_cannot_go_on_is_left_alone(void **state)
{
	(void)state;
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t id = add_run(lab, "x");
	assert_refused(lab_resume_run(lab, id, &err), "is going");
	ok(lab_end_run(lab, id, RUN_COMPLETE, &err));
	assert_refused(lab_resume_run(lab, id, &err), "is complete");
	assert_status(lab, id, RUN_COMPLETE);
	assert_refused(lab_resume_run(lab, 77, &err), "there is no run 77");
	ok(lab_end_run(lab, id, RUN_INTERRUPTED, &err));
	lab_close(lab);
	lab = open_lab(LAB_READ);
	assert_refused(lab_resume_run(lab, id, &err), "for reading");
	assert_status(lab, id, RUN_INTERRUPTED);
	lab_close(lab);
}

/* In a process of its own, which stays until it is killed: waits for the end of `begin`, says on
 * fd how it went. */
static _Noreturn void resume_and_stay(int64_t id, int begin, int fd)
{
	struct lab *lab = NULL;
	struct error own = ERROR_INIT;
	char go, answer = 'e';
	if (read(begin, &go, 1) == 0 && !lab_open(&lab, path, LAB_EDIT, &own)) {
		if (!lab_resume_run(lab, id, &own))
			answer = 'y';
		else if (own.code == EXIT_USAGE && strstr(own.text, "is going"))
			answer = 'n';
	}
	if (write(fd, &answer, 1) == 1)
		pause();
	_exit(1);
}

static void one_of_many_that_resume_a_run_gets_it(void **state)
{
	(void)state;
	enum { MANY = 8 };
	int begin[2], report[2], got = 0;
	pid_t pids[MANY];
	struct lab *lab = open_lab(LAB_WRITE);
	int64_t id = add_run(lab, "x");
	ok(lab_end_run(lab, id, RUN_INTERRUPTED, &err));
	lab_close(lab); /* none of SQLite's is taken across fork() */
	assert_int_equal(pipe(begin), 0);
	assert_int_equal(pipe(report), 0);
	for (int i = 0; i < MANY; i++) {
		if ((pids[i] = fork()) == 0) {
			close(begin[1]);
			resume_and_stay(id, begin[0], report[1]);
		}
		assert_true(pids[i] > 0);
	}
	close(begin[1]); /* now, all at once */
	for (int i = 0; i < MANY; i++) {
		char answer = 0;
		assert_int_equal(read(report[0], &answer, 1), 1);
		assert_true(answer == 'y' || answer == 'n');
		got += answer == 'y';
	}
	assert_int_equal(got, 1);
	lab = open_lab(LAB_EDIT);
	assert_refused(lab_resume_run(lab, id, &err), "is going");
	assert_refused(lab_remove_run(lab, id, &err), "is going");
	for (int i = 0; i < MANY; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	/* the one that had it is gone */
	ok(lab_resume_run(lab, id, &err));
	assert_status(lab, id, RUN_GOING);
	close(begin[0]);
	close(report[0]);
	close(report[1]);
	lab_close(lab);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	seed = 20261118;
	const struct CMUnitTest tests[] = {
		TEST(what_has_ended_goes_again),
		TEST(what_cannot_go_on_is_left_alone),
		TEST(one_of_many_that_resume_a_run_gets_it),
	};
	return cmocka_run_group_tests_name("lab-resume", tests, NULL, NULL);
}
