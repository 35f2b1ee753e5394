#include "measure/noise.h"

#include "base/clock.h"
#include "base/interrupt.h"

/* A rest shorter than this is not worth a round of its own: the loops need some of it to start. */
#define SHORTEST_NS 1000000u

int noise_run(struct detours *d, size_t count, const struct noise_plan *plan, noise_round_fn each,
	      void *context, struct error *err)
{
	uint64_t begin_ns = clock_monotonic_ns(), ns = plan->round_ns;
	bool enough = false;
	if (plan->duration_ns && plan->duration_ns < ns)
		ns = plan->duration_ns;
	while (ns && !enough && !interrupted()) {
		const struct detour_round *rounds = NULL;
		if (detours_round(d, ns, &rounds, err) ||
		    each(context, rounds, count, &enough, err))
			return -1;
		if (!plan->duration_ns)
			continue;
		uint64_t used = clock_monotonic_ns() - begin_ns;
		uint64_t left = used < plan->duration_ns ? plan->duration_ns - used : 0;
		ns = left < SHORTEST_NS ? 0 : left < plan->round_ns ? left : plan->round_ns;
	}
	return interrupted() ? error_set(err, EXIT_INTERRUPTED, "interrupted") : 0;
}
