/* What the reports of a daemon study have in common: private to report/study/. */
#ifndef TARE_REPORT_STUDY_STYLE_H
#define TARE_REPORT_STUDY_STYLE_H

#include "report/core/format.h"
#include "report/study/report.h"

/* What study.schema.json begins with; a copy, whose memory stays the study's. */
struct study_head {
	uint32_t type;
	uint64_t format;
	struct study study;
};

/* "7, 20 and 3 more" */
void put_sample_numbers(const uint32_t *numbers, size_t count, size_t most, struct strbuf *out);
bool daemon_is_long_running(const struct study_daemon *d); /* in one of the runs */

#define NARROW 80 /* below, there is room for the main columns only */
#define WIDE 104  /* from there on, for more of them */

/* The long-running daemons as a table; false: there are none. */
bool put_long_running(const struct study *s, const struct style *style, struct strbuf *out);
/* The zoom levels of each run as a table, and what the words in it mean. */
void put_daemons_zooms(const struct study *s, const struct style *style, struct strbuf *out);
/* "0.1", "42": the both that chance would give. */
void format_expected(double count, char out[WORDS]);

#endif
