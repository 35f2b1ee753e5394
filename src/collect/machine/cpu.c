/* The processor: what it is, how its CPUs are laid out, and what may change its speed. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/machine/facts.h"

#define CPUS "/sys/devices/system/cpu"

static bool has_word(const char *words, const char *word)
{
	size_t length = strlen(word);
	for (const char *p = words; (p = strstr(p, word)); p += length)
		if ((p == words || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0'))
			return true;
	return false;
}

/* The first processor's part of /proc/cpuinfo; the file has one for each and is slow to make. */
static char *first_processor(const struct reader *r)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/proc/cpuinfo", r->root);
	CLOSED int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	char *text = xmalloc(16384);
	size_t length = 0;
	for (ssize_t n; length < 16383 && (n = read(fd, text + length, 16383 - length)) > 0;) {
		length += (size_t)n;
		text[length] = '\0';
		if (strstr(text, "\n\n"))
			break;
	}
	text[length] = '\0';
	return text;
}

static void read_model(const struct reader *r)
{
	static const struct {
		const char *key, *field;
	} fields[] = {
		{ "cpu.vendor", "vendor_id" },
		{ "cpu.vendor", "CPU implementer" },
		{ "cpu.model", "model name" },
		{ "cpu.model", "CPU part" },
		{ "cpu.family", "cpu family" },
		{ "cpu.model_number", "model" },
		{ "cpu.stepping", "stepping" },
		{ "cpu.microcode", "microcode" },
		{ "cpu.address_sizes", "address sizes" },
	};
	FREED char *text = first_processor(r);
	if (!text)
		return;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		FREED char *value = field_of(text, fields[i].field);
		if (value && *value && !machine_get(r->into, fields[i].key))
			machine_set(r->into, fields[i].key, value);
	}
	FREED char *flags = field_of(text, "flags");
	if (flags) {
		static const char *const wanted[] = { "constant_tsc", "nonstop_tsc", "hypervisor" };
		for (size_t i = 0; i < 3; i++) {
			char key[48];
			snprintf(key, sizeof key, "cpu.flag.%s", wanted[i]);
			machine_set(r->into, key, has_word(flags, wanted[i]) ? "yes" : "no");
		}
	}
}

static void read_counts(const struct reader *r)
{
	static const struct {
		const char *list, *count;
	} lists[] = { { "cpu.online", "cpu.online.count" },
		      { "cpu.present", "cpu.present.count" },
		      { "cpu.isolated", "cpu.isolated.count" },
		      { "cpu.nohz_full", "cpu.nohz_full.count" } };
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		const char *list = machine_get(r->into, lists[i].list);
		long count = !list ? -1 : strcmp(list, "none") == 0 ? 0 : cpulist_count(list);
		if (count >= 0)
			machine_setf(r->into, lists[i].count, "%ld", count);
	}
	FREED char *nodes = reader_line(r, "/sys/devices/system/node/online");
	if (nodes && cpulist_count(nodes) > 0)
		machine_setf(r->into, "cpu.numa_nodes", "%ld", cpulist_count(nodes));
}

/* A core, or a socket, is counted at the CPU that its list of siblings begins with. */
static long leaders(const struct reader *r, const word_list *cpus, const char *list)
{
	long count = 0;
	for (size_t i = 0; i < cpus->count; i++) {
		FREED char *text = reader_line(r, CPUS "/%s/topology/%s", cpus->items[i], list);
		if (text && cpulist_count(text) > 0 && atoi(text) == atoi(cpus->items[i] + 3))
			count++;
	}
	return count;
}

static void read_topology(const struct reader *r, const word_list *cpus)
{
	long sockets = leaders(r, cpus, "core_siblings_list");
	long cores = leaders(r, cpus, "thread_siblings_list");
	if (sockets)
		machine_setf(r->into, "cpu.sockets", "%ld", sockets);
	if (cores)
		machine_setf(r->into, "cpu.cores", "%ld", cores);
	FREED char *text = reader_line(r, CPUS "/%s/topology/thread_siblings_list", cpus->items[0]);
	if (text && cpulist_count(text) > 0)
		machine_setf(r->into, "cpu.threads_per_core", "%ld", cpulist_count(text));
}

static void read_caches(const struct reader *r)
{
	SCOPED(words_release) word_list caches = { 0 };
	reader_names(r, CPUS "/cpu0/cache", "index", &caches);
	for (size_t i = 0; i < caches.count; i++) {
		const char *at = caches.items[i];
		FREED char *level = reader_line(r, CPUS "/cpu0/cache/%s/level", at);
		FREED char *type = reader_line(r, CPUS "/cpu0/cache/%s/type", at);
		FREED char *size = reader_line(r, CPUS "/cpu0/cache/%s/size", at);
		FREED char *shared = reader_line(r, CPUS "/cpu0/cache/%s/shared_cpu_list", at);
		if (level && type && size) {
			const char *kind = *type == 'D' ? "d" : *type == 'I' ? "i" : "";
			char key[64];
			snprintf(key, sizeof key, "cpu.cache.L%.4s%s", level, kind);
			machine_set(r->into, key, size);
			snprintf(key, sizeof key, "cpu.cache.L%.4s%s.shared_by", level, kind);
			if (shared && cpulist_count(shared) > 0)
				machine_setf(r->into, key, "%ld", cpulist_count(shared));
		}
	}
}

static void read_turbo(const struct reader *r)
{
	static const struct {
		const char *path, *on, *off;
	} switches[] = {
		{ CPUS "/intel_pstate/no_turbo", "0", "1" },
		{ CPUS "/cpufreq/boost", "1", "0" },
	};
	for (size_t i = 0; i < 2; i++) {
		FREED char *text = reader_line(r, "%s", switches[i].path);
		if (!text)
			continue;
		bool on = strcmp(text, switches[i].on) == 0;
		machine_set(r->into, "cpu.turbo", on ? "on" : "off");
		machine_set(r->into, "cpu.turbo.switch", switches[i].path);
		machine_set(r->into, "cpu.turbo.off_value", switches[i].off);
		return;
	}
}

static void read_frequency(const struct reader *r)
{
	static const struct {
		const char *key, *file;
	} files[] = {
		{ "cpu.frequency.driver", "scaling_driver" },
		{ "cpu.governor", "scaling_governor" },
		{ "cpu.frequency.min_khz", "cpuinfo_min_freq" },
		{ "cpu.frequency.max_khz", "cpuinfo_max_freq" },
		{ "cpu.frequency.base_khz", "base_frequency" },
		{ "cpu.frequency.scaling_min_khz", "scaling_min_freq" },
		{ "cpu.frequency.scaling_max_khz", "scaling_max_freq" },
		{ "cpu.energy_preference", "energy_performance_preference" },
	};
	SCOPED(words_release) word_list policies = { 0 };
	reader_names(r, CPUS "/cpufreq", "policy", &policies);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		/* the distinct values over all policies */
		SCOPED(strbuf_release) struct strbuf list = { 0 };
		for (size_t k = 0; k < policies.count; k++) {
			FREED char *text = reader_line(r, CPUS "/cpufreq/%s/%s", policies.items[k],
						       files[i].file);
			if (text && *text)
				list_add(&list, text);
		}
		if (list.length)
			machine_set(r->into, files[i].key, list.text);
	}
	if (!policies.count && reader_exists(r, CPUS "/cpu0"))
		machine_set(r->into, "cpu.frequency.driver", "none");
	read_turbo(r);
}

/* The idle state that takes longest to leave, of those that are not disabled. */
static void read_idle(const struct reader *r)
{
	SCOPED(words_release) word_list states = { 0 };
	reader_names(r, CPUS "/cpu0/cpuidle", "state", &states);
	long deepest = -1;
	for (size_t i = 0; i < states.count; i++) {
		const char *at = states.items[i];
		long latency, disabled = 0;
		reader_number(r, &disabled, CPUS "/cpu0/cpuidle/%s/disable", at);
		if (disabled || !reader_number(r, &latency, CPUS "/cpu0/cpuidle/%s/latency", at) ||
		    latency < deepest)
			continue;
		FREED char *name = reader_line(r, CPUS "/cpu0/cpuidle/%s/name", at);
		if (name) {
			deepest = latency;
			machine_set(r->into, "cpu.idle.deepest", name);
			machine_setf(r->into, "cpu.idle.deepest_latency_us", "%ld", latency);
		}
	}
}

static void read_throttling(const struct reader *r, const word_list *cpus)
{
	static const char *const counts[] = { "core_throttle_count", "package_throttle_count" };
	long total = 0;
	bool known = false;
	for (size_t i = 0; i < cpus->count; i++)
		for (size_t c = 0; c < 2; c++) {
			long count;
			if (!reader_number(r, &count, CPUS "/%s/thermal_throttle/%s",
					   cpus->items[i], counts[c]))
				continue;
			known = true;
			total += count;
		}
	if (known)
		machine_setf(r->into, "now.thermal.throttle_count", "%ld", total);
}

static void read_mitigations(const struct reader *r)
{
	SCOPED(words_release) word_list names = { 0 };
	reader_names(r, CPUS "/vulnerabilities", "", &names);
	long mitigated = 0;
	for (size_t i = 0; i < names.count; i++) {
		FREED char *text = reader_line(r, CPUS "/vulnerabilities/%s", names.items[i]);
		if (text) {
			char key[128];
			snprintf(key, sizeof key, "mitigation.%.100s", names.items[i]);
			machine_set(r->into, key, text);
			mitigated += strncmp(text, "Mitigation", 10) == 0;
		}
	}
	if (names.count)
		machine_setf(r->into, "mitigation.count", "%ld", mitigated);
}

void read_cpu(const struct reader *r)
{
	read_model(r);
	read_counts(r);
	SCOPED(words_release) word_list cpus = { 0 };
	reader_names(r, CPUS, "cpu", &cpus);
	if (cpus.count)
		read_topology(r, &cpus);
	read_caches(r);
	read_frequency(r);
	read_idle(r);
	read_throttling(r, &cpus);
	read_mitigations(r);
	if (reader_exists(r, "/sys/bus/event_source/devices")) {
		/* "cpu" on x86; hybrids have cpu_core and cpu_atom, ARM armv8_... */
		SCOPED(words_release) word_list units = { 0 };
		SCOPED(strbuf_release) struct strbuf list = { 0 };
		reader_names(r, "/sys/bus/event_source/devices", "", &units);
		for (size_t i = 0; i < units.count; i++)
			if (strncmp(units.items[i], "cpu", 3) == 0 ||
			    strncmp(units.items[i], "armv", 4) == 0)
				list_add(&list, units.items[i]);
		machine_set(r->into, "cpu.counters", list.length ? list.text : "none");
		bool smis = reader_exists(r, "/sys/bus/event_source/devices/msr/events/smi");
		machine_set(r->into, "cpu.smi_count", smis ? "yes" : "no");
	}
}
