/* Names for the sources of a trace's events. Private to report/. */
#ifndef TARE_REPORT_EXPORT_TRACE_NAMES_H
#define TARE_REPORT_EXPORT_TRACE_NAMES_H

#include "record/trace.h"

struct trace_names {
	struct trace_name *items; /* sorted */
	size_t count;
};

/* Whether tid, tgid and comm are those of a thread. */
static inline bool trace_names_thread(const struct trace_event *e)
{
	return (e->kind >= TRACE_SWITCH && e->kind <= TRACE_RENAME) || e->kind == TRACE_IO_START;
}

void trace_names_of(const struct trace *t, struct trace_names *out);
void trace_names_release(struct trace_names *names);
/* Its name, or else its number ("8:16" for a device). */
void trace_source(const struct trace_names *names, uint32_t cause, uint32_t source, char *out,
		  size_t size);

#endif
