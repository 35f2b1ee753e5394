/* How the reports write numbers and lines. */
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

/* One unit and one number of decimals for figures that stand beside each other. */
struct scale {
	double ns;	  /* ns in one unit */
	const char *unit; /* "ms" */
	int decimals;
};

enum time_unit natural_unit(double ns);
/* The unit asked for, or the natural one of a time this long; enough decimals for three digits. */
struct scale scale_for(double ns, enum time_unit unit);
/* The same, with the decimals that the standard error of the mean supports: one significant digit
 * of it, two when that digit is 1. */
struct scale scale_of_summary(const struct summary *s, enum time_unit unit);

/* "1.002 s" */
void format_time(double ns, const struct scale *scale, char out[WORDS]);
/* "1.002" */
void format_figure(double ns, const struct scale *scale, char out[WORDS]);
/* "1.23 ms": so many significant digits in its own unit, or three in the one asked for. */
void format_duration(double ns, int digits, enum time_unit unit, char out[WORDS]);
/* A duration to three digits whose space does not break lines; for texts that end with
 * style_finish(). */
void format_ns(double ns, char out[WORDS]);
/* "0.10 %" of a fraction: two significant digits. */
void format_percent(double fraction, char out[WORDS]);
/* "12.34 %" of a fraction: so many decimals; "<0.01 %" rather than 0, ">99.99 %" rather than 100
 * while anything is left; "-" for NaN. Its space does not break lines. */
void format_share(double fraction, int decimals, char out[WORDS]);
/* "12.3": percent or points without their sign, "<0.1" rather than 0; "-" for NaN. */
void format_points(double fraction, int decimals, char out[WORDS]);
/* "12,345" */
void format_count(uint64_t n, char out[WORDS]);
/* "p = 0.008", "p < 0.001" */
void format_p(double p, char out[WORDS]);
/* A ratio with as many digits as its spread supports; 2 decimals without one. */
int ratio_decimals(double spread);
/* The shortest decimal that reads back as the same double. */
void format_exact(double value, char out[WORDS]);
/* ISO 8601 in UTC with milliseconds: "2026-11-15T09:12:33.123Z". */
void format_iso8601(int64_t realtime_ns, char out[WORDS]);

/* A copy that prints on one line, whatever the bytes (text_display() without a limit); the caller
 * frees. */
char *display_copy(const char *s);
/* s (valid UTF-8) cut to `columns` with "…" at its end, or in its middle where both ends matter. */
void put_fitted(struct strbuf *out, const char *s, size_t columns);
void put_middle(struct strbuf *out, const char *s, size_t columns);
void put_columns(struct strbuf *out, const char *s, size_t columns); /* padded with spaces */

/* `first` then the words of text, in lines of at most `width` columns; later lines begin with
 * `indent` spaces. A word longer than a line is broken. Ends with a newline. At most `lines` lines
 * (0: any number), the last then ends with "…". */
struct paragraph {
	size_t width, indent, lines;
	const char *first;
	const char *colour; /* of the text after `first`; NULL: none */
};
void put_paragraph(struct strbuf *out, const struct paragraph *p, const char *text);
/* A sentence or more of a report: as a paragraph of the style's width, without a limit of lines. */
void put_wrapped(struct strbuf *out, const struct style *style, const char *first, size_t indent,
		 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* What a report begins with: bold, and not more than three lines of it. */
void put_headline(struct strbuf *out, size_t width, bool colour, const char *text);
/* " (interrupted)", for a headline; "" for a run that is complete or NULL. */
const char *run_state_words(const struct run *run);

/* Times as the protocol sees them: the shell's own cost taken off, never below 0. */
double less_shell(uint64_t ns, uint64_t shell_ns);

#endif
