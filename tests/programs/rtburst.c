/* A disturbance of known size: on one CPU, real-time, a burst every period.
 *
 *	rtburst PERIOD_MS RUN_US TOTAL_MS CPU
 *
 * Ends after TOTAL_MS or at SIGTERM, then appends a line "BEGIN_NS END_NS" (CLOCK_MONOTONIC) per
 * burst to $BURN_LOG.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "own.h"

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

static int become_disturber(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof set, &set) ||
	       sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 50 });
}

int main(int argc, char **argv)
{
	static uint64_t bursts[100000][2];
	if (argc < 5) {
		fprintf(stderr, "usage: rtburst PERIOD_MS RUN_US TOTAL_MS CPU\n");
		return 2;
	}
	uint64_t period_ns = (uint64_t)(atof(argv[1]) * 1e6);
	uint64_t run_ns = (uint64_t)(atof(argv[2]) * 1e3);
	sigaction(SIGTERM, &(struct sigaction){ .sa_handler = stop }, NULL);
	int log = open_log();
	mlockall(MCL_CURRENT | MCL_FUTURE);
	if (become_disturber(atoi(argv[4]))) {
		perror("rtburst: real-time class");
		return 3;
	}
	uint64_t next = read_clock(CLOCK_MONOTONIC);
	uint64_t end = next + (uint64_t)(atof(argv[3]) * 1e6);
	size_t count = 0;
	while (!stopped && next < end && count < sizeof bursts / sizeof *bursts) {
		struct timespec at = { (time_t)(next / 1000000000u), (long)(next % 1000000000u) };
		if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
			continue;
		bursts[count][0] = read_clock(CLOCK_MONOTONIC);
		burn_until(CLOCK_MONOTONIC, bursts[count][0] + run_ns);
		bursts[count++][1] = read_clock(CLOCK_MONOTONIC);
		next += period_ns;
	}
	for (size_t i = 0; i < count && log >= 0; i++)
		dprintf(log, "%llu %llu\n", (unsigned long long)bursts[i][0],
			(unsigned long long)bursts[i][1]);
	return 0;
}
