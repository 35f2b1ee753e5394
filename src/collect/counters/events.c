#include "collect/counters/events.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/strbuf.h"

/* Newer than the headers of Debian 12's C library on some machines. */
#define SW_CGROUP_SWITCHES 11

static const struct known {
	const char *name, *also;
	uint32_t type;
	uint64_t config;
	bool by_kernel;
} known[] = {
	{ "cycles", "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false },
	{ "instructions", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false },
	{ "cache-references", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, false },
	{ "cache-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false },
	{ "branches", "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	  false },
	{ "branch-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false },
	{ "bus-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, false },
	{ "stalled-cycles-frontend", "idle-cycles-frontend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, false },
	{ "stalled-cycles-backend", "idle-cycles-backend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_BACKEND, false },
	{ "ref-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, false },
	{ "cpu-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false },
	{ "task-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false },
	{ "page-faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false },
	{ "minor-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, false },
	{ "major-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false },
	{ "context-switches", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true },
	{ "cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true },
	{ "alignment-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, false },
	{ "emulation-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, false },
	{ "cgroup-switches", NULL, PERF_TYPE_SOFTWARE, SW_CGROUP_SWITCHES, true },
};

/* Writes its first name into e where it was called by the other one. */
static bool find_known(const char *name, struct counter_event *e)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		const struct known *k = &known[i];
		if (strcmp(k->name, name) != 0 && (!k->also || strcmp(k->also, name) != 0))
			continue;
		const char *modes = e->name + strlen(name);
		FREED char *whole = xprintf("%s%s", k->name, modes);
		snprintf(e->name, sizeof e->name, "%s", whole);
		e->type = k->type;
		e->config = k->config;
		e->by_kernel = k->by_kernel;
		return true;
	}
	return false;
}

/* "L1-dcache-load-misses": a cache, what is done to it, and whether it missed. */
static bool find_cache(const char *name, struct counter_event *e)
{
	static const char *const caches[] = { "L1-dcache", "L1-icache", "LLC", "dTLB",
					      "iTLB",	   "branch",	"node" };
	static const char *const operations[][2] = { { "-loads", "-load-misses" },
						     { "-stores", "-store-misses" },
						     { "-prefetches", "-prefetch-misses" } };
	for (size_t c = 0; c < sizeof caches / sizeof *caches; c++) {
		size_t n = strlen(caches[c]);
		if (strncasecmp(name, caches[c], n) != 0)
			continue;
		for (size_t o = 0; o < 3; o++)
			for (size_t missed = 0; missed < 2; missed++) {
				if (strcasecmp(name + n, operations[o][missed]) != 0)
					continue;
				e->type = PERF_TYPE_HW_CACHE;
				e->config = c | o << 8 | missed << 16;
				return true;
			}
	}
	return false;
}

/* "rc4": the number that the CPU's own manual gives it. */
static bool find_raw(const char *name, struct counter_event *e)
{
	char *end;
	if (name[0] != 'r' || !name[1] || strspn(name + 1, "0123456789abcdefABCDEF") > 16 ||
	    name[1 + strspn(name + 1, "0123456789abcdefABCDEF")])
		return false;
	e->type = PERF_TYPE_RAW;
	e->config = strtoull(name + 1, &end, 16);
	return true;
}

/* Puts the value into the bits that a format such as "config:0-7,32-35" names. */
static bool put_bits(const char *format, uint64_t value, struct counter_event *e)
{
	static const char *const words[] = { "config:", "config1:", "config2:" };
	uint64_t *const into[] = { &e->config, &e->config1, &e->config2 };
	for (size_t w = 0; w < 3; w++) {
		size_t n = strlen(words[w]);
		if (strncmp(format, words[w], n) != 0)
			continue;
		for (const char *at = format + n; *at;) {
			char *end;
			unsigned long low = strtoul(at, &end, 10), high = low;
			if (end == at || low > 63)
				return false;
			if (*end == '-')
				high = strtoul(end + 1, &end, 10);
			for (unsigned long bit = low; bit <= high && bit < 64; bit++, value >>= 1)
				*into[w] |= (value & 1) << bit;
			at = *end == ',' ? end + 1 : "";
		}
		return value == 0;
	}
	return false;
}

/* "event=0x3c,umask=1", each by its format. */
static bool put_terms(const char *sysfs, const char *unit, const char *terms,
		      struct counter_event *e)
{
	FREED char *copy = xstrdup(terms);
	char *rest = NULL;
	bool good = *terms;
	for (char *term = strtok_r(copy, ",", &rest); term && good;
	     term = strtok_r(NULL, ",", &rest)) {
		char path[256], *end = term;
		char *equals = strchr(term, '=');
		if (equals)
			*equals = '\0';
		snprintf(path, sizeof path, "%s/%s/format/%s", sysfs, unit, term);
		FREED char *format = strchr(term, '/') ? NULL : file_read_line(path);
		uint64_t value = equals ? strtoull(equals + 1, &end, 0) : 1;
		good = format && (!equals || (end != equals + 1 && !*end)) &&
		       put_bits(format, value, e);
	}
	return good;
}

/* "cpu/cache-misses/" or "cpu/event=0x3c/", as the kernel describes it in sysfs. */
static bool find_described(const char *name, const char *sysfs, struct counter_event *e)
{
	char unit[COUNTER_NAME], path[256];
	const char *slash = strchr(name, '/');
	size_t length = strlen(name);
	if (!slash || slash == name || name[length - 1] != '/' || slash + 1 >= name + length)
		return false;
	snprintf(unit, sizeof unit, "%.*s", (int)(slash - name), name);
	FREED char *inner = xstrndup(slash + 1, (size_t)(name + length - 1 - (slash + 1)));
	if (*unit == '.' || strchr(inner, '/'))
		return false;
	snprintf(path, sizeof path, "%s/%s/type", sysfs, unit);
	FREED char *type = file_read_line(path);
	if (!type)
		return false;
	e->type = (uint32_t)strtoul(type, NULL, 10);
	e->msr = strcmp(unit, "msr") == 0;
	e->apart = e->apart && !e->msr;
	snprintf(path, sizeof path, "%s/%s/events/%s", sysfs, unit, inner);
	FREED char *described = *inner == '.' ? NULL : file_read_line(path);
	return put_terms(sysfs, unit, described ? described : inner, e);
}

/* Cuts ":u", ":k" or ":uk" off the name. False: there is another modifier. */
static bool take_modes(char *name, struct counter_event *e)
{
	char *colon = strrchr(name, ':');
	e->modes = COUNTER_BOTH;
	e->apart = !colon;
	if (!colon)
		return true;
	e->modes = 0;
	for (const char *c = colon + 1; *c; c++)
		if (*c == 'u')
			e->modes |= COUNTER_USER;
		else if (*c == 'k')
			e->modes |= COUNTER_KERNEL;
		else
			return false;
	*colon = '\0';
	return e->modes;
}

static bool is_there(const counter_events *list, const char *name)
{
	array_each(e, list)
		if (strcmp(e->name, name) == 0)
			return true;
	return false;
}

/* ---- top-down analysis ---- */

/* What a CPU must describe, by its maker. The first leads the group. Intel's PERF_METRICS want it
 * so (arch/x86/events/intel/core.c, intel_pmu_hw_config()); with arm64, shares of the same time
 * come of it. */
#define TOPDOWN_MOST 7
static const char *const topdowns[][TOPDOWN_MOST] = {
	{ "slots", "topdown-retiring", "topdown-bad-spec", "topdown-fe-bound", "topdown-be-bound" },
	{ "cpu_cycles", "stall_slot", "stall_slot_frontend", "stall_slot_backend", "op_retired",
	  "op_spec" },
};

/* What cycles of arm64 stand for; 0: the CPU does not say. */
static uint32_t slots_of(const char *sysfs, const char *unit)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s/caps/slots", sysfs, unit);
	FREED char *slots = file_read_line(path);
	return slots ? (uint32_t)strtoul(slots, NULL, 0) : 0;
}

/* The events of a PMU that has them all; NULL: it has not. */
static const char *const *topdown_of(const char *sysfs, const char *unit, uint32_t *slots)
{
	for (size_t t = 0; t < sizeof topdowns / sizeof *topdowns; t++) {
		const char *const *names = topdowns[t];
		size_t i = 0;
		while (i < TOPDOWN_MOST && names[i] &&
		       counter_event_described(sysfs, unit, names[i]))
			i++;
		*slots = strcmp(names[0], "slots") == 0 ? 1 : slots_of(sysfs, unit);
		if (!names[i] && *slots)
			return names;
	}
	return NULL;
}

/* modes: ":u" or the like, which the names keep. like has what they mean. */
static int add_topdown(const char *modes, const struct counter_event *like, const char *sysfs,
		       counter_events *out, struct error *err)
{
	DIR *units = opendir(sysfs);
	const char *const *names = NULL;
	char unit[COUNTER_NAME] = "";
	uint32_t slots = 0;
	for (struct dirent *d; units && !names && (d = readdir(units));) {
		if (*d->d_name == '.' || strlen(d->d_name) >= sizeof unit)
			continue;
		snprintf(unit, sizeof unit, "%s", d->d_name);
		names = topdown_of(sysfs, unit, &slots);
	}
	if (units)
		closedir(units);
	if (!names)
		return counter_event_refused("topdown", ENOENT, err);
	for (size_t i = 0; i < TOPDOWN_MOST && names[i]; i++) {
		struct counter_event e = *like;
		char described[2 * COUNTER_NAME];
		snprintf(e.name, sizeof e.name, "%s%s", i ? names[i] : "slots", modes);
		snprintf(described, sizeof described, "%s/%s/", unit, names[i]);
		if (is_there(out, e.name))
			return error_set(err, EXIT_USAGE, "the event '%s' is named twice", e.name);
		if (!find_described(described, sysfs, &e))
			return counter_event_refused("topdown", ENOENT, err);
		e.group = 1;
		e.times = i ? 1 : slots;
		array_push(out, e);
	}
	return 0;
}

static int add_event(const char *word, const char *sysfs, counter_events *out, struct error *err)
{
	struct counter_event e = { .times = 1 };
	char name[COUNTER_NAME];
	if (strlen(word) >= sizeof e.name)
		return error_set(err, EXIT_USAGE, "'%.70s...' is too long for an event", word);
	snprintf(e.name, sizeof e.name, "%s", word);
	snprintf(name, sizeof name, "%s", word);
	if (!take_modes(name, &e)) {
		error_set(err, EXIT_USAGE, "'%s' has a modifier that is neither u nor k", word);
		return error_hint(err, "cycles:u counts in user mode, cycles:k in the kernel");
	}
	if (strcmp(name, "topdown") == 0)
		return add_topdown(word + strlen(name), &e, sysfs, out, err);
	if (!find_known(name, &e) && !find_cache(name, &e) && !find_raw(name, &e) &&
	    !find_described(name, sysfs, &e)) {
		error_set(err, EXIT_USAGE, "there is no event '%s'", word);
		return error_hint(err, "for instance: cycles,instructions,branch-misses, "
				       "page-faults, rc4 or cpu/event=0x3c/");
	}
	if (is_there(out, e.name))
		return error_set(err, EXIT_USAGE, "the event '%s' is named twice", e.name);
	if (e.by_kernel && !(e.modes & COUNTER_KERNEL))
		return error_set(err, EXIT_USAGE, "'%s' counts nothing: it happens in the kernel",
				 word);
	array_push(out, e);
	return 0;
}

int counter_events_parse(const char *list, const char *sysfs, counter_events *out,
			 struct error *err)
{
	/* a comma between slashes belongs to the event */
	FREED char *copy = xstrdup(list);
	char *begin = copy;
	bool inside = false;
	int failed = 0;
	for (char *at = copy; !failed; at++) {
		inside ^= *at == '/';
		if (*at && (*at != ',' || inside))
			continue;
		bool last = !*at;
		*at = '\0';
		if (*begin)
			failed = add_event(begin, sysfs, out, err);
		begin = at + 1;
		if (last)
			break;
	}
	if (!failed && !out->count)
		failed = error_set(err, EXIT_USAGE, "the list of events is empty");
	if (failed)
		array_release(out);
	return failed;
}

bool counter_event_is_software(const struct counter_event *e)
{
	return e->type == PERF_TYPE_SOFTWARE;
}

bool counter_event_takes_counter(const struct counter_event *e)
{
	return !counter_event_is_software(e) && !e->msr;
}

bool counter_event_described(const char *sysfs, const char *unit, const char *name)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s/events/%s", sysfs, unit, name);
	return access(path, R_OK) == 0;
}

void counter_event_attr(const struct counter_event *e, unsigned modes, struct perf_event_attr *a)
{
	a->type = e->type;
	a->config = e->config;
	a->config1 = e->config1;
	a->config2 = e->config2;
	a->exclude_user = !(modes & COUNTER_USER);
	a->exclude_kernel = !(modes & COUNTER_KERNEL);
	a->exclude_hv = !(modes & COUNTER_KERNEL);
}

int counter_event_refused(const char *name, int why, struct error *err)
{
	bool rights = why == EACCES || why == EPERM;
	bool none = why == ENOENT || why == EOPNOTSUPP || why == ENODEV || why == EINVAL;
	if (none && !name)
		error_set(err, EXIT_ENVIRONMENT, "this machine has no hardware counters");
	else if (none)
		error_set(err, EXIT_ENVIRONMENT, "this machine cannot count '%s'", name);
	else if (!name)
		error_set(err, EXIT_ENVIRONMENT, "cannot use the hardware counters: %s",
			  strerror(why));
	else
		error_set(err, EXIT_ENVIRONMENT, "cannot count '%s': %s", name, strerror(why));
	return rights ? error_hint(err, "run it as root, or lower kernel.perf_event_paranoid")
	       : none ? error_hint(err, "'tare doctor' says what this machine has")
		      : -1;
}
