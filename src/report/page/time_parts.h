/* The parts of a time section. Private to report/page/. */
#ifndef TARE_REPORT_PAGE_TIME_PARTS_H
#define TARE_REPORT_PAGE_TIME_PARTS_H

#include "report/core/numbers.h"
#include "report/page/private.h"
#include "report/time/times.h"

struct ranked {
	uint64_t et_ns;
	size_t position;
};

/* A time section under construction. */
struct time_section {
	const struct run_view *view;
	json_t *section;
	struct ranked *by_et; /* the measured ones, shortest first */
	size_t measured;
	struct text_numbers names;
	bool is_cause[LEDGER_CAUSES];
	int cause_index[LEDGER_CAUSES]; /* index in the ledger's columns, for causes that occur */
	size_t slices_left;		/* of traces */
};

/* A measure that is shown for every execution. */
struct page_measure {
	const char *column, *name, *title, *meaning;
	enum unit unit;
};

/* The index of a name in the section's names, which is added if it is new. */
json_t *section_name(struct time_section *t, const char *name);

/* Which executions have details: an array of view->count, which the caller frees. All if they are
 * at most `most`; otherwise up to `dropped` dropped ones, `extremes` each of the longest and the
 * shortest, and evenly chosen others up to `most` in total. */
struct page_choice {
	size_t most, dropped, extremes;
	bool fill; /* false: no others */
};

/* The ledger's columns; null if no execution has a ledger. Call it before page_details(), which
 * needs to know which causes occur. */
json_t *page_ledger(struct time_section *t, size_t share);
json_t *page_details(struct time_section *t, size_t share, const struct page_traces *traces);

/* The trace of an execution, which gets sorted: at most `most` slices and as many waits, which are
 * subtracted from slices_left. */
json_t *page_trace(struct time_section *t, const struct execution *x, struct trace *trace,
		   size_t most);

#endif
