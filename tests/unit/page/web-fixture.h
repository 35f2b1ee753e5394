/* Pages that tests/web opens in a browser: runs that are long enough for every chart. */
#ifndef TARE_TEST_PAGE_WEB_FIXTURE_H
#define TARE_TEST_PAGE_WEB_FIXTURE_H

#include "report/page/page.h"

/* One run of so many executions, each with a ledger. A daemon disturbs every twelfth part of them,
 * one fails, two warm-ups come first; some are traced. */
struct page *web_run(size_t count);
/* Four such runs of other lengths, compared with the first. */
struct page *web_runs(void);
/* Two runs of noise on two CPUs; the second has the first as its baseline and is compared with it:
 * one source is new, one gone, one grown, one shrunk. */
struct page *web_noises(void);
/* Two profiles of a database, compared: it searches more and hashes less in the second. Without
 * callers the stacks were not followed. */
struct page *web_profiles(bool callers);

#endif
