#include "csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"

static void fail(const char *why)
{
	fprintf(stderr, "not CSV: %s\n", why);
	abort();
}

/* One field; returns what follows it. */
static const char *field(const char *s, struct strbuf *out)
{
	if (*s != '"') {
		size_t n = strcspn(s, ",\n");
		if (memchr(s, '"', n) || memchr(s, '\r', n))
			fail("a quote or a CR in a bare field");
		strbuf_add(out, s, n);
		return s + n;
	}
	for (s++; *s; s++) {
		if (*s == '"' && s[1] != '"')
			return s + 1;
		s += *s == '"';
		strbuf_putc(out, *s);
	}
	fail("an open quote");
	return s;
}

void csv_parse(const char *text, struct csv *out)
{
	ARRAY(char *) cells = { 0 };
	size_t in_row = 0;
	*out = (struct csv){ 0 };
	while (*text) {
		struct strbuf cell = { 0 };
		text = field(text, &cell);
		array_push(&cells, strbuf_detach(&cell));
		in_row++;
		if (*text != ',' && *text != '\n')
			fail("text after a closing quote, or no final newline");
		if (*text++ == '\n') {
			out->columns = out->columns ? out->columns : in_row;
			if (in_row != out->columns)
				fail("rows of different length");
			out->rows++;
			in_row = 0;
		}
	}
	if (in_row)
		fail("a row without an end");
	out->cells = cells.items;
}

const char *csv_at(const struct csv *csv, size_t row, const char *column)
{
	for (size_t c = 0; c < csv->columns; c++)
		if (!strcmp(csv->cells[c], column) && row < csv->rows)
			return csv->cells[row * csv->columns + c];
	return NULL;
}

void csv_release(struct csv *csv)
{
	for (size_t i = 0; i < csv->rows * csv->columns; i++)
		xfree(csv->cells[i]);
	xfree(csv->cells);
}
