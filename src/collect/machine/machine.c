#include <errno.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "collect/collect.h"
#include "collect/machine/facts.h"

static void __attribute__((format(printf, 3, 0)))
path_of(const struct reader *r, char *out, const char *fmt, va_list args)
{
	int n = snprintf(out, PATH_MAX, "%s", r->root);
	if (n >= 0 && n < PATH_MAX)
		vsnprintf(out + n, (size_t)(PATH_MAX - n), fmt, args);
}

/* Fills `char path[PATH_MAX]` from the format and arguments of the function it stands in. */
#define PATH_FROM(r, fmt)                    \
	char path[PATH_MAX];                 \
	do {                                 \
		va_list args;                \
		va_start(args, fmt);         \
		path_of(r, path, fmt, args); \
		va_end(args);                \
	} while (0)

char *reader_text(const struct reader *r, const char *fmt, ...)
{
	PATH_FROM(r, fmt);
	return file_read(path);
}

char *reader_line(const struct reader *r, const char *fmt, ...)
{
	PATH_FROM(r, fmt);
	return file_read_line(path);
}

bool reader_number(const struct reader *r, long *value, const char *fmt, ...)
{
	PATH_FROM(r, fmt);
	FREED char *text = file_read_line(path);
	return text && integer_parse(text, LONG_MIN, LONG_MAX, value);
}

bool reader_exists(const struct reader *r, const char *fmt, ...)
{
	PATH_FROM(r, fmt);
	return access(path, F_OK) == 0;
}

bool reader_link(const struct reader *r, char *out, size_t size, const char *fmt, ...)
{
	PATH_FROM(r, fmt);
	ssize_t n = readlink(path, out, size - 1);
	if (n < 0)
		return false;
	out[n] = '\0';
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

void reader_names(const struct reader *r, const char *directory, const char *prefix,
		  word_list *names)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s%s", r->root, directory);
	DIR *dir = opendir(path);
	if (!dir)
		return;
	size_t length = strlen(prefix);
	for (struct dirent *e; (e = readdir(dir));) {
		char next = e->d_name[0] == '.' ? '\0' : 'x';
		if (length)
			next = strncmp(e->d_name, prefix, length) == 0 ? e->d_name[length] : '\0';
		if (length ? next >= '0' && next <= '9' : next != '\0')
			array_push(names, xstrdup(e->d_name));
	}
	closedir(dir);
	array_sort(names, by_name);
}

void list_add(struct strbuf *list, const char *word)
{
	size_t length = strlen(word);
	for (const char *p = list->text; p && *p;) {
		size_t n = strcspn(p, ",");
		if (n == length && strncmp(p, word, n) == 0)
			return;
		p += n;
		p += strspn(p, ", ");
	}
	if (list->length)
		strbuf_puts(list, ", ");
	strbuf_puts(list, word);
}

long cpulist_count(const char *list)
{
	long count = 0;
	while (*list && *list != '\n') {
		char *end;
		if (*list < '0' || *list > '9')
			return -1;
		errno = 0;
		long first = strtol(list, &end, 10), last = first;
		if (*end == '-') {
			if (end[1] < '0' || end[1] > '9')
				return -1;
			last = strtol(end + 1, &end, 10);
		}
		if (errno || last < first || last > 1000000)
			return -1;
		count += last - first + 1;
		if (*end == ',')
			end++;
		else if (*end && *end != '\n')
			return -1;
		list = end;
	}
	return count;
}

char *field_of(const char *text, const char *key)
{
	size_t length = strlen(key);
	for (const char *line = text; line && *line;) {
		const char *end = line + strcspn(line, "\n");
		if (strncmp(line, key, length) == 0 && strchr(" \t:", line[length])) {
			const char *value = line + length;
			value += strspn(value, " \t:");
			while (end > value && strchr(" \t", end[-1]))
				end--;
			return value <= end ? xstrndup(value, (size_t)(end - value)) : NULL;
		}
		line = *end ? end + 1 : end;
	}
	return NULL;
}

enum form {
	LINE,	/* the file as it is */
	CHOSEN, /* the word in brackets */
	NONE,	/* as it is, "none" when empty */
};

static const struct {
	const char *key, *path;
	enum form form;
} files[] = {
	{ "cpu.online", "/sys/devices/system/cpu/online", LINE },
	{ "cpu.present", "/sys/devices/system/cpu/present", LINE },
	{ "cpu.isolated", "/sys/devices/system/cpu/isolated", NONE },
	{ "cpu.nohz_full", "/sys/devices/system/cpu/nohz_full", NONE },
	{ "cpu.smt.control", "/sys/devices/system/cpu/smt/control", LINE },
	{ "cpu.smt.active", "/sys/devices/system/cpu/smt/active", LINE },
	{ "cpu.idle.driver", "/sys/devices/system/cpu/cpuidle/current_driver", LINE },
	{ "cpu.idle.governor", "/sys/devices/system/cpu/cpuidle/current_governor_ro", LINE },
	{ "cpu.idle.governor", "/sys/devices/system/cpu/cpuidle/current_governor", LINE },
	{ "cpu.intel_pstate", "/sys/devices/system/cpu/intel_pstate/status", LINE },
	{ "system.vendor", "/sys/class/dmi/id/sys_vendor", LINE },
	{ "system.product", "/sys/class/dmi/id/product_name", LINE },
	/* tare switches it during a run, so it is not a property of the machine */
	{ "now.task_delayacct", "/proc/sys/kernel/task_delayacct", LINE },
	{ "clock.source", "/sys/devices/system/clocksource/clocksource0/current_clocksource",
	  LINE },
	{ "clock.available", "/sys/devices/system/clocksource/clocksource0/available_clocksource",
	  LINE },
	{ "kernel.release", "/proc/sys/kernel/osrelease", LINE },
	{ "kernel.version", "/proc/sys/kernel/version", LINE },
	{ "kernel.command_line", "/proc/cmdline", LINE },
	{ "kernel.aslr", "/proc/sys/kernel/randomize_va_space", LINE },
	{ "kernel.perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid", LINE },
	{ "kernel.unprivileged_bpf_disabled", "/proc/sys/kernel/unprivileged_bpf_disabled", LINE },
	{ "kernel.sched_schedstats", "/proc/sys/kernel/sched_schedstats", LINE },
	{ "kernel.nmi_watchdog", "/proc/sys/kernel/nmi_watchdog", LINE },
	{ "kernel.watchdog", "/proc/sys/kernel/watchdog", LINE },
	{ "kernel.timer_migration", "/proc/sys/kernel/timer_migration", LINE },
	{ "kernel.numa_balancing", "/proc/sys/kernel/numa_balancing", LINE },
	{ "kernel.sched_rt_runtime_us", "/proc/sys/kernel/sched_rt_runtime_us", LINE },
	{ "kernel.sched_rt_period_us", "/proc/sys/kernel/sched_rt_period_us", LINE },
	{ "kernel.sched_autogroup", "/proc/sys/kernel/sched_autogroup_enabled", LINE },
	{ "kernel.split_lock_mitigate", "/proc/sys/kernel/split_lock_mitigate", LINE },
	{ "vm.stat_interval", "/proc/sys/vm/stat_interval", LINE },
	{ "vm.swappiness", "/proc/sys/vm/swappiness", LINE },
	{ "vm.dirty_ratio", "/proc/sys/vm/dirty_ratio", LINE },
	{ "vm.dirty_background_ratio", "/proc/sys/vm/dirty_background_ratio", LINE },
	{ "vm.dirty_bytes", "/proc/sys/vm/dirty_bytes", LINE },
	{ "vm.dirty_expire_centisecs", "/proc/sys/vm/dirty_expire_centisecs", LINE },
	{ "vm.dirty_writeback_centisecs", "/proc/sys/vm/dirty_writeback_centisecs", LINE },
	{ "vm.overcommit_memory", "/proc/sys/vm/overcommit_memory", LINE },
	{ "vm.hugepages", "/proc/sys/vm/nr_hugepages", LINE },
	{ "vm.compaction_proactiveness", "/proc/sys/vm/compaction_proactiveness", LINE },
	{ "memory.thp", "/sys/kernel/mm/transparent_hugepage/enabled", CHOSEN },
	{ "memory.thp_defrag", "/sys/kernel/mm/transparent_hugepage/defrag", CHOSEN },
	{ "memory.ksm", "/sys/kernel/mm/ksm/run", LINE },
	{ "memory.zswap", "/sys/module/zswap/parameters/enabled", LINE },
	{ "memory.lru_gen", "/sys/kernel/mm/lru_gen/enabled", LINE },
	{ "memory.page_reporting_order",
	  "/sys/module/page_reporting/parameters/page_reporting_order", LINE },
	{ "irq.default_affinity", "/proc/irq/default_smp_affinity", LINE },
	{ "irq.workqueue_affinity", "/sys/devices/virtual/workqueue/cpumask", LINE },
};

/* What exists or does not: known as long as its parent can be seen. */
static void read_presence(const struct reader *r)
{
	static const struct {
		const char *key, *parent, *path;
	} things[] = {
		{ "kernel.btf", "/sys/kernel", "/sys/kernel/btf/vmlinux" },
		{ "kernel.psi", "/proc/sys", "/proc/pressure/cpu" },
		{ "kernel.schedstat", "/proc/self", "/proc/self/schedstat" },
		{ "kernel.task_io", "/proc/self", "/proc/self/io" },
		{ "kernel.kprobes", "/proc/sys", "/proc/sys/debug/kprobes-optimization" },
	};
	for (size_t i = 0; i < sizeof things / sizeof *things; i++)
		if (reader_exists(r, "%s", things[i].parent))
			machine_set(r->into, things[i].key,
				    reader_exists(r, "%s", things[i].path) ? "yes" : "no");
}

/* /proc/config.gz, NULL when there is none. */
static char *config_unpacked(const struct reader *r)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/proc/config.gz", r->root);
	gzFile file = gzopen(path, "rb");
	if (!file)
		return NULL;
	struct strbuf sb = { 0 };
	char chunk[16384];
	int n;
	while ((n = gzread(file, chunk, sizeof chunk)) > 0 && sb.length < 1u << 22)
		strbuf_add(&sb, chunk, (size_t)n);
	gzclose(file);
	return strbuf_detach(&sb);
}

static bool config_on(const char *config, const char *name)
{
	char line[64];
	int n = snprintf(line, sizeof line, "\nCONFIG_%s=y", name);
	const char *at = strstr(config, line);
	return at && (at[n] == '\n' || at[n] == '\0');
}

/* The first of these that is set names the value. */
struct option {
	const char *name, *value;
};

static void read_choice(const struct reader *r, const char *config, const char *key,
			const struct option *options)
{
	for (; options->name; options++)
		if (config_on(config, options->name)) {
			machine_set(r->into, key, options->value);
			return;
		}
}

static void read_config(const struct reader *r)
{
	static const struct option preemption[] = {
		{ "PREEMPT_RT", "full (rt)" }, { "PREEMPT_LAZY", "lazy" },
		{ "PREEMPT_NONE", "none" },    { "PREEMPT_VOLUNTARY", "voluntary" },
		{ "PREEMPT", "full" },	       { 0 }
	};
	static const struct option tick[] = { { "NO_HZ_FULL", "nohz_full" },
					      { "NO_HZ_IDLE", "nohz_idle" },
					      { "HZ_PERIODIC", "periodic" },
					      { 0 } };
	static const char *const debugging[] = { "KASAN",      "KCSAN",		"KMSAN",
						 "UBSAN",      "PROVE_LOCKING", "DEBUG_PAGEALLOC",
						 "KMEMLEAK",   "SLUB_DEBUG_ON", "LOCK_STAT",
						 "DEBUG_VM",   "DEBUG_OBJECTS", "KCOV",
						 "GCOV_KERNEL" };
	static const char *const features[] = { "TASKSTATS",
						"TASK_DELAY_ACCT",
						"TASK_IO_ACCOUNTING",
						"IRQ_TIME_ACCOUNTING",
						"PARAVIRT_TIME_ACCOUNTING",
						"VIRT_CPU_ACCOUNTING_GEN",
						"FTRACE" };
	const char *release = machine_get(r->into, "kernel.release");
	FREED char *text = release ? reader_text(r, "/boot/config-%s", release) : NULL;
	if (!text || !*text) {
		free(text);
		text = config_unpacked(r);
	}
	if (!text)
		return;
	const char *hz = strstr(text, "\nCONFIG_HZ=");
	if (hz)
		machine_setf(r->into, "kernel.hz", "%d", atoi(hz + strlen("\nCONFIG_HZ=")));
	read_choice(r, text, "kernel.preemption", preemption);
	read_choice(r, text, "kernel.tick", tick);
	SCOPED(strbuf_release) struct strbuf list = { 0 };
	for (size_t i = 0; i < sizeof debugging / sizeof *debugging; i++)
		if (config_on(text, debugging[i]))
			list_add(&list, debugging[i]);
	if (hz) /* it is a configuration: what is not there is off */
		machine_set(r->into, "kernel.debugging", list.length ? list.text : "none");
	strbuf_clear(&list);
	for (size_t i = 0; i < sizeof features / sizeof *features; i++)
		if (config_on(text, features[i]))
			list_add(&list, features[i]);
	if (list.length)
		machine_set(r->into, "kernel.features", list.text);
}

static void read_software(const struct reader *r)
{
	FREED char *text = reader_text(r, "/etc/os-release");
	const char *at = text ? strstr(text, "PRETTY_NAME=") : NULL;
	if (at) {
		at += strlen("PRETTY_NAME=");
		at += *at == '"';
		machine_setf(r->into, "system.os", "%.*s", (int)strcspn(at, "\"\n"), at);
	}
	if (r->live)
		machine_setf(r->into, "system.libc", "glibc %s", gnu_get_libc_version());
	FREED char *init = reader_line(r, "/proc/1/comm");
	bool systemd = reader_exists(r, "/run/systemd/system");
	if (systemd || init)
		machine_set(r->into, "system.init", systemd ? "systemd" : init);
	if (!reader_exists(r, "/etc/systemd/system"))
		return;
	SCOPED(words_release) word_list timers = { 0 };
	SCOPED(strbuf_release) struct strbuf list = { 0 };
	reader_names(r, "/etc/systemd/system/timers.target.wants", "", &timers);
	for (size_t i = 0; i < timers.count; i++)
		list_add(&list, timers.items[i]);
	machine_set(r->into, "system.timers", list.length ? list.text : "none");
}

void machine_read_from(const char *root, struct machine *into)
{
	struct reader r = { root, *root == '\0', into };
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		FREED char *text = reader_line(&r, "%s", files[i].path);
		char *open = text && files[i].form == CHOSEN ? strchr(text, '[') : NULL;
		char *close = open ? strchr(open, ']') : NULL;
		if (close)
			*close = '\0';
		if (text && (*text || files[i].form == NONE))
			machine_set(into, files[i].key, close ? open + 1 : *text ? text : "none");
	}
	/* kernels without CPU isolation have no such file, or one that says "(null)" */
	const char *nohz = machine_get(r.into, "cpu.nohz_full");
	if (nohz && strstr(nohz, "null"))
		machine_set(r.into, "cpu.nohz_full", "none");
	read_presence(&r);
	read_config(&r);
	const char *line = machine_get(r.into, "kernel.command_line");
	for (const char *at = line; at && (at = strstr(at, "preempt=")); at += 8)
		if (at == line || at[-1] == ' ')
			machine_setf(r.into, "kernel.preemption", "%.*s", (int)strcspn(at + 8, " "),
				     at + 8);
	struct timespec tick;
	/* the coarse clocks advance once a tick */
	if (r.live && !machine_get(r.into, "kernel.hz") &&
	    clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0 && tick.tv_nsec > 0)
		machine_setf(r.into, "kernel.hz", "%ld",
			     (1000000000 + tick.tv_nsec / 2) / tick.tv_nsec);
	read_software(&r);
	read_cpu(&r);
	read_place(&r);
	read_now(&r);
}

void machine_read(struct machine *into)
{
	machine_read_from("", into);
}
