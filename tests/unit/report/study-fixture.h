/* Made-up daemon studies, filled as protocol/sedona.h fills them. */
#ifndef TARE_TEST_STUDY_FIXTURE_H
#define TARE_TEST_STUDY_FIXTURE_H

#include "protocol/sedona/sedona.h"
#include "record/machine.h"

struct study_fixture {
	struct study study;
	struct machine machine;
	struct sedona_run runs[STUDY_LENGTHS]; /* the samples, for plots */
	bool *is_l[STUDY_LENGTHS];
	uint64_t seed;
};

/* By name:
 * paper: a short and a long run with figures of the paper's tables, two periods;
 * live: 120 samples of 1 s, two long-running daemons, one that is not, no long run;
 * corner: two bands;  unexplained: L-samples, but no daemon is long-running;
 * quiet: nothing stands out, nobody seen;  alike;  few: 4 samples;  one: 1;  empty: no sample;
 * nothing: no run. False: there is none of this name. */
bool study_fixture_make(struct study_fixture *f, const char *which);
void study_fixture_release(struct study_fixture *f);

extern const char *const study_fixture_names[]; /* NULL at the end */

#endif
