#include "report/core/style.h"

#include <string.h>

struct style style_normal(const struct style *given)
{
	struct style s = given ? *given : (struct style){ 0 };
	s.width = !s.width ? 80 : s.width < 60 ? 60 : s.width;
	return s;
}

void style_finish(const struct style *style, struct strbuf *out, size_t from)
{
	static const struct {
		const char *from;
		char to;
		bool ascii; /* only then */
	} changes[] = { { NO_BREAK, ' ', false }, { "µ", 'u', true }, { "…", '~', true } };
	if (!out->text)
		return;
	char *to = out->text + from;
	for (const char *at = to; *at;) {
		size_t length = 0;
		for (size_t i = 0; i < sizeof changes / sizeof *changes && !length; i++)
			if ((style->ascii || !changes[i].ascii) &&
			    !strncmp(at, changes[i].from, strlen(changes[i].from))) {
				length = strlen(changes[i].from);
				*to++ = changes[i].to;
			}
		if (!length)
			*to++ = *at;
		at += length ? length : 1;
	}
	*to = '\0';
	out->length = (size_t)(to - out->text);
}

void put_coloured(struct strbuf *out, bool on, const char *colour, const char *text)
{
	if (on)
		strbuf_puts(out, colour);
	strbuf_puts(out, text);
	if (on)
		strbuf_puts(out, RESET);
}
