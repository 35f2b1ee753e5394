#include "collect/backend/kernel.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"

#define PROC_PID_INIT_INO 0xEFFFFFFCu /* the initial pid namespace (include/linux/proc_ns.h) */

static int say_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

void kernel_quiet(void)
{
	libbpf_set_print(say_nothing);
}

struct btf *kernel_btf(struct error *err)
{
	kernel_quiet();
	struct btf *btf = btf__load_vmlinux_btf();
	if (!btf)
		error_set(err, EXIT_ENVIRONMENT,
			  "this kernel has no BTF (/sys/kernel/btf/vmlinux)");
	return btf;
}

void kernel_btf_release(struct btf **btf)
{
	btf__free(*btf);
}

const char *kernel_refusal(int number)
{
	FREED char *mode = file_read_line("/sys/kernel/security/lockdown");
	return mode && strstr(mode, "[confidentiality]") ? "it is locked down for confidentiality"
							 : strerror(number);
}

int kernel_refused(const char *deed, const char *programs, int number, struct error *err)
{
	if (number != EPERM && number != EACCES)
		return error_set(err, EXIT_ENVIRONMENT, "the kernel refused the BPF %s: %s",
				 programs, kernel_refusal(number));
	error_set(err, EXIT_ENVIRONMENT, "not permitted to watch %s", deed);
	return error_hint(err, "run it as root, or with CAP_BPF and CAP_PERFMON");
}

void kernel_empty_map(int map)
{
	char key[16], next[16]; /* the longest */
	/* again, should some have come meanwhile */
	while (bpf_map_get_next_key(map, NULL, key) == 0)
		for (bool more = true; more; memcpy(key, next, sizeof key)) {
			more = bpf_map_get_next_key(map, key, next) == 0;
			bpf_map_delete_elem(map, key);
		}
}

bool kernel_tells_our_pids(void)
{
	struct stat st;
	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == PROC_PID_INIT_INO;
}

const char *program_tracepoint(const struct bpf_program *p)
{
	const char *slash = strchr(bpf_program__section_name(p), '/');
	return slash ? slash + 1 : "";
}

static bool has_tracepoint(const struct btf *btf, const char *name)
{
	char type[96];
	snprintf(type, sizeof type, "btf_trace_%.80s", name);
	return btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) >= 0;
}

bool kernel_has_pair(const struct btf *btf, const char *name)
{
	char other[96];
	snprintf(other, sizeof other, "%.80s", name);
	char *end = strrchr(other, '_');
	if (end && strcmp(end, "_entry") == 0)
		snprintf(end, 8, "_exit");
	else if (end && strcmp(end, "_exit") == 0)
		snprintf(end, 8, "_entry");
	return has_tracepoint(btf, name) && has_tracepoint(btf, other);
}

/* Both are per-CPU variables that BTF has the offsets of. */
bool kernel_from_rq(const struct btf *btf, const char *variable, int64_t *from_rq)
{
	int section = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	if (section < 0)
		return false;
	const struct btf_type *type = btf__type_by_id(btf, (uint32_t)section);
	const struct btf_var_secinfo *vars = btf_var_secinfos(type);
	int64_t found = -1, queue = -1;
	for (int i = 0; i < btf_vlen(type); i++) {
		const struct btf_type *var = btf__type_by_id(btf, vars[i].type);
		const char *name = btf__name_by_offset(btf, var->name_off);
		if (strcmp(name, variable) == 0)
			found = vars[i].offset;
		else if (strcmp(name, "runqueues") == 0)
			queue = vars[i].offset;
	}
	*from_rq = found - queue;
	return found >= 0 && queue >= 0;
}

bool kernel_is_guest(void)
{
	FREED char *info = file_read("/proc/cpuinfo");
	return info && strstr(info, " hypervisor");
}

static bool steal_counts(void)
{
	/* the kernel's own sum over all CPUs: the 8th number */
	FREED char *stat = file_read_line("/proc/stat");
	unsigned long long steal = 0;
	bool read = stat && sscanf(stat, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &steal) == 1;
	return read && steal > 0;
}

bool kernel_steal(const struct btf *btf, int64_t *from_rq)
{
	return kernel_from_rq(btf, "steal_time", from_rq) && steal_counts();
}

void kernel_functions(const char *const *names, uint64_t *addresses, size_t count)
{
	FILE *symbols = fopen("/proc/kallsyms", "re");
	char line[512], name[128], type;
	uint64_t address;
	memset(addresses, 0, count * sizeof *addresses);
	while (symbols && fgets(line, sizeof line, symbols)) {
		if (sscanf(line, "%" SCNx64 " %c %127s", &address, &type, name) != 3)
			continue;
		for (size_t i = 0; i < count; i++)
			if (strcmp(name, names[i]) == 0)
				addresses[i] = address;
	}
	if (symbols)
		fclose(symbols);
}

int kernel_visit_tasks(const struct bpf_program *p, pid_t thread, pid_t process)
{
	union bpf_iter_link_info which = { .task = { .tid = process ? 0 : (uint32_t)thread,
						     .pid = thread ? 0 : (uint32_t)process } };
	LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &which,
		    .link_info_len = sizeof which);
	struct bpf_link *link = bpf_program__attach_iter(p, &options);
	if (!link)
		link = bpf_program__attach_iter(p, NULL);
	if (!link)
		return -1;
	char nothing[64];
	CLOSED int fd = bpf_iter_create(bpf_link__fd(link));
	ssize_t n = fd < 0 ? -1 : 1;
	while (fd >= 0 && ((n = read(fd, nothing, sizeof nothing)) > 0 ||
			   (n < 0 && (errno == EINTR || errno == EAGAIN))))
		;
	int saved = errno;
	bpf_link__destroy(link);
	errno = saved;
	return n < 0 ? -1 : 0;
}

void kernel_wait_for_programs(void)
{
	/* they run with preemption off or in a read section: a grace period ends behind them */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0)
		usleep(20000);
}

void *kernel_map_memory(struct bpf_map *map, size_t bytes, bool at_once, size_t *size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	*size = (bytes + page - 1) / page * page;
	void *data = mmap(NULL, *size, PROT_READ | PROT_WRITE,
			  MAP_SHARED | (at_once ? MAP_POPULATE : 0), bpf_map__fd(map), 0);
	return data == MAP_FAILED ? NULL : data;
}
