/* Tables for documents: Markdown as GitHub reads it, AsciiDoc, Org mode; laid out as hyperfine does
 * it. */
#include <string.h>

#include "report/core/table_private.h"

static void put_escaped(struct strbuf *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (strchr(special, *text))
			strbuf_putc(out, '\\');
		strbuf_putc(out, *text);
	}
}

/* A code span is fenced by more backticks than it holds in a row. In a GitHub table even code needs
 * its pipes escaped. */
static void put_markdown_code(struct strbuf *out, const char *text)
{
	size_t longest = 0, run = 0;
	for (const char *s = text; *s; s++) {
		run = *s == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	bool pad = longest && (*text == '`' || text[strlen(text) - 1] == '`');
	strbuf_pad(out, '`', longest + 1);
	strbuf_puts(out, pad ? " " : "");
	put_escaped(out, text, "|");
	strbuf_puts(out, pad ? " " : "");
	strbuf_pad(out, '`', longest + 1);
}

static bool is_code(const struct table *t, size_t row, size_t column)
{
	return t->columns[column].code && table_cell(t, row, column)->present;
}

void table_render_markdown(const struct table *t, struct strbuf *out)
{
	for (size_t c = 0; c < t->width; c++) {
		strbuf_puts(out, c ? " | " : "| ");
		/* a heading is ours, and brackets that no link follows need no escape */
		put_escaped(out, t->columns[c].title, "|");
	}
	strbuf_puts(out, " |\n|");
	for (size_t c = 0; c < t->width; c++)
		strbuf_puts(out, table_right(&t->columns[c]) ? "---:|" : ":---|");
	strbuf_putc(out, '\n');
	for (size_t r = 0; r < table_rows(t); r++) {
		for (size_t c = 0; c < t->width; c++) {
			char *text = table_display(t, r, c, NULL);
			strbuf_puts(out, c ? " | " : "| ");
			if (is_code(t, r, c) && *text)
				put_markdown_code(out, text);
			else
				put_escaped(out, text, "\\`*_[]<>|~#&");
			xfree(text);
		}
		strbuf_puts(out, " |\n");
	}
}

void table_render_asciidoc(const struct table *t, struct strbuf *out)
{
	strbuf_puts(out, "[cols=\"");
	for (size_t c = 0; c < t->width; c++)
		strbuf_printf(out, "%s%s", c ? "," : "", table_right(&t->columns[c]) ? ">" : "<");
	strbuf_puts(out, "\", options=\"header\"]\n|===\n");
	for (size_t c = 0; c < t->width; c++) {
		strbuf_puts(out, "| ");
		put_escaped(out, t->columns[c].title, "|");
		strbuf_putc(out, '\n');
	}
	for (size_t r = 0; r < table_rows(t); r++) {
		strbuf_putc(out, '\n');
		for (size_t c = 0; c < t->width; c++) {
			char *text = table_display(t, r, c, NULL);
			const char *mark = is_code(t, r, c) ? "`" : "";
			strbuf_printf(out, "| %s", mark);
			put_escaped(out, text, "|");
			strbuf_printf(out, "%s\n", mark);
			xfree(text);
		}
	}
	strbuf_puts(out, "|===\n");
}

/* Org has no escape for a pipe in a table but its entity. */
static void put_org(struct strbuf *out, const char *text)
{
	for (; *text; text++)
		if (*text == '|')
			strbuf_puts(out, "\\vert{}");
		else
			strbuf_putc(out, *text);
}

void table_render_orgmode(const struct table *t, struct strbuf *out)
{
	for (size_t c = 0; c < t->width; c++) {
		strbuf_puts(out, c ? " | " : "| ");
		put_org(out, t->columns[c].title);
	}
	strbuf_puts(out, " |\n|");
	for (size_t c = 0; c < t->width; c++)
		strbuf_puts(out, c ? "+--" : "--");
	strbuf_puts(out, "|\n");
	for (size_t r = 0; r < table_rows(t); r++) {
		for (size_t c = 0; c < t->width; c++) {
			char *text = table_display(t, r, c, NULL);
			const char *mark = is_code(t, r, c) ? "=" : "";
			strbuf_printf(out, "%s%s", c ? " | " : "| ", mark);
			put_org(out, text);
			strbuf_puts(out, mark);
			xfree(text);
		}
		strbuf_puts(out, " |\n");
	}
}
