/* Acting as the user who typed sudo: what is taken on, by whom, and what happens if it cannot be.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/invoker.h"
#include "base/links.h"

#define USER 65534

static char folder[64], secret[96];

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/tare-invoker-XXXXXX");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chmod(folder, 0755), 0);
	snprintf(secret, sizeof secret, "%s/secret", folder);
	assert_int_equal(file_write(secret, "root's", 6, NULL), 0);
	assert_int_equal(chmod(secret, 0600), 0);
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	char command[96];
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return system(command); /* NOLINT: a name of this program's own */
}

static void needs_root(void)
{
	if (getuid() != 0) {
		print_message("acting as another user: needs root\n");
		skip();
	}
}

static bool may_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static uint64_t effective(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };
	assert_int_equal(syscall(SYS_capget, &header, data), 0);
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

static void expect_root(uint64_t capabilities, int groups)
{
	assert_int_equal(setfsuid((uid_t)-1), 0);
	assert_int_equal(setfsgid((gid_t)-1), 0);
	assert_int_equal(getgroups(0, NULL), groups);
	assert_true(effective() == capabilities);
	assert_true(may_read(secret));
}

static void expect_user(void)
{
	gid_t groups[16];
	assert_int_equal(setfsuid((uid_t)-1), USER);
	assert_int_equal(setfsgid((gid_t)-1), USER);
	int count = getgroups(16, groups);
	assert_true(count >= 1);
	for (int i = 0; i < count; i++)
		assert_int_not_equal(groups[i], 4321);
	assert_false(effective() & (UINT64_C(1) << CAP_DAC_OVERRIDE));
	assert_false(may_read(secret));
}

static void scopes_nest_and_root_is_back_after_the_last(void **state)
{
	(void)state;
	needs_root();
	uint64_t before = effective();
	const gid_t own[] = { 0, 4321 };
	assert_int_equal(setgroups(2, own), 0);
	{
		AS_USER(outer);
		assert_int_equal(invoker_begin(&outer, NULL), 0);
		expect_user();
		{
			AS_USER(inner);
			assert_int_equal(invoker_begin(&inner, NULL), 0);
			expect_user();
			AS_USER(other);
			assert_int_equal(user_begin(&other, 1, 1, NULL, 0), -1);
			errno = ENOTUNIQ;
		}
		assert_int_equal(errno, ENOTUNIQ);
		expect_user();
		user_end(&outer);
		expect_root(before, 2);
	}
	expect_root(before, 2);
	AS_USER(again);
	unsetenv("SUDO_UID");
	assert_int_equal(invoker_begin(&again, NULL), 0); /* nobody: root's own */
	expect_root(before, 2);
	setgroups(0, NULL);
}

static pthread_barrier_t meeting;

static void *acts(void *result)
{
	AS_USER(as);
	*(int *)result = invoker_begin(&as, NULL);
	pthread_barrier_wait(&meeting);
	pthread_barrier_wait(&meeting);
	*(int *)result |= may_read(secret) ? 2 : 0;
	return NULL;
}

static void only_the_thread_that_asks_is_the_user(void **state)
{
	(void)state;
	needs_root();
	uint64_t before = effective();
	const gid_t own[] = { 0, 4321 };
	assert_int_equal(setgroups(2, own), 0);
	pthread_t thread;
	int result = -1;
	pthread_barrier_init(&meeting, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, acts, &result), 0);
	pthread_barrier_wait(&meeting);
	expect_root(before, 2); /* while the other acts */
	pthread_barrier_wait(&meeting);
	pthread_join(thread, NULL);
	assert_int_equal(result, 0);
	expect_root(before, 2);
	pthread_barrier_destroy(&meeting);
	setgroups(0, NULL);
}

/* In a child, because it cannot be undone. 0: refused, and root as before. */
static int refused_without(int capability, unsigned long secure_bits)
{
	pid_t pid = fork();
	if (pid == 0) {
		struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
		struct __user_cap_data_struct data[2];
		if (secure_bits && prctl(PR_SET_SECUREBITS, secure_bits))
			_exit(10);
		if (syscall(SYS_capget, &header, data))
			_exit(11);
		if (capability >= 0) {
			uint32_t bit = UINT32_C(1) << capability;
			data[0].effective &= ~bit;
			data[0].permitted &= ~bit;
		}
		if (syscall(SYS_capset, &header, data))
			_exit(12);
		struct error err = ERROR_INIT;
		AS_USER(as);
		if (invoker_begin(&as, &err) == 0)
			_exit(1);
		if (!strstr(err.text, "cannot touch files as"))
			_exit(2);
		if (setfsuid((uid_t)-1) != 0 || setfsgid((gid_t)-1) != 0)
			_exit(3);
		/* nothing is written as root instead */
		char path[96];
		snprintf(path, sizeof path, "%s/new", folder);
		if (file_write(path, "x", 1, &err) == 0 || access(path, F_OK) == 0)
			_exit(4);
		_exit(invoker_open(secret, O_RDONLY) < 0 ? 0 : 5);
	}
	int status = -1;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static void what_cannot_become_the_user_is_an_error_and_changes_nothing(void **state)
{
	(void)state;
	needs_root();
	assert_int_equal(refused_without(CAP_SETGID, 0), 0);
	assert_int_equal(refused_without(CAP_SETUID, 0), 0);
	assert_int_equal(refused_without(-1, SECBIT_NO_SETUID_FIXUP), 0);
}

static void make_link(const char *to, const char *name, uid_t owner)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	unlink(path);
	assert_int_equal(symlink(to, path), 0);
	assert_int_equal(lchown(path, owner, owner), 0);
}

/* What following leads to: 'f' a file, 'n' nothing yet, or 'e' an error. */
static int leads(const char *name, uid_t user)
{
	char path[256];
	SCOPED(found_release) struct found found;
	snprintf(path, sizeof path, "%s/%s", folder, name);
	int failed = links_follow(path, user, &found);
	return failed ? 'e' : found.file >= 0 ? 'f' : 'n';
}

static void links_of_strangers_are_not_followed(void **state)
{
	(void)state;
	needs_root();
	char below[96];
	snprintf(below, sizeof below, "%s/below", folder);
	assert_int_equal(mkdir(below, 0755), 0);
	make_link("secret", "roots", 0);
	make_link("secret", "users", USER);
	make_link("users", "two", 0);
	make_link("../secret", "below/up", 0);
	make_link("below", "middle", USER);
	make_link("nowhere", "dangling", 0);
	make_link("no/where", "far", 0);
	make_link("loop", "loop", 0);
	make_link("/proc/self/fd/0", "magic", 0);
	static const struct {
		const char *name;
		int by_root, by_user, by_other;
	} cases[] = {
		{ "secret", 'f', 'f', 'f' },
		{ "roots", 'f', 'f', 'f' },
		{ "users", 'e', 'f', 'e' },
		{ "two", 'e', 'f', 'e' },
		{ "below/up", 'f', 'f', 'f' },
		{ "middle/up", 'e', 'f', 'e' },
		{ "dangling", 'n', 'n', 'n' },
		{ "far", 'n', 'n', 'n' },
		{ "loop", 'e', 'e', 'e' },
		{ "new", 'n', 'n', 'n' },
		{ "no/new", 'e', 'e', 'e' },
		{ "secret/new", 'e', 'e', 'e' },
		{ "below/../secret", 'f', 'f', 'f' },
		{ "magic", 'f', 'f', 'f' },
		{ "below//.//up", 'f', 'f', 'f' },
		{ "below/", 'f', 'f', 'f' },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(leads(cases[i].name, 0), cases[i].by_root);
		assert_int_equal(leads(cases[i].name, USER), cases[i].by_user);
		assert_int_equal(leads(cases[i].name, 1), cases[i].by_other);
	}
	/* in a folder of its owner's, a link is followed by all but root */
	assert_int_equal(chown(folder, USER, USER), 0);
	assert_int_equal(leads("users", 1), 'f');
	assert_int_equal(leads("users", 0), 'e');
}

static void a_directory_of_roots_is_trusted_only_on_roots_way(void **state)
{
	(void)state;
	needs_root();
	char own[96], theirs[96], within[128];
	snprintf(own, sizeof own, "%s/own", folder);
	snprintf(theirs, sizeof theirs, "%s/theirs", folder);
	snprintf(within, sizeof within, "%s/within", theirs);
	assert_true(directory_own(own));
	assert_true(directory_is_own(own));
	assert_int_equal(mkdir(theirs, 0755), 0);
	assert_int_equal(chown(theirs, USER, USER), 0);
	assert_false(directory_own(within));
	assert_int_equal(access(within, F_OK), -1); /* not even made */
	assert_int_equal(mkdir(within, 0700), 0);
	assert_false(directory_is_own(within));
	assert_int_equal(chown(theirs, 0, 0), 0);
	assert_true(directory_is_own(within));
	assert_int_equal(chmod(theirs, 0777), 0);
	assert_false(directory_is_own(within));
	assert_int_equal(chmod(theirs, 01777), 0);
	assert_true(directory_is_own(within));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(scopes_nest_and_root_is_back_after_the_last),
		TEST(only_the_thread_that_asks_is_the_user),
		TEST(what_cannot_become_the_user_is_an_error_and_changes_nothing),
		TEST(links_of_strangers_are_not_followed),
		TEST(a_directory_of_roots_is_trusted_only_on_roots_way),
	};
	return cmocka_run_group_tests_name("invoker", tests, NULL, NULL);
}
