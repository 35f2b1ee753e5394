#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "protocol/doctor/checks.h"
#include "protocol/doctor/doctor.h"
#include "record/noncritical.h"

static void load(struct machine *m, const char *name)
{
	struct strbuf path = { 0 };
	strbuf_printf(&path, "%s/machines/%s.txt", TARE_GOLDEN, name);
	char *text = file_read(strbuf_text(&path));
	assert_non_null(text);
	machine_from_text(m, text);
	assert_true(m->facts.count > 10);
	free(text);
	strbuf_release(&path);
}

/* "bad:kernel warn:turbo": all that is worse than OK, in order. */
static char *verdict(const finding_list *findings)
{
	struct strbuf sb = { 0 };
	for (size_t i = 0; i < findings->count; i++)
		if (findings->items[i].severity > SEVERITY_OK)
			strbuf_printf(&sb, "%s%s:%s", sb.length ? " " : "",
				      severity_names[findings->items[i].severity],
				      findings->items[i].id);
	return strbuf_detach(&sb);
}

static const struct finding *find(const finding_list *findings, const char *id)
{
	for (size_t i = 0; i < findings->count; i++)
		if (strcmp(findings->items[i].id, id) == 0)
			return &findings->items[i];
	fail_msg("no check %s", id);
	return NULL;
}

static void recorded_machines_get_the_verdicts_they_deserve(void **state)
{
	(void)state;
	static const struct {
		const char *name, *verdict;
	} machines[] = {
		{ "server", "note:cores" },
		{ "vm",
		  "warn:ntp warn:hypervisor note:frequency_hidden note:cores note:isolated "
		  "note:watchdog note:mitigations note:counters note:aslr note:page_reporting "
		  "note:autogroup note:delay_accounting" },
		{ "laptop",
		  "bad:battery warn:daemons warn:cron warn:updates warn:indexers warn:turbo "
		  "warn:governor warn:smt warn:thermal warn:swap_used warn:thp note:timers "
		  "note:frequency_range note:energy_preference note:cores note:desktop "
		  "note:idle_states note:power_daemon note:isolated note:nohz_full note:irqbalance "
		  "note:nmi_watchdog note:watchdog note:mitigations note:swap note:swappiness "
		  "note:aslr note:autogroup note:privilege note:perf_paranoid "
		  "note:delay_accounting" },
		{ "ancient",
		  "bad:kernel bad:memory bad:clocksource warn:daemons warn:cron warn:governor "
		  "warn:load warn:tsc_constant warn:tsc_nonstop warn:swap_used warn:btf note:ntp "
		  "note:single_cpu note:settled note:swap note:aslr note:disk note:disk_scheduler "
		  "note:psi" },
		{ "container",
		  "bad:load bad:steal bad:cpu_quota warn:kernel warn:cpu_pressure "
		  "warn:io_pressure warn:memory_pressure warn:hypervisor warn:container "
		  "warn:pid_namespace warn:clocksource warn:ksm warn:numa_balancing "
		  "warn:debug_kernel warn:btf note:cores note:affinity note:microcode "
		  "note:hugepages note:page_reporting note:directory note:privilege "
		  "note:perf_paranoid" },
	};
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
		struct machine m = { 0 };
		finding_list findings = { 0 };
		load(&m, machines[i].name);
		doctor_judge(&m, &findings);
		char *text = verdict(&findings);
		assert_string_equal(text, machines[i].verdict);
		free(text);
		array_release(&findings);
		machine_release(&m);
	}
}

/* A guest counts those of its own firmware. */
static void the_smis_of_a_machine_are_not_counted_in_its_guests(void **state)
{
	(void)state;
	struct machine m = { 0 };
	finding_list findings = { 0 };
	load(&m, "vm");
	machine_set(&m, "cpu.smi_count", "yes");
	doctor_judge(&m, &findings);
	const struct finding *smi = NULL;
	array_each(f, &findings)
		if (strcmp(f->id, "smi") == 0)
			smi = f;
	assert_non_null(smi);
	assert_int_equal(smi->severity, SEVERITY_NOTE);
	assert_non_null(strstr(smi->condition, "guest's own"));
	array_release(&findings);
	machine_release(&m);
}

/* The tuned server with one thing wrong: exactly that is found. */
static void one_thing_wrong_is_found_and_nothing_else(void **state)
{
	(void)state;
	static const struct {
		const char *key, *value, *found;
	} cases[] = {
		{ "now.daemons.service", "cupsd", "warn:daemons" },
		{ "now.daemons.timed", "cron", "warn:cron" },
		{ "now.daemons.updates", "dpkg", "warn:updates" },
		{ "now.daemons.index", "updatedb.plocat", "warn:indexers" },
		{ "now.daemons.desktop", "Xorg", "note:desktop" },
		{ "now.daemons.power", "tuned", "note:power_daemon" },
		{ "now.daemons.irq", "irqbalance", "note:irqbalance" },
		{ "system.timers", "fstrim.timer", "note:timers" },
		{ "now.clock.synchronised", "no", "note:ntp" }, /* chronyd runs there */
		{ "cpu.turbo", "on", "warn:turbo" },
		{ "cpu.governor", "performance, powersave", "warn:governor" },
		{ "cpu.frequency.scaling_min_khz", "800000", "note:frequency_range" },
		{ "cpu.frequency.driver", "none", "note:frequency_hidden" },
		{ "cpu.energy_preference", "balance_power", "note:energy_preference" },
		{ "kernel.release", "2.6.32-71.el6", "bad:kernel" },
		{ "kernel.release", "5.7.19", "warn:kernel" },
		{ "kernel.release", "4.19.0-27-amd64", "warn:kernel" },
		{ "now.load.1", "1.7", "warn:load" },
		{ "now.load.1", "8.1", "bad:load" },
		{ "now.pressure.cpu.avg60", "5.01", "warn:cpu_pressure" },
		{ "now.pressure.io.avg60", "1.5", "warn:io_pressure" },
		{ "now.pressure.memory.avg60", "0.5", "warn:memory_pressure" },
		{ "now.memory.available_mib", "20000", "warn:memory" },
		{ "now.memory.available_mib", "5000", "bad:memory" },
		{ "now.uptime_s", "30", "note:settled" },
		{ "system.hypervisor", "kvm", "warn:hypervisor" },
		{ "now.cpu.steal_percent", "0.5", "warn:steal" },
		{ "now.cpu.steal_percent", "1.5", "bad:steal" },
		{ "now.cpu.guest_percent", "4.0", "warn:guests" },
		{ "system.container", "podman", "warn:container" },
		{ "system.pid_namespace", "own", "warn:pid_namespace" },
		{ "now.process.cpu_quota", "0.50", "bad:cpu_quota" },
		{ "now.process.cpu_quota", "16.00", "note:cpu_quota" },
		{ "now.process.cpus_allowed.count", "8", "note:affinity" },
		{ "cpu.smt.active", "1", "warn:smt" },
		{ "clock.source", "hpet", "bad:clocksource" },
		{ "clock.source", "xen", "warn:clocksource" },
		{ "cpu.flag.constant_tsc", "no", "warn:tsc_constant" },
		{ "cpu.flag.nonstop_tsc", "no", "warn:tsc_nonstop" },
		{ "now.thermal.throttle_count", "1", "warn:thermal" },
		{ "now.power.source", "battery", "bad:battery" },
		{ "cpu.idle.deepest_latency_us", "133", "note:idle_states" },
		{ "cpu.idle.governor", "ladder", "note:idle_governor" },
		{ "cpu.isolated", "none", "note:isolated" },
		{ "cpu.nohz_full", "none", "note:nohz_full" },
		{ "kernel.nmi_watchdog", "1", "note:nmi_watchdog" },
		{ "kernel.watchdog", "1", "note:watchdog" },
		{ "kernel.timer_migration", "1", "note:timer_migration" },
		{ "vm.stat_interval", "1", "note:stat_interval" },
		{ "mitigation.count", "7", "note:mitigations" },
		{ "cpu.microcode", "0xffffffff", "note:microcode" },
		{ "cpu.counters", "none", "note:counters" },
		{ "cpu.smi_count", "no", "note:smi" },
		{ "cpu.smi_count", "yes", "" },
		{ "now.memory.swap_used_mib", "1", "warn:swap_used" },
		{ "memory.swap_mib", "4096", "note:swap note:swappiness" },
		{ "memory.thp", "always", "warn:thp" },
		{ "memory.thp_defrag", "always", "note:thp_defrag" },
		{ "vm.hugepages", "64", "note:hugepages" },
		{ "memory.ksm", "1", "warn:ksm" },
		{ "kernel.numa_balancing", "1", "warn:numa_balancing" },
		{ "kernel.aslr", "1", "note:aslr" },
		{ "now.directory.fs", "nfs4", "warn:directory" },
		{ "now.directory.fs", "fuse.sshfs", "warn:directory" },
		{ "now.directory.fs", "overlay", "note:directory" },
		{ "disk.sda.rotational", "1", "note:disk" },
		{ "disk.sda.scheduler", "bfq", "note:disk_scheduler" },
		{ "kernel.debugging", "KASAN, LOCK_STAT", "warn:debug_kernel" },
		{ "kernel.sched_autogroup", "1", "note:autogroup" },
		{ "kernel.sched_schedstats", "1", "note:schedstats" },
		{ "kernel.btf", "no", "warn:btf" },
		{ "now.task_delayacct", "0", "note:delay_accounting" },
		{ "kernel.psi", "no", "note:psi" },
		{ "now.process.not_confined", "seccomp", "note:confinement" },
		{ "now.process.not_confined", "none", "" },
		/* and some that are no fault */
		{ "now.load.1", "1.5", "" },
		{ "kernel.release", "5.8.0", "" },
		{ "kernel.numa_balancing", "0", "" },
		{ "memory.page_reporting_order", "9", "" }, /* not a guest */
		{ "clock.source", "arch_sys_counter", "" },
		{ "kernel.perf_event_paranoid", "4", "" }, /* root may all the same */
		{ "now.process.cap_bpf", "no", "" },	   /* CAP_SYS_ADMIN stands for it */
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct machine m = { 0 };
		finding_list findings = { 0 };
		load(&m, "server");
		machine_set(&m, cases[i].key, cases[i].value);
		doctor_judge(&m, &findings);
		struct strbuf expected = { 0 };
		/* "cores" is a note on every machine that has some: it comes in its place */
		char *text = verdict(&findings);
		char *cores = strstr(text, "note:cores");
		assert_non_null(cores);
		size_t length = strlen("note:cores");
		length += cores[length] == ' ';
		memmove(cores, cores + length, strlen(cores + length) + 1);
		size_t end = strlen(text);
		if (end && text[end - 1] == ' ')
			text[end - 1] = '\0';
		strbuf_printf(&expected, "%s=%s -> %s", cases[i].key, cases[i].value,
			      cases[i].found);
		struct strbuf got = { 0 };
		strbuf_printf(&got, "%s=%s -> %s", cases[i].key, cases[i].value, text);
		assert_string_equal(strbuf_text(&got), strbuf_text(&expected));
		free(text);
		strbuf_release(&got);
		strbuf_release(&expected);
		array_release(&findings);
		machine_release(&m);
	}
}

static void a_lack_of_privileges_names_the_back_end_that_is_left(void **state)
{
	(void)state;
	struct machine m = { 0 };
	load(&m, "server");
	machine_set(&m, "now.process.cap_sys_admin", "no");
	machine_set(&m, "now.process.cap_bpf", "no");
	finding_list findings = { 0 };
	doctor_judge(&m, &findings);
	assert_int_equal(find(&findings, "privilege")->severity, SEVERITY_NOTE);
	assert_non_null(strstr(find(&findings, "privilege")->condition, "netlink"));
	findings.count = 0;
	machine_set(&m, "now.process.cap_net_admin", "no");
	doctor_judge(&m, &findings);
	assert_non_null(strstr(find(&findings, "privilege")->condition, "plain"));
	array_release(&findings);
	machine_release(&m);
}

static void remedies_are_commands_that_fit_the_machine(void **state)
{
	(void)state;
	static const struct {
		const char *machine, *id, *remedy;
		bool command;
	} cases[] = {
		{ "laptop", "turbo",
		  "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo", true },
		{ "laptop", "daemons",
		  "sudo systemctl stop avahi-daemon bluetooth cups ModemManager", true },
		{ "laptop", "timers", "sudo systemctl stop apt-daily.timer fstrim.timer", true },
		{ "laptop", "indexers", "Wait until it has ended, or end it.", false },
		{ "laptop", "battery", "Plug the charger in.", false },
		{ "ancient", "cron", "for s in atd crond; do sudo service $s stop; done", true },
		{ "ancient", "disk_scheduler",
		  "echo mq-deadline | sudo tee /sys/block/sda/queue/scheduler", true },
		{ "vm", "ntp", "sudo apt-get install -y chrony && sudo service chrony start",
		  true },
		{ "container", "affinity", "taskset -p -c 0-3 $$", true },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct machine m = { 0 };
		finding_list findings = { 0 };
		load(&m, cases[i].machine);
		doctor_judge(&m, &findings);
		const struct finding *f = find(&findings, cases[i].id);
		assert_string_equal(f->remedy, cases[i].remedy);
		assert_int_equal(f->command, cases[i].command);
		array_release(&findings);
		machine_release(&m);
	}
}

static void findings_are_sorted_and_their_texts_are_whole(void **state)
{
	(void)state;
	static const char *const machines[] = { "laptop", "ancient", "container", "vm", "server" };
	for (size_t k = 0; k < sizeof machines / sizeof *machines; k++) {
		struct machine m = { 0 };
		finding_list findings = { 0 };
		load(&m, machines[k]);
		doctor_judge(&m, &findings);
		assert_int_equal(findings.count, doctor_checks_count);
		for (size_t i = 0; i < findings.count; i++) {
			const struct finding *f = &findings.items[i];
			if (i) /* worst first, what is not known last */
				assert_true(f->severity <= findings.items[i - 1].severity);
			assert_true(*f->condition && *f->source);
			assert_null(strpbrk(f->condition, "{}"));
			assert_null(strpbrk(f->remedy, "{}"));
			assert_int_equal(f->severity > SEVERITY_OK, *f->effect != '\0');
			assert_int_equal(f->severity > SEVERITY_OK, *f->remedy != '\0');
			assert_true(strlen(f->condition) < sizeof f->condition - 1);
			assert_true(strlen(f->effect) < sizeof f->effect - 1);
			assert_true(strlen(f->remedy) < sizeof f->remedy - 1);
		}
		array_release(&findings);
		machine_release(&m);
	}
}

static void without_facts_every_check_is_unknown(void **state)
{
	(void)state;
	struct machine m = { 0 };
	finding_list findings = { 0 };
	doctor_judge(&m, &findings);
	assert_true(doctor_checks_count >= 60);
	assert_int_equal(findings.count, doctor_checks_count);
	for (size_t i = 0; i < findings.count; i++) {
		assert_int_equal(findings.items[i].severity, SEVERITY_UNKNOWN);
		assert_non_null(strstr(findings.items[i].condition, "is missing"));
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(findings.items[i].id, findings.items[j].id);
	}
	array_release(&findings);
}

/* Whatever the facts say, the judgement ends and its texts are terminated. */
static void garbage_in_facts_is_judged_without_harm(void **state)
{
	(void)state;
	char *longest = xmalloc(5000);
	memset(longest, ',', 4999);
	longest[4999] = '\0';
	const char *const values[] = { "",
				       "{}",
				       "{units}",
				       "{words}",
				       "%s%n",
				       "-1",
				       "nan",
				       "1e999",
				       "99999999999999999999",
				       "a, b, cron, cron",
				       longest };
	for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
		struct machine m = { 0 };
		finding_list findings = { 0 };
		load(&m, "laptop");
		for (size_t i = 0; i < m.facts.count; i++) {
			free(m.facts.items[i].value);
			m.facts.items[i].value = xstrdup(values[v]);
		}
		doctor_judge(&m, &findings);
		assert_int_equal(findings.count, doctor_checks_count);
		for (size_t i = 0; i < findings.count; i++)
			assert_true(strlen(findings.items[i].remedy) <
				    sizeof findings.items[i].remedy);
		/* what is not a number is not judged as one */
		if (strcmp(values[v], "nan") == 0 || strcmp(values[v], "%s%n") == 0)
			assert_int_equal(find(&findings, "load")->severity, SEVERITY_UNKNOWN);
		array_release(&findings);
		machine_release(&m);
	}
	xfree(longest);
}

static void every_known_daemon_is_found_by_its_name(void **state)
{
	(void)state;
	assert_ptr_equal(known_daemon_find("nothing-of-that"), NULL);
	assert_int_equal(known_daemon_find("chronyd")->kind, DAEMON_NTP);
	assert_true(known_daemon_find("crond")->paper);
	size_t papers = 0;
	for (size_t i = 0; i < known_daemon_count; i++) {
		assert_true(strlen(known_daemons[i].comm) <= 15); /* TASK_COMM_LEN */
		assert_ptr_equal(known_daemon_find(known_daemons[i].comm), &known_daemons[i]);
		papers += known_daemons[i].paper;
	}
	assert_true(papers >= 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_machines_get_the_verdicts_they_deserve),
		cmocka_unit_test(one_thing_wrong_is_found_and_nothing_else),
		cmocka_unit_test(the_smis_of_a_machine_are_not_counted_in_its_guests),
		cmocka_unit_test(a_lack_of_privileges_names_the_back_end_that_is_left),
		cmocka_unit_test(remedies_are_commands_that_fit_the_machine),
		cmocka_unit_test(findings_are_sorted_and_their_texts_are_whole),
		cmocka_unit_test(without_facts_every_check_is_unknown),
		cmocka_unit_test(garbage_in_facts_is_judged_without_harm),
		cmocka_unit_test(every_known_daemon_is_found_by_its_name),
	};
	return cmocka_run_group_tests_name("doctor", tests, NULL, NULL);
}
