/* One typed table, many renderers. Cells are added row by row, from left to right; a row is
 * complete when its last cell is added. Only complete rows are rendered. */
#ifndef TARE_REPORT_CORE_TABLE_H
#define TARE_REPORT_CORE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "record/field.h"

enum column_type {
	COLUMN_TEXT,	 /* any bytes: made valid UTF-8 by every renderer */
	COLUMN_COUNT,	 /* an integer */
	COLUMN_DURATION, /* ns */
	COLUMN_BYTES,
	COLUMN_PERCENT, /* a fraction: 0.25 is 25 % */
	COLUMN_RATIO,
	COLUMN_REAL,
	COLUMN_DATE, /* CLOCK_REALTIME ns */
};

struct column {
	const char *name;  /* snake_case, for machines; the unit is added to it */
	const char *title; /* for people */
	enum column_type type;
	bool code;  /* text: marked up as code where the format has that */
	bool right; /* text: aligned like numbers */
	int digits; /* duration: significant digits for people; 0: 4 */
	int unit;   /* duration: for people in this enum time_unit (report/time.h); 0: as fits */
	int spare;  /* text: left out where there is no room, the highest first; 0: never */
};

enum table_format {
	TABLE_TEXT,
	TABLE_JSON,
	TABLE_CSV,
	TABLE_TSV,
	TABLE_MARKDOWN,
	TABLE_ASCIIDOC,
	TABLE_ORGMODE,
};

struct table_style {
	/* text: columns to fit into; 0: any. Columns with a `spare` are left out before text
	 * becomes unreadable; then text columns give way, figures never. */
	size_t width;
	bool colour; /* text: a bold header */
};

struct table;

/* names and titles are copied. */
struct table *table_new(const struct column *columns, size_t count);
void table_free(struct table *t);

/* The next cell. The type of its column must agree; a bool of a COUNT is 0 or 1. */
void table_add_text(struct table *t, const char *text); /* copied; NULL: absent */
void table_add_count(struct table *t, int64_t count);
void table_add_number(struct table *t, double value); /* DURATION … REAL; not finite: absent */
void table_add_date(struct table *t, int64_t realtime_ns);
void table_add_absent(struct table *t); /* "-" for people, null in JSON, empty in CSV and TSV */

/* The next cells: a struct by its rows of the catalogue, of which `columns` were made for it. */
void table_add_fields(struct table *t, const struct field *fields, const void *object);

/* Columns that are put together one by one; table_of() takes them and leaves them empty. Names are
 * copied. */
struct columns {
	ARRAY(struct column) list;
};
void columns_add(struct columns *c, enum column_type type, const char *prefix, const char *name);
void columns_add_fields(struct columns *c, const struct field *fields);
struct table *table_of(struct columns *c);

size_t table_rows(const struct table *t);

/* style may be NULL (any width, no colour). Every line ends with a newline. */
void table_render(const struct table *t, enum table_format format, const struct table_style *style,
		  struct strbuf *out);

#endif
