/* The table of knobs, and those that are files of /proc and /sys. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "quiet/change.h"

/* In the order in which they are changed: first who might change the others. */
const struct quiet_knob quiet_knobs[] = {
	{ "services", "EMP v1, temci",
	  "Stops the services that a measurement does without: they wake up, walk disks, fetch "
	  "updates.",
	  true },
	{ "jobs", "EMP v1",
	  "Stops timers and holds cron and at, so that no job begins while something is measured.",
	  true },
	{ "power", "EMP v3", "Stops the daemons that change frequencies by themselves.", true },
	{ "irqbalance", "pyperf, tuned", "Keeps interrupts from moving between CPUs.", true },
	{ "smt", "temci", "Turns off the second thread of each core, which shares its units.",
	  false },
	{ "turbo", "EMP v3, pyperf, temci",
	  "The clock rate no longer depends on heat and on what other cores do.", true },
	{ "governor", "EMP v3, pyperf, temci, tuned",
	  "The clock rate no longer follows the load of the last moments.", true },
	{ "frequency", "pyperf, tuned", "The lowest clock rate is the highest allowed one.", true },
	{ "watchdog", "tuned", "Ends the watchdog's regular NMI, and frees a counter.", true },
	{ "vmstat", "tuned", "Memory statistics are folded every 10 s instead of every second.",
	  true },
	{ "timer-migration", "tuned", "A CPU no longer serves the timers of idle ones.", true },
	{ "perf", "pyperf",
	  "Other profilers may sample once per second at most; tare profile, too: not by default.",
	  false },
	{ "thp", "tuned", "Huge pages and compaction only for programs that ask for them.", true },
	{ "swappiness", "tuned", "Idle pages are hardly swapped out to make room for files.",
	  true },
	{ "swap", "temci", "Turns all swap off; takes as long as it takes to read it back.",
	  false },
	{ "writeback", "tuned", "Dirty pages are looked for every 15 s instead of every 5 s.",
	  false },
	{ "numa", "tuned", "Ends the faults by which the kernel finds out where memory is used.",
	  true },
	{ "delayacct", "TTP",
	  "Turns delay accounting on, so that waiting for disks can be told from the rest.", true },
	{ "cpuset", "temci", "Keeps all other tasks off the isolated CPUs (cgroup v2 partition).",
	  true, true },
	{ "irq", "pyperf, tuned", "Moves interrupts away from the isolated CPUs.", true, true },
	{ "workqueue", "tuned", "Moves the kernel's unbound work away from the isolated CPUs.",
	  true, true },
	{ 0 },
};

const struct quiet_knob *quiet_knob_find(const char *name)
{
	for (const struct quiet_knob *k = quiet_knobs; k->name; k++)
		if (strcmp(k->name, name) == 0)
			return k;
	return NULL;
}

/* What a file is to hold. */
enum rule {
	EXACTLY,
	AT_LEAST,
	AT_MOST,
	AS_FILE,     /* what the file of that name beside it holds */
	OTHERS_LIST, /* its CPUs without the isolated ones: "0-3" */
	OTHERS_MASK, /* all CPUs but the isolated ones: "f" */
};

struct setting {
	const char *knob, *path; /* one * at most */
	enum rule rule;
	const char *value;
	const char *only_from; /* left alone unless it says this; NULL: always changed */
};

#define CPU "/sys/devices/system/cpu/"
#define THP "/sys/kernel/mm/transparent_hugepage/"

static const struct setting settings[] = {
	{ "smt", CPU "smt/control", EXACTLY, "off", "on" },
	{ "turbo", CPU "intel_pstate/no_turbo", EXACTLY, "1" },
	{ "turbo", CPU "cpufreq/boost", EXACTLY, "0" },
	/* before the governor: some drivers change it along with that, and then refuse a write */
	{ "governor", CPU "cpufreq/policy*/energy_performance_preference", EXACTLY, "performance" },
	{ "governor", CPU "cpufreq/policy*/scaling_governor", EXACTLY, "performance" },
	{ "frequency", CPU "cpufreq/policy*/scaling_min_freq", AS_FILE, "scaling_max_freq" },
	{ "watchdog", "/proc/sys/kernel/nmi_watchdog", EXACTLY, "0" },
	{ "vmstat", "/proc/sys/vm/stat_interval", AT_LEAST, "10" },
	{ "timer-migration", "/proc/sys/kernel/timer_migration", EXACTLY, "0" },
	{ "perf", "/proc/sys/kernel/perf_event_max_sample_rate", AT_MOST, "1" },
	{ "thp", THP "enabled", EXACTLY, "madvise", "always" },
	{ "thp", THP "defrag", EXACTLY, "madvise", "always" },
	{ "swappiness", "/proc/sys/vm/swappiness", AT_MOST, "10" },
	{ "writeback", "/proc/sys/vm/dirty_writeback_centisecs", AT_LEAST, "1500" },
	{ "numa", "/proc/sys/kernel/numa_balancing", EXACTLY, "0" },
	{ "delayacct", "/proc/sys/kernel/task_delayacct", EXACTLY, "1" },
	{ "irq", "/proc/irq/*/smp_affinity_list", OTHERS_LIST, NULL },
	{ "irq", "/proc/irq/default_smp_affinity", OTHERS_MASK, NULL },
	{ "workqueue", "/sys/devices/virtual/workqueue/cpumask", OTHERS_MASK, NULL },
};

/* ---- values ---- */

char *value_word(const char *text)
{
	const char *open = strchr(text, '['), *end = open ? strchr(open, ']') : NULL;
	if (end)
		return xstrndup(open + 1, (size_t)(end - open - 1));
	size_t n = strlen(text);
	while (n && strchr(" \t\r\n", text[n - 1]))
		n--;
	return xstrndup(text, n);
}

bool value_equal(const char *a, const char *b)
{
	FREED char *x = value_word(a), *y = value_word(b);
	return strcmp(x, y) == 0;
}

/* ---- CPUs ---- */

static bool is_isolated(const struct quiet_options *o, size_t cpu)
{
	for (size_t i = 0; i < o->isolate_count; i++)
		if (o->isolate[i] == cpu)
			return true;
	return false;
}

/* CPUs of the text that are not isolated; false where it is no list of CPUs or none is left. */
static bool others_of(const struct quiet_options *o, const char *text, struct strbuf *out)
{
	FREED char *word = value_word(text);
	cpu_set_t set;
	FREED ARRAY(uint32_t) left = { 0 };
	bool is_list = cpus_parse(word, &set);
	for (size_t cpu = 0; is_list && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && !is_isolated(o, cpu))
			array_push(&left, (uint32_t)cpu);
	cpus_text(left.items, left.count, out);
	return left.count > 0;
}

/* The mask as the kernel writes it: words of 8 hex digits, as many digits as the mask has now. */
static char *mask_without(const struct quiet_options *o, const char *mask)
{
	char *out = value_word(mask);
	size_t cpu = 0;
	for (size_t i = strlen(out); i--;) {
		unsigned digit;
		if (out[i] == ',')
			continue;
		if (sscanf(&(char[2]){ out[i] }[0], "%1x", &digit) != 1) {
			free(out);
			return NULL;
		}
		for (unsigned bit = 0; bit < 4; bit++, cpu++)
			if (is_isolated(o, cpu))
				digit &= ~(1u << bit);
		out[i] = "0123456789abcdef"[digit];
	}
	if (out[strspn(out, "0,")])
		return out;
	free(out);
	return NULL;
}

/* ---- planning ---- */

/* What the file is to hold; NULL where that cannot be said. */
static char *wanted_of(const struct quiet_options *o, const struct setting *s, const char *full,
		       const char *now)
{
	SCOPED(strbuf_release) struct strbuf list = { 0 };
	switch (s->rule) {
	case AS_FILE: {
		FREED char *path =
			xprintf("%.*s/%s", (int)(strrchr(full, '/') - full), full, s->value);
		return file_read_line(path);
	}
	case OTHERS_MASK:
		return mask_without(o, now);
	case OTHERS_LIST: {
		/* else to those that are online, and not isolated */
		FREED char *path = quiet_path(o, CPU "online"), *online = file_read_line(path);
		bool any = others_of(o, now, &list) || (online && others_of(o, online, &list));
		return any ? strbuf_detach(&list) : NULL;
	}
	default:
		return xstrdup(s->value);
	}
}

static void plan_file(const struct quiet_options *o, const struct setting *s, const char *knob,
		      const char *full, change_list *out)
{
	const char *what = full + (o->root ? strlen(o->root) : 0);
	FREED char *now = file_read(full);
	if (!now) {
		if (errno != ENOENT)
			change_judge(change_add(out, CHANGE_FILE, knob, what, NULL, NULL),
				     QUIET_REFUSED, "it cannot be read: %s", strerror(errno));
		return;
	}
	FREED char *wanted = wanted_of(o, s, full, now), *word = value_word(now);
	if (!wanted)
		return;
	long a, b;
	bool numbers = integer_parse(word, 0, INT64_MAX, &a) &&
		       integer_parse(wanted, 0, INT64_MAX, &b);
	bool met = numbers && s->rule == AT_LEAST  ? a >= b
		   : numbers && s->rule == AT_MOST ? a <= b
						   : value_equal(now, wanted);
	struct change *c = change_add(out, CHANGE_FILE, knob, what, now, wanted);
	if (met || (s->only_from && !value_equal(now, s->only_from)))
		c->state = QUIET_ALREADY;
	else if (access(full, W_OK) != 0 && errno == EROFS)
		change_judge(c, QUIET_REFUSED, "%s", strerror(EROFS));
}

int plan_files(const struct quiet_options *o, const struct quiet_knob *k, change_list *out,
	       struct error *err)
{
	const char *first = NULL;
	size_t before = out->count;
	(void)err;
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		const struct setting *s = &settings[i];
		glob_t found = { 0 };
		if (strcmp(s->knob, k->name) != 0)
			continue;
		first = first ? first : s->path;
		/* glob(3) is to take the root for what it is */
		SCOPED(strbuf_release) struct strbuf pattern = { 0 };
		for (const char *p = o->root ? o->root : ""; *p; p++)
			strbuf_printf(&pattern, "%s%c", strchr("*?[]\\", *p) ? "\\" : "", *p);
		strbuf_puts(&pattern, s->path);
		if (glob(pattern.text, 0, NULL, &found) == 0)
			for (size_t j = 0; j < found.gl_pathc; j++)
				plan_file(o, s, k->name, found.gl_pathv[j], out);
		globfree(&found);
	}
	if (first && out->count == before)
		change_add(out, CHANGE_FILE, k->name, first, NULL, NULL)->state = QUIET_ABSENT;
	return 0;
}

/* ---- files as changes ---- */

enum reading reading_of_errno(struct error *err)
{
	if (errno == ENOENT)
		return READ_GONE;
	error_set(err, EXIT_ENVIRONMENT, "%s", strerror(errno));
	return READ_FAILED;
}

static enum reading file_now(const struct quiet_options *o, const struct change *c, char **value,
			     struct error *err)
{
	FREED char *path = quiet_path(o, c->what);
	*value = file_read(path);
	return *value ? READ_VALUE : reading_of_errno(err);
}

/* In one write: these files know no second. */
static int write_once(const char *path, const char *text)
{
	CLOSED int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -1;
	size_t length = strlen(text);
	ssize_t n = write(fd, text, length);
	if (n >= 0 && (size_t)n < length)
		errno = EIO;
	return n >= 0 && (size_t)n == length ? 0 : -1;
}

/* The exact bytes first. Where the kernel shows all choices with one in brackets, it takes only the
 * word of one. */
static int file_put(const struct quiet_options *o, const struct change *c, const char *value,
		    struct error *err)
{
	FREED char *path = quiet_path(o, c->what), *word = value_word(value);
	int failed = write_once(path, value);
	if (failed && errno == EINVAL && strcmp(word, value) != 0)
		failed = write_once(path, word);
	const char *why = errno == EIO && strncmp(c->what, "/proc/irq/", 10) == 0
				  ? "the kernel does not let it move"
				  : strerror(errno);
	return failed ? error_set(err, EXIT_ENVIRONMENT, "%s", why) : 0;
}

const struct change_ops file_ops = { file_now, file_put };
