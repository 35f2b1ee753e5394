/* What figures are made of: private to report/. */
#ifndef TARE_REPORT_CHART_FIGURE_PRIVATE_H
#define TARE_REPORT_CHART_FIGURE_PRIVATE_H

#include <math.h>

#include "base/array.h"
#include "report/chart/figure.h"
#include "report/core/format.h"

struct figure_tic {
	double at;
	char *label; /* any text; NULL: a small tic without one */
};

typedef ARRAY(struct figure_tic) figure_tics;

/* How the numbers beside an axis are written: one way for all of them. */
enum figure_notation {
	FIGURE_FIGURES, /* 0.15, 20k */
	FIGURE_COUNTS,	/* 12, 20k: none between 1 and 2 */
	FIGURE_TIMES,	/* 10 µs: of logarithmic axes; of others the label has the unit */
	FIGURE_POWERS,	/* 10⁻³, of logarithmic axes */
};

struct figure_axis {
	char *label;	       /* our own words */
	double unit;	       /* what its values are divided by; times are kept in ns */
	const char *unit_name; /* "ms"; NULL: it has none */
	enum figure_notation notation;
	bool log;
	double low, high; /* after that; NaN: as gnuplot chooses */
	figure_tics tics; /* names; none: numbers, as many as there is room for */
	bool sloping;	  /* labels of the tics */
};

/* Rows of numbers, with a name at the end where there is one. */
struct figure_block {
	char *title;
	char *columns; /* separated by tabs */
	struct strbuf rows;
	size_t count;
};

#define FIGURE_KEY_ONLY SIZE_MAX /* a layer's block: it stands in the key alone */
/* What gnuplot calls a plot. */
struct figure_layer {
	size_t block;
	char *columns; /* "using" */
	const char *style;
	char *title; /* in the key; NULL: not there; any text */
};

struct figure {
	struct strbuf head, extra; /* comments of the data file; more lines of the script */
	struct strbuf note;	   /* what whoever draws it should know */
	struct figure_axis x, y;
	ARRAY(struct figure_block) blocks;
	ARRAY(struct figure_layer) layers;
	bool key; /* above it */
	bool square;
	int tic_points;	  /* size of the tics' names; 0: as the rest */
	double height_cm; /* that fits what is in it */
};

/* "# label: text", whatever the text. */
void figure_say(struct figure *f, const char *label, const char *text);
/* Of a run: number, name, command, date, machine. */
void figure_say_run(struct figure *f, const char *kind, const struct run *run,
		    const struct machine *machine);
void figure_say_machine(struct figure *f, const struct machine *machine);

/* The number of the block. */
size_t figure_block(struct figure *f, const char *columns, const char *title);
/* As gnuplot reads it: ns to the last one, whatever their number. */
void figure_number(double value, char out[WORDS]);
/* NaN is missing; name NULL: no column of it. */
void figure_row(struct figure *f, size_t block, const double *values, size_t count,
		const char *name);
/* Layers of a block without rows are left out. */
void figure_layer(struct figure *f, size_t block, const char *style, const char *title,
		  const char *columns, ...) __attribute__((format(printf, 5, 6)));
/* A bar's part that stands on those before it: `column` on the sum of columns from `first` on; low
 * and high: its sides, in gnuplot's words. lying: the other way round. */
struct figure_stack {
	size_t block, first;
	const char *low, *high;
	bool lying;
};
void figure_stack_layer(struct figure *f, const struct figure_stack *s, size_t column,
			const char *style, const char *title);
/* Rows of all blocks. */
size_t figure_rows(const struct figure *f);

/* ---- axes: figure_axis.c ---- */

void figure_axis_label(struct figure_axis *a, const char *label);
/* "label (ms)", where the largest value is most_ns. */
void figure_axis_time(struct figure_axis *a, const char *label, double most_ns);
/* A range that is less than this part of its values has no numbers that can be told apart. */
#define FIGURE_LEAST_PART 1e-11
/* From low to high, ns or counts before they are divided by the unit; more where that would be
 * less than 1 of them or than FIGURE_LEAST_PART. */
void figure_axis_range(struct figure_axis *a, double low, double high);
/* The same with a bit of room around. */
void figure_axis_span(struct figure_axis *a, double low, double high);
void figure_axis_from_zero(struct figure_axis *a, double high);
/* Logarithmic, from low to high and on to 1, 2 or 5 of a power of ten. */
void figure_axis_log(struct figure_axis *a, const char *label, double low, double high,
		     enum figure_notation notation);
void figure_axis_tic(struct figure_axis *a, double at, const char *label);
/* A row for each of count names, the first on top: the y axis of bars that lie. */
void figure_axis_rows(struct figure *f, size_t count);

/* About how wide it is at 8 points, in DejaVu Sans: most fonts are narrower. */
double figure_text_cm(const char *text);
/* "450k", "1.25M", to so many digits */
void figure_count_text(double value, int digits, char out[WORDS]);
/* The numbers beside an axis that is so long: as many as have room. */
void figure_axis_tics(const struct figure_axis *a, double cm, bool across, figure_tics *t);
void figure_tics_release(figure_tics *t);

/* Fills for what is stacked; the first ones are told apart in grey, too. The last is of a rest. */
#define FIGURE_FILLS 8
extern const char *const figure_fills[FIGURE_FILLS];

/* For qsort(): doubles, or rows by their first. */
int figure_by_value(const void *a, const void *b);

int figure_empty(struct error *err, const char *what);
/* Whether there is something of this measure. */
int figure_check_measure(const struct run_view *v, enum emp_measure m, struct error *err);

#endif
