/* What every text for people must hold, and what this one must. */
#ifndef TARE_TEST_TEXT_LINES_H
#define TARE_TEST_TEXT_LINES_H

#include <stdbool.h>

#include "base/strbuf.h"

void assert_has(const struct strbuf *out, const char *text);
void assert_has_not(const struct strbuf *out, const char *text);
/* No line is wider than asked or has spaces at its end, the last one ends, nothing is no number; in
 * ASCII when asked for. Returns how many lines there are. */
size_t assert_lines(const struct strbuf *out, size_t width, bool ascii);

#endif
