/* tare quiet on a tree of files that stands for a machine: what is changed, what is put back, and
 * what is left of it when its maker is killed anywhere. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "fixture.h"
#include "quiet/quiet.h"

/* ---- plan, apply, restore ---- */

static void a_plan_says_what_would_change_and_changes_nothing(void **state)
{
	struct quiet_options o = tree_options();
	quiet_list list = { 0 };
	struct error err = ERROR_INIT;
	(void)state;
	assert_int_equal(quiet_plan(&o, &list, &err), 0);
	assert_state(&list, CPU "intel_pstate/no_turbo", QUIET_WOULD_CHANGE);
	assert_state(&list, CPU "cpufreq/policy1/scaling_governor", QUIET_ALREADY);
	assert_state(&list, "/proc/sys/vm/stat_interval", QUIET_ALREADY); /* 60 s is rarer still */
	assert_state(&list, THP "enabled", QUIET_WOULD_CHANGE);
	assert_state(&list, THP "defrag", QUIET_ALREADY);
	assert_state(&list, "/proc/irq/11/smp_affinity_list", QUIET_ALREADY);
	assert_string_equal(item_of(&list, "/proc/irq/10/smp_affinity_list")->after, "0-1");
	assert_string_equal(item_of(&list, "/sys/devices/virtual/workqueue/cpumask")->after,
			    "00000000,00000003");
	assert_string_equal(item_of(&list, CPU "cpufreq/policy0/scaling_min_freq")->after,
			    "3600000");
	for (size_t i = 0; i < list.count; i++)
		assert_string_not_equal(list.items[i].knob, "smt"); /* not by default */
	quiet_list_release(&list);
	assert_as_before();
}

static void what_is_applied_is_restored_to_what_it_was(void **state)
{
	struct quiet_options o = tree_options();
	quiet_list made = { 0 }, undone = { 0 };
	struct error err = ERROR_INIT;
	struct quiet_status status;
	(void)state;
	assert_int_equal(quiet_apply(&o, 0, &made, &err), 0);
	assert_file(CPU "intel_pstate/no_turbo", "1");
	assert_file(CPU "cpufreq/policy0/scaling_governor", "performance");
	assert_file("/proc/irq/9/smp_affinity_list", "0-1");
	assert_file("/proc/irq/default_smp_affinity", "3");
	assert_file(CPU "smt/control", "on\n");
	assert_state(&made, CPU "intel_pstate/no_turbo", QUIET_CHANGED);
	assert_int_equal(quiet_look(&o, &status, &err), 0);
	assert_true(status.quiet && !status.abandoned && !status.stale && status.owner == 0);
	size_t changed = 0;
	for (size_t i = 0; i < made.count; i++)
		changed += made.items[i].state == QUIET_CHANGED;
	assert_int_equal(status.changes, changed);
	/* twice is refused, and changes nothing */
	quiet_list again = { 0 };
	assert_int_equal(quiet_apply(&o, 0, &again, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_non_null(strstr(err.text, "quiet already"));
	quiet_list_release(&again);
	assert_int_equal(quiet_restore(&o, &undone, &err), 0);
	assert_int_equal(undone.count, changed);
	/* last change first */
	assert_string_equal(undone.items[0].what, "/sys/devices/virtual/workqueue/cpumask");
	assert_as_before();
	tree_restore(&o); /* nothing left to do */
	assert_as_before();
	quiet_list_release(&made);
	quiet_list_release(&undone);
}

/* Who still runs puts everything back itself: nobody is told to do it beneath them. */
static void beneath_a_live_holder_restoring_is_not_advised(void **state)
{
	(void)state;
	struct quiet_options o = { .root = tree_root };
	struct error err = ERROR_INIT;
	quiet_list made = { 0 }, again = { 0 }, undone = { 0 };
	assert_int_equal(quiet_apply(&o, (int)getpid(), &made, &err), 0);
	assert_int_equal(quiet_apply(&o, 0, &again, &err), -1);
	assert_non_null(strstr(err.text, "quiet already"));
	assert_null(strstr(err.hint, "--restore"));
	assert_non_null(strstr(err.hint, "when it ends"));
	assert_int_equal(quiet_restore(&o, &undone, &err), 0);
	quiet_list_release(&made);
	quiet_list_release(&again);
	quiet_list_release(&undone);
}

static void only_chosen_knobs_are_changed(void **state)
{
	static const char *const only[] = { "default", "smt" }, *const except[] = { "turbo" };
	struct quiet_options o = { .root = tree_root,
				   .only = only,
				   .only_count = 2,
				   .except = except,
				   .except_count = 1 };
	(void)state;
	tree_apply(&o, 0);
	assert_file(CPU "smt/control", "off");
	assert_file(CPU "intel_pstate/no_turbo", "0\n");
	assert_file(CPU "cpufreq/policy0/scaling_governor", "performance");
	assert_file("/proc/irq/9/smp_affinity_list", "0-3\n"); /* nothing is isolated */
	tree_restore(&o);
	assert_as_before();
}

static void what_others_changed_meanwhile_is_left_alone(void **state)
{
	struct quiet_options o = tree_options();
	quiet_list undone = { 0 };
	struct error err = ERROR_INIT;
	(void)state;
	tree_apply(&o, 0);
	tree_put("/proc/sys/vm/swappiness", "33\n");
	char *gone = tree_path("/proc/irq/9/smp_affinity_list");
	assert_int_equal(unlink(gone), 0); /* its device was taken out */
	free(gone);
	assert_int_equal(quiet_restore(&o, &undone, &err), 0);
	assert_state(&undone, "/proc/sys/vm/swappiness", QUIET_LEFT);
	assert_non_null(strstr(item_of(&undone, "/proc/sys/vm/swappiness")->why, "60"));
	assert_state(&undone, "/proc/irq/9/smp_affinity_list", QUIET_LEFT);
	assert_file("/proc/sys/vm/swappiness", "33\n");
	quiet_list_release(&undone);
	tree_put("/proc/sys/vm/swappiness", "60\n");
	tree_put("/proc/irq/9/smp_affinity_list", "0-3\n");
	assert_as_before();
	tree_apply(&o, 0);
	tree_put("/proc/sys/vm/swappiness", "33\n");
	o.force = true;
	tree_restore(&o);
	assert_as_before();
}

static void what_cannot_be_put_back_stays_in_the_journal(void **state)
{
	struct quiet_options o = tree_options();
	quiet_list made = { 0 }, undone = { 0 };
	struct error err = ERROR_INIT;
	(void)state;
	tree_mode(CPU "intel_pstate/no_turbo", 0444);
	assert_int_equal(quiet_apply(&o, 0, &made, &err), 0);
	assert_state(&made, CPU "intel_pstate/no_turbo", QUIET_REFUSED);
	assert_non_null(strstr(item_of(&made, CPU "intel_pstate/no_turbo")->why, "ermission"));
	assert_state(&made, CPU "cpufreq/policy0/scaling_governor", QUIET_CHANGED);
	/* what cannot be put back stays in the journal until it can be */
	tree_mode("/proc/sys/vm/swappiness", 0444);
	assert_int_equal(quiet_restore(&o, &undone, &err), -1);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_file(CPU "cpufreq/policy0/scaling_governor", "powersave\n");
	assert_file("/proc/sys/vm/swappiness", "10");
	tree_mode("/proc/sys/vm/swappiness", 0644);
	tree_restore(&o);
	assert_as_before();
	quiet_list_release(&made);
	quiet_list_release(&undone);
}

/* ---- killed ---- */

static int steps_left;

static void kill_at(void *context)
{
	(void)context;
	if (steps_left-- == 0)
		raise(SIGKILL);
}

/* Whether it was killed at that step of the apply, and of the restoring after it. */
static bool killed(int at, bool applies, bool restores)
{
	int status;
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		struct quiet_options o = tree_options();
		quiet_list list = { 0 };
		steps_left = at;
		o.step = applies ? kill_at : NULL;
		if (quiet_apply(&o, (int)getpid(), &list, NULL))
			_exit(1);
		o.step = restores ? kill_at : NULL;
		if (restores && quiet_restore(&o, &list, NULL))
			_exit(1);
		quiet_list_release(&list);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGKILL;
	assert_int_equal(WEXITSTATUS(status), 0);
	return false;
}

/* The journal of a process that is gone is found, and undone. */
static void assert_recovers(void)
{
	struct quiet_options o = { .root = tree_root };
	struct quiet_status status;
	struct error err = ERROR_INIT;
	assert_true(quiet_is_journalled(&o));
	assert_int_equal(quiet_look(&o, &status, &err), 0);
	assert_true(status.quiet && status.abandoned);
	tree_restore(&o);
	assert_as_before();
}

static void a_tare_killed_while_applying_is_undone_by_the_next(void **state)
{
	int at = 0;
	(void)state;
	for (; killed(at, true, false); at++)
		assert_recovers();
	assert_true(at >= 20); /* two steps a change */
	assert_recovers();     /* it ended after all was changed */
}

static void a_tare_killed_while_restoring_is_finished_by_the_next(void **state)
{
	int at = 0;
	(void)state;
	for (; killed(at, false, true); at++)
		assert_recovers();
	assert_true(at >= 20);
	assert_as_before();
}

/* By one who restores what is nobody's. */
static void killed_while_restoring(void)
{
	int status;
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		struct quiet_options o = { .root = tree_root, .step = kill_at };
		quiet_list list = { 0 };
		steps_left = 7;
		quiet_restore(&o, &list, NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static void a_killed_restorer_leaves_the_rest_to_the_next(void **state)
{
	struct quiet_options o = tree_options();
	(void)state;
	tree_apply(&o, 0); /* nobody's: stays */
	killed_while_restoring();
	assert_recovers();
}

/* ---- the journal ---- */

static void a_journal_of_an_earlier_boot_changes_nothing(void **state)
{
	struct quiet_options o = tree_options();
	struct quiet_status status;
	struct error err = ERROR_INIT;
	(void)state;
	tree_apply(&o, 0);
	char *text = file_read(tree_journal);
	assert_non_null(text);
	char *boot = strstr(text, "boot\t");
	assert_non_null(boot);
	if (boot)
		boot[5] = boot[5] == '0' ? '1' : '0';
	tree_put("/run/tare/quiet.journal", text);
	free(text);
	for (size_t i = 0; i < TREE_FILES; i++)
		tree_put(tree_files[i].path, tree_files[i].text); /* as a boot does */
	tree_put("/proc/sys/vm/swappiness", "10");		  /* by /etc/sysctl.d, say */
	assert_int_equal(quiet_look(&o, &status, &err), 0);
	assert_true(status.stale);
	tree_restore(&o);
	assert_file("/proc/sys/vm/swappiness", "10");
	tree_put("/proc/sys/vm/swappiness", "60\n");
	assert_as_before();
}

static void a_damaged_or_writable_journal_is_not_believed(void **state)
{
	static const char *const texts[] = {
		"",
		"something else\n",
		"tare-quiet 1\nboot\tx\nowner\t1\t1\nsince\t1\n",
		"tare-quiet 1\nboot\tx\nchange\t0\tturbo\t/etc/passwd\ta\tb\nbegin\n",
		"tare-quiet 1\nboot\tx\nchange\t0\tturbo\t/sys/../etc/passwd\ta\tb\nbegin\n",
		"tare-quiet 1\nboot\tx\nchange\t99\tturbo\t/sys/x\ta\tb\nbegin\n",
		"tare-quiet 1\nboot\tx\nbegin\nmade\t0\tx\n",
		"tare-quiet 1\nboot\tx\nbegin\nfinished\t-1\n",
	};
	struct quiet_options o = tree_options();
	quiet_list list = { 0 };
	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct error err = ERROR_INIT;
		tree_put("/run/tare/quiet.journal", texts[i]);
		assert_int_equal(chmod(tree_journal, 0600), 0);
		assert_int_equal(quiet_restore(&o, &list, &err), -1);
		assert_int_equal(err.code, EXIT_ENVIRONMENT);
		assert_non_null(strstr(err.text, "journal"));
	}
	/* others could have written it */
	struct error err = ERROR_INIT;
	tree_put("/run/tare/quiet.journal", "tare-quiet 1\nbegin\n");
	assert_int_equal(chmod(tree_journal, 0666), 0);
	assert_int_equal(quiet_restore(&o, &list, &err), -1);
	assert_non_null(strstr(err.text, "not believed"));
	assert_int_equal(unlink(tree_journal), 0);
	assert_as_before();
}

/* A line that was cut off by the end of its writer says nothing. */
static void half_a_line_at_the_end_of_the_journal_is_ignored(void **state)
{
	struct quiet_options o = tree_options();
	(void)state;
	tree_apply(&o, 0);
	FILE *file = fopen(tree_journal, "a");
	assert_non_null(file);
	fputs("finish", file);
	assert_int_equal(fclose(file), 0);
	killed_while_restoring(); /* after it has added lines of its own */
	assert_recovers();
}

/* ---- options ---- */

static void assert_usage(const struct quiet_options *o, const char *says)
{
	quiet_list list = { 0 };
	struct error err = ERROR_INIT;
	assert_int_equal(quiet_plan(o, &list, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
	quiet_list_release(&list);
}

static void impossible_options_are_refused(void **state)
{
	static const uint32_t all[] = { 0, 1, 2, 3 }, none[] = { 7 };
	static const char *const turbo[] = { "trubo" }, *const irq[] = { "irq" };
	static const char *const ssh[] = { "sshd.service" };
	(void)state;
	assert_usage(&(struct quiet_options){ .root = tree_root, .only = turbo, .only_count = 1 },
		     "no knob 'trubo'");
	assert_usage(&(struct quiet_options){ .root = tree_root, .only = irq, .only_count = 1 },
		     "needs CPUs");
	assert_usage(
		&(struct quiet_options){ .root = tree_root, .isolate = all, .isolate_count = 4 },
		"all CPUs");
	assert_usage(
		&(struct quiet_options){ .root = tree_root, .isolate = none, .isolate_count = 1 },
		"CPU 7");
	assert_usage(
		&(struct quiet_options){ .root = tree_root, .services = ssh, .service_count = 1 },
		"never stopped");
}

static void essential_services_are_never_stopped(void **state)
{
	char never[] =
		"ssh sshd ssh.service ssh.socket sshd@3.service networking network.service "
		"NetworkManager networkd-dispatcher.service systemd-networkd "
		"systemd-networkd.socket systemd-resolved systemd-logind.service "
		"systemd-journald systemd-journald.socket systemd-udevd dbus dbus.socket "
		"dbus-broker init.scope dhclient wpa_supplicant cloud-init qemu-guest-agent "
		"google-guest-agent amazon-ssm-agent containerd docker getty@tty1.service "
		"serial-getty@ttyS0.service user@1000.service chrony systemd-timesyncd home.mount";
	static const char *const may_be[] = { "cron",
					      "cron.service",
					      "atd",
					      "cups",
					      "systemd-tmpfiles-clean.timer",
					      "apt-daily.timer",
					      "irqbalance",
					      "snapd" };
	(void)state;
	for (char *rest = never, *name; (name = strsep(&rest, " "));)
		if (!quiet_kept(name))
			fail_msg("%s would be stopped", name);
	for (size_t i = 0; i < sizeof may_be / sizeof *may_be; i++)
		assert_null(quiet_kept(may_be[i]));
}

static void without_root_nothing_is_changed(void **state)
{
	struct quiet_options o = { 0 };
	quiet_list list = { 0 };
	struct error err = ERROR_INIT;
	(void)state;
	assert_int_equal(quiet_apply(&o, 0, &list, &err), -1);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_non_null(strstr(err.text, "root"));
	assert_int_equal(quiet_restore(&o, &list, &err), -1);
	assert_int_equal(err.code, EXIT_ENVIRONMENT);
	assert_false(quiet_is_journalled(&o));
	assert_int_equal(list.count, 0);
}

static void every_knob_says_why(void **state)
{
	(void)state;
	for (const struct quiet_knob *k = quiet_knobs; k->name; k++) {
		assert_true(k->source && *k->source && k->effect);
		assert_int_equal(k->effect[strlen(k->effect) - 1], '.');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_TREE(a_plan_says_what_would_change_and_changes_nothing),
		ON_TREE(what_is_applied_is_restored_to_what_it_was),
		ON_TREE(beneath_a_live_holder_restoring_is_not_advised),
		ON_TREE(only_chosen_knobs_are_changed),
		ON_TREE(what_others_changed_meanwhile_is_left_alone),
		ON_TREE(what_cannot_be_put_back_stays_in_the_journal),
		ON_TREE(a_tare_killed_while_applying_is_undone_by_the_next),
		ON_TREE(a_tare_killed_while_restoring_is_finished_by_the_next),
		ON_TREE(a_killed_restorer_leaves_the_rest_to_the_next),
		ON_TREE(a_journal_of_an_earlier_boot_changes_nothing),
		ON_TREE(a_damaged_or_writable_journal_is_not_believed),
		ON_TREE(half_a_line_at_the_end_of_the_journal_is_ignored),
		ON_TREE(impossible_options_are_refused),
		cmocka_unit_test(essential_services_are_never_stopped),
		cmocka_unit_test(without_root_nothing_is_changed),
		cmocka_unit_test(every_knob_says_why),
	};
	/* read-only files stop others than root only */
	bool was_root = anyone_begin();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	anyone_end(was_root);
	return failed;
}
