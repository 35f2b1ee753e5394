/* A chart for gnuplot: its data as a file of columns, and the script that draws it. Both are text;
 * who runs gnuplot is no concern of this. */

#include "base/text.h"
#include "report/chart/chart.h"

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
	FREED char *shown = display_copy(text);
	SCOPED(strbuf_release) struct strbuf fitted = { 0 };
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
}

/* 'text' as gnuplot reads it: on one line, at most so many columns (0: any). */
static void put_gnuplot(struct strbuf *out, const char *text, size_t columns)
{
	put_quoted(out, text, columns, false);
}

/* With the directory, else a name such as "<x" would be a command, and "-" no file. */
static void put_file(struct strbuf *out, const char *name)
{
	SCOPED(strbuf_release) struct strbuf path = { 0 };
	strbuf_printf(&path, "./%s", name);
	put_gnuplot(out, strbuf_text(&path), 0);
}

/* As gnuplot reads it: ns to the last one, whatever their number. */
static void put_number(double value, struct strbuf *out)
{
	bool whole = value == floor(value) && fabs(value) < 1e19;
	strbuf_printf(out, whole ? "%.0f" : "%.15g", value + 0.0); /* which is never -0 */
}

void chart_data(const struct chart *c, struct strbuf *out)
{
	size_t index = 0;
	strbuf_puts(out, strbuf_text(&c->head));
	strbuf_puts(
		out,
		"# columns are separated by tabs; names that end in _ns are ns; NaN: not known\n");
	for (size_t i = 0; i < c->blocks.count; i++) {
		const struct chart_block *b = &c->blocks.items[i];
		if (!b->count)
			continue;
		strbuf_printf(out, "%s# block %zu: %s\n# %s\n", index ? "\n\n" : "", index,
			      b->title, b->columns);
		for (size_t k = 0; k < b->values.count; k++) {
			strbuf_puts(out, k % b->width ? "\t" : "");
			if (isfinite(b->values.items[k]))
				put_number(b->values.items[k], out);
			else
				strbuf_puts(out, "NaN");
			if ((k + 1) % b->width)
				continue;
			if (b->names.count) {
				char shown[256]; /* of longer lines gnuplot complains */
				text_display(b->names.items[k / b->width], shown, sizeof shown);
				strbuf_printf(out, "\t%s", shown);
			}
			strbuf_putc(out, '\n');
		}
		index++;
	}
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
	chart_ticks x, y;	    /* numbers; none: the axis has names of its own */
	double left_cm, top_cm;	    /* margins; 0: as gnuplot chooses */
	double right_cm;	    /* half of the last number, which may stand beyond the end */
	double across_cm, above_cm; /* about, of what is within the axes */
	size_t key_rows;
};

static bool is_shown(const struct chart *c, const struct chart_series *l)
{
	return l->block == CHART_KEY_ONLY || c->blocks.items[l->block].count > 0;
}

/* Of a name that is shortened to so many columns. */
static double shown_cm(const char *name, size_t columns)
{
	FREED char *shown = display_copy(name);
	SCOPED(strbuf_release) struct strbuf fitted = { 0 };
	put_middle(&fitted, shown, columns);
	double cm = chart_text_cm(strbuf_text(&fitted));
	return cm;
}

static double shown_columns(const char *title)
{
	FREED char *shown = display_copy(title);
	double columns = (double)text_width(shown);
	return fmin(columns, KEY_COLUMNS);
}

/* Its entries are as wide as the widest; gnuplot would leave them the width of the axes, which is
 * little beside long names. */
static size_t key_rows_of(const struct chart *c, double width_cm, enum chart_format format)
{
	size_t entries = 0;
	double widest = 0;
	for (size_t i = 0; c->key && i < c->series.count; i++) {
		const struct chart_series *l = &c->series.items[i];
		if (!l->title || !is_shown(c, l))
			continue;
		widest = fmax(widest, shown_cm(l->title, KEY_COLUMNS));
		if (format == CHART_SVG) /* which knows no font, and gives each as much */
			widest = fmax(widest, SVG_CHARACTER_CM * shown_columns(l->title));
		entries++;
	}
	double fit = (width_cm - 2 * EDGE_CM) / (KEY_SAMPLE_CM + widest);
	size_t columns = fit < 1 ? 1 : (size_t)fit;
	return (entries + columns - 1) / columns;
}

static double widest_cm(const chart_ticks *t, size_t columns)
{
	double most = 0;
	for (size_t i = 0; i < t->count; i++)
		if (t->items[i].label)
			most = fmax(most, shown_cm(t->items[i].label, columns));
	return most;
}

#define MOST_SQUARE_CM 12

/* The numbers of x in what y leaves. */
static void lay_across(const struct chart *c, struct layout *l)
{
	double names = widest_cm(c->y.ticks.count ? &c->y.ticks : &l->y, l->columns);
	double left = names + TICS_CM + (c->y.label ? LABEL_CM : 0);
	l->left_cm = c->y.ticks.count && !c->tick_points ? left + EDGE_CM : 0;
	l->right_cm = 2 * EDGE_CM;
	/* twice: how wide the last number is tells how much room there is for all */
	for (int twice = 0; twice < 2; twice++) {
		l->across_cm = l->width - left - l->right_cm;
		l->across_cm = fmax(l->across_cm, 1);
		if (c->square)
			l->across_cm = fmin(l->across_cm, l->above_cm);
		if (c->x.ticks.count)
			return;
		chart_ticks_release(&l->x);
		chart_axis_ticks(&c->x, l->across_cm, true, &l->x);
		for (size_t i = 0; i < l->x.count; i++)
			if (l->x.items[i].label)
				l->right_cm = EDGE_CM + chart_text_cm(l->x.items[i].label) / 2;
	}
}

static void layout_of(const struct chart *c, const struct chart_look *look, struct layout *l)
{
	*l = (struct layout){ .width = look->width_cm > 0 ? look->width_cm : CHART_COLUMN_CM };
	double columns = NAMES_SHARE * l->width / CHARACTER_CM;
	l->columns = (size_t)fmin(fmax(columns, LEAST_COLUMNS), MOST_COLUMNS);
	l->key_rows = key_rows_of(c, l->width, look->format);
	l->height = c->square ? fmin(l->width, MOST_SQUARE_CM) : c->height_cm;
	if (look->height_cm > 0)
		l->height = look->height_cm;
	else if (l->key_rows > 1)
		l->height += KEY_LINE_CM * (double)(l->key_rows - 1);
	if (l->key_rows)
		l->top_cm = fmin((look->format == CHART_SVG ? 3 : 2) * EDGE_CM +
					 KEY_LINE_CM * (double)l->key_rows +
					 (look->title ? LABEL_CM : 0),
				 l->height * 0.6);
	l->above_cm = l->height - TICS_CM - LINE_CM - (c->x.label ? LABEL_CM : 0) -
		      (l->key_rows   ? l->top_cm
		       : look->title ? LABEL_CM
				     : 0.2);
	l->above_cm = fmax(l->above_cm, 1);
	if (!c->y.ticks.count)
		chart_axis_ticks(&c->y, l->above_cm, false, &l->y);
	lay_across(c, l);
}

/* ---- the script ---- */

const char *chart_extension(enum chart_format format)
{
	static const char *const names[CHART_FORMATS] = { "pdf", "svg", "png" };
	return names[format];
}

/* Text of 8 points and thin lines, whatever the unit of the terminal. */
static void put_terminal(const struct chart_look *look, double width, double height,
			 struct strbuf *out)
{
	double dots = PNG_DPI / CM_PER_INCH, px = SVG_DPI / CM_PER_INCH;
	strbuf_puts(out, "set terminal ");
	switch (look->format) {
	case CHART_SVG:
		strbuf_printf(out,
			      "svg noenhanced size %.0f,%.0f font 'sans-serif,%.1f' linewidth 0.75 "
			      "background 'white'",
			      width * px, height * px,
			      (double)FONT_POINTS * SVG_DPI / POINTS_PER_INCH);
		break;
	case CHART_PNG:
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
	/* each with a dash and a point of its own for print without colour; a cross is what was
	 * dropped */
	static const struct {
		const char *dash;
		int point;
	} pens[CHART_PENS] = { { "1", 7 },	    { "(12,5)", 5 },  { "(4,4)", 4 },
			       { "(14,4,3,4)", 8 }, { "(20,6)", 13 }, { "(14,4,3,4,3,4)", 6 },
			       { "(7,4)", 10 },	    { "(2,3)", 1 } };
	for (size_t i = 0; i < CHART_PENS; i++)
		strbuf_printf(out, "set linetype %zu lc rgb '%s' dt %s lw 1.5 pt %d ps 0.6\n",
			      i + 1, chart_colours[CHART_PEN + i].light, pens[i].dash,
			      pens[i].point);
	strbuf_printf(out, "set linetype cycle %d\n", CHART_PENS);
}

static void put_bound(double bound, struct strbuf *out)
{
	if (isfinite(bound))
		put_number(bound, out);
	else
		strbuf_putc(out, '*');
}

/* gnuplot counts blocks that have rows. */
static size_t index_of(const struct chart *c, size_t block)
{
	size_t index = 0;
	for (size_t i = 0; i < block; i++)
		index += c->blocks.items[i].count > 0;
	return index;
}

static void put_axis(const struct chart_axis *a, char name, const chart_ticks *numbers,
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
	const chart_ticks *ticks = a->ticks.count ? &a->ticks : numbers;
	if (!ticks->count)
		return;
	strbuf_printf(out, "set %ctics %snomirror ", name, a->sloping ? "rotate by 90 right " : "");
	size_t each = 1;
	if (name == 'y' && a->ticks.count && !small)
		each += (size_t)(LEAST_LINE_CM * (double)a->ticks.count / l->above_cm);
	/* each: of so many names one is shown */
	strbuf_putc(out, '(');
	for (size_t i = 0; i < ticks->count; i++) {
		const struct chart_tick *t = &ticks->items[i];
		bool shown = t->label && i % each == 0;
		strbuf_puts(out, i ? ", " : "");
		put_quoted(out, shown ? t->label : "", l->columns, true);
		strbuf_putc(out, ' ');
		put_number(t->at, out);
		strbuf_puts(out, shown ? "" : " 1");
	}
	strbuf_puts(out, ")\n");
}

/* The sum of the columns [first, end), divided by the unit. */
static void put_sum(unsigned first, unsigned end, double unit, struct strbuf *out)
{
	strbuf_puts(out, "((0");
	for (unsigned k = first; k < end; k++)
		strbuf_printf(out, "+$%u", k + 1);
	strbuf_printf(out, ")/%g)", unit);
}

static void put_columns_of(const struct chart *c, const struct chart_series *s, struct strbuf *out)
{
	double along = c->rows ? c->x.unit : c->y.unit;
	unsigned value = c->rows ? s->x : s->y, first = s->stack_from ? s->stack_from : value;
	if (s->shape == CHART_BARS) { /* x, y, x low, x high, y low, y high */
		double more = c->x.notation == CHART_COUNTS ? 0.5 : 0; /* each count is 1 wide */
		strbuf_puts(out, "(0):(0):");
		if (!c->rows)
			strbuf_printf(out, "($1/%g-%g):($2/%g+%g):", c->x.unit, more, c->x.unit,
				      more);
		put_sum(first, value, along, out);
		strbuf_putc(out, ':');
		put_sum(first, value + 1, along, out);
		if (c->rows)
			strbuf_printf(out, ":($%u-0.35):($%u+0.35)", s->y + 1, s->y + 1);
		return;
	}
	strbuf_printf(out, "($%u/%g):(", s->x + 1, c->x.unit);
	if (s->where || s->unless)
		strbuf_printf(out, s->where ? "$%u>0?" : "$%u>0?NaN:",
			      (s->where ? s->where : s->unless) + 1);
	strbuf_printf(out, "$%u/%g%s)", s->y + 1, c->y.unit, s->where ? ":NaN" : "");
	if (s->shape == CHART_INTERVALS)
		strbuf_printf(out, ":($%u/%g):($%u/%g)", value + 2, along, value + 3, along);
	else if (s->shape == CHART_NAMES)
		strbuf_printf(out, ":%zu", c->blocks.items[s->block].width + 1);
	else if (s->shape == CHART_CELLS)
		strbuf_printf(out, ":($%u-0.5):($%u+0.5):($%u-0.5):($%u+0.5):%u", s->x + 1,
			      s->x + 1, s->y + 1, s->y + 1, s->y + 2);
}

#define MOST_POINTS 3000 /* above, points are small */

/* What gnuplot's "with" says. */
static void put_style(const struct chart *c, const struct chart_series *s, struct strbuf *out)
{
	static const struct {
		int sign;
		double size;
	} signs[] = { [CHART_KEPT] = { 7, 0.5 },   [CHART_OUTSIDE] = { 2, 0.9 },
		      [CHART_CUTOFF] = { 4, 0.9 }, [CHART_FAILED] = { 8, 0.9 },
		      [CHART_CROSS] = { 2, 0.8 },  [CHART_RING] = { 6, 1.6 } };
	const char *colour = chart_colours[s->role].light;
	bool pen = s->role >= CHART_PEN && s->role < CHART_CAUSE;
	bool many = s->role == CHART_KEPT && s->block != CHART_KEY_ONLY &&
		    c->blocks.items[s->block].count > MOST_POINTS;
	switch (s->shape) {
	case CHART_POINTS:
		if (pen)
			strbuf_printf(out, "points lt %u", s->role - CHART_PEN + 1);
		else
			strbuf_printf(out, "points pt %d ps %g lc rgb '%s'", signs[s->role].sign,
				      many ? 0.2 : signs[s->role].size, colour);
		break;
	case CHART_LINE:
	case CHART_LINE_POINTS:
		strbuf_puts(out, s->shape == CHART_LINE ? "lines " : "linespoints ");
		if (pen)
			strbuf_printf(out, "lt %u", s->role - CHART_PEN + 1);
		else
			strbuf_printf(out, "dt (2,4) lc rgb '%s' lw 0.8", colour);
		break;
	case CHART_BARS:
		strbuf_printf(out, "boxxyerror fs %s lc rgb '%s' lw 0.5",
			      s->role == CHART_FRAME ? "empty border"
			      : s->stack_from	     ? "solid 1 noborder"
						     : "solid 1 border lt -1 dt 1",
			      colour);
		break;
	case CHART_INTERVALS:
		strbuf_printf(out, "%serrorbars dt 1 pt 0 lc rgb '%s' lw %g", c->rows ? "x" : "y",
			      colour, s->role == CHART_SPREAD ? 0.7 : 1);
		break;
	case CHART_NAMES:
		strbuf_puts(out, s->role == CHART_GUIDE
					 ? "labels right offset -0.3,-0.5 font pt7 tc rgb '#555555'"
				 : s->role == CHART_VALUE ? "labels font pt5"
							  : "labels offset 0,0.8 font pt7");
		break;
	default:
		strbuf_puts(out, "boxxyerror fs solid 1 noborder lc palette");
		break;
	}
}

static void put_series(const struct chart *c, struct strbuf *out)
{
	bool first = true;
	strbuf_puts(out, "plot ");
	for (size_t i = 0; i < c->series.count; i++) {
		const struct chart_series *s = &c->series.items[i];
		if (!is_shown(c, s))
			continue;
		strbuf_puts(out, first ? "" : ", \\\n     ");
		if (s->block == CHART_KEY_ONLY) {
			strbuf_puts(out, "keyentry");
		} else {
			strbuf_printf(out, "data index %zu using ", index_of(c, s->block));
			put_columns_of(c, s, out);
		}
		strbuf_puts(out, " with ");
		put_style(c, s, out);
		if (s->title) {
			strbuf_puts(out, " title ");
			put_gnuplot(out, s->title, KEY_COLUMNS);
		} else
			strbuf_puts(out, " notitle");
		first = false;
	}
	strbuf_putc(out, '\n');
}

static void put_key(const struct layout *l, enum chart_format format, bool titled,
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
		      format == CHART_SVG ? 0.78 : 0.95, 1 - l->top_cm / l->height);
}

void chart_script(const struct chart *c, const struct chart_look *look, struct strbuf *out)
{
	struct layout l;
	layout_of(c, look, &l);
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
			      look->format == CHART_SVG ? (double)points * SVG_DPI / POINTS_PER_INCH
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
	if (c->square) /* in characters: it stays in the middle */
		strbuf_printf(out, "set size square\nset rmargin %.1f\n",
			      l.right_cm / CHARACTER_CM);
	else
		strbuf_printf(out, "set rmargin at screen %.4f\n", 1 - l.right_cm / l.width);
	if (l.left_cm > 0)
		strbuf_printf(out, "set lmargin at screen %.4f\n", l.left_cm / l.width);
	if (c->tick_points)
		strbuf_printf(out, "set tics font pt%d\n", c->tick_points);
	put_axis(&c->x, 'x', &l.x, &l, c->tick_points, out);
	put_axis(&c->y, 'y', &l.y, &l, c->tick_points, out);
	strbuf_puts(out, c->palette ? c->palette : "");
	put_series(c, out);
	strbuf_puts(out, "set output\n");
	chart_ticks_release(&l.x);
	chart_ticks_release(&l.y);
}
