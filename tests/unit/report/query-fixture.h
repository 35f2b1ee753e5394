/* Made-up runs of queries, judged. */
#ifndef TARE_TEST_QUERY_FIXTURE_H
#define TARE_TEST_QUERY_FIXTURE_H

#include "report/query/report.h"

struct query_fixture {
	struct query_run data;
	struct run run;
	struct machine machine;
	struct ttp_options options;
	struct ttp_result result;
	struct query_view view;
};

/* By name:
 * whole: PostgreSQL, cold, with drops of several kinds, plans that change, events;
 * slower: the same, where one Q@C takes 10 % longer and another has another plan;
 * warm: SQLite, onepass, nothing dropped, devices not seen;
 * refused: MariaDB, which reads in other threads; devices seen;
 * imported: by the paper's form, of nothing but times;
 * empty: nothing executed. False: there is none of this name. */
bool query_fixture_make(struct query_fixture *f, const char *which);
void query_fixture_judge(struct query_fixture *f); /* anew, after a change */
void query_fixture_release(struct query_fixture *f);

extern const char *const query_fixture_names[]; /* NULL at the end */

#endif
