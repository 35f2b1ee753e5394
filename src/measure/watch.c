#include "measure/watch.h"

#include <poll.h>
#include <time.h>

#include "base/clock.h"
#include "base/interrupt.h"

#define TAKE_NS UINT64_C(5000000000)
#define CHUNK_NS UINT64_C(60000000000)
#define CHUNK_BYTES 4000000u
/* A machine that fills the buffers all the time is not to be asked without a pause. */
#define SHORTEST_PAUSE_NS UINT64_C(20000000)

struct going {
	struct burst_collector *collector;
	const struct watch_plan *plan;
	watch_chunk_fn each;
	void *context;
	struct bursts chunk; /* end_ns 0: nothing yet */
	uint64_t take_ns, chunk_ns;
	size_t chunk_bytes;
	uint64_t end_ns;   /* UINT64_MAX: open */
	uint64_t taken_ns; /* when the buffers were emptied the last time */
	bool over;
};

static int hand_over(struct going *g, struct error *err)
{
	if (!g->chunk.end_ns)
		return 0;
	int failed = g->each(g->context, &g->chunk, err);
	bursts_release(&g->chunk);
	return failed;
}

static int take(struct going *g, enum burst_take which, struct error *err)
{
	struct bursts next = { 0 };
	g->taken_ns = clock_monotonic_ns();
	burst_collector_take(g->collector, which, &next);
	if (g->chunk.end_ns) {
		bursts_append(&g->chunk, &next);
		bursts_release(&next);
	} else {
		g->chunk = next;
	}
	if (g->plan->taken)
		g->plan->taken(g->context);
	size_t bytes = g->chunk.bursts.count * sizeof *g->chunk.bursts.items +
		       g->chunk.processes.count * sizeof *g->chunk.processes.items;
	bool full = g->chunk.end_ns - g->chunk.begin_ns >= g->chunk_ns || bytes >= g->chunk_bytes;
	return full ? hand_over(g, err) : 0;
}

enum looked_at { LOOK_COLLECTOR, LOOK_CONTROL, LOOKED_AT };

/* Sleeps until something is due or comes; negative descriptors are nothing to poll. */
static void wait_for_something(const struct going *g, struct pollfd fds[LOOKED_AT])
{
	const struct watch_plan *plan = g->plan;
	uint64_t now = clock_monotonic_ns(), due = g->taken_ns + g->take_ns;
	uint64_t until = due < g->end_ns ? due : g->end_ns;
	uint64_t ns = until > now ? until - now : 0;
	struct timespec most = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
	bool may_take = now - g->taken_ns >= SHORTEST_PAUSE_NS;
	fds[LOOK_COLLECTOR] =
		(struct pollfd){ .fd = may_take ? burst_collector_fd(g->collector) : -1,
				 .events = POLLIN };
	fds[LOOK_CONTROL] =
		(struct pollfd){ .fd = plan->control ? plan->control_fd : -1, .events = POLLIN };
	if (!may_take && ns > SHORTEST_PAUSE_NS)
		most = (struct timespec){ .tv_nsec = SHORTEST_PAUSE_NS };
	if (ppoll(fds, LOOKED_AT, &most, interrupt_mask()) < 0)
		for (int i = 0; i < LOOKED_AT; i++)
			fds[i].revents = 0;
}

static int step(struct going *g, struct error *err)
{
	struct pollfd fds[LOOKED_AT];
	wait_for_something(g, fds);
	uint64_t now = clock_monotonic_ns();
	if (interrupted() || now >= g->end_ns) {
		g->over = true;
		return 0;
	}
	bool due = now >= g->taken_ns + g->take_ns;
	if ((due || fds[LOOK_COLLECTOR].revents) &&
	    take(g, due ? BURSTS_ALL : BURSTS_HANDED_OVER, err))
		return -1;
	enum watch_wish wish = WATCH_GO_ON;
	if (fds[LOOK_CONTROL].revents && g->plan->control(g->context, &wish, err))
		return -1;
	g->over |= wish == WATCH_END;
	return wish == WATCH_CUT ? (take(g, BURSTS_ALL, err) || hand_over(g, err)) : 0;
}

int watch_run(struct burst_collector *c, const struct watch_plan *plan, watch_chunk_fn each,
	      void *context, struct error *err)
{
	uint64_t begin = clock_monotonic_ns();
	struct going g = { .collector = c,
			   .plan = plan,
			   .each = each,
			   .context = context,
			   .take_ns = plan->take_ns ? plan->take_ns : TAKE_NS,
			   .chunk_ns = plan->chunk_ns ? plan->chunk_ns : CHUNK_NS,
			   .chunk_bytes = plan->chunk_bytes ? plan->chunk_bytes : CHUNK_BYTES,
			   .end_ns = plan->duration_ns ? begin + plan->duration_ns : UINT64_MAX,
			   .taken_ns = begin };
	int failed = 0;
	while (!failed && !g.over)
		failed = step(&g, err);
	/* also after an error: what was recorded is not lost by it */
	struct error late = ERROR_INIT;
	if (take(&g, BURSTS_ALL, failed ? &late : err) || hand_over(&g, failed ? &late : err))
		failed = -1;
	bursts_release(&g.chunk);
	if (failed)
		return -1;
	return interrupted() ? error_set(err, EXIT_INTERRUPTED, "interrupted") : 0;
}
