/* Many short processes whose CPU time is known, several at a time.
 *
 *	bench-profile-short COUNT AT-A-TIME PERIOD_US ARGUMENTS PROGRAM...
 *
 * Starts the programs in turn with the arguments (words that blanks separate), one each PERIOD_US
 *as far as places are free, and prints "program pid cpu_ns" as each ends.
 */
#include <errno.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define WORDS_MAX 15
#define PLACES_MAX 64

struct place {
	pid_t pid; /* 0: free */
	const char *program;
};

static unsigned long long cpu_of(pid_t pid)
{
	char path[64];
	unsigned long long ns = 0;
	snprintf(path, sizeof path, "/proc/%d/schedstat", pid);
	FILE *stat = fopen(path, "r");
	if (!stat || fscanf(stat, "%llu", &ns) != 1)
		fprintf(stderr, "%s cannot be read\n", path);
	if (stat)
		fclose(stat);
	return ns;
}

/* False: there is none that has ended, or none at all. */
static bool reap(struct place *places, size_t count, bool wait)
{
	siginfo_t info = { 0 };
	if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | (wait ? 0 : WNOHANG)) || !info.si_pid)
		return false;
	unsigned long long ns = cpu_of(info.si_pid);
	waitpid(info.si_pid, NULL, 0);
	for (size_t i = 0; i < count; i++)
		if (places[i].pid == info.si_pid) {
			printf("%s %d %llu\n", places[i].program, info.si_pid, ns);
			places[i].pid = 0;
		}
	if (info.si_code != CLD_EXITED || info.si_status != 0)
		fprintf(stderr, "process %d failed\n", info.si_pid);
	return true;
}

static struct place *free_place(struct place *places, size_t count)
{
	while (reap(places, count, false))
		;
	for (;;) {
		for (size_t i = 0; i < count; i++)
			if (!places[i].pid)
				return &places[i];
		reap(places, count, true);
	}
}

int main(int argc, char **argv)
{
	extern char **environ;
	struct place places[PLACES_MAX] = { 0 };
	char *words[WORDS_MAX + 2] = { 0 }, *rest = NULL;
	if (argc < 6)
		return 2;
	long count = atol(argv[1]), at_a_time = atol(argv[2]), period_us = atol(argv[3]);
	if (at_a_time < 1 || at_a_time > PLACES_MAX)
		return 2;
	size_t used = 1;
	for (char *word = strtok_r(argv[4], " ", &rest); word && used <= WORDS_MAX;
	     word = strtok_r(NULL, " ", &rest))
		words[used++] = word;
	uint64_t begin = clock_monotonic_ns();
	for (long i = 0; i < count; i++) {
		uint64_t due = begin + (uint64_t)i * (uint64_t)period_us * 1000u;
		uint64_t now = clock_monotonic_ns();
		if (now < due)
			usleep((useconds_t)((due - now) / 1000));
		struct place *place = free_place(places, (size_t)at_a_time);
		char *path = argv[5 + i % (argc - 5)];
		words[0] = path;
		int failed = posix_spawn(&place->pid, path, NULL, NULL, words, environ);
		if (failed) {
			fprintf(stderr, "%s: %s\n", path, strerror(failed));
			return 1;
		}
		place->program = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	}
	while (reap(places, (size_t)at_a_time, true))
		;
	fprintf(stderr, "%ld processes in %.2f s\n", count,
		(double)(clock_monotonic_ns() - begin) / 1e9);
	return 0;
}
