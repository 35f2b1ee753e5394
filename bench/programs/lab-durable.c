/* What it costs to store an execution if the disk is never waited for, once a second (as tare
 * does), or each time. Prints for each the mean, the median, the 99th percentile and the worst, in
 * µs. usage: bench-lab-durable FOLDER [EXECUTIONS]. FOLDER says which disk; it judges nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "lab/sqlite.h"

enum when { NEVER, ONCE_A_SECOND, ALWAYS, WHENS };
static const char *const words[WHENS] = { "never (NORMAL)", "once a second", "always (FULL)" };

static int ascending(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return ORDER(*x, *y);
}

static void die(const struct error *err)
{
	fprintf(stderr, "bench-lab-durable: %s\n", err->text);
	exit(err->code);
}

static void measure(const char *folder, enum when when, size_t count)
{
	struct error err = ERROR_INIT;
	struct lab *lab;
	struct run run = { .name = xstrdup("durable"), .command = xstrdup("true") };
	char path[4096];
	uint64_t *took = xcalloc(count, sizeof *took), sum = 0;
	snprintf(path, sizeof path, "%s/durable-%d.db", folder, when);
	if (lab_open(&lab, path, LAB_WRITE, &err) || lab_add_run(lab, &run, &err))
		die(&err);
	for (size_t i = 0; i < count; i++) {
		struct execution x = execution_unknown();
		x.number = (uint32_t)i + 1;
		for (int p = 0; p < 3; p++)
			array_push(&x.processes, (struct process){ .pid = p, .name = "process" });
		if (when != ONCE_A_SECOND)
			lab->synced_ns = when == ALWAYS ? 0 : clock_monotonic_ns();
		uint64_t begin = clock_monotonic_ns();
		if (lab_add_execution(lab, run.id, &x, &err))
			die(&err);
		took[i] = clock_monotonic_ns() - begin;
		sum += took[i];
		execution_release(&x);
		/* as if something was measured: without it a second is full of executions */
		usleep(1000);
	}
	qsort(took, count, sizeof *took, ascending);
	printf("%-16s mean %8.1f  median %8.1f  99 %% %8.1f  worst %9.1f\n", words[when],
	       (double)sum / (double)count / 1e3, (double)took[count / 2] / 1e3,
	       (double)took[count * 99 / 100] / 1e3, (double)took[count - 1] / 1e3);
	free(took);
	run_release(&run);
	lab_close(lab);
	unlink(path);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return EXIT_USAGE;
	size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 2000;
	for (int when = 0; when < WHENS; when++)
		measure(argv[1], (enum when)when, count ? count : 1);
	return 0;
}
