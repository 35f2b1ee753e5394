#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "collect/backend/overall.h"
#include "collect/collect.h"
#include "collect/machine/facts.h"

/* A tree of files like a recorded machine's. */
static char root[64];

static void parents(char *path)
{
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0777);
		*p = '/';
	}
}

static void put(const char *path, const char *text)
{
	char full[512];
	snprintf(full, sizeof full, "%s%s", root, path);
	parents(full);
	FILE *file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void put_link(const char *path, const char *target)
{
	char full[512];
	snprintf(full, sizeof full, "%s%s", root, path);
	parents(full);
	assert_int_equal(symlink(target, full), 0);
}

static int tree_begin(void **state)
{
	(void)state;
	strcpy(root, "/tmp/tare-machine-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int tree_end(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof command, "rm -rf '%s'", root);
	return system(command);
}

struct expectation {
	const char *key, *value; /* NULL: must not be there */
};

static void expect(const struct machine *m, const struct expectation *e)
{
	for (; e->key; e++) {
		const char *value = machine_get(m, e->key);
		char got[512], wanted[512];
		snprintf(got, sizeof got, "%s=%s", e->key, value ? value : "(none)");
		snprintf(wanted, sizeof wanted, "%s=%s", e->key, e->value ? e->value : "(none)");
		assert_string_equal(got, wanted);
	}
}

#define CPU "/sys/devices/system/cpu"

static void put_processor(void)
{
	put("/proc/cpuinfo",
	    "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 30\n"
	    "model name\t: Intel(R) Core(TM) i7 CPU 870 @ 2.93GHz\nmicrocode\t: 0x7\n"
	    "flags\t\t: fpu tsc constant_tsc nonstop_tsc_s3\n\nprocessor\t: 1\n"
	    "model name\t: another\n\n");
	put(CPU "/online", "0-3\n");
	put(CPU "/present", "0-7\n");
	put(CPU "/isolated", "\n");
	put(CPU "/nohz_full", "(null)\n");
	for (int i = 0; i < 4; i++) {
		char path[128], text[32];
		snprintf(path, sizeof path, CPU "/cpu%d/topology/core_siblings_list", i);
		put(path, "0-3\n");
		snprintf(path, sizeof path, CPU "/cpu%d/topology/thread_siblings_list", i);
		snprintf(text, sizeof text, "%d,%d\n", i % 2, i % 2 + 2);
		put(path, text);
		snprintf(path, sizeof path, CPU "/cpu%d/thermal_throttle/core_throttle_count", i);
		put(path, "3\n");
		snprintf(path, sizeof path, CPU "/cpufreq/policy%d/scaling_governor", i);
		put(path, i == 2 ? "performance\n" : "powersave\n");
	}
	put(CPU "/cpu0/cache/index0/level", "1\n");
	put(CPU "/cpu0/cache/index0/type", "Data\n");
	put(CPU "/cpu0/cache/index0/size", "32K\n");
	put(CPU "/cpu0/cache/index0/shared_cpu_list", "0,2\n");
	put(CPU "/intel_pstate/no_turbo", "0\n");
	put(CPU "/cpu0/cpuidle/state0/name", "POLL\n");
	put(CPU "/cpu0/cpuidle/state0/latency", "0\n");
	put(CPU "/cpu0/cpuidle/state1/name", "C1\n");
	put(CPU "/cpu0/cpuidle/state1/latency", "3\n");
	put(CPU "/cpu0/cpuidle/state2/name", "C6\n");
	put(CPU "/cpu0/cpuidle/state2/latency", "200\n");
	put(CPU "/cpu0/cpuidle/state2/disable", "1\n");
	put(CPU "/vulnerabilities/spectre_v1", "Mitigation: usercopy/swapgs barriers\n");
	put(CPU "/vulnerabilities/mds", "Not affected\n");
	put("/sys/bus/event_source/devices/cpu/type", "4\n");
	put("/sys/bus/event_source/devices/software/type", "1\n");
	put("/sys/bus/event_source/devices/msr/events/smi", "event=0x04\n");
}

static void the_processor_is_read_from_its_files(void **state)
{
	(void)state;
	put_processor();
	struct machine m = { 0 };
	machine_read_from(root, &m);
	static const struct expectation expected[] = {
		{ "cpu.model", "Intel(R) Core(TM) i7 CPU 870 @ 2.93GHz" },
		{ "cpu.vendor", "GenuineIntel" },
		{ "cpu.model_number", "30" },
		{ "cpu.microcode", "0x7" },
		{ "cpu.flag.constant_tsc", "yes" },
		{ "cpu.flag.nonstop_tsc", "no" },
		{ "cpu.flag.hypervisor", "no" },
		{ "system.hypervisor", "none" },
		{ "cpu.online.count", "4" },
		{ "cpu.present.count", "8" },
		{ "cpu.isolated", "none" },
		{ "cpu.nohz_full", "none" },
		{ "cpu.sockets", "1" },
		{ "cpu.cores", "2" },
		{ "cpu.threads_per_core", "2" },
		{ "cpu.cache.L1d", "32K" },
		{ "cpu.cache.L1d.shared_by", "2" },
		{ "cpu.governor", "powersave, performance" },
		{ "cpu.turbo", "on" },
		{ "cpu.turbo.off_value", "1" },
		{ "cpu.idle.deepest", "C1" },
		{ "cpu.idle.deepest_latency_us", "3" },
		{ "now.thermal.throttle_count", "12" },
		{ "mitigation.spectre_v1", "Mitigation: usercopy/swapgs barriers" },
		{ "mitigation.count", "1" },
		{ "cpu.counters", "cpu" },
		{ "cpu.smi_count", "yes" },
		{ "cpu.smt.active", NULL },
		{ "cpu.numa_nodes", NULL },
		{ 0 },
	};
	expect(&m, expected);
	machine_release(&m);
}

static void put_process(const char *pid, const char *comm)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%s/comm", pid);
	put(path, comm);
}

static void put_container(void)
{
	put("/.dockerenv", "");
	put("/proc/1/cgroup", "0::/\n");
	put("/proc/sys/kernel/hostname", "3f2a\n");
	put_link("/proc/self/ns/pid", "pid:[4026532201]");
	put("/proc/self/mountinfo", "22 1 0:21 / / rw - overlay overlay rw\n"
				    "23 22 0:22 / /proc rw - proc proc rw\n"
				    "24 22 8:2 / /data rw shared:1 - ext4 /dev/sda2 rw\n");
	put("/proc/self/cgroup", "0::/user.slice/job\n");
	put("/sys/fs/cgroup/cgroup.controllers", "cpu io memory\n");
	put("/sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n");
	put("/sys/fs/cgroup/user.slice/job/cpu.max", "max 100000\n");
	put("/proc/self/status",
	    "Name:\ttare\nUid:\t0\t0\t0\t0\nCapEff:\t0000000000001000\nSeccomp:\t2\n"
	    "Cpus_allowed_list:\t0-1,4\n");
	put_process("1", "sh\n");
	put_process("17", "cron\n");
	put_process("18", "cron\n");
	put_process("19", "chronyd\n");
	put_process("20", "unknown thing\n");
}

static void a_container_and_its_disks_are_known(void **state)
{
	(void)state;
	put_container();
	put("/sys/block/sda/size", "2097152\n");
	put("/sys/block/sda/queue/scheduler", "none [mq-deadline] bfq\n");
	put("/sys/block/sda/queue/rotational", "1\n");
	put("/sys/block/loop0/size", "100\n");
	put("/sys/block/sdb/size", "4096\n");
	put("/sys/block/sdb/removable", "1\n");
	struct machine m = { 0 };
	machine_read_from(root, &m);
	static const struct expectation expected[] = {
		{ "system.container", "docker" },
		{ "now.system.host", "3f2a" },
		{ "system.host", NULL },
		{ "system.pid_namespace", "own" },
		{ "system.root_fs", "overlay" },
		{ "now.directory.fs", "overlay" },
		{ "now.directory.disk", NULL },
		{ "now.process.cpu_quota", "1.50" },
		{ "now.process.cpus_allowed.count", "3" },
		{ "now.process.cap_net_admin", "yes" },
		{ "now.process.cap_bpf", "no" },
		{ "now.process.not_confined", "another user" },
		{ "disk.sda.scheduler", "mq-deadline" },
		{ "disk.sda.rotational", "1" },
		{ "disk.sda.size_mib", "1024" },
		{ "disk.loop0.size_mib", NULL },
		{ "disk.sdb.size_mib", NULL },
		{ "now.daemons.timed", "cron" },
		{ "now.daemons.ntp", "chronyd" },
		{ "now.daemons.service", "none" },
		{ "system.cgroup_version", "2" },
		{ "system.init", "sh" },
		{ 0 },
	};
	expect(&m, expected);
	machine_release(&m);
}

/* A virtual machine made from a container's image keeps its mark but is none. */
static void a_machine_made_from_an_image_is_no_container(void **state)
{
	(void)state;
	put("/.dockerenv", "");
	put("/proc/1/cgroup", "0::/\n");
	put_link("/proc/self/ns/pid", "pid:[4026531836]");
	put("/proc/self/mountinfo", "27 1 254:1 / / rw - ext4 /dev/vda1 rw\n");
	put_link("/sys/dev/block/254:1", "../../devices/pci0/virtio2/block/vda/vda1");
	put("/proc/self/cgroup", "1:cpu:/job\n");
	put("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
	put("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
	put("/proc/cpuinfo", "flags\t\t: fpu hypervisor tsc\n");
	put("/sys/devices/system/clocksource/clocksource0/available_clocksource",
	    "tsc kvm-clock\n");
	struct machine m = { 0 };
	machine_read_from(root, &m);
	static const struct expectation expected[] = {
		{ "system.container", "none" },	 { "system.pid_namespace", "initial" },
		{ "now.directory.disk", "vda" }, { "now.process.cpu_quota", "none" },
		{ "system.hypervisor", "kvm" },	 { "system.cgroup_version", "1" },
		{ "now.daemons.timed", NULL },	 { 0 },
	};
	expect(&m, expected);
	machine_release(&m);
}

static void kernel_memory_load_and_power_are_read(void **state)
{
	(void)state;
	put("/proc/sys/kernel/osrelease", "6.1.0-9\n");
	put("/boot/config-6.1.0-9", "# Linux\nCONFIG_HZ_250=y\nCONFIG_HZ=250\n"
				    "# CONFIG_PREEMPT_NONE is not set\nCONFIG_PREEMPT_VOLUNTARY=y\n"
				    "CONFIG_NO_HZ_FULL=y\nCONFIG_LOCK_STAT=y\nCONFIG_TASKSTATS=y\n"
				    "CONFIG_KASAN_GENERIC=y\n");
	put("/proc/cmdline", "root=/dev/sda1 rcupdate.preempt=no preempt=full quiet\n");
	put("/etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
	put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
	put("/proc/meminfo",
	    "MemTotal:       4194304 kB\nSwapTotal:  2048 kB\nSwapFree:  2047 kB\n");
	put("/proc/loadavg", "0.50 0.40 0.30 2/345 6789\n");
	put("/proc/stat", "cpu  100 0 100 700 50 0 0 50 0 0\n");
	put("/proc/pressure/io", "some avg10=1.50 avg60=2.25 avg300=0.00 total=1\nfull ...\n");
	put("/sys/class/power_supply/BAT0/type", "Battery\n");
	put("/sys/class/power_supply/BAT0/status", "Discharging\n");
	put("/sys/class/power_supply/mouse/type", "Battery\n");
	put("/etc/systemd/system/timers.target.wants/fstrim.timer", "");
	put("/run/systemd/system/x", "");
	struct machine m = { 0 };
	machine_read_from(root, &m);
	static const struct expectation expected[] = {
		{ "kernel.release", "6.1.0-9" },
		{ "kernel.hz", "250" },
		{ "kernel.preemption", "full" }, /* the command line wins */
		{ "kernel.tick", "nohz_full" },
		{ "kernel.debugging", "LOCK_STAT" },
		{ "kernel.features", "TASKSTATS" },
		{ "kernel.btf", "no" },
		{ "kernel.psi", "no" },
		{ "system.os", "Debian GNU/Linux 12 (bookworm)" },
		{ "system.init", "systemd" },
		{ "system.timers", "fstrim.timer" },
		{ "system.libc", NULL },
		{ "memory.thp", "madvise" },
		{ "memory.total_mib", "4096" },
		{ "now.memory.swap_used_mib", "1" },
		{ "now.memory.available_mib", NULL },
		{ "now.load.1", "0.50" },
		{ "now.tasks", "345" },
		{ "now.cpu.steal_percent", "5.000" },
		{ "now.pressure.io.avg60", "2.25" },
		{ "now.pressure.cpu.avg60", NULL },
		{ "power.battery", "yes" },
		{ "now.power.source", "battery" },
		{ "now.clock.synchronised", NULL },
		{ 0 },
	};
	expect(&m, expected);
	machine_release(&m);
}

static void without_files_nothing_is_said_of_the_machine(void **state)
{
	(void)state;
	struct machine m = { 0 };
	machine_read_from(root, &m);
	char *text = machine_to_text(&m);
	assert_string_equal(text, "");
	free(text);
	machine_release(&m);
}

static void garbage_in_files_is_not_taken_for_facts(void **state)
{
	(void)state;
	static const char *const paths[] = {
		"/proc/cpuinfo",
		"/proc/meminfo",
		"/proc/loadavg",
		"/proc/stat",
		"/proc/self/cgroup",
		"/proc/self/mountinfo",
		"/proc/self/status",
		"/proc/pressure/cpu",
		"/proc/uptime",
		"/proc/1/comm",
		"/proc/1/cgroup",
		CPU "/online",
		CPU "/isolated",
		CPU "/cpu0/topology/thread_siblings_list",
		CPU "/cpu0/cache/index0/level",
		CPU "/cpu0/cache/index0/type",
		CPU "/cpu0/cache/index0/size",
		CPU "/cpu0/cpuidle/state0/latency",
		"/etc/os-release",
		"/proc/config.gz",
		"/sys/kernel/mm/transparent_hugepage/enabled",
		"/sys/block/sda/size",
		"/sys/fs/cgroup/cpu.max",
		"/sys/class/power_supply/BAT0/type",
	};
	static const char *const texts[] = { "",
					     "\n",
					     ":",
					     "[",
					     "flags :",
					     "0-",
					     "1 2 3 - ",
					     "99999999999999999999999 1",
					     "PRETTY_NAME=",
					     "cpu -1 -2\n\n",
					     "0::\n:::\n:cpu:/../../..",
					     "\xff\xfe" };
	for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
		for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
			put(paths[i], texts[t]);
		struct machine m = { 0 };
		machine_read_from(root, &m);
		static const struct expectation expected[] = { { "cpu.online.count", NULL },
							       { "cpu.cores", NULL },
							       { "memory.total_mib", NULL },
							       { "now.load.1", NULL },
							       { 0 } };
		if (texts[t][0] != '\0' && texts[t][0] != '\n') /* an empty list has 0 CPUs */
			expect(&m, expected);
		machine_release(&m);
	}
}

static void lists_of_cpus_and_fields_are_parsed(void **state)
{
	(void)state;
	static const struct {
		const char *list;
		long count;
	} lists[] = { { "0-3,8", 5 }, { "0", 1 },
		      { "", 0 },      { "\n", 0 },
		      { "3-1", -1 },  { "a", -1 },
		      { "1-", -1 },   { "1-2x", -1 },
		      { "-1", -1 },   { "0-99999999999", -1 },
		      { "1,,2", -1 }, { "2,4\n", 2 } };
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		assert_int_equal(cpulist_count(lists[i].list), lists[i].count);
	char *value = field_of("ab: 1\na :  two words \nb\t3", "a");
	assert_string_equal(value, "two words");
	free(value);
	value = field_of("ab: 1\na :  two words \nb\t3", "b");
	assert_string_equal(value, "3");
	free(value);
	assert_null(field_of("ab: 1\n", "a"));
	struct strbuf list = { 0 };
	list_add(&list, "ab");
	list_add(&list, "a");
	list_add(&list, "ab");
	list_add(&list, "b");
	assert_string_equal(list.text, "ab, a, b");
	strbuf_release(&list);
}

static bool has(const struct overall *o, enum overall_measure m, uint64_t value)
{
	return (o->present >> m & 1) && o->value[m] == value;
}

static void counters_of_stat_and_vmstat_are_read_if_they_are_there(void **state)
{
	(void)state;
	struct overall o = { 0 };
	overall_parse_stat("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 99 99 99 99\nintr 1234 0 5 6\nctxt 55\n"
			   "btime 1700000000\nprocesses 77\nprocs_running 2\nprocs_blocked 1\n"
			   "softirq 5 5\n",
			   &o);
	for (unsigned m = OVERALL_USER; m <= OVERALL_GUEST_NICE; m++)
		assert_true(has(&o, (enum overall_measure)m, m + 1));
	assert_true(has(&o, OVERALL_INTERRUPTS, 1234) && has(&o, OVERALL_SWITCHES, 55));
	assert_true(has(&o, OVERALL_BOOT_TIME, 1700000000) && has(&o, OVERALL_FORKS, 77));
	assert_true(has(&o, OVERALL_RUNNING, 2) && has(&o, OVERALL_BLOCKED, 1));
	assert_false(o.present >> OVERALL_PAGE_IN & 1);
	overall_parse_vmstat(
		"nr_free_pages 5\npgpgin 11\npgpgout 12\npgpgoutx 9\npswpin 13\npswpout 14", &o);
	assert_true(has(&o, OVERALL_PAGE_IN, 11) && has(&o, OVERALL_PAGE_OUT, 12));
	assert_true(has(&o, OVERALL_SWAP_IN, 13) && has(&o, OVERALL_SWAP_OUT, 14));
	assert_int_equal(o.present, (1ull << OVERALL_MEASURES) - 1);

	/* Linux 2.6.10 had no steal, guest or guest_nice */
	o = (struct overall){ 0 };
	overall_parse_stat("cpu  1 2 3 4 5 6 7\nctxt 5\n", &o);
	assert_true(has(&o, OVERALL_SOFTIRQ, 7) && has(&o, OVERALL_SWITCHES, 5));
	assert_false(o.present >> OVERALL_STEAL & 1);

	static const char *const bad[] = { "",	      "cpu",	 "cpu ",
					   "cpu  -1", "cpu  x",	 "ctxt 18446744073709551616",
					   "ctxt 1x", "xctxt 1", "\n\n\nct",
					   "ctxt\t1" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		o = (struct overall){ 0 };
		overall_parse_stat(bad[i], &o);
		assert_int_equal(o.present, 0);
	}
	o = (struct overall){ 0 };
	overall_parse_stat("ctxt 18446744073709551615", &o);
	assert_true(has(&o, OVERALL_SWITCHES, UINT64_MAX));
}

static void overall_counters_of_this_machine_are_all_there_and_grow(void **state)
{
	(void)state;
	struct overall a, b;
	overall_read(&a);
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	overall_read(&b);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(a.present, (1ull << OVERALL_MEASURES) - 1);
	assert_int_equal(b.present, a.present);
	assert_int_equal(a.value[OVERALL_BOOT_TIME], b.value[OVERALL_BOOT_TIME]);
	assert_true(b.value[OVERALL_FORKS] > a.value[OVERALL_FORKS]);
	assert_true(b.value[OVERALL_SWITCHES] >= a.value[OVERALL_SWITCHES]);
	assert_true(b.value[OVERALL_INTERRUPTS] >= a.value[OVERALL_INTERRUPTS]);
}

static void facts_of_this_machine_are_right_and_its_fingerprint_stays(void **state)
{
	(void)state;
	struct utsname names;
	assert_int_equal(uname(&names), 0);
	char first[17], second[17];
	struct machine m = { 0 };
	machine_read(&m);
	machine_fingerprint(&m, first);
	assert_string_equal(machine_get(&m, "kernel.release"), names.release);
	assert_int_equal(machine_number(&m, "cpu.online.count", 0), sysconf(_SC_NPROCESSORS_ONLN));
	struct timespec tick;
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	assert_int_equal(machine_number(&m, "kernel.hz", 0), 1000000000 / tick.tv_nsec);
	machine_release(&m);

	/* what moves by itself is kept out of the fingerprint */
	assert_int_equal(chdir("/proc"), 0);
	clock_t begun = clock();
	machine_read(&m);
	double ms = 1e3 * (double)(clock() - begun) / CLOCKS_PER_SEC;
	machine_fingerprint(&m, second);
	assert_string_equal(machine_get(&m, "now.directory.fs"), "proc");
	machine_release(&m);
	assert_string_equal(first, second);
	assert_true(ms < 50); /* 3 ms on two CPUs; sanitizers and loaded machines take longer */
}

int main(void)
{
#define IN_TREE(f) cmocka_unit_test_setup_teardown(f, tree_begin, tree_end)
	const struct CMUnitTest tests[] = {
		IN_TREE(the_processor_is_read_from_its_files),
		IN_TREE(a_container_and_its_disks_are_known),
		IN_TREE(a_machine_made_from_an_image_is_no_container),
		IN_TREE(kernel_memory_load_and_power_are_read),
		IN_TREE(without_files_nothing_is_said_of_the_machine),
		IN_TREE(garbage_in_files_is_not_taken_for_facts),
		cmocka_unit_test(lists_of_cpus_and_fields_are_parsed),
		cmocka_unit_test(counters_of_stat_and_vmstat_are_read_if_they_are_there),
		cmocka_unit_test(overall_counters_of_this_machine_are_all_there_and_grow),
		cmocka_unit_test(facts_of_this_machine_are_right_and_its_fingerprint_stays),
	};
	return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
