#include <time.h>

#include "base/clock.h"
#include "binary/symbols_private.h"

#define BREATHE_NS (20 * UINT64_C(1000000))

static uint64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void work_begin(struct work *w)
{
	w->begun_ns = cpu_ns();
}

void work_end(struct work *w)
{
	uint64_t now = cpu_ns(), spent = now - w->begun_ns;
	w->left_ns = spent < w->left_ns ? w->left_ns - spent : 0;
	w->begun_ns = now;
}

void work_breathe(struct work *w)
{
	uint64_t now = w->breathe ? clock_monotonic_ns() : 0;
	if (!w->breathe || now - w->breathed_ns < BREATHE_NS)
		return;
	w->breathe(w->context);
	w->breathed_ns = clock_monotonic_ns();
}

bool work_on(struct work *w, size_t steps)
{
	if (!w)
		return true;
	w->steps += steps;
	if (w->steps >= WORK_LOOK) {
		w->steps = 0;
		work_end(w);
		work_breathe(w);
		work_begin(w); /* what the breath took is not the file's fault */
	}
	return w->left_ns > 0;
}
