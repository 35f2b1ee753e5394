#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/invoker.h"

/* ---- ids and capabilities ---- */

bool confine_ids(uid_t uid, gid_t gid, const char *name)
{
	if (geteuid() != 0)
		return true;
	size_t count = 0;
	FREED gid_t *groups = name ? user_groups(name, gid, &count) : NULL;
	return (!name || groups) && user_become(uid, gid, groups, count);
}

bool confine_rights(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_capset, &header, none) == 0;
}

/* ---- system calls ---- */

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* What both need: memory, descriptors that are open, time, and to end. */
static const int common_calls[] = {
	SYS_read,
	SYS_readv,
	SYS_pread64,
	SYS_preadv,
	SYS_write,
	SYS_writev,
	SYS_pwrite64,
	SYS_lseek,
	SYS_close,
	SYS_fstat,
	SYS_newfstatat,
	SYS_dup,
	SYS_dup3,
	SYS_fcntl,
	SYS_ftruncate,
	SYS_sendfile,
	SYS_memfd_create,
	SYS_munmap,
	SYS_mremap,
	SYS_madvise,
	SYS_brk,
	SYS_futex,
	SYS_getrandom,
	SYS_ppoll,
	SYS_sendmsg,
	SYS_recvmsg,
	SYS_clock_gettime,
	SYS_clock_nanosleep,
	SYS_nanosleep,
	SYS_gettimeofday,
	SYS_getpid,
	SYS_gettid,
	SYS_rt_sigreturn,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_sigaltstack,
	SYS_restart_syscall,
	SYS_sysinfo,
	SYS_sched_yield,
	SYS_exit,
	SYS_exit_group,
#ifdef SYS_poll
	SYS_poll,
#endif
#ifdef SYS_dup2
	SYS_dup2,
#endif
};

static const int server_calls[] = {
	/* files, as far as confine_files() lets them be opened */
	SYS_openat,
	SYS_statx,
	SYS_faccessat,
	SYS_faccessat2,
	SYS_readlinkat,
	SYS_getdents64,
	SYS_unlinkat,
	SYS_fsync,
	SYS_fdatasync,
	SYS_fallocate,
	SYS_fchmod,
	SYS_fchown,
	SYS_getcwd,
	SYS_statfs,
	SYS_fstatfs,
	SYS_flock,
	SYS_fadvise64,
	SYS_utimensat,
#ifdef SYS_open
	SYS_open,
	SYS_stat,
	SYS_lstat,
	SYS_access,
	SYS_readlink,
	SYS_unlink,
#endif
	/* connections that others make */
	SYS_accept,
	SYS_accept4,
	SYS_recvfrom,
	SYS_sendto,
	SYS_shutdown,
	SYS_getsockopt,
	SYS_setsockopt,
	SYS_getsockname,
	SYS_getpeername,
	SYS_epoll_create1,
	SYS_epoll_ctl,
	SYS_epoll_pwait,
	SYS_eventfd2,
	SYS_pipe2,
	SYS_pselect6,
	SYS_socketpair,
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
	SYS_select,
	SYS_pipe,
#endif
	/* threads, and readers of program files, which confine themselves further */
	SYS_clone,
	SYS_set_robust_list,
	SYS_rseq,
	SYS_set_tid_address,
	SYS_sched_getaffinity,
	SYS_sched_setaffinity,
	SYS_wait4,
	SYS_prctl,
	SYS_seccomp,
	SYS_capset,
	SYS_close_range,
	SYS_prlimit64,
	SYS_kill,
	SYS_tgkill,
	SYS_getppid,
	SYS_getrusage,
	SYS_times,
	/* who this is; to become somebody else it would need a capability */
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_getresuid,
	SYS_getresgid,
	SYS_uname,
	SYS_clock_getres,
	SYS_rt_sigpending,
	SYS_setfsuid,
	SYS_setfsgid,
	SYS_umask,
#ifdef SYS_getrlimit
	SYS_getrlimit,
#endif
#ifdef SYS_time
	SYS_time,
#endif
};

typedef ARRAY(struct sock_filter) filter_program;

#define FIELD(member) ((uint32_t)offsetof(struct seccomp_data, member))
/* The lower half of an argument: both architectures are little-endian. */
#define ARGUMENT(n) (FIELD(args) + 8 * (n))

static void add(filter_program *p, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	array_push(p, (struct sock_filter){ code, yes, no, k });
}

static void add_result(filter_program *p, uint32_t result)
{
	add(p, BPF_RET | BPF_K, result, 0, 0);
}

static void add_calls(filter_program *p, const int *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], 0, 1);
		add_result(p, SECCOMP_RET_ALLOW);
	}
}

/* A call that is allowed unless its third argument asks for memory with code in it. */
static void add_mapping(filter_program *p, int call)
{
	add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 4);
	add(p, BPF_LD | BPF_W | BPF_ABS, ARGUMENT(2), 0, 0);
	add(p, BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1);
	add_result(p, SECCOMP_RET_ERRNO | EPERM);
	add_result(p, SECCOMP_RET_ALLOW);
}

bool confine_calls_known(void)
{
#ifdef ARCHITECTURE
	const uint32_t action = SECCOMP_RET_KILL_PROCESS;
	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
#else
	return false;
#endif
}

bool confine_calls(enum confine_calls which)
{
#ifdef ARCHITECTURE
	FREED filter_program p = { 0 };
	add(&p, BPF_LD | BPF_W | BPF_ABS, FIELD(arch), 0, 0);
	add(&p, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
	add_result(&p, SECCOMP_RET_KILL_PROCESS);
	add(&p, BPF_LD | BPF_W | BPF_ABS, FIELD(nr), 0, 0);
#ifdef __x86_64__
	add(&p, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1); /* x32 */
	add_result(&p, SECCOMP_RET_KILL_PROCESS);
#endif
	add_calls(&p, common_calls, sizeof common_calls / sizeof *common_calls);
	if (which == CONFINE_SERVER) {
		add_calls(&p, server_calls, sizeof server_calls / sizeof *server_calls);
		/* its flags are in memory; libc then takes clone */
		add(&p, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
		add_result(&p, SECCOMP_RET_ERRNO | ENOSYS);
	}
	add_mapping(&p, SYS_mprotect);
	add(&p, BPF_LD | BPF_W | BPF_ABS, FIELD(nr), 0, 0);
	add_mapping(&p, SYS_mmap);
	add_result(&p, SECCOMP_RET_ERRNO | EPERM);
	struct sock_fprog program = { (unsigned short)p.count, p.items };
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
#else
	(void)which;
	return false;
#endif
}

/* ---- files ---- */

#define READING (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITING                                                           \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE | \
	 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_TRUNCATE)
/* All of the first version; what has no rule is not allowed. */
#define ALL_ACCESS ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (UINT64_C(1) << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (UINT64_C(1) << 14)
#endif

/* A path that is not there needs no rule. */
static bool allow(int rules, const char *path, uint64_t access)
{
	struct stat st;
	CLOSED int fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return true;
	if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode))
		access &= LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
			  LANDLOCK_ACCESS_FS_TRUNCATE;
	struct landlock_path_beneath_attr rule = { .allowed_access = access, .parent_fd = fd };
	return syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

bool confine_files(const char *writable, const char *const *readable)
{
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	if (version < 1)
		return false;
	struct landlock_ruleset_attr handled = { .handled_access_fs = ALL_ACCESS };
	if (version >= 2)
		handled.handled_access_fs |= LANDLOCK_ACCESS_FS_REFER;
	if (version >= 3)
		handled.handled_access_fs |= LANDLOCK_ACCESS_FS_TRUNCATE;
	CLOSED int rules = (int)syscall(SYS_landlock_create_ruleset, &handled,
					sizeof handled.handled_access_fs, 0);
	if (rules < 0)
		return false;
	bool done = allow(rules, writable, (READING | WRITING) & handled.handled_access_fs);
	if (done)
		done = allow(rules, "/dev/null", (READING | WRITING) & handled.handled_access_fs);
	for (; done && *readable; readable++)
		done = allow(rules, *readable, READING);
	return done && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_landlock_restrict_self, rules, 0) == 0;
}

/* ---- what a child inherits ---- */

void confine_inherited(int kept)
{
	FREED char *maps = file_read("/proc/self/maps");
	for (char *line, *rest = maps; rest && (line = strsep(&rest, "\n"));) {
		unsigned long begin, end;
		char rights[5];
		if (sscanf(line, "%lx-%lx %4s", &begin, &end, rights) == 3 && rights[3] == 's')
			munmap((void *)begin, end - begin); /* NOLINT(performance-no-int-to-ptr) */
	}
	if (kept > 3)
		close_range(3, (unsigned)kept - 1, 0);
	close_range((unsigned)kept + 1, ~0u, 0);
}
