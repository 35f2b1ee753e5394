/* A profile for people and programs. Everything is appended to `out`. */
#ifndef TARE_REPORT_PROFILE_REPORT_H
#define TARE_REPORT_PROFILE_REPORT_H

#include "base/strbuf.h"
#include "protocol/sleepy/sleepy.h"
#include "record/code.h"
#include "record/execution.h"
#include "record/machine.h"
#include "report/core/table.h"

/* What is shown; machine may be NULL. */
struct profile_subject {
	const struct run *run;
	const struct machine *machine;
	const struct profile *profile;
	uint64_t begin_ns; /* of the run, CLOCK_MONOTONIC; 0: of its first slice here */
};

struct profile_style {
	struct style style; /* without a width, tables are as wide as they want */
	size_t most;	    /* rows; 0: all */
	double least_share; /* rows below this share of the samples are left out */
	bool totals;	    /* a column for samples with it anywhere in the stack */
	bool by_total;	    /* which is what rows are sorted and cut by */
	bool all;	    /* listings: instructions without samples are not folded */
};

/* What was sampled, how, for how long; user, kernel; what was lost, throttled, not unwound. A few
 * lines. */
void profile_head_text(const struct profile_subject *s, const struct profile_style *style,
		       struct strbuf *out);
/* What this way of sampling cannot tell (aliasing, piles in the kernel), where it matters for this
 * profile: for the end of a report. */
void profile_notes_text(const struct profile_subject *s, const struct profile_style *style,
			struct strbuf *out);
/* Rows of a view, with the share that was left out. */
void profile_view_text(const struct profile_subject *s, const struct sleepy_view *v,
		       const struct profile_style *style, struct strbuf *out);
/* The same for CSV, Markdown, ...; the caller frees. */
struct table *profile_view_table(const struct profile_subject *s, const struct sleepy_view *v,
				 const struct profile_style *style);
/* docs/schema/profile.schema.json: head, slices' sums, and the views given. */
void profile_json(const struct profile_subject *s, const struct sleepy_view *views, size_t count,
		  const struct profile_style *style, struct strbuf *out);

/* One function by instruction: counts beside each, source between when it can be read, and a word
 * on skid: what is sampled is what would have come next. */
struct profile_listing {
	uint32_t function;
	const instruction_list *instructions;
	const sleepy_counts *counts;
	uint64_t samples; /* that shares are of */
	/* A line of a source file without its newline, lent until the next call; NULL: it cannot be
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
