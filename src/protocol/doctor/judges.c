#include <stdio.h>
#include <string.h>

#include "protocol/doctor/checks.h"
#include "record/noncritical.h"

static bool is(const struct machine *m, const char *key, const char *value)
{
	const char *found = machine_get(m, key);
	return found && strcmp(found, value) == 0;
}

static bool is_virtual(const struct machine *m)
{
	const char *hypervisor = machine_get(m, "system.hypervisor");
	return hypervisor && strcmp(hypervisor, "none") != 0;
}

/* EMP v2, as tare reads it: adjtimex says synchronised, or an ntp daemon runs. */
enum severity judge_clock(const struct machine *m, const char *value, struct check *row)
{
	const char *daemon = machine_get(m, "now.daemons.ntp");
	bool daemon_runs = daemon && strcmp(daemon, "none") != 0;
	if (strcmp(value, "yes") == 0)
		return SEVERITY_OK;
	if (daemon_runs) {
		row->condition = "{now.daemons.ntp} runs, but has not synchronised the clock yet";
		row->remedy = "Wait until it has: `timedatectl` or `chronyc tracking` tells.";
		return SEVERITY_NOTE;
	}
	if (!is(m, "system.init", "systemd"))
		row->remedy = "$ sudo apt-get install -y chrony && sudo service chrony start";
	return SEVERITY_WARN;
}

enum severity judge_kernel(const struct machine *m, const char *value, struct check *row)
{
	(void)m;
	int major = 0, minor = 0, patch = 0;
	if (sscanf(value, "%d.%d.%d", &major, &minor, &patch) < 2)
		return SEVERITY_UNKNOWN;
	if (major < 2 || (major == 2 && (minor < 6 || (minor == 6 && patch <= 32)))) {
		row->condition = "Linux {} is not later than 2.6.32";
		return SEVERITY_BAD;
	}
	if (major < 5 || (major == 5 && minor < 8)) {
		row->condition =
			"Linux {} is older than 5.8, the first that tare's bpf back end can use";
		row->effect = "Interruptions cannot be named and there is no ledger; EMP saw an "
			      "out-of-date kernel add a factor of 4 to the variability.";
		return SEVERITY_WARN;
	}
	return SEVERITY_OK;
}

enum severity judge_clocksource(const struct machine *m, const char *value, struct check *row)
{
	static const char *const good[] = {
		"tsc",	    "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page",
		"timebase", "tod",	 "riscv_clocksource"
	};
	static const char *const slow[] = { "hpet", "acpi_pm", "jiffies", "refined-jiffies",
					    "pit" };
	const char *available = machine_get(m, "clock.available");
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		if (strcmp(value, good[i]) == 0)
			return SEVERITY_OK;
	if (!available || !strstr(available, "tsc"))
		row->remedy =
			"The kernel has judged the TSC unfit here ({clock.available} is left): "
			"see `dmesg | grep -i tsc`, or use another machine.";
	for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
		if (strcmp(value, slow[i]) == 0)
			return SEVERITY_BAD;
	return SEVERITY_WARN;
}

enum severity judge_steal(const struct machine *m, const char *value, struct check *row)
{
	double percent;
	(void)row;
	if (!fact_number(value, &percent))
		return SEVERITY_UNKNOWN;
	if (!is_virtual(m) && percent <= 0)
		return SEVERITY_OK;
	return percent > 1 ? SEVERITY_BAD : percent > 0.1 ? SEVERITY_WARN : SEVERITY_OK;
}

/* A number as a share of another fact, which is above 0. */
static bool share_of(const struct machine *m, const char *value, const char *whole, double *share)
{
	long all = machine_number(m, whole, 0);
	if (!fact_number(value, share) || all < 1)
		return false;
	*share /= (double)all;
	return true;
}

enum severity judge_load(const struct machine *m, const char *value, struct check *row)
{
	double share;
	(void)row;
	if (!share_of(m, value, "cpu.online.count", &share))
		return SEVERITY_UNKNOWN;
	return share > 0.5 ? SEVERITY_BAD : share > 0.1 ? SEVERITY_WARN : SEVERITY_OK;
}

enum severity judge_memory(const struct machine *m, const char *value, struct check *row)
{
	double share;
	(void)row;
	if (!share_of(m, value, "memory.total_mib", &share))
		return SEVERITY_UNKNOWN;
	return share < 0.03 ? SEVERITY_BAD : share < 0.1 ? SEVERITY_WARN : SEVERITY_OK;
}

/* Which back end the rights of this process allow: bpf wants CAP_BPF, CAP_PERFMON and
 * CAP_NET_ADMIN, netlink the last one only. */
enum severity judge_privilege(const struct machine *m, const char *value, struct check *row)
{
	bool admin = is(m, "now.process.cap_sys_admin", "yes");
	bool net = strcmp(value, "yes") == 0 || admin;
	bool bpf = is(m, "now.process.cap_bpf", "yes") && is(m, "now.process.cap_perfmon", "yes");
	if ((bpf || admin) && net)
		return SEVERITY_OK;
	if (net) {
		row->condition = "This process may use the netlink back end, not bpf";
		row->effect = "Exits and CPU times of all processes are seen; there is no ledger.";
	}
	return SEVERITY_NOTE;
}

enum severity judge_paranoid(const struct machine *m, const char *value, struct check *row)
{
	double level;
	(void)row;
	if (!fact_number(value, &level))
		return SEVERITY_UNKNOWN;
	bool privileged = is(m, "now.process.cap_perfmon", "yes") ||
			  is(m, "now.process.cap_sys_admin", "yes");
	return level > 0 && !privileged ? SEVERITY_NOTE : SEVERITY_OK;
}

enum severity judge_quota(const struct machine *m, const char *value, struct check *row)
{
	double quota;
	long cpus = machine_number(m, "cpu.online.count", 0);
	(void)row;
	if (strcmp(value, "none") == 0)
		return SEVERITY_OK;
	if (!fact_number(value, &quota))
		return SEVERITY_UNKNOWN;
	return cpus && quota >= (double)cpus ? SEVERITY_NOTE : SEVERITY_BAD;
}

enum severity judge_affinity(const struct machine *m, const char *value, struct check *row)
{
	double share;
	(void)row;
	if (!share_of(m, value, "cpu.online.count", &share))
		return SEVERITY_UNKNOWN;
	return share < 1 ? SEVERITY_NOTE : SEVERITY_OK;
}

enum severity judge_directory(const struct machine *m, const char *value, struct check *row)
{
	static const char *const remote[] = { "nfs",	  "nfs4",   "cifs",	 "smb3",   "9p",
					      "virtiofs", "ceph",   "glusterfs", "lustre", "afs",
					      "beegfs",	  "vboxsf", "gpfs" };
	(void)m;
	for (size_t i = 0; i < sizeof remote / sizeof *remote; i++)
		if (strcmp(value, remote[i]) == 0)
			return SEVERITY_WARN;
	if (strncmp(value, "fuse", 4) == 0) {
		row->condition = "The working directory is on {}: a process serves it";
		row->effect = "What the subject reads and writes runs as another process's time.";
		return SEVERITY_WARN;
	}
	if (strcmp(value, "overlay") == 0) {
		row->condition = "The working directory is on an overlay file system";
		row->effect =
			"The first write to a file copies it whole; opens look in several layers.";
		return SEVERITY_NOTE;
	}
	return SEVERITY_OK;
}

static const char *disk_fact(const struct machine *m, const char *disk, const char *what)
{
	char key[128];
	snprintf(key, sizeof key, "disk.%.64s.%s", disk, what);
	return machine_get(m, key);
}

enum severity judge_disk(const struct machine *m, const char *value, struct check *row)
{
	const char *rotational = disk_fact(m, value, "rotational");
	if (!rotational)
		return SEVERITY_UNKNOWN;
	if (strcmp(rotational, "1") != 0)
		return SEVERITY_OK;
	if (is_virtual(m)) { /* virtual disks say 1 by default */
		row->fine = "{} is a virtual disk; what is beneath it is not to be seen";
		return SEVERITY_OK;
	}
	return SEVERITY_NOTE;
}

enum severity judge_scheduler(const struct machine *m, const char *value, struct check *row)
{
	const char *scheduler = disk_fact(m, value, "scheduler");
	if (!scheduler)
		return SEVERITY_UNKNOWN;
	if (strcmp(scheduler, "bfq") != 0 && strcmp(scheduler, "cfq") != 0)
		return SEVERITY_OK;
	if (strcmp(scheduler, "cfq") == 0)
		row->condition =
			"{} is scheduled by cfq, which weighs processes against each other";
	return SEVERITY_NOTE;
}

enum severity judge_frequency_range(const struct machine *m, const char *value, struct check *row)
{
	(void)row;
	return is(m, "cpu.frequency.scaling_max_khz", value) ? SEVERITY_OK : SEVERITY_NOTE;
}

enum severity judge_numa(const struct machine *m, const char *value, struct check *row)
{
	(void)row;
	bool several = machine_number(m, "cpu.numa_nodes", 1) > 1;
	return several && strcmp(value, "0") != 0 ? SEVERITY_WARN : SEVERITY_OK;
}

/* The parameter is -1 as an unsigned number as long as no device asked for reports. */
enum severity judge_reporting(const struct machine *m, const char *value, struct check *row)
{
	double order;
	(void)row;
	if (!fact_number(value, &order))
		return SEVERITY_UNKNOWN;
	return order >= 0 && order < 64 && is_virtual(m) ? SEVERITY_NOTE : SEVERITY_OK;
}

/* Daemons that have a unit can be stopped; the others (a package manager at work) end by
 * themselves. */
enum severity judge_daemons(const struct machine *m, const char *value, struct check *row)
{
	if (strcmp(value, "none") == 0)
		return SEVERITY_OK;
	bool stoppable = false;
	for (size_t i = 0; i < known_daemon_count; i++)
		stoppable |= known_daemons[i].unit && strstr(value, known_daemons[i].comm);
	if (!stoppable)
		row->remedy = "Wait until it has ended, or end it.";
	else if (!is(m, "system.init", "systemd"))
		row->remedy = "$ for s in {units}; do sudo service $s stop; done";
	return row->severity;
}

enum severity judge_timers(const struct machine *m, const char *value, struct check *row)
{
	if (strcmp(value, "none") == 0)
		return SEVERITY_OK;
	if (!is(m, "system.init", "systemd")) {
		row->fine = "systemd does not run, and so none of its timers";
		return SEVERITY_OK;
	}
	return row->severity;
}

enum severity judge_smi(const struct machine *m, const char *value, struct check *row)
{
	bool counted = strcmp(value, "yes") == 0;
	if (counted && !is_virtual(m))
		return SEVERITY_OK;
	if (counted)
		row->condition = "Only the SMIs of this guest's own firmware are counted";
	if (is_virtual(m))
		row->remedy = "Measure on the metal of a machine with an Intel CPU.";
	return SEVERITY_NOTE;
}
