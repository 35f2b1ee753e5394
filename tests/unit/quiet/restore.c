/* What is put back, and by whom: what cannot be read is not given up, and what another holds quiet
 * is left. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "fixture.h"

#define SWAPPINESS "/proc/sys/vm/swappiness"

static struct quiet_options swappiness_only(void)
{
	static const char *const only[] = { "swappiness" };
	return (struct quiet_options){ .root = tree_root, .only = only, .only_count = 1 };
}

static void assert_quiet(const struct quiet_options *o, bool quiet)
{
	struct quiet_status status;
	struct error err = ERROR_INIT;
	assert_int_equal(quiet_look(o, &status, &err), 0);
	assert_int_equal(status.quiet, quiet);
}

/* ---- what several use ---- */

#define DELAYS "/proc/sys/kernel/task_delayacct"

/* A process that says when it uses the knob, and does so until it is told to end, or is killed. */
struct user {
	pid_t pid;
	int order, answer;
};

static struct user user_begin(const struct quiet_options *o)
{
	int order[2], answer[2], use;
	char c;
	assert_int_equal(pipe(order) | pipe(answer), 0);
	struct user u = { .pid = fork(), .order = order[1], .answer = answer[0] };
	if (u.pid == 0) {
		close(order[1]);
		close(answer[0]);
		bool done = quiet_use(o, "delayacct", &use, NULL) == 0 &&
			    write(answer[1], "u", 1) == 1 && read(order[0], &c, 1) >= 0 &&
			    quiet_unuse(o, &use, NULL) == 0;
		_exit(done ? 0 : 1);
	}
	close(order[0]);
	close(answer[1]);
	assert_int_equal(read(u.answer, &c, 1), 1);
	return u;
}

static void user_end(const struct user *u, bool killed)
{
	int status;
	if (killed)
		kill(u->pid, SIGKILL);
	else
		assert_int_equal(write(u->order, "e", 1), 1);
	close(u->order);
	assert_int_equal(waitpid(u->pid, &status, 0), u->pid);
	assert_true(killed || status == 0);
	close(u->answer);
}

/* Whoever wants the machine quiet then has to wait, and may look as often as it likes. */
static void assert_left_is_said_once(const struct quiet_options *o)
{
	struct quiet_status status;
	struct error err = ERROR_INIT;
	quiet_list none = { 0 };
	assert_int_equal(quiet_look(o, &status, &err), 0);
	assert_true(status.quiet && status.left);
	assert_int_equal(quiet_restore_abandoned(o, &none, &err), 0);
	assert_int_equal(quiet_apply(o, 0, &none, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_non_null(strstr(err.text, "another tare still uses 1 setting "));
	assert_null(strstr(err.hint, "--restore"));
	quiet_list_release(&none);
	char *journal = file_read(tree_journal), *at = strstr(journal, "\nleft\n");
	assert_non_null(at);
	assert_null(strstr(at + 1, "\nleft\n"));
	free(journal);
}

/* With a step there is no guard, which would restore in the place of the next user. */
static void no_step(void *context)
{
	(void)context;
}

static void the_last_user_restores_a_knob(void **state)
{
	struct quiet_options o = { .root = tree_root, .step = no_step };
	(void)state;
	/* whoever changed it: the first, the last, or one that was killed */
	for (int way = 0; way < 8; way++) {
		struct user first = user_begin(&o), second = user_begin(&o);
		bool swap = way & 1;
		assert_file(DELAYS, "1");
		user_end(swap ? &second : &first, way & 2);
		assert_file(DELAYS, "1");
		/* nor does a tare that starts meanwhile take it away */
		quiet_list undone = { 0 };
		assert_int_equal(quiet_restore_abandoned(&o, &undone, NULL), 0);
		assert_int_equal(undone.count, 0);
		assert_file(DELAYS, "1");
		if (!swap)
			assert_left_is_said_once(&o);
		user_end(swap ? &first : &second, way & 4);
		if (way & 4)
			assert_int_equal(quiet_restore_abandoned(&o, &undone, NULL), 0);
		quiet_list_release(&undone);
		assert_file(DELAYS, "0\n");
		assert_quiet(&o, false);
	}
}

static void a_used_knob_outlives_a_quiet_machine(void **state)
{
	struct quiet_options o = tree_options();
	quiet_list undone = { 0 };
	struct error err = ERROR_INIT;
	(void)state;
	tree_apply(&o, (int)getpid());
	struct user u = user_begin(&o);
	assert_int_equal(quiet_restore_own(&o, (int)getpid(), &undone, &err), 0);
	assert_state(&undone, SWAPPINESS, QUIET_RESTORED);
	quiet_list_release(&undone);
	assert_file(DELAYS, "1");
	user_end(&u, false);
	assert_as_before();
}

/* No file grows beyond the journal's size. */
static void fill_disk(void *context)
{
	struct stat st;
	(void)context;
	if (stat(tree_journal, &st) == 0)
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){ (rlim_t)st.st_size, RLIM_INFINITY });
}

static void a_change_that_cannot_be_journalled_is_undone(void **state)
{
	struct quiet_options o = { .root = tree_root, .step = fill_disk };
	struct rlimit before;
	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	for (int used = 0; used < 2; used++) {
		static const char *const only[] = { "delayacct" };
		struct quiet_options one = o;
		quiet_list made = { 0 };
		struct error err = ERROR_INIT;
		int use = 0;
		one.only = only;
		one.only_count = 1;
		int failed = used ? quiet_use(&o, "delayacct", &use, &err)
				  : quiet_apply(&one, (int)getpid(), &made, &err);
		setrlimit(RLIMIT_FSIZE, &before);
		quiet_list_release(&made);
		assert_int_equal(failed, -1);
		assert_int_equal(err.code, EXIT_ENVIRONMENT);
		assert_true(!used || use == -1);
		assert_as_before();
	}
	signal(SIGXFSZ, SIG_DFL);
}

/* ---- what cannot be read ---- */

static void a_knob_that_cannot_be_read_is_kept_for_later(void **state)
{
	struct quiet_options o = tree_options();
	quiet_list undone = { 0 };
	struct error err = ERROR_INIT;
	(void)state;
	tree_apply(&o, 0);
	tree_mode(SWAPPINESS, 0);
	assert_int_equal(quiet_restore(&o, &undone, &err), -1);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_state(&undone, SWAPPINESS, QUIET_REFUSED);
	assert_non_null(strstr(item_of(&undone, SWAPPINESS)->why, "cannot be read"));
	assert_state(&undone, CPU "intel_pstate/no_turbo", QUIET_RESTORED);
	quiet_list_release(&undone);
	assert_quiet(&o, true);
	tree_mode(SWAPPINESS, 0644);
	assert_file(SWAPPINESS, "10");
	tree_restore(&o);
	assert_as_before();
}

static void make_unreadable(void *context)
{
	(void)context;
	tree_mode(SWAPPINESS, 0200);
}

/* It was written: that it cannot be seen does not undo it. */
static void a_knob_that_cannot_be_read_back_is_changed_all_the_same(void **state)
{
	struct quiet_options o = swappiness_only();
	quiet_list made = { 0 };
	struct error err = ERROR_INIT;
	(void)state;
	o.step = make_unreadable;
	assert_int_equal(quiet_apply(&o, 0, &made, &err), 0);
	assert_state(&made, SWAPPINESS, QUIET_CHANGED);
	assert_non_null(strstr(item_of(&made, SWAPPINESS)->why, "cannot be read back"));
	quiet_list_release(&made);
	tree_mode(SWAPPINESS, 0644);
	assert_file(SWAPPINESS, "10");
	assert_quiet(&o, true);
	o.step = NULL;
	tree_restore(&o);
	assert_as_before();
}

/* ---- by whom ---- */

static void restore_own(const struct quiet_options *o, int owner, bool some)
{
	quiet_list undone = { 0 };
	struct error err = ERROR_INIT;
	assert_int_equal(quiet_restore_own(o, owner, &undone, &err), 0);
	assert_int_equal(undone.count > 0, some);
	quiet_list_release(&undone);
}

static void a_process_restores_only_what_it_changed_itself(void **state)
{
	struct quiet_options o = tree_options();
	int self = (int)getpid(), other = (int)getppid();
	(void)state;
	restore_own(&o, self, false); /* there is none */
	tree_apply(&o, 0);	      /* nobody's: stays until it is asked for */
	restore_own(&o, self, false);
	assert_file(SWAPPINESS, "10");
	assert_quiet(&o, true);
	tree_restore(&o);
	tree_apply(&o, other);
	restore_own(&o, self, false);
	assert_file(SWAPPINESS, "10");
	restore_own(&o, other, true);
	assert_as_before();
	tree_apply(&o, self);
	restore_own(&o, self, true);
	assert_as_before();
}

static void what_is_held_or_nobodys_is_not_taken_for_abandoned(void **state)
{
	struct quiet_options o = tree_options();
	quiet_list undone = { 0 };
	struct error err = ERROR_INIT;
	const int owners[] = { 0, (int)getpid() };
	(void)state;
	for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
		tree_apply(&o, owners[i]);
		assert_int_equal(quiet_restore_abandoned(&o, &undone, &err), 0);
		assert_int_equal(undone.count, 0);
		assert_quiet(&o, true);
		tree_restore(&o);
	}
	assert_as_before();
}

/* Whoever has the lock may be about to change the journal: it is not read before. */
static void a_locked_journal_is_not_read(void **state)
{
	struct quiet_options o = tree_options();
	quiet_list undone = { 0 };
	struct error err = ERROR_INIT;
	(void)state;
	tree_put("/run/tare/quiet.journal", "not yet whole\n");
	int fd = open(tree_journal, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(quiet_restore(&o, &undone, &err), 0);
	assert_int_equal(undone.count, 0);
	close(fd);
	assert_int_equal(quiet_restore(&o, &undone, &err), -1);
	assert_non_null(strstr(err.text, "cannot understand line 1"));
	assert_int_equal(unlink(tree_journal), 0);
	assert_as_before();
}

/* Root writes what a journal says, but only below /sys and /proc. */
static void a_journal_that_leads_elsewhere_is_refused(void **state)
{
	struct quiet_options o = tree_options();
	static const char *const files[] = { "/etc/passwd", "/sys", "/system/x", "/sys/../etc/x",
					     "/proc/sys/.." };
	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		quiet_list undone = { 0 };
		struct error err = ERROR_INIT;
		char text[256];
		snprintf(text, sizeof text,
			 "tare-quiet 1\nchange\t0\tgovernor\t%s\told\tnew\nbegin\nmade\t0\tnew\n",
			 files[i]);
		tree_put("/run/tare/quiet.journal", text);
		assert_int_equal(quiet_restore(&o, &undone, &err), -1);
		assert_non_null(strstr(err.text, "cannot understand line 2"));
		assert_int_equal(undone.count, 0);
		assert_int_equal(unlink(tree_journal), 0);
	}
	assert_as_before();
}

/* ---- the directory ---- */

static void a_directory_of_ones_own_is_closed_to_others_and_no_link(void **state)
{
	char *path = tree_path("/mine"), *link = tree_path("/link");
	(void)state;
	assert_false(directory_is_own(path));
	assert_true(directory_own(path));
	assert_true(directory_own(path) && directory_is_own(path));
	assert_int_equal(symlink(path, link), 0);
	assert_false(directory_own(link));
	tree_mode("/mine", 0750);
	assert_false(directory_own(path) || directory_is_own(path));
	assert_false(directory_is_own("/proc"));
	tree_put("/file", "");
	char *file = tree_path("/file");
	assert_false(directory_own(file));
	free(file);
	free(link);
	free(path);
}

static void the_runtime_directory_is_an_absolute_path_or_refused(void **state)
{
	const char *is = getenv("TARE_RUNTIME_DIR");
	char *told = is ? strdup(is) : NULL;
	struct quiet_options o = { 0 };
	struct quiet_status status;
	struct error err = ERROR_INIT;
	(void)state;
	unsetenv("TARE_RUNTIME_DIR");
	assert_string_equal(runtime_directory(), "/run/tare");
	setenv("TARE_RUNTIME_DIR", "", 1);
	assert_string_equal(runtime_directory(), "/run/tare");
	setenv("TARE_RUNTIME_DIR", "/somewhere", 1);
	assert_string_equal(runtime_directory(), "/somewhere");
	setenv("TARE_RUNTIME_DIR", "somewhere", 1);
	assert_null(runtime_directory());
	assert_int_equal(quiet_look(&o, &status, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_non_null(strstr(err.text, "TARE_RUNTIME_DIR"));
	if (told)
		setenv("TARE_RUNTIME_DIR", told, 1);
	else
		unsetenv("TARE_RUNTIME_DIR");
	free(told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_TREE(the_last_user_restores_a_knob),
		ON_TREE(a_used_knob_outlives_a_quiet_machine),
		ON_TREE(a_change_that_cannot_be_journalled_is_undone),
		ON_TREE(a_knob_that_cannot_be_read_is_kept_for_later),
		ON_TREE(a_knob_that_cannot_be_read_back_is_changed_all_the_same),
		ON_TREE(a_process_restores_only_what_it_changed_itself),
		ON_TREE(what_is_held_or_nobodys_is_not_taken_for_abandoned),
		ON_TREE(a_locked_journal_is_not_read),
		ON_TREE(a_journal_that_leads_elsewhere_is_refused),
		ON_TREE(a_directory_of_ones_own_is_closed_to_others_and_no_link),
		cmocka_unit_test(the_runtime_directory_is_an_absolute_path_or_refused),
	};
	/* files that cannot be read stop others than root only */
	bool was_root = anyone_begin();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	anyone_end(was_root);
	return failed;
}
