/* What a snapshot of all tasks costs, and what reading /proc/PID/{stat,status,io} of the same tasks
 *costs: in one process, taking turns, at a given number of tasks.
 *
 *	bench-snapshot TASKS ROUNDS
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/collect.h"

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Sleeping children until the machine has as many tasks as wanted. */
static pid_t *fill_up(struct collector *c, size_t wanted, size_t *made)
{
	struct image image = { 0 };
	collector_snapshot(c, &image, NULL);
	size_t missing = wanted > image.count ? wanted - image.count : 0;
	image_release(&image);
	pid_t *pids = calloc(missing + 1, sizeof *pids);
	for (*made = 0; *made < missing; ++*made) {
		pid_t pid = fork();
		if (pid < 0)
			break;
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		pids[*made] = pid;
	}
	return pids;
}

static size_t read_proc(const struct image *image)
{
	static const char *const files[] = { "stat", "status", "io" };
	char path[64], text[4096];
	size_t bytes = 0;
	for (size_t i = 0; i < image->count; i++) {
		if (!(image->tasks[i].flags & TASK_IS_LEADER))
			continue;
		for (int f = 0; f < 3; f++) {
			snprintf(path, sizeof path, "/proc/%d/%s", image->tasks[i].tgid, files[f]);
			int fd = open(path, O_RDONLY);
			ssize_t n = fd >= 0 ? read(fd, text, sizeof text) : 0;
			bytes += n > 0 ? (size_t)n : 0;
			if (fd >= 0)
				close(fd);
		}
	}
	return bytes;
}

int main(int argc, char **argv)
{
	size_t wanted = argc > 1 ? strtoul(argv[1], NULL, 10) : 100, made;
	size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 50;
	struct collector *c;
	struct error err = ERROR_INIT;
	if (collector_open(&c, BACKEND_BPF, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 3;
	}
	pid_t *pids = fill_up(c, wanted, &made);
	usleep(300000);
	double *snapshot = calloc(rounds, sizeof *snapshot), *proc = calloc(rounds, sizeof *proc);
	double *ratio = calloc(rounds, sizeof *ratio);
	struct image image = { 0 };
	size_t processes = 0;
	collector_snapshot(c, &image, NULL);
	for (size_t i = 0; i < rounds; i++) {
		uint64_t a = clock_monotonic_ns();
		collector_snapshot(c, &image, NULL);
		uint64_t b = clock_monotonic_ns();
		read_proc(&image);
		uint64_t d = clock_monotonic_ns();
		processes = 0;
		for (size_t k = 0; k < image.count; k++)
			processes += image.tasks[k].flags & TASK_IS_LEADER ? 1 : 0;
		snapshot[i] = (double)(b - a) / 1e3 / (double)image.count;
		proc[i] = (double)(d - b) / 1e3 / (double)processes;
		ratio[i] = proc[i] / snapshot[i];
	}
	qsort(snapshot, rounds, sizeof *snapshot, compare);
	qsort(proc, rounds, sizeof *proc, compare);
	qsort(ratio, rounds, sizeof *ratio, compare);
	size_t lo = rounds / 10, mid = rounds / 2, hi = rounds - 1 - rounds / 10;
	printf("%zu tasks (%zu processes), %zu rounds: snapshot %.3f us per task [%.3f, %.3f], "
	       "/proc %.2f us per process [%.2f, %.2f], ratio %.1f [%.1f, %.1f] (median [10%%, 90%%])\n",
	       image.count, processes, rounds, snapshot[mid], snapshot[lo], snapshot[hi], proc[mid],
	       proc[lo], proc[hi], ratio[mid], ratio[lo], ratio[hi]);
	for (size_t i = 0; i < made; i++)
		kill(pids[i], SIGKILL);
	for (size_t i = 0; i < made; i++)
		waitpid(pids[i], NULL, 0);
	collector_close(c);
	return 0;
}
