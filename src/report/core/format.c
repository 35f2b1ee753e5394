#include "report/core/format.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/text.h"
#include "record/execution.h"

static const struct scale scales[] = {
	[TIME_UNIT_SECOND] = { 1e9, "s", 0 },
	[TIME_UNIT_MILLISECOND] = { 1e6, "ms", 0 },
	[TIME_UNIT_MICROSECOND] = { 1e3, "µs", 0 },
	[TIME_UNIT_NANOSECOND] = { 1, "ns", 0 },
};

static int exponent_of(double x)
{
	return x > 0 && isfinite(x) ? (int)floor(log10(x) + 1e-9) : 0;
}

enum time_unit natural_unit(double ns)
{
	return fabs(ns) >= 1e9	 ? TIME_UNIT_SECOND
	       : fabs(ns) >= 1e6 ? TIME_UNIT_MILLISECOND
	       : fabs(ns) >= 1e3 ? TIME_UNIT_MICROSECOND
				 : TIME_UNIT_NANOSECOND;
}

static struct scale unit_for(double ns, enum time_unit unit)
{
	return scales[unit == TIME_UNIT_AUTO ? natural_unit(ns) : unit];
}

/* Nothing is known below the ns, and a tenth digit helps nobody. */
static int limited(int decimals, double value_ns, const struct scale *scale)
{
	int most = exponent_of(scale->ns);
	int digits = 8 - 1 - exponent_of(fabs(value_ns) / scale->ns);
	decimals = decimals > digits ? digits : decimals;
	decimals = decimals > most ? most : decimals;
	return decimals > 0 ? decimals : 0;
}

struct scale scale_for(double ns, enum time_unit unit)
{
	double rounded = fabs(ns) * 1.0005; /* 99.97 to three digits is 100, not 100.0 */
	struct scale s = unit_for(rounded, unit);
	s.decimals = limited(2 - exponent_of(rounded / s.ns), ns, &s);
	return s;
}

struct scale scale_of_summary(const struct summary *summary, enum time_unit unit)
{
	struct scale s = unit_for(summary->mean, unit);
	double error = summary->n > 1 ? summary->stddev / sqrt((double)summary->n) / s.ns : 0;
	int decimals = 3 - exponent_of(fabs(summary->mean) / s.ns);
	if (error > 0) {
		int exponent = exponent_of(error);
		decimals = -exponent + (error / pow(10, exponent) < 2 ? 1 : 0);
	}
	s.decimals = limited(decimals, summary->mean, &s);
	return s;
}

void format_figure(double ns, const struct scale *scale, char out[WORDS])
{
	snprintf(out, WORDS, "%.*f", scale->decimals, ns / scale->ns);
}

void format_time(double ns, const struct scale *scale, char out[WORDS])
{
	snprintf(out, WORDS, "%.*f %s", scale->decimals, ns / scale->ns, scale->unit);
}

void format_duration(double ns, int digits, enum time_unit unit, char out[WORDS])
{
	struct scale s = scale_for(ns, unit);
	if (unit == TIME_UNIT_AUTO)
		text_duration(ns, digits, out, WORDS);
	else
		format_time(ns, &s, out);
}

void format_ns(double ns, char out[WORDS])
{
	char text[WORDS / 2];
	text_duration(ns, 3, text, sizeof text);
	char *space = strchr(text, ' ');
	if (space)
		*space = '\0';
	snprintf(out, WORDS, "%s%s%s", text, space ? NO_BREAK : "", space ? space + 1 : "");
}

struct words format_words(void (*format)(double, char[WORDS]), double value)
{
	struct words made;
	format(value, made.text);
	return made;
}

struct words format_decimals(void (*format)(double, int, char[WORDS]), double value, int decimals)
{
	struct words made;
	format(value, decimals, made.text);
	return made;
}

void format_percent(double fraction, char out[WORDS])
{
	double percent = fraction * 100;
	if (percent > 0 && percent < 0.001)
		snprintf(out, WORDS, "<0.001 %%");
	else if (percent >= 0.001) {
		int decimals = 1 - exponent_of(percent);
		decimals = decimals > 3 ? 3 : decimals;
		snprintf(out, WORDS, "%.*f %%", decimals > 0 ? decimals : 0, percent);
	} else
		snprintf(out, WORDS, "%.0f %%", percent);
}

void format_points(double fraction, int decimals, char out[WORDS])
{
	double percent = fraction * 100, least = pow(10, -decimals);
	if (!isfinite(fraction))
		snprintf(out, WORDS, "-");
	else if (percent > 0 && percent < least / 2)
		snprintf(out, WORDS, "<%.*f", decimals, least);
	else
		snprintf(out, WORDS, "%.*f", decimals, percent);
}

void format_share(double fraction, int decimals, char out[WORDS])
{
	double percent = fraction * 100, least = pow(10, -decimals);
	char points[WORDS / 2];
	format_points(fraction, decimals, out);
	if (!isfinite(fraction))
		return;
	if (percent < 100 && percent >= 100 - least / 2)
		snprintf(out, WORDS, ">%.*f", decimals, 100 - least);
	snprintf(points, sizeof points, "%s", out);
	snprintf(out, WORDS, "%s" NO_BREAK "%%", points);
}

void format_count(uint64_t n, char out[WORDS])
{
	char digits[32];
	size_t length = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
	size_t to = 0;
	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			out[to++] = ',';
		out[to++] = digits[i];
	}
	out[to] = '\0';
}

void format_amount(double value, char out[WORDS])
{
	static const char *const units[] = { "", " k", " M", " G", " T" };
	size_t u = 0;
	double v = fabs(value);
	for (; v >= 999.5 && u + 1 < sizeof units / sizeof *units; u++)
		v /= 1000;
	int decimals = v == 0 || (!u && v == round(v)) || v >= 100 ? 0 : v >= 10 ? 1 : 2;
	snprintf(out, WORDS, "%s%.*f%s", value < 0 ? "-" : "", decimals, v, units[u]);
}

void format_p(double p, char out[WORDS])
{
	if (p < 0.001)
		snprintf(out, WORDS, "p < 0.001");
	else
		snprintf(out, WORDS, "p = %.*f", p < 0.0995 ? 3 : 2, p);
}

int ratio_decimals(double spread)
{
	if (!(spread > 0))
		return 2;
	int exponent = exponent_of(spread);
	int decimals = -exponent + (spread / pow(10, exponent) < 2 ? 1 : 0);
	return decimals < 0 ? 0 : decimals > 6 ? 6 : decimals;
}

void format_exact(double value, char out[WORDS])
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(out, WORDS, "%.*g", digits, value);
		if (strtod(out, NULL) == value)
			return;
	}
}

void format_iso8601(int64_t realtime_ns, char out[WORDS])
{
	int64_t ms = realtime_ns / 1000000 - (realtime_ns % 1000000 < 0);
	int64_t seconds = ms / 1000 - (ms % 1000 < 0);
	time_t when = (time_t)seconds;
	struct tm tm;
	char date[64];
	if (!gmtime_r(&when, &tm) || !strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm))
		snprintf(date, sizeof date, "1970-01-01T00:00:00");
	snprintf(out, WORDS, "%s.%03dZ", date, (int)(ms - seconds * 1000));
}

char *display_copy(const char *s)
{
	size_t size = 4 * strlen(s) + 1; /* every byte as \xNN */
	char *out = xmalloc(size);
	text_display(s, out, size);
	return out;
}

static size_t character(const char *s, size_t *columns)
{
	size_t n = utf8_length(s, strnlen(s, 4));
	n = n ? n : 1;
	char one[8] = "";
	for (size_t i = 0; i < n; i++)
		one[i] = s[i];
	*columns = text_width(one);
	return n;
}

/* Bytes of s that fit into `columns`, never splitting a character. */
static size_t fitting(const char *s, size_t columns)
{
	size_t bytes = 0, used = 0;
	while (s[bytes]) {
		size_t width, n = character(s + bytes, &width);
		if (used + width > columns)
			break;
		used += width;
		bytes += n;
	}
	return bytes;
}

void put_fitted(struct strbuf *out, const char *s, size_t columns)
{
	if (text_width(s) <= columns) {
		strbuf_puts(out, s);
	} else if (columns) {
		strbuf_add(out, s, fitting(s, columns - 1));
		strbuf_puts(out, "…");
	}
}

void put_middle(struct strbuf *out, const char *s, size_t columns)
{
	size_t width = text_width(s);
	if (width <= columns || columns < 8) {
		put_fitted(out, s, columns);
		return;
	}
	size_t tail = (columns - 1) / 2, skip = 0;
	strbuf_add(out, s, fitting(s, columns - 1 - tail));
	strbuf_puts(out, "…");
	while (width > tail) {
		size_t gone;
		skip += character(s + skip, &gone);
		width -= gone;
	}
	strbuf_puts(out, s + skip);
}

void put_columns(struct strbuf *out, const char *s, size_t columns)
{
	size_t width = text_width(s);
	strbuf_puts(out, s);
	strbuf_pad(out, ' ', width < columns ? columns - width : 0);
}

/* How much of text goes on a line of so many columns: up to the last space that fits, or as many
 * characters as fit when there is none. At least one character, so that it always ends. */
static size_t line_bytes(const char *text, size_t columns)
{
	size_t fits = fitting(text, columns);
	if (text[fits] && text[fits] != ' ')
		for (size_t i = fits; i > 0; i--)
			if (text[i - 1] == ' ') {
				fits = i - 1;
				break;
			}
	if (!fits) {
		size_t ignored;
		fits = character(text, &ignored);
	}
	return fits;
}

void put_paragraph(struct strbuf *out, const struct paragraph *p, const char *text)
{
	size_t used = text_width(p->first), room = p->width > used ? p->width - used : 1;
	strbuf_puts(out, p->first);
	char *safe = display_copy(text);
	const char *rest = safe;
	for (size_t line = 1;; line++) {
		struct strbuf piece = { 0 };
		size_t bytes = *rest ? line_bytes(rest, room) : 0;
		bool more = rest[bytes + strspn(rest + bytes, " ")];
		if (more && line == p->lines) {
			put_fitted(&piece, rest, room);
			more = false;
		} else
			strbuf_add(&piece, rest, bytes);
		put_coloured(out, p->colour && piece.length, p->colour ? p->colour : "",
			     strbuf_text(&piece));
		strbuf_putc(out, '\n');
		strbuf_release(&piece);
		rest += bytes;
		if (!more)
			break;
		rest += strspn(rest, " ");
		strbuf_pad(out, ' ', p->indent);
		room = p->width > p->indent ? p->width - p->indent : 1;
	}
	free(safe);
}

void put_wrapped(struct strbuf *out, const struct style *style, const char *first, size_t indent,
		 const char *fmt, ...)
{
	const struct paragraph p = { .width = style->width ? style->width : 80,
				     .indent = indent,
				     .first = first };
	struct strbuf text = { 0 };
	va_list args;
	va_start(args, fmt);
	strbuf_vprintf(&text, fmt, args);
	va_end(args);
	put_paragraph(out, &p, strbuf_text(&text));
	strbuf_release(&text);
}

void put_headline(struct strbuf *out, size_t width, bool colour, const char *text)
{
	const struct paragraph p = {
		.width = width, .indent = 2, .lines = 3, .first = "", .colour = colour ? BOLD : NULL
	};
	put_paragraph(out, &p, text);
}

const char *run_state_words(const struct run *run)
{
	static const char *const words[] = { [RUN_GOING] = " (still going)",
					     [RUN_COMPLETE] = "",
					     [RUN_INTERRUPTED] = " (interrupted)",
					     [RUN_FAILED] = " (failed)" };
	return run ? words[run->status] : "";
}

double less_shell(uint64_t ns, uint64_t shell_ns)
{
	/* a shell whose cost was not seen has nothing to take off */
	if (shell_ns == ABSENT_NS)
		shell_ns = 0;
	return ns > shell_ns ? (double)(ns - shell_ns) : 0;
}
