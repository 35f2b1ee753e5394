/* tare noise: who takes a CPU away, how often, for how long. */
#include "cmd/noise/noise.h"

#include <limits.h>
#include <malloc.h>
#include <stdlib.h>

#include "cmd/cmd.h"

static int run_record(struct lab_access *lab, int argc, char **argv)
{
	return noise_record(NOISE_RECORD, lab, argc, argv);
}

static int run_top(struct lab_access *lab, int argc, char **argv)
{
	return noise_record(NOISE_TOP, lab, argc, argv);
}

static int run_hist(struct lab_access *lab, int argc, char **argv)
{
	return noise_record(NOISE_HIST, lab, argc, argv);
}

int cmd_noise(struct lab_access *lab, int argc, char **argv)
{
	static const struct subcommand parts[] = {
		{ "record", run_record, WRITES_LAB },
		{ "top", run_top, WRITES_LAB },
		{ "hist", run_hist, WRITES_LAB },
		{ "show", noise_show, READS_LAB },
		{ "diff", noise_diff, READS_LAB },
		{ "selftest", noise_selftest, NO_LAB },
		{ 0 },
	};
	return cmd_parts(parts, false, lab, argc, argv);
}

/* ---- a measurement ---- */

#define RESERVE (4u << 20)
#define RESERVE_PER_CPU (4u << 20) /* all the sources and combinations that are kept apart */
#define RESERVE_CPUS 16		   /* beyond, memory is taken when it is needed */

/* How much memory a run of days needs shows in its first second: what free() keeps is used again.
 */
static void reserve_memory(size_t cpus)
{
	size_t bytes = RESERVE + (cpus < RESERVE_CPUS ? cpus : RESERVE_CPUS) * RESERVE_PER_CPU;
	volatile char *memory = malloc(bytes);
	for (size_t i = 0; memory && i < bytes; i += 4096)
		memory[i] = 1;
	free((void *)memory);
}

int noise_recording_open(struct noise_recording *r, const struct detours_options *options,
			 uint32_t worst, struct error *err)
{
	/* Memory given back to the kernel is taken out of every CPU's page tables at once, by an
	 * interrupt: tare would be what it measures. So free() keeps all of it. */
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	reserve_memory(options->count);
	if (detours_open(&r->detours, options, err))
		return -1;
	noise_init(&r->noise, options->cpus, options->count);
	r->noise.realtime = options->priority > 0;
	r->noise.priority = options->priority;
	r->noise.worst_max = worst;
	detours_describe(r->detours, &r->noise);
	r->jitter = jitter_new(&r->noise);
	return 0;
}

void noise_recording_add(struct noise_recording *r, const struct detour_round *rounds, size_t count)
{
	jitter_add_round(r->jitter, rounds, count);
}

void noise_recording_close(struct noise_recording *r)
{
	if (r->jitter)
		jitter_free(r->jitter);
	detours_close(r->detours);
	noise_release(&r->noise);
	*r = (struct noise_recording){ 0 };
}
