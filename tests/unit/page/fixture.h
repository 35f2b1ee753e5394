/* Pages made up for the tests of report/page*.c. */
#ifndef TARE_TEST_PAGE_FIXTURE_H
#define TARE_TEST_PAGE_FIXTURE_H

#include "report/page/page.h"

/* Names that a page must show as text, whatever is in them. */
extern const char *const page_fixture_hostile[]; /* NULL at the end */

/* By name:
 * time: four runs, one of them failed, one without executions, compared; one has traces;
 * hostile: a run whose names are hostile;
 * study NAME: a study of study-fixture.h. NULL: there is none of this name. */
struct page *page_fixture_make(const char *which);

/* A run of so many executions with ledgers, processes and drops, as a busy machine gives them. */
struct page_fixture_big {
	struct run run;
	struct execution *executions;
	struct emp_result result;
	struct run_view view;
};
void page_fixture_big(struct page_fixture_big *b, size_t count);
void page_fixture_big_release(struct page_fixture_big *b);

#endif
