/* A trace for the Perfetto UI and trace_processor, in Perfetto's own format: scheduling as the
 * kernel's ftrace would report it, everything else as track events. */
#ifndef TARE_REPORT_EXPORT_PERFETTO_H
#define TARE_REPORT_EXPORT_PERFETTO_H

#include "base/strbuf.h"
#include "record/noise.h"
#include "record/trace.h"

/* The name and details of a TRACE_DETOUR_BEGIN; others are called "detour". */
struct perfetto_detour {
	uint32_t cpu;
	uint64_t begin_ns;
	const char *name;
	const uint64_t *class_ns; /* NOISE_CLASSES of them */
};

struct perfetto_title {
	const char *run;	   /* its name */
	const char *execution;	   /* "execution 3" */
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC: the root's exec and end; 0: unknown */
	int64_t started_at_ns;	   /* CLOCK_REALTIME at begin_ns; 0: unknown */
	const char *begin;	   /* what happens at begin_ns; NULL: "begin of the execution" */
	const struct perfetto_detour *detours;
	size_t detour_count;
};

/* Events of unknown kinds are omitted. Whatever the events say, the slices of a track nest, and
 * none ends before it begins: a slice without an end is closed as soon as that shows, and marked as
 * lost. */
void perfetto_render(const struct trace *t, const struct perfetto_title *title, struct strbuf *out);

#endif
