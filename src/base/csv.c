#include "base/csv.h"

#include <inttypes.h>
#include <string.h>

static const char mark[] = "\xef\xbb\xbf";

void csv_begin(struct csv *c, const char *text, size_t length)
{
	*c = (struct csv){ .at = text, .end = text + length };
	if (length >= strlen(mark) && memcmp(text, mark, strlen(mark)) == 0)
		c->at += strlen(mark);
}

void csv_release(struct csv *c)
{
	array_release(&c->fields);
	strbuf_release(&c->raw);
	*c = (struct csv){ 0 };
}

/* 0: neither; else how many bytes the end of line at c->at takes. */
static size_t line_end(const struct csv *c)
{
	if (c->at < c->end && *c->at == '\n')
		return 1;
	return c->end - c->at >= 2 && c->at[0] == '\r' && c->at[1] == '\n' ? 2 : 0;
}

static int bad(const struct csv *c, size_t field, const char *what, struct error *err)
{
	return error_set(err, EXIT_USAGE, "line %" PRIu64 ", field %zu: %s", c->lines + 1,
			 field + 1, what);
}

static int read_quoted(struct csv *c, size_t field, struct error *err)
{
	uint64_t begun = c->lines;
	for (c->at++; c->at < c->end; c->at++) {
		if (*c->at == '"') {
			c->at++;
			if (c->at == c->end || *c->at != '"')
				return 0;
		}
		if (!*c->at)
			return bad(c, field, "a byte of 0, which no text has", err);
		c->lines += *c->at == '\n';
		strbuf_putc(&c->raw, *c->at);
	}
	c->lines = begun; /* where it began helps more than where the file ends */
	return bad(c, field, "its quote is not closed", err);
}

static int read_plain(struct csv *c, size_t field, struct error *err)
{
	const char *from = c->at;
	for (; c->at < c->end && *c->at != ',' && !line_end(c); c->at++) {
		if (*c->at == '"')
			return bad(c, field, "a quote within a field that has none around it", err);
		if (!*c->at)
			return bad(c, field, "a byte of 0, which no text has", err);
	}
	strbuf_add(&c->raw, from, (size_t)(c->at - from));
	return 0;
}

int csv_next(struct csv *c, struct error *err)
{
	for (size_t n; (n = line_end(c)) != 0; c->lines++)
		c->at += n;
	if (c->at == c->end)
		return 0;
	uint64_t line = c->lines + 1;
	size_t count = 0;
	strbuf_clear(&c->raw);
	for (;; c->at++) {
		bool quoted = c->at < c->end && *c->at == '"';
		if (quoted ? read_quoted(c, count, err) : read_plain(c, count, err))
			return -1;
		if (c->at < c->end && *c->at != ',' && !line_end(c))
			return bad(c, count, "something follows its closing quote", err);
		strbuf_putc(&c->raw, '\0');
		count++;
		if (c->at == c->end || *c->at != ',')
			break;
	}
	size_t n = line_end(c);
	c->at += n;
	c->lines += n != 0;
	c->line = line;
	/* the record is complete, so its memory no longer moves */
	const char *field = c->raw.text;
	c->fields.count = 0;
	for (size_t i = 0; i < count; i++) {
		array_push(&c->fields, field);
		field += strlen(field) + 1;
	}
	return 1;
}
