#include "run/record_watch.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/collect.h"

#define HELD_MOST 2000000u /* bursts, 64 MB */
#define LAST_TRIES 3
#define LAST_PAUSE_S 1

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

static int store(struct watch_recording *w, const struct bursts *b)
{
	struct error why = ERROR_INIT;
	int failed = lab_add_bursts(w->lab, w->watch, b, w->keep_bytes, &why);
	w->trouble = why;
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

int watch_recording_end(struct watch_recording *w, struct error *err)
{
	burst_collector_close(w->collector);
	w->collector = NULL;
	if (!w->began)
		return 0;
	/* what is held is given some tries: the disk may have room again */
	for (int i = 0; i < LAST_TRIES && store_held(w); i++)
		sleep(LAST_PAUSE_S);
	if (w->held.end_ns)
		drop_held(w);
	if (lab_end_watch(w->lab, w->watch, err))
		return -1;
	if (!w->dropped)
		return 0;
	return error_set(err, EXIT_ENVIRONMENT, "%" PRIu64 " bursts could not be stored: %s",
			 w->dropped, w->trouble.text);
}
