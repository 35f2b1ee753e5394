/* What the guard does when the process that it was started by is gone. Each test forks a process
 * that stands for tare, which then ends in one way or another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* before cmocka.h */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/cgroup.h"
#include "base/guard.h"
#include "base/invoker.h"
#include "base/process.h"

#define LOOKS 1000 /* of 5 ms each */

static struct shared {
	char folder[PATH_MAX];
	pid_t pids[8];
	int ready;
	int called;
} * shared;

static char root[] = "/tmp/tare-guard-test-XXXXXX";

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static bool is_gone(pid_t pid)
{
	struct process_look look;
	return !process_look(pid, &look) || look.state == 'Z';
}

#define assert_soon(condition)                                           \
	do {                                                             \
		for (int look = 0; !(condition) && look < LOOKS; look++) \
			pause_ms(5);                                     \
		assert_true(condition);                                  \
	} while (0)

/* Runs body in a process with a guard of its own; its pid. */
static pid_t stand_in(void (*body)(void))
{
	memset(shared, 0, sizeof *shared);
	pid_t pid = fork();
	if (pid == 0) {
		body();
		_exit(0);
	}
	return pid;
}

static void end_of(pid_t pid)
{
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void make_folder(void)
{
	int number = 0;
	snprintf(shared->folder, sizeof shared->folder, "%s/mine-XXXXXX", root);
	if (!guard_make_folder(shared->folder, &number) || !number)
		abort();
	char path[PATH_MAX + 32];
	snprintf(path, sizeof path, "%s/below", shared->folder);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/below/link", shared->folder);
	if (symlink(root, path))
		abort();
	snprintf(path, sizeof path, "%s/file", shared->folder);
	close(open(path, O_CREAT | O_WRONLY, 0600));
}

static void folder_then_kill(void)
{
	make_folder();
	raise(SIGKILL);
}

static void a_folder_is_removed_and_its_links_are_not_followed(void **state)
{
	(void)state;
	char kept[PATH_MAX];
	snprintf(kept, sizeof kept, "%s/kept", root);
	close(open(kept, O_CREAT | O_WRONLY, 0600));
	end_of(stand_in(folder_then_kill));
	assert_string_not_equal(shared->folder, "");
	assert_soon(access(shared->folder, F_OK) != 0);
	assert_int_equal(access(kept, F_OK), 0);
	unlink(kept);
}

static void folder_moved_away(void)
{
	make_folder();
	char away[PATH_MAX + 8];
	snprintf(away, sizeof away, "%s-away", shared->folder);
	/* another one of its name, with something in it */
	if (rename(shared->folder, away) || mkdir(shared->folder, 0700))
		abort();
	snprintf(away, sizeof away, "%s/theirs", shared->folder);
	close(open(away, O_CREAT | O_WRONLY, 0600));
	raise(SIGKILL);
}

static void call_note(const char *text)
{
	shared->called = text[0];
}

static void another_folder_of_that_name_stays(void **state)
{
	(void)state;
	char theirs[PATH_MAX + 8];
	end_of(stand_in(folder_moved_away));
	pause_ms(300);
	snprintf(theirs, sizeof theirs, "%s/theirs", shared->folder);
	assert_int_equal(access(theirs, F_OK), 0);
}

static void sleep_on(void)
{
	for (;;)
		pause();
}

/* A chain of children, in sessions of their own, that ignore what can be ignored. */
static void grow(int depth)
{
	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_IGN);
	setsid();
	shared->pids[depth] = getpid();
	if (depth < 5 && fork() == 0)
		grow(depth + 1);
	if (depth == 5)
		shared->ready = 1;
	sleep_on();
}

static void tree_then_kill(void)
{
	pid_t child = fork();
	if (child == 0)
		grow(0);
	guard_process(child, 0);
	while (!shared->ready)
		pause_ms(1);
	raise(SIGKILL);
}

static void a_tree_ends_to_its_last_process(void **state)
{
	(void)state;
	end_of(stand_in(tree_then_kill));
	for (int i = 0; i < 6; i++) {
		assert_true(shared->pids[i] > 0);
		assert_soon(is_gone(shared->pids[i]));
	}
}

static void server_then_kill(void)
{
	pid_t stubborn = fork();
	if (stubborn == 0) {
		signal(SIGTERM, SIG_IGN);
		shared->ready++;
		sleep_on();
	}
	pid_t kind = fork();
	if (kind == 0) {
		shared->ready++;
		sleep_on();
	}
	shared->pids[0] = stubborn;
	shared->pids[1] = kind;
	guard_process(stubborn, SIGTERM);
	guard_process(kind, SIGTERM);
	while (shared->ready < 2)
		pause_ms(1);
	raise(SIGKILL);
}

static void a_server_is_asked_first_and_killed_in_the_end(void **state)
{
	(void)state;
	end_of(stand_in(server_then_kill));
	assert_soon(is_gone(shared->pids[1]));
	assert_false(is_gone(shared->pids[0]));
	for (int i = 0; !is_gone(shared->pids[0]) && i < 2 * LOOKS; i++)
		pause_ms(5);
	assert_true(is_gone(shared->pids[0]));
}

static void call_then_exit(void)
{
	guard_call(call_note, "7");
	exit(0); /* an exit in the middle of something: not released */
}

static void call_released(void)
{
	guard_release(guard_call(call_note, "8"));
	exit(0);
}

static void what_is_not_released_is_done_after_an_exit_too(void **state)
{
	(void)state;
	end_of(stand_in(call_then_exit));
	assert_soon(shared->called == '7');
	end_of(stand_in(call_released));
	pause_ms(300);
	assert_int_equal(shared->called, 0);
}

/* Whose rights the guard has, before and within a scope of its own. */
static void call_users(const char *text)
{
	(void)text;
	shared->pids[0] = setfsuid((uid_t)-1);
	AS_USER(as);
	int failed = user_begin(&as, 65534, 65534, NULL, 0);
	shared->pids[1] = failed ? -1 : setfsuid((uid_t)-1);
	shared->called = 1;
}

static void guard_from_within_a_scope(void)
{
	AS_USER(as);
	if (user_begin(&as, 65534, 65534, NULL, 0))
		_exit(1);
	guard_call(call_users, "");
	kill(getpid(), SIGKILL);
}

static void a_guard_started_within_a_scope_has_roots_rights_and_can_give_them_up(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	end_of(stand_in(guard_from_within_a_scope));
	assert_soon(shared->called);
	assert_int_equal(shared->pids[0], 0);
	assert_int_equal(shared->pids[1], 65534);
}

/* Root's folder, where a link of the user's leads: made after the guard was told of it. */
static void folder_of_roots_then_kill(void)
{
	char secret[64], link[64], coming[96];
	snprintf(secret, sizeof secret, "%s/secret", root);
	snprintf(link, sizeof link, "%s/link", root);
	snprintf(coming, sizeof coming, "%s/coming", link);
	snprintf(shared->folder, sizeof shared->folder, "%s/coming", secret);
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	shared->ready = chmod(root, 0755) == 0 && mkdir(secret, 0700) == 0 &&
			symlink(secret, link) == 0 && guard_folder(coming) &&
			mkdir(shared->folder, 0700) == 0 && guard_call(call_note, "9");
	kill(getpid(), SIGKILL);
}

static void an_empty_folder_that_the_user_cannot_reach_stays(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	end_of(stand_in(folder_of_roots_then_kill));
	assert_true(shared->ready);
	assert_soon(shared->called == '9');
	pause_ms(300); /* folders come after calls */
	assert_int_equal(access(shared->folder, F_OK), 0);
}

static void a_group_that_cannot_be_removed_is_given_up_after_a_second(void **state)
{
	char path[96];
	struct timespec before, after;
	(void)state;
	/* any folder will do: none of it can be removed while there is a file at its end */
	snprintf(path, sizeof path, "%s/group", root);
	assert_int_equal(mkdir(path, 0700), 0);
	strcat(path, "/below");
	assert_int_equal(mkdir(path, 0700), 0);
	strcat(path, "/file");
	assert_int_equal(close(open(path, O_CREAT | O_WRONLY, 0600)), 0);
	snprintf(path, sizeof path, "%s/group", root);
	clock_gettime(CLOCK_MONOTONIC, &before);
	cgroup_clear(path, NULL);
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_in_range(after.tv_sec - before.tv_sec, 1, 10);
}

static void number_of_another(void)
{
	pid_t child = fork();
	if (child == 0)
		sleep_on();
	int number = guard_process(child, 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	guard_release(number);
	/* full of what is not there any more, it says so */
	for (int i = 0; i < 100; i++)
		shared->pids[0] += guard_process(0, 0) != 0;
	shared->pids[1] = guard_process(child, 0);
	exit(0);
}

static void places_run_out_and_the_dead_get_none(void **state)
{
	(void)state;
	end_of(stand_in(number_of_another));
	assert_in_range(shared->pids[0], 32, 99);
	assert_int_equal(shared->pids[1], 0);
}

static int prepare(void **state)
{
	(void)state;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	return shared != MAP_FAILED && mkdtemp(root) ? 0 : -1;
}

static int tidy(void **state)
{
	(void)state;
	char command[PATH_MAX];
	snprintf(command, sizeof command, "rm -rf %s", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_folder_is_removed_and_its_links_are_not_followed),
		cmocka_unit_test(another_folder_of_that_name_stays),
		cmocka_unit_test(a_tree_ends_to_its_last_process),
		cmocka_unit_test(a_server_is_asked_first_and_killed_in_the_end),
		cmocka_unit_test(what_is_not_released_is_done_after_an_exit_too),
		cmocka_unit_test(
			a_guard_started_within_a_scope_has_roots_rights_and_can_give_them_up),
		cmocka_unit_test(an_empty_folder_that_the_user_cannot_reach_stays),
		cmocka_unit_test(a_group_that_cannot_be_removed_is_given_up_after_a_second),
		cmocka_unit_test(places_run_out_and_the_dead_get_none),
	};
	return cmocka_run_group_tests(tests, prepare, tidy);
}
