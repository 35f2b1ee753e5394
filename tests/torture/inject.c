/* Runs a command and, at its N-th system call, kills it or lets the call fail. Follows the command
 *and its threads, not what it starts.
 *
 *	inject MODE N REPORT COMMAND...
 *
 * MODE: 'count' does nothing; 'kill-each' kills at the N-th call, before it takes effect; 'kill'
 *counts only the calls that can change something outside of the process; 'short' halves what the
 *N-th call that writes may write; the name of an error (ENOSPC, EIO, EDQUOT) lets the N-th call
 *that writes fail with it; with a '+' behind the name that one and all after it.
 *
 * A call writes if it changes a file on disk: write, fsync, truncate, rename, link, mkdir, open for
 *writing.
 *
 * REPORT: a file that gets one line of JSON: how many calls there were, how many that act, how many
 *that write, which one was hit, and the exit code of the command, or the negative signal. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum mode { COUNT, KILL, KILL_EACH, SHORT, FAIL };

static enum mode mode;
static int reason; /* of a failure: the errno */
static bool from_then_on;
static long wanted, calls, acts, writes;
static pid_t subject;
static char knobs[2][PATH_MAX]; /* files that stand for those of a kernel */
static char hit[PATH_MAX + 64] = "nothing";

static void die(const char *what)
{
	fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
	exit(125);
}

static const struct {
	long number;
	const char *name;
	enum { FD, PATH, OPEN, OPEN_HOW, CREATE } where;
	int argument; /* of the descriptor or the path */
	int length;   /* the argument that 'short' halves; 0: none */
} writing[] = {
	{ SYS_write, "write", FD, 0, 2 },
	{ SYS_pwrite64, "pwrite", FD, 0, 2 },
	{ SYS_writev, "writev", FD, 0, 0 },
	{ SYS_pwritev, "pwritev", FD, 0, 0 },
	{ SYS_fsync, "fsync", FD, 0, 0 },
	{ SYS_fdatasync, "fdatasync", FD, 0, 0 },
	{ SYS_ftruncate, "ftruncate", FD, 0, 0 },
	{ SYS_fallocate, "fallocate", FD, 0, 0 },
	{ SYS_copy_file_range, "copy_file_range", FD, 2, 4 },
	{ SYS_openat, "openat", OPEN, 1, 0 },
	{ SYS_openat2, "openat2", OPEN_HOW, 1, 0 },
	{ SYS_renameat, "renameat", PATH, 3, 0 },
	{ SYS_renameat2, "renameat2", PATH, 3, 0 },
	{ SYS_linkat, "linkat", PATH, 3, 0 },
	{ SYS_symlinkat, "symlinkat", PATH, 2, 0 },
	{ SYS_mkdirat, "mkdirat", PATH, 1, 0 },
#ifdef SYS_open /* the older ones, which arm64 does not have */
	{ SYS_open, "open", OPEN, 0, 0 },
	{ SYS_creat, "creat", CREATE, 0, 0 },
	{ SYS_rename, "rename", PATH, 1, 0 },
	{ SYS_link, "link", PATH, 1, 0 },
	{ SYS_symlink, "symlink", PATH, 1, 0 },
	{ SYS_mkdir, "mkdir", PATH, 0, 0 },
#endif
};

static void read_memory(uint64_t from, void *into, size_t size)
{
	struct iovec local = { into, size }, remote = { (void *)(uintptr_t)from, size };
	memset(into, 0, size);
	/* a path may end before a page that cannot be read: what comes before is read all the same
	 */
	if (process_vm_readv(subject, &local, 1, &remote, 1, 0) < 0) {
		remote.iov_len = local.iov_len = 4096 - from % 4096 < size ? 4096 - from % 4096
									   : size;
		(void)!process_vm_readv(subject, &local, 1, &remote, 1, 0);
	}
}

/* Whether the call changes a file; path: which. */
static bool is_write(const struct __ptrace_syscall_info *call, size_t row, char path[PATH_MAX])
{
	const uint64_t *args = call->entry.args;
	uint64_t flags = O_WRONLY;
	path[0] = 0;
	if (writing[row].where == FD) {
		char link[64];
		snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)subject,
			 (int)args[writing[row].argument]);
		ssize_t n = readlink(link, path, PATH_MAX - 1);
		path[n > 0 ? n : 0] = 0;
		if (path[0] != '/') /* a pipe, a socket, memory */
			return false;
	} else {
		read_memory(args[writing[row].argument], path, PATH_MAX - 1);
		path[PATH_MAX - 1] = 0;
		if (writing[row].where == OPEN)
			flags = args[writing[row].argument + 1];
		else if (writing[row].where == OPEN_HOW)
			read_memory(args[2], &flags, sizeof flags);
	}
	for (size_t i = 0; i < sizeof knobs / sizeof *knobs; i++)
		if (knobs[i][0] && strncmp(path, knobs[i], strlen(knobs[i])) == 0)
			return false;
	return (flags & O_ACCMODE) != O_RDONLY && strncmp(path, "/proc/", 6) != 0 &&
	       strncmp(path, "/sys/", 5) != 0 && strncmp(path, "/dev/", 5) != 0 &&
	       strncmp(path, "/memfd:", 7) != 0;
}

/* Makes the call that a thread is about to do another one. length: the argument that is halved; 0:
 * it fails. */
static void change(pid_t thread, int length)
{
	struct user_regs_struct regs;
	struct iovec io = { &regs, sizeof regs };
	if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &io))
		die("cannot read registers");
#if defined __x86_64__
	unsigned long long *arguments[] = { &regs.rdi, &regs.rsi, &regs.rdx, &regs.r10, &regs.r8 };
	if (length) {
		*arguments[length] /= 2;
	} else {
		regs.orig_rax = (unsigned long long)-1;
		regs.rax = (unsigned long long)-reason;
	}
#elif defined __aarch64__
	int none = -1;
	struct iovec number = { &none, sizeof none };
	if (length)
		regs.regs[length] /= 2;
	else if (ptrace(PTRACE_SETREGSET, thread, 0x404 /* NT_ARM_SYSTEM_CALL */, &number))
		die("cannot change a call");
	else
		regs.regs[0] = (unsigned long long)-reason;
#else
#error "which registers hold a system call?"
#endif
	if (ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &io))
		die("cannot write registers");
}

/* Calls that only read, wait or change the process itself: to be killed before one of them or
 * before the next that is none of them comes to the same. */
static bool is_passive(const struct __ptrace_syscall_info *call)
{
	static const long passive[] = {
		SYS_read,
		SYS_pread64,
		SYS_readv,
		SYS_lseek,
		SYS_fstat,
		SYS_newfstatat,
		SYS_statx,
		SYS_getdents64,
		SYS_readlinkat,
		SYS_faccessat,
		SYS_faccessat2,
		SYS_fstatfs,
		SYS_statfs,
		SYS_mprotect,
		SYS_brk,
		SYS_madvise,
		SYS_munmap,
		SYS_mmap,
		SYS_futex,
		SYS_rt_sigaction,
		SYS_rt_sigprocmask,
		SYS_getrandom,
		SYS_ppoll,
		SYS_clock_gettime,
		SYS_clock_nanosleep,
		SYS_getpid,
		SYS_gettid,
		SYS_geteuid,
		SYS_getuid,
		SYS_uname,
		SYS_sysinfo,
		SYS_getcwd,
		SYS_sched_getaffinity,
#ifdef SYS_open
		SYS_stat,
		SYS_lstat,
		SYS_readlink,
		SYS_access,
		SYS_poll,
#endif
	};
	long number = (long)call->entry.nr;
	for (size_t i = 0; i < sizeof passive / sizeof *passive; i++)
		if (passive[i] == number)
			return true;
	return number == SYS_openat &&
	       (call->entry.args[2] & (O_ACCMODE | O_CREAT | O_TRUNC)) == O_RDONLY;
}

static void entered(pid_t thread, const struct __ptrace_syscall_info *call)
{
	static char path[PATH_MAX];
	long number = (long)call->entry.nr;
	bool acting = !is_passive(call);
	calls++;
	acts += acting;
	if (mode == KILL || mode == KILL_EACH) {
		if (mode == KILL ? acting && acts == wanted : calls == wanted) {
			snprintf(hit, sizeof hit, "call %ld of %s", number,
				 thread == subject ? "tare" : "a thread");
			kill(subject, SIGKILL);
		}
		return;
	}
	for (size_t row = 0; row < sizeof writing / sizeof *writing; row++) {
		if (writing[row].number != number || !is_write(call, row, path) ||
		    (mode == SHORT &&
		     (!writing[row].length || call->entry.args[writing[row].length] < 2)))
			continue;
		writes++;
		if (mode != COUNT && (writes == wanted || (from_then_on && writes > wanted))) {
			change(thread, mode == SHORT ? writing[row].length : 0);
			if (writes == wanted)
				snprintf(hit, sizeof hit, "%s %s", writing[row].name, path);
		}
	}
}

static pid_t group_of(pid_t thread)
{
	char path[64], line[128];
	int group = 0;
	snprintf(path, sizeof path, "/proc/%d/status", (int)thread);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file) && sscanf(line, "Tgid: %d", &group) != 1) {
	}
	if (file)
		fclose(file);
	return group;
}

/* A thread, or a process that was forked, has stopped with this status. */
static void stopped(pid_t thread, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16;
	if (group_of(thread) != subject) {
		ptrace(PTRACE_DETACH, thread, NULL, NULL);
		return;
	}
	if (signal == (SIGTRAP | 0x80)) {
		struct __ptrace_syscall_info call;
		if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, (void *)sizeof call, &call) > 0 &&
		    call.op == PTRACE_SYSCALL_INFO_ENTRY)
			entered(thread, &call);
		signal = 0;
	} else if (event) {
		if (event == PTRACE_EVENT_STOP && (signal == SIGSTOP || signal == SIGTSTP ||
						   signal == SIGTTIN || signal == SIGTTOU)) {
			ptrace(PTRACE_LISTEN, thread, NULL, NULL); /* it is stopped, and stays so */
			return;
		}
		signal = 0;
	}
	ptrace(PTRACE_SYSCALL, thread, NULL, (void *)(intptr_t)signal);
}

static void start(char *const *command)
{
	int ready[2];
	char byte = 0;
	if (pipe2(ready, O_CLOEXEC))
		die("pipe");
	subject = fork();
	if (subject < 0)
		die("fork");
	if (subject == 0) {
		(void)!read(ready[0], &byte, 1);
		execvp(command[0], command);
		die(command[0]);
	}
	long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
		       PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	if (ptrace(PTRACE_SEIZE, subject, NULL, (void *)options))
		die("ptrace");
	(void)!write(ready[1], &byte, 1);
	close(ready[0]);
	close(ready[1]);
}

static void parse_mode(char *name)
{
	static const struct {
		const char *name;
		enum mode mode;
		int reason;
	} modes[] = { { "count", COUNT, 0 },	     { "kill", KILL, 0 },
		      { "kill-each", KILL_EACH, 0 }, { "short", SHORT, 0 },
		      { "ENOSPC", FAIL, ENOSPC },    { "EIO", FAIL, EIO },
		      { "EDQUOT", FAIL, EDQUOT } };
	size_t length = strlen(name);
	if (length && name[length - 1] == '+') {
		from_then_on = true;
		name[length - 1] = 0;
	}
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (strcmp(modes[i].name, name) == 0) {
			mode = modes[i].mode;
			reason = modes[i].reason;
			return;
		}
	errno = EINVAL;
	die(name);
}

int main(int argc, char **argv)
{
	int status, code = 125;
	if (argc < 5) {
		fprintf(stderr, "usage: inject MODE N REPORT COMMAND...\n");
		return 2;
	}
	const char *root = getenv("TARE_QUIET_ROOT");
	for (int i = 0; root && i < 2; i++)
		snprintf(knobs[i], sizeof knobs[i], "%s/%s/", root, i ? "sys" : "proc");
	parse_mode(argv[1]);
	wanted = atol(argv[2]);
	start(argv + 4);
	for (pid_t thread; (thread = waitpid(-1, &status, __WALL)) > 0;) {
		if (WIFSTOPPED(status))
			stopped(thread, status);
		else if (thread == subject)
			code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
	}
	FILE *report = fopen(argv[3], "we");
	if (!report)
		die(argv[3]);
	fprintf(report,
		"{\"calls\": %ld, \"acts\": %ld, \"writes\": %ld, \"pid\": %d, \"exit\": %d, \"hit\": \"",
		calls, acts, writes, (int)subject, code);
	for (const char *c = hit; *c; c++)
		fprintf(report, *c == '"' || *c == '\\' || (unsigned char)*c < ' ' ? "?" : "%c",
			*c);
	fprintf(report, "\"}\n");
	if (fclose(report))
		die(argv[3]);
	return code < 0 ? 128 - code : code;
}
