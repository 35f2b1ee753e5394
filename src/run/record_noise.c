#include "run/record_noise.h"

#include <limits.h>
#include <malloc.h>
#include <stdlib.h>

#include "base/clock.h"

/* A run of days is stored now and then; that costs at most 1/50 of its time. */
#define STORE_EVERY_NS 60000000000u
#define STORE_SHARE 50

#define RESERVE (4u << 20)
#define RESERVE_PER_CPU (4u << 20) /* all the sources and combinations that are kept apart */
#define RESERVE_CPUS 16		   /* beyond, memory is taken when it is needed */

int noise_recording_open(struct noise_recording *r, const struct detours_options *options,
			 uint32_t worst, struct error *err)
{
	/* Memory given back to the kernel is taken out of every CPU's page tables at once, by an
	 * interrupt: tare would be what it measures. So free() keeps all of it, and how much a run
	 * of days needs shows in its first second. */
	size_t cpus = options->count < RESERVE_CPUS ? options->count : RESERVE_CPUS;
	size_t bytes = RESERVE + cpus * RESERVE_PER_CPU;
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	volatile char *memory = malloc(bytes);
	for (size_t i = 0; memory && i < bytes; i += 4096)
		memory[i] = 1;
	free((void *)memory);
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
	run_release(&r->run);
	recorder_close(&r->to);
	*r = (struct noise_recording){ 0 };
}

static int put(struct lab *lab, void *what, struct error *err)
{
	const struct noise_recording *r = what;
	return lab_put_noise(lab, r->run.id, &r->noise, err);
}

/* All of it stays in memory and is stored again at the end, so only an error then counts. */
static void store_now_and_then(struct noise_recording *r)
{
	struct error ignored = ERROR_INIT;
	uint64_t begin = clock_monotonic_ns();
	if (begin < r->store_at_ns)
		return;
	recorder_try(&r->to, put, r, &ignored);
	uint64_t end = clock_monotonic_ns(), pause = (end - begin) * STORE_SHARE;
	r->store_at_ns = end + (pause > STORE_EVERY_NS ? pause : STORE_EVERY_NS);
}

struct rounds {
	struct noise_recording *r;
	noise_shown_fn shown;
	void *context;
};

static int on_round(void *context, const struct detour_round *rounds, size_t count, bool *enough,
		    struct error *err)
{
	(void)err;
	struct rounds *s = context;
	noise_recording_add(s->r, rounds, count);
	s->r->seen = true;
	*enough = s->shown(s->context, s->r);
	store_now_and_then(s->r);
	return 0;
}

int noise_recording_run(struct noise_recording *r, const struct noise_plan *plan,
			noise_shown_fn shown, void *context, struct error *err)
{
	struct rounds s = { r, shown, context };
	return noise_run(r->detours, r->noise.cpus.count, plan, on_round, &s, err);
}

int noise_recording_end(struct noise_recording *r, enum run_status status, struct error *err)
{
	if (r->seen) {
		detours_untold(r->detours, &r->noise);
		if (recorder_wait(&r->to, put, r, err))
			return -1;
	}
	return recorder_end(&r->to, &r->run, status, r->seen, err);
}
