#include "collect/ledger/names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "collect/bpf/ledger.h"

struct call {
	long number;
	uint8_t cause;
	const char *name;
};

#define CALL(name, cause)                \
	{                                \
		SYS_##name, cause, #name \
	}

/* Calls that sleep for a reason worth telling. Whatever else sleeps is LEDGER_SLEEP under its
 * number. */
static const struct call calls[] = {
	CALL(futex, LEDGER_FUTEX),
#ifdef SYS_futex_waitv
	CALL(futex_waitv, LEDGER_FUTEX),
#endif
#ifdef SYS_futex_wait
	CALL(futex_wait, LEDGER_FUTEX),
#endif
#ifdef SYS_pause
	CALL(pause, LEDGER_SLEEP),
#endif
#ifdef SYS_poll
	CALL(poll, LEDGER_POLL),
#endif
#ifdef SYS_select
	CALL(select, LEDGER_POLL),
#endif
#ifdef SYS_epoll_wait
	CALL(epoll_wait, LEDGER_POLL),
#endif
#ifdef SYS_epoll_pwait2
	CALL(epoll_pwait2, LEDGER_POLL),
#endif
#ifdef SYS_fork
	CALL(fork, LEDGER_CHILD),
#endif
#ifdef SYS_vfork
	CALL(vfork, LEDGER_CHILD),
#endif
	CALL(ppoll, LEDGER_POLL),
	CALL(pselect6, LEDGER_POLL),
	CALL(epoll_pwait, LEDGER_POLL),
	CALL(io_getevents, LEDGER_POLL),
	CALL(io_uring_enter, LEDGER_POLL),
	CALL(nanosleep, LEDGER_TIMER),
	CALL(clock_nanosleep, LEDGER_TIMER),
	CALL(wait4, LEDGER_CHILD),
	CALL(waitid, LEDGER_CHILD),
	CALL(clone, LEDGER_CHILD),
	CALL(clone3, LEDGER_CHILD),
	CALL(accept, LEDGER_SOCKET),
	CALL(accept4, LEDGER_SOCKET),
	CALL(connect, LEDGER_SOCKET),
	CALL(recvfrom, LEDGER_SOCKET),
	CALL(recvmsg, LEDGER_SOCKET),
	CALL(recvmmsg, LEDGER_SOCKET),
	CALL(sendto, LEDGER_SOCKET),
	CALL(sendmsg, LEDGER_SOCKET),
	CALL(sendmmsg, LEDGER_SOCKET),
	CALL(read, CALL_BY_FILE),
	CALL(write, CALL_BY_FILE),
	CALL(readv, CALL_BY_FILE),
	CALL(writev, CALL_BY_FILE),
	CALL(pread64, CALL_BY_FILE),
	CALL(pwrite64, CALL_BY_FILE),
	CALL(preadv, CALL_BY_FILE),
	CALL(pwritev, CALL_BY_FILE),
	CALL(preadv2, CALL_BY_FILE),
	CALL(pwritev2, CALL_BY_FILE),
	CALL(splice, CALL_BY_FILE),
	CALL(tee, CALL_BY_FILE),
	CALL(vmsplice, CALL_BY_FILE),
	CALL(sendfile, CALL_BY_FILE),
	CALL(copy_file_range, CALL_BY_FILE),
	CALL(restart_syscall, CALL_AGAIN),
	CALL(rt_sigtimedwait, LEDGER_SLEEP),
	CALL(rt_sigsuspend, LEDGER_SLEEP),
	CALL(openat, LEDGER_SLEEP),
	CALL(openat2, LEDGER_SLEEP),
	CALL(close, LEDGER_SLEEP),
	CALL(flock, LEDGER_SLEEP),
	CALL(fcntl, LEDGER_SLEEP),
	CALL(ioctl, LEDGER_SLEEP),
	CALL(fsync, LEDGER_SLEEP),
	CALL(fdatasync, LEDGER_SLEEP),
	CALL(sync, LEDGER_SLEEP),
	CALL(syncfs, LEDGER_SLEEP),
	CALL(sync_file_range, LEDGER_SLEEP),
	CALL(msync, LEDGER_SLEEP),
	CALL(fallocate, LEDGER_SLEEP),
	CALL(ftruncate, LEDGER_SLEEP),
	CALL(truncate, LEDGER_SLEEP),
	CALL(unlinkat, LEDGER_SLEEP),
	CALL(renameat2, LEDGER_SLEEP),
	CALL(getdents64, LEDGER_SLEEP),
	CALL(statx, LEDGER_SLEEP),
	CALL(newfstatat, LEDGER_SLEEP),
	CALL(faccessat, LEDGER_SLEEP),
	CALL(execve, LEDGER_SLEEP),
	CALL(execveat, LEDGER_SLEEP),
	CALL(exit, LEDGER_SLEEP),
	CALL(exit_group, LEDGER_SLEEP),
	CALL(mmap, LEDGER_SLEEP),
	CALL(munmap, LEDGER_SLEEP),
	CALL(mprotect, LEDGER_SLEEP),
	CALL(mremap, LEDGER_SLEEP),
	CALL(madvise, LEDGER_SLEEP),
	CALL(brk, LEDGER_SLEEP),
	CALL(membarrier, LEDGER_SLEEP),
	CALL(sched_setaffinity, LEDGER_SLEEP),
	CALL(semop, LEDGER_SLEEP),
	CALL(semtimedop, LEDGER_SLEEP),
	CALL(msgrcv, LEDGER_SLEEP),
	CALL(msgsnd, LEDGER_SLEEP),
	CALL(mq_timedreceive, LEDGER_SLEEP),
	CALL(mq_timedsend, LEDGER_SLEEP),
#ifdef SYS_open
	CALL(open, LEDGER_SLEEP),
#endif
#ifdef SYS_stat
	CALL(stat, LEDGER_SLEEP),
#endif
#ifdef SYS_unlink
	CALL(unlink, LEDGER_SLEEP),
#endif
#ifdef SYS_rename
	CALL(rename, LEDGER_SLEEP),
#endif
};

static const struct {
	uint32_t source;
	const char *name;
} sources[] = {
	{ SOURCE_SOFTIRQS + 0, "hi" },
	{ SOURCE_SOFTIRQS + 1, "timer" },
	{ SOURCE_SOFTIRQS + 2, "net_tx" },
	{ SOURCE_SOFTIRQS + 3, "net_rx" },
	{ SOURCE_SOFTIRQS + 4, "block" },
	{ SOURCE_SOFTIRQS + 5, "irq_poll" },
	{ SOURCE_SOFTIRQS + 6, "tasklet" },
	{ SOURCE_SOFTIRQS + 7, "sched" },
	{ SOURCE_SOFTIRQS + 8, "hrtimer" },
	{ SOURCE_SOFTIRQS + 9, "rcu" },
	{ SOURCE_TIMER, "timer" },
	{ SOURCE_RESCHEDULE, "reschedule" },
	{ SOURCE_CALL, "call_function" },
	{ SOURCE_CALL_SINGLE, "call_function_single" },
	{ SOURCE_IRQ_WORK, "irq_work" },
	{ SOURCE_PLATFORM, "platform_ipi" },
	{ SOURCE_THERMAL, "thermal" },
	{ SOURCE_THRESHOLD, "threshold" },
	{ SOURCE_DEFERRED, "deferred_error" },
	{ SOURCE_ERROR, "error" },
	{ SOURCE_SPURIOUS, "spurious" },
	{ SOURCE_NMI, "nmi" },
	{ SOURCE_HIGH, "irqs of high numbers" },
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

void call_classes(uint8_t *classes, size_t count)
{
	memset(classes, CALL_UNKNOWN, count);
	for (size_t i = 0; i < COUNT(calls); i++)
		if (calls[i].number >= 0 && (size_t)calls[i].number < count)
			classes[calls[i].number] = calls[i].cause;
}

void call_name(uint32_t call, char out[LEDGER_NAME_SIZE])
{
	if (call == NAME_NO_CALL) {
		snprintf(out, LEDGER_NAME_SIZE, "page fault");
		return;
	}
	for (size_t i = 0; i < COUNT(calls); i++)
		if (calls[i].number == (long)call) {
			snprintf(out, LEDGER_NAME_SIZE, "%s", calls[i].name);
			return;
		}
	snprintf(out, LEDGER_NAME_SIZE, "call %u", call);
}

/* " 36:  0  17395  PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0": the controller's columns
 * differ by machine, the action comes last, after at least two blanks; several share with ", ". */
void irq_name(const char *interrupts, uint32_t irq, char out[LEDGER_NAME_SIZE])
{
	*out = '\0';
	for (const char *line = interrupts; line && *line;) {
		const char *end = strchr(line, '\n');
		size_t length = end ? (size_t)(end - line) : strlen(line);
		char *after;
		unsigned long number = strtoul(line, &after, 10);
		if (after > line && *after == ':' && number == irq) {
			size_t at = length;
			while (at > 1 && !(line[at - 1] == ' ' && line[at - 2] == ' '))
				at--;
			/* a line without an action ends in numbers */
			if (at > 1 && at < length && !isdigit((unsigned char)line[at]))
				snprintf(out, LEDGER_NAME_SIZE, "%.*s", (int)(length - at),
					 line + at);
			return;
		}
		line = end ? end + 1 : NULL;
	}
}

void source_name(uint32_t source, char out[LEDGER_NAME_SIZE])
{
	for (size_t i = 0; i < COUNT(sources); i++)
		if (sources[i].source == source) {
			snprintf(out, LEDGER_NAME_SIZE, "%s", sources[i].name);
			return;
		}
	if (source < SOURCE_IRQS) {
		snprintf(out, LEDGER_NAME_SIZE, "softirq %u", source);
		return;
	}
	FREED char *interrupts = file_read("/proc/interrupts");
	irq_name(interrupts, source - SOURCE_IRQS, out);
	if (!*out)
		snprintf(out, LEDGER_NAME_SIZE, "irq %u", source - SOURCE_IRQS);
}

void device_name(uint32_t number, char out[LEDGER_NAME_SIZE])
{
	char path[64], target[256];
	snprintf(path, sizeof path, "/sys/dev/block/%u:%u", number >> 20, number & 0xfffff);
	ssize_t n = readlink(path, target, sizeof target - 1);
	target[n > 0 ? n : 0] = '\0';
	const char *base = strrchr(target, '/');
	if (base)
		snprintf(out, LEDGER_NAME_SIZE, "%.40s", base + 1);
	else
		snprintf(out, LEDGER_NAME_SIZE, "%u:%u", number >> 20, number & 0xfffff);
}
