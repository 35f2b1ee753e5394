/* The layout of a block: labels in one column, figures in two more. Private to report/. */
#ifndef TARE_REPORT_CORE_ROWS_H
#define TARE_REPORT_CORE_ROWS_H

#include "base/array.h"
#include "report/core/format.h"

#define LABEL_COLUMNS 24 /* "  Process time (exec)" and a gap */

struct row {
	char label[WORDS];
	char left[WORDS], right[WORDS];
	const char *colour; /* of left; NULL: none */
	bool spans;	    /* left may extend into the third column */
};

struct rows {
	ARRAY(struct row) list;
};

struct row *rows_add(struct rows *rows, const char *label);
/* Writes the rows and empties the list. The third column begins after the widest figure of the
 * second; a figure that does not fit there goes on its own line. */
void rows_put(struct rows *rows, const struct style *style, struct strbuf *out);

/* "  label      text", wrapped within the second and third columns. */
void put_labelled(struct strbuf *out, const struct style *style, const char *label,
		  const char *colour, const char *text);

/* Like put_labelled(), for a strbuf, which is released. Writes nothing if it is empty. */
void put_labelled_text(struct strbuf *out, const struct style *style, const char *label,
		       const char *colour, struct strbuf *text);

#endif
