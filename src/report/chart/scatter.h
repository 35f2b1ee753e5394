/* Points as a plot in the terminal, in braille dots (2 x 4 in a cell) or ASCII. */
#ifndef TARE_REPORT_CHART_SCATTER_H
#define TARE_REPORT_CHART_SCATTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

struct scatter {
	const double *x, *y;
	const bool *marked; /* NULL: none; marked: a sign of their own, or theirs in parentheses */
	size_t count;
	double x_low, x_high, y_low, y_high;   /* points outside are drawn at the edge, as > or ^ */
	const char *title, *x_label, *y_label; /* NULL: none */
	bool times;			       /* the axes are ns: labelled with units */
	bool times_y;			       /* the y axis alone */
	bool log_x, log_y;		       /* logarithmic; what is not above 0 is left out */
	const char *signs; /* a sign for each point in place of dots; NULL: dots */
};
/* `width` columns with everything, at least 30; `height` lines within the axes, at least 2. Points
 * that are not finite are left out; bounds that are not finite are 0 and 1, of equal ones the value
 * is in the middle. Up to 200 points are • in place of dots: one dot is hard to see.
 * ASCII: . (few: o) one point, : several, # ten or more, x marked.
 * Where points of several signs meet, or marked and others, there is a *; returns whether there is
 * one. With marks, signs stand in wider cells: parentheses have room there, and two signs. */
bool scatter_text(const struct scatter *s, size_t width, size_t height, bool ascii, bool colour,
		  struct strbuf *out);

#endif
