/* What is put back, and by whom: what cannot be read is not given up, and what another holds quiet
 * is left. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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
		ON_TREE(a_knob_that_cannot_be_read_is_kept_for_later),
		ON_TREE(a_knob_that_cannot_be_read_back_is_changed_all_the_same),
		ON_TREE(a_process_restores_only_what_it_changed_itself),
		ON_TREE(what_is_held_or_nobodys_is_not_taken_for_abandoned),
		ON_TREE(a_locked_journal_is_not_read),
		ON_TREE(a_directory_of_ones_own_is_closed_to_others_and_no_link),
		cmocka_unit_test(the_runtime_directory_is_an_absolute_path_or_refused),
	};
	/* files that cannot be read stop others than root only */
	bool was_root = anyone_begin();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	anyone_end(was_root);
	return failed;
}
