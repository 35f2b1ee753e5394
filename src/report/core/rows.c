#include "report/core/rows.h"

#include <stdio.h>

#include "base/text.h"

struct row *rows_add(struct rows *rows, const char *label)
{
	array_push(&rows->list, (struct row){ 0 });
	struct row *row = &rows->list.items[rows->list.count - 1];
	snprintf(row->label, sizeof row->label, "%s", label);
	return row;
}

void rows_put(struct rows *rows, const struct style *style, struct strbuf *out)
{
	size_t widest = 0;
	array_each(row, &rows->list) {
		size_t width = row->spans ? 0 : text_width(row->left);
		widest = width > widest ? width : widest;
	}
	array_each(row, &rows->list) {
		put_columns(out, row->label, LABEL_COLUMNS);
		put_coloured(out, style->colour && row->colour, row->colour ? row->colour : "",
			     row->left);
		if (*row->right) {
			size_t used = LABEL_COLUMNS + text_width(row->left);
			size_t column = LABEL_COLUMNS + widest + 3;
			if (column + text_width(row->right) > style->width) {
				strbuf_putc(out, '\n');
				used = 0;
				column = LABEL_COLUMNS;
			}
			strbuf_pad(out, ' ', column - used);
			strbuf_puts(out, row->right);
		}
		strbuf_putc(out, '\n');
	}
	array_release(&rows->list);
}

void put_labelled(struct strbuf *out, const struct style *style, const char *label,
		  const char *colour, const char *text)
{
	struct strbuf first = { 0 };
	put_columns(&first, label, LABEL_COLUMNS);
	struct paragraph p = { .width = style->width,
			       .indent = LABEL_COLUMNS,
			       .first = strbuf_text(&first),
			       .colour = style->colour ? colour : NULL };
	put_paragraph(out, &p, text);
	strbuf_release(&first);
}

void put_labelled_text(struct strbuf *out, const struct style *style, const char *label,
		       const char *colour, struct strbuf *text)
{
	if (text->length)
		put_labelled(out, style, label, colour, strbuf_text(text));
	strbuf_release(text);
}
