/* What the renderers see of a table: private to report/core/. */
#ifndef TARE_REPORT_CORE_TABLE_PRIVATE_H
#define TARE_REPORT_CORE_TABLE_PRIVATE_H

#include "base/array.h"
#include "report/core/table.h"

struct cell {
	bool present;
	char *text; /* COLUMN_TEXT, or what people see of a figure; valid UTF-8 */
	int64_t integer;
	double number, spread; /* spread: NaN: none */
	struct scale scale;    /* its own; ns 0: none */
	const char *colour;    /* NULL: none */
	char *shorter;	       /* shown where the text does not fit; NULL: that itself, cut */
};

struct table {
	struct column *columns;
	char **strings; /* their names and titles, owned */
	size_t width;	/* columns */
	ARRAY(struct cell) cells;
};

const struct cell *table_cell(const struct table *t, size_t row, size_t column);
/* The column's name with its unit; the caller frees. */
char *table_key(const struct column *c);
/* A cell as people read it, on one line; the caller frees. style may be NULL. */
char *table_display(const struct table *t, size_t row, size_t column, const struct style *style);
bool table_right(const struct column *c);

void table_render_text(const struct table *t, const struct style *style, struct strbuf *out);
void table_render_json(const struct table *t, struct strbuf *out);
void table_render_csv(const struct table *t, struct strbuf *out);
void table_render_tsv(const struct table *t, struct strbuf *out);
void table_render_markdown(const struct table *t, struct strbuf *out);
void table_render_asciidoc(const struct table *t, struct strbuf *out);
void table_render_orgmode(const struct table *t, struct strbuf *out);

#endif
