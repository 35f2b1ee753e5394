/* The layout of a block: labels in one column, figures in a second and third: private to report/.
 */
#ifndef TARE_REPORT_CORE_ROWS_H
#define TARE_REPORT_CORE_ROWS_H

#include "base/array.h"
#include "report/core/format.h"

#define LABEL_COLUMNS 24 /* "  Process time (exec)" and a gap */

struct row {
	char label[WORDS];
	char left[WORDS], right[WORDS];
	const char *colour; /* of left; NULL: none */
	bool spans;	    /* left may run into the third column */
};

struct rows {
	ARRAY(struct row) list;
};

struct row *rows_add(struct rows *rows, const char *label);
/* Writes and empties them. The third column begins where the widest figure of the second ends; a
 * figure that does not fit there goes to a line of its own. */
void rows_put(struct rows *rows, const struct style *style, struct strbuf *out);

/* "  label      text", wrapped within the second column on. */
void put_labelled(struct strbuf *out, const struct style *style, const char *label,
		  const char *colour, const char *text);

/* The same for what was put together, which is released; nothing where it is empty. */
void put_labelled_text(struct strbuf *out, const struct style *style, const char *label,
		       const char *colour, struct strbuf *text);

#endif
