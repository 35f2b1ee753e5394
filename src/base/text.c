#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/strbuf.h"

static uint32_t utf8_decode(const char *s, size_t length)
{
	const unsigned char *u = (const unsigned char *)s;
	if (length == 1)
		return u[0];
	uint32_t c = u[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++)
		c = c << 6 | (u[i] & 0x3fu);
	return c;
}

size_t utf8_length(const char *s, size_t available)
{
	unsigned char first = (unsigned char)*s;
	if (!available)
		return 0;
	if (first < 0x80)
		return 1;
	size_t n = first >= 0xf0 && first < 0xf5   ? 4
		   : first >= 0xe0 && first < 0xf0 ? 3
		   : first >= 0xc2 && first < 0xe0 ? 2
						   : 0;
	if (!n || n > available)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	uint32_t c = utf8_decode(s, n);
	if ((n == 3 && (c < 0x800 || (c >= 0xd800 && c < 0xe000))) ||
	    (n == 4 && (c < 0x10000 || c > 0x10ffff)))
		return 0;
	return n;
}

static size_t codepoint_width(uint32_t c)
{
	if ((c >= 0x300 && c < 0x370) || c == 0x200b || c == 0x200d ||
	    (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0x20d0 && c < 0x2100))
		return 0;
	if ((c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
	    (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
	    (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
	    (c >= 0x1f300 && c <= 0x1f64f) || (c >= 0x1f900 && c <= 0x1f9ff) ||
	    (c >= 0x20000 && c <= 0x3fffd))
		return 2;
	return 1;
}

size_t text_width(const char *s)
{
	size_t width = 0, left = strlen(s);
	while (left) {
		size_t n = utf8_length(s, left);
		width += n ? codepoint_width(utf8_decode(s, n)) : 1;
		n = n ? n : 1;
		s += n;
		left -= n;
	}
	return width;
}

void text_display(const char *s, char *out, size_t size)
{
	static const char ellipsis[] = "…";
	size_t used = 0, left = strlen(s);
	size_t fits = size > sizeof ellipsis ? size - sizeof ellipsis : 0;
	size_t cut = 0; /* where the ellipsis would go */
	while (left) {
		char piece[8];
		size_t n = utf8_length(s, left), step = n ? n : 1;
		uint32_t c = n ? utf8_decode(s, n) : 0;
		if (n && c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0)) {
			memcpy(piece, s, n);
			piece[n] = '\0';
		} else if (n && (c == '\n' || c == '\t')) {
			snprintf(piece, sizeof piece, "\\%c", c == '\n' ? 'n' : 't');
		} else {
			step = 1;
			snprintf(piece, sizeof piece, "\\x%02x", (unsigned char)*s);
		}
		size_t length = strlen(piece);
		if (used + length + 1 > size) {
			snprintf(out + cut, size - cut, "%s",
				 size > sizeof ellipsis ? ellipsis : "");
			return;
		}
		memcpy(out + used, piece, length + 1);
		used += length;
		if (used <= fits)
			cut = used;
		s += step;
		left -= step;
	}
	if (size)
		out[used] = '\0';
}

struct displayed text_displayed(const char *s, size_t size)
{
	struct displayed made;
	text_display(s, made.text, size < sizeof made.text ? size : sizeof made.text);
	return made;
}

char *text_utf8(const char *s)
{
	struct strbuf out = { 0 };
	size_t left = strlen(s);
	while (left) {
		size_t n = utf8_length(s, left);
		if (n)
			strbuf_add(&out, s, n);
		else
			strbuf_puts(&out, "\xef\xbf\xbd");
		n = n ? n : 1;
		s += n;
		left -= n;
	}
	return strbuf_detach(&out);
}

char *text_shell_quoted(const char *s)
{
	struct strbuf out = { 0 };
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./=:,@%+";
	if (*s && strspn(s, plain) == strlen(s)) {
		strbuf_puts(&out, s);
		return strbuf_detach(&out);
	}
	strbuf_putc(&out, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			strbuf_puts(&out, "'\\''");
		else
			strbuf_putc(&out, *s);
	}
	strbuf_putc(&out, '\'');
	return strbuf_detach(&out);
}

bool text_ends_with(const char *s, const char *end)
{
	size_t length = strlen(s), want = strlen(end);
	return length >= want && strcmp(s + length - want, end) == 0;
}

uint64_t text_hash(const char *s)
{
	uint64_t hash = 0xcbf29ce484222325u;
	for (; *s; s++)
		hash = (hash ^ (unsigned char)*s) * 0x100000001b3u;
	return hash;
}

/* Decimals that give `digits` significant ones, also where rounding carries into the next power of
 * ten. */
static int decimals_for(double value, int digits)
{
	double magnitude = fabs(value);
	int before = magnitude >= 1 ? (int)floor(log10(magnitude)) + 1 : 1;
	int decimals = digits > before ? digits - before : 0;
	double unit = pow(10, decimals);
	if (decimals && round(magnitude * unit) / unit >= pow(10, before))
		decimals--;
	return decimals;
}

struct displayed text_duration_of(double ns, int digits)
{
	struct displayed made;
	text_duration(ns, digits, made.text, sizeof made.text);
	return made;
}

void text_duration(double ns, int digits, char *out, size_t size)
{
	static const struct {
		double scale;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "µs" }, { 1, "ns" } };
	double magnitude = fabs(ns);
	size_t u = 0;
	/* 0.9996 s to three digits is "1.00 s", not "1000 ms" */
	while (u < 3 && magnitude < units[u].scale * (1 - 0.5 * pow(10, -digits)))
		u++;
	double value = ns / units[u].scale;
	int decimals = u == 3 && floor(value) == value ? 0 : decimals_for(value, digits);
	snprintf(out, size, "%.*f %s", decimals, value, units[u].unit);
}

void text_bytes(double bytes, char *out, size_t size)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t u = 0;
	while (u + 1 < sizeof units / sizeof *units && bytes >= 1024) {
		bytes /= 1024;
		u++;
	}
	snprintf(out, size, "%.*f %s", u ? 1 : 0, bytes, units[u]);
}

void text_date(int64_t realtime_ns, char *out, size_t size)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000);
	struct tm tm;
	if (!localtime_r(&seconds, &tm) || !strftime(out, size, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(out, size, "?");
}
