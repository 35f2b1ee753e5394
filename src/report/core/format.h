/* Formats numbers and lines for the reports. */
#ifndef TARE_REPORT_CORE_FORMAT_H
#define TARE_REPORT_CORE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "record/execution.h"
#include "report/core/style.h"
#include "stats/summary.h"

#define WORDS 160 /* room for any formatted number or pair of numbers */

/* One unit and one number of decimals for figures that are shown side by side. */
struct scale {
	double ns;	  /* ns in one unit */
	const char *unit; /* "ms" */
	int decimals;
};

enum time_unit natural_unit(double ns);
/* Uses the given unit, or the natural one for a time of this length, with decimals for three
 * significant digits. */
struct scale scale_for(double ns, enum time_unit unit);
/* Like scale_for(), with as many decimals as the standard error of the mean supports: one
 * significant digit of it, or two if that digit is 1. */
struct scale scale_of_summary(const struct summary *s, enum time_unit unit);

/* "1.002 s" */
void format_time(double ns, const struct scale *scale, char out[WORDS]);
/* "1.002" */
void format_figure(double ns, const struct scale *scale, char out[WORDS]);
/* "1.23 ms": `digits` significant digits in its natural unit, or three in the given one. */
void format_duration(double ns, int digits, enum time_unit unit, char out[WORDS]);
/* A duration with three digits and a no-break space, for texts that end with style_finish(). */
void format_ns(double ns, char out[WORDS]);
/* "0.10 %": a fraction with two significant digits. */
void format_percent(double fraction, char out[WORDS]);
/* "12.34 %": a fraction with this many decimals and a no-break space. It writes "<0.01 %" instead
 * of a rounded 0, ">99.99 %" instead of a rounded 100, and "-" for NaN. */
void format_share(double fraction, int decimals, char out[WORDS]);
/* "12.3": percent or points without the sign, "<0.1" instead of a rounded 0, "-" for NaN. */
void format_points(double fraction, int decimals, char out[WORDS]);
/* "12,345" */
void format_count(uint64_t n, char out[WORDS]);
/* "12.3 M": a number with three digits. */
void format_amount(double value, char out[WORDS]);
/* "p = 0.008", "p < 0.001" */
void format_p(double p, char out[WORDS]);
/* How many decimals of a ratio its spread supports; 2 without a spread. */
int ratio_decimals(double spread);
/* The shortest decimal that reads back as the same double. */
void format_exact(double value, char out[WORDS]);
/* ISO 8601 in UTC with milliseconds: "2026-11-15T09:12:33.123Z". */
void format_iso8601(int64_t realtime_ns, char out[WORDS]);

/* A figure as an argument of one call: AS_NS(x). */
#define AS_WORDS(format, value) (format_words(format, value).text)
#define AS_NS(ns) AS_WORDS(format_ns, ns)
#define AS_PERCENT(fraction) AS_WORDS(format_percent, fraction)
#define AS_POINTS(fraction, decimals) (format_decimals(format_points, fraction, decimals).text)
#define AS_SHARE(fraction) (format_decimals(format_share, fraction, 2).text)
struct words {
	char text[WORDS];
};
struct words format_words(void (*format)(double, char[WORDS]), double value);
struct words format_decimals(void (*format)(double, int, char[WORDS]), double value, int decimals);

/* A copy that prints on one line (text_display() without a limit). The caller frees it. */
char *display_copy(const char *s);
/* Cuts s (valid UTF-8) to `columns`, with "…" at its end. put_middle() cuts the middle, for texts
 * whose ends both matter. */
void put_fitted(struct strbuf *out, const char *s, size_t columns);
void put_middle(struct strbuf *out, const char *s, size_t columns);
void put_columns(struct strbuf *out, const char *s, size_t columns); /* padded with spaces */

/* Writes `first` and then the words of text, in lines of at most `width` columns, and ends with a
 * newline. Later lines begin with `indent` spaces. A word longer than a line is broken. Text beyond
 * `lines` lines (0: no limit) is cut with "…". */
struct paragraph {
	size_t width, indent, lines;
	const char *first;
	const char *colour; /* of the text after `first`; NULL: none */
};
void put_paragraph(struct strbuf *out, const struct paragraph *p, const char *text);
/* One or more sentences as a paragraph of the style's width, with any number of lines. */
void put_wrapped(struct strbuf *out, const struct style *style, const char *first, size_t indent,
		 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* The headline of a report: bold, at most three lines. */
void put_headline(struct strbuf *out, size_t width, bool colour, const char *text);
/* " (interrupted)", for a headline; "" for a complete run or NULL. */
const char *run_state_words(const struct run *run);

/* The time without the shell's own cost, never below 0. */
double less_shell(uint64_t ns, uint64_t shell_ns);

#endif
