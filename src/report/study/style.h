/* What the reports of a daemon study have in common: private to report/study/. */
#ifndef TARE_REPORT_STUDY_STYLE_H
#define TARE_REPORT_STUDY_STYLE_H

#include "report/core/format.h"
#include "report/study/report.h"

/* With its defaults filled in; given may be NULL. */
struct daemons_style daemons_normal_style(const struct daemons_style *given);
/* style_finish() for this style. */
void daemons_finish(const struct daemons_style *style, struct strbuf *out, size_t from);

/* A column that is there in terminals of so many columns or more. */
struct daemons_column {
	struct column column;
	size_t from;
};
struct table *daemons_table(const struct daemons_column *columns, size_t count, size_t width);
void daemons_render(struct table *t, const struct daemons_style *style,
		    struct strbuf *out); /* and frees it */

/* Text cells: a time of three digits, "-" where it is not known. */
void daemons_add_ns(struct table *t, bool known, double ns);
/* A paragraph. */
void put_daemons_text(const char *text, const struct daemons_style *style, struct strbuf *out);
/* "7, 20 and 3 more" */
void put_sample_numbers(const uint32_t *numbers, size_t count, size_t most, struct strbuf *out);
bool daemon_is_long_running(const struct study_daemon *d); /* in one of the runs */

#define NARROW 80 /* below, there is room for the main columns only */
#define WIDE 104  /* from there on, for more of them */

/* ET differ in their last digits: one unit for a window, and decimals that tell its ends apart. */
struct scale daemons_scale(uint64_t low_ns, uint64_t high_ns);

/* The long-running daemons as a table; false: there are none. */
bool put_long_running(const struct study *s, const struct daemons_style *style, struct strbuf *out);
/* The zoom levels of each run as a table, and what the words in it mean. */
void put_daemons_zooms(const struct study *s, const struct daemons_style *style,
		       struct strbuf *out);
/* "0.1", "42": the both that chance would give. */
void format_expected(double count, char out[WORDS]);

#endif
