/* What figures are made of: private to report/figure*.c. */
#ifndef TARE_REPORT_FIGURE_PRIVATE_H
#define TARE_REPORT_FIGURE_PRIVATE_H

#include <math.h>

#include "base/array.h"
#include "report/figure.h"
#include "report/format.h"

struct figure_tic {
	double at;
	char *label; /* any text; NULL: a small tic without one */
};

struct figure_axis {
	char *label; /* our own words */
	double unit; /* what its values are divided by; times are kept in ns */
	bool log;
	double low, high;	       /* after that; NaN: as gnuplot chooses */
	ARRAY(struct figure_tic) tics; /* none: as gnuplot chooses */
	bool sloping;		       /* labels of the tics */
};

/* Rows of numbers, with a name at the end where there is one. */
struct figure_block {
	char *title;
	char *columns; /* separated by tabs */
	struct strbuf rows;
	size_t count;
};

/* What gnuplot calls a plot. */
struct figure_layer {
	size_t block;
	char *columns; /* "using" */
	const char *style;
	char *title; /* in the key; NULL: not there; any text */
};

struct figure {
	struct strbuf head, extra; /* comments of the data file; more lines of the script */
	struct figure_axis x, y;
	ARRAY(struct figure_block) blocks;
	ARRAY(struct figure_layer) layers;
	const char *key; /* where it stands; NULL: there is none */
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

void figure_axis_label(struct figure_axis *a, const char *label);
/* "label (ms)", where the largest value is most_ns. */
void figure_axis_time(struct figure_axis *a, const char *label, double most_ns);
/* Logarithmic, decades from low to high named with units of time, or as powers of ten. */
void figure_axis_log(struct figure_axis *a, const char *label, double low, double high, bool time);
void figure_axis_tic(struct figure_axis *a, double at, const char *label);
/* A row for each of count names, the first on top: the y axis of bars that lie. */
void figure_axis_rows(struct figure *f, size_t count);

/* 'text' as gnuplot reads it: quotes doubled, on one line, at most so many columns (0: any). */
void put_gnuplot(struct strbuf *out, const char *text, size_t columns);

#define FIGURE_KEY_ABOVE "tmargin center horizontal"
#define FIGURE_KEY_RIGHT "tmargin right horizontal" /* above bars whose names stand at the left */
/* Fills for what is stacked, told apart in grey, too. */
#define FIGURE_FILLS 8
extern const char *const figure_fills[FIGURE_FILLS];

int figure_empty(struct error *err, const char *what);

#endif
