/* Numbers and names of duets in words. Private to report/. */
#ifndef TARE_REPORT_DUET_WORDS_H
#define TARE_REPORT_DUET_WORDS_H

#include "report/duet/report.h"

#define DUET_NAME 40 /* columns of a name in a sentence */

/* How a ratio is said: as a change in percent, or as a multiple if it is large. */
struct duet_figures {
	char change[WORDS];   /* "1.8 % faster", "2.3 times as fast", "2.3 times as long" */
	char interval[WORDS]; /* "[1.5, 2.1] %", "[2.1, 2.5]"; "": unknown */
	char ratio[WORDS];    /* "0.982 [0.979, 0.985]"; "-": unknown */
};
struct duet_figures duet_figures_of(double ratio, double low, double high);

/* "new is 1.8 % faster than old" */
const char *duet_change(const char *other, const char *base, const struct duet_figures *f,
			struct strbuf *out);

/* A mean of what is compared: "12.3 ms", or "12.3 M" if it is a count. */
void duet_format_mean(const struct duet_view *v, double mean, int digits, enum time_unit unit,
		      char out[WORDS]);

/* Whether a name is too long for a sentence. Then the sides are called A, B, ...: cut, two commands
 * that differ in an argument would look alike. */
bool duet_lettered(const struct duet *d);
/* The name on one line, or the letter; the caller frees it. */
char *duet_name(const struct duet *d, size_t side);

/* The interval on an axis of `columns` columns from log_low to log_high: "  ├──•──┤ │  ". */
void duet_forest_row(double ratio, double low, double high, double log_low, double log_high,
		     size_t columns, bool ascii, struct strbuf *out);
/* The range for the rows, with 1 within it. */
struct duet_range {
	double low, high; /* of the logarithm */
};
void duet_range_add(struct duet_range *r, double ratio, double low, double high);

#endif
