/* The made-up profile with all that a report needs beside it. */
#ifndef TARE_TESTS_PROFILE_REPORT_H
#define TARE_TESTS_PROFILE_REPORT_H

#include "../fixtures/profile.h"
#include "report/profile/report.h"

struct profile_case {
	struct profile profile;
	struct run run;
	struct profile_subject subject;
	instruction_list instructions; /* of search */
	sleepy_counts counts;
	struct profile_listing listing; /* of it */
	struct sleepy_diff diff;	/* by function: the first slice, the second */
};
/* c is not moved until it is released. */
void profile_case_make(struct profile_case *c);
void profile_case_release(struct profile_case *c);

/* Every view: as text after the head; as one JSON. */
void profile_case_text(const struct profile_case *c, const struct profile_style *style,
		       struct strbuf *out);
void profile_case_json(const struct profile_case *c, const struct profile_style *style,
		       struct strbuf *out);

#endif
