#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/strbuf.h"

const struct tree_file tree_files[TREE_FILES] = {
	{ CPU "online", "0-3\n" },
	{ CPU "smt/control", "on\n" },
	{ CPU "intel_pstate/no_turbo", "0\n" },
	{ CPU "cpufreq/policy0/scaling_governor", "powersave\n" },
	{ CPU "cpufreq/policy0/energy_performance_preference", "balance_performance\n" },
	{ CPU "cpufreq/policy0/scaling_min_freq", "800000\n" },
	{ CPU "cpufreq/policy0/scaling_max_freq", "3600000\n" },
	{ CPU "cpufreq/policy1/scaling_governor", "performance\n" },
	{ CPU "cpufreq/policy1/scaling_min_freq", "1200000\n" },
	{ CPU "cpufreq/policy1/scaling_max_freq", "3400000\n" },
	{ "/proc/sys/kernel/nmi_watchdog", "1\n" },
	{ "/proc/sys/kernel/timer_migration", "1\n" },
	{ "/proc/sys/kernel/numa_balancing", "1" }, /* no end of line: that too is put back */
	{ "/proc/sys/kernel/task_delayacct", "0\n" },
	{ "/proc/sys/vm/stat_interval", "60\n" },
	{ "/proc/sys/vm/swappiness", "60\n" },
	{ THP "enabled", "[always] madvise never\n" },
	{ THP "defrag", "always defer defer+madvise [madvise] never\n" },
	{ "/proc/irq/default_smp_affinity", "f\n" },
	{ "/proc/irq/9/smp_affinity_list", "0-3\n" },
	{ "/proc/irq/10/smp_affinity_list", "2-3\n" },
	{ "/proc/irq/11/smp_affinity_list", "1\n" },
	{ "/sys/devices/virtual/workqueue/cpumask", "00000000,0000000f\n" },
};

char tree_root[64], tree_journal[96];
static const uint32_t isolated[] = { 2, 3 };

char *tree_path(const char *path)
{
	struct strbuf out = { 0 };
	strbuf_printf(&out, "%s%s", tree_root, path);
	return strbuf_detach(&out);
}

void tree_put(const char *path, const char *text)
{
	char *name = tree_path(path);
	for (char *p = name + strlen(tree_root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(name, 0755);
		*p = '/';
	}
	FILE *file = fopen(name, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	free(name);
}

void assert_file(const char *path, const char *text)
{
	char *name = tree_path(path), *found = file_read(name);
	assert_non_null(found);
	assert_string_equal(found, text);
	free(found);
	free(name);
}

void assert_as_before(void)
{
	for (size_t i = 0; i < TREE_FILES; i++)
		assert_file(tree_files[i].path, tree_files[i].text);
	assert_int_not_equal(access(tree_journal, F_OK), 0);
}

int tree_begin(void **state)
{
	(void)state;
	strcpy(tree_root, "/tmp/tare-quiet-[XXXXXX"); /* a pattern, if it were taken for one */
	if (!mkdtemp(tree_root))
		return -1;
	snprintf(tree_journal, sizeof tree_journal, "%s/run/tare/quiet.journal", tree_root);
	for (size_t i = 0; i < TREE_FILES; i++)
		tree_put(tree_files[i].path, tree_files[i].text);
	return 0;
}

int tree_end(void **state)
{
	char *const words[] = { (char *)"rm", (char *)"-rf", tree_root, NULL };
	int status = -1;
	(void)state;
	pid_t pid = fork();
	if (pid == 0) {
		execv("/bin/rm", words);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : -1;
}

struct quiet_options tree_options(void)
{
	return (struct quiet_options){ .root = tree_root, .isolate = isolated, .isolate_count = 2 };
}

const struct quiet_item *item_of(const quiet_list *list, const char *what)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].what, what) == 0)
			return &list->items[i];
	fail_msg("nothing is said of %s", what);
	return NULL;
}

void assert_state(const quiet_list *list, const char *what, enum quiet_state state)
{
	assert_string_equal(quiet_state_name(item_of(list, what)->state), quiet_state_name(state));
}

void tree_apply(const struct quiet_options *o, int owner)
{
	quiet_list made = { 0 };
	struct error err = ERROR_INIT;
	if (quiet_apply(o, owner, &made, &err))
		fail_msg("%s", err.text);
	quiet_list_release(&made);
}

void tree_restore(const struct quiet_options *o)
{
	quiet_list undone = { 0 };
	struct error err = ERROR_INIT;
	if (quiet_restore(o, &undone, &err))
		fail_msg("%s", err.text);
	quiet_list_release(&undone);
}

void tree_mode(const char *path, mode_t mode)
{
	char *name = tree_path(path);
	assert_int_equal(chmod(name, mode), 0);
	free(name);
}

bool anyone_begin(void)
{
	bool was_root = geteuid() == 0;
	if (was_root && seteuid(65534))
		abort();
	return was_root;
}

/* Who changed its user may not be looked into, by LeakSanitizer neither. */
void anyone_end(bool was_root)
{
	if (was_root && (seteuid(0) || prctl(PR_SET_DUMPABLE, 1)))
		abort();
}
