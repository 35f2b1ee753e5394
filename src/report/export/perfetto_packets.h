/* The packets of Perfetto's trace format that tare writes. Private to report/export/. Field numbers
 * are those of protos/perfetto/trace in Perfetto's repository. */
#ifndef TARE_REPORT_EXPORT_PERFETTO_PACKETS_H
#define TARE_REPORT_EXPORT_PERFETTO_PACKETS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

/* Writes the first packets: the clocks at one instant (realtime 0: unknown), and the words that
 * packets_blocked() refers to by index. */
void packets_start(struct strbuf *out, uint64_t monotonic_ns, int64_t realtime_ns,
		   const char *const *words, size_t count);

/* A track. rank orders it among its siblings. parent 0: at the top. */
#define TRACKS_BY_RANK (-1)
void packets_track(struct strbuf *out, uint64_t track, uint64_t parent, const char *name, int rank);
/* The track for a thread's slices, shown with its scheduling. */
void packets_thread_track(struct strbuf *out, uint64_t at_ns, uint64_t track, int32_t pid,
			  int32_t tid, const char *name);

/* A process and one of its threads; ppid 0: unknown. */
void packets_process(struct strbuf *out, uint64_t at_ns, int32_t pid, int32_t ppid, int32_t tid,
		     const char *process, const char *thread);

/* A detail of a slice; text NULL: the number. */
struct packets_note {
	const char *name, *text;
	uint64_t number;
};
void packets_begin(struct strbuf *out, uint64_t at_ns, uint64_t track, const char *name,
		   const struct packets_note *notes, size_t count);
void packets_end(struct strbuf *out, uint64_t at_ns, uint64_t track);
void packets_instant(struct strbuf *out, uint64_t at_ns, uint64_t track, const char *name,
		     const struct packets_note *notes, size_t count);

/* ftrace events of one CPU. They are collected in `events`, and packets_cpu() writes them as a
 * packet at the end and when there are many. */
enum packets_state {
	STATE_RUNNABLE = 0,
	STATE_SLEEPING = 1,
	STATE_BLOCKED = 2,
	STATE_STOPPED = 4,
	STATE_DEAD = 16
};
void packets_switch(struct strbuf *events, uint64_t at_ns, int32_t from, const char *from_name,
		    enum packets_state from_state, int32_t to, const char *to_name);
void packets_waking(struct strbuf *events, uint64_t at_ns, int32_t waker, int32_t tid,
		    const char *name, uint32_t cpu);
/* Why the thread that is about to be woken was asleep. */
void packets_blocked(struct strbuf *events, uint64_t at_ns, int32_t tid, size_t word, bool io);
void packets_new_task(struct strbuf *events, uint64_t at_ns, int32_t maker, int32_t tid,
		      const char *name, bool thread);
void packets_cpu(struct strbuf *out, uint32_t cpu, struct strbuf *events);

#endif
