/* Shared by the reports of a daemon study. Private to report/study/. */
#ifndef TARE_REPORT_STUDY_STYLE_H
#define TARE_REPORT_STUDY_STYLE_H

#include "report/core/format.h"
#include "report/study/report.h"

/* The begin of study.schema.json: a copy that shares the study's memory. */
struct study_head {
	uint32_t type;
	uint64_t format;
	struct study study;
};

void put_daemons_text(const char *text, const struct style *style, struct strbuf *out);
/* "7, 20 and 3 more" */
void put_sample_numbers(const uint32_t *numbers, size_t count, size_t most, struct strbuf *out);
bool daemon_is_long_running(const struct study_daemon *d); /* in one of the runs */

#define NARROW 80 /* below this there is room only for the main columns */
#define WIDE 104  /* from this on there is room for more */

/* ETs differ in their last digits: one unit for a window, and decimals to distinguish its ends. */
struct scale daemons_scale(uint64_t low_ns, uint64_t high_ns);

/* The long-running daemons as a table; false: there are none. */
bool put_long_running(const struct study *s, const struct style *style, struct strbuf *out);
/* The zoom levels of each run as a table, with an explanation of its words. */
void put_daemons_zooms(const struct study *s, const struct style *style, struct strbuf *out);
/* "0.1", "42": the number of `both` expected by chance. */
void format_expected(double count, char out[WORDS]);

#endif
