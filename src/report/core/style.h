/* How to write a text for people. All kinds of report share it; what only one kind needs is in a
 * struct of its own. */
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
#define TIME_UNIT_SHORT "auto|ns|us|ms|s"

struct style {
	size_t width; /* columns; 0 means 80 for a text and no limit for a table */
	size_t lines; /* of the screen; 0: there is no screen, and nothing is too long */
	bool colour;
	bool ascii;	     /* no Unicode except in the user's own text */
	enum time_unit unit; /* of durations; auto: whatever fits each */
};

/* Fills in the defaults: 80 columns if no width is given, and at least 60. given may be NULL. */
struct style style_normal(const struct style *given);

/* Makes the text written since `from` ready to print: no-break spaces become plain ones, and
 * style->ascii replaces µ and …. Columns stay aligned. */
void style_finish(const struct style *style, struct strbuf *out, size_t from);
#define NO_BREAK "\u00a0"

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define GREEN "\033[1;32m"
#define CYAN "\033[36m"
#define YELLOW "\033[33m"
#define RED "\033[31m"
#define RESET "\033[0m"
/* Writes text between colour and RESET if `on`. */
void put_coloured(struct strbuf *out, bool on, const char *colour, const char *text);

#endif
