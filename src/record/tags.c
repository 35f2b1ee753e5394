#include "record/tags.h"

#include <string.h>

#include "base/strbuf.h"

#define BLANKS " \t\n"

const char *tags_next(const char **at, size_t *length)
{
	const char *tag = *at + strspn(*at, BLANKS ",");
	*length = strcspn(tag, ",");
	*at = tag + *length;
	while (*length && strchr(BLANKS, tag[*length - 1]))
		--*length;
	return *length ? tag : NULL;
}

bool tags_any(const char *tags)
{
	size_t length;
	return tags_next(&tags, &length);
}

static bool has(const char *tags, const char *tag, size_t length)
{
	const char *other;
	size_t n;
	while ((other = tags_next(&tags, &n)))
		if (n == length && memcmp(other, tag, n) == 0)
			return true;
	return false;
}

static void put(struct strbuf *out, const char *tag, size_t length)
{
	while (out->length && strchr(BLANKS ",", out->text[out->length - 1]))
		out->text[--out->length] = '\0';
	if (out->length)
		strbuf_puts(out, ", ");
	strbuf_add(out, tag, length);
}

char *tags_change(const char *tags, const char *add, const char *remove)
{
	struct strbuf kept = { 0 };
	const char *at = tags ? tags : "", *tag;
	size_t length;
	bool differs = false;
	while ((tag = tags_next(&at, &length))) {
		if (remove && has(remove, tag, length))
			differs = true;
		else
			put(&kept, tag, length);
	}
	if (!differs) {
		strbuf_release(&kept);
		strbuf_puts(&kept, tags ? tags : "");
	}
	at = add ? add : "";
	while ((tag = tags_next(&at, &length)))
		if (!has(strbuf_text(&kept), tag, length))
			put(&kept, tag, length);
	return strbuf_detach(&kept);
}
