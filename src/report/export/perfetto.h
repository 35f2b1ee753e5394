/* A trace for the Perfetto UI and trace_processor, in Perfetto's own format: scheduling as the
 * kernel's ftrace would have told it, everything else as track events. */
#ifndef TARE_REPORT_EXPORT_PERFETTO_H
#define TARE_REPORT_EXPORT_PERFETTO_H

#include "base/strbuf.h"
#include "record/noise.h"
#include "record/trace.h"

/* What a TRACE_DETOUR_BEGIN is called and what else is known of it; the others are "detour". */
struct perfetto_detour {
	uint32_t cpu;
	uint64_t begin_ns;
	const char *name;
	const uint64_t *class_ns; /* NOISE_CLASSES of them */
};

struct perfetto_title {
	const char *run;	   /* what to call it */
	const char *execution;	   /* "execution 3" */
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC: the root's exec and end; 0: not known */
	int64_t started_at_ns;	   /* CLOCK_REALTIME at begin_ns; 0: not known */
	const char *begin;	   /* what is at begin_ns; NULL: "begin of the execution" */
	const struct perfetto_detour *detours;
	size_t detour_count;
};

/* Events of a kind that is not known are left out. Whatever the events say, each track's slices
 * nest and none ends before it begins: what is missing is closed where that shows and marked as
 * lost. */
void perfetto_render(const struct trace *t, const struct perfetto_title *title, struct strbuf *out);

#endif
