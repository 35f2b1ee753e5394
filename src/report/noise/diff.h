/* Shared by the text and the JSON of a comparison. Private to report/. */
#ifndef TARE_REPORT_NOISE_DIFF_H
#define TARE_REPORT_NOISE_DIFF_H

#include "report/noise/report.h"

struct noise_amount { /* what was looked at */
	double window_ns;
	uint64_t threshold_ns; /* the largest */
};
struct noise_amount noise_amount_of(const struct noise *n);

/* One sentence. */
void noise_diff_verdict(const struct noise *base, const struct noise *run,
			const struct jitter_diff *d, struct strbuf *out);

/* Reasons for a difference that no source caused, one sentence each. */
typedef ARRAY(char *) note_list;
void noise_diff_notes(const struct noise_view *base, const struct noise_view *run, note_list *list);
void noise_diff_notes_release(note_list *list);

#endif
