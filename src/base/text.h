/* Text that came from elsewhere, made safe to show; numbers with units. */
#ifndef TARE_BASE_TEXT_H
#define TARE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bytes the UTF-8 sequence at s takes; 0 when it is not valid (overlong, surrogate, cut).
 */
size_t utf8_length(const char *s, size_t available);

/* Columns a terminal uses for valid UTF-8 text (combining marks 0, wide East Asian 2). */
size_t text_width(const char *s);

/* A copy that can be printed on one line: control characters as \n, \t or \xNN, invalid UTF-8 as
 * \xNN. Cut at size with a final "…". */
void text_display(const char *s, char *out, size_t size);
/* The same as an argument of one call: DISPLAYED(name, 64), of at most 256 bytes. */
#define DISPLAYED(s, size) (text_displayed(s, size).text)
struct displayed {
	char text[256];
};
struct displayed text_displayed(const char *s, size_t size);

/* A copy that is valid UTF-8 (invalid bytes become U+FFFD); the caller frees. For JSON and
 * databases. */
char *text_utf8(const char *s);

/* The same words as a POSIX shell would read them back: quoted only where needed; the caller frees.
 */
char *text_shell_quoted(const char *s);

bool text_ends_with(const char *s, const char *end);

/* FNV-1a of 64 bits: the same for ever. */
uint64_t text_hash(const char *s);

/* "1.234 s", "45.6 ms", "789 µs", "12 ns": a time in its natural unit, to `digits` significant
 * digits. */
void text_duration(double ns, int digits, char *out, size_t size);

/* "1.2 MiB". */
void text_bytes(double bytes, char *out, size_t size);

/* "2026-11-15 09:12:33", local time. */
void text_date(int64_t realtime_ns, char *out, size_t size);

#endif
