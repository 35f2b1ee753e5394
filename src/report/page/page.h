/* A page for a browser: runs, studies and comparisons in one document, as JSON or in a
 * self-contained HTML file. web/src/types.ts and docs/schema/page.schema.json describe the
 * document. */
#ifndef TARE_REPORT_PAGE_PAGE_H
#define TARE_REPORT_PAGE_PAGE_H

#include "base/strbuf.h"
#include "protocol/sedona/sedona.h"
#include "protocol/sleepy/sleepy.h"
#include "report/duet/report.h"
#include "report/noise/report.h"
#include "report/profile/report.h"
#include "report/query/report.h"
#include "report/time/report.h"

struct page;

/* served: by `tare serve`, which has access to the lab. */
struct page *page_new(const char *title, bool served);
void page_free(struct page *p);
size_t page_section_count(const struct page *p);

/* Sections appear in the order in which they are added. Arguments are borrowed for the call. */

/* Loads the trace of an execution. False: there is none, or an error that the caller reports. */
struct page_traces {
	bool (*load)(void *context, const struct execution *x, struct trace *into);
	void *context;
};
/* Details of single executions are limited; `share` runs divide the limit. traces may be NULL. */
void page_add_time(struct page *p, const struct run_view *view, size_t share,
		   const struct page_traces *traces);
/* run NULL: its samples are unknown. is_l has an entry for each sample. */
struct page_samples {
	const struct sedona_run *run;
	const bool *is_l;
};
void page_add_study(struct page *p, const struct study *s, const struct machine *machine,
		    const struct page_samples samples[STUDY_LENGTHS]);
/* v->noise NULL: no data yet. baseline and diff are NULL if there is none or it is the run
 * itself. */
void page_add_noise(struct page *p, const struct noise_view *v, const struct noise_view *baseline,
		    const struct jitter_diff *diff);
/* listings: annotated code of the functions with the most samples. */
void page_add_profile(struct page *p, const struct profile_subject *s,
		      const struct profile_listing *listings, size_t count);
#define PAGE_QUERY_LEDGERS 300 /* more are not worth their time and space */
/* ledgers are the mean ledgers of Q@Cs. v->data NULL: no data are stored yet. */
void page_add_query(struct page *p, const struct query_view *v, const struct ttp_ledger *ledgers,
		    size_t count);

/* v->duet NULL: no data are stored yet. */
void page_add_duet(struct page *p, const struct duet_view *v);

/* Compare sections that were added, by their index. */

struct page_time_comparison {
	size_t section;
	struct emp_comparison result;
	const char *sentence;
};
void page_compare_times(struct page *p, size_t reference, enum emp_measure measure, const char *why,
			const struct page_time_comparison *list, size_t count);
void page_compare_noise(struct page *p, size_t base, size_t run, const struct noise_view *base_view,
			const struct noise_view *run_view, const struct jitter_diff *d);
void page_compare_profiles(struct page *p, size_t before, size_t after,
			   const struct profile_subject *before_subject,
			   const struct profile_subject *after_subject,
			   const struct sleepy_diff *d);
void page_compare_queries(struct page *p, size_t base, size_t other,
			  const struct query_view *base_view, const struct query_view *other_view,
			  const struct ttp_comparison *c);

/* Several duets; pool->runs 0: they do not compare the same two, and nothing is pooled. sentence
 * may be NULL. */
void page_compare_duets(struct page *p, const size_t *sections, size_t count,
			const struct duet_pool *pool, const char *sentence);

/* Only the document, on one line. */
void page_json(const struct page *p, struct strbuf *out);
/* The complete file. */
void page_html(const struct page *p, struct strbuf *out);
/* The page without a document, which `tare serve` sends. */
void page_empty(struct strbuf *out);

#endif
