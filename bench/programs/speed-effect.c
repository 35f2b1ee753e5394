/* What the speed probe does to the process time of a program beside it, other than taking the CPU
 * for a moment: it evicts some of the program's cache lines. The same work is done in short blocks,
 * with the probe and without in random order, so that neighbours meet about the same speed; a pair
 * of blocks gives one log ratio. speed-effect SECONDS [CPU] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/schedule.h"
#include "collect/collect.h"
#include "collect/speed/speed.h"
#include "stats/random.h"
#include "stats/trimmed.h"

#define BLOCK_NS 20000000u

static volatile uint64_t sink;
static uint32_t *ring;
static size_t ring_length;

static void count(void)
{
	for (volatile uint32_t i = 0; i < 20000;)
		i = i + 1;
}

/* Through memory in random order, each load depending on the one before. */
static void walk(void)
{
	uint32_t at = (uint32_t)sink;
	for (int i = 0; i < 5000; i++)
		at = ring[at];
	sink = at;
}

static void make_ring(size_t bytes)
{
	struct random r = { bytes };
	ring_length = bytes / sizeof *ring;
	ring = xrealloc(ring, bytes);
	sink = 0;
	for (size_t i = 0; i < ring_length; i++)
		ring[i] = (uint32_t)i;
	for (size_t i = ring_length - 1; i > 0; i--) {
		size_t j = random_below(&r, i);
		uint32_t kept = ring[i];
		ring[i] = ring[j];
		ring[j] = kept;
	}
}

static struct collector *collector;

/* PT(net) of one piece of work in a block: what the ledger says that this thread ran. */
static double block(void (*work)(void), struct speed_probe *p)
{
	static struct ledger ledger;
	static struct trace trace;
	struct error err = ERROR_INIT;
	struct speed_means ignored;
	SCOPED(image_release) struct image exits = { 0 };
	struct totals totals;
	uint64_t lost;
	if (p)
		speed_probe_begin(p);
	if (collector_arm_running(collector, &(struct collector_running){ .thread = gettid() },
				  &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(err.code);
	}
	uint64_t begin = clock_thread_cpu_ns();
	size_t n = 0;
	for (; clock_thread_cpu_ns() - begin < BLOCK_NS; n++)
		work();
	collector_disarm(collector);
	collector_finish(collector, NULL, &exits, &totals, &lost);
	collector_take_ledger(collector, &ledger, &trace);
	if (p)
		speed_probe_end(p, &ignored);
	return (double)ledger.subject.ns[LEDGER_RUN] / (double)n;
}

static int compare(const void *a, const void *b)
{
	return ORDER(*(const double *)a, *(const double *)b);
}

static void measure(const char *name, void (*work)(void), struct speed_probe *p, double seconds)
{
	ARRAY(double) ratios = { 0 };
	struct random r = { (uint64_t)seconds + 1 };
	uint64_t until = clock_monotonic_ns() + (uint64_t)(seconds * 1e9);
	while (clock_monotonic_ns() < until) {
		bool first = random_next(&r) >> 63;
		double a = block(work, first ? p : NULL), b = block(work, first ? NULL : p);
		array_push(&ratios, first ? log(a / b) : log(b / a));
	}
	array_sort(&ratios, compare);
	struct trimmed_mean mean;
	trimmed_mean_of(ratios.items, ratios.count, .1, &mean);
	printf("%s: PT(net) with the probe %+.3f %% ± %.3f (95 %%), %zu pairs of blocks\n", name,
	       100 * mean.mean, 196 * mean.error, ratios.count);
	array_release(&ratios);
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct speed_probe *p;
	cpu_set_t one;
	int cpu = argc > 2 ? atoi(argv[2]) : 0;
	double seconds = argc > 1 ? atof(argv[1]) : 10;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	schedule_pin(cpu);
	if (speed_probe_open(&p, &(struct speed_options){ .cpus = &one }, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return err.code;
	}
	if (collector_open(&collector, BACKEND_BPF, &err) ||
	    collector_keep_ledger(collector, false, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return err.code;
	}
	measure("a loop", count, p, seconds);
	static const size_t sizes[] = { 32u << 10, 1u << 20, 16u << 20 };
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		char name[64];
		make_ring(sizes[i]);
		snprintf(name, sizeof name, "random reads of %zu KiB", sizes[i] >> 10);
		measure(name, walk, p, seconds);
	}
	speed_probe_close(p);
	collector_close(collector);
	free(ring);
	return 0;
}
