/* The documents of docs/schema/ that a page embeds. Private to report/. All return new references,
 * in jansson's terms. */
#ifndef TARE_REPORT_PAGE_DOCUMENTS_H
#define TARE_REPORT_PAGE_DOCUMENTS_H

#include <jansson.h>

#include "report/duet/report.h"
#include "report/noise/report.h"
#include "report/profile/report.h"
#include "report/query/report.h"
#include "report/study/report.h"

struct profile_part; /* report/profile/rows.h */

/* study.schema.json */
json_t *daemons_document(const struct study *s, const struct machine *machine);

json_t *noise_document(const struct noise_view *v);
json_t *noise_diff_document(const struct noise_view *base, const struct noise_view *run,
			    const struct jitter_diff *d);

json_t *profile_document(const struct profile_subject *s, const struct profile_part *parts,
			 size_t count);
json_t *profile_listing_document(const struct profile_subject *s, const struct profile_listing *l);
/* At most `most` rows: those that changed most. */
json_t *profile_diff_document(const struct profile_subject *before,
			      const struct profile_subject *after, const struct sleepy_diff *d,
			      size_t most);

json_t *duet_document(const struct duet_view *v);

/* Without executions, at[].executions are empty. */
json_t *query_document(const struct query_view *v, bool with_executions);
json_t *query_compare_document(const struct query_view *base, const struct query_view *other,
			       const struct ttp_comparison *c);

#endif
