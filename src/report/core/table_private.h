/* The inside of a table, for the renderers. Private to report/core/. */
#ifndef TARE_REPORT_CORE_TABLE_PRIVATE_H
#define TARE_REPORT_CORE_TABLE_PRIVATE_H

#include "base/array.h"
#include "report/core/table.h"

struct cell {
	bool present;
	char *text; /* the text of a COLUMN_TEXT, or how people see a figure; valid UTF-8 */
	int64_t integer;
	double number, spread; /* spread: NaN if none */
	struct scale scale;    /* only for this cell; ns 0: none */
	const char *colour;    /* NULL: none */
	char *shorter;	       /* shown if the text does not fit; NULL: the text is cut */
};

struct table {
	struct column *columns;
	char **strings; /* the names and titles of the columns, owned */
	size_t width;	/* columns */
	ARRAY(struct cell) cells;
};

const struct cell *table_cell(const struct table *t, size_t row, size_t column);
/* The column's name with its unit. The caller frees it. */
char *table_key(const struct column *c);
/* A cell as people see it, on one line. The caller frees it. style may be NULL. */
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
