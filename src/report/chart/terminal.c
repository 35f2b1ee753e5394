/* Charts in the terminal. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/chart/chart.h"

#define LEAST_WIDTH 30
#define LEAST_HEIGHT 2
#define MOST_DECIMALS 9
#define MOST_DIGITS 12
#define FINE_X 2 /* dots of a cell */
#define FINE_Y 4
#define HOUR_NS 3600e9
#define HOURS_FROM (10 * HOUR_NS) /* shorter times are read as s */
#define SIGN_COLUMNS 4		  /* of a cell that may have parentheses: "(12)" */
#define SEVERAL 2		  /* points in a cell of ASCII */
#define MANY 10
#define FEW 200		/* points, up to which they are • */
#define MIDDLE_FROM 0.3 /* of the axis: between these the value in its middle is told */
#define MIDDLE_TO 0.7

/* ---- axes ---- */

struct axis {
	double low, high; /* high > low */
	double unit;
	const char *suffix; /* " ms"; "" */
	int decimals;
	bool log, time; /* low and high are logarithms then */
};

static int exponent(double x)
{
	return (int)floor(log10(x) + 1e-9);
}

/* Three digits of what lies between the ends. */
static struct axis axis_of(double low, double high, bool time, bool log)
{
	struct axis a = { .low = low, .high = high, .unit = 1, .suffix = "" };
	if (log) {
		a = (struct axis){ .log = true, .time = time, .low = 0, .high = 1 };
		if (low > 0 && isfinite(high) && high >= low) {
			a.low = log10(low);
			a.high = fmax(log10(high), a.low + 1e-3);
		}
		return a;
	}
	if (!isfinite(high - low)) {
		a.low = 0;
		a.high = 1;
	}
	if (!(a.high > a.low)) { /* one value: in the middle */
		double around = fmax(fabs(a.low) * 1e-3, 1);
		a.high = a.low + around;
		a.low -= around;
	}
	double most = fmax(fabs(a.low), fabs(a.high)), digits = time ? 2 : 0;
	if (time && most >= HOURS_FROM) {
		a.unit = HOUR_NS;
		a.suffix = " h";
	} else if (time) {
		static const char *const suffixes[] = { " ns", " µs", " ms", " s" };
		int power = exponent(fmax(most, 1)) / 3;
		power = power > 3 ? 3 : power;
		a.unit = pow(10, 3 * power);
		a.suffix = suffixes[power];
		digits = power ? digits : 0;
	}
	int decimals = (int)digits - exponent((a.high - a.low) / a.unit);
	int room = MOST_DIGITS - 1 - exponent(fmax(most / a.unit, 1));
	room = room > MOST_DECIMALS ? MOST_DECIMALS : room;
	decimals = decimals > room ? room : decimals;
	a.decimals = decimals < 0 ? 0 : decimals;
	return a;
}

static void axis_text(const struct axis *a, double value, char out[WORDS])
{
	if (a->log && a->time) {
		text_duration(pow(10, value), 3, out, WORDS);
		return;
	}
	if (a->log) {
		snprintf(out, WORDS, "%.*f", value < 3 ? 2 - (int)floor(fmax(value, 0)) : 0,
			 pow(10, value));
		return;
	}
	value /= a->unit;
	if (fabs(value) < 0.5 * pow(10, -a->decimals))
		value = 0; /* not -0 */
	if (fabs(value) < pow(10, MOST_DIGITS))
		snprintf(out, WORDS, "%.*f%s", a->decimals, value, a->suffix);
	else
		snprintf(out, WORDS, "%.3g%s", value, a->suffix);
}

/* The multiple of step within [low, high] that is nearest to the middle; NAN: there is none. */
static double multiple_within(double low, double high, double step)
{
	double value = round((low + high) / 2 / step) * step;
	if (value < low)
		value = ceil(low / step) * step;
	if (value > high)
		value = floor(high / step) * step;
	return value >= low && value <= high ? value : NAN;
}

/* The one with the fewest digits, of `decimals` at most. */
static double round_within(double low, double high, int decimals)
{
	static const double steps[] = { 5, 2, 1 };
	if (!(high > low))
		return NAN;
	int least = exponent(high - low) - 1;
	least = least < -decimals ? -decimals : least;
	for (int power = exponent(fmax(fabs(low), fabs(high))) + 1; power >= least; power--)
		for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
			double value = multiple_within(low, high, steps[i] * pow(10, power));
			if (!isnan(value))
				return value;
		}
	return NAN;
}

/* A round value about the middle of the axis, as the axis has it; NAN: there is none. */
static double middle_of(const struct axis *a)
{
	double low = a->low + MIDDLE_FROM * (a->high - a->low);
	double high = a->low + MIDDLE_TO * (a->high - a->low);
	if (!a->log)
		return round_within(low / a->unit, high / a->unit, a->decimals) * a->unit;
	double decade = multiple_within(low, high, 1);
	return isnan(decade) ? log10(round_within(pow(10, low), pow(10, high), MOST_DECIMALS))
			     : decade;
}

/* The cell of a value, 0 … cells - 1; `beyond` says on which side it lies outside. */
static size_t place(const struct axis *a, double value, size_t cells, int *beyond)
{
	*beyond = value < a->low ? -1 : value > a->high ? 1 : 0;
	double at = (value - a->low) / (a->high - a->low) * (double)cells;
	if (!(at > 0))
		return 0;
	return at < (double)cells ? (size_t)at : cells - 1;
}

/* ---- the area within them ---- */

struct cell {
	uint8_t dots;
	char outside;	   /* its sign; 0: none */
	char sign, second; /* 0: none */
	uint32_t points, marked;
};

struct area {
	size_t columns, lines; /* of cells */
	size_t wide;	       /* columns of the screen that a cell has */
	struct axis x, y;
	struct cell *cells; /* the top line first */
	size_t drawn;
	double middle; /* told on the y axis; NAN: not */
	bool few;
};

static void add_sign(struct cell *c, char sign, bool marked, bool wide)
{
	bool mixed = c->points && marked != (c->marked > 0);
	if (!c->points) {
		c->sign = sign;
	} else if (!mixed && (c->sign == sign || c->second == sign)) {
		return;
	} else if (!mixed && wide && c->sign != '*' && !c->second) {
		c->second = sign;
	} else {
		c->sign = '*';
		c->second = 0;
	}
}

static void draw(struct area *a, double x, double y, bool marked, char sign)
{
	/* of the left and the right column of a cell, from its top */
	static const uint8_t bits[FINE_X][FINE_Y] = { { 0x01, 0x02, 0x04, 0x40 },
						      { 0x08, 0x10, 0x20, 0x80 } };
	int right, above;
	x = a->x.log ? log10(x) : x;
	y = a->y.log ? log10(y) : y;
	if (!isfinite(x) || !isfinite(y))
		return;
	size_t column = place(&a->x, x, a->columns * FINE_X, &right);
	size_t line = a->lines * FINE_Y - 1 - place(&a->y, y, a->lines * FINE_Y, &above);
	struct cell *c = &a->cells[line / FINE_Y * a->columns + column / FINE_X];
	c->dots |= bits[column % FINE_X][line % FINE_Y];
	if (sign)
		add_sign(c, sign, marked, a->wide > 1);
	c->points++;
	c->marked += marked;
	if (above)
		c->outside = above > 0 ? '^' : 'v';
	else if (right)
		c->outside = right > 0 ? '>' : '<';
	a->drawn++;
}

static void put_cell(const struct cell *c, const struct area *a, bool ascii, bool colour,
		     struct strbuf *out)
{
	char sign[4] = " ";
	bool few = a->few, parentheses = a->wide > 1 && c->marked && c->marked == c->points;
	size_t used = 1;
	if (c->outside)
		sign[0] = c->outside;
	else if (c->sign)
		used = (size_t)snprintf(sign, sizeof sign, c->second ? "%c%c" : "%c", c->sign,
					c->second);
	else if (c->marked)
		snprintf(sign, sizeof sign, "%s", ascii ? "x" : "●");
	else if (c->points && ascii)
		sign[0] = c->points >= MANY ? '#' : c->points >= SEVERAL ? ':' : few ? 'o' : '.';
	else if (c->points && few)
		snprintf(sign, sizeof sign, "•");
	else if (c->points) { /* U+2800 and the dots */
		sign[0] = (char)0xe2;
		sign[1] = (char)(0xa0 | c->dots >> 6);
		sign[2] = (char)(0x80 | (c->dots & 0x3f));
	}
	if (colour && c->marked)
		strbuf_puts(out, RED);
	strbuf_puts(out, a->wide == 1 ? "" : parentheses ? "(" : " ");
	strbuf_puts(out, sign);
	strbuf_puts(out, a->wide == 1 ? "" : parentheses ? ")" : " ");
	if (colour && c->marked)
		strbuf_puts(out, RESET);
	strbuf_pad(out, ' ', a->wide == 1 ? 0 : a->wide - 2 - used);
}

/* ---- the whole ---- */

static void end_line(struct strbuf *out)
{
	while (out->length && out->text[out->length - 1] == ' ')
		out->text[--out->length] = '\0';
	strbuf_putc(out, '\n');
}

static size_t line_of(const struct area *a, double y)
{
	int ignored;
	return (a->lines * FINE_Y - 1 - place(&a->y, y, a->lines * FINE_Y, &ignored)) / FINE_Y;
}

/* Values at the top, about the middle and at the bottom. */
static void put_lines(const struct area *a, size_t left, bool ascii, bool colour,
		      struct strbuf *out)
{
	static const char *const ticks[] = { "┤", "│" };
	bool has_middle = a->lines >= 5 && !isnan(a->middle);
	size_t middle = has_middle ? line_of(a, a->middle) : a->lines / 2;
	for (size_t line = 0; line < a->lines; line++) {
		bool told = !line || line + 1 == a->lines || (has_middle && line == middle);
		double value = !line ? a->y.high : line + 1 == a->lines ? a->y.low : a->middle;
		char label[WORDS] = "";
		if (told)
			axis_text(&a->y, value, label);
		size_t width = text_width(label);
		strbuf_pad(out, ' ', width < left ? left - width : 0);
		strbuf_puts(out, label);
		strbuf_putc(out, ' ');
		strbuf_puts(out, ascii ? (told ? "+" : "|") : ticks[!told]);
		if (!a->drawn && line == middle) {
			strbuf_puts(out, " no points");
		} else
			for (size_t column = 0; column < a->columns; column++)
				put_cell(&a->cells[line * a->columns + column], a, ascii, colour,
					 out);
		end_line(out);
	}
}

/* text so that it begins at a column of the line, as far as that is still to come. */
static void put_at(struct strbuf *line, size_t column, const char *text)
{
	size_t used = text_width(strbuf_text(line));
	strbuf_pad(line, ' ', column > used ? column - used : 0);
	strbuf_puts(line, text);
}

/* The ends at the ends, and what it is between them, as far as there is room. */
static void put_x_axis(const struct area *a, size_t left, const char *name, bool ascii,
		       struct strbuf *out)
{
	char low[WORDS], high[WORDS];
	SCOPED(strbuf_release) struct strbuf line = { 0 }, label = { 0 };
	strbuf_pad(out, ' ', left + 1);
	strbuf_puts(out, ascii ? "+" : "└");
	for (size_t i = 0; i < a->columns * a->wide; i++)
		strbuf_puts(out, ascii ? "-" : "─");
	strbuf_putc(out, '\n');
	axis_text(&a->x, a->x.low, low);
	axis_text(&a->x, a->x.high, high);
	size_t begin = left + 2, end = begin + a->columns * a->wide;
	size_t low_end = begin + text_width(low), high_begin = end - text_width(high);
	put_at(&line, low_end > end ? end - text_width(low) : begin, low);
	if (high_begin > low_end) {
		size_t room = high_begin - low_end > 4 ? high_begin - low_end - 4 : 0;
		put_fitted(&label, name ? name : "", room);
		size_t spare = room - text_width(strbuf_text(&label));
		if (label.length)
			put_at(&line, low_end + 2 + spare / 2, strbuf_text(&label));
		put_at(&line, high_begin, high);
	}
	strbuf_puts(out, strbuf_text(&line));
	strbuf_putc(out, '\n');
}

static size_t label_columns(const struct axis *y, double middle)
{
	const double values[] = { y->low, isnan(middle) ? y->low : middle, y->high };
	size_t most = 0;
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		char text[WORDS];
		axis_text(y, values[i], text);
		most = text_width(text) > most ? text_width(text) : most;
	}
	return most;
}

/* Points alone; a ring would hide the point within. */
static bool is_drawn(const struct chart_series *s)
{
	return s->block != CHART_KEY_ONLY && s->shape == CHART_POINTS && s->role != CHART_RING;
}

static bool is_marked(const struct chart_series *s)
{
	return s->role > CHART_KEPT && s->role <= CHART_CROSS;
}

/* The window of an axis, else from the least to the most of its points. */
static struct axis axis_for(const struct chart *c, bool across)
{
	const struct chart_axis *a = across ? &c->x : &c->y;
	double low = INFINITY, high = -INFINITY;
	for (size_t k = 0; k < c->series.count; k++) {
		const struct chart_series *s = &c->series.items[k];
		size_t rows = is_drawn(s) ? c->blocks.items[s->block].count : 0;
		for (size_t i = 0; i < rows; i++) {
			double value = chart_at(c, s->block, i, across ? s->x : s->y);
			if (!chart_has(c, s, i) || (a->log && !(value > 0)))
				continue;
			low = fmin(low, value);
			high = fmax(high, value);
		}
	}
	return axis_of(isnan(a->from) ? low : a->from, isnan(a->to) ? high : a->to,
		       a->unit_name || a->notation == CHART_TIMES, a->log);
}

bool chart_points_text(const struct chart *c, const struct chart_screen *s, struct strbuf *out)
{
	struct area a = { .wide = 1,
			  .lines = s->height < LEAST_HEIGHT ? LEAST_HEIGHT : s->height,
			  .x = axis_for(c, true),
			  .y = axis_for(c, false) };
	size_t count = 0, width = s->width < LEAST_WIDTH ? LEAST_WIDTH : s->width;
	bool shared = false;
	for (size_t k = 0; k < c->series.count; k++) {
		const struct chart_series *of = &c->series.items[k];
		size_t rows = is_drawn(of) ? c->blocks.items[of->block].count : 0;
		for (size_t i = 0; i < rows; i++)
			if (chart_has(c, of, i)) {
				count++;
				a.wide = of->sign && is_marked(of) ? SIGN_COLUMNS : a.wide;
			}
	}
	a.few = count <= FEW;
	a.middle = middle_of(&a.y);
	size_t left = label_columns(&a.y, a.middle), from = out->length;
	a.columns = (width - left - 2) / a.wide; /* labels have MOST_DIGITS, a unit, and signs */
	a.cells = xcalloc(a.columns * a.lines, sizeof *a.cells);
	for (size_t k = 0; k < c->series.count; k++) {
		const struct chart_series *of = &c->series.items[k];
		size_t rows = is_drawn(of) ? c->blocks.items[of->block].count : 0;
		for (size_t i = 0; i < rows; i++)
			if (chart_has(c, of, i))
				draw(&a, chart_at(c, of->block, i, of->x),
				     chart_at(c, of->block, i, of->y), is_marked(of), of->sign);
	}
	const char *const heads[] = { s->title, s->y_label };
	for (size_t i = 0; i < 2; i++)
		if (heads[i]) {
			SCOPED(strbuf_release) struct strbuf head = { 0 };
			put_fitted(&head, heads[i], width);
			put_coloured(out, s->colour && !i, BOLD, strbuf_text(&head));
			strbuf_putc(out, '\n');
		}
	put_lines(&a, left, s->ascii, s->colour, out);
	put_x_axis(&a, left, c->x.name, s->ascii, out);
	style_finish(&(struct style){ .ascii = s->ascii }, out, from);
	for (size_t i = 0; i < a.columns * a.lines; i++)
		shared |= a.cells[i].sign == '*' && !a.cells[i].outside;
	xfree(a.cells);
	return shared;
}

/* ---- areas ---- */

#define AREA_LINES 12
#define AREA_LEFT 8 /* columns of the axis */
#define AREA_MOST 160

/* log10 of the mean over each column: a peak narrower than one must not fall between two. */
static void column_means(const struct chart *c, const struct chart_series *s, double low,
			 double high, size_t columns, double *out)
{
	size_t counts[AREA_MOST] = { 0 };
	double sums[AREA_MOST] = { 0 };
	for (size_t i = 0; i < c->blocks.items[s->block].count; i++) {
		double x = log10(chart_at(c, s->block, i, s->x));
		double y = chart_at(c, s->block, i, s->y);
		double at = floor((x - low) / (high - low) * (double)columns);
		if (at < 0 || at >= (double)columns)
			continue;
		counts[(size_t)at]++;
		sums[(size_t)at] += y > 0 ? y : 0;
	}
	for (size_t i = 0; i < columns; i++)
		out[i] = sums[i] > 0 ? log10(sums[i] / (double)counts[i]) : -INFINITY;
}

static void put_decades(int first, int last, size_t columns, bool ascii, struct strbuf *out)
{
	SCOPED(strbuf_release) struct strbuf labels = { 0 };
	size_t at = AREA_LEFT, tick = 0;
	strbuf_pad(out, ' ', AREA_LEFT - 1);
	strbuf_puts(out, ascii ? "+" : "└");
	for (int decade = first; decade <= last; decade++) {
		char name[WORDS];
		size_t column = (size_t)(decade - first) * columns / (size_t)(last - first);
		for (; tick < column && tick < columns; tick++)
			strbuf_puts(out, ascii ? "-" : "─");
		if (column < columns && tick++ == column)
			strbuf_puts(out, ascii ? "+" : "┬");
		text_duration(pow(10, decade), 1, name, sizeof name);
		size_t width = text_width(name), begin = AREA_LEFT + column;
		if (begin + width > AREA_LEFT + columns)
			begin = AREA_LEFT + columns - width;
		if (begin < at)
			continue;
		put_at(&labels, begin, name);
		at = begin + width + 1;
	}
	strbuf_printf(out, "\n%s\n", strbuf_text(&labels));
}

static void put_spans(const struct chart *c, double low, double high, size_t columns,
		      struct strbuf *out)
{
	char signs[AREA_MOST + 1] = "";
	bool any = false;
	memset(signs, ' ', columns);
	for (size_t k = 0; k < c->series.count; k++) {
		const struct chart_series *s = &c->series.items[k];
		size_t rows = s->shape == CHART_SPANS ? c->blocks.items[s->block].count : 0;
		for (size_t i = 0; i < rows * columns; i++) {
			double at = low +
				    (high - low) * ((double)(i % columns) + 0.5) / (double)columns;
			if (pow(10, at) < chart_at(c, s->block, i / columns, s->x) ||
			    pow(10, at) >= chart_at(c, s->block, i / columns, s->x + 1))
				continue;
			signs[i % columns] = s->sign;
			any = true;
		}
	}
	if (!any)
		return;
	strbuf_pad(out, ' ', AREA_LEFT);
	strbuf_puts(out, signs);
	end_line(out);
}

void chart_areas_text(const struct chart *c, const struct chart_screen *s, struct strbuf *out)
{
	static const char *const marks[2][4] = { { " ", ":", "o", "#" }, { " ", "░", "▒", "█" } };
	double means[2][AREA_MOST], top = log10(c->y.from) + 1, bottom = log10(c->y.from);
	double low = log10(c->x.from), high = log10(c->x.to);
	size_t columns = s->width - AREA_LEFT < AREA_MOST ? s->width - AREA_LEFT : AREA_MOST;
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < columns; i++) {
			if (!i && k < c->series.count)
				column_means(c, &c->series.items[k], low, high, columns, means[k]);
			else if (k >= c->series.count)
				means[k][i] = -INFINITY;
			top = fmax(top, means[k][i]);
		}
	double step = (top - bottom) / AREA_LINES;
	for (size_t line = 0; line < AREA_LINES; line++) {
		double level = bottom + step * (double)(AREA_LINES - 1 - line);
		double decade = ceil(level - 1e-9);
		/* a decade is named on the line in which it begins */
		if (decade < level + step - 1e-9)
			strbuf_printf(out, "%*.0e ", AREA_LEFT - 2, pow(10, decade));
		else
			strbuf_pad(out, ' ', AREA_LEFT - 1);
		strbuf_puts(out, s->ascii ? "|" : "│");
		for (size_t i = 0; i < columns; i++)
			strbuf_puts(out, marks[!s->ascii][(means[0][i] >= level) +
							  2 * (means[1][i] >= level)]);
		end_line(out);
	}
	put_spans(c, low, high, columns, out);
	put_decades((int)lround(low), (int)lround(high), columns, s->ascii, out);
}

/* ---- bars ---- */

#define NAME_COLUMNS 24

void put_bar(double share, size_t columns, bool ascii, struct strbuf *out)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	size_t length = share > 0 ? (size_t)lround(share * (double)columns * 8) : 0;
	size_t whole = ascii ? (length + 4) / 8 : length / 8;
	for (size_t i = 0; i < whole; i++)
		strbuf_puts(out, ascii ? "#" : "█");
	strbuf_puts(out, ascii ? "" : eighths[length % 8]);
}

void chart_bars_text(const struct chart *c, const struct chart_screen *s, struct strbuf *out)
{
	const struct chart_block *b = &c->blocks.items[0];
	unsigned column = c->series.items[0].x;
	size_t from = out->length, text = 0;
	double most = 0;
	for (size_t i = 0; i < b->count; i++) {
		most = fmax(most, chart_at(c, 0, i, column));
		text = text_width(b->names.items[i]) > text ? text_width(b->names.items[i]) : text;
	}
	size_t used = NAME_COLUMNS + 2 + text + 1;
	put_coloured(out, s->colour, BOLD, s->title);
	strbuf_putc(out, '\n');
	for (size_t i = 0; i < b->count; i++) {
		FREED char *name = display_copy(c->y.ticks.items[i].label);
		SCOPED(strbuf_release) struct strbuf fitted = { 0 };
		put_middle(&fitted, name, NAME_COLUMNS);
		put_columns(out, strbuf_text(&fitted), NAME_COLUMNS);
		strbuf_pad(out, ' ', 1 + text - text_width(b->names.items[i]));
		strbuf_puts(out, b->names.items[i]);
		strbuf_putc(out, ' ');
		put_bar(most > 0 ? chart_at(c, 0, i, column) / most : 0,
			s->width > used ? s->width - used : 1, s->ascii, out);
		strbuf_putc(out, '\n');
	}
	style_finish(&(struct style){ .ascii = s->ascii }, out, from);
}

void put_spark(const size_t *counts, size_t count, bool ascii, struct strbuf *out)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const plain[] = { " ", ".", ":", "-", "=", "+", "*", "%", "#" };
	size_t highest = 1;
	for (size_t i = 0; i < count; i++)
		highest = counts[i] > highest ? counts[i] : highest;
	strbuf_puts(out, ascii ? "|" : "▕");
	for (size_t i = 0; i < count; i++)
		strbuf_puts(out, (ascii ? plain : blocks)[(counts[i] * 8 + highest - 1) / highest]);
	strbuf_puts(out, ascii ? "|" : "▏");
}
