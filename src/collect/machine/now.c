/* Memory, power and all that moves by itself; the latter under keys beginning with "now.". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

#include "collect/backend/overall.h"
#include "collect/machine/facts.h"
#include "record/noncritical.h"

static void read_memory(const struct reader *r)
{
	static const struct {
		const char *key, *field;
	} fields[] = {
		{ "memory.total_mib", "MemTotal" },
		{ "memory.swap_mib", "SwapTotal" },
		{ "now.memory.free_mib", "MemFree" },
		{ "now.memory.available_mib", "MemAvailable" },
		{ "now.memory.dirty_mib", "Dirty" },
		{ "now.memory.swap_free_mib", "SwapFree" },
		{ "now.memory.anon_huge_mib", "AnonHugePages" },
	};
	FREED char *text = reader_text(r, "/proc/meminfo");
	if (!text)
		return;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		FREED char *value = field_of(text, fields[i].field);
		if (value && *value)
			machine_setf(r->into, fields[i].key, "%ld", atol(value) / 1024);
	}
	FREED char *total = field_of(text, "SwapTotal"), *unused = field_of(text, "SwapFree");
	if (total && unused)
		machine_setf(r->into, "now.memory.swap_used_mib", "%ld",
			     (atol(total) - atol(unused) + 1023) / 1024);
}

static void read_load(const struct reader *r)
{
	char one[32], five[32], fifteen[32];
	long running, tasks;
	FREED char *text = reader_line(r, "/proc/loadavg");
	if (text &&
	    sscanf(text, "%31s %31s %31s %ld/%ld", one, five, fifteen, &running, &tasks) == 5) {
		machine_set(r->into, "now.load.1", one);
		machine_set(r->into, "now.load.5", five);
		machine_set(r->into, "now.load.15", fifteen);
		machine_setf(r->into, "now.tasks", "%ld", tasks);
	}
	double seconds;
	FREED char *uptime = reader_line(r, "/proc/uptime");
	if (uptime && sscanf(uptime, "%lf", &seconds) == 1)
		machine_setf(r->into, "now.uptime_s", "%.0f", seconds);
}

static void read_pressure(const struct reader *r)
{
	static const char *const resources[] = { "cpu", "io", "memory" };
	for (size_t i = 0; i < 3; i++) {
		double ten, sixty;
		char key[64];
		FREED char *text = reader_line(r, "/proc/pressure/%s", resources[i]);
		if (text && sscanf(text, "some avg10=%lf avg60=%lf", &ten, &sixty) == 2) {
			snprintf(key, sizeof key, "now.pressure.%s.avg10", resources[i]);
			machine_setf(r->into, key, "%.2f", ten);
			snprintf(key, sizeof key, "now.pressure.%s.avg60", resources[i]);
			machine_setf(r->into, key, "%.2f", sixty);
		}
	}
}

static void read_power(const struct reader *r)
{
	if (!reader_exists(r, "/sys/class"))
		return;
	SCOPED(words_release) word_list supplies = { 0 };
	reader_names(r, "/sys/class/power_supply", "", &supplies);
	bool battery = false, discharging = false;
	for (size_t i = 0; i < supplies.count; i++) {
		const char *at = supplies.items[i];
		FREED char *type = reader_line(r, "/sys/class/power_supply/%s/type", at);
		FREED char *scope = reader_line(r, "/sys/class/power_supply/%s/scope", at);
		FREED char *status = reader_line(r, "/sys/class/power_supply/%s/status", at);
		/* scope Device: the battery of a mouse */
		if (type && strcmp(type, "Battery") == 0 &&
		    !(scope && strcmp(scope, "Device") == 0)) {
			battery = true;
			discharging |= status && strcmp(status, "Discharging") == 0;
		}
	}
	machine_set(r->into, "power.battery", battery ? "yes" : "no");
	machine_set(r->into, "now.power.source", discharging ? "battery" : "mains");
}

static void read_clock(const struct reader *r)
{
	struct timex state = { 0 }; /* modes 0: only read */
	int result;
	if (!r->live || (result = adjtimex(&state)) < 0)
		return;
	bool synchronised = result != TIME_ERROR && !(state.status & STA_UNSYNC);
	machine_set(r->into, "now.clock.synchronised", synchronised ? "yes" : "no");
	double offset_us = (double)state.offset / (state.status & STA_NANO ? 1000.0 : 1.0);
	machine_setf(r->into, "now.clock.offset_us", "%.3f", offset_us);
	machine_setf(r->into, "now.clock.frequency_ppm", "%.3f", (double)state.freq / 65536);
	machine_setf(r->into, "now.clock.error_bound_us", "%ld", (long)state.maxerror);
}

static void read_daemons(const struct reader *r)
{
	/* without process 1 this /proc hides what others run: nothing is known then */
	if (!reader_exists(r, "/proc/1/comm"))
		return;
	SCOPED(words_release) word_list pids = { 0 };
	struct strbuf found[DAEMON_KINDS] = { 0 };
	reader_names(r, "/proc", "", &pids);
	for (size_t i = 0; i < pids.count; i++) {
		if (*pids.items[i] < '1' || *pids.items[i] > '9')
			continue;
		FREED char *comm = reader_line(r, "/proc/%s/comm", pids.items[i]);
		const struct known_daemon *known = comm ? known_daemon_find(comm) : NULL;
		if (known)
			list_add(&found[known->kind], known->comm);
	}
	for (unsigned k = 0; k < DAEMON_KINDS; k++) {
		machine_set(r->into, daemon_kind_fact((enum daemon_kind)k),
			    found[k].length ? found[k].text : "none");
		strbuf_release(&found[k]);
	}
}

void read_now(const struct reader *r)
{
	read_memory(r);
	read_power(r);
	read_load(r);
	static const struct {
		const char *key;
		enum overall_measure measure;
	} shares[] = { { "now.cpu.steal_percent", OVERALL_STEAL },
		       { "now.cpu.guest_percent", OVERALL_GUEST },
		       { "now.cpu.iowait_percent", OVERALL_IOWAIT },
		       { "now.cpu.idle_percent", OVERALL_IDLE } };
	FREED char *text = reader_text(r, "/proc/stat");
	struct overall o = { 0 };
	if (text)
		overall_parse_stat(text, &o);
	double all = 0; /* guest time is in user time already */
	for (unsigned m = OVERALL_USER; m <= OVERALL_STEAL; m++)
		all += (double)o.value[m];
	for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
		if (all > 0 && o.present >> shares[i].measure & 1)
			machine_setf(r->into, shares[i].key, "%.3f",
				     100 * (double)o.value[shares[i].measure] / all);
	read_pressure(r);
	read_clock(r);
	read_daemons(r);
}
