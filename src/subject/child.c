/* This code runs in tare's memory beside tare: no malloc, no stdio, and not even errno, which it
 * would share. Hence system calls without the C library. */
#include "subject/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A sanitizer's view of the stack ends at its edge. */
#define IN_CHILD __attribute__((no_sanitize("address"), no_sanitize("undefined")))

/* The result, or -errno. */
IN_CHILD static long raw(long number, long a, long b, long c, long d)
{
#if defined(__x86_64__)
	long result;
	register long r10 __asm__("r10") = d;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c, x3 __asm__("x3") = d;
	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
#else
	/* errno is tare's: it could in theory be misread there, if this fails at the wrong instant
	 */
	long result = syscall(number, a, b, c, d);
	return result < 0 ? -errno : result;
#endif
}

IN_CHILD static void give_up(struct child *c, int stage, long result)
{
	c->stamp->stage = stage;
	c->stamp->failed = (int32_t)-result;
	for (;;)
		raw(SYS_exit_group, 127, 0, 0, 0);
}

/* result of a call: goes on only if it is no error */
IN_CHILD static long check(struct child *c, int stage, long result)
{
	if (result < 0 && result > -4096)
		give_up(c, stage, result);
	return result;
}

IN_CHILD static long open_file(const char *path, int flags)
{
	return raw(SYS_openat, AT_FDCWD, (long)path, flags, 0666);
}

IN_CHILD static void move_to(struct child *c, int stage, long from, long to)
{
	if (from != to)
		check(c, stage, raw(SYS_dup3, from, to, 0, 0));
}

IN_CHILD static void redirect(struct child *c)
{
	const struct launch *launch = c->launch;
	if (!launch->inherit_input) {
		long in = check(c, STAGE_INPUT,
				open_file(launch->input ? launch->input : "/dev/null", O_RDONLY));
		move_to(c, STAGE_INPUT, in, 0);
		if (in > 2)
			raw(SYS_close, in, 0, 0, 0);
	}
	if (launch->output == OUTPUT_INHERIT)
		return;
	long out = c->pipe_write;
	if (launch->output == OUTPUT_NULL)
		out = open_file("/dev/null", O_WRONLY | O_CLOEXEC);
	else if (launch->output == OUTPUT_FILE)
		out = open_file(launch->output_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
	check(c, STAGE_OUTPUT, out);
	/* as hyperfine: a file or pipe gets stdout alone */
	long error_out =
		launch->output == OUTPUT_NULL ? out : open_file("/dev/null", O_WRONLY | O_CLOEXEC);
	check(c, STAGE_OUTPUT, error_out);
	move_to(c, STAGE_OUTPUT, out, 1);
	move_to(c, STAGE_OUTPUT, error_out, 2);
}

/* The second number of "EXEC_NS RUN_DELAY_NS TIMESLICES", from an open /proc/self/schedstat. */
IN_CHILD static uint64_t read_run_delay(long fd, volatile struct launch_stamp *stamp)
{
	char text[96] = { 0 };
	long n = fd >= 0 ? raw(SYS_pread64, fd, (long)text, sizeof text, 0) : 0;
	stamp->read_bytes = n > 0 ? (uint64_t)n : 0;
	long at = 0;
	uint64_t value = 0;
	while (at < n && text[at] != ' ')
		at++;
	for (at++; at < n && text[at] >= '0' && text[at] <= '9'; at++)
		value = value * 10 + (uint64_t)(text[at] - '0');
	return value;
}

IN_CHILD static int run(void *argument)
{
	struct child *c = argument;
	volatile struct launch_stamp *stamp = c->stamp;
	const struct launch *launch = c->launch;
	struct sched_param param;
	param.sched_priority = launch->rt_priority;
	if (launch->cpus)
		check(c, STAGE_CPUS,
		      raw(SYS_sched_setaffinity, 0, sizeof *launch->cpus, (long)launch->cpus, 0));
	if (launch->policy != SCHED_OTHER)
		check(c, STAGE_SCHEDULER,
		      raw(SYS_sched_setscheduler, 0, launch->policy, (long)&param, 0));
	if (launch->set_nice)
		check(c, STAGE_NICE, raw(SYS_setpriority, PRIO_PROCESS, 0, launch->nice_level, 0));
	if (launch->no_aslr)
		check(c, STAGE_ASLR, raw(SYS_personality, ADDR_NO_RANDOMIZE, 0, 0, 0));
	if (c->change_user) {
		check(c, STAGE_USER,
		      raw(SYS_setgroups, (long)c->group_count, (long)c->groups, 0, 0));
		check(c, STAGE_USER, raw(SYS_setresgid, c->gid, c->gid, c->gid, 0));
		check(c, STAGE_USER, raw(SYS_setresuid, c->uid, c->uid, c->uid, 0));
	}
	/* after the change of user, which clears it: if tare is killed, its subject does not run on
	 * unseen */
	raw(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
	/* it may have been killed before that. 0: it is in another pid namespace */
	long parent = raw(SYS_getppid, 0, 0, 0, 0);
	if (parent && parent != c->parent)
		give_up(c, STAGE_EXEC, -ESRCH);
	redirect(c);
	/* after the user changed, and after input and output, which are named from tare's folder */
	if (launch->directory)
		check(c, STAGE_DIRECTORY, raw(SYS_chdir, (long)launch->directory, 0, 0, 0));
	long schedstat = open_file("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	/* what tare catches, exec resets; what was ignored before tare stays so */
	uint64_t none = 0;
	raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, sizeof none);
	/* asleep: time spent awake here would be sampled as the program's own */
	while (__atomic_load_n(&stamp->gate, __ATOMIC_ACQUIRE) == 0)
		raw(SYS_futex, (long)&stamp->gate, FUTEX_WAIT, 0, 0);
	if (c->death_signal)
		raw(SYS_prctl, PR_SET_PDEATHSIG, c->death_signal, 0, 0);

	struct timespec now = { 0, 0 };
	stamp->run_delay_ns = read_run_delay(schedstat, stamp);
	raw(SYS_getrusage, RUSAGE_SELF, (long)&stamp->used, 0, 0);
	raw(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, (long)&now, 0, 0);
	stamp->cpu_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	/* the ledger, which cannot see this clock, begins when it sees this */
	raw(SYS_prctl, PR_SET_NAME, (long)"tare-exec", 0, 0);
	clock_gettime(CLOCK_MONOTONIC, &now); /* the vDSO: no system call, no errno */
	stamp->exec_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	give_up(c, STAGE_EXEC, raw(SYS_execve, (long)c->path, (long)c->argv, (long)c->env, 0));
	return 127;
}

/* As in linux/sched.h, which glibc's sched.h does not get along with. */
struct clone_arguments {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal;
	uint64_t stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};
#define CLONE_INTO_GROUP UINT64_C(0x200000000)

/* Moving a process between groups waits for every CPU, for milliseconds; starting one in a group
 * does not, but only clone3() can, and the C library has no function for that.
 * The pid, or -errno. */
static long clone_into_group(struct child *c, char *stack)
{
	struct clone_arguments a = { .flags = CLONE_VM | CLONE_INTO_GROUP,
				     .exit_signal = SIGCHLD,
				     .stack = (uint64_t)(uintptr_t)stack,
				     .stack_size = CHILD_STACK,
				     .cgroup = (uint64_t)c->group };
#if defined(__x86_64__)
	long result;
	register void *entry __asm__("r8") = (void *)run;
	register void *argument __asm__("r9") = c;
	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %%r9, %%rdi\n\t"
			 "call *%%r8\n\t"
			 "ud2\n"
			 "1:"
			 : "=a"(result)
			 : "a"(SYS_clone3), "D"(&a), "S"(sizeof a), "r"(entry), "r"(argument)
			 : "rcx", "r11", "cc", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = SYS_clone3, x0 __asm__("x0") = (long)&a;
	register long x1 __asm__("x1") = sizeof a;
	register void *entry __asm__("x2") = (void *)run;
	register void *argument __asm__("x3") = c;
	__asm__ volatile("svc 0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, xzr\n\t"
			 "mov x0, x3\n\t"
			 "blr x2\n\t"
			 "brk 1\n"
			 "1:"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(entry), "r"(argument)
			 : "cc", "memory");
	return x0;
#else
	return -ENOSYS;
#endif
}

pid_t child_start(struct child *c, char *stack)
{
	long pid = c->group >= 0 ? clone_into_group(c, stack) : -1;
	if (pid > 0)
		return (pid_t)pid;
	c->group = -1;
	return clone(run, stack + CHILD_STACK, CLONE_VM | SIGCHLD, c);
}
