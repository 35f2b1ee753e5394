/* Axes of charts: what they hold, and the numbers beside them. Those are chosen here and not by
 * gnuplot, whose own run into each other on a figure one column wide and change their notation
 * within an axis. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/chart/chart.h"

/* ---- what they hold ---- */

void chart_axis_label(struct chart_axis *a, const char *label)
{
	xfree(a->name);
	xfree(a->label);
	a->name = xstrdup(label);
	a->label = xstrdup(label);
}

void chart_axis_time(struct chart_axis *a, const char *label, double most_ns)
{
	static const struct {
		double from_ns, unit_ns;
		const char *name;
	} units[] = { { 2 * 86400e9, 86400e9, "days" },
		      { 2 * 3600e9, 3600e9, "h" },
		      { 300e9, 60e9, "min" },
		      { 1e9, 1e9, "s" },
		      { 1e6, 1e6, "ms" },
		      { 1e3, 1e3, "µs" },
		      { 0, 1, "ns" } };
	char text[WORDS];
	size_t i = 0;
	while (i + 1 < sizeof units / sizeof *units && most_ns < units[i].from_ns)
		i++;
	a->unit = units[i].unit_ns;
	a->unit_name = units[i].name;
	/* "process time (net), ms" */
	bool bracket = *label && label[strlen(label) - 1] == ')';
	snprintf(text, sizeof text, bracket ? "%s, %s" : "%s (%s)", label, units[i].name);
	chart_axis_label(a, label);
	xfree(a->label);
	a->label = xstrdup(text);
}

#define AROUND 0.04 /* of the range: room for a sign at the edge */

void chart_axis_range(struct chart_axis *a, double low, double high)
{
	double least = fmax(CHART_LEAST_PART * fmax(fabs(low), fabs(high)), 1);
	double more = fmax((least - (high - low)) / 2, 0);
	a->low = (low - more) / a->unit;
	a->high = (high + more) / a->unit;
	/* what is never negative has no axis that is */
	a->low = low >= 0 && a->low < 0 ? 0 : a->low;
}

void chart_axis_span(struct chart_axis *a, double low, double high)
{
	double room = high > low ? AROUND * (high - low) : fmax(fabs(high) * 0.01, 1);
	chart_axis_range(a, low >= 0 ? fmax(low - room, 0) : low - room, high + room);
}

void chart_axis_from_zero(struct chart_axis *a, double high)
{
	a->low = 0;
	a->high = high > 0 ? high * (1 + AROUND) / a->unit : 1;
}

static void add_tick(chart_ticks *t, double at, const char *label)
{
	array_push(t, (struct chart_tick){ at, label ? xstrdup(label) : NULL });
}

void chart_axis_tick(struct chart_axis *a, double at, const char *label)
{
	add_tick(&a->ticks, at, label);
}

/* The nearest 1, 2 or 5 of a power of ten that is not above, or not below. */
static double round_log(double x, bool up)
{
	static const double steps[] = { 1, 2, 5, 10 };
	double decade = pow(10, floor(log10(x) + 1e-9));
	size_t i = 0;
	while (i < 3 && decade * steps[up ? i : i + 1] <= x * (up ? 1 - 1e-9 : 1 + 1e-9))
		i++;
	return decade * steps[i];
}

void chart_axis_log(struct chart_axis *a, const char *label, double low, double high,
		    enum chart_notation notation)
{
	low = round_log(low, false);
	high = round_log(high, true);
	if (high < low * 4) { /* one value, or nearly */
		low = round_log(low / 1.5, false);
		high = round_log(high * 1.5, true);
	}
	a->log = true;
	a->notation = notation;
	/* a tick at the very end would be left out by how it is rounded */
	a->low = low * 0.9999;
	a->high = high * 1.0001;
	chart_axis_label(a, label);
}

#define ROW_CM 0.38
#define LEAST_ROW_CM 0.12
#define MOST_ROWS_CM 22 /* a page */
#define ROWS_AROUND_CM 1.6

void chart_axis_rows(struct chart *c, size_t count)
{
	double rows = ROW_CM * (double)count;
	if (rows > MOST_ROWS_CM)
		rows = fmax(MOST_ROWS_CM, LEAST_ROW_CM * (double)count);
	c->y.low = (double)count - 0.4;
	c->y.high = -0.6;
	c->rows = true;
	c->height_cm = fmax(ROWS_AROUND_CM + rows, 3.5);
}

/* ---- the numbers beside them ---- */

/* "10⁻³", "2·10⁻³" */
static void power_text(double value, char out[WORDS])
{
	static const char *const digits[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
	char plain[16];
	int power = (int)floor(log10(value) + 1e-9);
	double times = value / pow(10, power);
	size_t used = 0;
	if (times > 1.5)
		used = (size_t)snprintf(out, WORDS, "%.0f·", times);
	used += (size_t)snprintf(out + used, WORDS - used, "10");
	snprintf(plain, sizeof plain, "%d", power);
	for (const char *c = plain; *c; c++)
		used += (size_t)snprintf(out + used, WORDS - used, "%s",
					 *c == '-' ? "⁻" : digits[*c - '0']);
}

/* "200k": thousands, millions and so on where the largest has that many. step: to which digit. */
static void number_text(double value, double most, double step, char out[WORDS])
{
	static const struct {
		double from, scale;
		const char *suffix;
	} units[] = {
		{ 1e12, 1e12, "T" }, { 1e9, 1e9, "G" }, { 1e6, 1e6, "M" }, { 1e4, 1e3, "k" }
	};
	double scale = 1;
	const char *suffix = "";
	for (size_t i = 0; i < sizeof units / sizeof *units && scale == 1; i++)
		if (most >= units[i].from && step >= units[i].scale / 100) {
			scale = units[i].scale;
			suffix = units[i].suffix;
		}
	int decimals = (int)fmax(0, -floor(log10(step / scale) + 1e-9));
	if (fabs(value) < step / 1000)
		snprintf(out, WORDS, "0");
	else
		snprintf(out, WORDS, "%.*f%s", decimals, value / scale, suffix);
}

void chart_count_text(double value, int digits, char out[WORDS])
{
	static const char *const suffixes[] = { "", "k", "M", "G", "T" };
	double thousand = 1000 - 0.5 * pow(10, 3 - digits); /* what is rounded to it */
	size_t i = 0;
	for (; i < 4 && value >= thousand; i++)
		value /= 1000;
	snprintf(out, WORDS, "%.*g%s", digits, value, suffixes[i]);
}

static void log_text(const struct chart_axis *a, double value, char out[WORDS])
{
	switch (a->notation) {
	case CHART_TIMES:
		if (value < 0.95) /* text_duration() knows nothing below 1 ns */
			snprintf(out, WORDS, "%.*f ns", (int)-floor(log10(value) + 1e-9), value);
		else
			text_duration(value, 1, out, WORDS);
		break;
	case CHART_POWERS:
		power_text(value, out);
		break;
	default:
		chart_count_text(value, 4, out);
	}
}

#define EM_CM 0.282 /* 8 points */

double chart_text_cm(const char *text)
{
	static const struct {
		const char *characters;
		double em;
	} widths[] = { { "Iijl|'", 0.29 },	  { " .,:;!/\\()[]-ft`r", 0.39 },
		       { "mMwW%@", 0.95 },	  { "<>+=~#", 0.84 },
		       { "sckvxyzeoa_\"J", 0.6 }, { "0123456789bdghnpqu$?", 0.64 } };
	double em = 0;
	for (const char *c = text; *c; c++) {
		double width = (*c & 0xc0) == 0x80 ? 0
						   : 0.75; /* of any other, capitals among them */
		for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
			if (strchr(widths[i].characters, *c)) {
				width = widths[i].em;
				break;
			}
		em += width;
	}
	return em * EM_CM;
}

void chart_ticks_release(chart_ticks *t)
{
	for (size_t i = 0; i < t->count; i++)
		xfree(t->items[i].label);
	array_release(t);
}

static double place_cm(const struct chart_axis *a, double at, double cm)
{
	double low = a->log ? log10(a->low) : a->low, high = a->log ? log10(a->high) : a->high;
	return ((a->log ? log10(at) : at) - low) / (high - low) * cm;
}

#define GAP_CM 0.25  /* at least, between two labels beside each other */
#define LINE_CM 0.45 /* from one to the next where they are above each other */

/* No two labels touch each other. */
static bool is_loose(const struct chart_axis *a, const chart_ticks *t, double cm, bool across)
{
	const struct chart_tick *before = NULL;
	for (size_t i = 0; i < t->count; i++) {
		const struct chart_tick *tick = &t->items[i];
		if (!tick->label)
			continue;
		double need = LINE_CM;
		if (before && across)
			need = GAP_CM +
			       (chart_text_cm(before->label) + chart_text_cm(tick->label)) / 2;
		if (before && place_cm(a, tick->at, cm) - place_cm(a, before->at, cm) < need)
			return false;
		before = tick;
	}
	return true;
}

#define MOST_NUMBERS 8
#define MOST_STEPS 20

static size_t add_linear(const struct chart_axis *a, double step, chart_ticks *t)
{
	double most = fmax(fabs(a->low), fabs(a->high)), slack = (a->high - a->low) * 1e-9;
	double first = ceil((a->low - slack) / step);
	/* counted by an integer: k + 1 is k for numbers that are large enough */
	for (int i = 0; i <= MOST_STEPS; i++) {
		char label[WORDS];
		double at = (first + i) * step + 0.0; /* which is never -0 */
		if (at > a->high + slack)
			break;
		number_text(at, most, step, label);
		add_tick(t, at, label);
	}
	return t->count;
}

static void linear_ticks(const struct chart_axis *a, double cm, bool across, chart_ticks *t)
{
	static const double steps[] = { 1, 2, 5, 10, 20, 50, 100, 200, 500 };
	double range = a->high - a->low, decade = pow(10, floor(log10(range)) - 1);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		double step = decade * steps[i];
		if (a->notation == CHART_COUNTS && step < 0.999)
			continue;
		if (range / step > MOST_STEPS)
			continue;
		chart_ticks_release(t);
		size_t count = add_linear(a, step, t);
		if (count <= MOST_NUMBERS && is_loose(a, t, cm, across))
			return;
	}
}

/* Small ones between decades, where they are no grey bar. */
#define SMALL_FROM_CM 0.45

/* Decades with labels; false: there are none, or too few. */
static bool decade_ticks(const struct chart_axis *a, double cm, bool across, chart_ticks *t)
{
	int first = (int)floor(log10(a->low) + 1e-3), last = (int)floor(log10(a->high));
	bool small = cm / log10(a->high / a->low) >= SMALL_FROM_CM;
	for (int each = 1; each <= 12; each++) {
		size_t labelled = 0;
		chart_ticks_release(t);
		for (int power = first; power <= last; power++) {
			bool named = (power % each + each) % each == 0;
			char label[WORDS];
			double at = pow(10, power);
			if (at >= a->low && at <= a->high) {
				log_text(a, at, label);
				add_tick(t, at, named ? label : NULL);
			}
			for (int i = 2; i < 10 && small; i++)
				if (i * at >= a->low && i * at <= a->high)
					add_tick(t, i * at, NULL);
			labelled += named && pow(10, power) >= a->low;
		}
		if (labelled < 2)
			return false;
		if (is_loose(a, t, cm, across))
			return true;
	}
	return false;
}

/* Within a decade or two: 1, 2, 5, else 1, 3, have labels. */
static void inner_ticks(const struct chart_axis *a, double cm, bool across, chart_ticks *t)
{
	static const char *const named[] = { "1 2 5", "1 3", "1 5", "2", "1" };
	int first = (int)floor(log10(a->low)), last = (int)floor(log10(a->high));
	for (size_t k = 0; k < sizeof named / sizeof *named; k++) {
		size_t labelled = 0;
		chart_ticks_release(t);
		for (int power = first; power <= last; power++)
			for (int i = 1; i < 10; i++) {
				char label[WORDS];
				double at = i * pow(10, power);
				bool is_named = strchr(named[k], '0' + i) != NULL;
				if (at < a->low || at > a->high)
					continue;
				log_text(a, at, label);
				add_tick(t, at, is_named ? label : NULL);
				labelled += is_named;
			}
		if (labelled && is_loose(a, t, cm, across))
			return;
	}
}

void chart_axis_ticks(const struct chart_axis *a, double cm, bool across, chart_ticks *t)
{
	if (!isfinite(a->low) || !isfinite(a->high) || !(a->high > a->low) ||
	    (a->log && !(a->low > 0)))
		return; /* gnuplot's own */
	if (!a->log)
		linear_ticks(a, cm, across, t);
	else if (!decade_ticks(a, cm, across, t))
		inner_ticks(a, cm, across, t);
}
