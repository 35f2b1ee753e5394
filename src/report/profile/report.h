/* Reports of a profile for people and programs. Everything is appended to `out`. */
#ifndef TARE_REPORT_PROFILE_REPORT_H
#define TARE_REPORT_PROFILE_REPORT_H

#include "base/strbuf.h"
#include "protocol/sleepy/sleepy.h"
#include "record/code.h"
#include "record/execution.h"
#include "record/machine.h"
#include "report/core/table.h"

/* What to report; machine may be NULL. */
struct profile_subject {
	const struct run *run;
	const struct machine *machine;
	const struct profile *profile;
	uint64_t begin_ns; /* of the run, CLOCK_MONOTONIC; 0: of its first slice here */
};

struct profile_style {
	struct style style; /* without a width, tables have any width */
	size_t most;	    /* rows; 0: all */
	double least_share; /* rows below this share of the samples are omitted */
	bool totals;	    /* add a column for samples with it anywhere in the stack */
	bool by_total;	    /* sort and cut the rows by that column */
	bool all;	    /* listings: do not fold instructions without samples */
};

/* A few lines: what was sampled, how and how long; user, kernel; losses, throttling, unwinding. */
void profile_head_text(const struct profile_subject *s, const struct profile_style *style,
		       struct strbuf *out);
/* The limits of this way of sampling (aliasing, piles in the kernel), if they matter for this
 * profile. For the end of a report. */
void profile_notes_text(const struct profile_subject *s, const struct profile_style *style,
			struct strbuf *out);
/* The rows of a view, with the share that was omitted. */
void profile_view_text(const struct profile_subject *s, const struct sleepy_view *v,
		       const struct profile_style *style, struct strbuf *out);
/* Like profile_view_text(), for CSV, Markdown, ... The caller frees it. */
struct table *profile_view_table(const struct profile_subject *s, const struct sleepy_view *v,
				 const struct profile_style *style);
/* What calls what, of the samples that pass. Direct recursion is one level. */
struct profile_calls {
	const struct sleepy_filter *filter;
	const char *function; /* only what is above or below it, with `up` or without; NULL: all */
	bool up;	      /* from the inside: functions and their callers */
	bool direct;	      /* only those who called it themselves */
	bool merge_inlined;
};
void profile_calls_text(const struct profile_subject *s, const struct profile_calls *c,
			const struct profile_style *style, struct strbuf *out);
/* Like profile_calls_text(), for CSV, Markdown, JSON. The caller frees it. */
struct table *profile_calls_table(const struct profile_subject *s, const struct profile_calls *c,
				  const struct profile_style *style);

/* docs/schema/profile.schema.json: head, sums of the slices, and the given views. */
void profile_json(const struct profile_subject *s, const struct sleepy_view *views, size_t count,
		  const struct profile_style *style, struct strbuf *out);

/* One function by instruction, with counts, source lines if they can be read, and a note on skid: a
 * sample shows the instruction that would have been next. */
struct profile_listing {
	uint32_t function;
	const instruction_list *instructions;
	const sleepy_counts *counts;
	uint64_t samples; /* the base of shares */
	/* A line of a source file without its newline, owned by the context; NULL: it cannot be
	 * read. source NULL: no file can. */
	const char *(*source)(void *context, const char *file, uint32_t line);
	void *context;
};
void profile_listing_text(const struct profile_subject *s, const struct profile_listing *l,
			  const struct profile_style *style, struct strbuf *out);
struct table *profile_listing_table(const struct profile_subject *s,
				    const struct profile_listing *l);
void profile_listing_json(const struct profile_subject *s, const struct profile_listing *l,
			  struct strbuf *out);

void profile_diff_text(const struct profile_subject *before, const struct profile_subject *after,
		       const struct sleepy_diff *d, const struct profile_style *style,
		       struct strbuf *out);
struct table *profile_diff_table(const struct sleepy_diff *d, const struct profile_style *style);
void profile_diff_json(const struct profile_subject *before, const struct profile_subject *after,
		       const struct sleepy_diff *d, struct strbuf *out);

/* ---- for other programs (profile_export_*.c) ---- */

enum profile_format {
	PROFILE_PPROF,	    /* protobuf, gzip */
	PROFILE_FOLDED,	    /* flamegraph.pl: "app;outer;inner count" */
	PROFILE_SPEEDSCOPE, /* JSON */
	PROFILE_FIREFOX,    /* the Firefox profiler's processed JSON */
	PROFILE_FORMATS
};
void profile_export(const struct profile_subject *s, const struct sleepy_filter *f,
		    enum profile_format format, struct strbuf *out);

#endif
