/* What the reports of a daemon study have in common: private to report/. */
#ifndef TARE_REPORT_DAEMONS_STYLE_H
#define TARE_REPORT_DAEMONS_STYLE_H

#include "report/daemons.h"
#include "report/noise_rows.h" /* format_ns(): three digits, a space that does not break */

/* With its defaults filled in; given may be NULL. */
struct daemons_style daemons_normal_style(const struct daemons_style *given);
/* noise_finish() for this style. */
void daemons_finish(const struct daemons_style *style, struct strbuf *out, size_t from);

/* ET differ in their last digits: one unit for a window, and decimals that tell its ends apart. */
struct scale daemons_scale(uint64_t low_ns, uint64_t high_ns);

/* The zoom levels of each run as a table, and what the words in it mean. */
void put_daemons_zooms(const struct study *s, const struct daemons_style *style,
		       struct strbuf *out);
/* "0.1", "42": the both that chance would give. */
void format_expected(double count, char out[WORDS]);

#endif
