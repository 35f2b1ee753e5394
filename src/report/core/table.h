/* One typed table, many renderers. Cells are added row by row, from left to right; a row is
 * complete when its last cell is added. Only complete rows are rendered.
 *
 * A row is filled once, for people and for programs: what a column is called, who sees it, from
 * which width on, and with how many digits is said by the column. */
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
	COLUMN_TEXT,	 /* any bytes: made valid UTF-8 by every renderer */
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
	const char *name;  /* snake_case, for machines; the unit is added to it */
	const char *title; /* for people */
	enum column_type type;
	enum audience only;
	bool code;   /* text: marked up as code where the format has that */
	bool right;  /* text: aligned like numbers */
	bool if_any; /* people do not see it where no row has anything in it */

	/* How figures look for people. */
	int digits;	     /* significant ones; 0: 4, of a share 2 */
	int decimals;	     /* DECIMALS(n): exactly so many; 0: as the digits say */
	enum time_unit unit; /* duration: always in this one; auto: as fits */
	bool common; /* one number of decimals for all rows: 2, from 10,000 on 1, from 10^6 none */
	bool bare;   /* without unit or % */
	bool sign;   /* a change: "+3" */
	bool thousands; /* count: "12,345" */
	bool spread;	/* "12.3 ± 0.4": the next column is the spread, and only data on its own */

	/* What fits into a terminal. */
	const char *ascii; /* the title in ASCII, where it is another */
	size_t from;	   /* not there in narrower terminals */
	int spare;	   /* left out where there is no room, the highest first; 0: never */
	size_t least;	   /* text: columns that still say what it is; 0: 16 */
	size_t most;	   /* text: in a terminal not wider than this; 0: as wide as it wants */
	int whole;	   /* text: it is cut only when no column of this spare or more is left */
	bool middle;	   /* text: cut in the middle, as both ends matter */
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

/* names and titles are copied. */
struct table *table_new(const struct column *columns, size_t count);
void table_free(struct table *t);

/* The next cell. The type of its column must agree; a bool of a COUNT is 0 or 1. */
void table_add_text(struct table *t, const char *text); /* copied; NULL: absent */
void table_add_count(struct table *t, int64_t count);
void table_add_number(struct table *t, double value); /* DURATION … REAL; not finite: absent */
void table_add_date(struct table *t, int64_t realtime_ns);
void table_add_absent(struct table *t); /* "-" for people, null in JSON, empty in CSV and TSV */
/* Figures that people see in a way of their own: in a unit and decimals that the row chooses, or
 * as any text ("10 of 20", "none", "(1.2 ms)"). A value that is not finite is absent as data. */
void table_add_scaled(struct table *t, double value, const struct scale *scale);
void table_add_shown(struct table *t, double value, const char *shown);
/* Text that is known by a shorter one, too: that is shown, and cut, where it does not fit. */
void table_add_either(struct table *t, const char *text, const char *shorter);
/* The colour of the last cell, where the style has colours. */
void table_paint(struct table *t, const char *colour);

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

/* Every line ends with a newline. style may be NULL: any width, no colour. In a text, columns with
 * a `spare` are left out before text becomes unreadable; then text columns give way, figures never.
 */
void table_render(const struct table *t, enum table_format format, const struct style *style,
		  struct strbuf *out);
/* As text; frees it. */
void table_put(struct table *t, const struct style *style, struct strbuf *out);

#endif
