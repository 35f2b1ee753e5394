/* A chart as data: axes, blocks of numbers, and series that say how to draw which columns of a
 * block. It is built once, by a function of charts.h, and drawn by three back ends: as a gnuplot
 * script with its data, as text in the terminal, and as JSON for the page. Times are kept in ns; an
 * axis says what they are divided by for display. */
#ifndef TARE_REPORT_CHART_CHART_H
#define TARE_REPORT_CHART_CHART_H

#include <jansson.h>
#include <math.h>

#include "base/array.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "record/execution.h"
#include "record/machine.h"
#include "record/noise.h"
#include "report/core/format.h"

/* ---- colours ---- */

/* The role of a series. Each back end derives its colour, sign and line from it. */
enum chart_role {
	CHART_KEPT,
	CHART_OUTSIDE, /* dropped by rule (II), or outside the cluster */
	CHART_CUTOFF,  /* dropped by rule (I) */
	CHART_FAILED,
	CHART_CROSS,  /* a sign on something that was dropped */
	CHART_RING,   /* a sign around something that changes */
	CHART_BAR,    /* ordinary bars: user code, or what the kernel reported */
	CHART_KERNEL, /* bars of kernel code */
	CHART_INFERRED,
	CHART_FRAME, /* an empty bar, whose parts are unknown */
	CHART_REST,
	CHART_INTERVAL,
	CHART_SPREAD,		     /* an interval that is drawn less strongly */
	CHART_GUIDE,		     /* a reference line */
	CHART_VALUE,		     /* coloured by the value of its last column, -1 to 1 */
	CHART_PEN,		     /* and CHART_PENS - 1 more: distinguishable lines */
	CHART_CAUSE = CHART_PEN + 8, /* and LEDGER_CAUSES - 1 more */
	CHART_CLASS = CHART_CAUSE + (int)LEDGER_CAUSES, /* and NOISE_CLASSES - 1 more */
	CHART_ROLES = CHART_CLASS + (int)NOISE_CLASSES,
};
#define CHART_PENS 8

struct chart_colour {
	const char *light, *dark; /* "#rrggbb", on white and on black */
};
/* The only table of colours: for gnuplot and, through the document, for the page. */
extern const struct chart_colour chart_colours[CHART_ROLES];

/* ---- the parts of a chart ---- */

struct chart_tick {
	double at;
	char *label; /* any text; NULL: a small tick without a label */
};

typedef ARRAY(struct chart_tick) chart_ticks;

/* How to write the numbers of an axis. */
enum chart_notation {
	CHART_FIGURES, /* 0.15, 20k */
	CHART_COUNTS,  /* 12, 20k: no fractions */
	CHART_TIMES,   /* 10 µs, on logarithmic axes; otherwise the label has the unit */
	CHART_POWERS,  /* 10⁻³, on logarithmic axes */
};

struct chart_axis {
	char *name, *label;    /* tare's own words; the label includes the unit */
	double unit;	       /* its values are divided by this */
	const char *unit_name; /* "ms"; NULL: its values are not times */
	enum chart_notation notation;
	bool log;
	double low, high;  /* divided by the unit, with a margin; NaN: gnuplot chooses */
	double from, to;   /* the window to show, also in the terminal; NaN: all points */
	chart_ticks ticks; /* names; empty: as many numbers as there is room for */
	bool sloping;	   /* labels of the ticks */
};

/* Rows of numbers, optionally with a name at the end. */
struct chart_block {
	char *title;
	char *columns; /* separated by tabs; that of the name is last */
	size_t count, width;
	ARRAY(double) values; /* count * width; NaN is missing */
	ARRAY(char *) names;  /* count of them, or none; any text */
};

enum chart_shape {
	CHART_POINTS,
	CHART_LINE,
	CHART_LINE_POINTS,
	/* From 0 to the value, upright between its first two columns. In a chart of rows the value
	 * is x, and the bar lies at y. */
	CHART_BARS,
	CHART_INTERVALS, /* along the values; the two columns after the value are its ends */
	CHART_NAMES,	 /* the names of rows, beside their point */
	CHART_CELLS,	 /* squares of 1 by 1; the column after y is the value */
	CHART_SPANS,	 /* from x to the next column; in the terminal, signs below the x axis */
};

#define CHART_KEY_ONLY SIZE_MAX /* as a series' block: only in the key */
struct chart_series {
	size_t block;
	enum chart_shape shape;
	unsigned role;		/* enum chart_role */
	char *title;		/* in the key, any text; NULL: not in the key */
	unsigned x, y;		/* columns, from 0 */
	unsigned stack_from;	/* a bar stands on the sum of the columns from this on; 0: none */
	unsigned where, unless; /* only rows in which this column is above 0, or is not; 0: all */
	char sign;		/* in the terminal; 0: dots */
};

struct chart {
	struct strbuf head;  /* comments of the data file */
	struct strbuf note;  /* a note for the reader */
	const char *palette; /* for CHART_CELLS: more lines of the script */
	struct chart_axis x, y;
	ARRAY(struct chart_block) blocks;
	ARRAY(struct chart_series) series;
	bool key; /* show a key above it */
	bool square;
	bool rows;	  /* y has names, from the top, and bars are horizontal */
	int tick_points;  /* size of the ticks' names; 0: like the rest */
	double height_cm; /* that fits the contents */
	double bandwidth; /* of its densities; 0: it has none */
};

struct chart *chart_new(void);
void chart_free(struct chart *c); /* NULL is fine */
/* EXIT_USAGE: "there is nothing to plot: ..." */
int chart_empty(struct error *err, const char *what);
const char *chart_note(const struct chart *c); /* NULL: none */

/* "# label: text" in the data, for any text. */
void chart_say(struct chart *c, const char *label, const char *text);
/* Writes number, name, command, date and machine of a run. */
void chart_say_run(struct chart *c, const char *kind, const struct run *run,
		   const struct machine *machine);
void chart_say_machine(struct chart *c, const struct machine *machine);

/* Returns the number of the new block. */
size_t chart_block(struct chart *c, const char *columns, const char *title);
/* All rows of a block must have the same number of values. name NULL: no column for names. */
void chart_row(struct chart *c, size_t block, const double *values, size_t count, const char *name);
/* A series of a block without rows is omitted. The result is valid until the next call. */
struct chart_series *chart_add(struct chart *c, size_t block, enum chart_shape shape, unsigned role,
			       const char *title, unsigned x, unsigned y);
size_t chart_rows(const struct chart *c); /* of all blocks */
/* Whether a row belongs to a series: see where and unless. */
bool chart_has(const struct chart *c, const struct chart_series *s, size_t row);
static inline double chart_at(const struct chart *c, size_t block, size_t row, unsigned column)
{
	const struct chart_block *b = &c->blocks.items[block];
	return b->values.items[row * b->width + column];
}

/* For qsort(): doubles, or rows by their first value. */
int chart_by_value(const void *a, const void *b);

/* ---- axes: axis.c ---- */

void chart_axis_label(struct chart_axis *a, const char *label);
/* "label (ms)", for a largest value of most_ns. */
void chart_axis_time(struct chart_axis *a, const char *label, double most_ns);
/* A range smaller than this fraction of its values has no distinguishable numbers. */
#define CHART_LEAST_PART 1e-11
/* From low to high in ns or counts, before division by the unit. It is widened if it would be less
 * than 1 of them or than CHART_LEAST_PART. */
void chart_axis_range(struct chart_axis *a, double low, double high);
/* Like chart_axis_range(), with a margin. */
void chart_axis_span(struct chart_axis *a, double low, double high);
void chart_axis_from_zero(struct chart_axis *a, double high);
/* Logarithmic, from low to high, extended to 1, 2 or 5 times a power of ten. */
void chart_axis_log(struct chart_axis *a, const char *label, double low, double high,
		    enum chart_notation notation);
void chart_axis_tick(struct chart_axis *a, double at, const char *label);
/* A row for each of count names, the first on top. */
void chart_axis_rows(struct chart *c, size_t count);

/* The approximate width at 8 points in DejaVu Sans; most fonts are narrower. */
double chart_text_cm(const char *text);
/* "450k", "1.25M", with this many digits */
void chart_count_text(double value, int digits, char out[WORDS]);
/* As many numbers as fit beside an axis of this length. */
void chart_axis_ticks(const struct chart_axis *a, double cm, bool across, chart_ticks *t);
void chart_ticks_release(chart_ticks *t);

/* ---- gnuplot: gnuplot.c ---- */

enum chart_format { CHART_PDF, CHART_SVG, CHART_PNG, CHART_FORMATS };
const char *chart_extension(enum chart_format format); /* "pdf" */

struct chart_look {
	enum chart_format format;
	double width_cm, height_cm; /* 0: whatever fits */
	const char *title;	    /* NULL: none */
	/* In the script's directory; without control characters. */
	const char *data_name, *picture_name;
};
#define CHART_COLUMN_CM 8.5
#define CHART_WIDE_CM 17.5

/* Names may be any bytes. They reach the script only as quoted text on one line. */
void chart_data(const struct chart *c, struct strbuf *out);
void chart_script(const struct chart *c, const struct chart_look *look, struct strbuf *out);

/* ---- the terminal: terminal.c ---- */

struct chart_screen {
	size_t width;  /* columns in total, at least 30 */
	size_t height; /* lines within the axes, at least 2 */
	bool ascii, colour;
	const char *title, *y_label; /* lines above it; NULL: none */
};
/* Draws points in braille dots (2 x 4 per cell), or in ASCII: . (few points: o) for one point, :
 * for several, # for ten or more, x for those not kept. Up to 200 points are drawn as •, because a
 * single dot is hard to see. Points outside the window of an axis are at its edge, as > or ^. A *
 * marks a cell where points of several signs, or kept and other ones, meet; returns whether there
 * is one. If signs of points not kept are in parentheses, they have wider cells with room for
 * two. */
bool chart_points_text(const struct chart *c, const struct chart_screen *s, struct strbuf *out);
/* Draws the first two lines of a chart with logarithmic axes as areas, in 12 lines. */
void chart_areas_text(const struct chart *c, const struct chart_screen *s, struct strbuf *out);
/* Draws the bars of a chart of rows: name, the row's own name, bar. */
void chart_bars_text(const struct chart *c, const struct chart_screen *s, struct strbuf *out);
/* One bar, with a resolution of an eighth of a column. */
void put_bar(double share, size_t columns, bool ascii, struct strbuf *out);
/* One character per count, whose height shows the count. */
void put_spark(const size_t *counts, size_t count, bool ascii, struct strbuf *out);

/* ---- the page: json.c ---- */

/* docs/schema/page.schema.json, chart. */
json_t *chart_json(const struct chart *c);
/* A number with 6 digits, which is enough for a picture; null if it is not finite. */
json_t *chart_real(double value);
/* The colour and meaning of every cause and class. */
json_t *chart_colours_json(void);

#endif
