/* Makes text from elsewhere safe to show; formats numbers with units. */
#ifndef TARE_BASE_TEXT_H
#define TARE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the UTF-8 sequence at s; 0 if it is invalid (overlong, surrogate, truncated). */
size_t utf8_length(const char *s, size_t available);

/* The columns that valid UTF-8 text takes in a terminal (combining marks 0, wide East Asian 2). */
size_t text_width(const char *s);

/* A copy that prints on one line: control characters become \n, \t or \xNN, invalid UTF-8 \xNN. Cut
 * at size with a final "…". */
void text_display(const char *s, char *out, size_t size);
/* The same as an argument of one call: DISPLAYED(name, 64), of at most 256 bytes. */
#define DISPLAYED(s, size) (text_displayed(s, size).text)
struct displayed {
	char text[256];
};
struct displayed text_displayed(const char *s, size_t size);

/* A valid UTF-8 copy for JSON and databases (invalid bytes become U+FFFD). The caller frees it. */
char *text_utf8(const char *s);

/* The text, quoted if needed, so that a POSIX shell reads it back. The caller frees it. */
char *text_shell_quoted(const char *s);

bool text_ends_with(const char *s, const char *end);

/* FNV-1a with 64 bits: the value never changes between versions. */
uint64_t text_hash(const char *s);

/* "1.234 s", "45.6 ms", "12 ns": a time in its natural unit with `digits` significant digits. */
void text_duration(double ns, int digits, char *out, size_t size);
/* The same as an argument of one call. */
#define AS_DURATION(ns, digits) (text_duration_of(ns, digits).text)
struct displayed text_duration_of(double ns, int digits);

/* "1.2 MiB". */
void text_bytes(double bytes, char *out, size_t size);

/* "2026-11-15 09:12:33", local time. */
void text_date(int64_t realtime_ns, char *out, size_t size);

#endif
