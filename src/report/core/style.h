/* How a text is written for people. Every kind of report has it; what else a report is asked for
 * is in a struct of its own beside it. */
#ifndef TARE_REPORT_CORE_STYLE_H
#define TARE_REPORT_CORE_STYLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/* In the order of `-u auto|nanosecond|microsecond|millisecond|second` (OPTION_CHOICE). */
enum time_unit {
	TIME_UNIT_AUTO,
	TIME_UNIT_NANOSECOND,
	TIME_UNIT_MICROSECOND,
	TIME_UNIT_MILLISECOND,
	TIME_UNIT_SECOND,
};
#define TIME_UNIT_CHOICES "auto|nanosecond|microsecond|millisecond|second"

struct style {
	size_t width; /* columns; 0 means 80 for a text, any for a table */
	size_t lines; /* of the screen; 0: there is none, and nothing is too long */
	bool colour;
	bool ascii;	     /* no Unicode beyond what the user's own words bring along */
	enum time_unit unit; /* of durations; auto: as fits */
};

/* With its defaults filled in: at least 60 columns, 80 where none are given. given may be NULL. */
struct style style_normal(const struct style *given);

/* Makes what was written since `from` ready to print: spaces that must not break a line become
 * plain ones; with style->ascii there is no µ and no …. Columns stay where they are. */
void style_finish(const struct style *style, struct strbuf *out, size_t from);
#define NO_BREAK "\u00a0"

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define GREEN "\033[1;32m"
#define CYAN "\033[36m"
#define YELLOW "\033[33m"
#define RED "\033[31m"
#define RESET "\033[0m"
/* text between colour and RESET when on. */
void put_coloured(struct strbuf *out, bool on, const char *colour, const char *text);

#endif
