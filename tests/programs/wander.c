/* A subject that does not stay as it was: takes another name, is stopped and continued, goes from
 * CPU to CPU, into another control group when one is given, and execs itself.
 *
 *	wander [CGROUP]     a folder with a cgroup.procs
 *
 * Appends "BEGIN_NS END_NS" of its being stopped (CLOCK_MONOTONIC) to $BURN_LOG.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "own.h"

#define STOPPED_NS 100000000u

static void be_stopped(void)
{
	int log = open_log();
	pid_t child = fork();
	if (child == 0) {
		sleep_ns(STOPPED_NS);
		/* it may be late in stopping */
		for (int i = 0; i < 50 && kill(getppid(), SIGCONT) == 0; i++)
			sleep_ns(10000000);
		_exit(0);
	}
	uint64_t begin = read_clock(CLOCK_MONOTONIC);
	raise(SIGSTOP);
	uint64_t end = read_clock(CLOCK_MONOTONIC);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	if (log >= 0)
		dprintf(log, "%llu %llu\n", (unsigned long long)begin, (unsigned long long)end);
}

static void move_around(void)
{
	cpu_set_t allowed, one;
	if (sched_getaffinity(0, sizeof allowed, &allowed))
		return;
	for (int turn = 0; turn < 4; turn++)
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
			if (!CPU_ISSET(cpu, &allowed))
				continue;
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			sched_setaffinity(0, sizeof one, &one);
			burn_for(1000000);
		}
	sched_setaffinity(0, sizeof allowed, &allowed);
}

static int move_to_cgroup(const char *folder)
{
	char path[4096], pid[16];
	snprintf(path, sizeof path, "%s/cgroup.procs", folder);
	int length = snprintf(pid, sizeof pid, "%d", (int)getpid());
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 || write(fd, pid, (size_t)length) != length ? -1 : close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "again") == 0) {
		prctl(PR_SET_NAME, "wandered");
		burn_for(2000000);
		return 0;
	}
	prctl(PR_SET_NAME, "wandering");
	burn_for(2000000);
	be_stopped();
	move_around();
	if (argc > 1 && move_to_cgroup(argv[1])) {
		perror(argv[1]);
		return 3;
	}
	burn_for(2000000);
	execl("/proc/self/exe", argv[0], "again", (char *)NULL);
	return 1;
}
