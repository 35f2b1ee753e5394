/* The parts of a profile's section: private to report/page_profile*.c. */
#ifndef TARE_REPORT_PAGE_PROFILE_H
#define TARE_REPORT_PAGE_PROFILE_H

#include <jansson.h>

#include "record/profile.h"

/* The tree of calls (web/src/model.ts: Tree), a new reference. Beyond `most` nodes the smallest
 * leaves are counted in their callers: *folded of them, with so many samples of their own. */
json_t *page_profile_tree(const struct profile *p, size_t most, size_t *folded, uint64_t *samples);

#endif
