/* The reports of `tare noise`. They are appended to a strbuf; nothing is printed here. New and
 * stored runs take the same path. */
#ifndef TARE_REPORT_NOISE_REPORT_H
#define TARE_REPORT_NOISE_REPORT_H

#include "base/strbuf.h"
#include "protocol/jitter/diff.h"
#include "record/execution.h"
#include "record/machine.h"
#include "record/noise.h"
#include "report/core/table.h"
#include "report/export/perfetto.h"

enum noise_mode { NOISE_BY_SOURCE, NOISE_BY_SUCCESSION }; /* frequency and time domain */

/* All borrowed. */
struct noise_view {
	const struct run *run; /* name, started_at_ns, not_seen, id (0: not stored), status */
	const struct noise *noise;
	const struct machine *machine; /* may be NULL */
};

struct noise_style {
	struct style style;
	enum noise_mode mode;
	bool per_cpu;	 /* also a block for each CPU */
	uint32_t most;	 /* rows of the source table; 0: all */
	bool density;	 /* draw the densities */
	bool histograms; /* show the user-level and the master histogram */
};

/* For people: what was measured and how well (floor, threshold, duty cycle), the source table
 * (lowest, highest, count, mean, total, sigma, share, period), the classes, the coverage of detours
 * > 1 us and > 8 us (strict and by overlap), the host's period with its chance rate, what was not
 * seen, and the longest detours. */
void noise_text(const struct noise_view *v, const struct noise_style *style, struct strbuf *out);
/* The combinations in detours from low_ns up to (not including) high_ns, rounded outward to the
 * edges of buckets. By source, also the sources that take this long alone. */
void noise_zoom(const struct noise_view *v, uint64_t low_ns, uint64_t high_ns,
		const struct noise_style *style, struct strbuf *out);
/* One screen of the live view, `lines` high. */
void noise_top(const struct noise_view *v, size_t lines, const struct noise_style *style,
	       struct strbuf *out);
/* The layout of `rtla osnoise hist`: a column of counts for each CPU, `entries` buckets of
 * width_ns, then over, count, min, avg, max. */
void noise_hist(const struct noise_view *v, uint64_t width_ns, uint32_t entries,
		struct strbuf *out);
/* docs/schema/noise.schema.json. */
void noise_json(const struct noise_view *v, struct strbuf *out);
/* The source table as data in the given mode, one row per source (with per_cpu, per source and
 * CPU). The caller renders and frees it. */
struct table *noise_sources_table(const struct noise_view *v, const struct noise_style *style);
/* The histograms as data: bucket_low, bucket_high, count, total, strict ... with one row for each
 * bucket that is not empty. */
struct table *noise_histogram_table(const struct noise_view *v);

/* The worst detours and the events around them, as a trace for Perfetto. */
void noise_perfetto(const struct noise_view *v, struct strbuf *out);

void noise_diff_text(const struct noise_view *base, const struct noise_view *run,
		     const struct jitter_diff *d, const struct noise_style *style,
		     struct strbuf *out);
void noise_diff_json(const struct noise_view *base, const struct noise_view *run,
		     const struct jitter_diff *d, struct strbuf *out);

/* The period of a source in ns, from its intervals; 0 if it has no stable one. share: of the
 * intervals that are within 5 % of it or of a multiple up to 4. */
double noise_source_period(const struct noise_source *s, double *share);

#endif
