/* Where this runs: hypervisor, container, cgroup, disks and the file system of the working
 * directory. What belongs to this process rather than to the machine has a key beginning with
 * "now.". */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "collect/machine/facts.h"

struct clue {
	const char *text, *name;
};

static const char *clue_in(const char *text, const struct clue *clues)
{
	for (; text && clues->text; clues++)
		if (strstr(text, clues->text))
			return clues->name;
	return NULL;
}

/* What the hypervisor calls itself (cpuid leaf 0x40000000). */
static const char *hypervisor_by_cpuid(void)
{
#if defined(__x86_64__) || defined(__i386__)
	static const struct clue clues[] = {
		{ "KVMKVMKVM", "kvm" },	       { "Linux KVM Hv", "kvm" },
		{ "VMwareVMware", "vmware" },  { "Microsoft Hv", "hyperv" },
		{ "XenVMMXenVMM", "xen" },     { "VBoxVBoxVBox", "virtualbox" },
		{ "bhyve bhyve", "bhyve" },    { "TCGTCGTCGTCG", "qemu" },
		{ "prl hyperv", "parallels" }, { "ACRNACRNACRN", "acrn" },
		{ "QNXQVMBSQG", "qnx" },       { 0 }
	};
	unsigned a, words[4] = { 0 };
	__cpuid(0x40000000, a, words[0], words[1], words[2]);
	(void)a;
	char name[16];
	memcpy(name, words, sizeof name);
	return clue_in(name, clues);
#else
	return NULL;
#endif
}

static void read_hypervisor(const struct reader *r)
{
	static const struct clue products[] = { { "KVM", "kvm" },
						{ "QEMU", "qemu" },
						{ "VMware", "vmware" },
						{ "VirtualBox", "virtualbox" },
						{ "innotek", "virtualbox" },
						{ "Xen", "xen" },
						{ "Virtual Machine", "hyperv" },
						{ "Parallels", "parallels" },
						{ "BHYVE", "bhyve" },
						{ "Google Compute Engine", "kvm" },
						{ "OpenStack", "kvm" },
						{ "Bochs", "bochs" },
						{ "Apple Virtualization", "apple" },
						{ 0 } };
	static const struct clue clocks[] = {
		{ "kvm-clock", "kvm" }, { "hyperv", "hyperv" }, { "xen", "xen" }, { 0 }
	};
	const char *vendor = machine_get(r->into, "system.vendor");
	const char *product = machine_get(r->into, "system.product");
	FREED char *type = reader_line(r, "/sys/hypervisor/type");
	FREED char *tree = reader_line(r, "/proc/device-tree/hypervisor/compatible");
	const char *flag = machine_get(r->into, "cpu.flag.hypervisor");
	const char *found = type && *type ? type : NULL;
	bool guest = flag && strcmp(flag, "yes") == 0;
	if (!found && guest && r->live)
		found = hypervisor_by_cpuid();
	if (!found && (!flag || guest))
		found = clue_in(product, products);
	if (!found && (!flag || guest))
		found = clue_in(vendor, products);
	if (!found && guest)
		found = clue_in(machine_get(r->into, "clock.available"), clocks);
	if (!found && tree && *tree)
		found = tree;
	if (!found && guest)
		found = "of unknown make";
	if (!found && (flag || product))
		found = "none";
	if (found)
		machine_set(r->into, "system.hypervisor", found);
}

/* The file that a container's manager leaves. A virtual machine may have been made from a
 * container's image, files included: there the processes are the machine's own and the root is a
 * disk. */
static const char *container_by_file(const struct reader *r)
{
	const char *processes = machine_get(r->into, "system.pid_namespace");
	const char *root = machine_get(r->into, "system.root_fs");
	if (processes && strcmp(processes, "initial") == 0 && root && strcmp(root, "overlay") != 0)
		return NULL;
	if (reader_exists(r, "/.dockerenv"))
		return "docker";
	return reader_exists(r, "/run/.containerenv") ? "podman" : NULL;
}

static void read_container(const struct reader *r)
{
	static const struct clue groups[] = { { "/kubepods", "kubernetes" },
					      { "/docker", "docker" },
					      { "/libpod", "podman" },
					      { "/lxc", "lxc" },
					      { "/machine.slice/machine-", "nspawn" },
					      { 0 } };
	FREED char *manager = reader_line(r, "/run/systemd/container");
	FREED char *groups_of_1 = reader_text(r, "/proc/1/cgroup");
	const char *release = machine_get(r->into, "kernel.release");
	const char *found = container_by_file(r);
	if (!found && manager && *manager)
		found = manager;
	if (!found && release && (strstr(release, "Microsoft") || strstr(release, "WSL")))
		found = "wsl";
	if (!found && reader_exists(r, "/proc/vz") && !reader_exists(r, "/proc/bc"))
		found = "openvz";
	if (!found)
		found = clue_in(groups_of_1, groups);
	if (!found && groups_of_1)
		found = "none";
	if (found)
		machine_set(r->into, "system.container", found);
	FREED char *host = reader_line(r, "/proc/sys/kernel/hostname");
	/* a container's host name is often made up anew for each */
	if (host && found)
		machine_set(r->into, strcmp(found, "none") == 0 ? "system.host" : "now.system.host",
			    host);
}

/* CPUs' worth of time that one cgroup grants; 0 when it sets no limit. */
static double quota_in(const struct reader *r, const char *directory)
{
	FREED char *text = reader_line(r, "%s/cpu.max", directory);
	double quota = 0, period = 0;
	if (text && sscanf(text, "%lf %lf", &quota, &period) == 2 && period > 0)
		return quota / period;
	long q, p;
	if (reader_number(r, &q, "%s/cpu.cfs_quota_us", directory) && q > 0 &&
	    reader_number(r, &p, "%s/cpu.cfs_period_us", directory) && p > 0)
		return (double)q / (double)p;
	return 0;
}

/* The smallest quota on the way from the process's cgroup to the root of the hierarchy. */
static void quota_up(const struct reader *r, const char *mount, const char *group, double *least)
{
	char path[PATH_MAX];
	size_t base = strlen(mount);
	if (snprintf(path, sizeof path, "%s%s", mount, group) >= (int)sizeof path)
		return;
	for (;;) {
		double quota = quota_in(r, path);
		if (quota > 0 && (*least <= 0 || quota < *least))
			*least = quota;
		char *slash = strrchr(path, '/');
		if (!slash || (size_t)(slash - path) < base)
			return;
		*slash = '\0';
	}
}

static void read_cgroup(const struct reader *r)
{
	bool unified = reader_exists(r, "/sys/fs/cgroup/cgroup.controllers");
	if (unified || reader_exists(r, "/sys/fs/cgroup/cpu"))
		machine_set(r->into, "system.cgroup_version", unified ? "2" : "1");
	FREED char *text = reader_text(r, "/proc/self/cgroup");
	if (!text)
		return;
	double least = 0;
	for (char *save = NULL, *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *controllers = strchr(line, ':');
		char *group = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!group)
			continue;
		*group++ = '\0';
		controllers++;
		if (!*controllers)
			quota_up(r, "/sys/fs/cgroup", group, &least);
		else if (strcmp(controllers, "cpu") == 0 || strstr(controllers, "cpu,cpuacct"))
			quota_up(r, "/sys/fs/cgroup/cpu", group, &least);
	}
	if (least > 0)
		machine_setf(r->into, "now.process.cpu_quota", "%.2f", least);
	else
		machine_set(r->into, "now.process.cpu_quota", "none");
}

/* What base/confine.h needs and this process does not have. */
static void read_confinement(const struct reader *r, const char *status)
{
	FREED char *calls = field_of(status, "Seccomp"), *user = field_of(status, "Uid");
	FREED char *effective = field_of(status, "CapEff");
	uint64_t ids = UINT64_C(1) << 6 | UINT64_C(1) << 7; /* CAP_SETGID, CAP_SETUID */
	bool root = user && strtoul(user, NULL, 10) == 0;
	bool changes = !root || (effective && (strtoull(effective, NULL, 16) & ids) == ids);
	machine_set(r->into, "now.process.not_confined",
		    calls ? (changes ? "none" : "another user")
			  : (changes ? "seccomp" : "seccomp, another user"));
}

static void read_process(const struct reader *r)
{
	static const struct {
		const char *key;
		unsigned bit;
	} capabilities[] = { { "now.process.cap_net_admin", 12 },
			     { "now.process.cap_sys_admin", 21 },
			     { "now.process.cap_perfmon", 38 },
			     { "now.process.cap_bpf", 39 } };
	FREED char *status = reader_text(r, "/proc/self/status");
	if (!status)
		return;
	read_confinement(r, status);
	FREED char *allowed = field_of(status, "Cpus_allowed_list");
	if (allowed && cpulist_count(allowed) > 0) {
		machine_set(r->into, "now.process.cpus_allowed", allowed);
		machine_setf(r->into, "now.process.cpus_allowed.count", "%ld",
			     cpulist_count(allowed));
	}
	FREED char *hex = field_of(status, "CapEff");
	unsigned long long bits;
	if (hex && sscanf(hex, "%llx", &bits) == 1)
		for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++)
			machine_set(r->into, capabilities[i].key,
				    bits >> capabilities[i].bit & 1 ? "yes" : "no");
}

static void read_disk(const struct reader *r, const char *name)
{
	static const struct {
		const char *key, *file;
	} files[] = { { "model", "device/model" },
		      { "rotational", "queue/rotational" },
		      { "read_ahead_kb", "queue/read_ahead_kb" },
		      { "write_cache", "queue/write_cache" },
		      { "requests", "queue/nr_requests" } };
	long sectors = 0, removable = 0;
	reader_number(r, &sectors, "/sys/block/%s/size", name);
	reader_number(r, &removable, "/sys/block/%s/removable", name);
	/* a stick that is plugged in does not make it another machine */
	if (sectors <= 0 || removable || strncmp(name, "loop", 4) == 0 ||
	    strncmp(name, "ram", 3) == 0 || strncmp(name, "zram", 4) == 0)
		return;
	char key[128];
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		FREED char *text = reader_line(r, "/sys/block/%s/%s", name, files[i].file);
		snprintf(key, sizeof key, "disk.%.64s.%s", name, files[i].key);
		if (text && *text)
			machine_set(r->into, key, text);
	}
	FREED char *text = reader_line(r, "/sys/block/%s/queue/scheduler", name);
	char *chosen = text ? strchr(text, '[') : NULL;
	if (chosen)
		chosen[strcspn(chosen, "]")] = '\0';
	snprintf(key, sizeof key, "disk.%.64s.scheduler", name);
	if (text && *text)
		machine_set(r->into, key, chosen ? chosen + 1 : text);
	snprintf(key, sizeof key, "disk.%.64s.size_mib", name);
	machine_setf(r->into, key, "%ld", sectors / 2048);
}

struct mount {
	char device[32], type[64], source[256];
};

/* The mount that path is on: the longest mount point that holds it, the latest of equals. */
static bool mount_of(const char *mountinfo, const char *path, struct mount *found)
{
	size_t best = 0;
	for (const char *line = mountinfo; *line;) {
		char at[PATH_MAX], device[32], type[64], source[256];
		const char *end = line + strcspn(line, "\n");
		const char *dash = strstr(line, " - ");
		if (dash && dash < end &&
		    sscanf(line, "%*d %*d %31s %*s %4095s", device, at) == 2 &&
		    sscanf(dash + 3, "%63s %255s", type, source) == 2) {
			size_t length = strcmp(at, "/") == 0 ? 0 : strlen(at);
			if (length + 1 >= best && strncmp(path, at, length) == 0 &&
			    (path[length] == '/' || path[length] == '\0')) {
				best = length + 1;
				snprintf(found->device, sizeof found->device, "%s", device);
				snprintf(found->type, sizeof found->type, "%s", type);
				snprintf(found->source, sizeof found->source, "%s", source);
			}
		}
		line = *end ? end + 1 : end;
	}
	return best > 0;
}

/* The whole disk that a mounted device is on: the link of /sys/dev/block/M:m leads through
 * .../block/DISK/PARTITION. */
static bool disk_of(const struct reader *r, const struct mount *mount, char *out, size_t size)
{
	char link[PATH_MAX];
	const char *leaf = strrchr(mount->source, '/');
	if (!reader_link(r, link, sizeof link, "/sys/dev/block/%s", mount->device) &&
	    !(leaf && strncmp(mount->source, "/dev/", 5) == 0 &&
	      reader_link(r, link, sizeof link, "/sys/class/block/%s", leaf + 1)))
		return false;
	const char *disk = strstr(link, "/block/");
	if (!disk)
		return false;
	disk += strlen("/block/");
	snprintf(out, size, "%.*s", (int)strcspn(disk, "/"), disk);
	return *out != '\0';
}

static void read_directory(const struct reader *r)
{
	char here[PATH_MAX] = "/", disk[64];
	struct mount mount;
	FREED char *text = reader_text(r, "/proc/self/mountinfo");
	if (text && mount_of(text, "/", &mount))
		machine_set(r->into, "system.root_fs", mount.type);
	if (text && (!r->live || getcwd(here, sizeof here)) && mount_of(text, here, &mount)) {
		machine_set(r->into, "now.directory.fs", mount.type);
		machine_set(r->into, "now.directory.device", mount.source);
		if (disk_of(r, &mount, disk, sizeof disk))
			machine_set(r->into, "now.directory.disk", disk);
	}
}

void read_place(const struct reader *r)
{
	read_hypervisor(r);
	char link[64];
	if (reader_link(r, link, sizeof link, "/proc/self/ns/pid")) /* PROC_PID_INIT_INO */
		machine_set(r->into, "system.pid_namespace",
			    strcmp(link, "pid:[4026531836]") == 0 ? "initial" : "own");
	SCOPED(words_release) word_list disks = { 0 };
	reader_names(r, "/sys/block", "", &disks);
	for (size_t i = 0; i < disks.count; i++)
		read_disk(r, disks.items[i]);
	read_directory(r);
	read_container(r);
	read_cgroup(r);
	read_process(r);
}
