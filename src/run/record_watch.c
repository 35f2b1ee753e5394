#include "run/record_watch.h"

#include <inttypes.h>

#include "base/clock.h"
#include "collect/collect.h"

#define HELD_MOST 2000000u /* bursts, 64 MB */

int watch_recording_open(struct watch_recording *w, struct error *err)
{
	struct machine m = { 0 };
	int64_t machine;
	machine_read(&m);
	w->began = lab_add_machine(w->lab, &m, &machine, err) == 0 &&
		   burst_collector_open(&w->collector, err) == 0 &&
		   lab_begin_watch(w->lab, machine, &w->watch, err) == 0;
	machine_release(&m);
	w->since_ns = clock_realtime_ns();
	return w->began ? 0 : -1;
}

struct watch_chunk {
	struct watch_recording *w;
	const struct bursts *b;
};

static int add_bursts(struct lab *lab, void *what, struct error *err)
{
	const struct watch_chunk *c = what;
	return lab_add_bursts(lab, c->w->watch, c->b, c->w->keep_bytes, err);
}

/* Also after an error that stays: what is held may be dropped later, and is counted then. */
static int store(struct watch_recording *w, const struct bursts *b)
{
	struct watch_chunk chunk = { w, b };
	struct error why = ERROR_INIT;
	w->to.lab = w->lab;
	int failed = w->ending ? recorder_wait(&w->to, add_bursts, &chunk, &why)
			       : recorder_try(&w->to, add_bursts, &chunk, &why);
	w->trouble = failed > 0 ? w->to.trouble : why;
	if (!failed)
		w->bursts += b->bursts.count;
	return failed;
}

static int store_held(struct watch_recording *w)
{
	if (!w->held.end_ns)
		return 0;
	if (store(w, &w->held))
		return -1;
	bursts_release(&w->held);
	return 0;
}

static void drop_held(struct watch_recording *w)
{
	w->dropped += w->held.bursts.count;
	bursts_release(&w->held);
}

void watch_recording_add(struct watch_recording *w, const struct bursts *chunk)
{
	w->lost += chunk->lost;
	if (!w->held.end_ns && store(w, chunk) == 0)
		return;
	bursts_append(&w->held, chunk);
	if (store_held(w) && w->held.bursts.count > HELD_MOST)
		drop_held(w);
}

static int end_watch(struct lab *lab, void *watch, struct error *err)
{
	return lab_end_watch(lab, *(const int64_t *)watch, err);
}

int watch_recording_end(struct watch_recording *w, struct error *err)
{
	burst_collector_close(w->collector);
	w->collector = NULL;
	if (!w->began)
		return 0;
	w->ending = true;
	recorder_hurry(&w->to);
	if (store_held(w))
		drop_held(w);
	w->to.lab = w->lab;
	if (recorder_wait(&w->to, end_watch, &w->watch, err))
		return -1;
	if (!w->dropped)
		return 0;
	return error_set(err, EXIT_ENVIRONMENT, "%" PRIu64 " bursts could not be stored: %s",
			 w->dropped, w->trouble.text);
}
