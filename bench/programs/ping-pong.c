/* Two processes on one CPU that hand a byte to and fro at a set rate: context switches whose number
 * is known.
 *
 *	bench-ping-pong ROUNDS_PER_SECOND SECONDS CPU
 *
 * A round is four switches: the first one wakes up, waits for the other, is answered, sleeps.
 *Prints how many rounds there were.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

static void answer(int from, int to)
{
	char byte;
	while (read(from, &byte, 1) == 1)
		if (write(to, &byte, 1) != 1)
			break;
}

static void sleep_until(uint64_t at_ns)
{
	struct timespec at = { (time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u) };
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

/* Rounds whose time is over are not made up for. */
static uint64_t ask(int to, int from, uint64_t period_ns, uint64_t length_ns)
{
	uint64_t begin_ns = clock_monotonic_ns(), next_ns = begin_ns, rounds = 0;
	char byte = 0;
	while (next_ns < begin_ns + length_ns) {
		sleep_until(next_ns);
		if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1)
			break;
		rounds++;
		uint64_t now_ns = clock_monotonic_ns();
		next_ns += (now_ns > next_ns ? (now_ns - next_ns) / period_ns + 1 : 1) * period_ns;
	}
	return rounds;
}

int main(int argc, char **argv)
{
	long rate, seconds, cpu;
	if (argc != 4 || !integer_parse(argv[1], 1, 1000000, &rate) ||
	    !integer_parse(argv[2], 1, 86400, &seconds) || !integer_parse(argv[3], 0, 1023, &cpu)) {
		fprintf(stderr, "usage: %s ROUNDS_PER_SECOND SECONDS CPU\n", argv[0]);
		return 2;
	}
	int there[2], back[2];
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set) || pipe(there) || pipe(back)) {
		perror(argv[0]);
		return 1;
	}
	pid_t other = fork();
	if (other < 0)
		return 1;
	if (other == 0) {
		close(there[1]);
		answer(there[0], back[1]);
		_exit(0);
	}
	close(back[1]);
	uint64_t rounds = ask(there[1], back[0], 1000000000u / (uint64_t)rate,
			      (uint64_t)seconds * 1000000000u);
	close(there[1]);
	waitpid(other, NULL, 0);
	printf("%" PRIu64 "\n", rounds);
	return 0;
}
