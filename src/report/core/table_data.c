/* Tables for programs: numbers in base units, nothing rounded. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "report/core/format.h"
#include "report/core/json.h"
#include "report/core/table_private.h"

static json_t *json_cell(const struct column *column, const struct cell *cell)
{
	char date[WORDS];
	if (!cell->present)
		return json_null();
	switch (column->type) {
	case COLUMN_TEXT:
		return json_string(cell->text);
	case COLUMN_COUNT:
		return json_integer(cell->integer);
	case COLUMN_DATE:
		format_iso8601(cell->integer, date);
		return json_string(date);
	case COLUMN_PERCENT:
		return json_real(cell->number * 100);
	default:
		return json_real(cell->number);
	}
}

void table_render_json(const struct table *t, struct strbuf *out)
{
	json_t *rows = json_array();
	for (size_t r = 0; r < table_rows(t); r++) {
		json_t *row = json_object();
		for (size_t c = 0; c < t->width; c++) {
			char *key = table_key(&t->columns[c]);
			json_object_set_new(row, key,
					    json_cell(&t->columns[c], table_cell(t, r, c)));
			xfree(key);
		}
		json_array_append_new(rows, row);
	}
	put_json(rows, 2, out);
}

static void put_raw(const struct column *column, const struct cell *cell, char out[WORDS])
{
	switch (column->type) {
	case COLUMN_COUNT:
		snprintf(out, WORDS, "%lld", (long long)cell->integer);
		break;
	case COLUMN_DATE:
		format_iso8601(cell->integer, out);
		break;
	case COLUMN_PERCENT:
		/* the product brings noise in the 17th digit */
		snprintf(out, WORDS, "%.15g", cell->number * 100);
		break;
	default:
		format_exact(cell->number, out);
	}
}

/* RFC 4180: quoted where needed, quotes doubled. Lines end in LF, as hyperfine's do: a CR would end
 * up in the last field of whatever splits on newlines. */
static void put_csv(struct strbuf *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n") && *text != ' ' && *text != '\t') {
		strbuf_puts(out, text);
		return;
	}
	strbuf_putc(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			strbuf_putc(out, '"');
		strbuf_putc(out, *text);
	}
	strbuf_putc(out, '"');
}

/* PostgreSQL's COPY and most readers of TSV agree on these escapes. */
static void put_tsv(struct strbuf *out, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '\t':
			strbuf_puts(out, "\\t");
			break;
		case '\n':
			strbuf_puts(out, "\\n");
			break;
		case '\r':
			strbuf_puts(out, "\\r");
			break;
		case '\\':
			strbuf_puts(out, "\\\\");
			break;
		default:
			strbuf_putc(out, *text);
		}
}

static void render_lines(const struct table *t, char separator,
			 void (*put)(struct strbuf *, const char *), struct strbuf *out)
{
	for (size_t c = 0; c < t->width; c++) {
		char *key = table_key(&t->columns[c]);
		if (c)
			strbuf_putc(out, separator);
		put(out, key);
		xfree(key);
	}
	strbuf_putc(out, '\n');
	for (size_t r = 0; r < table_rows(t); r++) {
		for (size_t c = 0; c < t->width; c++) {
			const struct cell *cell = table_cell(t, r, c);
			char raw[WORDS] = "";
			if (c)
				strbuf_putc(out, separator);
			if (cell->present && t->columns[c].type != COLUMN_TEXT)
				put_raw(&t->columns[c], cell, raw);
			put(out,
			    t->columns[c].type == COLUMN_TEXT && cell->text ? cell->text : raw);
		}
		strbuf_putc(out, '\n');
	}
}

void table_render_csv(const struct table *t, struct strbuf *out)
{
	render_lines(t, ',', put_csv, out);
}

void table_render_tsv(const struct table *t, struct strbuf *out)
{
	render_lines(t, '\t', put_tsv, out);
}
