#include "text-lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

void assert_has(const struct strbuf *out, const char *text)
{
	if (!strstr(strbuf_text(out), text))
		fail_msg("\"%s\" is not in:\n%s", text, strbuf_text(out));
}

void assert_has_not(const struct strbuf *out, const char *text)
{
	if (strstr(strbuf_text(out), text))
		fail_msg("\"%s\" is in:\n%s", text, strbuf_text(out));
}

static void assert_line(const char *line, size_t width, bool ascii)
{
	size_t length = strlen(line);
	if (text_width(line) > width)
		fail_msg("%zu columns: %s", text_width(line), line);
	if (length && line[length - 1] == ' ')
		fail_msg("spaces at the end: %s", line);
	for (size_t i = 0; ascii && i < length; i++)
		if ((unsigned char)line[i] >= 0x80)
			fail_msg("no ASCII: %s", line);
}

size_t assert_lines(const struct strbuf *out, size_t width, bool ascii)
{
	size_t lines = 0;
	char *copy = strdup(strbuf_text(out)), *rest = copy, *line;
	for (; (line = strsep(&rest, "\n")) && rest; lines++)
		assert_line(line, width, ascii);
	assert_string_equal(line, "");
	free(copy);
	assert_has_not(out, "nan");
	assert_has_not(out, "inf ");
	assert_has_not(out, "\u00a0");
	return lines;
}
