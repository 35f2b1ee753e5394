/* Shared by the text and the JSON of a comparison. Private to report/. */
#ifndef TARE_REPORT_NOISE_DIFF_H
#define TARE_REPORT_NOISE_DIFF_H

#include "report/noise/report.h"

/* One of the two runs. Borrowed. */
struct noise_side {
	int64_t run; /* 0: not stored */
	const char *name;
	struct noise noise;
	uint64_t window_ns;    /* watched, summed over the CPUs */
	uint64_t threshold_ns; /* the largest */
};
struct noise_side noise_side_of(const struct noise_view *v);

/* One sentence. */
void noise_diff_verdict(const struct noise *base, const struct noise *run,
			const struct jitter_diff *d, struct strbuf *out);

/* Reasons for a difference that no source caused, one sentence each. */
typedef ARRAY(char *) note_list;
void noise_diff_notes(const struct noise_view *base, const struct noise_view *run, note_list *list);
void noise_diff_notes_release(note_list *list);

/* The comparison as JSON has it. */
struct noise_diff_report {
	const char *text; /* the verdict */
	note_list notes;
	struct noise_side base, run;
	struct jitter_diff diff;
	uint64_t counts[JITTER_CHANGES]; /* of sources, by change */
	ARRAY(const struct jitter_peak) peaks;
	ARRAY(const double) grid_ns, base_density, run_density;
};

#endif
