/* A profile as text that does not depend on positions: two that say the same are equal. */
#ifndef TARE_TESTS_PROFILE_TEXT_H
#define TARE_TESTS_PROFILE_TEXT_H

#include "record/profile.h"

/* Lines, sorted: the run, slices, code, and each sample with all that it refers to. */
char *profile_text(const struct profile *p);
/* Counts per app and innermost function, whatever the slice. */
char *profile_sums(const struct profile *p);

#endif
