/* A page with made-up noise, profiles and queries, and comparisons of each: all that a document can
 * have of them. */
#ifndef TARE_TESTS_PAGE_PARTS_FIXTURE_H
#define TARE_TESTS_PAGE_PARTS_FIXTURE_H

#include "report/page/page.h"

/* Sections: noise of a guest, with a baseline; noise that the kernel did not tell of; noise without
 * a detour; a profile with a listing; one of nothing; queries: whole, slower, empty. Comparisons:
 * the second noise with the first, the profiles, the second queries with the first. */
enum {
	PARTS_GUEST,
	PARTS_PLAIN,
	PARTS_QUIET,
	PARTS_PROFILE,
	PARTS_NOTHING,
	PARTS_WHOLE,
	PARTS_SLOWER,
	PARTS_EMPTY,
	PARTS
};
struct page *parts_page(void);

#endif
