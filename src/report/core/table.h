/* One typed table, many renderers. Cells are added row by row, from left to right; a row is
 * complete when its last cell is added. Only complete rows are rendered.  A row is filled once, for
 * people and for programs. The column says what it is called, who sees it, how wide a terminal it
 * needs, and with how many digits it is shown. */
#ifndef TARE_REPORT_CORE_TABLE_H
#define TARE_REPORT_CORE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "record/field.h"
#include "report/core/format.h"
#include "report/core/style.h"

enum column_type {
	COLUMN_TEXT,	 /* any bytes; every renderer makes them valid UTF-8 */
	COLUMN_COUNT,	 /* an integer */
	COLUMN_DURATION, /* ns */
	COLUMN_BYTES,
	COLUMN_PERCENT, /* a fraction: 0.25 is 25 % */
	COLUMN_RATIO,
	COLUMN_REAL,
	COLUMN_DATE, /* CLOCK_REALTIME ns */
};

enum audience {
	FOR_ALL,
	FOR_PEOPLE, /* text, Markdown, AsciiDoc, Org mode */
	FOR_DATA,   /* JSON, CSV, TSV */
};

struct column {
	const char *name;  /* snake_case, for programs; the unit is appended */
	const char *title; /* for people */
	enum column_type type;
	enum audience only;
	bool code;   /* text: marked up as code if the format supports it */
	bool right;  /* text: aligned like numbers */
	bool if_any; /* people see it only if some row has a value */

	/* How figures look for people. */
	int digits;	     /* significant ones; 0: 4, or 2 for a share */
	int decimals;	     /* DECIMALS(n): exactly n; 0: derived from the digits */
	enum time_unit unit; /* duration: always this unit; auto: whatever fits */
	bool common; /* all rows have the same decimals: 2, from 10,000 on 1, from 10^6 on none */
	bool bare;   /* without unit or % */
	bool sign;   /* a change: "+3" */
	bool thousands; /* count: "12,345" */
	bool spread;	/* "12.3 ± 0.4": with the next column, which is separate only in data */

	/* How it fits a terminal. */
	const char *ascii; /* the title in ASCII, if it differs */
	size_t from;	   /* narrower terminals omit it */
	int spare;	   /* omitted if there is no room, highest first; 0: never */
	size_t least;	   /* text: the fewest columns that are still readable; 0: 16 */
	size_t most;	   /* text: at most this wide in a terminal; 0: no limit */
	int whole;   /* text: cut only after all columns with this spare or more are omitted */
	bool middle; /* text: cut in the middle, because both ends matter */
};
#define DECIMALS(n) ((n) + 1)

enum table_format {
	TABLE_TEXT,
	TABLE_JSON,
	TABLE_CSV,
	TABLE_TSV,
	TABLE_MARKDOWN,
	TABLE_ASCIIDOC,
	TABLE_ORGMODE,
};

struct table;

/* Names and titles are copied. */
struct table *table_new(const struct column *columns, size_t count);
void table_free(struct table *t);

/* Each adds the next cell. The type of its column must match; a bool in a COUNT is 0 or 1. */
void table_add_text(struct table *t, const char *text); /* copied; NULL: absent */
void table_add_count(struct table *t, int64_t count);
void table_add_number(struct table *t, double value); /* DURATION … REAL; absent if not finite */
void table_add_date(struct table *t, int64_t realtime_ns);
void table_add_absent(struct table *t); /* "-" for people, null in JSON, empty in CSV and TSV */
/* Figures that people see in a special form: with the row's own unit and decimals, or as any text
 * ("10 of 20", "none", "(1.2 ms)"). A value that is not finite is absent in data formats. */
void table_add_scaled(struct table *t, double value, const struct scale *scale);
void table_add_shown(struct table *t, double value, const char *shown);
/* A text with a shorter form, which is shown, and cut if needed, where the text does not fit. */
void table_add_either(struct table *t, const char *text, const char *shorter);
/* Sets the colour of the last cell, if the style has colours. */
void table_paint(struct table *t, const char *colour);

/* Adds the cells of a struct. Its columns must be made from the same rows of the catalogue. */
void table_add_fields(struct table *t, const struct field *fields, const void *object);

/* Collects columns one by one. table_of() makes the table and empties the list. Copies names. */
struct columns {
	ARRAY(struct column) list;
};
void columns_add(struct columns *c, enum column_type type, const char *prefix, const char *name);
void columns_add_fields(struct columns *c, const struct field *fields);
struct table *table_of(struct columns *c);

size_t table_rows(const struct table *t);

/* Every line ends with a newline. style may be NULL: any width, no colour. In a text, columns with
 * a `spare` are omitted first, then text columns are cut. Figures are never cut. */
void table_render(const struct table *t, enum table_format format, const struct style *style,
		  struct strbuf *out);
/* Renders the table as text and frees it. */
void table_put(struct table *t, const struct style *style, struct strbuf *out);

#endif
