/* The parts of a time section: private to report/page/. */
#ifndef TARE_REPORT_PAGE_TIME_PARTS_H
#define TARE_REPORT_PAGE_TIME_PARTS_H

#include "report/core/numbers.h"
#include "report/page/private.h"
#include "report/time/times.h"

struct ranked {
	uint64_t et_ns;
	size_t position;
};

/* A time section while it is made. */
struct time_section {
	const struct run_view *view;
	json_t *section;
	struct ranked *by_et; /* the measured ones, the shortest first */
	size_t measured;
	struct text_numbers names;
	bool is_cause[LEDGER_CAUSES];
	int cause_index[LEDGER_CAUSES]; /* of those that occur, in the ledger's columns */
	size_t slices_left;		/* of traces */
};

/* What people are shown of every execution. */
struct page_measure {
	const char *column, *name, *title, *meaning;
	enum unit unit;
};

/* The place of a name in the section's names, entered when it is new. */
json_t *section_name(struct time_section *t, const char *name);

/* Which executions are told one by one, an array of view->count, to be freed: all where they are
 * `most` at most, else so many of the dropped, so many of the longest and of the shortest each, and
 * of the others so many that it is `most` together, evenly chosen. */
struct page_choice {
	size_t most, dropped, extremes;
	bool fill; /* false: none of the others */
};
bool *page_choose(const struct time_section *t, const struct page_choice *c, size_t *count);

/* The ledger's columns, null where nobody has one; which causes occur must be known before details
 * are made. */
json_t *page_ledger(struct time_section *t, size_t share);
json_t *page_details(struct time_section *t, size_t share, const struct page_traces *traces);

/* The trace of an execution, which gets sorted: `most` slices and as many waits at most, which are
 * taken off slices_left. */
json_t *page_trace(struct time_section *t, const struct execution *x, struct trace *trace,
		   size_t most);

#endif
