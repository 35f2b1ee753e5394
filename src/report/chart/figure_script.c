/* The gnuplot script of a figure: where everything stands, and the words for it. */
#include <stdio.h>

#include "base/text.h"
#include "report/chart/figure_private.h"

#define TITLE_COLUMNS_MOST 120
#define KEY_COLUMNS 26 /* of a name in the key */
#define PNG_DPI 300
#define CM_PER_INCH 2.54
#define POINTS_PER_INCH 72
#define SVG_DPI 96
#define FONT_POINTS 8

/* ---- words ---- */

/* In single quotes gnuplot knows neither escapes nor commands, and a quote is written twice; so is
 * the sign of a format where one is expected. */
static void put_quoted(struct strbuf *out, const char *text, size_t columns, bool format)
{
	char *shown = display_copy(text);
	struct strbuf fitted = { 0 };
	if (columns)
		put_middle(&fitted, shown, columns);
	else
		strbuf_puts(&fitted, shown);
	strbuf_putc(out, '\'');
	for (const char *c = strbuf_text(&fitted); *c; c++) {
		if (*c == '\'' || (format && *c == '%'))
			strbuf_putc(out, *c);
		strbuf_putc(out, *c);
	}
	strbuf_putc(out, '\'');
	strbuf_release(&fitted);
	xfree(shown);
}

/* 'text' as gnuplot reads it: on one line, at most so many columns (0: any). */
static void put_gnuplot(struct strbuf *out, const char *text, size_t columns)
{
	put_quoted(out, text, columns, false);
}

/* With the directory, else a name such as "<x" would be a command, and "-" no file. */
static void put_file(struct strbuf *out, const char *name)
{
	struct strbuf path = { 0 };
	strbuf_printf(&path, "./%s", name);
	put_gnuplot(out, strbuf_text(&path), 0);
	strbuf_release(&path);
}

/* ---- where everything stands ---- */

#define NAMES_SHARE 0.34 /* of the width, for names beside the bars */
#define CHARACTER_CM 0.17
#define LEAST_COLUMNS 10
#define MOST_COLUMNS 48
#define LABEL_CM 0.5 /* of an axis, and of a line of the key */
#define LINE_CM 0.35
#define LEAST_LINE_CM 0.29 /* from one name to the next */
#define TICS_CM 0.3

#define KEY_SAMPLE_CM 1.1
#define KEY_LINE_CM 0.36
#define SVG_CHARACTER_CM 0.2
#define EDGE_CM 0.12

struct layout {
	double width, height;	    /* cm, of all of it */
	size_t columns;		    /* of a name beside an axis */
	figure_tics x, y;	    /* numbers; none: the axis has names of its own */
	double left_cm, top_cm;	    /* margins; 0: as gnuplot chooses */
	double right_cm;	    /* half of the last number, which may stand beyond the end */
	double across_cm, above_cm; /* about, of what is within the axes */
	size_t key_rows;
};

static bool is_shown(const struct figure *f, const struct figure_layer *l)
{
	return l->block == FIGURE_KEY_ONLY || f->blocks.items[l->block].count > 0;
}

/* Of a name that is shortened to so many columns. */
static double shown_cm(const char *name, size_t columns)
{
	char *shown = display_copy(name);
	struct strbuf fitted = { 0 };
	put_middle(&fitted, shown, columns);
	double cm = figure_text_cm(strbuf_text(&fitted));
	strbuf_release(&fitted);
	xfree(shown);
	return cm;
}

static double shown_columns(const char *title)
{
	char *shown = display_copy(title);
	double columns = (double)text_width(shown);
	xfree(shown);
	return fmin(columns, KEY_COLUMNS);
}

/* Its entries are as wide as the widest; gnuplot would leave them the width of the axes, which is
 * little beside long names. */
static size_t key_rows_of(const struct figure *f, double width_cm, enum figure_format format)
{
	size_t entries = 0;
	double widest = 0;
	for (size_t i = 0; f->key && i < f->layers.count; i++) {
		const struct figure_layer *l = &f->layers.items[i];
		if (!l->title || !is_shown(f, l))
			continue;
		widest = fmax(widest, shown_cm(l->title, KEY_COLUMNS));
		if (format == FIGURE_SVG) /* which knows no font, and gives each as much */
			widest = fmax(widest, SVG_CHARACTER_CM * shown_columns(l->title));
		entries++;
	}
	double fit = (width_cm - 2 * EDGE_CM) / (KEY_SAMPLE_CM + widest);
	size_t columns = fit < 1 ? 1 : (size_t)fit;
	return (entries + columns - 1) / columns;
}

static double widest_cm(const figure_tics *t, size_t columns)
{
	double most = 0;
	for (size_t i = 0; i < t->count; i++)
		if (t->items[i].label)
			most = fmax(most, shown_cm(t->items[i].label, columns));
	return most;
}

#define MOST_SQUARE_CM 12

static double height_of(const struct figure *f, const struct figure_look *look,
			const struct layout *l)
{
	double height = f->square ? fmin(l->width, MOST_SQUARE_CM) : f->height_cm;
	if (look->height_cm > 0)
		return look->height_cm;
	return l->key_rows > 1 ? height + KEY_LINE_CM * (double)(l->key_rows - 1) : height;
}

/* The numbers of x in what y leaves. */
static void lay_across(const struct figure *f, struct layout *l)
{
	double names = widest_cm(f->y.tics.count ? &f->y.tics : &l->y, l->columns);
	double left = names + TICS_CM + (f->y.label ? LABEL_CM : 0);
	l->left_cm = f->y.tics.count && !f->tic_points ? left + EDGE_CM : 0;
	l->right_cm = 2 * EDGE_CM;
	/* twice: how wide the last number is tells how much room there is for all */
	for (int twice = 0; twice < 2; twice++) {
		l->across_cm = l->width - left - l->right_cm;
		l->across_cm = fmax(l->across_cm, 1);
		if (f->square)
			l->across_cm = fmin(l->across_cm, l->above_cm);
		if (f->x.tics.count)
			return;
		figure_tics_release(&l->x);
		figure_axis_tics(&f->x, l->across_cm, true, &l->x);
		for (size_t i = 0; i < l->x.count; i++)
			if (l->x.items[i].label)
				l->right_cm = EDGE_CM + figure_text_cm(l->x.items[i].label) / 2;
	}
}

static void layout_of(const struct figure *f, const struct figure_look *look, struct layout *l)
{
	*l = (struct layout){ .width = look->width_cm > 0 ? look->width_cm : FIGURE_COLUMN_CM };
	double columns = NAMES_SHARE * l->width / CHARACTER_CM;
	l->columns = (size_t)fmin(fmax(columns, LEAST_COLUMNS), MOST_COLUMNS);
	l->key_rows = key_rows_of(f, l->width, look->format);
	l->height = height_of(f, look, l);
	if (l->key_rows)
		l->top_cm = fmin((look->format == FIGURE_SVG ? 3 : 2) * EDGE_CM +
					 KEY_LINE_CM * (double)l->key_rows +
					 (look->title ? LABEL_CM : 0),
				 l->height * 0.6);
	l->above_cm = l->height - TICS_CM - LINE_CM - (f->x.label ? LABEL_CM : 0) -
		      (l->key_rows   ? l->top_cm
		       : look->title ? LABEL_CM
				     : 0.2);
	l->above_cm = fmax(l->above_cm, 1);
	if (!f->y.tics.count)
		figure_axis_tics(&f->y, l->above_cm, false, &l->y);
	lay_across(f, l);
}

/* ---- the script ---- */

const char *figure_extension(enum figure_format format)
{
	static const char *const names[FIGURE_FORMATS] = { "pdf", "svg", "png" };
	return names[format];
}

/* Text of 8 points and thin lines, whatever the unit of the terminal. */
static void put_terminal(const struct figure_look *look, double width, double height,
			 struct strbuf *out)
{
	double dots = PNG_DPI / CM_PER_INCH, px = SVG_DPI / CM_PER_INCH;
	strbuf_puts(out, "set terminal ");
	switch (look->format) {
	case FIGURE_SVG:
		strbuf_printf(out,
			      "svg noenhanced size %.0f,%.0f font 'sans-serif,%.1f' linewidth 0.75 "
			      "background 'white'",
			      width * px, height * px,
			      (double)FONT_POINTS * SVG_DPI / POINTS_PER_INCH);
		break;
	case FIGURE_PNG:
		strbuf_printf(out,
			      "pngcairo noenhanced color butt size %.0f,%.0f font "
			      "'sans-serif,%d' fontscale %.2f linewidth 2.5 pointscale 2.5",
			      width * dots, height * dots, FONT_POINTS,
			      (double)PNG_DPI / POINTS_PER_INCH * 0.75);
		break;
	default: /* its fonts are embedded by themselves */
		strbuf_printf(out,
			      "pdfcairo noenhanced color butt size %.2fcm,%.2fcm font "
			      "'sans-serif,%d' fontscale 0.75 linewidth 1.2 pointscale 0.65",
			      width, height, FONT_POINTS);
	}
	strbuf_putc(out, '\n');
}

static void put_pens(struct strbuf *out)
{
	/* colours that the colour-blind tell apart (Okabe and Ito), each with a dash and a point of
	 * its own for print without colour. A cross is what was dropped. */
	static const struct {
		const char *colour, *dash;
		int point;
	} pens[] = { { "#0072b2", "1", 7 },	  { "#d55e00", "(12,5)", 5 },
		     { "#000000", "(4,4)", 4 },	  { "#009e73", "(14,4,3,4)", 8 },
		     { "#cc79a7", "(20,6)", 13 }, { "#e69f00", "(14,4,3,4,3,4)", 6 },
		     { "#56b4e9", "(7,4)", 10 },  { "#777777", "(2,3)", 1 } };
	for (size_t i = 0; i < sizeof pens / sizeof *pens; i++)
		strbuf_printf(out, "set linetype %zu lc rgb '%s' dt %s lw 1.5 pt %d ps 0.6\n",
			      i + 1, pens[i].colour, pens[i].dash, pens[i].point);
	strbuf_puts(out, "set linetype cycle 8\n");
}

static void put_bound(double bound, struct strbuf *out)
{
	char text[WORDS] = "*";
	if (isfinite(bound))
		figure_number(bound, text);
	strbuf_puts(out, text);
}

/* gnuplot counts blocks that have rows. */
static size_t index_of(const struct figure *f, size_t block)
{
	size_t index = 0;
	for (size_t i = 0; i < block; i++)
		index += f->blocks.items[i].count > 0;
	return index;
}

/* each: of so many names one is shown. */
static void put_tics(const figure_tics *tics, size_t columns, size_t each, struct strbuf *out)
{
	strbuf_putc(out, '(');
	for (size_t i = 0; i < tics->count; i++) {
		const struct figure_tic *t = &tics->items[i];
		bool shown = t->label && i % each == 0;
		char at[WORDS];
		strbuf_puts(out, i ? ", " : "");
		put_quoted(out, shown ? t->label : "", columns, true);
		figure_number(t->at, at);
		strbuf_printf(out, " %s%s", at, shown ? "" : " 1");
	}
	strbuf_puts(out, ")\n");
}

static void put_axis(const struct figure_axis *a, char name, const figure_tics *numbers,
		     const struct layout *l, bool small, struct strbuf *out)
{
	if (a->label) {
		strbuf_printf(out, "set %clabel ", name);
		put_gnuplot(out, a->label, 0);
		strbuf_puts(out, name == 'x' ? " offset 0,0.3\n" : "\n");
	}
	if (a->log)
		strbuf_printf(out, "set logscale %c\n", name);
	if (isfinite(a->low) || isfinite(a->high)) {
		strbuf_printf(out, "set %crange [", name);
		put_bound(a->low, out);
		strbuf_putc(out, ':');
		put_bound(a->high, out);
		strbuf_puts(out, "]\n");
	}
	const figure_tics *tics = a->tics.count ? &a->tics : numbers;
	if (!tics->count)
		return;
	strbuf_printf(out, "set %ctics %snomirror ", name, a->sloping ? "rotate by 90 right " : "");
	size_t each = 1;
	if (name == 'y' && a->tics.count && !small)
		each += (size_t)(LEAST_LINE_CM * (double)a->tics.count / l->above_cm);
	put_tics(tics, l->columns, each, out);
}

static void put_layers(const struct figure *f, struct strbuf *out)
{
	bool first = true;
	strbuf_puts(out, "plot ");
	for (size_t i = 0; i < f->layers.count; i++) {
		const struct figure_layer *l = &f->layers.items[i];
		if (!is_shown(f, l))
			continue;
		strbuf_puts(out, first ? "" : ", \\\n     ");
		if (l->block == FIGURE_KEY_ONLY)
			strbuf_printf(out, "keyentry with %s ", l->style);
		else
			strbuf_printf(out, "data index %zu using %s with %s ",
				      index_of(f, l->block), l->columns, l->style);
		if (l->title) {
			strbuf_puts(out, "title ");
			put_gnuplot(out, l->title, KEY_COLUMNS);
		} else
			strbuf_puts(out, "notitle");
		first = false;
	}
	strbuf_putc(out, '\n');
}

static void put_key(const struct layout *l, enum figure_format format, bool titled,
		    struct strbuf *out)
{
	if (!l->key_rows) {
		strbuf_puts(out, "unset key\n");
		return;
	}
	strbuf_printf(out,
		      "set key at screen 0.5,screen %.4f center top vertical maxrows %zu Left "
		      "reverse samplen 1.5 spacing %.2f noautotitle\nset tmargin at screen %.4f\n",
		      1 - (EDGE_CM + (titled ? LABEL_CM : 0)) / l->height, l->key_rows,
		      format == FIGURE_SVG ? 0.78 : 0.95, 1 - l->top_cm / l->height);
}

void figure_script(const struct figure *f, const struct figure_look *look, struct strbuf *out)
{
	struct layout l;
	layout_of(f, look, &l);
	strbuf_puts(out, "# A figure by tare plot: gnuplot makes it anew from the data beside it.\n"
			 "reset\nset encoding utf8\n");
	put_terminal(look, l.width, l.height, out);
	strbuf_puts(out, "set output ");
	put_file(out, look->picture_name);
	strbuf_puts(out, "\ndata = ");
	put_file(out, look->data_name);
	strbuf_puts(out, "\nset datafile separator \"\\t\"\n");
	for (int points = 5; points < FONT_POINTS; points++) /* which SVG has in pixels */
		strbuf_printf(out, "pt%d = ',%.1f'\n", points,
			      look->format == FIGURE_SVG
				      ? (double)points * SVG_DPI / POINTS_PER_INCH
				      : points);
	put_pens(out);
	strbuf_puts(out, "set border 3 lw 0.8\nset tics nomirror scale 0.6\n"
			 "set grid xtics ytics lt 1 lc rgb '#dddddd' dt 1 lw 0.5\n");
	put_key(&l, look->format, look->title != NULL, out);
	if (look->title) {
		strbuf_puts(out, "set title ");
		put_gnuplot(out, look->title, TITLE_COLUMNS_MOST);
		strbuf_printf(out, " offset 0,%zu\n", l.key_rows); /* above the key */
	}
	if (f->square) /* in characters: it stays in the middle */
		strbuf_printf(out, "set size square\nset rmargin %.1f\n",
			      l.right_cm / CHARACTER_CM);
	else
		strbuf_printf(out, "set rmargin at screen %.4f\n", 1 - l.right_cm / l.width);
	if (l.left_cm > 0)
		strbuf_printf(out, "set lmargin at screen %.4f\n", l.left_cm / l.width);
	if (f->tic_points)
		strbuf_printf(out, "set tics font pt%d\n", f->tic_points);
	put_axis(&f->x, 'x', &l.x, &l, f->tic_points, out);
	put_axis(&f->y, 'y', &l.y, &l, f->tic_points, out);
	strbuf_puts(out, strbuf_text(&f->extra));
	put_layers(f, out);
	strbuf_puts(out, "set output\n");
	figure_tics_release(&l.x);
	figure_tics_release(&l.y);
}
